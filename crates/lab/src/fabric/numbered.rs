//! Losses by the numbers of packets, where kernels send packets of themselves, too: a warning says so.

use crate::Plan;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::spec::{LinkSpec, Spec};
use netloom_link::{LossConfig, PipeConfig};
use std::collections::BTreeMap;

/// The names of links of which packets with certain numbers are lost, whatever they are, by their numbers.
pub(crate) fn names(spec: &Spec) -> BTreeMap<usize, Spanned<String>> {
    let is_numbered = |pipe: &PipeConfig| matches!(pipe.loss, LossConfig::Packets(_));
    let links =
        spec.links.iter().enumerate().filter(|(_, link): &(usize, &LinkSpec)| link.pipes.iter().any(is_numbered));
    links.map(|(number, link)| (number, link.name.clone())).collect()
}

/// A warning for each of them on which a node's kernel speaks IPv6.
pub(crate) fn warn(plan: &Plan, names: &BTreeMap<usize, Spanned<String>>) -> Vec<Diagnostic> {
    let speaks = |link: usize| {
        plan.links[link].ends.iter().any(|end| {
            let node = &plan.nodes[end.node];
            node.kind.runs_programs() && node.interfaces[end.interface].addresses.iter().any(|net| net.addr().is_ipv6())
        })
    };
    let message = "packets with certain numbers are lost here, and those count that kernels send of themselves (with IPv6 reports of \
                   groups, and neighbour discovery), so the first ones are hardly a program's: to count a program's alone, put the loss \
                   into `pipes`, for example {web: {match: {protocol: tcp}, loss: ...}}";
    names.iter().filter(|(link, _)| speaks(**link)).map(|(_, name)| name.error(message)).collect()
}
