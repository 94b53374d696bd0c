//! Warnings about nodes that cannot reach one another.

use crate::diagnostics::Diagnostic;
use crate::plan::NodeKind;
use crate::resolve::ends::Ends;
use crate::spec::Spec;

/// Warns about a lab in several parts, and about hosts that look as if they were to forward.
pub(super) fn warn(spec: &Spec, kinds: &[NodeKind], ends: &[Ends], is_complete: bool, warnings: &mut Vec<Diagnostic>) {
    if ends.is_empty() {
        return;
    }
    let parts = parts(kinds.len(), ends);
    let apart = (0..kinds.len()).find(|node| parts[*node] != parts[0]);
    if let Some(node) = apart {
        let message = format!(
            "no links lead from `{}` to `{}`: they cannot reach one another",
            spec.nodes[0].name.value, spec.nodes[node].name.value
        );
        warnings.push(spec.nodes[node].name.error(message));
    }
    if is_complete || apart.is_some() {
        return;
    }
    for (node, kind) in spec.nodes.iter().zip(kinds).enumerate().filter_map(|(index, (node, kind))| {
        let links = ends.iter().filter(|ends| ends.plans.iter().any(|end| end.node == index)).count();
        (links > 1).then_some((node, kind))
    }) {
        if *kind == NodeKind::Host {
            let message = "this host has several links and forwards nothing, so that some nodes cannot reach one another: \
                           is `kind: router` meant?";
            warnings.push(node.name.error(message));
        }
    }
}

/// For each node the lowest node that links connect it to, whether they forward or not.
fn parts(nodes: usize, ends: &[Ends]) -> Vec<usize> {
    let mut parents: Vec<usize> = (0..nodes).collect();
    for link in ends {
        let [a, b] = link.plans.map(|end| root(&mut parents, end.node));
        parents[a.max(b)] = a.min(b);
    }
    (0..nodes).map(|node| root(&mut parents, node)).collect()
}

fn root(parents: &mut [usize], mut node: usize) -> usize {
    while parents[node] != node {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    node
}
