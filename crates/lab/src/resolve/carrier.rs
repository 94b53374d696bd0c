//! The carriers of interfaces, which cuts may take away.

use super::names::{Places, index_of};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::plan::{LinkPart, Stack};

/// The error of a carrier that cannot go.
pub(super) fn without_carrier(part: &LinkPart, carrier: &Spanned<()>, places: &Places<'_>) -> Option<Diagnostic> {
    if part.direction.is_some() || part.pipe.is_some() {
        return Some(carrier.error("an interface has one carrier for all: leave out `direction` and `pipe`"));
    }
    let mut ends = places.spec.links[part.link].ends.iter().map(|end| &end.node);
    let is_vm = |name: &&Spanned<String>| {
        let node = index_of(places.nodes, name).ok().flatten();
        node.and_then(|node| places.stacks.get(node)).is_some_and(|stack| *stack == Stack::Vm)
    };
    let node = &ends.find(is_vm)?.value;
    Some(carrier.error(format!(
        "node `{node}` is a virtual machine, whose interfaces always have a carrier: write `down: true` or a time, or give the \
         node `stack: kernel`, or `stack: namespace` in real time"
    )))
}
