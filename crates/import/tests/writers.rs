//! What is written of a lab is read as the same network.

use netloom_import::{Format, Options, Target, left_out, read};

const LAB: &str = "
name: small
nodes: {a: {}, r: {kind: router}, t: {kind: transit}, s: {kind: switch}, b: {}}
links:
  up:   {ends: [a, r], rate: 10 Mbit/s, delay: 5 ms, backward: {rate: 1 Mbit/s, loss: 1 %}}
  core: {ends: [r, t], delay: {kind: uniform, from: 1 ms, to: 2 ms}, mtu: 9000}
  lan:  {ends: [t, s], queue: {kind: red, limit: 100 packets}}
  desk: {ends: [s, b]}
timeline: [{at: 1 s, link: up, down: 1 s}]
";

#[test]
fn graphml_comes_back() {
    let plan = netloom_lab::parse(LAB, "small.yaml").expect("a lab").plan;
    let text = Target::GraphMl.write(&plan);
    let again = read(Format::GraphMl, "small.graphml", text.clone(), &Options::default()).expect("it was written so");
    let back = again.parse(None).expect("a lab").plan;
    let kinds = |of: &netloom_lab::Plan| of.nodes.iter().map(|node| (node.name.clone(), node.kind)).collect::<Vec<_>>();
    assert_eq!(kinds(&back), kinds(&plan));
    assert_eq!(back.links.len(), plan.links.len());
    for (one, other) in back.links.iter().zip(&plan.links) {
        assert_eq!((&one.pipes, one.mtu), (&other.pipes, other.mtu), "{}\n{text}", other.name);
    }
    assert!(again.notes().next().is_none(), "{:?}", again.notes().collect::<Vec<_>>());
    assert_eq!(left_out(&plan)[1], "left out: 1 entries of the timeline");
}

#[test]
fn graphviz_has_nodes_and_links() {
    let plan = netloom_lab::parse(LAB, "small.yaml").expect("a lab").plan;
    let text = Target::Dot.write(&plan);
    assert!(text.starts_with("graph \"small\" {\n  \"a\" [shape=box];\n"), "{text}");
    assert!(text.contains("  \"s\" -- \"b\" [label=\"desk\"];\n}\n"), "{text}");
    assert!(text.contains("backward.rate: 1 Mbit/s"), "{text}");
}
