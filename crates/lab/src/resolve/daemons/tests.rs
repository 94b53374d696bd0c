use crate::plan::{FileContents, NodePlan, Plan};
use std::path::Path;

fn plan(text: &str) -> Plan {
    crate::parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

fn node<'a>(plan: &'a Plan, name: &str) -> &'a NodePlan {
    plan.nodes.iter().find(|node| node.name == name).unwrap()
}

/// The static routes of a node for IPv4.
fn routes(plan: &Plan, name: &str) -> Vec<String> {
    let v4 = node(plan, name).routes.iter().filter(|route| route.via.is_ipv4());
    v4.map(|route| format!("{} via {}", route.destination, route.via)).collect()
}

fn configuration(plan: &Plan, name: &str) -> String {
    let mut files = node(plan, name).files.iter();
    match &files.find(|file| file.target == Path::new("/etc/frr/frr.conf")).unwrap().contents {
        FileContents::Text(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

/// Whether these lines follow one another, whatever stands between them.
fn has(text: &str, lines: &[&str]) -> bool {
    let mut all = text.lines();
    lines.iter().all(|line| all.any(|own| own == *line))
}

const LINE: &str = "
links:
  one: {ends: [h, a], cost: 3}
  two: {ends: [a, b], cost: 7, area: 0.0.0.5}
  three: {ends: [b, c]}
  four: {ends: [c, g]}
";

#[test]
fn daemons_bring_the_routes_of_one_family_and_hosts_keep_theirs() {
    let lab = format!("nodes: {{h: , g: , a: &r {{kind: router, daemons: [ospf]}}, b: *r, c: *r}}{LINE}");
    let plan = plan(&lab);
    for router in ["a", "b", "c"] {
        assert_eq!(routes(&plan, router), Vec::<String>::new());
        assert!(node(&plan, router).routes.iter().all(|route| route.via.is_ipv6()));
        assert!(!node(&plan, router).routes.is_empty() && node(&plan, router).overlay);
    }
    assert_eq!(routes(&plan, "h"), ["0.0.0.0/0 via 10.0.0.2"]);
    let text = configuration(&plan, "a");
    let passive = ["interface eth0", " ip ospf area 0", " ip ospf cost 3", " ip ospf passive", "exit"];
    assert!(has(&text, &passive), "{text}");
    let active = ["interface eth1", " ip ospf area 5", " ip ospf cost 7", " ip ospf network point-to-point", "exit"];
    assert!(has(&text, &active) && has(&text, &["router ospf", " ospf router-id 10.0.0.2"]), "{text}");
    assert!(!text.contains("redistribute") && text.matches("passive").count() == 1, "{text}");
}

#[test]
fn what_is_behind_a_static_router_is_passed_on_by_its_neighbour_alone() {
    let lab =
        format!("nodes: {{h: , g: , a: &r {{kind: router, daemons: [ospf]}}, b: *r, c: {{kind: transit}}}}{LINE}");
    let found = plan(&lab);
    assert_eq!(routes(&found, "a"), Vec::<String>::new(), "b tells it");
    assert_eq!(routes(&found, "b"), ["10.0.0.12/30 via 10.0.0.10"]);
    assert!(configuration(&found, "b").contains(" redistribute kernel\n"));
    assert!(!configuration(&found, "a").contains("redistribute"));
    let all_frr = plan(&lab.replace("[ospf]", "[ospf, static]"));
    assert_eq!(routes(&all_frr, "b"), Vec::<String>::new());
    let text = configuration(&all_frr, "b");
    assert!(has(&text, &[" redistribute static", "ip route 10.0.0.12/30 10.0.0.10 eth1"]), "{text}");
}

#[test]
fn two_protocols_are_joined_where_they_meet() {
    let nodes = "nodes: {h: , g: , a: {kind: router, daemons: [rip]}, b: {kind: router, daemons: [rip, ospf]}, c: {kind: router, daemons: [ospf]}}";
    let plan = plan(&format!("{nodes}{LINE}"));
    let text = configuration(&plan, "b");
    assert!(has(&text, &["router ospf", " redistribute rip", "router rip", " redistribute ospf"]), "{text}");
    assert!(has(&text, &["router rip", " network eth0", " network eth1", " passive-interface eth1"]), "{text}");
    assert!(["a", "b", "c"].iter().all(|router| routes(&plan, router).is_empty()));
}

#[test]
fn bgp_speaks_to_other_systems_beside_it_and_to_all_of_its_own() {
    let nodes = "nodes: {h: , g: , a: {kind: router, daemons: [bgp], as: 1}, b: {kind: router, daemons: [bgp, ospf, bfd], as: 2}, c: {kind: router, daemons: [bgp, ospf], as: 2}}";
    let plan = plan(&format!("{nodes}{LINE}"));
    let (a, b, c) = (configuration(&plan, "a"), configuration(&plan, "b"), configuration(&plan, "c"));
    assert!(has(&a, &["router bgp 1", " neighbor 10.0.0.6 remote-as 2", "  network 10.0.0.0/30"]), "{a}");
    assert!(has(&b, &[" neighbor 10.0.0.5 remote-as 1", " neighbor 10.0.0.5 bfd"]), "{b}");
    let inside = [" neighbor 10.0.0.10 remote-as 2", " neighbor 10.0.0.10 update-source 10.0.0.6"];
    assert!(has(&b, &inside) && b.contains("  neighbor 10.0.0.10 next-hop-self\n"), "{b}");
    assert!(c.contains(" neighbor 10.0.0.6 remote-as 2\n") && !c.contains("remote-as 1\n"), "{c}");
    assert!(!b.contains("redistribute"), "both of its system speak BGP: {b}");
    assert!(["a", "b", "c"].iter().all(|router| routes(&plan, router).is_empty()));
}

#[test]
fn a_system_with_an_interior_router_without_bgp_is_told_of_the_others_and_announced() {
    let nodes = "nodes: {h: , g: , a: {kind: router, daemons: [bgp], as: 1}, b: {kind: router, daemons: [bgp, ospf], as: 2}, c: {kind: router, daemons: [ospf]}}";
    let plan = plan(&format!("{nodes}{LINE}"));
    let b = configuration(&plan, "b");
    assert!(has(&b, &["router ospf", " redistribute bgp", "router bgp 2", "  network 10.0.0.12/30"]), "{b}");
    assert!(["a", "b", "c"].iter().all(|router| routes(&plan, router).is_empty()));
}

#[test]
fn inside_a_system_without_an_interior_protocol_routes_are_static() {
    let nodes = "nodes: {h: , g: , a: &r {kind: router, daemons: [bgp], as: 1}, b: *r, c: *r}";
    let plan = plan(&format!("{nodes}{LINE}"));
    assert_eq!(routes(&plan, "a"), ["10.0.0.8/30 via 10.0.0.6", "10.0.0.12/30 via 10.0.0.6"]);
}

#[test]
fn each_daemon_is_a_service_of_its_router() {
    let plan = plan(&format!("nodes: {{h: , g: , a: {{kind: router, daemons: [bfd, ospf]}}, b: , c: }}{LINE}"));
    let names: Vec<_> = (0..plan.timeline.len()).filter_map(|event| plan.command_name(event)).collect();
    assert_eq!(names, ["zebra-a", "ospfd-a", "bfdd-a", "frr-a"]);
    assert!((0..4).all(|event| plan.starts_before_zero(event)));
}

#[test]
fn an_own_configuration_is_taken_as_it_is() {
    let nodes = "nodes: {h: , g: , a: {kind: router, daemons: [rip], frr: {text: router rip}}, b: {kind: router, daemons: [ospf], bird: {text: \"# none\"}}, c: {kind: router}}";
    let plan = plan(&format!("{nodes}{LINE}"));
    assert_eq!(configuration(&plan, "a"), "router rip");
    let bird = node(&plan, "b").files.iter().find(|file| file.target == Path::new("/etc/bird/bird.conf")).unwrap();
    assert_eq!(bird.contents, FileContents::Text("# none".to_owned()));
    let names: Vec<_> = (0..plan.timeline.len()).filter_map(|event| plan.command_name(event)).collect();
    assert_eq!(names, ["zebra-a", "ripd-a", "frr-a", "bird-b"]);
}
