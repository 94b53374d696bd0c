//! From lab files to plans: addresses, names, routes.

use crate::labs::node;
use ipnet::IpNet;
use netloom_lab::{Action, CapturePoint, Direction, Lab, Plan, Precision};
use netloom_link::{LossConfig, QueueConfig};
use netloom_units::{Bytes, Duration, Limit, Rate};
use std::net::IpAddr;

fn lab(text: &str) -> Lab {
    netloom_lab::parse(text, "labs/test.yaml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

fn plan(text: &str) -> Plan {
    let lab = lab(text);
    assert!(lab.warnings.is_empty(), "{}", lab.warnings);
    lab.plan
}

fn warnings(text: &str) -> Vec<String> {
    lab(text).warnings.lines().collect()
}

fn addresses(plan: &Plan, name: &str) -> Vec<String> {
    let interfaces = node(plan, name).interfaces.iter();
    interfaces.flat_map(|interface| &interface.addresses).map(ToString::to_string).collect()
}

/// The IPv4 routes of a node as `ip route` would put them.
fn routes(plan: &Plan, name: &str) -> Vec<String> {
    let node = node(plan, name);
    let v4 = node.routes.iter().filter(|route| route.via.is_ipv4());
    v4.map(|route| format!("{} via {} {}", route.destination, route.via, node.interfaces[route.interface].name))
        .collect()
}

#[test]
fn what_is_not_said_has_its_default() {
    let plan = plan("nodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n");
    assert_eq!((plan.name.as_str(), plan.seed.get(), plan.precision), ("test", 1, Precision::Balanced));
    assert_eq!(plan.duration, None);
    let link = &plan.links[0];
    assert_eq!((link.mtu, link.coalesce), (1_500, Duration::from_micros(20)));
    assert_eq!(link.pipes[0], netloom_link::PipeConfig::default());
    assert_eq!(link.pipes[1], link.pipes[0]);
}

#[test]
fn interfaces_report_the_rate_of_the_faster_direction() {
    let speed =
        |link: &str| plan(&format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b], {link}}}}}\n")).links[0].speed_mbit();
    let told = [
        "delay: 1 ms",
        "rate: 1 Gbit/s",
        "forward: {rate: 16.9 Mbit/s}, backward: {rate: 1 Mbit/s}",
        "rate: 64 kbit/s",
    ]
    .map(speed);
    assert_eq!(told, [None, Some(1_000), Some(16), Some(1)]);
}

#[test]
fn a_direction_overrides_what_the_link_says() {
    let plan = plan(
        "nodes: [a, b]
links:
  dsl:
    ends: [a, b]
    delay: 10 ms
    queue: 50 ms
    rate: 1 Mbit/s
    loss: 0
    backward: {rate: unlimited, loss: 0.1 %, queue: {kind: fifo, limit: 64 kB}}
",
    );
    let [forward, backward] = &plan.links[0].pipes;
    assert_eq!(forward.rate.nominal(), Rate::from_bits_per_second(1_000_000));
    assert_eq!(forward.queue, QueueConfig::DropTail(Limit::Time(Duration::from_millis(50))));
    assert_eq!(forward.loss, LossConfig::None);
    assert_eq!((backward.rate.nominal(), backward.delay.is_constant()), (None, Some(Duration::from_millis(10))));
    assert_eq!(backward.queue, QueueConfig::DropTail(Limit::Bytes(Bytes::new(64_000))));
    assert!(matches!(backward.loss, LossConfig::Independent(_)));
}

#[test]
fn automatic_addresses_follow_the_order_of_links() {
    let plan = plan("nodes: {a: {}, r: {kind: router}, b: {}}\nlinks: {x: {ends: [a, r]}, y: {ends: [b, r]}}\n");
    assert_eq!(addresses(&plan, "a"), ["10.0.0.1/30", "fd00:6e6c::1/64"]);
    assert_eq!(addresses(&plan, "b"), ["10.0.0.5/30", "fd00:6e6c:0:1::1/64"]);
    assert_eq!(addresses(&plan, "r"), ["10.0.0.2/30", "fd00:6e6c::2/64", "10.0.0.6/30", "fd00:6e6c:0:1::2/64"]);
    let router = node(&plan, "r");
    assert_eq!(router.interfaces[1].name, "eth1");
    assert_eq!(router.interfaces[1].mac, [0x02, 0x6e, 0x6c, 0, 0, 3]);
    let link_local: IpAddr = "fe80::6e:6cff:fe00:3".parse().expect("an address");
    assert!(node(&plan, "b").interfaces[0].neighbors.contains(&(link_local, router.interfaces[1].mac)));
}

#[test]
fn explicit_addresses_replace_those_of_their_family_on_both_ends() {
    let plan = plan(
        "nodes: {a: {}, r: {kind: router}, b: {}, c: {}}
links:
  one: {ends: [a, {node: r, address: 192.168.3.1/24}]}
  last: {ends: [{node: b, address: 10.0.0.6/30}, r]}
  both: {ends: [{node: c, address: [172.16.0.9/16, \"fd01::9/64\"]}, {node: r, address: \"fd01::1/64\"}]}
  auto: {ends: [c, r]}
",
    );
    assert_eq!(addresses(&plan, "a"), ["192.168.3.2/24", "fd00:6e6c::1/64"]);
    // 10.0.0.6 is the last of its subnet: the other end gets the lowest.
    assert_eq!(addresses(&plan, "b"), ["10.0.0.6/30", "fd00:6e6c:0:1::1/64"]);
    assert_eq!(addresses(&plan, "c"), ["172.16.0.9/16", "fd01::9/64", "10.0.0.13/30", "fd00:6e6c:0:3::1/64"]);
    let router: Vec<String> = addresses(&plan, "r").into_iter().filter(|net| !net.contains(':')).collect();
    assert_eq!(router, ["192.168.3.1/24", "10.0.0.5/30", "172.16.0.10/16", "10.0.0.14/30"]);
}

#[test]
fn automatic_subnets_pass_over_explicit_ones() {
    let text = "nodes: {a: {}, b: {}}
links:
  first: {ends: [a, b]}
  second: {ends: [a, b]}
  big: {ends: [{node: a, address: 10.0.0.65/26}, b]}
  wide: {ends: [{node: a, address: 10.0.0.2/29}, b]}
";
    let plan = plan(text);
    let nets: Vec<IpNet> = plan.nodes[0].interfaces.iter().map(|interface| interface.addresses[0]).collect();
    assert_eq!(
        nets.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["10.0.0.9/30", "10.0.0.13/30", "10.0.0.65/26", "10.0.0.2/29"]
    );
}

#[test]
fn routers_know_every_subnet_and_leaves_have_a_default_route() {
    let plan = plan(
        "nodes: {a: {}, b: {}, r1: {kind: router}, r2: {kind: router}, stub: {kind: router}}
links: {x: {ends: [a, r1]}, core: {ends: [r1, r2]}, y: {ends: [r2, b]}, z: {ends: [r2, stub]}}
",
    );
    assert_eq!(routes(&plan, "a"), ["0.0.0.0/0 via 10.0.0.2 eth0"]);
    assert_eq!(routes(&plan, "stub"), ["0.0.0.0/0 via 10.0.0.13 eth0"]);
    // All of them lead to r2, but a default route between two routers would send unknown addresses to and fro.
    assert_eq!(routes(&plan, "r1"), ["10.0.0.8/30 via 10.0.0.6 eth1", "10.0.0.12/30 via 10.0.0.6 eth1"]);
    assert_eq!(routes(&plan, "r2"), ["10.0.0.0/30 via 10.0.0.5 eth0"]);
    let v6 = node(&plan, "a").routes.iter().filter(|route| route.via.is_ipv6());
    assert_eq!(v6.map(|route| route.destination.to_string()).collect::<Vec<_>>(), ["::/0"]);
}

/// A ring of four routers, and costs that make the long way the shorter one.
#[test]
fn cost_decides_then_the_number_of_links_then_the_order_of_the_file() {
    let ring = |cost: u32| {
        plan(&format!(
            "nodes: {{a: {{kind: router}}, b: {{kind: router}}, c: {{kind: router}}, d: {{kind: router}}}}
links:
  ab: {{ends: [a, b]}}
  bc: {{ends: [b, c], cost: {cost}}}
  cd: {{ends: [c, d]}}
  da: {{ends: [d, a]}}
"
        ))
    };
    // bc is 10.0.0.4/30 and as far by ab as cd, 10.0.0.8/30, is by da.
    assert_eq!(routes(&ring(1), "a"), ["10.0.0.4/30 via 10.0.0.2 eth0", "10.0.0.8/30 via 10.0.0.13 eth1"]);
    // From c, ab (10.0.0.0/30) lies behind b, but b is expensive to reach.
    assert_eq!(routes(&ring(1), "c"), ["10.0.0.0/30 via 10.0.0.5 eth0", "10.0.0.12/30 via 10.0.0.10 eth1"]);
    assert_eq!(routes(&ring(9), "c"), ["10.0.0.0/30 via 10.0.0.10 eth1", "10.0.0.12/30 via 10.0.0.10 eth1"]);
}

#[test]
fn equal_costs_prefer_fewer_links() {
    let plan = plan(
        "nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}, t: {}}
links:
  ab: {ends: [a, b]}
  bc: {ends: [b, c]}
  ac: {ends: [a, c], cost: 2}
  ct: {ends: [c, t]}
",
    );
    assert_eq!(routes(&plan, "a")[1], "10.0.0.12/30 via 10.0.0.10 eth1");
}

/// The host h joins both sides, but does not forward.
#[test]
fn hosts_are_never_passed_through() {
    let plan = plan(
        "nodes: {a: {}, r1: {kind: router}, h: {}, r2: {kind: router}, b: {}}
links:
  ar1: {ends: [a, r1]}
  r1h: {ends: [r1, h]}
  hr2: {ends: [h, r2]}
  r2b: {ends: [r2, b]}
  long: {ends: [r1, r2], cost: 50}
",
    );
    assert_eq!(routes(&plan, "r1"), ["10.0.0.8/30 via 10.0.0.18 eth2", "10.0.0.12/30 via 10.0.0.18 eth2"]);
    assert_eq!(
        routes(&plan, "h"),
        ["10.0.0.0/30 via 10.0.0.5 eth0", "10.0.0.12/30 via 10.0.0.10 eth1", "10.0.0.16/30 via 10.0.0.5 eth0"]
    );
}

#[test]
fn what_cannot_be_reached_is_warned_about() {
    let middle = "nodes: {a: {}, m: {}, b: {}}\nlinks: {x: {ends: [a, m]}, y: {ends: [m, b]}}\n";
    assert_eq!(
        warnings(middle),
        [
            "labs/test.yaml:1: nodes.m: this host has several links and forwards nothing, so that some nodes cannot reach \
          one another: is `kind: router` meant?"
        ]
    );
    let many = "generate: {kind: chain, n: 9, inner: host}\n";
    let of_many = warnings(many);
    assert_eq!(of_many.len(), 1, "{of_many:#?}");
    assert!(of_many[0].contains("`n1` and 8 others (`n2`, `n3`, `n4`, `n5`, `n6`, ...) have several"), "{of_many:#?}");
    let parts = "nodes: [a, b, c]\nlinks: {x: {ends: [a, b]}}\n";
    assert_eq!(
        warnings(parts),
        ["labs/test.yaml:1: nodes[2]: no links lead from `a` to `c`: they cannot reach one another"]
    );
    let small = "nodes: [a, b]\nlinks: {x: {ends: [a, b], mtu: 1000}}\n";
    assert_eq!(warnings(small), ["labs/test.yaml:2: links.x: no IPv6 on this link: it needs an mtu of 1280 or more"]);
    assert_eq!(addresses(&lab(small).plan, "a"), ["10.0.0.1/30"]);
    // A server with two ways into the same network is no mistake.
    let twofold = "nodes: {s: {}, r1: {kind: router}, r2: {kind: router}}
links: {x: {ends: [s, r1]}, y: {ends: [s, r2]}, z: {ends: [r1, r2]}}\n";
    assert_eq!(warnings(twofold), [""; 0]);
}

#[test]
fn names_of_interfaces_and_hosts() {
    let plan = plan(
        "nodes: {a: {}, r: {kind: router}, r-eth1: {}}
links:
  x: {ends: [{node: a, interface: wan}, r]}
  y: {ends: [r, r-eth1], mtu: 9000}
  z: {ends: [{node: a, interface: eth1}, r]}
  w: {ends: [a, r]}
",
    );
    let names: Vec<&str> = node(&plan, "a").interfaces.iter().map(|interface| interface.name.as_str()).collect();
    assert_eq!(names, ["wan", "eth1", "eth0"]);
    let hosts = plan.hosts(&[]);
    let lines: Vec<&str> = hosts.lines().collect();
    assert_eq!(
        lines[..6],
        [
            "127.0.0.1 localhost",
            "::1 localhost",
            "10.0.0.1 a a-wan",
            "fd00:6e6c::1 a a-wan",
            "10.0.0.9 a-eth1",
            "fd00:6e6c:0:2::1 a-eth1"
        ]
    );
    assert!(lines.contains(&"10.0.0.2 r r-eth0"));
    // `r-eth1` is a node, and not the second interface of r.
    let named: Vec<&&str> = lines.iter().filter(|line| line.contains(" r-eth1")).collect();
    assert_eq!(named, [&"10.0.0.6 r-eth1 r-eth1-eth0", &"fd00:6e6c:0:1::2 r-eth1 r-eth1-eth0"]);
}

/// What the names of all nodes mean inside `from`: the IPv4 address of each, in the order of nodes.
fn seen_from(plan: &Plan, from: &str) -> Vec<String> {
    let hosts = plan.hosts(&node(plan, from).names);
    let lines: Vec<Vec<&str>> = hosts.lines().map(|line| line.split(' ').collect()).collect();
    let of = |name: &str| lines.iter().find(|words| !words[0].contains(':') && words[1..].contains(&name));
    plan.nodes.iter().map(|node| of(&node.name).expect("every node has a name")[0].to_owned()).collect()
}

#[test]
fn hosts_of_a_mesh_meet_on_the_link_between_them() {
    let plan = plan("nodes: [a, b, c]\nlinks: {ab: {ends: [a, b]}, ac: {ends: [a, c]}, bc: {ends: [b, c]}}\n");
    assert_eq!(seen_from(&plan, "a"), ["10.0.0.1", "10.0.0.2", "10.0.0.6"]);
    assert_eq!(seen_from(&plan, "b"), ["10.0.0.1", "10.0.0.2", "10.0.0.10"]);
    assert_eq!(seen_from(&plan, "c"), ["10.0.0.5", "10.0.0.9", "10.0.0.6"]);
    // The other addresses are reached as well: each by the link to its own node, since nobody passes anything on.
    assert_eq!(routes(&plan, "b"), ["10.0.0.5/32 via 10.0.0.1 eth0", "10.0.0.6/32 via 10.0.0.10 eth1"]);
    assert_eq!(plan.unreached.pairs, 0);
    let text = plan.text().to_string();
    let names = "Names that mean another interface than the first
  on b  c  eth1  10.0.0.10 fd00:6e6c:0:2::2
  on c  a  eth1  10.0.0.5 fd00:6e6c:0:1::1
        b  eth1  10.0.0.9 fd00:6e6c:0:2::1
";
    assert!(text.contains(names), "{text}");
    assert_eq!(plan.describe()["nodes"][2]["names"], serde_json::json!({"a": "eth1", "b": "eth1"}));
}

#[test]
fn a_name_means_what_is_nearest_and_the_first_of_several() {
    // A server with a link into each of two sites; the sites' routers are far apart.
    let plan = plan(
        "nodes: {s: {}, r1: {kind: router}, r2: {kind: router}, near: {}, far: {}}
links:
  one: {ends: [s, r1]}
  two: {ends: [s, r2]}
  between: {ends: [r1, r2], cost: 10}
  n: {ends: [near, r1]}
  f: {ends: [far, r2]}
",
    );
    let s = |from: &str| seen_from(&plan, from)[0].clone();
    assert_eq!([s("near"), s("r1"), s("s")], ["10.0.0.1", "10.0.0.1", "10.0.0.1"]);
    assert_eq!([s("far"), s("r2")], ["10.0.0.5", "10.0.0.5"]);
    // To r1's first address the way from s is direct, and its second interface is no nearer to anybody.
    assert!(["s", "near", "far"].iter().all(|from| seen_from(&plan, from)[1] == "10.0.0.2"));
    // To r2 from s: its first interface is that of `two`.
    assert_eq!(seen_from(&plan, "s")[2], "10.0.0.6");
}

/// In a triangle of routers, the subnet of the opposite link is as near by one neighbour as by the other: its addresses may
/// be reached around a corner.
#[test]
fn the_name_of_a_router_leads_straight_to_it() {
    let text = "nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}}
links: {ab: {ends: [a, b]}, ac: {ends: [a, c]}, bc: {ends: [b, c]}}\n";
    let plan = plan(text);
    assert_eq!(seen_from(&plan, "b")[2], "10.0.0.10");
    assert_eq!(seen_from(&plan, "c"), ["10.0.0.5", "10.0.0.9", "10.0.0.6"]);
}

#[test]
fn pairs_without_a_way_are_listed() {
    let ring = |kind: &str| {
        let nodes: Vec<String> = (0..9).map(|number| format!("n{number}: {kind}")).collect();
        let links: Vec<String> =
            (0..9).map(|number| format!("  l{number}: {{ends: [n{number}, n{}]}}\n", (number + 1) % 9)).collect();
        lab(&format!("nodes: {{{}}}\nlinks:\n{}", nodes.join(", "), links.concat())).plan
    };
    assert_eq!(ring("{kind: router}").unreached, netloom_lab::Unreached::default());
    let hosts = ring("{}");
    assert_eq!((hosts.unreached.pairs, hosts.unreached.first.len()), (27, 20));
    assert_eq!(hosts.unreached.first[..3], [(0, 2), (0, 3), (0, 4)]);
    assert!(
        hosts.text().to_string().contains("No route between\n  n0                and  n2\n"),
        "{}",
        hosts.text().to_string()
    );
    assert!(hosts.text().to_string().contains("  and 7 more pairs\n"));
    // Two parts that hosts hold together: a host that touches both reaches all, and is no way for the others.
    let parts = "nodes: {a: {}, r: {kind: router}, h: {}, s: {kind: router}, b: {}, alone: {}}
links: {ar: {ends: [a, r]}, rh: {ends: [r, h]}, hs: {ends: [h, s]}, sb: {ends: [s, b]}}\n";
    let lab = lab(parts);
    let alone = [(0, 5), (1, 5), (2, 5), (3, 5), (4, 5)];
    let apart = [(0, 3), (0, 4), (1, 3), (1, 4)];
    let mut expected = [&alone[..], &apart].concat();
    expected.sort_unstable();
    assert_eq!((lab.plan.unreached.pairs, &lab.plan.unreached.first), (9, &expected));
}

#[test]
fn routes_and_addresses_may_be_left_to_others() {
    let text = |top: &str, router: &str, link: &str| {
        format!(
            "{top}nodes: {{a: {{}}, r: {{kind: router{router}}}, s: {{kind: router}}, b: {{}}}}
links:
  x: {{ends: [a, r]}}
  y: {{ends: [{{node: r, address: 192.168.1.1/24}}, s]{link}}}
  z: {{ends: [s, b]}}\n"
        )
    };
    let usual = plan(&text("", "", ""));
    assert_eq!((routes(&usual, "r").len(), addresses(&usual, "s")[0].as_str()), (1, "192.168.1.2/24"));
    let one = plan(&text("", ", routes: none", ""));
    assert_eq!((routes(&one, "r"), routes(&one, "s").len(), routes(&one, "a").len()), (Vec::new(), 1, 1));
    let none = plan(&text("routes: none\n", ", routes: shortest", ""));
    assert!(["a", "s", "b"].iter().all(|name| routes(&none, name).is_empty()));
    assert_eq!(routes(&none, "r").len(), 1);
    let bare = plan(&text("routes: none\n", "", ", addresses: none"));
    assert_eq!((addresses(&bare, "r").len(), addresses(&bare, "s").len()), (3, 2));
    assert_eq!(addresses(&plan(&text("routes: none\naddresses: none\n", "", "")), "r"), ["192.168.1.1/24"]);
    // What names mean to a node without routes: what is on its own links.
    let mesh =
        plan("routes: none\nnodes: [a, b, c]\nlinks: {ab: {ends: [a, b]}, ac: {ends: [a, c]}, bc: {ends: [b, c]}}\n");
    assert_eq!(seen_from(&mesh, "b"), ["10.0.0.1", "10.0.0.2", "10.0.0.10"]);
}

#[test]
fn commands_have_names_of_their_own() {
    let plan = plan(
        "nodes: [a, b]
links: {ping: {ends: [a, b]}}
timeline:
  - {on: a, run: /usr/bin/iperf3 -c b}
  - {on: a, run: [iperf3, -s], ready: {tcp: 5201}}
  - {on: a, run: ping b}
  - {on: a, run: (sleep 1)}
  - {on: a, run: 'true', as: iperf3-3}
  - {on: b, run: iperf3, service: true, at: 1 s, for: 2 s, may_fail: true}
",
    );
    let runs: Vec<_> = plan
        .timeline
        .iter()
        .map(|event| if let Action::Run(run) = &event.action { run } else { panic!("all are commands") })
        .collect();
    let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    assert_eq!(names, ["iperf3", "iperf3-2", "ping-2", "sleep", "iperf3-3", "iperf3-4"]);
    assert_eq!(runs.iter().map(|run| run.service).collect::<Vec<_>>(), [false, true, false, false, false, true]);
    assert_eq!(plan.timeline[5].line, 9);
}

#[test]
fn programs_that_can_be_known_are_listed() {
    let plan = plan(
        "nodes: [a]
timeline:
  - {on: a, run: ping -c 3 b}
  - {on: a, run: 'X=1 ping b'}
  - {on: a, run: cd /tmp && ls}
  - {on: a, run: [./a b, c]}
  - {on: a, run: '\"$SHELL\" -c x'}
  - {on: a, run: 'nc -l 80;', ready: {command: curl -s localhost}}
  - on: a
    run: |
      ls -l
      cat
  - {on: a, run: 'f() { ls; }'}
",
    );
    let programs: Vec<(usize, String)> =
        plan.programs().into_iter().map(|program| (program.line, program.name)).collect();
    let expected = [(3, "ping"), (6, "./a b"), (8, "nc"), (8, "curl"), (9, "ls")];
    assert_eq!(programs, expected.map(|(line, name)| (line, name.to_owned())));
}

#[test]
fn the_same_file_gives_the_same_plan() {
    let text = include_str!("../../../../examples/dumbbell.yaml");
    assert_eq!(lab(text), lab(text));
    assert_eq!(plan(text).describe(), plan(text).describe());
}

/// The first class that matches takes a packet: the plan says which is first.
#[test]
fn a_described_queue_keeps_the_order_of_its_classes() {
    let plan = plan(
        "nodes: {a: {}, b: {}}
links:
  l:
    ends: [a, b]
    rate: 1 Mbit/s
    queue: {kind: priority, classes: {web: {match: {protocol: tcp}}, calls: {match: {dscp: 46}}, any: {}}}
",
    );
    let described = plan.describe();
    let classes = &described["links"][0]["forward"]["described"]["queue"]["classes"];
    let names: Vec<&str> =
        classes.as_array().expect("a list").iter().filter_map(|class| class["name"].as_str()).collect();
    assert_eq!(names, ["web", "calls", "any"]);
}

#[test]
fn the_text_of_a_plan_tells_all_of_it() {
    let text = "nodes: {a: {cpus: 0.25}, b: {}}
links: {l: {ends: [a, b], rate: 1 Mbit/s, loss: 1 %}}
timeline:
  - {on: b, run: nc -l 80, ready: {tcp: 80}}
  - {at: 1 s, link: l, set: {delay: 5 ms, loss: 0}, direction: backward}
  - {at: 2 s, link: l, down: 500 ms}
expect: [l.drops >= 0]
";
    let expected = "Lab test: 2 nodes, 1 link, seed 1, balanced

Nodes
  a  host  0.25 cores  eth0  l  10.0.0.1/30  fd00:6e6c::1/64
  b  host              eth0  l  10.0.0.2/30  fd00:6e6c::2/64

Links
  l  forward   a to b  1 Mbit/s  0 s  queue 1000 packets  loss 1 %
     backward  b to a  1 Mbit/s  0 s  queue 1000 packets  loss 1 %

Timeline
  before  b           nc: nc -l 80  (service, ready when TCP port 80 listens)
  1 s     l.backward  delay 5 ms, loss 0 %
  2 s     l           down for 500 ms

Expected
  l.drops >= 0
";
    assert_eq!(plan(text).text().to_string(), expected);
}

#[test]
fn captures_are_planned_and_shown() {
    let lab = "nodes: [a, b]
links: {near: {ends: [a, b]}, far: {ends: [a, b]}}
capture:
  - far
  - {link: near, direction: backward, snaplen: 128 B, match: {protocol: tcp, to: a}, file: acks.pcapng}
  - {link: near, at: sent}
  - {link: far, at: b, file: at-b.pcapng}
";
    let plan = plan(lab);
    let (whole, some) = (&plan.capture[0], &plan.capture[1]);
    let points: Vec<_> = plan.capture.iter().map(|capture| capture.at).collect();
    assert_eq!(points, [None, None, Some(CapturePoint::Sent), Some(CapturePoint::End(1))]);
    assert_eq!((whole.link, whole.direction, whole.snaplen, whole.file.as_str()), (Some(1), None, None, "far.pcapng"));
    assert_eq!((some.link, some.direction), (Some(0), Some(Direction::Backward)));
    assert_eq!((some.snaplen, some.file.as_str()), (Some(Bytes::new(128)), "acks.pcapng"));
    assert_eq!(some.filter.as_ref().and_then(|filter| filter.protocol.clone()), Some(vec![6]));
    let shown = "Captures
  far   captures/far.pcapng
  near  captures/acks.pcapng  direction: backward, snaplen: 128 B, match: {to: ";
    assert!(plan.text().to_string().contains(shown), "{}", plan.text().to_string());
    assert!(plan.text().to_string().contains("captures/at-b.pcapng  at: b"), "{}", plan.text().to_string());
    let described = &plan.describe()["capture"];
    assert_eq!((&described[2]["at"], &described[3]["at"]), (&"sent".into(), &"b".into()));
    assert_eq!(described[0]["at"], serde_json::Value::Null);
    assert_eq!(described[0]["snaplen_bytes"], serde_json::Value::Null);
    assert_eq!(described[1]["file"], "captures/acks.pcapng");
    assert_eq!(described[1]["match"]["protocol"], "tcp");
}

#[test]
fn files_that_the_lab_file_names_are_known_once() {
    let source = |file: &str| format!("cross: [{{kind: pcap, file: {file}}}]");
    let (golden, traces) = ("../../tests/golden/pcap/four.pcap", "./../../tests/golden/pcap/four.pcap");
    let (forward, backward) = (source(golden), source(traces));
    let text = format!(
        "nodes: [a, b]\nlinks:\n  l: {{ends: [a, b], forward: {{{forward}}}, backward: {{{backward}}}}}\n\
         \x20 m: {{ends: [a, b], {forward}}}\ntimeline: [{{at: 1 s, link: l, set: {{{forward}}}}}]\n"
    );
    let lab = netloom_lab::parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}"));
    assert_eq!(lab.plan.files, [golden, traces].map(std::path::PathBuf::from));
}

/// `measure` of the lab, and what a node says instead.
#[test]
fn programs_are_told_to_write_keys_and_qlog_files() {
    let plan = plan(
        "nodes: {a: {env: {QLOGDIR: /mine}}, b: {measure: {}}, r: {kind: switch}}
links: {l: {ends: [a, r]}, m: {ends: [b, r]}}
measure: {tls_keys: true, qlog: true}
",
    );
    let [a, b] = ["a", "b"].map(|name| node(&plan, name));
    let env = [("QLOGDIR", "/mine"), ("SSLKEYLOGFILE", "/run/tls-keys/keys.log")];
    assert_eq!(a.env, env.map(|(name, value)| (name.to_owned(), value.to_owned())));
    assert_eq!(a.collect, ["/run/tls-keys"]);
    assert!(a.overlay && a.files.len() == 1 && a.files[0].target.as_os_str() == "/run/tls-keys");
    assert!(!b.overlay && b.env.is_empty() && b.collect.is_empty() && b.files.is_empty());
}
