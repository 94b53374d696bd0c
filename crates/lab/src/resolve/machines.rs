//! Which nodes are tied to a machine.

use super::names::{Index, index_of};
use crate::diagnostics::Spanned;
use crate::errors::{Errors, keep};
use crate::plan::{MachineChoice, NodePlan};
use crate::spec::{NodeSpec, Spec};

/// The machine of each node, as far as the file chooses one, and by which key its settings follow from its neighbours. Unknown machines
/// are noted.
pub(super) fn choices(spec: &Spec, errors: &mut Errors) -> Vec<(Option<MachineChoice>, Option<&'static str>)> {
    let names: Vec<Spanned<String>> = spec
        .machines
        .iter()
        .map(|own| Spanned { value: own.value.name.clone(), span: own.span, key: own.key.clone() })
        .collect();
    let index = Index::new("machine", names.iter(), false);
    let mut choice = |node: &NodeSpec| {
        let said = node.machine.as_ref()?;
        if names.is_empty() {
            return errors.reject(said.error(format!(
                "the lab has no `machines`: write for example `machines: {{{}: {{}}, other: {{}}}}`, or leave this out",
                said.value
            )));
        }
        let machine = keep(index_of(&index, said), errors)??;
        Some(MachineChoice { line: said.span.line, machine })
    };
    spec.nodes.iter().map(|node| (choice(node), bound_by(node))).collect()
}

/// Takes over what the lab file says of each node.
pub(super) fn settle(nodes: &mut [NodePlan], chosen: Vec<(Option<MachineChoice>, Option<&'static str>)>) {
    for (node, (machine, key)) in nodes.iter_mut().zip(chosen) {
        (node.machine, node.bound_by) = (machine, key);
    }
}

/// The key of a node whose meaning depends on who is at the other ends of its links.
fn bound_by(node: &NodeSpec) -> Option<&'static str> {
    let keys = [
        (!node.routing.daemons.is_empty(), "daemons"),
        (!node.rules.is_empty(), "rules"),
        (node.multihomed.is_some(), "multihomed"),
        (node.nat.is_some(), "nat"),
        (node.openflow.controller.is_some(), "controller"),
    ];
    keys.into_iter().find(|(is_there, _)| *is_there).map(|(_, key)| key)
}
