//! The parts of a lab are the lab: over generated and random networks, every node and link is in the parts once, with the addresses,
//! neighbours, routes and names that it has in one piece.

use crate::labs::Random;
use netloom_lab::placement::Settings;
use netloom_lab::{Division, NodePlan, Plan, SplitSettings, Undivided, generate, parse, split};
use netloom_units::Duration;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

fn divided(text: &str, machines: usize) -> Division {
    let placement = Settings { count: Some(machines), path: Duration::from_micros(100) };
    split(text, "lab.yaml", &SplitSettings { placement, ..SplitSettings::default() }, None).unwrap_or_else(|wrong| {
        let wrong = match wrong {
            Undivided::Refused(found) => found.to_string(),
            Undivided::Misplaced(found) => found.join("\n"),
            Undivided::Settings(found) => found,
        };
        panic!("{wrong}\n{text}")
    })
}

/// What a node has in the network, in words.
fn described(plan: &Plan, node: &NodePlan) -> String {
    let mut text = String::new();
    for own in node.interfaces.iter().filter(|_| node.kind.has_addresses()) {
        let neighbors: BTreeSet<_> = own.neighbors.iter().collect();
        writeln!(text, "{} {:?} {:?} {} {neighbors:?}", own.name, own.mac, own.addresses, own.mtu).unwrap();
    }
    for route in &node.routes {
        writeln!(text, "{} via {} at {}", route.destination, route.via, route.interface).unwrap();
    }
    if node.kind.runs_programs() {
        let names = plan.hosts_of(node);
        let mut names: Vec<&str> = names.lines().collect();
        names.sort_unstable();
        write!(text, "{}", names.join("\n")).unwrap();
    }
    text
}

/// Checks the union of all parts; returns how many links are cut.
fn check(text: &str, machines: usize) -> usize {
    let whole = parse(text, "lab.yaml").expect("a right lab").plan;
    let division = divided(text, machines);
    let mut nodes: BTreeMap<&str, String> = BTreeMap::new();
    let mut links: BTreeMap<&str, Vec<(usize, [bool; 2])>> = BTreeMap::new();
    let mut ports: BTreeMap<(u16, u32), usize> = BTreeMap::new();
    for (place, part) in division.parts.iter().enumerate() {
        let plan = &part.lab.plan;
        assert_eq!(parse(&part.text, "part.yaml").expect("a right part").plan.nodes.len(), plan.nodes.len());
        for node in plan.nodes.iter().filter(|node| node.tunnel.is_none()) {
            assert_eq!(nodes.insert(&node.name, described(plan, node)), None, "{} is there twice", node.name);
        }
        for node in plan.nodes.iter().filter_map(|node| node.tunnel.as_ref()) {
            *ports.entry((node.port, node.vni)).or_default() += 1;
        }
        for link in &plan.links {
            let far = [0, 1].map(|end| link.ends.get(end).is_some_and(|end| plan.nodes[end.node].tunnel.is_some()));
            links.entry(&link.name).or_default().push((place, far));
            let own = whole.links.iter().find(|own| own.name == link.name).expect("a link of the lab");
            for way in [0, 1].into_iter().filter(|way| !far[*way]) {
                assert_eq!(link.pipes[way], own.pipes[way], "{}", link.name);
            }
        }
    }
    assert_eq!(nodes.len(), whole.nodes.len());
    for node in &whole.nodes {
        assert_eq!(nodes[node.name.as_str()], described(&whole, node), "{}", node.name);
    }
    assert_eq!(links.len(), whole.links.len());
    let mut cut = 0;
    for (name, parts) in &links {
        match &parts[..] {
            [(_, far)] => assert_eq!(far, &[false; 2], "{name} has one side only"),
            [(one, first), (other, second)] => {
                assert!(one != other && first[0] != first[1] && *first == [second[1], second[0]], "{name}: {parts:?}");
                cut += 1;
            }
            _ => panic!("{name} is there too often"),
        }
    }
    assert_eq!((ports.len(), ports.values().all(|ends| *ends == 2)), (cut, true));
    cut
}

fn generated(kind: &str, keys: &[(&str, &str)]) -> String {
    let keys: Vec<(String, String)> =
        keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    generate("lab", kind, &keys).unwrap_or_else(|wrong| panic!("{wrong}"))
}

const LINK: (&str, &str) = ("link", "{delay: 2 ms, rate: 100 Mbit/s, loss: 0.1 %}");

#[test]
fn generated_networks_are_the_union_of_their_parts() {
    for inner in ["router", "transit"] {
        let labs = [
            generated("chain", &[("n", "7"), LINK, ("inner", inner)]),
            generated("ring", &[("n", "9"), LINK, ("inner", inner)]),
            generated("tree", &[("depth", "3"), ("fanout", "3"), LINK, ("inner", inner)]),
            generated("fat-tree", &[("k", "4"), LINK, ("inner", inner)]),
            generated("fat-tree", &[("k", "4"), LINK, ("inner", inner)]) + "routes: ecmp\n",
            generated("grid", &[("rows", "3"), ("columns", "4"), LINK, ("inner", inner)]),
            generated("waxman", &[("n", "12"), ("hosts", "5"), LINK, ("inner", inner)]),
        ];
        for lab in labs {
            for machines in [1, 3] {
                assert_eq!(check(&lab, machines) == 0, machines == 1);
            }
        }
    }
}

/// A random network: hosts, routers of both kinds, LANs; links that cannot be cut among others; some with addresses of their own.
fn random(seed: u64) -> String {
    let mut random = Random(seed);
    let count = 6 + random.below(14);
    let mut text = String::from("nodes:\n");
    for node in 0..count {
        let kind = ["", "kind: router", "kind: router, routes: ecmp", "kind: transit", "kind: router, routes: none"];
        writeln!(text, "  n{node}: {{{}}}", if node == 0 { "" } else { kind[random.below(kind.len())] }).unwrap();
    }
    text += "links:\n";
    let mut joined = BTreeSet::new();
    for link in 1..count + random.below(count) {
        let one = if link < count { link } else { random.below(count) };
        let other = random.below(if link < count { link } else { count });
        if one == other || !joined.insert((one.min(other), one.max(other))) {
            continue;
        }
        let delay = ["50 us", "1 ms", "5 ms", "20 ms"][random.below(4)];
        let more = [
            "",
            ", mtu: 1000",
            ", mtu: 1400",
            ", cost: 3",
            ", backward: {rate: 1 Mbit/s, loss: 1 %}",
            ", rate: 10 Mbit/s, queue: 50 packets",
        ];
        let end = if random.below(4) == 0 {
            format!(
                "{{node: n{one}, address: 192.168.{link}.1/24, interface: up{link}, mac: '02:00:00:00:01:{link:02x}'}}"
            )
        } else {
            format!("n{one}")
        };
        writeln!(text, "  l{link}: {{ends: [{end}, n{other}], delay: {delay}{}}}", more[random.below(more.len())])
            .unwrap();
    }
    if random.below(2) == 0 {
        let members: BTreeSet<usize> = (0..3 + random.below(4)).map(|_| random.below(count)).collect();
        if members.len() > 2 {
            let ends: Vec<String> = members.iter().map(|node| format!("n{node}")).collect();
            writeln!(text, "  lan: {{ends: [{}], delay: 10 us}}", ends.join(", ")).unwrap();
        }
    }
    text
}

#[test]
fn random_networks_are_the_union_of_their_parts() {
    let cut: usize = (1..=30).map(|seed| check(&random(seed * 7_919), 2 + usize::try_from(seed % 4).unwrap())).sum();
    assert!(cut > 30, "hardly anything was cut: {cut}");
}

#[test]
fn the_same_file_gives_the_same_parts() {
    let lab = generated("fat-tree", &[("k", "4"), LINK]);
    let texts = || divided(&lab, 3).parts.into_iter().map(|part| part.text).collect::<Vec<_>>();
    assert_eq!(texts(), texts());
}
