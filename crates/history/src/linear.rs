//! Linearizability: whether operations on one object fit an order in which each takes effect at one instant between its invocation and
//! its completion. Objects are independent (Herlihy and Wing, 1990, theorem 1), so each key is searched alone.
//!
//! The search is that of Wing and Gong (1993) with Lowe's memory of states (2017), as in Porcupine (Athalye, 2017). It differs in what
//! it does with indeterminate operations: they need not be placed, those of one action are placed in the order of their invocations, and
//! those whose effect nothing can observe are left out.

mod automaton;
mod lock;
mod queue;
mod register;
mod search;
mod set;
mod shrink;

use crate::error::WrongHistory;
use crate::history::{History, Status};
use crate::limits::Limits;
use crate::outcome::{Contradiction, Outcome};
use crate::values::shown;
use automaton::{Automaton, Call};
pub(crate) use lock::Lock;
pub(crate) use queue::Queue;
pub(crate) use register::Register;
use search::{Found, search};
pub(crate) use set::ElementSet;
use std::collections::BTreeMap;

/// Checks each key of a history with an automaton of its own.
pub(crate) fn check_linear<A: Automaton>(
    history: &History,
    model: &'static str,
    limits: &Limits<'_>,
    make: impl Fn() -> A,
) -> Result<Outcome, WrongHistory> {
    let mut keys: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, operation) in history.operations().iter().enumerate() {
        keys.entry(operation.key_text()).or_default().push(index);
    }
    let mut contradictions = Vec::new();
    let mut unknown = Vec::new();
    for operations in keys.values() {
        let mut automaton = make();
        let calls = calls(history, operations, &mut automaton)?;
        match search(&automaton, &calls, &mut limits.into()) {
            Found::Order => {}
            Found::Stuck(_) => contradictions.push(contradiction(history, &automaton, &calls, limits)),
            Found::Unknown => unknown.push(operations[0]),
        }
    }
    let outcome = Outcome::new(model, contradictions, Vec::new());
    let Some(first) = unknown.first() else { return Ok(outcome) };
    let which = match &history.operations()[*first].key {
        Some(key) if unknown.len() == 1 => format!("key {}", shown(key)),
        Some(key) => format!("{} keys, {} among them", unknown.len(), shown(key)),
        None => "the history".to_owned(),
    };
    Ok(outcome.undecided(format!("{which}: the search reached its limit of time or memory")))
}

/// Returns what is to be placed.
fn calls<A: Automaton>(
    history: &History,
    operations: &[usize],
    automaton: &mut A,
) -> Result<Vec<Call<A::Action>>, WrongHistory> {
    let mut calls = Vec::new();
    for index in operations {
        let operation = &history.operations()[*index];
        if operation.status == Status::Fail {
            continue;
        }
        let action = automaton.action(operation).map_err(|message| history.wrong(operation, message))?;
        calls.extend(action.map(|action| Call {
            operation: *index,
            start: operation.start,
            end: operation.end,
            action,
        }));
    }
    Ok(calls)
}

/// Returns the few calls that suffice for a contradiction, in words.
fn contradiction<A: Automaton>(
    history: &History,
    automaton: &A,
    calls: &[Call<A::Action>],
    limits: &Limits<'_>,
) -> Contradiction {
    let core = shrink::shrink(automaton, calls, limits);
    let culprit = &history.operations()[core.culprit];
    let count = core.needed.len() + 1;
    let message = if core.needed.is_empty() {
        format!("nothing explains {}", history.describe(core.culprit))
    } else {
        format!("no order of these {count} operations explains {}", history.describe(core.culprit))
    };
    let operations = core.needed.into_iter().chain([core.culprit]).collect();
    let mut found = Contradiction::new("not linearizable", message, operations).about(culprit.key.as_ref());
    found.order = core.order;
    found
}

#[cfg(test)]
mod tests;
