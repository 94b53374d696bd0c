//! Which links are joined in the kernel, and what is said of those that are not.

use crate::labs::plan;
use netloom_lab::{Bypass, Clock, Plan};
use netloom_units::Dilation;

/// A lab of three nodes and two links, `l` and `m`, with `top` in front, `l` said about the first link and `rest` behind.
fn lab(top: &str, l: &str, rest: &str) -> String {
    format!(
        "{top}\nnodes: [a, b, c]\nlinks:\n  l: {{ends: [a, b]{l}}}\n  m: {{ends: [b, c], delay: 1 ms, bypass: false}}\n{rest}\n"
    )
}

/// What becomes of `l`.
fn bypass(top: &str, l: &str, rest: &str) -> Bypass {
    plan(&lab(top, l, rest)).links[0].bypass.clone()
}

/// Why `l` of a lab with `bypass: auto` is not joined.
fn hindrance(l: &str, rest: &str) -> String {
    match bypass("bypass: auto", l, rest) {
        Bypass::Hindered(why) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn nothing_is_joined_unless_somebody_asks() {
    assert_eq!(bypass("", "", ""), Bypass::Off);
    assert_eq!(bypass("bypass: off", "", ""), Bypass::Off);
    assert_eq!(bypass("bypass: auto", ", bypass: false", ""), Bypass::Off);
}

#[test]
fn the_lab_or_the_link_asks() {
    for (top, l) in
        [("bypass: auto", ""), ("", ", bypass: auto"), ("", ", bypass: true"), ("bypass: auto", ", mtu: 9000")]
    {
        assert_eq!(bypass(top, l, ""), Bypass::Joined, "{top:?} {l:?}");
    }
    assert_eq!(plan(&lab("bypass: auto", "", "")).links[1].bypass, Bypass::Off);
    // What is said explicitly and is the default is no impairment.
    assert_eq!(bypass("bypass: auto", ", rate: unlimited, delay: 0, loss: 0, backward: {loss: 0}", ""), Bypass::Joined);
}

#[test]
fn every_model_keeps_a_link_in_the_engine() {
    assert_eq!(hindrance(", rate: 1 Gbit/s, loss: 1 %", ""), "it has `rate`, `loss`");
    assert_eq!(hindrance(", backward: {delay: 1 us}", ""), "it has `delay` backward");
    assert_eq!(hindrance(", delay: 1 us, backward: {delay: 2 us, rate: 1 Mbit/s}", ""), "it has `delay` forward");
    assert_eq!(hindrance(", queue: 50 packets", ""), "it has `queue`");
    for model in ["corrupt: 1 %", "duplicate: 1 %", "state: {flap: {up: 1 s, down: 1 s}}", "overhead: ethernet"] {
        let key = model.split(':').next().expect("a key");
        assert_eq!(hindrance(&format!(", {model}"), ""), format!("it has `{key}`"));
    }
    let cross = ", cross: [{kind: constant, rate: 1 Mbit/s, size: 100 B}]";
    assert_eq!(hindrance(cross, ""), "it has `cross`");
    let pipes = ", backward: {pipes: {far: {match: {to: 10.0.9.0/24}, delay: 1 ms}}}";
    assert_eq!(hindrance(pipes, ""), "it has further pipes backward");
}

#[test]
fn whoever_changes_or_measures_a_link_keeps_it_in_the_engine() {
    let set = "timeline:\n  - {at: 1 s, link: l, set: {delay: 1 ms}}";
    assert_eq!(hindrance("", set), "the timeline changes it in line 7");
    let down = "timeline:\n  - {at: 1 s, link: m, down: 1 s}\n  - {at: 1 s, link: l, down: 1 s}";
    assert_eq!(hindrance("", down), "the timeline cuts it in line 8");
    let partition = "timeline:\n  - {at: 1 s, partition: [[a]], for: 1 s}";
    assert_eq!(hindrance("", partition), "the timeline parts a node of it in line 7");
    assert_eq!(hindrance("", "capture: [l]"), "`capture` wants its packets, which no engine sees in the kernel");
    assert_eq!(hindrance("", "expect: [l.forward.packets > 1 packets]"), "line 6 of `expect` wants it measured");
    let others = "timeline: [{at: 1 s, link: m, down: 1 s}]\ncapture: [m]\nexpect: [m.packets > 1 packets]";
    assert_eq!(bypass("bypass: auto", "", others), Bypass::Joined);
}

#[test]
fn bounds_on_every_link_hold_unless_the_link_says_otherwise() {
    let bounds = "bounds: {lateness: 100 us, delay: 2 %}";
    assert!(hindrance("", bounds).starts_with("`bounds` has `lateness` or `delay`, for which it must be measured"));
    assert_eq!(bypass("", ", bypass: true", bounds), Bypass::Joined);
    assert_eq!(bypass("bypass: auto", "", "bounds: {starvation: 20 %, rate: 1 %}"), Bypass::Joined);
}

#[test]
fn only_namespaces_in_real_time_are_joined() {
    let kernel = "bypass: auto\nnodes: {a: {}, b: {stack: kernel}}\nlinks: {l: {ends: [a, b]}}\n";
    assert_eq!(plan(kernel).links[0].bypass.hindrance(), Some("node `b` has a kernel of its own"));
    let routers = "bypass: auto\nnodes: {a: {}, b: {kind: router}}\nlinks: {l: {ends: [a, b]}}\n";
    assert!(plan(routers).links[0].bypass.is_joined());
    let ten: Dilation = "10".parse().expect("a number");
    for (clock, time) in [(Clock::Dilated(ten), "dilated"), (Clock::Virtual, "virtual")] {
        let slow = |text: &str| netloom_lab::parse_with_clock(text, "test.yaml", clock);
        let plan = slow("bypass: auto\nnodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n").expect("a lab").plan;
        let why = plan.links[0].bypass.hindrance().expect("a reason");
        assert!(why.starts_with(&format!("in {time} time all packets pass")), "{why}");
        let wrong = slow("nodes: [a, b]\nlinks: {l: {ends: [a, b], bypass: true}}\n").expect_err("it cannot be");
        let line = wrong.lines().next().expect("an error");
        assert!(
            line.starts_with("test.yaml:2: links.l.bypass: this link cannot be joined in the kernel, because in"),
            "{line}"
        );
    }
}

#[test]
fn the_plan_says_what_is_joined_and_why_others_are_not() {
    let text = "bypass: auto
nodes: [a, b, c]
links:
  lan: {ends: [a, b]}
  wan: {ends: [b, c], delay: 1 ms}
  own: {ends: [a, c], bypass: false}
";
    let plan = plan(text);
    let shown = plan.text().to_string();
    let line = |begin: &str| shown.lines().find(|line| line.trim_start().starts_with(begin)).unwrap_or_default();
    assert!(line("lan").ends_with("joined in the kernel, not measured"), "{shown}");
    assert_eq!(shown.matches("joined in the kernel, not measured").count(), 2, "{shown}");
    assert!(shown.contains("\nNot joined in the kernel\n  wan  because it has `delay`\n"), "{shown}");
    let json = plan.describe();
    let of = |link: usize| {
        (json["links"][link]["joined_in_kernel"].clone(), json["links"][link]["not_joined_because"].clone())
    };
    assert_eq!(of(0), (true.into(), serde_json::Value::Null));
    assert_eq!(of(1), (false.into(), "it has `delay`".into()));
    assert_eq!(of(2), (false.into(), serde_json::Value::Null));
}

/// Hosts at two switches in a row, of which the first is said this; the settings of the first host's link, and the rest.
fn row(first: &str, link: &str, rest: &str) -> String {
    format!(
        "bypass: auto
nodes: {{a: {{}}, b: {{}}, s: {{kind: switch{first}}}, t: {{kind: switch}}, far: {{}}}}
links:
  la: {{ends: [a, s]{link}}}
  riser: {{ends: [s, t]}}
  lb: {{ends: [b, t]}}
  direct: {{ends: [b, far]}}
{rest}
"
    )
}

/// Whether each link is joined, and which switches are bridges.
fn joined(plan: &Plan) -> (Vec<bool>, Vec<&str>) {
    let bridges = plan.nodes.iter().filter(|node| plan.is_bridge(node)).map(|node| node.name.as_str());
    (plan.links.iter().map(|link| link.bypass.is_joined()).collect(), bridges.collect())
}

#[test]
fn switches_without_models_around_are_bridges_of_the_kernel() {
    for (first, link, rest) in [
        ("", "", ""),
        (", ageing: 10 s", "", ""),
        (", table: 8192", ", rate: unlimited", ""),
        ("", ", bypass: true", "arp: true"),
    ] {
        let plan = plan(&row(first, link, rest));
        assert_eq!(joined(&plan), (vec![true; 4], vec!["s", "t"]), "{first} {link} {rest}");
    }
    let lan = plan("nodes: [a, b, c]\nlinks: {lan: {ends: [a, b, c], bypass: true}}\n");
    assert_eq!(joined(&lan), (vec![true; 3], vec!["lan"]));
    let kernel = lan.describe()["nodes"][3]["switch"]["in_kernel"].clone();
    assert_eq!(kernel, serde_json::Value::Bool(true));
    let shown = lan.text().to_string();
    assert!(shown.lines().any(|line| line.starts_with("  lan") && line.contains("switch  in the kernel")), "{shown}");
    // Nobody asks.
    assert_eq!(joined(&plan(&row("", "", "").replace("bypass: auto", "bypass: off"))), (vec![false; 4], vec![]));
}

#[test]
fn a_switch_and_all_around_it_stay_in_the_engine_together() {
    let cases = [
        (row(", stp: true", "", ""), "it has `stp`"),
        (row(", snooping: true", "", ""), "it has `snooping`"),
        (row(", static: {\"02:00:00:00:00:01\": la}", "", ""), "it has `static` addresses"),
        (row(", table: 100", "", ""), "it has a `table` of its own size"),
        (row(", ageing: 1 ms", "", ""), "its `ageing` is no multiple of 10 ms, in which the kernel measures it"),
        (row("", ", vlans: 10", ""), "it keeps VLANs apart"),
        (row("", ", mtu: 9000", ""), "the MTUs of its links differ"),
        (row("", ", delay: 1 ms", ""), "its link `la` is not joined in the kernel, because it has `delay`"),
        (row("", ", bypass: false", ""), "`bypass` of its link `la` does not ask for it"),
        (
            row("", "", "capture: [la]"),
            "its link `la` is not joined in the kernel, because `capture` wants its packets, which no engine sees in the \
             kernel",
        ),
    ];
    for (text, why) in cases {
        let plan = plan(&text);
        // What is not at these switches is none of their business.
        assert_eq!(joined(&plan), (vec![false, false, false, true], vec![]), "{text}");
        let first = format!("switch `s` is inside the packet engine: {why}");
        // Of the switches at a link that have reasons of their own, the first is told.
        assert_eq!(plan.links[1].bypass.hindrance(), Some(&*first), "{text}");
        let other = plan.links[2].bypass.hindrance().unwrap_or_default();
        assert!(other.starts_with("switch `t` is inside the packet engine: "), "{other}");
    }
    let spread = plan(&row("", ", delay: 1 ms", ""));
    let beyond = "switch `t` is inside the packet engine: its link `riser` leads to switch `s`, which is there, too";
    assert_eq!(spread.links[2].bypass.hindrance(), Some(beyond));
}

#[test]
fn switches_that_do_not_touch_are_apart() {
    let text = "bypass: auto
nodes: {a: {}, b: {}, r: {kind: router}, c: {}, h: {kind: hub}, d: {}, e: {}}
links:
  near: {ends: [a, b, r]}
  far: {ends: [r, c, d], rate: 1 Mbit/s}
  stub: {ends: [far, h]}
  old: {ends: [h, e]}
";
    let plan = plan(text);
    let (links, bridges) = joined(&plan);
    let names: Vec<&str> =
        plan.links.iter().zip(links).filter_map(|(link, joined)| joined.then_some(link.name.as_str())).collect();
    assert_eq!((names, bridges), (vec!["near-a", "near-b", "near-r"], vec!["near"]));
}

#[test]
fn a_link_to_a_switch_that_must_be_in_the_engine_cannot_be_joined() {
    let text = row(", stp: true", ", bypass: true", "");
    let wrong = netloom_lab::parse(&text, "test.yaml").expect_err("it cannot be");
    let line = wrong.lines().next().expect("an error");
    let wanted = "test.yaml:4: links.la.bypass: this link cannot be joined in the kernel, because switch `s` is inside the \
                  packet engine: it has `stp`: write";
    assert!(line.starts_with(wanted), "{line}");
}

#[test]
fn a_bridge_has_no_more_ports_than_the_kernel_can_number() {
    let lan = |ends: usize| {
        let names: Vec<String> = (0..ends).map(|number| format!("n{number}")).collect();
        let nodes = names.join(", ");
        plan(&format!("bypass: auto\nnodes: [{nodes}]\nlinks: {{lan: {{ends: [{nodes}]}}}}\n"))
    };
    assert_eq!(joined(&lan(1_023)).1, ["lan"]);
    let why = "switch `lan` is inside the packet engine: it has 1024 links, and bridges of the kernel at most 1023";
    assert_eq!(lan(1_024).links[5].bypass.hindrance(), Some(why));
}

/// Joined or not, a node has all next hops of the least cost.
#[test]
fn joined_links_carry_routes_of_equal_cost() {
    let text = |bypass: &str| {
        format!(
            "bypass: {bypass}\nroutes: ecmp\nnodes: {{a: {{}}, r: &r {{kind: router}}, s: *r, t: *r, b: {{}}}}\n\
             links: {{ar: {{ends: [a, r]}}, as: {{ends: [a, s]}}, rt: {{ends: [r, t]}}, st: {{ends: [s, t]}}, \
             tb: {{ends: [t, b], delay: 1 ms}}}}\n"
        )
    };
    let (joined, apart) = (plan(&text("auto")), plan(&text("off")));
    let is_joined: Vec<bool> = joined.links.iter().map(|link| link.bypass.is_joined()).collect();
    assert_eq!(is_joined, [true, true, true, true, false]);
    for (node, other) in joined.nodes.iter().zip(&apart.nodes) {
        assert_eq!(node.routes, other.routes, "{}", node.name);
    }
    let mut hops = std::collections::BTreeMap::new();
    for route in &joined.nodes[0].routes {
        hops.entry(route.destination.to_string()).or_insert_with(Vec::new).push(route.interface);
    }
    assert!(hops.values().any(|interfaces| *interfaces == [0, 1]), "{hops:?}");
}
