//! The few calls that suffice for a contradiction.
//!
//! First the shortest beginning of the history that has no order: its last completion is the culprit. Then as many of its other calls as
//! possible are set free: a read is left out, anything else may take effect at any time, or never. What then still has no order contradicts the
//! model by itself, whatever the free calls did.

use super::automaton::{Automaton, Call};
use super::search::{Bounds, Found, search};
use crate::limits::Limits;

/// How many steps all searches together may take, and one of them.
const ALL_STEPS: u64 = 3_000_000;
const STEPS: u64 = 300_000;

/// A contradiction: calls by their operations.
pub(super) struct Core {
    /// The calls without which there would be an order, but for the culprit.
    pub(super) needed: Vec<usize>,
    /// The last completion of the shortest beginning that has no order.
    pub(super) culprit: usize,
    /// The longest order of the needed calls.
    pub(super) order: Vec<usize>,
}

/// Returns a small contradiction among calls that have no order.
pub(super) fn shrink<A: Automaton>(automaton: &A, calls: &[Call<A::Action>], limits: &Limits<'_>) -> Core {
    let mut shrinking = Shrinking { automaton, limits, steps: ALL_STEPS };
    let mut ends: Vec<usize> = calls.iter().filter_map(|call| call.end).collect();
    ends.sort_unstable();
    // The beginning up to `ends[high]` has no order; of those before `low` it is known, or believed, that they have one.
    let (mut low, mut high) = (0, ends.len() - 1);
    while low < high {
        let middle = low.midpoint(high);
        if shrinking.is_stuck(&beginning::<A>(calls, ends[middle])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let beginning = beginning::<A>(calls, ends[high]);
    let at = beginning.iter().position(|call| call.end == Some(ends[high])).expect("some call ends there");
    let culprit = beginning[at].operation;
    let needed = shrinking.needed(&beginning, at);
    let core: Vec<Call<A::Action>> = relaxed::<A>(&beginning, &needed);
    let mut bounds = Bounds { steps: STEPS, ..shrinking.bounds() };
    let order = match search(automaton, &core, &mut bounds) {
        Found::Stuck(order) => order,
        Found::Order | Found::Unknown => Vec::new(),
    };
    // Of a call without an end, its invocation may be what counts.
    let kept = (0..beginning.len()).filter(|number| needed[*number] && *number != at);
    let operations: Vec<usize> = kept.map(|number| beginning[number].operation).collect();
    let order = order.into_iter().filter(|one| operations.contains(one)).collect();
    Core { needed: operations, culprit, order }
}

/// Returns the calls of a history that ends with a completion. What has not completed by then may still take effect.
fn beginning<A: Automaton>(calls: &[Call<A::Action>], last: usize) -> Vec<Call<A::Action>> {
    let begun = calls.iter().filter(|call| call.start < last);
    let cut = begun.map(|call| Call { end: call.end.filter(|end| *end <= last), ..call.clone() });
    cut.filter(|call| call.end.is_some() || !A::observes(&call.action)).collect()
}

/// Returns the calls with those set free that are not needed.
fn relaxed<A: Automaton>(calls: &[Call<A::Action>], needed: &[bool]) -> Vec<Call<A::Action>> {
    let free = calls.iter().zip(needed).filter_map(|(call, is_needed)| match is_needed {
        true => Some(call.clone()),
        false if A::observes(&call.action) => None,
        false => Some(Call { start: 0, end: None, ..call.clone() }),
    });
    free.collect()
}

struct Shrinking<'a, A> {
    automaton: &'a A,
    limits: &'a Limits<'a>,
    steps: u64,
}

impl<'a, A: Automaton> Shrinking<'a, A> {
    fn bounds(&self) -> Bounds<'a> {
        let Limits { memory_bytes, is_over } = *self.limits;
        Bounds { memory_bytes, steps: self.steps.min(STEPS), is_over }
    }

    /// Whether calls certainly have no order.
    fn is_stuck(&mut self, calls: &[Call<A::Action>]) -> bool {
        let mut bounds = self.bounds();
        let before = bounds.steps;
        let is_stuck = matches!(search(self.automaton, calls, &mut bounds), Found::Stuck(_));
        // Calls that are looked at cost, too.
        self.steps = self.steps.saturating_sub(before - bounds.steps + calls.len() as u64 / 8);
        is_stuck
    }

    /// Sets calls free, many at first and then fewer, as long as there is no order, and says which are still needed.
    fn needed(&mut self, calls: &[Call<A::Action>], culprit: usize) -> Vec<bool> {
        let mut needed = vec![true; calls.len()];
        let mut size = calls.len();
        while size > 0 {
            let mut changed = false;
            let open: Vec<usize> = (0..calls.len()).filter(|number| needed[*number] && *number != culprit).collect();
            for group in open.chunks(size) {
                let mut tried = needed.clone();
                for number in group {
                    tried[*number] = false;
                }
                if self.steps > 0 && self.is_stuck(&relaxed::<A>(calls, &tried)) {
                    needed = tried;
                    changed = true;
                }
            }
            // With fewer calls others may be superfluous as well.
            size = if changed && size == 1 { 1 } else { size / 2 };
        }
        needed
    }
}
