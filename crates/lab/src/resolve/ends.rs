//! The ends of links: nodes, interfaces and hardware addresses.

use super::names::Index;
use super::place;
use crate::diagnostics::Span;
use crate::errors::Errors;
use crate::plan::{End, EndPlan};
use crate::segments::ends;
use crate::spec::{EndSpec, LinkSpec};
use std::collections::BTreeMap;

/// The interface at an end of a link.
pub(super) struct Interface {
    pub(super) at: EndPlan,
    pub(super) name: String,
    pub(super) mac: [u8; 6],
}

/// The interfaces at the ends of all links, in the order of the ends' numbers; none if an end leads nowhere.
pub(super) fn resolve(links: &[LinkSpec], nodes: &Index<'_>, errors: &mut Errors) -> Option<Vec<Interface>> {
    let mut found: Vec<Option<Vec<usize>>> = Vec::new();
    for link in links {
        let joined: Vec<Option<usize>> = link.ends.iter().map(|end| place(nodes, &end.node, errors)).collect();
        for (number, end) in link.ends.iter().enumerate() {
            if joined[number].is_some() && joined[..number].contains(&joined[number]) {
                let name = &end.node.value;
                let message = format!("the link leads from `{name}` to `{name}`: it joins two different nodes");
                errors.push(end.node.error(message));
            }
        }
        found.push(joined.into_iter().collect());
    }
    let explicit = explicit_names(links, &found, errors);
    check_macs(links, errors);
    let found: Vec<Vec<usize>> = found.into_iter().collect::<Option<_>>()?;
    let mut taken: BTreeMap<usize, Taken> = BTreeMap::new();
    let interface = |((end, spec), node): ((End, &EndSpec), usize)| {
        let own = taken.entry(node).or_default();
        let at = EndPlan { end, node, interface: own.count };
        own.count += 1;
        let name = spec.interface.as_ref().map_or_else(|| own.next_name(node, &explicit), |name| name.value.clone());
        let mac = spec.mac_at(end);
        Interface { at, name, mac }
    };
    Some(ends(links).zip(found.into_iter().flatten()).map(interface).collect())
}

/// The interfaces that a node has so far.
#[derive(Default)]
struct Taken {
    count: usize,
    /// The next number for an automatic name.
    next: usize,
}

impl Taken {
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
    found: &[Option<Vec<usize>>],
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

fn check_macs(links: &[LinkSpec], errors: &mut Errors) {
    let mut seen: BTreeMap<[u8; 6], Span> = BTreeMap::new();
    let is_explicit = |end: &EndSpec| end.mac.is_some();
    if !links.iter().any(|link| link.ends.iter().any(is_explicit)) {
        return;
    }
    for (end, spec) in ends(links).filter(|(_, spec)| !is_explicit(spec)) {
        seen.insert(spec.mac_at(end), spec.node.span);
    }
    for mac in links.iter().flat_map(|link| &link.ends).filter_map(|end| end.mac.as_ref()) {
        if let Some(first) = seen.insert(mac.value, mac.span) {
            errors.push(
                mac.error("this hardware address is taken: each must be unique in the lab").and(first, "also here"),
            );
        }
    }
}
