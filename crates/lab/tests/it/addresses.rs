//! Where automatic addresses come from.

use netloom_lab::{Plan, parse};

const CHAIN: &str = "nodes: {a: {}, r: {kind: router}, t: {kind: transit}, b: {}}
links: {one: {ends: [a, r]}, two: {ends: [r, t]}, three: {ends: [t, b]}}
";

fn plan(addresses: &str) -> Plan {
    parse(&format!("{CHAIN}addresses: {addresses}\n"), "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

/// The addresses of all interfaces, in the order of nodes.
fn addresses(plan: &Plan) -> Vec<String> {
    let interfaces = plan.nodes.iter().flat_map(|node| &node.interfaces);
    interfaces.flat_map(|interface| &interface.addresses).map(ToString::to_string).collect()
}

#[test]
fn a_prefix_takes_the_place_of_the_usual_one() {
    let plan = plan("{ipv4: 172.16.0.0/12, ipv6: fd00::/48}");
    let expected = [
        ["172.16.0.1/30", "fd00::1/64"],
        ["172.16.0.2/30", "fd00::2/64"],
        ["172.16.0.5/30", "fd00:0:0:1::1/64"],
        ["172.16.0.6/30", "fd00:0:0:1::2/64"],
        ["172.16.0.9/30", "fd00:0:0:2::1/64"],
        ["172.16.0.10/30", "fd00:0:0:2::2/64"],
    ];
    assert_eq!(addresses(&plan), expected.concat());
    assert!(plan.hosts(&plan.nodes[0].names).contains("\n172.16.0.10 b b-eth0\nfd00:0:0:2::2 b b-eth0\n"));
}

#[test]
fn one_family_is_enough() {
    for (addresses_of, is_v4) in [("{ipv6: none}", true), ("{ipv4: none}", false)] {
        let plan = plan(addresses_of);
        assert_eq!(plan.unreached.pairs, 0);
        assert_eq!(addresses(&plan).len(), 6);
        for node in &plan.nodes {
            let nets = node.interfaces.iter().flat_map(|interface| &interface.addresses);
            assert!(nets.clone().count() > 0 && nets.map(ipnet_is_v4).all(|v4| v4 == is_v4), "{}", node.name);
            let known = node.interfaces.iter().flat_map(|interface| &interface.neighbors);
            assert!(
                known.clone().count() > 0 && known.map(|(at, _)| at.is_ipv4()).all(|v4| v4 == is_v4),
                "{}",
                node.name
            );
            assert!(node.routes.iter().all(|route| route.via.is_ipv4() == is_v4), "{}", node.name);
        }
        assert!(plan.nodes.iter().any(|node| !node.routes.is_empty()));
        let hosts = plan.hosts(&[]);
        assert_eq!(hosts.contains("fd00:"), !is_v4);
    }
}

fn ipnet_is_v4(net: &ipnet::IpNet) -> bool {
    matches!(net, ipnet::IpNet::V4(_))
}

/// RFC 3021 and RFC 6164.
#[test]
fn links_between_two_nodes_may_have_two_addresses() {
    let plan = plan("{point_to_point: true}");
    let expected = [
        ["10.0.0.0/31", "fd00:6e6c::2/127"],
        ["10.0.0.1/31", "fd00:6e6c::3/127"],
        ["10.0.0.2/31", "fd00:6e6c:0:1::2/127"],
        ["10.0.0.3/31", "fd00:6e6c:0:1::3/127"],
        ["10.0.0.4/31", "fd00:6e6c:0:2::2/127"],
        ["10.0.0.5/31", "fd00:6e6c:0:2::3/127"],
    ];
    assert_eq!(addresses(&plan), expected.concat());
    assert_eq!(plan.unreached.pairs, 0);
    // A LAN still has an address of its own, and one for broadcasts.
    let lan =
        "addresses: {point_to_point: true}\nnodes: [a, b, c]\nlinks: {p: {ends: [a, b]}, lan: {ends: [a, b, c]}}\n";
    let lan = parse(lan, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
    let v4: Vec<String> = addresses(&lan).into_iter().filter(|net| net.starts_with("10.")).collect();
    assert_eq!(v4, ["10.0.0.0/31", "10.0.0.9/29", "10.0.0.1/31", "10.0.0.10/29", "10.0.0.11/29"]);
}

#[test]
fn a_prefix_may_be_used_up_to_its_last_subnet() {
    let exact = plan("{ipv4: 192.168.0.0/29, ipv6: none, point_to_point: true}");
    assert_eq!(addresses(&exact).last().map(String::as_str), Some("192.168.0.5/31"));
    let given = format!(
        "{}addresses: {{ipv4: 192.168.0.0/28}}\n",
        CHAIN.replace("[a, r]", "[{node: a, address: 192.168.0.1/29}, r]")
    );
    let plan = parse(&given, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
    // What the file gives is left out.
    let v4: Vec<String> = addresses(&plan).into_iter().filter(|net| net.starts_with("192.")).collect();
    assert_eq!(
        v4,
        ["192.168.0.1/29", "192.168.0.2/29", "192.168.0.9/30", "192.168.0.10/30", "192.168.0.13/30", "192.168.0.14/30"]
    );
}

/// In large labs numbers follow the place, and leave gaps; a small prefix has no room for these.
#[test]
fn a_large_lab_finds_room_in_a_prefix_that_just_suffices() {
    let text = "addresses: {ipv4: 10.1.0.0/20, ipv6: none}\ngenerate: {kind: chain, n: 1023, hosts: 2}\n";
    let plan = parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
    let mut all = addresses(&plan);
    assert_eq!(all.len(), 2 * 1_024);
    assert!(all.iter().all(|net| net.starts_with("10.1.") && net.ends_with("/30")), "{all:?}");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 2 * 1_024);
}

#[test]
fn explicit_addresses_of_a_family_without_automatic_ones_stay() {
    let text = "addresses: {ipv4: none}\nnodes: [a, b]\nlinks: {l: {ends: [{node: a, address: 10.9.0.1/24}, b]}}\n";
    let plan = parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
    assert_eq!(addresses(&plan), ["10.9.0.1/24", "fd00:6e6c::1/64", "fd00:6e6c::2/64"]);
}
