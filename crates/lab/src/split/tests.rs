use super::{Division, SplitSettings, Undivided, split, split_partition};
use crate::placement::Settings;
use std::collections::{BTreeMap, BTreeSet};

fn settings() -> SplitSettings {
    let addresses = [("a", "192.0.2.1"), ("b", "192.0.2.2")];
    let addresses = addresses.map(|(name, address)| (name.to_owned(), address.to_owned()));
    SplitSettings { addresses: BTreeMap::from(addresses), ..SplitSettings::default() }
}

/// The parts of a lab with `client`, `r1` and `r2` on machine a, and `db` and `log` on machine b.
fn divided(nodes: &str, link: &str, rest: &str) -> Result<Division, String> {
    split(&whole_text(nodes, link, rest), "shop.yaml", &settings(), None).map_err(|wrong| match wrong {
        Undivided::Refused(found) => found.to_string(),
        Undivided::Misplaced(found) => found.join("\n"),
        Undivided::Settings(found) => found,
    })
}

/// The same lab in one piece.
fn whole_text(nodes: &str, link: &str, rest: &str) -> String {
    format!(
        "name: shop\nmachines: {{a: {{}}, b: {{}}}}\nnodes:\n  client: {{machine: a{nodes}}}\n  r1: {{kind: transit, machine: a}}\n  \
         db: {{kind: router, machine: b}}\n  log: {{machine: b}}\n\
         links:\n  near: {{ends: [client, r1]}}\n  line: {{ends: [r1, db]{link}}}\n  inner: {{ends: [db, log]}}\n{rest}"
    )
}

const LINE: &str = ", delay: 10 ms, forward: {rate: 8 Mbit/s}, backward: {rate: 1 Mbit/s, delay: 30 ms}, mtu: 1400";

fn part<'a>(division: &'a Division, machine: &str) -> &'a str {
    &division.parts.iter().find(|part| part.machine == machine).expect("it has nodes").text
}

fn refused(link: &str, rest: &str) -> String {
    divided("", link, rest).expect_err("it is refused")
}

#[test]
fn a_part_has_its_nodes_and_a_tunnel_in_the_place_of_others() {
    let division = divided("", LINE, "").unwrap();
    let expected = r#"name: shop-a
addresses: none
nodes:
  client: {routes: [{to: 0.0.0.0/0, via: 10.0.0.2}, {to: "::/0", via: "fd00:6e6c::2"}]}
  r1:
    kind: transit
    routes: [{to: 10.0.0.8/30, via: 10.0.0.6}, {to: "fd00:6e6c:0:2::/64", via: "fd00:6e6c:0:1::2"}]
  to-b-1: {kind: tunnel, remote: 192.0.2.2, port: 29789, vni: 1, beyond: [{node: db, interface: eth0}]}
links:
  near:
    ends:
      - {node: client, interface: eth0, address: [10.0.0.1/30, "fd00:6e6c::1/64"], mac: "02:6e:6c:00:00:00"}
      - {node: r1, interface: eth0, address: [10.0.0.2/30, "fd00:6e6c::2/64"], mac: "02:6e:6c:00:00:01"}
  line:
    ends:
      - {node: r1, interface: eth1, address: [10.0.0.5/30, "fd00:6e6c:0:1::1/64"], mac: "02:6e:6c:00:00:02"}
      - to-b-1
    mtu: 1400
    forward: {delay: 10 ms, rate: 8 Mbit/s}
elsewhere:
  db:
    eth0: {address: [10.0.0.6/30, "fd00:6e6c:0:1::2/64"], mac: "02:6e:6c:00:00:03"}
    eth1: {address: [10.0.0.9/30, "fd00:6e6c:0:2::1/64"], mac: "02:6e:6c:00:00:04"}
  log: {eth0: {address: [10.0.0.10/30, "fd00:6e6c:0:2::2/64"], mac: "02:6e:6c:00:00:05"}}
"#;
    assert_eq!(part(&division, "a"), expected);
    assert!(part(&division, "b").contains("backward: {rate: 1 Mbit/s, delay: 30 ms}"), "{}", part(&division, "b"));
    assert_eq!(division.notes, Vec::<String>::new());
}

#[test]
fn what_happens_goes_to_the_machine_that_it_is_about() {
    let rest = "timeline:
  - {on: client, run: ping -c 1 db}
  - {on: [client, log], run: sleep 1, as: nap}
  - {at: 1 s, link: line, set: {loss: 1 %}}
  - {at: 2 s, link: line, direction: backward, down: 1 s}
  - {at: 3 s, link: near, down: 1 s}
  - {at: 4 s, log: half}
  - {at: 5 s, pause: log, for: 1 s}
expect: [ping.exit == 0, line.forward.drops == 0 packets]
figures: {lost: line.backward.drops}
capture: [inner, {link: line, node: db}]
journal: [near, line.forward]
layout: {client: [0, 0], db: [1, 0]}
";
    let division = divided("", LINE, rest).unwrap();
    let (a, b) = (part(&division, "a"), part(&division, "b"));
    for (text, expected) in [
        (a, "  - {on: client, run: ping -c 1 db}\n  - {run: sleep 1, on: [client], as: nap-client}\n"),
        (a, "  - {at: 1 s, link: line, set: {loss: 1 %}, direction: forward}\n  - {at: 3 s, link: near, down: 1 s}\n"),
        (a, "  - {at: 4 s, log: half}\nexpect:\n"),
        (a, "expect:\n  - ping.exit == 0\n"),
        (a, "layout:\n  client: [0, 0]\n"),
        (
            b,
            "  - {run: sleep 1, on: [log], as: nap-log}\n  - {at: 1 s, link: line, set: {loss: 1 %}, direction: backward}\n",
        ),
        (
            b,
            "  - {at: 2 s, link: line, direction: backward, down: 1 s}\n  - {at: 4 s, log: half}\n  - {at: 5 s, pause: log",
        ),
        (b, "figures:\n  lost: line.backward.drops\n"),
        (b, "capture:\n  - inner\n  - {link: line, node: db}\n"),
    ] {
        assert!(text.contains(expected), "no {expected} in:\n{text}");
    }
    assert!(!b.contains("expect:") && !a.contains("figures:"), "{a}{b}");
}

#[test]
fn what_cannot_be_divided_is_refused_at_its_place() {
    let wrong = |rest: &str| refused(LINE, rest);
    let here = |rest: &str, place: &str, why: &str| {
        let found = wrong(rest);
        assert!(found.contains(place) && found.contains(why), "no {place}: {why} in: {found}");
    };
    here(
        "timeline: [{at: 1 s, partition: {isolate: one, of: [client, db, log]}, every: 2 s, times: 3}]\n",
        "timeline[0].partition",
        "this is drawn anew each time",
    );
    here(
        "timeline: [{at: 1 s, partition: {leader: cat, on: db}}]\n",
        "timeline[0].partition",
        "names the leader on its machine alone",
    );
    here("timeline: [{at: 1 s, flap: line, for: 1 s}]\n", "timeline[0].flap", "would flap at instants of their own");
    here(
        "timeline: [{at: {uniform: [1 s, 2 s]}, link: line, set: {loss: 1 %}}]\n",
        "timeline[0].at",
        "would draw times of their own",
    );
    here(
        "timeline: [{on: log, run: serve, as: serve, ready: {pause: 1 s}}, {on: client, run: ask, after: serve}]\n",
        "timeline[1].after",
        "this command is on another machine",
    );
    here("expect: [line.drops == 0 packets]\n", "expect[0]", "its directions are measured on two machines");
    here(
        "exercise: {text: x, tasks: [{title: Look., check: line.forward.drops == 0 packets}]}\n",
        "exercise",
        "is about the lab in one piece",
    );
    here("setup: [{on: client, run: a}, {on: log, run: b}]\n", "setup[1].on", "on another machine than the one before");
    here("timeline: [{at: 1 s, link: line, packet: {nth: 3}, do: drop}]\n", "timeline[0].link", "this one is cut");
    let short = refused(", delay: 100 us", "");
    assert!(short.contains("cannot be apart") && short.contains("its least delay is 100 us"), "{short}");
}

/// Who is parted from whom when, and whose address resolution gets through, by the names of nodes that a part knows.
fn parted(plan: &crate::Plan, known: &BTreeSet<&str>) -> Vec<(netloom_units::Duration, BTreeSet<(String, String)>)> {
    let number =
        |name: &str| u32::try_from(plan.all_names().position(|own| own == name).expect("it is known")).unwrap();
    let mut all = Vec::new();
    for event in &plan.timeline {
        let crate::Action::Partition { in_force, .. } = &event.action else { continue };
        let mut pairs = BTreeSet::new();
        for (from, to) in known.iter().flat_map(|from| known.iter().map(move |to| (*from, *to))) {
            let (one, other) = (number(from), number(to));
            if in_force.partitions().iter().any(|own| own.parts(one, other)) {
                pairs.insert((from.to_owned(), to.to_owned()));
            }
            let key = (one.min(other), one.max(other));
            if in_force.partitions().iter().any(|own| own.neighbors().any(|pair| pair == key)) {
                pairs.insert((format!("{from} resolves"), to.to_owned()));
            }
        }
        all.push((event.at.unwrap_or_default(), pairs));
    }
    all
}

#[test]
fn partitions_part_the_same_nodes_in_each_part() {
    let nodes = "client, r1, db, log";
    let entries = [
        "partition: [[client], [db]], for: 20 s".to_owned(),
        "partition: [[client], [db]], direction: to, slow: 100 ms".to_owned(),
        "partition: [[client, log], [log, db]], others: isolated".to_owned(),
        "partition: [[log]]".to_owned(),
        "partition: [[client], [r1]]".to_owned(),
        "partition: [[log, db]], jam: true".to_owned(),
        "partition: {isolate: db, of: [\"*\"]}".to_owned(),
        "partition: {isolate: one, of: [client, log]}, direction: from".to_owned(),
    ];
    let shapes =
        ["halves", "minority", "bridge", "ring", "random"].map(|shape| format!("partition: {{{shape}: [{nodes}]}}"));
    for entry in entries.iter().chain(&shapes) {
        // Of two entries that are the same, each draws for itself.
        let rest = format!(
            "timeline: [{{at: 1 s, {entry}}}, {{at: 5 s, heal: true}}, {{at: 6 s, {entry}}}, {{at: 9 s, heal: true}}]\n"
        );
        let division = divided("", LINE, &rest).unwrap();
        let whole = crate::parse(&whole_text("", LINE, &rest), "shop.yaml").expect("it is a lab");
        for part in &division.parts {
            let names: BTreeSet<&str> = part.lab.plan.all_names().filter(|name| !name.starts_with("to-")).collect();
            let (found, wanted) = (parted(&part.lab.plan, &names), parted(&whole.plan, &names));
            assert_eq!(found, wanted, "{entry}:\n{}", part.text);
        }
        assert!(
            parted(&whole.plan, &BTreeSet::from(["client", "db", "log", "r1"]))
                .iter()
                .any(|(_, pairs)| !pairs.is_empty())
        );
    }
}

#[test]
fn a_partition_by_hand_parts_the_same_nodes_in_each_part_as_in_one_piece() {
    let division = divided("", LINE, "").unwrap();
    let text = whole_text("", LINE, "");
    let whole = crate::parse(&text, "shop.yaml").expect("it is a lab");
    let divide = |entry: &str, number| split_partition(&text, "shop.yaml", &Settings::default(), (entry, number));
    for entry in
        ["[[client], [db]], for: 2 s", "{random: [client, r1, db, log]}", "[[log]]", "{ring: [client, r1, db, log]}"]
    {
        for number in 1..=4 {
            let entry = format!("{{partition: {entry}}}");
            let wanted = crate::parse_partition(&entry, &whole.plan, number).expect("it is a partition");
            let entries = divide(&entry, number).unwrap();
            for part in &division.parts {
                let found = crate::parse_partition(&entries[&part.machine], &part.lab.plan, 1).expect("it is one, too");
                assert_eq!(found.duration, wanted.duration);
                let place = |plan: &crate::Plan, name: &str| {
                    u32::try_from(plan.all_names().position(|own| own == name).expect("it is known")).expect("few")
                };
                let known: Vec<&str> = part.lab.plan.all_names().filter(|name| !name.starts_with("to-")).collect();
                for (from, to) in known.iter().flat_map(|from| known.iter().map(move |to| (*from, *to))) {
                    let parts =
                        |nodes: &netloom_link::NodePartition, plan| nodes.parts(place(plan, from), place(plan, to));
                    let both = [parts(&found.nodes, &part.lab.plan), parts(&wanted.nodes, &whole.plan)];
                    assert_eq!(both[0], both[1], "{entry}, {number}: {from} to {to} in {}", part.machine);
                }
            }
        }
    }
    for (entry, why) in [
        ("{partition: [[client], [nobody]]}", "there is no node `nobody`"),
        ("{partition: [[client]], at: 1 s}", "at"),
        ("{partition: [[client, r1, db, log]]}", "two groups"),
        ("[", "partition: "),
    ] {
        match divide(entry, 1) {
            Err(Undivided::Settings(found)) => assert!(found.contains(why), "{entry}: {found}"),
            other => panic!("{entry}: {other:?}"),
        }
    }
}

#[test]
fn labs_that_keep_their_own_time_are_refused() {
    let found = refused(LINE, "clock: virtual\n");
    assert!(found.contains("only labs in real time are divided"), "{found}");
}

#[test]
fn a_lan_that_is_cut_is_a_switch_and_both_sides_know_all_of_it() {
    let lan = |z: &str| {
        let text = format!(
            "machines: {{a: {{}}, b: {{}}}}\nnodes: {{x: {{machine: a}}, s: {{kind: switch, machine: a}}, y: {{machine: b}}, \
             z: {{machine: {z}}}}}\nlinks: {{xs: {{ends: [x, s], delay: 5 ms}}, ys: {{ends: [y, s], delay: 5 ms}}, zs: {{ends: [z, s], \
             delay: 5 ms}}}}\n"
        );
        split(&text, "lan.yaml", &SplitSettings::default(), None)
    };
    let division = lan("a").unwrap();
    let all: String = division.parts.iter().map(|part| part.text.as_str()).collect();
    assert_eq!(all.matches("  s: {kind: switch}").count(), 1, "{all}");
    let neighbors = |part: &crate::Part| {
        let own = part.lab.plan.nodes.iter().filter(|node| node.kind.has_addresses());
        own.map(|node| node.interfaces[0].neighbors.len()).collect::<Vec<_>>()
    };
    let known: Vec<usize> = division.parts.iter().flat_map(neighbors).collect();
    // Each knows the addresses of both families and the link-local one of both others.
    assert_eq!(known, [6, 6, 6]);
    let said = division.notes.join("\n");
    assert!(said.contains("write the address of machine a for `ADDRESS-OF-a`"), "{said}");
    let pieces = match lan("b") {
        Err(Undivided::Refused(found)) => found.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(pieces.contains("links.ys") && pieces.contains("would be in two pieces on machine b"), "{pieces}");
}

#[test]
fn each_pair_of_machines_has_a_key() {
    let text = "nodes: {x: {machine: a}, y: {machine: b}, z: {machine: c}}\nmachines: {a: {}, b: {}, c: {}}\n\
                links: {one: {ends: [x, y], delay: 5 ms}, two: {ends: [y, x], delay: 5 ms}, three: {ends: [y, z], delay: 5 ms}}\n";
    let mut count = 0;
    let mut draw = || {
        count += 1;
        [count; crate::KeyPlan::LEN]
    };
    let division = split(text, "lab.yaml", &SplitSettings::default(), Some(&mut draw)).unwrap();
    let keys = |machine: &str| -> Vec<(String, crate::KeyPlan)> {
        let own = division.parts.iter().find(|part| part.machine == machine).expect("it has a node");
        let tunnels = own.lab.plan.nodes.iter().filter_map(|node| Some((node.name.clone(), node.tunnel.clone()?.key?)));
        tunnels.collect()
    };
    let [a, b, c] = ["a", "b", "c"].map(keys);
    assert_eq!((a.len(), b.len(), c.len()), (2, 3, 1));
    assert!(a[0].1 == a[1].1 && a[0].1 == b[0].1 && a[0].1 == b[1].1 && b[2].1 == c[0].1 && a[0].1 != c[0].1);
    assert_eq!(count, 2);
    assert_eq!(format!("{:?}", a[0].1), "Bytes(..)");
}

#[test]
fn a_profile_is_divided_into_its_ways() {
    let division = divided("", ", profile: geo", "").unwrap();
    assert!(part(&division, "a").contains("forward: {rate: 2.96 Mbit/s, delay: 314.5 ms"), "{}", part(&division, "a"));
}

#[test]
fn wrong_settings_are_told() {
    let text = "nodes: {x: {}, y: {}}\nlinks: {l: {ends: [x, y], delay: 5 ms}}\n";
    let with = |addresses: &[&str], port: u16| {
        let addresses = addresses.iter().map(|name| ((*name).to_owned(), "192.0.2.1".to_owned())).collect();
        let placement = Settings { count: Some(2), ..Settings::default() };
        split(text, "lab.yaml", &SplitSettings { placement, addresses, port }, None)
    };
    let told = |result: Result<Division, Undivided>| match result {
        Err(Undivided::Settings(found)) => found,
        other => panic!("{other:?}"),
    };
    assert_eq!(told(with(&["m7"], 1)), "there is no machine `m7`: there are m1, m2");
    assert!(with(&["m2"], u16::MAX).is_ok());
}

/// Firewalls have to let one port pass for each pair of machines.
#[test]
fn links_between_two_machines_share_a_port() {
    let text = "machines: {a: {}, b: {}, c: {}}
nodes: {x: {machine: a}, y: {machine: b}, z: {machine: c}}
links:
  one: {ends: [x, y], delay: 10 ms}
  far: {ends: [x, z], delay: 10 ms}
  two: {ends: [y, x], delay: 10 ms}
";
    let placement = Settings::default();
    let addresses = ["a", "b", "c"].map(|name| (name.to_owned(), format!("192.0.2.{}", name.as_bytes()[0])));
    let settings = SplitSettings { placement, addresses: addresses.into(), ..SplitSettings::default() };
    let division = split(text, "lab.yaml", &settings, None).expect("it can be divided");
    let numbers = |machine: &str| {
        let lines = part(&division, machine).lines().filter(|line| line.contains("kind: tunnel"));
        lines.map(|line| line.split("port: ").nth(1).expect("a port")[..13].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(numbers("a"), ["29789, vni: 1", "29790, vni: 2", "29789, vni: 3"]);
    assert_eq!(numbers("b"), ["29789, vni: 1", "29789, vni: 3"]);
    assert_eq!(numbers("c"), ["29790, vni: 2"]);
}
