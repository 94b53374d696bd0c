//! External interfaces: what can be at their other end, and what each of them takes; and which ports of this machine can lead into nodes.

use super::interfaces::Interface;
use crate::diagnostics::{Diagnostic, Span};
use crate::plan::{Clock, ExternalMode, ExternalPlan, NodeKind};
use crate::segments::Segment;
use crate::spec::{EndSpec, ExternalSpec, LinkSpec, NodeSpec, Spec};
use std::collections::BTreeMap;

/// Errors about external interfaces and what is joined to them.
pub(super) fn check(spec: &Spec, segments: &[Segment<'_>]) -> Vec<Diagnostic> {
    let externals = || spec.nodes.iter().filter_map(|node| Some((node, node.external.as_ref()?)));
    let mut errors: Vec<Diagnostic> = externals().filter_map(|(_, own)| timeless(spec.clock, own)).collect();
    errors.extend(twice(externals().map(|(_, own)| own)));
    errors.extend(both_modes(externals().map(|(_, own)| own)));
    errors.extend(externals().filter_map(|(node, _)| several_links(spec, node)));
    errors.extend(externals().filter_map(|(node, own)| not_alone(spec, node, own)));
    errors.extend(segments.iter().filter(|segment| segment.is_open).flat_map(|segment| silent(spec, segment)));
    errors
}

/// The time of what lies behind an interface is nobody's to slow.
fn timeless(clock: Clock, own: &ExternalSpec) -> Option<Diagnostic> {
    (clock != Clock::Real).then(|| {
        own.interface.error(format!(
            "what lies behind an interface of this machine keeps its own time, which no lab can slow or stop: leave \
             `clock: {clock}` out, or this node"
        ))
    })
}

/// Errors about what two nodes take.
fn twice<'a>(externals: impl Iterator<Item = &'a ExternalSpec>) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<(&str, Option<u16>), Span> = BTreeMap::new();
    let mut errors = Vec::new();
    for own in externals {
        let (interface, vlan) = (own.interface.value.as_str(), own.vlan.as_ref());
        let span = vlan.map_or(own.interface.span, |vlan| vlan.span);
        let Some(first) = seen.insert((interface, vlan.map(|vlan| vlan.value)), span) else { continue };
        let error = match vlan {
            Some(vlan) => vlan.error(format!(
                "another node is VLAN {} of interface {interface}: give each a VLAN of its own",
                vlan.value
            )),
            None => own.interface.error(format!(
                "another node is the wire of interface {interface}: name another, or give this node a `vlan` of it"
            )),
        };
        errors.push(error.and(first, "first here"));
    }
    errors
}

/// Errors about interfaces that are to be shared and passed.
fn both_modes<'a>(externals: impl Iterator<Item = &'a ExternalSpec>) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<&str, (ExternalMode, Span)> = BTreeMap::new();
    let mut errors = Vec::new();
    for own in externals {
        let mode = own.mode.as_ref().map(|mode| mode.value).unwrap_or_default();
        let place = own.mode.as_ref().map_or(own.interface.span, |said| said.span);
        let (first, span) = *seen.entry(&own.interface.value).or_insert((mode, place));
        if first != mode {
            let message = format!(
                "another node has interface {} with `mode: {}`: write the same here, as it can be in one place only",
                own.interface.value,
                first.name()
            );
            let error = own.mode.as_ref().map_or_else(|| own.interface.error(&message), |said| said.error(&message));
            errors.push(error.and(span, "first here"));
        }
    }
    errors
}

/// The error about a wire with more than one end in the lab.
pub(super) fn several_links(spec: &Spec, node: &NodeSpec) -> Option<Diagnostic> {
    let second = ends_at(spec, node).nth(1)?.1;
    let name = &node.name.value;
    Some(second.node.error(format!(
        "`{name}` is the end of a wire and has one link: join this one to a switch, and that to `{name}`"
    )))
}

/// The error about an interface that is to be deaf to what stands behind a device.
fn not_alone(spec: &Spec, node: &NodeSpec, own: &ExternalSpec) -> Option<Diagnostic> {
    let said = own.promiscuous.as_ref().filter(|said| !said.value)?;
    let (link, _) = ends_at(spec, node).next()?;
    alone(spec, node, link).is_none().then(|| {
        said.error(
            "several hardware addresses can be at the other end of this link, and frames for all of them are to enter: \
             leave this out, or join a host or a router",
        )
    })
}

/// Errors about nodes that cannot learn who is behind an interface.
fn silent(spec: &Spec, segment: &Segment<'_>) -> Vec<Diagnostic> {
    let kind = |end: &EndSpec| spec.nodes.iter().find(|node| node.name.value == end.node.value).map(|node| node.kind);
    let transit = segment.ends.iter().map(|own| own.spec).filter(|end| kind(end) == Some(NodeKind::Transit));
    let is_tunnel = |end: &EndSpec| kind(end) == Some(NodeKind::Tunnel);
    let leads_out = if spec.links.iter().flat_map(|link| &link.ends).any(is_tunnel) {
        "a tunnel or an external interface"
    } else {
        "an external interface"
    };
    let error = |end: &EndSpec| {
        end.node.error(format!(
            "a transit router knows its neighbours from the lab file, and those behind {leads_out} are not in it: write \
             `kind: router`"
        ))
    };
    transit.map(error).collect()
}

pub(super) fn ends_at<'a>(spec: &'a Spec, node: &'a NodeSpec) -> impl Iterator<Item = (&'a LinkSpec, &'a EndSpec)> {
    let all = spec.links.iter().flat_map(|link| link.ends.iter().map(move |end| (link, end)));
    all.filter(|(_, end)| end.node.value == node.name.value)
}

/// The only other end of its link, if that has one hardware address.
fn alone<'a>(spec: &Spec, node: &NodeSpec, link: &'a LinkSpec) -> Option<&'a EndSpec> {
    let [one, two] = &link.ends[..] else { return None };
    let other = if one.node.value == node.name.value { two } else { one };
    let other_node = spec.nodes.iter().find(|own| own.name.value == other.node.value)?;
    other_node.kind.has_addresses().then_some(other)
}

/// What each node is as an external interface; none of other kinds. The ends of links have these interfaces.
pub(super) fn settle(spec: &Spec, interfaces: &[Interface]) -> Vec<Option<ExternalPlan>> {
    let one = |(number, node): (usize, &NodeSpec)| {
        let own = node.external.as_ref()?;
        let place = interfaces.iter().position(|at| at.at.node == number);
        let only = place.filter(|_| !own.promiscuous.as_ref().is_some_and(|said| said.value)).and_then(|place| {
            let end = interfaces[place].at.end;
            alone(spec, node, &spec.links[end.link()])?;
            let other = interfaces.iter().find(|at| at.at.end.link() == end.link() && at.at.end != end)?;
            Some(other.mac)
        });
        Some(ExternalPlan {
            interface: own.interface.value.clone(),
            line: own.interface.span.line,
            mode: own.mode.as_ref().map(|mode| mode.value).unwrap_or_default(),
            vlan: own.vlan.as_ref().map(|vlan| vlan.value),
            only,
            force: own.force,
        })
    };
    spec.nodes.iter().enumerate().map(one).collect()
}

/// Errors about ports that lead to two places, and about those that cannot lead anywhere.
pub(super) fn check_exposed(spec: &Spec) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    for exposed in spec.nodes.iter().flat_map(|node| &node.expose) {
        let port = exposed.value.name();
        if let Some(first) = seen.insert(port.clone(), exposed.span) {
            let what = format!(
                "port {port} of this machine can lead to one node only: choose another port for one of the two"
            );
            errors.push(exposed.error(what).and(first, "first here"));
        }
        if spec.clock == Clock::Virtual {
            errors.push(exposed.error(
                "in virtual time nothing can come from outside: when it comes would depend on this machine, and so would the \
                 results; leave it out, or use `clock: real` or a dilated clock",
            ));
        }
    }
    errors
}
