//! The interfaces at the ends of links: nodes, names and hardware addresses.

use super::names::Index;
use super::place;
use crate::diagnostics::Span;
use crate::errors::Errors;
use crate::plan::{End, EndPlan};
use crate::segments::{Segment, Station, ends};
use crate::spec::{EndSpec, LinkSpec};
use std::collections::{BTreeMap, BTreeSet};

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

/// The errors about hardware addresses that two ends of one segment have. On other segments they may be the same, as those of a
/// router that announces one gateway everywhere.
pub(super) fn check_macs(segments: &[Segment<'_>], errors: &mut Errors) {
    let is_explicit = |station: &&Station<'_>| station.spec.mac.is_some();
    let mut told: BTreeSet<usize> = BTreeSet::new();
    for segment in segments.iter().filter(|segment| segment.ends.iter().any(|station| is_explicit(&station))) {
        let mut seen: BTreeMap<[u8; 6], Span> = BTreeMap::new();
        for station in segment.ends.iter().filter(|station| !is_explicit(station)) {
            seen.insert(station.spec.mac_at(station.end), station.spec.node.span);
        }
        for mac in segment.ends.iter().filter_map(|station| station.spec.mac.as_ref()) {
            let first = seen.insert(mac.value, mac.span);
            // The ends of several VLANs meet in each of them.
            if let Some(first) = first.filter(|first| *first != mac.span && told.insert(mac.span.start)) {
                errors.push(
                    mac.error("this hardware address is taken: each must be unique on its link or LAN")
                        .and(first, "also here"),
                );
            }
        }
    }
}
