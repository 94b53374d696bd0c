//! Trees of multicast in random networks of transit routers: every receiver gets a packet once, and as early as it can.

use crate::headers;

use netloom_lab::Plan;
use netloom_lab::fabric::{fabric_of, port_id};
use netloom_packet::Packet;
use netloom_units::Instant;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::IpAddr;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Routers in a connected graph, some of them on LANs, each with a host; the first host sends to a third of the others. A link of cost
/// n takes n ms.
fn random(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let count = 4 + random.below(12);
    let (mut nodes, mut links) = (String::new(), String::new());
    for router in 0..count {
        writeln!(nodes, "  r{router}: {{kind: transit}}\n  h{router}:").unwrap();
        writeln!(links, "  a{router}: {{ends: [h{router}, r{router}], delay: 1 ms}}").unwrap();
    }
    for number in 0..2 * count {
        let one = if number + 1 < count { number + 1 } else { random.below(count) };
        let other = random.below(if number + 1 < count { one } else { count });
        if one == other {
            continue;
        }
        let cost = 1 + random.below(4);
        writeln!(links, "  l{number}: {{ends: [r{one}, r{other}], cost: {cost}, delay: {cost} ms}}").unwrap();
    }
    // Its ends take half of a link's delay each.
    writeln!(links, "  lan: {{ends: [r0, r1, r2, r3], cost: 2, delay: 1 ms}}").unwrap();
    let members: Vec<String> = (1..count).filter(|_| random.below(3) == 0).map(|node| format!("h{node}")).collect();
    let members = if members.is_empty() { "h1".to_owned() } else { members.join(", ") };
    let tree = |group: &str| format!("  - {{group: \"{group}\", from: h0, to: [{members}]}}\n");
    format!("nodes:\n{nodes}links:\n{links}multicast:\n{}{}", tree("239.9.9.9"), tree("ff3e::9"))
}

fn plan(text: &str) -> Plan {
    netloom_lab::parse(text, "random.yaml").unwrap_or_else(|wrong| panic!("{wrong}\n{text}")).plan
}

/// When which node got what the first host sent to a group, all times in ms.
fn arrivals(plan: &Plan, group: IpAddr) -> BTreeMap<String, Vec<u64>> {
    let source = plan.nodes.iter().find(|node| node.name == "h0").expect("the source");
    let own = &source.interfaces[0];
    let mut frame = vec![1, 0, 0x5e, 9, 9, 9];
    frame.extend(own.mac);
    let address = own.addresses.iter().map(ipnet::IpNet::addr).find(|own| own.is_ipv6() == group.is_ipv6());
    match (address.expect("an address"), group) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            frame.extend([8, 0, 0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0]);
            frame.extend(from.octets().into_iter().chain(to.octets()));
            headers::complete(&mut frame);
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, 64]);
            frame.extend(from.octets().into_iter().chain(to.octets()));
        }
        _ => unreachable!("both are of one family"),
    }
    frame.extend([4, 0, 4, 0, 0, 8, 0, 0]);
    let mut fabric = fabric_of(plan);
    fabric.inject(Instant::ZERO, port_id(own.end), Packet::from_bytes(frame.into_boxed_slice())).expect("a link");
    let mut arrivals: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    while let Some(now) = fabric.next_wake() {
        fabric.advance(now, |delivery| {
            let end = plan.ends().find(|end| port_id(end.end) == delivery.port).expect("an end of a link");
            arrivals.entry(plan.nodes[end.node].name.clone()).or_default().push(now.as_nanos() / 1_000_000);
        });
    }
    arrivals
}

/// The least cost from the first host to each node, by trying until nothing gets better.
fn distances(plan: &Plan) -> BTreeMap<String, u64> {
    let cost = |link: &netloom_lab::LinkPlan| link.pipes[0].delay.least().as_nanos() / 1_000_000;
    let mut known = BTreeMap::from([("h0".to_owned(), 0)]);
    loop {
        let mut is_better = false;
        for link in &plan.links {
            let names = [0, 1].map(|place: usize| plan.nodes[link.ends[place].node].name.clone());
            for (one, other) in [(0, 1), (1, 0)] {
                let Some(beyond) = known.get(&names[one]).map(|near| near + cost(link)) else { continue };
                if known.get(&names[other]).is_none_or(|before| beyond < *before) {
                    known.insert(names[other].clone(), beyond);
                    is_better = true;
                }
            }
        }
        if !is_better {
            return known;
        }
    }
}

#[test]
fn every_receiver_gets_a_packet_once_and_by_a_shortest_path() {
    let mut received = 0;
    for seed in 1..60 {
        let text = random(seed);
        let lab = plan(&text);
        let near = distances(&lab);
        for group in ["239.9.9.9", "ff3e::9"].map(|group| group.parse::<IpAddr>().unwrap()) {
            let got = arrivals(&lab, group);
            let members: Vec<&str> = lab
                .nodes
                .iter()
                .filter(|node| node.groups.iter().any(|part| part.group == group && part.to.is_empty()))
                .map(|node| node.name.as_str())
                .collect();
            assert!(!members.is_empty());
            // Hosts have links of their own here, so that nobody else hears anything.
            let wanted: BTreeMap<String, Vec<u64>> =
                members.iter().map(|name| ((*name).to_owned(), vec![near[*name]])).collect();
            assert_eq!(got, wanted, "{text}");
            received += wanted.len();
        }
    }
    assert!(received > 200, "{received}");
}

#[test]
fn the_plan_says_how_the_tree_grows() {
    let text = "nodes: {s: , t: {kind: transit}, u: {kind: transit}, a: , b: , c: }
links:
  l1: {ends: [s, t]}
  l2: {ends: [t, u]}
  l3: {ends: [t, a]}
  lan: {ends: [u, b, c]}
multicast: [{group: 239.1.2.3, from: s, to: [a, b, c]}]
";
    let lab = plan(text);
    let shown = lab.text().to_string();
    let part = shown.split("\nMulticast\n").nth(1).expect("the trees").split("\n\n").next().expect("its lines");
    let lines: Vec<String> = part.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let wanted = [
        "s 239.1.2.3 of s sends to eth0",
        "t 239.1.2.3 of s from eth0 to eth1, eth2",
        "u 239.1.2.3 of s from eth0 to eth1",
        "a 239.1.2.3 of s from eth0 receives",
        "b 239.1.2.3 of s from eth0 receives",
        "c 239.1.2.3 of s from eth0 receives",
    ];
    assert_eq!(lines, wanted);
}
