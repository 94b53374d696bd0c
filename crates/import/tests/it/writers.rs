//! What is written of a lab is read as the same network.

use netloom_import::{Format, Options, Target, read};
use std::io::Write;
use std::process::{Command, Stdio};

const LAB: &str = "
name: small
nodes: {a: {}, r: {kind: router}, t: {kind: transit}, s: {kind: switch}, b: {}}
links:
  up:   {ends: [a, r], rate: 10 Mbit/s, delay: 5 ms, backward: {rate: 1 Mbit/s, loss: 1 %}}
  core: {ends: [r, t], delay: {kind: uniform, from: 1 ms, to: 2 ms}, mtu: 9000}
  lan:  {ends: [t, s], queue: {kind: red, limit: 100 packets}}
  desk: {ends: [s, b]}
layout: {a: [0, 0.5], r: [1.25, -0.5], t: [2, 0], b: [3.5, 1]}
timeline: [{at: 1 s, link: up, down: 1 s}]
";

fn places(of: &netloom_lab::Plan) -> Vec<Option<[f64; 2]>> {
    of.nodes.iter().map(|node| node.position).collect()
}

#[test]
fn graphml_comes_back() {
    let plan = netloom_lab::parse(LAB, "small.yaml").expect("a lab").plan;
    let (text, left) = Target::GraphMl.write(&plan);
    let again = read(Format::GraphMl, "small.graphml", text.clone(), &Options::default()).expect("it was written so");
    let back = again.parse(None).expect("a lab").plan;
    let kinds = |of: &netloom_lab::Plan| of.nodes.iter().map(|node| (node.name.clone(), node.kind)).collect::<Vec<_>>();
    assert_eq!(kinds(&back), kinds(&plan));
    assert_eq!(places(&back), places(&plan), "{text}");
    assert_eq!(back.links.len(), plan.links.len());
    for (one, other) in back.links.iter().zip(&plan.links) {
        assert_eq!((&one.pipes, one.mtu), (&other.pipes, other.mtu), "{}\n{text}", other.name);
    }
    assert!(again.notes().next().is_none(), "{:?}", again.notes().collect::<Vec<_>>());
    assert_eq!(left[1], "left out: 1 entries of the timeline");
}

#[test]
fn graphviz_has_nodes_and_links() {
    let plan = netloom_lab::parse(LAB, "small.yaml").expect("a lab").plan;
    let (text, _) = Target::Dot.write(&plan);
    assert!(text.starts_with("graph \"small\" {\n  \"a\" [shape=box, pos=\"0.000,-1.000!\"];\n"), "{text}");
    assert!(text.contains("  \"s\" -- \"b\" [label=\"desk\"];\n}\n"), "{text}");
    assert!(text.contains("backward.rate: 1 Mbit/s"), "{text}");
}

/// A stand-in for Mininet that takes the parameters of its `Topo` and `TCIntf` and no others, and prints what it is asked for.
const STAND_IN: &str = "
import ast, sys, types
KNOWN = {'bw', 'delay', 'jitter', 'loss', 'max_queue_size'}
class Topo:
    def addHost(self, name, cls=None, ip=''): print('host', name)
    def addSwitch(self, name, dpid=None): int(dpid, 16); print('switch', name, dpid)
    def addLink(self, a, b, intfName1=None, intfName2=None, params1=None, params2=None):
        for params in (params1, params2): assert set(params) <= KNOWN, params
        print('link', intfName1, intfName2, sorted(params1.items()), sorted(params2.items()))
for name, parts in {'cli': ['CLI'], 'link': ['TCLink'], 'log': ['setLogLevel'], 'net': ['Mininet'], 'node': ['Node', 'OVSBridge'], 'topo': []}.items():
    module = sys.modules['mininet.' + name] = types.ModuleType(name)
    for part in parts: setattr(module, part, type(part, (), {}))
sys.modules['mininet'] = types.ModuleType('mininet')
sys.modules['mininet.topo'].Topo = Topo
text = sys.stdin.read()
made = {'__name__': 'lab'}
exec(compile(ast.parse(text), 'lab.py', 'exec'), made)
made['topos']['lab']().build()
class Recorder(dict):
    def __missing__(self, name): return types.SimpleNamespace(cmd=lambda command: print(name + ':', command))
made['set_up'](Recorder())
";

#[test]
fn mininet_gets_a_script_that_its_interface_takes() {
    let plan = netloom_lab::parse(LAB, "small.yaml").expect("a lab").plan;
    let (text, left) = Target::Mininet.write(&plan);
    let mut python = Command::new("python3")
        .args(["-c", STAND_IN])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 runs");
    python.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("python reads");
    let output = python.wait_with_output().expect("python ends");
    assert!(output.status.success(), "{text}");
    let asked = String::from_utf8(output.stdout).expect("a text");
    for line in [
        "host a\n",
        "switch s 1\n",
        "link a-eth0 r-eth0 [('bw', 10.0), ('delay', '5000us')] [('bw', 1.0), ('delay', '5000us'), ('loss', 1)]\n",
        "link r-eth1 t-eth0 [('delay', '1500us'), ('jitter', '500us')] [('delay', '1500us'), ('jitter', '500us')]\n",
        "r: sysctl -w net.ipv4.ip_forward=1\n",
        "a: ip addr add 10.0.0.1/30 dev a-eth0\n",
        "a: ip route add 0.0.0.0/0 via 10.0.0.2 dev a-eth0\n",
        "r: ip link set dev r-eth1 mtu 9000\n",
    ] {
        assert!(asked.contains(line), "{line}{asked}");
    }
    for note in ["left out: of links, queue: red", "left out: 1 entries of the timeline"] {
        assert!(left.iter().any(|one| one == note), "{note}: {left:#?}");
    }
}

#[test]
fn containerlab_comes_back() {
    let plan = netloom_lab::parse(LAB, "small.yaml").expect("a lab").plan;
    let (text, left) = Target::Containerlab.write(&plan);
    let again =
        read(Format::Containerlab, "small.clab.yml", text.clone(), &Options::default()).expect("it was written so");
    let back = again.parse(None).unwrap_or_else(|errors| panic!("{errors}\n{text}")).plan;
    let addresses = |of: &netloom_lab::Plan| -> Vec<_> {
        let all = of
            .nodes
            .iter()
            .flat_map(|node| node.interfaces.iter().map(|one| (node.name.clone(), one.addresses.clone())));
        all.collect()
    };
    assert_eq!(addresses(&back), addresses(&plan), "{text}");
    // In its pictures a link has 100 pixels; it comes back in lengths of the middle link, from the corner.
    let [a, r] = [0, 1].map(|node| places(&back)[node].expect("a place"));
    let slope = |from: [f64; 2], to: [f64; 2]| (to[1] - from[1]) / (to[0] - from[0]);
    assert!((slope(a, r) + 0.8).abs() < 0.02, "{a:?} {r:?}\n{text}");
    assert_eq!(places(&back)[3], None);
    let up = &back.links[0];
    let wanted = netloom_lab::parse(
        "nodes: [a, b]\nlinks: {l: {ends: [a, b], netem: delay 5000us rate 10000000bit}}\n",
        "wanted.yaml",
    );
    assert_eq!(up.pipes[0], wanted.expect("a lab").plan.links[0].pipes[0], "{text}");
    assert!(text.contains("- tc qdisc add dev eth1 root netem delay 5000us loss 1% rate 1000000bit\n"), "{text}");
    assert!(left.iter().any(|one| one.contains("bridges must be there")), "{left:#?}");
}
