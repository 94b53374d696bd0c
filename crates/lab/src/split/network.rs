//! The nodes and links of a part, and what it knows of the others.

use super::tree::{key, list, mac, map, text, with};
use super::{Ground, SplitSettings, entries, settings};
use crate::diagnostics::Diagnostic;
use crate::keys::DIRECTION;
use crate::placement::Placement;
use crate::plan::{EndPlan, InterfacePlan, KeyPlan, NodeKind, NodePlan, Plan};
use crate::profiles::Profile;
use crate::yaml::{Content, Entry, Node};
use ipnet::IpNet;
use std::collections::{BTreeMap, BTreeSet};

/// The tunnel in the place of a link that is cut.
pub(super) struct Tunnel {
    /// The names of its nodes: in the part of the link's first end, and in that of its second.
    names: [String; 2],
    /// The addresses of the machines of its first and its second end.
    addresses: [String; 2],
    port: u16,
    vni: u32,
    /// The key of all tunnels between these two machines, as text.
    key: Option<String>,
}

/// Returns what stands for the address of a machine that is not known.
pub(super) fn placeholder(machine: &str) -> String {
    format!("ADDRESS-OF-{machine}")
}

/// The tunnels of all links that are cut.
pub(super) fn tunnels(
    plan: &Plan,
    placement: &Placement,
    settings: &SplitSettings,
    mut keys: Option<&mut dyn FnMut() -> [u8; KeyPlan::LEN]>,
) -> Result<BTreeMap<usize, Tunnel>, String> {
    let mut taken: BTreeSet<String> = plan.nodes.iter().map(|node| node.name.to_lowercase()).collect();
    let used: BTreeSet<u16> = plan.nodes.iter().filter_map(|node| Some(node.tunnel.as_ref()?.port)).collect();
    let mut ports = (settings.port..=u16::MAX).filter(|port| *port > 0 && !used.contains(port));
    let mut found = BTreeMap::new();
    let mut drawn: BTreeMap<[usize; 2], String> = BTreeMap::new();
    // Two machines have one port for all links between them.
    let mut taken_ports: BTreeMap<[usize; 2], u16> = BTreeMap::new();
    for (crossing, vni) in placement.crossing.iter().zip(1..) {
        let mut pair = crossing.machines;
        pair.sort_unstable();
        let Some(port) = taken_ports.get(&pair).copied().or_else(|| ports.next()) else {
            return Err("there are no ports for all pairs of machines: begin at a lower one".into());
        };
        taken_ports.insert(pair, port);
        let machines = crossing.machines.map(|place| placement.machines[place].machine.name.as_str());
        let mut tunnel_to = |other: &str| {
            let mut tunnel = format!("to-{other}-{vni}");
            while !taken.insert(tunnel.to_lowercase()) {
                tunnel.push('x');
            }
            tunnel
        };
        let names = [tunnel_to(machines[1]), tunnel_to(machines[0])];
        let address = |name: &str| settings.addresses.get(name).cloned().unwrap_or_else(|| placeholder(name));
        let key = keys.as_mut().map(|draw| drawn.entry(pair).or_insert_with(|| KeyPlan::text(&draw())).clone());
        found.insert(crossing.link, Tunnel { names, addresses: machines.map(address), port, vni, key });
    }
    Ok(found)
}

impl Ground<'_> {
    /// The tree of a machine's part, and what cannot be divided.
    pub(super) fn part(&self, machine: usize) -> (Node, Vec<Diagnostic>) {
        let mut wrong = Vec::new();
        let mut keys = vec![key("name", text(format!("{}-{}", self.plan.name, self.machine(machine))))];
        keys.extend(settings::kept(self));
        keys.push(key("addresses", text("none")));
        let far = self.elsewhere(machine);
        keys.push(key("nodes", map(self.nodes(machine, far.is_empty()))));
        keys.extend(filled("links", self.links(machine, &mut wrong)));
        keys.extend(filled("elsewhere", far));
        keys.extend(entries::of(self, machine, &mut wrong));
        (map(keys), wrong)
    }

    /// Returns the nodes of a part, with the tunnels.
    fn nodes(&self, machine: usize, is_alone: bool) -> Vec<Entry> {
        let written = |name: &str| self.root.value("nodes").and_then(|all| all.value(name)).cloned();
        let mut nodes = Vec::new();
        for (place, node) in self.plan.nodes.iter().enumerate().filter(|(place, _)| self.home(*place) == machine) {
            if node.is_lan && !self.is_cut(place) {
                continue;
            }
            let value = written(&node.name).unwrap_or_else(Node::empty);
            nodes.push(key(&node.name, self.node(node, &value, is_alone)));
        }
        for (link, tunnel) in &self.tunnels {
            for (side, end) in self.plan.links[*link].ends.iter().enumerate() {
                if self.home(end.node) == machine {
                    nodes.push(key(&tunnel.names[side], self.tunnel(*link, tunnel, side)));
                }
            }
        }
        nodes
    }

    /// Whether a link at a LAN's switch is cut.
    fn is_cut(&self, node: usize) -> bool {
        self.plan.nodes[node].interfaces.iter().any(|own| self.tunnels.contains_key(&own.end.link()))
    }

    fn node(&self, node: &NodePlan, written: &Node, is_alone: bool) -> Node {
        let mut keys = Vec::new();
        if node.is_lan {
            keys.push(key("kind", text("switch")));
        }
        if node.kind.has_addresses() {
            let route = |route: &crate::plan::RoutePlan| {
                map([key("to", text(route.destination.to_string())), key("via", text(route.via.to_string()))])
            };
            keys.push(key("routes", list(node.routes.iter().map(route))));
        }
        // Where nobody is elsewhere, names follow from the paths unless they are given.
        if node.kind.runs_programs() && (is_alone || !node.names.is_empty()) {
            let meant = node.names.iter().filter_map(|name| self.plan.meant(*name));
            keys.push(key("names", map(meant.map(|(other, interface, _)| key(other, text(interface))))));
        }
        let own = with(written, keys);
        let kept: Vec<Entry> = own.entries().iter().filter(|entry| entry.name != "machine").cloned().collect();
        map(kept)
    }

    /// The tunnel of a link in the part of its end at `side`.
    fn tunnel(&self, link: usize, tunnel: &Tunnel, side: usize) -> Node {
        let mut keys = vec![
            key("kind", text("tunnel")),
            key("remote", text(&tunnel.addresses[1 - side])),
            key("port", text(tunnel.port.to_string())),
            key("vni", text(tunnel.vni.to_string())),
        ];
        keys.extend(tunnel.key.as_ref().map(|own| key("key", text(own))));
        let far = self.beyond(self.plan.links[link].ends[1 - side], link);
        let end = |(node, interface): (usize, usize)| {
            let node = &self.plan.nodes[node];
            map([key("node", text(&node.name)), key("interface", text(&node.interfaces[interface].name))])
        };
        keys.push(key("beyond", list(far.into_iter().map(end))));
        map(keys)
    }

    /// The interfaces with addresses that a frame reaches that comes to `end` over `link`, on whatever machine: through switches.
    pub(super) fn beyond(&self, end: EndPlan, link: usize) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::from([link]);
        let mut next = vec![end];
        while let Some(reached) = next.pop() {
            let node = &self.plan.nodes[reached.node];
            if !matches!(node.kind, NodeKind::Switch | NodeKind::Hub | NodeKind::OpenFlow) {
                found.extend((!node.kind.leads_out()).then_some((reached.node, reached.interface)));
                continue;
            }
            for own in &node.interfaces {
                if seen.insert(own.end.link()) {
                    next.extend(self.plan.links[own.end.link()].beyond(own.end));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Whether a node has addresses, by which other machines know it.
    pub(super) fn speaks(&self, node: usize) -> bool {
        self.plan.nodes[node].interfaces.iter().any(|own| !own.addresses.is_empty())
    }

    /// The nodes of other machines, with the addresses that their names mean.
    fn elsewhere(&self, machine: usize) -> Vec<Entry> {
        let others = self.plan.nodes.iter().enumerate().filter(|(place, _)| self.home(*place) != machine);
        let speaks = others.filter(|(place, _)| self.speaks(*place));
        let of = |interface: &InterfacePlan| {
            let keys = [addresses(&interface.addresses), Some(key("mac", mac(interface.mac)))];
            key(&interface.name, map(keys.into_iter().flatten()))
        };
        speaks.map(|(_, node)| key(&node.name, map(node.interfaces.iter().map(of)))).collect()
    }

    /// Returns the links of a part, and its halves of those that are cut.
    fn links(&self, machine: usize, wrong: &mut Vec<Diagnostic>) -> Vec<Entry> {
        let mut links = Vec::new();
        for entry in self.root.value("links").map_or(&[][..], Node::entries) {
            if let Some(link) = self.links.get(entry.name.as_str()) {
                links.extend(self.link(machine, *link, &entry.value, wrong));
                continue;
            }
            let Some(lan) = self.nodes.get(entry.name.as_str()) else { continue };
            let ports: Vec<usize> = self.plan.nodes[*lan].interfaces.iter().map(|own| own.end.link()).collect();
            if self.is_cut(*lan) {
                links.extend(ports.iter().filter_map(|link| self.link(machine, *link, &entry.value, wrong)));
            } else if self.home(*lan) == machine {
                let ends = ports.iter().map(|link| self.end(&self.plan.links[*link].ends[0]));
                links.push(key(&entry.name, with(&entry.value, vec![key("ends", list(ends))])));
            }
        }
        links
    }

    /// A link as far as it is on a machine.
    fn link(&self, machine: usize, link: usize, written: &Node, wrong: &mut Vec<Diagnostic>) -> Option<Entry> {
        let plan = &self.plan.links[link];
        if !self.homes(link).contains(&machine) {
            return None;
        }
        let Some(tunnel) = self.tunnels.get(&link) else {
            let ends = plan.ends.iter().map(|end| self.end(end));
            return Some(key(&plan.name, with(written, vec![key("ends", list(ends))])));
        };
        let side = usize::from(self.home(plan.ends[0].node) != machine);
        let mut ends = vec![self.end(&plan.ends[side])];
        ends.insert(1 - side, text(&tunnel.names[side]));
        match half(written, side) {
            Ok(settings) => {
                let keys = std::iter::once(key("ends", list(ends))).chain(settings);
                Some(key(&plan.name, map(keys)))
            }
            Err(found) => {
                wrong.push(found);
                None
            }
        }
    }

    /// An end with all that is automatic in the whole lab.
    fn end(&self, end: &EndPlan) -> Node {
        let node = &self.plan.nodes[end.node];
        let own = &node.interfaces[end.interface];
        if !node.kind.has_addresses() && own.addresses.is_empty() {
            return text(&node.name);
        }
        let mut keys = vec![key("node", text(&node.name)), key("interface", text(&own.name))];
        keys.extend(addresses(&own.addresses));
        keys.push(key("mac", mac(own.mac)));
        map(keys)
    }
}

/// The addresses of an end, if it has any.
fn addresses(nets: &[IpNet]) -> Option<Entry> {
    (!nets.is_empty()).then(|| key("address", list(nets.iter().map(|net| text(net.to_string())))))
}

fn filled(name: &str, entries: Vec<Entry>) -> Option<Entry> {
    (!entries.is_empty()).then(|| key(name, map(entries)))
}

/// The settings of a cut link in the part of its end at `side`: those of the direction in which packets leave the part.
fn half(written: &Node, side: usize) -> Result<Vec<Entry>, Diagnostic> {
    let way = ["forward", "backward"][side];
    let (mut both, mut others) = (Vec::new(), Vec::new());
    for entry in written.entries() {
        match entry.name.as_str() {
            "ends" | "forward" | "backward" => {}
            "profile" => {
                let name = entry.value.text().unwrap_or_default();
                let profile = Profile::named(name).map_err(|wrong| entry.value.error(wrong))?;
                let keys = profile.ways[side].iter().map(|(word, value)| key(*word, text(*value)));
                both.splice(0..0, keys);
            }
            name if DIRECTION.keys().any(|key| key.name == name) => {
                both.retain(|other: &Entry| other.name != name);
                both.push(entry.clone());
            }
            _ => others.push(entry.clone()),
        }
    }
    let own = written.value(way).map_or(&[][..], Node::entries);
    let merged = with(&map(both), own.to_vec());
    if !matches!(&merged.content, Content::Map(all) if all.is_empty()) {
        others.push(key(way, merged));
    }
    Ok(others)
}
