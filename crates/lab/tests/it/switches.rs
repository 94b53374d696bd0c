//! Switches and hubs in lab files: what they join has one subnet, and is reached as if they were not there.

use crate::labs::{node, plan, v4_addresses as addresses, v4_routes as routes};
use netloom_link::{PipeChange, RateConfig};
use netloom_units::Rate;
use std::net::IpAddr;

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
    let wanted = serde_json::json!({"in_kernel": false, "ageing_ns": 10_000_000_000_u64, "table": 7, "vlans": [], "tree": null, "snooping": null, "static": {"02:00:00:00:00:01": "eth1"}});
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
fn the_rate_of_an_allowed_loop_can_be_changed_but_not_taken_away() {
    let text = "loops: allowed\nnodes: {s1: {kind: switch}, s2: {kind: switch}, a: {}}\nlinks:\n  \
                one: {ends: [s1, s2]}\n  two: {ends: [s2, s1], rate: 1 Mbit/s}\n  desk: {ends: [a, s1], rate: 1 Mbit/s}\n";
    let lifted = PipeChange { rate: Some(RateConfig::Unlimited), ..PipeChange::default() };
    let slower = PipeChange { rate: Some(RateConfig::Constant("1 kbit/s".parse().unwrap())), ..PipeChange::default() };
    let refused = |change: &PipeChange| -> Vec<bool> {
        plan(text).links.iter().map(|link| link.refuses(change).is_some()).collect()
    };
    assert_eq!(refused(&lifted), [false, true, false]);
    assert_eq!(refused(&slower), [false; 3]);
}

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
        plan.links[1].pipes.iter().map(|pipe| pipe.rate.nominal().map(Rate::as_bits_per_second)).collect();
    assert_eq!(rates, [Some(100_000_000), Some(1_000_000_000)]);
    assert_eq!(routes(&plan, "out").len(), 1);
    // The addresses that filters mean are those of the plan.
    let filter = format!("{:?}", plan.links[3].treatments[0][0].filter);
    assert!(filter.contains("10.1.0.2"), "{filter}");
}

/// Two VLANs over two switches, a router with an end in each, a hub on one link, and a switch that looks at no tag on the trunk.
const VLANS: &str = "\
nodes: {a10: {}, a20: {}, b10: {}, b20: {}, left: {kind: switch}, mid: {kind: switch}, right: {kind: switch}, h: {kind: hub}, r: {kind: router}, t: {}}
links:
  a1: {ends: [a10, left], vlans: 10}
  a2: {ends: [a20, left], vlans: 20}
  up: {ends: [left, mid], vlans: {trunk: [10, 20]}}
  down: {ends: [mid, right], vlans: {trunk: all, native: none}}
  b1: {ends: [b10, h]}
  b2: {ends: [h, right], vlans: 10}
  b3: {ends: [b20, right], vlans: 20}
  r1: {ends: [r, right], vlans: 10}
  r2: {ends: [r, left], vlans: {trunk: [10], native: 20}}
  t1: {ends: [t, left]}
";

#[test]
fn each_vlan_has_a_subnet_of_its_own() {
    let plan = plan(VLANS);
    let first = |name: &str| addresses(&plan, name).remove(0);
    assert_eq!(["a10", "b10", "r"].map(first), ["10.0.0.1/29", "10.0.0.2/29", "10.0.0.3/29"]);
    assert_eq!(["a20", "b20"].map(first), ["10.0.0.9/29", "10.0.0.10/29"]);
    assert_eq!(addresses(&plan, "r")[1], "10.0.0.11/29");
    assert_eq!(routes(&plan, "a10"), ["0.0.0.0/0 via 10.0.0.3"]);
    assert_eq!(routes(&plan, "b20"), ["0.0.0.0/0 via 10.0.0.11"]);
    // Nobody else is in VLAN 1.
    assert_eq!(plan.unreached.pairs, 5);
    let of = |name: &str| {
        node(&plan, name).switch.as_ref().map(|switch| switch.vlans.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(
        of("left"),
        Some(["VLAN 10", "VLAN 20", "VLAN 1, trunk 10 20", "VLAN 20, trunk 10", "VLAN 1"].map(str::to_owned).into())
    );
    assert_eq!(of("mid"), Some(["VLAN 1, trunk 10 20", "trunk 1 10 20"].map(str::to_owned).into()));
}

#[test]
fn a_way_stays_in_its_vlan() {
    let plan = plan(VLANS);
    let names = |from: &str, to: &str| {
        let way = plan.way_to(node(&plan, from).interfaces[0].end, to.parse().expect("an address"))?;
        Some(way.iter().map(|[entry, _]| plan.links[entry.link()].name.as_str()).collect::<Vec<_>>())
    };
    assert_eq!(names("a10", "10.0.0.2"), Some(vec!["a1", "up", "down", "b2", "b1"]));
    assert_eq!(names("a20", "10.0.0.11"), Some(vec!["a2", "r2"]));
    assert_eq!((names("a10", "10.0.0.11"), names("a10", "10.0.0.9"), names("t", "10.0.0.1")), (None, None, None));
}

/// Two links between two switches are no loop where they carry different VLANs.
#[test]
fn a_loop_is_one_of_a_vlan() {
    let text = "\
nodes: {s1: {kind: switch}, s2: {kind: switch}, a: {}}
links:
  host: {ends: [a, s1]}
  one: {ends: [s1, s2], vlans: 10}
  two: {ends: [s1, s2], vlans: {trunk: [20, 30], native: none}}
";
    assert_eq!(plan(text).nodes.len(), 3);
    let wrong = netloom_lab::parse(&text.replace("[20, 30]", "[20, 10]"), "t.yaml").expect_err("a loop").to_string();
    assert!(wrong.contains("this link closes a loop in VLAN 10: `s1` to `s2` by one, and back by two"), "{wrong}");
}

/// However many VLANs a file wants on however many links, it is refused and not tried.
#[test]
fn more_vlans_than_there_is_room_for_are_refused() {
    let all: Vec<String> = (1..=4_094).map(|vlan| vlan.to_string()).collect();
    let links: String =
        (0..300).map(|host| format!("  l{host}: {{ends: [h{host}, s], vlans: {{trunk: all}}}}\n")).collect();
    let named = format!("  n: {{ends: [s, t], vlans: {{trunk: [{}]}}}}\n", all.join(", "));
    let hosts: String = (0..300).map(|host| format!(", h{host}: {{}}")).collect();
    let text = format!("nodes: {{s: {{kind: switch}}, t: {{kind: switch}}{hosts}}}\nlinks:\n{named}{links}");
    let wrong = netloom_lab::parse(&text, "t.yaml").expect_err("too many").to_string();
    assert!(wrong.contains("links.l243: the links carry more than 1000000 VLANs together"), "{wrong}");
}

/// A ring of four, of which the second is the root by its priority, a link to a hub, and a host at the last.
const RING: &str = "\
nodes: {a: {}, b: {}, s1: {kind: switch, stp: true}, s2: {kind: switch, stp: {priority: 0}}, s3: {kind: switch}, s4: {kind: switch, stp: true}, h: {kind: hub}}
links:
  one: {ends: [s1, s2], rate: 1 Gbit/s}
  two: {ends: [s2, s3], rate: 10 Mbit/s}
  three: {ends: [s3, s4], rate: 1 Gbit/s}
  four: {ends: [s4, s1], rate: 100 Mbit/s}
  stub: {ends: [s1, h]}
  first: {ends: [h, a]}
  last: {ends: [s4, b], rate: 3 Mbit/s}
";

/// s3 is a cable: from s4 the root is as far as the 1 Gbit/s of `three`, and 200,000 + 20,000 by `four`; to
/// that link both are equally near, and s1 has the lower address.
#[test]
fn the_plan_knows_the_tree_and_ways_lead_along_it() {
    let plan = plan(RING);
    let roles = |name: &str| {
        let tree = node(&plan, name).switch.as_ref().and_then(|switch| switch.tree.clone()).expect("a tree");
        tree.ports.iter().map(|port| (port.role.name(), port.cost)).collect::<Vec<_>>()
    };
    assert_eq!(roles("s1"), [("root", 20_000), ("designated", 200_000), ("designated", 2)]);
    assert_eq!(roles("s2"), [("designated", 20_000), ("designated", 2_000_000)]);
    assert_eq!(roles("s4"), [("root", 20_000), ("alternate", 200_000), ("designated", 6_666_666)]);
    assert!(node(&plan, "s3").switch.as_ref().is_some_and(|switch| switch.tree.is_none()));
    let address = node(&plan, "b").interfaces[0].addresses[0].addr();
    let way = plan.way_to(node(&plan, "a").interfaces[0].end, address).expect("a way");
    let links: Vec<&str> = way.iter().map(|[entry, _]| plan.links[entry.link()].name.as_str()).collect();
    assert_eq!(links, ["first", "stub", "one", "two", "three", "last"]);
}

#[test]
fn a_rate_that_may_limit_a_loop_stays_where_there_are_trees() {
    let set = "timeline: [{at: 1 s, set: {link: one, rate: unlimited}}]";
    assert!(netloom_lab::parse(&format!("{RING}{set}"), "t.yaml").is_err());
}

/// Of a ring of three with the root at s1, the link between s2 and s3 is blocked: what only that carries is in parts.
#[test]
fn a_vlan_that_the_tree_leaves_in_parts_is_told() {
    let text = "\
nodes:
  a10: {}
  b10: {}
  a20: {}
  b20: {}
  s1: {kind: switch, stp: {priority: 0}}
  s2: {kind: switch, stp: {priority: 4096}}
  s3: {kind: switch, stp: true}
links:
  one: {ends: [s1, s2], rate: 1 Gbit/s, vlans: {trunk: [10]}}
  two: {ends: [s2, s3], rate: 1 Gbit/s, vlans: {trunk: [10, 20]}}
  three: {ends: [s3, s1], rate: 1 Gbit/s, vlans: {trunk: [10]}}
  d1: {ends: [a10, s2], vlans: 10}
  d2: {ends: [b10, s3], vlans: 10}
  d3: {ends: [a20, s2], vlans: 20}
  d4: {ends: [b20, s3], vlans: 20}
";
    let warnings =
        |file: &str| -> Vec<String> { netloom_lab::parse(file, "t.yaml").expect("a lab").warnings.lines().collect() };
    assert_eq!(
        warnings(text),
        [
            "t.yaml:8: nodes.s3: the spanning tree blocks `two` here, and so leaves VLAN 20 in parts: `a20` does not reach \
          `b20`. There is one tree for all VLANs: let its links carry this one, too, or change by `priority` which links it \
          takes"
        ]
    );
    assert_eq!(warnings(&text.replace("[10]", "[10, 20]")), [""; 0]);
    // With another root, `one` is blocked, which VLAN 20 does not need.
    let roots = [
        ("s1: {kind: switch, stp: {priority: 0}}", "s1: {kind: switch, stp: true}"),
        ("stp: true}\nlinks", "stp: {priority: 0}}\nlinks"),
    ];
    let rooted = roots.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to));
    assert_eq!(warnings(&rooted), [""; 0]);
}

/// What a switch is told of groups is in the plan, and in the fabric: a querier with addresses that no router needs.
#[test]
fn snooping_is_in_the_plan() {
    let text = "\
nodes: {a: {}, b: {}, s: {kind: switch, snooping: true}, t: {kind: switch, snooping: {querier: false, fast_leave: true, groups: 9}}}
links: {one: {ends: [a, s]}, two: {ends: [s, t]}, three: {ends: [t, b]}}
";
    let plan = plan(text);
    let described = plan.describe();
    let snooping = |node: usize| described["nodes"][node]["switch"]["snooping"].clone();
    let usual = serde_json::json!({
        "groups": 4_096, "interval_ns": 125_000_000_000_u64, "response_ns": 10_000_000_000_u64, "last_member_ns": 1_000_000_000,
        "robustness": 2, "fast_leave": [], "routers": [], "querier": {"address": null, "igmp": 3, "mld": 2},
    });
    assert_eq!(snooping(2), usual);
    let other = snooping(3);
    assert_eq!((&other["querier"], &other["groups"]), (&serde_json::Value::Null, &9.into()));
    assert_eq!(other["fast_leave"], serde_json::json!(["eth0", "eth1"]));
    let devices = netloom_lab::fabric::device_specs(&plan);
    let [netloom_fabric::DeviceSpec::Switch(asks), netloom_fabric::DeviceSpec::Switch(listens)] = &devices[..] else {
        panic!("two switches")
    };
    let querier = asks.snooping.as_ref().and_then(|own| own.querier).expect("it asks");
    assert!(querier.v4.is_link_local() && querier.v6.segments()[0] == 0xfe80, "{querier:?}");
    assert!(listens.snooping.as_ref().is_some_and(|own| own.querier.is_none()));
}

/// A transit router says nothing of groups: whatever leads to one is a router port, in a LAN with loops all ports between switches.
#[test]
fn ways_to_transit_routers_are_router_ports() {
    let ports = |text: &str, name: &str| -> Vec<String> {
        let plan = plan(text);
        let own = node(&plan, name);
        let snooping = own.switch.as_ref().and_then(|switch| switch.snooping.clone()).expect("it snoops");
        snooping.routers.iter().map(|place| plan.links[own.interfaces[*place].end.link()].name.clone()).collect()
    };
    let row = "\
nodes: {a: {}, b: {}, c: {}, s: {kind: switch, snooping: true}, h: {kind: hub}, t: {kind: switch, snooping: {routers: [desk]}},
        u: {kind: switch, snooping: true}, r: {kind: transit}}
links: {one: {ends: [a, s]}, in: {ends: [s, h]}, out: {ends: [h, t]}, up: {ends: [t, r]}, desk: {ends: [t, b]}, far: {ends: [t, u]},
        last: {ends: [u, c]}}
";
    assert_eq!(ports(row, "s"), ["in"]);
    assert_eq!(ports(row, "t"), ["up", "desk"]);
    assert_eq!(ports(row, "u"), ["far"]);
    assert_eq!(ports(&row.replace("{kind: transit}", "{kind: router}"), "s"), [""; 0]);
    let ring = "\
nodes: {a: {}, s: {kind: switch, stp: true, snooping: true}, t: {kind: switch, stp: true, snooping: true}, u: {kind: switch, stp: true}, r: {kind: transit}}
links: {one: {ends: [a, s], rate: 1 Gbit/s}, x: {ends: [s, t], rate: 1 Gbit/s}, y: {ends: [t, u], rate: 1 Gbit/s}, z: {ends: [u, s], rate: 1 Gbit/s},
        up: {ends: [t, r]}}
";
    assert_eq!(ports(ring, "s"), ["x", "z"]);
    assert_eq!(ports(ring, "t"), ["x", "y", "up"]);
}
