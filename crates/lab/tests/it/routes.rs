//! Every packet takes a shortest path, whatever is done to make route tables small: packets are led through random graphs
//! by the routes of a plan, and the length of their paths is compared to what a plain search finds.

use crate::labs::{Random, node};
use netloom_lab::{NodePlan, Plan};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::net::IpAddr;

/// Cost, then links.
type Length = (u64, u32);

struct Graph {
    text: String,
    forwards: Vec<bool>,
    links: Vec<(usize, usize, u64)>,
}

/// A connected graph; of `hosts` in a hundred nodes, some have several links. `given` in a hundred links have addresses of
/// their own.
fn random(nodes: usize, links: usize, hosts: usize, costs: usize, given: usize, seed: u64) -> Graph {
    let mut random = Random(seed);
    let mut graph = Graph { text: "nodes:\n".to_owned(), forwards: Vec::new(), links: Vec::new() };
    for node in 0..nodes {
        let forwards = node == 0 || random.below(100) >= hosts;
        graph.forwards.push(forwards);
        let kind = if forwards { "{kind: router}" } else { "{}" };
        writeln!(graph.text, "  n{node}: {kind}").unwrap();
    }
    graph.text.push_str("links:\n");
    while graph.links.len() < links {
        let number = graph.links.len();
        let one = if number + 1 < nodes { number + 1 } else { random.below(nodes) };
        let other = random.below(if number + 1 < nodes { one } else { nodes });
        if one == other || (number + 1 < nodes && !graph.forwards[other]) {
            continue;
        }
        let cost = 1 + random.below(costs);
        let second = match random.below(100) < given {
            // Some of them are where automatic subnets would be.
            true if number.is_multiple_of(2) => {
                format!("{{node: n{other}, address: 10.0.{}.{}/29}}", number / 32, number % 32 * 8 + 1)
            }
            true => {
                format!(
                    "{{node: n{other}, address: [172.{}.{}.1/24, \"fd01:0:0:{number:x}::1/64\"]}}",
                    16 + number / 256,
                    number % 256
                )
            }
            false => format!("n{other}"),
        };
        writeln!(graph.text, "  l{number}: {{ends: [n{one}, {second}], cost: {cost}}}").unwrap();
        graph.links.push((one, other, u64::try_from(cost).unwrap()));
    }
    graph
}

/// How far all nodes are from `source`, by trying until nothing gets better.
fn distances(graph: &Graph, source: usize) -> Vec<Option<Length>> {
    let mut around: BTreeMap<usize, Vec<(usize, u64)>> = BTreeMap::new();
    for &(one, other, cost) in &graph.links {
        around.entry(one).or_default().push((other, cost));
        around.entry(other).or_default().push((one, cost));
    }
    let mut known = vec![None; graph.forwards.len()];
    known[source] = Some((0, 0));
    let mut waiting = VecDeque::from([source]);
    while let Some(node) = waiting.pop_front() {
        let Some((cost, links)) = known[node].filter(|_| node == source || graph.forwards[node]) else { continue };
        for &(next, more) in &around[&node] {
            let length = (cost + more, links + 1);
            if known[next].is_none_or(|before| length < before) {
                known[next] = Some(length);
                waiting.push_back(next);
            }
        }
    }
    known
}

/// By which interface a node sends: into its own subnet, else by the route with the longest prefix.
fn towards(node: &NodePlan, target: IpAddr) -> Option<usize> {
    let own = node.interfaces.iter().position(|interface| interface.addresses.iter().any(|net| net.contains(&target)));
    let routes = node.routes.iter().filter(|route| route.destination.contains(&target));
    own.or_else(|| Some(routes.max_by_key(|route| route.destination.prefix_len())?.interface))
}

/// The length of the path that a packet takes, if it arrives.
fn walk(plan: &Plan, graph: &Graph, from: usize, target: IpAddr) -> Option<Length> {
    let has = |node: &NodePlan| node.interfaces.iter().any(|i| i.addresses.iter().any(|net| net.addr() == target));
    let (mut here, mut length) = (from, (0, 0));
    while !has(&plan.nodes[here]) {
        if length.1 > 1_000 || !(here == from || graph.forwards[here]) {
            return None;
        }
        let interface = &plan.nodes[here].interfaces[towards(&plan.nodes[here], target)?];
        length = (length.0 + graph.links[interface.end.link()].2, length.1 + 1);
        here = plan.links[interface.end.link()].beyond(interface.end).next().unwrap().node;
    }
    Some(length)
}

/// Leads packets from some nodes to the addresses of all.
fn check(graph: &Graph, sources: usize) -> Plan {
    let plan = netloom_lab::parse(&graph.text, "random.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
    for source in (0..plan.nodes.len()).step_by(plan.nodes.len().div_ceil(sources)) {
        let known = distances(graph, source);
        for (node, target) in plan.nodes.iter().enumerate().filter(|(node, _)| *node != source) {
            for interface in &target.interfaces {
                let link = interface.end.link();
                let ends: Vec<usize> = plan.links[link].ends.iter().map(|end| end.node).collect();
                for address in interface.addresses.iter().map(ipnet::IpNet::addr) {
                    let length = walk(&plan, graph, source, address);
                    let via = |end: usize| known[end].filter(|_| graph.forwards[end] || end == source);
                    let nearer = ends.iter().filter_map(|end| Some((via(*end)?, *end))).min();
                    let cost = graph.links[link].2;
                    let described = format!("from n{source} to {address} of n{node}, on l{link}");
                    match nearer {
                        // Two hosts: the address is reached by way of its own node.
                        None => assert_eq!(length, known[node], "{described}"),
                        Some((near, _)) => {
                            let beyond = (near.0 + cost, near.1 + 1);
                            // Where both ends are equally near, the packet may come by either.
                            let straight = via(node) == Some(near);
                            assert!(
                                length == Some(beyond) && !(straight && via(ends[0]) != via(ends[1]))
                                    || straight && length == Some(near),
                                "{described}: {length:?}, nearer end {near:?}"
                            );
                        }
                    }
                }
            }
            let named = plan.named(source, node).expect("every node has a link");
            for address in named.addresses.iter().map(ipnet::IpNet::addr) {
                let length = walk(&plan, graph, source, address);
                assert_eq!(length, known[node], "the name of n{node} at n{source}, {address}");
            }
        }
    }
    plan
}

#[test]
fn packets_take_shortest_paths_in_small_labs() {
    for seed in 1..40 {
        let hosts = usize::try_from(seed % 4).unwrap() * 20;
        check(&random(12, 24, hosts, 1 + usize::try_from(seed % 3).unwrap() * 2, 20, seed * 7_919), 12);
    }
}

#[test]
fn packets_take_shortest_paths_where_tables_are_made_smaller() {
    for (seed, costs) in [(11, 1), (12, 1), (13, 3)] {
        check(&random(90, 190, 10, costs, 10, seed), 30);
    }
}

#[test]
fn packets_take_shortest_paths_where_subnets_are_numbered_by_place() {
    let plan = check(&random(260, 520, 5, 1, 0, 21), 26);
    let address = |link: usize| {
        let end = plan.links[link].ends[0];
        plan.nodes[end.node].interfaces[end.interface].addresses[0].to_string()
    };
    assert!((0..8).any(|link| address(link) != format!("10.0.0.{}/30", 4 * link + 1)), "the order of the file");
    check(&random(260, 520, 5, 4, 10, 22), 13);
}

/// The links by which packets may leave a node: into its own subnet, else by all routes with the longest prefix.
fn ways(node: &NodePlan, target: IpAddr) -> Vec<usize> {
    let own = node.interfaces.iter().find(|interface| interface.addresses.iter().any(|net| net.contains(&target)));
    let fitting: Vec<_> = node.routes.iter().filter(|route| route.destination.contains(&target)).collect();
    let longest = fitting.iter().map(|route| route.destination.prefix_len()).max();
    let best = fitting.iter().filter(|route| Some(route.destination.prefix_len()) == longest);
    let mut links: Vec<usize> = match own {
        Some(interface) => vec![interface.end.link()],
        None => best.map(|route| node.interfaces[route.interface].end.link()).collect(),
    };
    links.sort_unstable();
    links
}

/// With `ecmp`, every neighbour that begins a path of the least cost is a next hop, and no other is.
fn check_ecmp(graph: &Graph, is_all: bool) {
    let plan = netloom_lab::parse(&graph.text, "random.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
    let from: Vec<_> = (0..plan.nodes.len()).map(|node| distances(graph, node)).collect();
    let mut several = 0;
    for (source, node) in plan.nodes.iter().enumerate() {
        for (holder, link) in
            graph.links.iter().enumerate().flat_map(|(link, (one, other, _))| [(*one, link), (*other, link)])
        {
            let ends = [graph.links[link].0, graph.links[link].1];
            if ends.contains(&source) {
                continue;
            }
            // The routers of its subnet pass a packet on to the address; where there are none, it leads to its own node.
            let routers: Vec<usize> = ends.into_iter().filter(|end| graph.forwards[*end]).collect();
            let goals = if routers.is_empty() { vec![holder] } else { routers };
            let near = |at: usize| {
                let passes = graph.forwards[at] || at == source || goals.contains(&at);
                goals.iter().filter_map(|goal| from[*goal][at].filter(|_| passes)).map(|(cost, _)| cost).min()
            };
            let Some(least) = near(source) else { continue };
            let around = graph.links.iter().enumerate().filter_map(|(number, (one, other, cost))| {
                let beyond = [(*one, *other), (*other, *one)].into_iter().find(|(here, _)| *here == source)?.1;
                (near(beyond)? + cost == least).then_some(number)
            });
            let wanted: Vec<usize> = around.collect();
            let interfaces = plan.nodes[holder].interfaces.iter().filter(|interface| interface.end.link() == link);
            for address in interfaces.flat_map(|interface| &interface.addresses).map(ipnet::IpNet::addr) {
                let described = format!("from n{source} to {address} on l{link}");
                let known = ways(node, address);
                if graph.links.iter().filter(|(one, other, _)| [*one, *other].contains(&source)).count() > 1 {
                    assert_eq!(known, wanted, "{described}");
                    several += usize::from(known.len() > 1);
                }
            }
        }
    }
    assert!(several > 0 || !is_all, "there are several ways somewhere");
}

#[test]
fn all_ways_of_the_least_cost_are_taken_where_they_are_asked_for() {
    let ecmp = |graph: Graph| Graph { text: format!("routes: ecmp\n{}", graph.text), ..graph };
    for seed in 1..30 {
        let costs = 1 + usize::try_from(seed % 3).unwrap();
        check_ecmp(&ecmp(random(12, 26, 0, costs, 20, seed * 7_919)), costs == 1);
    }
    // Tables that are made smaller.
    check_ecmp(&ecmp(random(90, 190, 0, 1, 0, 11)), true);
    check_ecmp(&ecmp(random(90, 190, 0, 3, 10, 13)), true);
}

/// Whichever nodes take all ways, names and packets of the others keep to shortest paths.
#[test]
fn nodes_choose_for_themselves_how_many_ways_they_take() {
    let text = "nodes: {a: {kind: router}, b: {kind: router, routes: ecmp}, c: {kind: router}, d: {kind: router}}
links:
  ab: {ends: [a, b], cost: 1}
  ac: {ends: [a, c], cost: 1}
  bd: {ends: [b, d], cost: 2}
  cd: {ends: [c, d], cost: 1}
  ad: {ends: [a, d], cost: 3}
  second: {ends: [b, d], cost: 2}
";
    let plan = netloom_lab::parse(text, "few.yaml").expect("a lab").plan;
    let to = |node: usize, link: &str| {
        let link = plan.links.iter().position(|known| known.name == link).unwrap();
        let net = plan.nodes[plan.links[link].ends[0].node].interfaces[plan.links[link].ends[0].interface].addresses[0];
        let out = ways(&plan.nodes[node], net.addr());
        out.iter().map(|place| plan.links[*place].name.as_str()).collect::<Vec<_>>()
    };
    // To cd, b has two hops by a and c, or by d: 1 + 1, or 2. Links of equal cost between the same routers count, too.
    assert_eq!(to(1, "cd"), ["ab", "bd", "second"]);
    assert_eq!(to(0, "cd"), ["ac"]);
    assert_eq!((plan.nodes[1].ecmp, plan.nodes[0].ecmp), (true, false));
}

/// The graph of a thousand routers and two thousand links that the manual speaks of.
#[test]
fn large_labs_have_small_tables() {
    let count = |plan: &Plan| plan.nodes.iter().map(|node| node.routes.len()).sum::<usize>();
    let large = random(1_000, 2_000, 0, 1, 0, 88_172_645_463_325_252);
    let random = netloom_lab::parse(&large.text, "large.yaml").unwrap().plan;
    // One for each router and subnet would be 4 million.
    assert!(count(&random) < 420_000, "{}", count(&random));
    let torus: String = (0..32 * 32)
        .map(|node| {
            let (right, below) = (node / 32 * 32 + (node + 1) % 32, (node + 32) % 1_024);
            format!("  r{node}: {{ends: [n{node}, n{right}]}}\n  d{node}: {{ends: [n{node}, n{below}]}}\n")
        })
        .collect();
    let nodes: String = (0..1_024).map(|node| format!("  n{node}: {{kind: router}}\n")).collect();
    let plan = netloom_lab::parse(&format!("nodes:\n{nodes}links:\n{torus}"), "torus.yaml").unwrap().plan;
    assert!(count(&plan) < 60_000, "{}", count(&plan));
}

/// As many links of the one family as of the other, but not the same ones.
#[test]
fn each_family_has_paths_of_its_own() {
    let text =
        "nodes: {a: {}, r1: {kind: router}, r2: {kind: router}, r3: {kind: router}, r4: {kind: router}, t: {}, u: {}}
links:
  l1: {ends: [a, r1], mtu: 1000}
  l2: {ends: [a, r2], mtu: 1000}
  l3: {ends: [{node: a, address: 'fd00:3::1/64'}, {node: r3, address: 'fd00:3::2/64'}], addresses: none}
  l4: {ends: [{node: a, address: 'fd00:4::1/64'}, {node: r4, address: 'fd00:4::2/64'}], addresses: none}
  l5: {ends: [r2, t]}
  l6: {ends: [{node: r4, address: 'fd00:6::1/64'}, {node: u, address: 'fd00:6::2/64'}]}
";
    let plan = netloom_lab::parse(text, "families.yaml").expect("a lab").plan;
    let via = |destination: &str| {
        let address: IpAddr = destination.parse().unwrap();
        let routes = plan.nodes[0].routes.iter().filter(|route| route.destination.contains(&address));
        routes.map(|route| route.via.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(via("fd00:6::2"), ["fd00:4::2"]);
    let t = plan.nodes[5].interfaces[0].addresses.iter().find(|net| net.addr().is_ipv4()).expect("an address");
    let second = plan.nodes[2].interfaces[0].addresses[0].addr().to_string();
    assert_eq!(via(&t.addr().to_string()), [second]);
}

/// What a person looks at has an end; nothing is missing from the JSON.
#[test]
fn of_very_many_routes_the_first_are_shown() {
    let mesh = |n: u32| {
        let text = format!("generate: {{kind: mesh, n: {n}, hosts: 0}}\n");
        netloom_lab::parse(&text, "mesh.yaml").expect("a lab").plan
    };
    let (small, large) = (mesh(10), mesh(64));
    let routes: usize = large.nodes.iter().map(|node| node.routes.len()).sum();
    assert!(routes > 11_000, "{routes}");
    let shown = |plan: &Plan| plan.text().to_string().lines().filter(|line| line.contains(" via ")).count();
    assert_eq!(shown(&small), small.nodes.iter().map(|node| node.routes.len()).sum::<usize>());
    assert!((10_000..11_000).contains(&shown(&large)), "{}", shown(&large));
    let rest = format!("  and {} more, of ", routes - shown(&large));
    assert!(large.text().to_string().contains(&rest), "{rest}");
    let whole = serde_json::to_value(large.description()).unwrap();
    let listed = whole["nodes"].as_array().unwrap().iter().map(|node| node["routes"].as_array().unwrap().len());
    assert_eq!(listed.sum::<usize>(), routes);
}

/// A LAN gives a node more neighbours than the lab has links.
#[test]
fn a_router_of_two_large_lans_has_a_route_to_neither() {
    let hosts = |lan: &str| (0..40).map(|host| format!("{lan}{host}")).collect::<Vec<_>>().join(", ");
    let (a, b) = (hosts("a"), hosts("b"));
    let text = format!("nodes: {{r: {{kind: router}}}}\nlinks: {{one: {{ends: [r, {a}]}}, two: {{ends: [r, {b}]}}}}\n");
    let nodes: String = a.split(", ").chain(b.split(", ")).map(|name| format!(", {name}: {{}}")).collect();
    let plan = netloom_lab::parse(&text.replace("kind: router}", &format!("kind: router}}{nodes}")), "lans.yaml")
        .expect("a lab")
        .plan;
    let routes = |name: &str| node(&plan, name).routes.len();
    assert_eq!((routes("r"), routes("a7"), routes("b39")), (0, 2, 2));
}

/// What is known of paths grows with the square of a LAN's ends: one that is too large is refused before.
#[test]
fn a_lan_with_too_many_ends_is_refused_at_once() {
    let found = netloom_lab::parse("generate: {kind: star, n: 20000}\n", "star.yaml").unwrap_err().to_string();
    assert!(found.contains("20000 ends with addresses, and at most 1024 are possible"), "{found}");
    assert_eq!(found.matches("error:").count(), 1, "{found}");
}
