//! Tunnels to labs of other machines.

use super::external::{ends_at, several_links};
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::plan::{Clock, TunnelPlan};
use crate::segments::ends;
use crate::spec::{NodeSpec, Spec, TunnelSpec};
use std::collections::BTreeMap;

/// Errors about tunnels.
pub(super) fn check(spec: &Spec) -> Vec<Diagnostic> {
    let tunnels = || spec.nodes.iter().filter_map(|node| Some((node, node.tunnel.as_ref()?)));
    let mut errors: Vec<Diagnostic> = tunnels().filter_map(|(_, own)| timeless(spec.clock, own)).collect();
    errors.extend(same_port(tunnels().map(|(_, own)| own)));
    errors.extend(tunnels().filter_map(|(node, _)| several_links(spec, node)));
    errors.extend(tunnels().filter_map(|(node, _)| shared(spec, node)));
    errors
}

/// The time of the path and of the other lab is nobody's to slow.
fn timeless(clock: Clock, own: &TunnelSpec) -> Option<Diagnostic> {
    (clock != Clock::Real).then(|| {
        own.remote.error(format!(
            "the path to another machine keeps its own time, which no lab can slow or stop: leave `clock: {clock}` out, or this node"
        ))
    })
}

/// Errors about tunnels of one port: they share a socket if they lead to one machine, and then each has a number of its own.
fn same_port<'a>(tunnels: impl Iterator<Item = &'a TunnelSpec>) -> Vec<Diagnostic> {
    let mut sockets: BTreeMap<u16, &TunnelSpec> = BTreeMap::new();
    let mut numbers: BTreeMap<(u16, u32), Span> = BTreeMap::new();
    let mut errors = Vec::new();
    let written = |own: &TunnelSpec| own.port.as_ref().map_or(own.remote.span, |said| said.span);
    for own in tunnels {
        let port = own.port.as_ref().map_or(TunnelPlan::PORT, |port| port.value);
        let vni = own.vni.unwrap_or(TunnelPlan::VNI);
        let first = *sockets.entry(port).or_insert(own);
        let (message, before) = if first.remote.value != own.remote.value {
            (format!("another tunnel has port {port}: write another `port` here, and at its far end"), written(first))
        } else if let Some(twin) = numbers.insert((port, vni), written(own)) {
            let message = format!(
                "another tunnel to this machine has port {port} and `vni: {vni}`: write another `vni` here, and at its far end"
            );
            (message, twin)
        } else {
            continue;
        };
        let at_remote = || own.remote.error(message.as_str());
        let error = own.port.as_ref().map_or_else(at_remote, |said| said.error(message.as_str()));
        errors.push(error.and(before, "first here"));
    }
    errors
}

/// The error about a shared medium: packets leave it when they are due, and not ahead of that.
fn shared(spec: &Spec, node: &NodeSpec) -> Option<Diagnostic> {
    let (_, end) = ends_at(spec, node).find(|(link, _)| link.shared.is_some())?;
    let name = &node.name.value;
    Some(end.node.error(format!(
        "a tunnel cannot be at a shared medium, whose packets wait for one another: join a switch to it, and `{name}` to that"
    )))
}

/// Labs that tunnels join must not have the same hardware addresses: in a lab with a tunnel, those that nobody chose follow from its
/// name and from where its first tunnel leads.
pub(super) fn choose_addresses(spec: &mut Spec, name: &str) {
    let Some(tunnel) = spec.nodes.iter().find_map(|node| node.tunnel.as_ref()) else { return };
    // FNV-1a, 32 bits (draft-eastlake-fnv, section 2).
    let bytes = name.bytes().chain([0]).chain(tunnel.remote.value.bytes());
    let hash = bytes.fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let [a, b, c, d] = hash.to_be_bytes();
    let chosen: Vec<[u8; 6]> = ends(&spec.links)
        .map(|(end, own)| {
            let [_, _, _, one, two, three] = own.mac_at(end);
            // Locally administered, and other than those of labs without a tunnel.
            own.mac.as_ref().map_or([0x06, a ^ c, b ^ d, one, two, three], |said| said.value)
        })
        .collect();
    for (end, mac) in spec.links.iter_mut().flat_map(|link| &mut link.ends).zip(chosen) {
        let span = end.node.span;
        end.mac.get_or_insert(Spanned { value: mac, span, key: String::new() });
    }
}
