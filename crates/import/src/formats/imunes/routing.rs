//! Routing protocols and configurations of one's own.

use crate::daemons::Routing;
use crate::source::Place;
use crate::topology::Topology;
use crate::tree::Tree;
use netloom_lab::yaml::Node;

/// The autonomous system that IMUNES gives to all routers with BGP.
const NUMBER: u32 = 1_000;

/// The protocols of a node of the newer form: `"router_config": "rip 1 ospf 0"`, or those of its own configuration.
pub(super) fn new(node: &Node, place: Place, topology: &mut Topology) -> Option<Routing> {
    let model = node.word("model").unwrap_or("frr");
    let own = own(node, topology);
    if !["frr", "quagga"].contains(&model) {
        return None;
    }
    let mut routing = Routing::default();
    let words: Vec<&str> = node.word("router_config").unwrap_or_default().split_whitespace().collect();
    let mut is_any = false;
    for word in words.chunks(2).filter(|pair| pair.get(1).is_none_or(|flag| *flag != "0")).map(|pair| pair[0]) {
        is_any |= protocol(&mut routing, word, own.is_some(), place, topology);
    }
    if let Some(text) = own {
        for word in Routing::spoken(&text) {
            is_any |= routing.add(word);
        }
        routing.configure(&text, model == "quagga", place, &mut topology.notes);
    }
    is_any.then_some(routing)
}

/// Adds a protocol by its word.
fn protocol(routing: &mut Routing, word: &str, is_configured: bool, place: Place, topology: &mut Topology) -> bool {
    let is_known = routing.add(word);
    if !is_known {
        topology.notes.add(place, format!("the routing protocol `{word}` is not known here"));
    } else if word == "bgp" && !is_configured {
        routing.number = Some(NUMBER);
        topology
            .notes
            .add(place, "BGP has sessions with all its neighbours: without a configuration, IMUNES gives it none");
    }
    is_known
}

/// The configuration of its own that is selected for a router, if it is one of FRR.
fn own(node: &Node, topology: &mut Topology) -> Option<String> {
    let configurations = node.get("custom_configs")?;
    let place = configurations.place();
    let mut not_read = |why: &str| {
        topology.notes.add(place, format!("`custom_configs` of nodes is not read{why}"));
        None
    };
    if node.word("custom_enabled") != Some("true") {
        return not_read(": it is not enabled");
    }
    let mut names = node.word("custom_selected").unwrap_or("NODE_CONFIG generic").split_whitespace();
    let mut at = configurations;
    for name in names.by_ref().take(2) {
        match at.get(name) {
            Some(inner) => at = inner,
            None => return not_read(": the one that is selected is not there"),
        }
    }
    let text = at.word("custom_config").unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let command = at.word("custom_command").unwrap_or_default();
    if command.ends_with("frrboot.sh") || command.ends_with("quaggaboot.sh") {
        return Some(lines.join("\n"));
    }
    // A script that hands one to FRR's shell.
    match lines[..] {
        [shell, configure, ref body @ .., end]
            if shell.split_whitespace().collect::<Vec<_>>() == ["vtysh", "<<", end.trim()]
                && configure.trim().starts_with("conf") =>
        {
            Some(body.join("\n"))
        }
        _ => not_read(": only those for FRR are"),
    }
}

/// The protocols of a node of the older form: sections `router rip` of its configuration.
pub(super) fn old(text: &str, model: Option<&str>, place: Place, topology: &mut Topology) -> Option<Routing> {
    if !["frr", "quagga", "xorp"].contains(&model?) {
        return None;
    }
    let mut routing = Routing::default();
    let mut is_any = false;
    for line in text.lines() {
        if let ["router", word, ..] = line.split_whitespace().collect::<Vec<_>>()[..] {
            is_any |= protocol(&mut routing, word, false, place, topology);
            topology
                .notes
                .add(place, format!("`router {word}` has the settings that Netloom makes, not those of this file"));
        }
    }
    is_any.then_some(routing)
}
