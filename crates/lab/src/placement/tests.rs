use super::*;
use crate::parse;

fn plan(text: &str) -> Plan {
    parse(text, "placed.yaml").unwrap_or_else(|wrong| panic!("{wrong:?}")).plan
}

fn placed(plan: &Plan, count: usize) -> Placement {
    place(plan, &Settings { count: Some(count), ..Settings::default() }).expect("a lab without conflicts")
}

fn homes<'a>(plan: &'a Plan, placement: &'a Placement) -> BTreeMap<&'a str, &'a str> {
    let home = |(node, (place, _)): (&'a NodePlan, &(usize, Why))| {
        (node.name.as_str(), placement.machines[*place].machine.name.as_str())
    };
    plan.nodes.iter().zip(&placement.nodes).map(home).collect()
}

/// Two sites with fast links inside, and a slow line between them.
const SITES: &str = "
nodes: {r1: {kind: router}, r2: {kind: router}, a: {}, b: {}, c: {}, d: {}}
links:
  la: {ends: [a, r1], rate: 1 Gbit/s, delay: 2 ms}
  lb: {ends: [b, r1], rate: 1 Gbit/s, delay: 2 ms}
  line: {ends: [r1, r2], rate: 10 Mbit/s, delay: 20 ms}
  lc: {ends: [c, r2], rate: 1 Gbit/s, delay: 2 ms}
  ld: {ends: [d, r2], rate: 1 Gbit/s, delay: 2 ms}
";

#[test]
fn two_sites_are_cut_at_the_line_between_them() {
    for clock in ["", "clock: virtual"] {
        let plan = plan(&format!("{SITES}{clock}"));
        let placement = placed(&plan, 2);
        let [crossing] = &placement.crossing[..] else { panic!("{:?}", placement.crossing) };
        assert_eq!(plan.links[crossing.link].name, "line");
        assert_eq!(placement.lookahead(), Some(Duration::from_millis(20)));
        assert_eq!(placement.machines[0].nodes, 3);
        assert!(placement.text(&plan).contains("line  m"), "{}", placement.text(&plan));
        assert_eq!(placement.json(&plan)["crossing"][0]["forward_bits_per_second"], 10_000_000);
        assert_eq!(placed(&plan, 2), placement);
    }
}

/// A ring of six routers, of which the slow links have short delays.
const RING: &str = "
nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}, d: {kind: router}, e: {kind: router}, f: {kind: router}}
links:
  ab: {ends: [a, b], rate: 1 Gbit/s, delay: 2 ms}
  bc: {ends: [b, c], rate: 1 Gbit/s, delay: 30 ms}
  cd: {ends: [c, d], rate: 10 Mbit/s, delay: 2 ms}
  de: {ends: [d, e], rate: 1 Gbit/s, delay: 2 ms}
  ef: {ends: [e, f], rate: 1 Gbit/s, delay: 30 ms}
  fa: {ends: [f, a], rate: 10 Mbit/s, delay: 2 ms}
";

#[test]
fn real_time_cuts_the_least_rate_and_virtual_time_the_longest_delay() {
    let cut = |plan: &Plan| {
        let placement = placed(plan, 2);
        placement.crossing.iter().map(|crossing| plan.links[crossing.link].name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(cut(&plan(RING)), ["cd", "fa"]);
    assert_eq!(cut(&plan(&format!("{RING}clock: virtual"))), ["bc", "ef"]);
}

#[test]
fn what_cannot_be_cut_stays_together_and_is_explained() {
    let plan = plan(
        "
nodes: {a: {}, b: {}, hub: {kind: hub}, c: {}, d: {}, e: {}, f: {}, r: {kind: router}, n: {kind: router, nat: {outside: out}}, i: {}}
links:
  short: {ends: [a, b], delay: 100 us}
  one: {ends: [b, hub], delay: 5 ms}
  air: {ends: [c, d, e], medium: shared, rate: 10 Mbit/s, delay: 5 ms}
  free: {ends: [a, c], delay: 5 ms}
  out: {ends: [n, r], delay: 5 ms}
  inner: {ends: [i, n], delay: 5 ms}
  more: {ends: [r, f], delay: 5 ms}
  join: {ends: [f, a], delay: 5 ms}
",
    );
    let placement = placed(&plan, 2);
    let because = |name: &str| {
        let bound = placement.bound.iter().find(|(link, _)| plan.links[*link].name == name);
        bound.map(|(_, bond)| bond.to_string()).unwrap_or_default()
    };
    assert_eq!(because("short"), "its least delay is 100 us, and a packet takes 800 us between machines");
    assert_eq!(because("one"), "`hub` is a hub, which repeats at once");
    assert_eq!(because("air"), "it is a shared medium");
    assert_eq!(because("out"), "`nat` of `n` follows from its neighbours");
    assert_eq!(because("free"), "");
    let homes = homes(&plan, &placement);
    assert!(
        homes["a"] == homes["b"] && homes["c"] == homes["d"] && homes["d"] == homes["e"] && homes["n"] == homes["r"]
    );
    assert!(placement.text(&plan).contains("not cut: its least delay is 100 us"), "{}", placement.text(&plan));
}

#[test]
fn nodes_are_where_the_file_says_and_what_cannot_be_is_refused_with_the_way() {
    let file = |a: &str, c: &str, delay: &str| {
        format!(
            "machines: {{one: {{}}, two: {{}}}}\nnodes: {{a: {{machine: {a}}}, b: {{}}, c: {{machine: {c}}}}}\n\
             links: {{ab: {{ends: [a, b], delay: {delay}}}, bc: {{ends: [b, c], delay: 100 us}}}}\n"
        )
    };
    let apart = plan(&file("two", "one", "9 ms"));
    let placement = place(&apart, &Settings::default()).expect("a lab without conflicts");
    assert_eq!(homes(&apart, &placement), BTreeMap::from([("a", "two"), ("b", "one"), ("c", "one")]));
    assert_eq!(placement.nodes[0].1, Why::Chosen);
    let torn = place(&plan(&file("one", "two", "700 us")), &Settings::default()).expect_err("they are tied together");
    assert_eq!(
        torn,
        [
            "`a` on machine one (line 2) and `c` on machine two (line 2) cannot be apart: link `ab`: its least delay is 700 us, and a packet \
          takes 800 us between machines; link `bc`: its least delay is 100 us, and a packet takes 800 us between machines"
        ]
    );
    let near = Settings { path: Duration::from_micros(50), ..Settings::default() };
    place(&plan(&file("one", "two", "700 us")), &near).expect("on a short path it is possible");
}

#[test]
fn machines_get_what_they_have_room_for_and_what_does_not_fit_is_told() {
    let file = |cpu: &str| {
        let nodes: String = (0..12).map(|node| format!("n{node}: {{kind: router, cpus: 0.5}}, ")).collect();
        let links: String =
            (0..12).map(|node| format!("l{node}: {{ends: [n{node}, n{}], delay: 5 ms}}, ", (node + 1) % 12)).collect();
        plan(&format!(
            "machines: {{big: {{resources: {{CPU: {cpu}}}}}, small: {{resources: {{CPU: 2, memory: 1 GB}}}}}}\nnodes: {{{nodes}}}\nlinks: {{{links}}}\n"
        ))
    };
    let placement = place(&file("6"), &Settings::default()).expect("a lab without conflicts");
    assert_eq!(placement.misfits, Vec::<String>::new());
    assert_eq!((placement.machines[0].nodes, placement.machines[1].nodes), (9, 3));
    assert_eq!(placement.crossing.len(), 2);
    let crowded = place(&file("3"), &Settings::default()).expect("a lab without conflicts");
    assert!(crowded.misfits[0].contains("processors, and the lab may use"), "{:?}", crowded.misfits);
}

#[test]
fn images_are_where_they_are() {
    let file = |images: &str| {
        plan(&format!(
            "machines: {{a: {{images: []}}, b: {{images: [{images}]}}}}\nnodes: {{x: {{image: 'alpine'}}, y: {{}}}}\n\
             links: {{l: {{ends: [x, y], delay: 5 ms}}}}\n"
        ))
    };
    let name = file("'alpine'").nodes[0].image.as_ref().expect("an image").source.to_string();
    let there = file(&format!("'{name}'"));
    let placement = place(&there, &Settings::default()).expect("a lab without conflicts");
    assert_eq!(placement.nodes[0].0, 1);
    let wrong = place(&file("other"), &Settings::default()).expect_err("the image is nowhere");
    assert!(wrong[0].contains("no machine has the image"), "{wrong:?}");
}

#[test]
fn labs_without_nodes_between_machines_say_so() {
    let plan = plan("nodes: [a, b]\n");
    let placement = placed(&plan, 2);
    assert!(placement.text(&plan).contains("nothing crosses"), "{}", placement.text(&plan));
    assert_eq!(placement.lookahead(), None);
    assert_eq!(placed(&plan, 1).machines.len(), 1);
}

fn host(number: u64, processors: u64, megabytes: u64) -> Host {
    let (id, address) = (format!("node-{number}"), format!("192.0.2.{number}"));
    Host { id, address, processor: processors * 1_000, memory: Some(megabytes * 1_000_000) }
}

fn addresses(placement: &Placement) -> Vec<&str> {
    placement.machines.iter().map(|share| share.host.as_ref().map_or("none", |host| host.address.as_str())).collect()
}

/// Two machines, of which the second wants more processors.
fn wanting(first: u64, second: u64) -> Plan {
    plan(&format!(
        "machines: {{a: {{resources: {{CPU: {first}}}}}, b: {{resources: {{CPU: {second}}}}}}}
nodes: {{web: {{machine: a}}, db: {{machine: b}}}}
links: {{line: {{ends: [web, db], rate: 10 Mbit/s, delay: 20 ms}}}}"
    ))
}

fn of_file(plan: &Plan) -> Placement {
    place(plan, &Settings::default()).expect("a lab without conflicts")
}

#[test]
fn machines_get_hosts_with_as_many_processors_and_leave_enough_to_others() {
    let placed = of_file(&wanting(1, 8));
    let found = |hosts: &[Host]| addresses(&placed.clone().on(hosts)).join(" ");
    assert_eq!(found(&[host(1, 4, 8_000), host(2, 8, 8_000)]), "192.0.2.1 192.0.2.2");
    // The first would do for `a`, and is the only one that does for `b`.
    assert_eq!(found(&[host(1, 8, 8_000), host(2, 4, 8_000)]), "192.0.2.2 192.0.2.1");
    let alone = placed.clone().on(&[host(1, 4, 8_000), host(2, 4, 8_000)]);
    assert_eq!(alone.misfits, ["no machine of the cluster that is free has the 8.00 processors of machine b"]);
    let few = placed.on(&[host(1, 8, 8_000)]);
    assert_eq!(few.misfits, ["the lab is divided among 2 machines, and the cluster has 1"]);
}

#[test]
fn a_placement_on_a_cluster_says_what_is_where_and_what_may_be_too_much() {
    let plan = wanting(1, 1);
    let placement = of_file(&plan).on(&[host(1, 2, 8_000), host(2, 2, 5), host(3, 2, 5)]);
    let text = placement.text(&plan);
    let expected = "
Machines
  a  1 node, 0.10 processors of 1, 13 MB, on 192.0.2.1 (2.00 processors, 8000 MB): web
  b  1 node, 0.10 processors of 1, 13 MB, on 192.0.2.2 (2.00 processors, 5 MB): db

Why
  web, db: the lab file says so

Between machines
  line  a - b  10 Mbit/s, 20 ms

machines of the cluster without a part: 1 of 3

May be too much
  machine b (192.0.2.2): its nodes may need 13 MB of memory, and it has 5 MB
";
    assert_eq!(text, expected);
    let json = placement.json(&plan);
    assert_eq!(json["machines"][1]["host"]["id"], "node-2");
    assert_eq!((&json["cluster_machines"], &json["are_of_the_file"]), (&3.into(), &true.into()));
    assert_eq!(json["may_be_too_much"].as_array().map(Vec::len), Some(1));
    assert_eq!(json["does_not_fit"].as_array().map(Vec::len), Some(0));
}
