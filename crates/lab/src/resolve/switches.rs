//! Switches and hubs: what switches do, what neither can have, and whether they form loops.

use super::ends::Interface;
use super::names::Index;
use super::place;
use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::plan::{NodeKind, SwitchPlan};
use crate::sets::Sets;
use crate::spec::{EndSpec, LinkSpec, NodeSpec, Spec};
use std::collections::{BTreeMap, VecDeque};

/// What every node does as a switch, in the order of the lab file; none of other kinds. `interfaces`: none if some of them
/// lead nowhere.
pub(super) fn settle(
    spec: &Spec,
    links: &Index<'_>,
    interfaces: Option<&[Interface]>,
    errors: &mut Errors,
) -> Vec<Option<SwitchPlan>> {
    errors.extend(addresses(spec));
    errors.extend(loops(spec));
    let mut settled = Vec::new();
    for (number, node) in spec.nodes.iter().enumerate() {
        let is_switch = node.kind == NodeKind::Switch;
        settled.push(is_switch.then(|| switch(number, node, links, interfaces, errors)));
    }
    settled
}

fn switch(
    number: usize,
    node: &NodeSpec,
    links: &Index<'_>,
    interfaces: Option<&[Interface]>,
    errors: &mut Errors,
) -> SwitchPlan {
    let mut fixed = Vec::new();
    for (address, link) in &node.switch.fixed {
        let (Some(meant), Some(interfaces)) = (place(links, link, errors), interfaces) else { continue };
        let is_there = |interface: &&Interface| interface.at.node == number && interface.at.end.link() == meant;
        match interfaces.iter().find(is_there) {
            Some(interface) => fixed.push((*address, interface.at.interface)),
            None => errors.push(link.error(format!("link `{}` has no end at `{}`", link.value, node.name.value))),
        }
    }
    SwitchPlan {
        ageing: node.switch.ageing.unwrap_or(SwitchPlan::AGEING),
        table: node.switch.table.unwrap_or(SwitchPlan::TABLE),
        fixed,
    }
}

/// The errors about addresses at ends that can have none.
fn addresses(spec: &Spec) -> Vec<Diagnostic> {
    let devices = devices(spec);
    let ends = spec.links.iter().flat_map(|link| &link.ends);
    let error = |end: &EndSpec| {
        let device = devices.get(end.node.value.as_str())?;
        let kind = device.kind.title();
        let message =
            format!("a {kind} has no address: leave it out, or write `kind: router` for `{}`", end.node.value);
        end.addresses.first().map(|address| address.error(message))
    };
    ends.filter_map(error).collect()
}

/// The nodes without addresses.
fn devices(spec: &Spec) -> BTreeMap<&str, &NodeSpec> {
    let devices = spec.nodes.iter().filter(|node| !node.kind.has_addresses());
    devices.map(|node| (node.name.value.as_str(), node)).collect()
}

/// A link between two switches or hubs, as seen from one of them.
#[derive(Clone, Copy)]
struct Way<'a> {
    to: &'a str,
    link: &'a LinkSpec,
}

/// The errors about links that close a loop of switches and hubs; where loops are allowed, a loop of links without a rate.
fn loops(spec: &Spec) -> Vec<Diagnostic> {
    let devices = devices(spec);
    let numbers: BTreeMap<&str, usize> = devices.keys().copied().zip(0..).collect();
    let mut sets = Sets::of(numbers.len());
    let mut around: BTreeMap<&str, Vec<Way<'_>>> = BTreeMap::new();
    let mut errors = Vec::new();
    for link in spec.links.iter().filter(|link| !spec.loops || !has_rate(link)) {
        let [one, other] = &link.ends[..] else { continue };
        let [one, other] = [one, other].map(|end| end.node.value.as_str());
        // A link from a node to itself is an error that is told elsewhere.
        let (Some(here), Some(there), true) = (numbers.get(one), numbers.get(other), one != other) else { continue };
        if sets.join(*here, *there) {
            around.entry(one).or_default().push(Way { to: other, link });
            around.entry(other).or_default().push(Way { to: one, link });
        } else {
            errors.push(link.name.error(message(spec.loops, link, one, &way(&around, one, other))));
        }
    }
    errors
}

/// Whether every pipe of it has a rate.
fn has_rate(link: &LinkSpec) -> bool {
    let further = link.treatments.iter().flatten().map(|treatment| &treatment.config);
    link.pipes.iter().chain(further).all(|pipe| pipe.rate.nominal().is_some())
}

fn message(are_allowed: bool, link: &LinkSpec, from: &str, way: &[Way<'_>]) -> String {
    let back = way.iter().map(|step| format!("`{}` by {}", step.to, step.link.name.value));
    let cycle: Vec<String> = [format!("`{from}`")].into_iter().chain(back).collect();
    let cycle = format!("{}, and back by {}", cycle.join(" to "), link.name.value);
    if are_allowed {
        format!(
            "no link of this loop has a rate in both directions: {cycle}. What is for everybody would go round and multiply \
             without bound: give one of them a `rate`"
        )
    } else {
        format!(
            "this link closes a loop: {cycle}. What is for everybody would go round for ever: leave a link out, or write \
             `loops: allowed` to see it happen"
        )
    }
}

/// The shortest way from one to the other, without its beginning.
fn way<'a>(around: &BTreeMap<&'a str, Vec<Way<'a>>>, from: &'a str, to: &'a str) -> Vec<Way<'a>> {
    let mut before: BTreeMap<&str, (&'a str, Way<'a>)> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(here) = queue.pop_front().filter(|here| *here != to) {
        for step in around.get(here).into_iter().flatten() {
            if step.to != from && !before.contains_key(step.to) {
                before.insert(step.to, (here, *step));
                queue.push_back(step.to);
            }
        }
    }
    let mut way = Vec::new();
    let mut here = to;
    while let Some((earlier, step)) = before.get(here) {
        way.push(*step);
        here = earlier;
    }
    way.reverse();
    way
}
