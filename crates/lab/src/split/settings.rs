//! What holds for the whole lab: which keys all parts have, and what keeps a lab from being divided.

use super::{Ground, at_entry, keeps_real_time};
use crate::diagnostics::Diagnostic;
use crate::yaml::Entry;

/// The keys that each part has as the lab has them.
const KEPT: [&str; 14] = [
    "seed",
    "inherit",
    "precision",
    "shards",
    "bypass",
    "arp",
    "loops",
    "duration",
    "stop",
    "measure",
    "bounds",
    "on_spin",
    "start",
    "origin",
];

/// The keys that other modules divide, or that say how the lab is made.
const DIVIDED: [&str; 22] = [
    "name",
    "clock",
    "machines",
    "routes",
    "addresses",
    "generate",
    "nodes",
    "links",
    "layout",
    "setup",
    "timeline",
    "traffic",
    "capture",
    "journal",
    "expect",
    "figures",
    "multicast",
    "vary",
    "repeat",
    "sweep",
    "elsewhere",
    "ready",
];

/// The settings of the whole lab that each part has.
pub(super) fn kept<'a>(ground: &'a Ground<'_>) -> impl Iterator<Item = Entry> + 'a {
    ground.root.entries().iter().filter(|entry| KEPT.contains(&entry.name.as_str())).cloned()
}

/// Returns the errors about what cannot be divided, whatever the parts are.
pub(super) fn refusals(ground: &Ground<'_>) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for entry in ground.root.entries() {
        let name = entry.name.as_str();
        if name == "clock" && !keeps_real_time(ground.plan) {
            let message = "parts of a lab are joined by tunnels, whose path keeps its own time: only labs in real time are divided";
            wrong.push(entry.error(message));
        } else if ["elsewhere", "ready"].contains(&name) {
            wrong.push(entry.error(format!("`{name}` is about one machine: a lab that has it is not divided")));
        } else if !KEPT.contains(&name) && !DIVIDED.contains(&name) {
            wrong.push(entry.error(format!("`{name}` is about the lab in one piece: leave it out to divide the lab")));
        }
    }
    for node in &ground.plan.nodes {
        let refused = |why: &str| at_entry(ground.root, "nodes", &node.name, format!("`{}` {why}", node.name));
        if node.interfaces.iter().any(|own| !own.leased.is_empty() || own.lender.is_some()) {
            wrong.push(refused(
                "gets or gives addresses by DHCP, which a part of the lab cannot tell the others: write its addresses",
            ));
        }
        if !node.hidden.is_empty() {
            wrong.push(refused(
                "does not reach what is behind a router with `nat`, which a part of the lab does not know",
            ));
        }
    }
    wrong.extend(pieces(ground));
    if let Some(out) = &ground.plan.internet {
        let name = &ground.plan.nodes[out.node].name;
        let message =
            format!("`{name}` is the way out for all nodes, and those of other machines have none yet: leave it out");
        wrong.push(at_entry(ground.root, "nodes", name, message));
    }
    wrong
}

/// Returns the errors about LANs of which a machine would have two pieces, which other machines join.
fn pieces(ground: &Ground<'_>) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for link in ground.tunnels.keys() {
        let plan = &ground.plan.links[*link];
        for side in [0, 1] {
            let machine = ground.home(plan.ends[1 - side].node);
            let far = ground.beyond(plan.ends[side], *link);
            let Some((node, _)) = far.into_iter().find(|(node, _)| ground.home(*node) == machine) else { continue };
            let message = format!(
                "the LAN of link `{}` would be in two pieces on machine {}, since `{}` is behind it, too: choose the `machine` of its \
                 nodes, or divide it by a router",
                plan.name,
                ground.machine(machine),
                ground.plan.nodes[node].name
            );
            wrong.push(at_entry(ground.root, "links", &plan.name, message));
        }
    }
    wrong
}
