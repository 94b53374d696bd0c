//! Switches and hubs in lab files: what they join has one subnet, and is reached as if they were not there.

use netloom_lab::{NodePlan, Plan};
use std::net::IpAddr;

fn plan(text: &str) -> Plan {
    netloom_lab::parse(text, "t.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

fn node<'a>(plan: &'a Plan, name: &str) -> &'a NodePlan {
    plan.nodes.iter().find(|node| node.name == name).expect("there is such a node")
}

/// The IPv4 addresses of a node, interface by interface.
fn addresses(plan: &Plan, name: &str) -> Vec<String> {
    let of_node = node(plan, name).interfaces.iter().flat_map(|interface| &interface.addresses);
    of_node.filter(|net| net.addr().is_ipv4()).map(ToString::to_string).collect()
}

fn routes(plan: &Plan, name: &str) -> Vec<String> {
    let v4 = node(plan, name).routes.iter().filter(|route| route.via.is_ipv4());
    v4.map(|route| format!("{} via {}", route.destination, route.via)).collect()
}

/// Two hosts and a router at two switches and a hub, and a server behind the router.
const LAN: &str = "\
nodes: {a: {}, s1: {kind: switch}, s2: {kind: switch}, h: {kind: hub}, b: {}, r: {kind: router}, server: {}}
links:
  one: {ends: [a, s1]}
  trunk: {ends: [s1, s2], mtu: 1400}
  stub: {ends: [s2, h]}
  two: {ends: [h, b]}
  up: {ends: [r, s2]}
  out: {ends: [r, server]}
";

#[test]
fn a_lan_has_one_subnet_and_one_way_out() {
    let plan = plan(LAN);
    assert_eq!(
        (addresses(&plan, "a"), addresses(&plan, "b")),
        (vec!["10.0.0.1/29".into()], vec!["10.0.0.2/29".into()])
    );
    assert_eq!(addresses(&plan, "r"), ["10.0.0.3/29", "10.0.0.9/30"]);
    for device in ["s1", "s2", "h"] {
        let ports = &node(&plan, device).interfaces;
        assert!(!ports.is_empty() && ports.iter().all(|port| port.addresses.is_empty() && port.neighbors.is_empty()));
        assert!(node(&plan, device).routes.is_empty());
    }
    assert_eq!(
        (routes(&plan, "a"), routes(&plan, "b")),
        (vec!["0.0.0.0/0 via 10.0.0.3".to_owned()], vec!["0.0.0.0/0 via 10.0.0.3".to_owned()])
    );
    assert_eq!(routes(&plan, "server"), ["0.0.0.0/0 via 10.0.0.9"]);
    assert_eq!(plan.unreached.pairs, 0);
    let hosts = plan.hosts(&node(&plan, "a").names);
    assert!(hosts.contains("10.0.0.2 b b-eth0\n") && !hosts.contains("s1"), "{hosts}");
}

#[test]
fn everybody_on_a_lan_knows_the_others() {
    let plan = plan(LAN);
    let known: Vec<&IpAddr> = node(&plan, "a").interfaces[0].neighbors.iter().map(|(address, _)| address).collect();
    let v4: Vec<String> = known.iter().filter(|address| address.is_ipv4()).map(ToString::to_string).collect();
    assert_eq!((v4, known.len()), (vec!["10.0.0.2".to_owned(), "10.0.0.3".to_owned()], 6));
}

#[test]
fn with_arp_and_on_large_lans_nobody_is_known() {
    let lan = |count: u32, top: &str| {
        let nodes: String = (0..count).map(|host| format!(", h{host}: {{}}")).collect();
        let links: String = (0..count).map(|host| format!("  l{host}: {{ends: [h{host}, s]}}\n")).collect();
        plan(&format!(
            "{top}nodes: {{s: {{kind: switch}}, r: {{kind: transit}}{nodes}}}\nlinks:\n  up: {{ends: [r, s]}}\n{links}"
        ))
    };
    for (count, top, known) in
        [(3, "", 9), (3, "arp: true\n", 0), (128, "", 0), (128, "arp: false\n", 384), (127, "", 381)]
    {
        let plan = lan(count, top);
        assert_eq!(node(&plan, "h1").interfaces[0].neighbors.len(), known, "{count} {top}");
        // A transit router does not ask.
        assert_eq!(node(&plan, "r").interfaces[0].neighbors.len(), 3 * count as usize);
    }
}

/// Also behind a link that costs more, two nodes of a LAN are neighbours: the LAN costs what its dearest link costs.
#[test]
fn a_lan_costs_as_much_as_its_dearest_link() {
    let text = "\
nodes: {a: {}, r1: {kind: router}, r2: {kind: router}, s: {kind: switch}, b: {}}
links:
  in: {ends: [a, r1]}
  l1: {ends: [r1, s]}
  l2: {ends: [r2, s], cost: COST}
  direct: {ends: [r1, r2], cost: 5}
  out: {ends: [r2, b]}
";
    for (cost, gateway) in [("4", "10.0.0.6"), ("6", "10.0.0.10")] {
        let plan = plan(&text.replace("COST", cost));
        assert!(routes(&plan, "r1").contains(&format!("10.0.0.12/30 via {gateway}")), "{:?}", routes(&plan, "r1"));
    }
}

#[test]
fn what_a_switch_is_told_is_in_the_plan() {
    let text = "\
nodes: {a: {}, b: {}, s: {kind: switch, ageing: 10 s, table: 7, static: {\"02:00:00:00:00:01\": two}}}
links: {one: {ends: [a, s]}, two: {ends: [s, b]}}
";
    let plan = plan(text);
    let described = &plan.describe()["nodes"][2]["switch"];
    let wanted =
        serde_json::json!({"ageing_ns": 10_000_000_000_u64, "table": 7, "static": {"02:00:00:00:00:01": "eth1"}});
    assert_eq!(*described, wanted);
    assert_eq!(plan.describe()["nodes"][0]["switch"], serde_json::Value::Null);
}

#[test]
fn a_way_leads_over_switches_and_hubs_to_an_address() {
    let plan = plan(LAN);
    let from = node(&plan, "a").interfaces[0].end;
    let names = |to: &str| {
        let way = plan.way_to(from, to.parse().expect("an address"))?;
        Some(way.iter().map(|[entry, _]| plan.links[entry.link()].name.as_str()).collect::<Vec<_>>())
    };
    assert_eq!(names("10.0.0.2"), Some(vec!["one", "trunk", "stub", "two"]));
    assert_eq!(names("10.0.0.3"), Some(vec!["one", "trunk", "up"]));
    assert_eq!((names("10.0.0.9"), names("10.0.0.10")), (None, None), "beyond the router");
}

/// A loop is allowed if a link of it has a rate, and a way is the shortest one.
#[test]
fn loops_may_be_allowed() {
    let text = "\
loops: allowed
nodes: {a: {}, b: {}, s1: {kind: switch}, s2: {kind: switch}, s3: {kind: switch}}
links:
  in: {ends: [a, s1]}
  one: {ends: [s1, s2]}
  two: {ends: [s2, s3]}
  three: {ends: [s3, s1], rate: 1 Gbit/s}
  out: {ends: [s3, b]}
";
    let plan = plan(text);
    let way = plan.way_to(node(&plan, "a").interfaces[0].end, "10.0.0.2".parse().expect("an address")).expect("a way");
    assert_eq!(way.len(), 3);
}

const BY_LINK: &str = "\
nodes: {a: {}, b: {}, r: {kind: router}, out: {}}
links:
  lan: {ends: [{node: a, address: 10.1.0.1/24}, b, {node: r, interface: lan0}], rate: 1 Gbit/s, forward: {rate: 100 Mbit/s}}
  wan: {ends: [r, out], pipes: {near: {match: {to: b}, delay: 1 ms}}}
";

#[test]
fn a_link_with_more_than_two_ends_is_a_switch() {
    let plan = plan(BY_LINK);
    let links: Vec<String> = plan
        .links
        .iter()
        .enumerate()
        .map(|(place, link)| format!("{} {}", link.name, plan.ends_of(place).join(" ")))
        .collect();
    assert_eq!(links, ["lan-a a lan", "lan-b b lan", "lan-r r lan", "wan r out"]);
    assert_eq!(node(&plan, "lan").kind, netloom_lab::NodeKind::Switch);
    assert_eq!(
        (addresses(&plan, "a"), addresses(&plan, "b")),
        (vec!["10.1.0.1/24".into()], vec!["10.1.0.2/24".into()])
    );
    assert_eq!(node(&plan, "r").interfaces[0].name, "lan0");
    let rates: Vec<_> =
        plan.links[1].pipes.iter().map(|pipe| pipe.rate.nominal().map(|rate| rate.as_bits_per_second())).collect();
    assert_eq!(rates, [Some(100_000_000), Some(1_000_000_000)]);
    assert_eq!(routes(&plan, "out").len(), 1);
    // The addresses that filters mean are those of the plan.
    let filter = format!("{:?}", plan.links[3].treatments[0][0].filter);
    assert!(filter.contains("10.1.0.2"), "{filter}");
}
