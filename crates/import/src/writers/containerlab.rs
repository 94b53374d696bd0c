//! containerlab: Linux containers that `ip` and `tc` set up.

use super::machines::{self, Device, Port, Shape, device, microseconds, shape};
use netloom_lab::Plan;
use std::collections::BTreeSet;
use std::fmt::Write;

/// An image with `ip` and `tc`, which containerlab's own examples use.
const IMAGE: &str = "ghcr.io/srl-labs/network-multitool";

/// The length of a link in its pictures.
const PIXELS: f64 = 100.0;

/// The text of `plan`, and what is not in it.
pub(super) fn write(plan: &Plan) -> (String, Vec<String>) {
    let mut left = BTreeSet::new();
    let mut directions: Vec<Vec<String>> = vec![Vec::new(); plan.nodes.len()];
    let mut links = String::new();
    let mut lans = String::new();
    let mut from_switch = 0;
    for (number, (link, ports)) in plan.links.iter().zip(machines::ports(plan)).enumerate() {
        for (end, port) in ports.iter().enumerate() {
            let words = netem(&shape(link, end.min(1), &mut left));
            if words.is_empty() {
                continue;
            }
            if device(&plan.nodes[port.node]) == Device::Switch {
                from_switch += 1;
            } else {
                directions[port.node]
                    .push(format!("tc qdisc add dev {} root netem {words}", interface(port.interface)));
            }
        }
        // Interfaces of bridges are in the machine's own namespace, where names are taken once.
        let name = |end: usize| format!("nl{number}e{end}");
        let of_node = |end: usize, port: &Port| {
            let node = &plan.nodes[port.node];
            let is_switch = device(node) == Device::Switch;
            format!("{}:{}", node.name, if is_switch { name(end) } else { interface(port.interface) })
        };
        let ends: Vec<String> = ports.iter().enumerate().map(|(end, port)| of_node(end, port)).collect();
        // Writing into a text cannot fail.
        if link.is_shared {
            let _ = writeln!(lans, "    lan-{}:\n      kind: bridge", link.name);
            for (end, port) in ends.iter().enumerate() {
                let _ = writeln!(links, "    - endpoints: [\"{port}\", \"lan-{}:{}\"]", link.name, name(end + 2));
            }
        } else {
            let _ = writeln!(links, "    - endpoints: [\"{}\"]", ends.join("\", \""));
        }
    }
    let mut text = format!("name: {}\ntopology:\n  nodes:\n", plan.name);
    for (node, shapes) in plan.nodes.iter().zip(directions) {
        let _ = writeln!(text, "    {}:", node.name);
        if let Some([x, y]) = node.position.map(|at| at.map(|value| value * PIXELS)) {
            let _ = writeln!(text, "      labels: {{graph-posX: \"{x:.0}\", graph-posY: \"{y:.0}\"}}");
        }
        if device(node) == Device::Switch {
            let _ = writeln!(text, "      kind: bridge");
            continue;
        }
        let _ = writeln!(text, "      kind: linux\n      image: {IMAGE}");
        let commands = [machines::commands(node, interface), shapes].concat();
        if !commands.is_empty() {
            let _ = writeln!(text, "      exec:");
        }
        for command in commands {
            let _ = writeln!(text, "        - {command}");
        }
    }
    text.push_str(&lans);
    if !links.is_empty() {
        let _ = write!(text, "  links:\n{links}");
    }
    let mut notes = machines::left_out(plan, &left);
    if plan.nodes.iter().any(|node| device(node) == Device::Switch) || !lans.is_empty() {
        notes.push(
            "otherwise: bridges must be there before the lab is deployed (`ip link add NAME type bridge`)".into(),
        );
    }
    if from_switch > 0 {
        notes.push(format!("left out: what {from_switch} directions of links do that leave a switch"));
    }
    notes.push("otherwise: interfaces are eth1, eth2 and so on, since eth0 is containerlab's".to_owned());
    (text, notes)
}

/// The first interface of a container is its management.
fn interface(number: usize) -> String {
    format!("eth{}", number + 1)
}

/// The arguments of netem.
fn netem(shape: &Shape) -> String {
    let mut words = Vec::new();
    if *shape == Shape::default() {
        return String::new();
    }
    words.extend(shape.limit.map(|packets| format!("limit {packets}")));
    if let Some(delay) = shape.delay {
        words.push(format!("delay {}", microseconds(delay)));
        words.extend(shape.spread.map(|(spread, _)| microseconds(spread)));
        words.extend(shape.spread.filter(|(_, is_normal)| *is_normal).map(|_| "distribution normal".to_owned()));
    }
    words.extend(shape.loss.as_ref().map(|share| format!("loss {share}%")));
    words.extend(shape.bits_per_second.map(|bits| format!("rate {bits}bit")));
    words.join(" ")
}
