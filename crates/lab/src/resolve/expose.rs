//! Which ways from this machine into nodes there can be.

use crate::diagnostics::{Diagnostic, Span};
use crate::plan::Clock;
use crate::spec::Spec;
use std::collections::BTreeMap;

/// Errors about ports that lead to two places, and about those that cannot lead anywhere.
pub(super) fn check(spec: &Spec) -> Vec<Diagnostic> {
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
