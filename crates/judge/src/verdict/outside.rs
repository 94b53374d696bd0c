//! What came over the network from outside of the lab: its clients, and the machine that all labs share.

use super::{Allowed, Evidence, NetworkChange, NodeEvidence, list};
use crate::Finding;

/// The run was of another network than the lab file's, or packets were lost for want of what the machine has once for all.
pub(super) fn findings(allowed: &Allowed, evidence: &Evidence) -> impl Iterator<Item = Finding> {
    let changed = list(evidence.interventions.iter().filter(|one| one.alters_link && !allowed.changes));
    let changed = (!changed.is_empty()).then(|| Finding {
        subject: "network".into(),
        text: format!(
            "a client changed it during the run, which its lab file does not say: {changed} (`changes` in `bounds` allows that)"
        ),
        slowing: None,
    });
    let full = (evidence.overflows > 0).then(|| Finding {
        subject: "machine".into(),
        text: format!(
            "its table of neighbours, one for all labs, was full {} times: kernels dropped packets outside the models (raise \
             net.ipv4.neigh.default.gc_thresh3 and net.ipv6.neigh.default.gc_thresh3, as netloom does where root starts it)",
            evidence.overflows
        ),
        slowing: None,
    });
    let lost = evidence.nodes.iter().filter(|node| met_full_table(evidence, node)).map(|node| Finding {
        subject: format!("node {}", node.name),
        text: format!(
            "{}, while the table of neighbours that it shares with all labs was full",
            node.discards.join("; ")
        ),
        slowing: None,
    });
    changed.into_iter().chain(full).chain(lost)
}

/// What kernels of nodes had to send and discarded, while nothing outside of the lab is known to have caused it. Linux counts there what
/// a firewall, a queue or an interface of the node itself refused, and so it says nothing against the described links.
pub(super) fn discards(evidence: &Evidence) -> impl Iterator<Item = String> {
    let told = |node: &NodeEvidence| {
        format!(
            "node {}: {}: its firewall, a queue or an interface of its own refused them, an interface had no carrier, or a \
             next hop could not be asked for",
            node.name,
            node.discards.join("; ")
        )
    };
    evidence.nodes.iter().filter(|node| !node.discards.is_empty() && !met_full_table(evidence, node)).map(told)
}

/// Whether packets of this node may have been discarded since the table of neighbours that all labs share was full.
fn met_full_table(evidence: &Evidence, node: &NodeEvidence) -> bool {
    evidence.overflows > 0 && !node.has_own_neighbors && !node.discards.is_empty()
}

/// What clients did otherwise, or were allowed to do.
pub(super) fn note(allowed: &Allowed, interventions: &[NetworkChange]) -> Option<String> {
    let others = list(interventions.iter().filter(|one| !one.alters_link || allowed.changes));
    (!others.is_empty()).then(|| format!("what clients did during the run, which the lab file does not say: {others}"))
}
