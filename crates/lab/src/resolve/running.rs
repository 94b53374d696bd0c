//! Whether programs can run in a node.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::plan::NodeKind;
use crate::spec::NodeSpec;

/// The error of something that is to run on a transit router.
pub(super) fn runs_nothing(node: &Spanned<String>, kind: NodeKind) -> Option<Diagnostic> {
    let (name, what) = (&node.value, kind.titled());
    let instead = if kind.has_addresses() { format!(", or write `{name}: {{kind: router}}`") } else { String::new() };
    let message = format!("`{name}` is {what} and runs no programs: choose another node{instead}");
    (!kind.runs_programs()).then(|| node.error(message))
}

/// The error of something that is to run in a machine that the lab does not get into.
pub(super) fn closed(place: &Spanned<String>, node: &NodeSpec) -> Option<Diagnostic> {
    node.is_closed().then(|| {
        place.error(format!(
            "`{}` is a virtual machine that netloom does not get into (`access: none`): choose another node, or write `access: agent`",
            place.value
        ))
    })
}
