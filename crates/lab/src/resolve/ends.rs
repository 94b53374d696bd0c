//! The ends of links: nodes, interfaces and hardware addresses.

use super::names::Index;
use super::place;
use crate::diagnostics::Span;
use crate::errors::Errors;
use crate::plan::EndPlan;
use crate::spec::{EndSpec, LinkSpec};
use std::collections::BTreeMap;

/// Both ends of a link.
pub(super) struct Ends {
    pub(super) plans: [EndPlan; 2],
    pub(super) names: [String; 2],
    pub(super) macs: [[u8; 6]; 2],
}

/// The ends of all links; none if one of them leads nowhere.
pub(super) fn resolve(links: &[LinkSpec], nodes: &Index<'_>, errors: &mut Errors) -> Option<Vec<Ends>> {
    let mut found: Vec<Option<[usize; 2]>> = Vec::new();
    for link in links {
        let [first, second] = link.ends.each_ref().map(|end| place(nodes, &end.node, errors));
        if first.is_some() && first == second {
            let node = &link.ends[1].node;
            errors.push(
                node.error(format!("the link leads from `{0}` to `{0}`: it joins two different nodes", node.value)),
            );
        }
        found.push(first.zip(second).map(|(first, second)| [first, second]));
    }
    let explicit = explicit_names(links, &found, errors);
    check_macs(links, errors);
    let found: Vec<[usize; 2]> = found.into_iter().collect::<Option<_>>()?;
    let mut interfaces: BTreeMap<usize, Interfaces> = BTreeMap::new();
    let numbered = links.iter().zip(found).enumerate();
    Some(numbered.map(|(number, (link, joined))| ends(number, link, joined, &explicit, &mut interfaces)).collect())
}

/// The interfaces that a node has so far.
#[derive(Default)]
struct Interfaces {
    count: usize,
    /// The next number for an automatic name.
    next: usize,
}

fn ends(
    number: usize,
    link: &LinkSpec,
    nodes: [usize; 2],
    explicit: &BTreeMap<(usize, String), Span>,
    interfaces: &mut BTreeMap<usize, Interfaces>,
) -> Ends {
    let mut plans = nodes.map(|node| EndPlan { node, interface: 0 });
    let mut names = [String::new(), String::new()];
    for (end, node) in nodes.into_iter().enumerate() {
        let own = interfaces.entry(node).or_default();
        plans[end].interface = own.count;
        own.count += 1;
        names[end] =
            link.ends[end].interface.as_ref().map_or_else(|| own.next_name(node, explicit), |name| name.value.clone());
    }
    let macs =
        [0, 1].map(|end| link.ends[end].mac.as_ref().map_or_else(|| automatic_mac(number, end), |mac| mac.value));
    Ends { plans, names, macs }
}

impl Interfaces {
    fn next_name(&mut self, node: usize, explicit: &BTreeMap<(usize, String), Span>) -> String {
        loop {
            let name = format!("eth{}", self.next);
            self.next += 1;
            if !explicit.contains_key(&(node, name.clone())) {
                return name;
            }
        }
    }
}

/// The names that the lab file gives, by node; one that is given twice is noted.
fn explicit_names(
    links: &[LinkSpec],
    found: &[Option<[usize; 2]>],
    errors: &mut Errors,
) -> BTreeMap<(usize, String), Span> {
    let mut names: BTreeMap<(usize, String), Span> = BTreeMap::new();
    for (link, nodes) in links.iter().zip(found) {
        let Some(nodes) = nodes else { continue };
        for (end, node) in link.ends.iter().zip(nodes) {
            let Some(name) = &end.interface else { continue };
            if let Some(first) = names.insert((*node, name.value.clone()), name.span) {
                let message = format!("node `{}` has two interfaces `{}`", end.node.value, name.value);
                errors.push(name.error(message).and(first, "first here"));
            }
        }
    }
    names
}

/// Locally administered, then `nl` as letters, then the number of the port.
fn automatic_mac(link: usize, end: usize) -> [u8; 6] {
    let port = u32::try_from(link * 2 + end).expect("a lab has fewer than 2^16 ports").to_be_bytes();
    [0x02, 0x6e, 0x6c, port[1], port[2], port[3]]
}

fn check_macs(links: &[LinkSpec], errors: &mut Errors) {
    let mut seen: BTreeMap<[u8; 6], Span> = BTreeMap::new();
    let is_explicit = |end: &EndSpec| end.mac.is_some();
    if !links.iter().any(|link| link.ends.iter().any(is_explicit)) {
        return;
    }
    for (number, link) in links.iter().enumerate() {
        for (end, spec) in link.ends.iter().enumerate().filter(|(_, spec)| !is_explicit(spec)) {
            seen.insert(automatic_mac(number, end), spec.node.span);
        }
    }
    for mac in links.iter().flat_map(|link| &link.ends).filter_map(|end| end.mac.as_ref()) {
        if let Some(first) = seen.insert(mac.value, mac.span) {
            errors.push(
                mac.error("this hardware address is taken: each must be unique in the lab").and(first, "also here"),
            );
        }
    }
}
