//! Transactions that append to lists and read them, as Elle checks them (Kingsbury and Alvaro, "Elle: Inferring Isolation Anomalies from
//! Experimental Observations", VLDB 2020): the reads of a list show the order of its versions, and from that follow which transaction
//! must come before which. A circle of these dependencies is an anomaly of Adya's (1999):
//!
//! | anomaly | what |
//! |---|---|
//! | G0 | a circle of writes (ww) |
//! | G1a | a read of what a failed transaction wrote |
//! | G1b | a read of what a transaction wrote before its last write |
//! | G1c | a circle of writes and reads (ww, wr) |
//! | G-single | a circle with one read of what is overwritten (rw) |
//! | G2 | a circle with several of those |
//!
//! It differs from Elle: a transaction that committed and whose element no read shows comes behind the longest list that was read, and
//! circles with two rw that are not neighbours count as G2.

mod cycles;
mod graph;
mod infer;
mod parse;

use crate::error::WrongHistory;
use crate::history::History;
use crate::model::Isolation;
use crate::outcome::{Contradiction, Outcome};
use cycles::cycles;
use infer::infer;
use parse::transactions;

/// Checks transactions against what a level of isolation forbids.
pub(crate) fn check(history: &History, isolation: Isolation) -> Result<Outcome, WrongHistory> {
    let transactions = transactions(history)?;
    let inferred = infer(history, &transactions)?;
    let mut found: Vec<Contradiction> = inferred.anomalies;
    found.extend(cycles(history, &inferred.graph, isolation == Isolation::StrictSerializable));
    let (forbidden, allowed): (Vec<_>, Vec<_>) = found.into_iter().partition(|one| level_of(one.kind) <= isolation);
    let mut notes = inferred.notes;
    let mut kinds: Vec<&str> = allowed.iter().map(|one| one.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if !kinds.is_empty() {
        notes.push(format!("{} allows what was found: {}", isolation.name(), kinds.join(", ")));
    }
    Ok(Outcome::new("append", forbidden, notes))
}

/// Returns the weakest level that forbids an anomaly.
fn level_of(kind: &str) -> Isolation {
    match kind {
        "internal" | "G-single" => Isolation::Snapshot,
        "G2" => Isolation::Serializable,
        real_time if real_time.ends_with("-realtime") => Isolation::StrictSerializable,
        _ => Isolation::ReadCommitted,
    }
}

#[cfg(test)]
mod tests;
