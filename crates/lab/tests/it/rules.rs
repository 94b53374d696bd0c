//! Policy routes: the tables that rules lead to.

use netloom_lab::{NodePlan, Plan};

fn plan(node: &str) -> Plan {
    let text = format!(
        "nodes: {{h: {{{node}}}, r1: {{kind: router}}, r2: {{kind: transit}}, g: {{}}, s: {{}}}}
links:
  one: {{ends: [h, r1]}}
  two: {{ends: [h, r2, g]}}
  three: {{ends: [h, g]}}
  a: {{ends: [r1, s]}}
  b: {{ends: [r2, s]}}
"
    );
    netloom_lab::parse(&text, "rules.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

/// The rules of a node, each with the routes of its table.
fn shown(node: &NodePlan) -> Vec<String> {
    let mut shown = Vec::new();
    for rule in &node.rules {
        let from = rule.from.map_or_else(|| "any".to_owned(), |net| net.to_string());
        let mark = rule.mark.map_or_else(String::new, |mark| format!(" mark {mark}"));
        let iif = rule.iif.map_or_else(String::new, |place| format!(" in by {}", node.interfaces[place].name));
        let routes = node.tables.iter().filter(|route| route.table == rule.table);
        let routes = routes.filter(|route| route.destination.addr().is_ipv6() == rule.is_v6);
        let routes: Vec<String> = routes
            .map(|route| {
                let via = route.via.map_or_else(String::new, |via| format!(" via {via}"));
                format!("{}{via} {}", route.destination, node.interfaces[route.interface].name)
            })
            .collect();
        shown.push(format!("{from}{iif}{mark} {}: {}", rule.table, routes.join(", ")));
    }
    shown
}

#[test]
fn a_multihomed_host_leaves_by_the_link_of_its_address() {
    let plan = plan("multihomed: true");
    // The third link leads to a host, and to nobody else.
    let wanted = [
        "10.0.0.1/32 10000: 10.0.0.0/30 eth0, 0.0.0.0/0 via 10.0.0.2 eth0",
        "fd00:6e6c::1/128 10000: fd00:6e6c::/64 eth0, ::/0 via fd00:6e6c::2 eth0",
        "10.0.0.9/32 10001: 10.0.0.8/29 eth1, 0.0.0.0/0 via 10.0.0.10 eth1",
        "fd00:6e6c:0:1::1/128 10001: fd00:6e6c:0:1::/64 eth1, ::/0 via fd00:6e6c:0:1::2 eth1",
    ];
    assert_eq!(shown(&plan.nodes[0]), wanted);
    assert!(plan.nodes[1..].iter().all(|node| node.rules.is_empty() && node.tables.is_empty()));
}

#[test]
fn tools_see_rules_and_their_tables() {
    let described = plan("multihomed: true, rules: [{fwmark: 7, link: two}]").describe();
    let node = &described["nodes"][0];
    assert_eq!(
        node["rules"][0],
        serde_json::json!({ "ipv6": false, "from": null, "to": null, "iif": null, "mark": 7, "table": 10_001 })
    );
    let of_address = node["rules"].as_array().expect("a list").iter().find(|rule| rule["from"] == "10.0.0.1/32");
    assert_eq!(of_address.expect("a rule")["table"], 10_000);
    let wanted =
        serde_json::json!({ "table": 10_000, "destination": "0.0.0.0/0", "interface": "eth0", "via": "10.0.0.2" });
    assert!(node["tables"].as_array().expect("a list").contains(&wanted), "{node:#}");
    assert_eq!(described["nodes"][4]["rules"], serde_json::json!([]));
}

#[test]
fn tools_see_trees_of_multicast() {
    let text = "nodes: {s: {}, r: {kind: transit}, a: {}, b: {}}
links: {one: {ends: [s, r]}, two: {ends: [r, a]}, three: {ends: [r, b]}}
multicast: [{group: 239.1.2.3, from: s, to: [a, b]}]
";
    let described = netloom_lab::parse(text, "tree.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan.describe();
    let part = |from: Option<&str>, to: &[&str]| serde_json::json!([{ "group": "239.1.2.3", "source": "s", "from": from, "to": to }]);
    let groups = |node: usize| described["nodes"][node]["groups"].clone();
    assert_eq!(groups(0), part(None, &["eth0"]));
    assert_eq!(groups(1), part(Some("eth0"), &["eth1", "eth2"]));
    assert_eq!(groups(2), part(Some("eth0"), &[]));
}

#[test]
fn rules_come_in_their_order_and_before_those_that_are_made() {
    let plan = plan(
        "multihomed: true, rules: [{fwmark: 7, link: two}, {from: 10.0.0.1, iif: one, via: 10.0.0.11}, {to: 'fd09::/16', table: 55}]",
    );
    let own = shown(&plan.nodes[0]);
    let wanted = [
        "any mark 7 10001: 10.0.0.8/29 eth1, 0.0.0.0/0 via 10.0.0.10 eth1",
        "any mark 7 10001: fd00:6e6c:0:1::/64 eth1, ::/0 via fd00:6e6c:0:1::2 eth1",
        "10.0.0.1/32 in by eth0 20001: 10.0.0.8/29 eth1, 0.0.0.0/0 via 10.0.0.11 eth1",
        "any 55: ",
    ];
    assert_eq!(own[..4], wanted);
    assert_eq!(own.len(), 8);
    let text = plan.text().to_string();
    assert!(
        text.contains("from 10.0.0.1/32, in by eth0") && text.contains("table 20001 via 10.0.0.11 (eth1)"),
        "{text}"
    );
}
