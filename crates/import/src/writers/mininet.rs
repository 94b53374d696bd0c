//! Mininet: a script for its Python interface, with `TCLink`.

use super::machines::{self, Device, Port, Shape, device, microseconds, shape};
use netloom_lab::{NodePlan, Plan};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What Mininet's `TCIntf` takes, in Mbit/s (`bwParamMax`).
const MOST_MBITS: u64 = 1_000;
/// Letters of the name of an interface (Linux, `IFNAMSIZ`).
const LONGEST_INTERFACE: usize = 15;

const HEAD: &str = "
from mininet.cli import CLI
from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Node, OVSBridge
from mininet.topo import Topo


class Lab(Topo):
    def build(self):
";
const FOOT: &str = "

def set_up(net):
    for name, commands in COMMANDS.items():
        for command in commands:
            net[name].cmd(command)


topos = {'lab': Lab}

if __name__ == '__main__':
    setLogLevel('info')
    net = Mininet(topo=Lab(), link=TCLink, switch=OVSBridge, controller=None)
    net.start()
    set_up(net)
    CLI(net)
    net.stop()
";

/// The text of `plan`, and what is not in it.
pub(super) fn write(plan: &Plan) -> (String, Vec<String>) {
    let mut left = BTreeSet::new();
    let mut build = String::new();
    let mut switches = 0;
    // Mininet numbers its switches by their names, unless it is told the number. Writing into a text cannot fail.
    let mut switch = |text: &mut String, name: &str| {
        switches += 1;
        let _ = writeln!(text, "        self.addSwitch({}, dpid='{switches:x}')", quoted(name));
    };
    for node in &plan.nodes {
        match device(node) {
            Device::Switch => switch(&mut build, &node.name),
            Device::Host | Device::Router => {
                let _ = writeln!(build, "        self.addHost({}, cls=Node, ip=None)", quoted(&node.name));
            }
        }
    }
    for (number, (link, ports)) in plan.links.iter().zip(machines::ports(plan)).enumerate() {
        let ends: Vec<(String, String, String)> = ports
            .iter()
            .enumerate()
            .map(|(end, port)| {
                let words = parameters(&shape(link, end.min(1), &mut left), &mut left);
                (plan.nodes[port.node].name.clone(), interface(plan, *port), words)
            })
            .collect();
        if link.is_shared {
            let lan = format!("lan-{}", link.name);
            switch(&mut build, &lan);
            for (end, one) in ends.iter().enumerate() {
                join(&mut build, one, &(lan.clone(), format!("l{number}-eth{end}"), String::new()));
            }
        } else if let [one, other] = &ends[..] {
            join(&mut build, one, other);
        }
    }
    if build.is_empty() {
        build.push_str("        pass\n");
    }
    let mut notes = machines::left_out(plan, &left);
    notes.push("otherwise: interfaces are called after their nodes, as Mininet's are".to_owned());
    let mut text =
        format!("#!/usr/bin/env python3\n\"\"\"The lab {}, made by netloom. Needs Mininet, and root.\n\n", plan.name);
    for note in &notes {
        let _ = writeln!(text, "{}", note.replace('\\', "\\\\").replace('"', "'"));
    }
    let _ = write!(text, "\"\"\"\n{HEAD}{build}\n\nCOMMANDS = {{\n");
    for (number, node) in plan.nodes.iter().enumerate().filter(|(_, node)| device(node) != Device::Switch) {
        let _ = writeln!(text, "    {}: [", quoted(&node.name));
        for command in machines::commands(node, |place| interface(plan, Port { node: number, interface: place })) {
            let _ = writeln!(text, "        {},", quoted(&command));
        }
        text.push_str("    ],\n");
    }
    text.push_str("}\n");
    text.push_str(FOOT);
    (text, notes)
}

/// Names of interfaces are unique on the machine, and short.
fn interface(plan: &Plan, port: Port) -> String {
    let node: &NodePlan = &plan.nodes[port.node];
    let name = format!("{}-eth{}", node.name, port.interface);
    if name.len() <= LONGEST_INTERFACE { name } else { format!("n{}-eth{}", port.node, port.interface) }
}

fn join(build: &mut String, one: &(String, String, String), other: &(String, String, String)) {
    let _ = writeln!(
        build,
        "        self.addLink({}, {}, intfName1={}, intfName2={},\n                     params1={{{}}}, params2={{{}}})",
        quoted(&one.0),
        quoted(&other.0),
        quoted(&one.1),
        quoted(&other.1),
        one.2,
        other.2,
    );
}

/// What an interface sends as.
fn parameters(shape: &Shape, left: &mut BTreeSet<String>) -> String {
    let mut all = Vec::new();
    if let Some(bits) = shape.bits_per_second {
        if bits > MOST_MBITS * 1_000_000 {
            left.insert(format!("rates above {MOST_MBITS} Mbit/s, which Mininet ignores"));
        } else {
            all.push(format!("'bw': {}.{:06}", bits / 1_000_000, bits % 1_000_000));
        }
    }
    all.extend(shape.delay.map(|delay| format!("'delay': '{}'", microseconds(delay))));
    if let Some((spread, is_normal)) = shape.spread {
        if is_normal {
            left.insert("the normal distribution of a delay: Mininet's jitter is uniform".to_owned());
        }
        all.push(format!("'jitter': '{}'", microseconds(spread)));
    }
    all.extend(shape.loss.as_ref().map(|share| format!("'loss': {share}")));
    all.extend(shape.limit.map(|packets| format!("'max_queue_size': {packets}")));
    all.join(", ")
}

/// A text in Python; names and commands have no control characters.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
