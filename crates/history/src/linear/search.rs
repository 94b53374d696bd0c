//! The search for an order.

use super::automaton::{Automaton, Call, Traces};
use crate::limits::Limits;
use std::collections::{BTreeMap, HashSet};

/// How far a search goes.
pub(super) struct Bounds<'a> {
    /// The memory for remembered states, in bytes.
    pub(super) memory_bytes: usize,
    /// How many steps are left; a search takes away its own.
    pub(super) steps: u64,
    /// Whether the time is over.
    pub(super) is_over: &'a dyn Fn() -> bool,
}

impl<'a> From<&Limits<'a>> for Bounds<'a> {
    fn from(limits: &Limits<'a>) -> Self {
        Self { memory_bytes: limits.memory_bytes, steps: u64::MAX, is_over: limits.is_over }
    }
}

/// The result of a search.
#[derive(Debug)]
pub(super) enum Found {
    /// An order that has all calls that completed.
    Order,
    /// The longest beginning of an order, since there is none of all.
    Stuck(Vec<usize>),
    /// Nothing within its bounds.
    Unknown,
}

/// After how many steps the search asks for the time.
const STEPS_PER_LOOK: u64 = 4096;
/// The bytes that an entry of the memory takes beside its contents.
const ENTRY: usize = 64;

/// Searches an order of the calls that the automaton allows.
pub(super) fn search<A: Automaton>(automaton: &A, calls: &[Call<A::Action>], bounds: &mut Bounds<'_>) -> Found {
    let mut calls = without_idle::<A>(calls);
    calls.sort_by_key(|call| call.start);
    let twins = twins(&calls);
    let mut chain = Chain::new(&calls);
    let mut placed = Placed::new(&calls);
    let mut state = automaton.initial();
    let mut stack: Vec<(usize, A::State)> = Vec::new();
    let mut longest: Vec<usize> = Vec::new();
    let mut seen: HashSet<(Box<[u32]>, A::State)> = HashSet::new();
    let mut memory = 0;
    let order = |placed_before: &[(usize, A::State)], entries: &Chain| -> Vec<usize> {
        placed_before.iter().map(|(entry, _)| calls[entries.call(*entry)].operation).collect()
    };
    let mut entry = chain.first();
    while placed.left > 0 {
        bounds.steps = bounds.steps.saturating_sub(1);
        let is_late = bounds.steps.is_multiple_of(STEPS_PER_LOOK) && (bounds.steps == 0 || (bounds.is_over)());
        if is_late || memory > bounds.memory_bytes {
            return Found::Unknown;
        }
        if entry == Chain::HEAD || chain.is_return(entry) {
            // A completed call must come before this, and none fits: the last one that was placed is wrong.
            if stack.len() > longest.len() {
                longest = order(&stack, &chain);
            }
            let Some((last, before)) = stack.pop() else { return Found::Stuck(longest) };
            state = before;
            placed.take_back(&calls, chain.call(last));
            chain.restore(last);
            entry = chain.after(last);
            continue;
        }
        let number = chain.call(entry);
        if let Some(next) = fitting(automaton, &calls[number], &state)
            && twins[number].is_none_or(|twin| placed.done[twin])
        {
            placed.place(&calls, number);
            let key = placed.key(&calls);
            memory += ENTRY + 4 * key.len() + A::size(&next);
            if seen.insert((key, next.clone())) {
                stack.push((entry, std::mem::replace(&mut state, next)));
                chain.remove(entry);
                entry = chain.first();
                continue;
            }
            placed.take_back(&calls, number);
        }
        entry = chain.after(entry);
    }
    Found::Order
}

/// Returns the state after a call, if it fits; none also if it may be left out and changes nothing.
fn fitting<A: Automaton>(automaton: &A, call: &Call<A::Action>, state: &A::State) -> Option<A::State> {
    automaton.step(state, &call.action).filter(|next| call.end.is_some() || next != state)
}

/// Returns the calls without those that may be left out and that nothing needs.
fn without_idle<A: Automaton>(calls: &[Call<A::Action>]) -> Vec<Call<A::Action>> {
    let mut kept = calls.to_vec();
    loop {
        let before = kept.len();
        let mut traces = Traces::default();
        for call in &kept {
            A::trace(&call.action, &mut traces);
        }
        kept.retain(|call| call.end.is_some() || !A::is_idle(&call.action, &traces));
        if kept.len() == before {
            return kept;
        }
    }
}

/// Returns for each call that may be left out the one before it with the same action: that one serves first.
fn twins<T: Ord>(calls: &[Call<T>]) -> Vec<Option<usize>> {
    let mut last: BTreeMap<&T, usize> = BTreeMap::new();
    let mut twins = vec![None; calls.len()];
    for (number, call) in calls.iter().enumerate() {
        if call.end.is_none() {
            twins[number] = last.insert(&call.action, number);
        }
    }
    twins
}

/// Which calls are placed.
struct Placed {
    done: Vec<bool>,
    /// How many calls that completed are not placed.
    left: usize,
    /// The first call that completed and is not placed.
    low: usize,
    /// The placed calls that may be left out, sorted.
    chosen: Vec<u32>,
}

impl Placed {
    fn new<T>(calls: &[Call<T>]) -> Self {
        let left = calls.iter().filter(|call| call.end.is_some()).count();
        let mut placed = Self { done: vec![false; calls.len()], left, low: 0, chosen: Vec::new() };
        placed.advance(calls);
        placed
    }

    fn advance<T>(&mut self, calls: &[Call<T>]) {
        while self.low < calls.len() && (self.done[self.low] || calls[self.low].end.is_none()) {
            self.low += 1;
        }
    }

    fn place<T>(&mut self, calls: &[Call<T>], number: usize) {
        self.done[number] = true;
        if calls[number].end.is_some() {
            self.left -= 1;
            self.advance(calls);
        } else if let Err(at) = self.chosen.binary_search(&small(number)) {
            self.chosen.insert(at, small(number));
        }
    }

    fn take_back<T>(&mut self, calls: &[Call<T>], number: usize) {
        self.done[number] = false;
        if calls[number].end.is_some() {
            self.left += 1;
            self.low = self.low.min(number);
        } else if let Ok(at) = self.chosen.binary_search(&small(number)) {
            self.chosen.remove(at);
        }
    }

    /// Returns what tells this set of placed calls from others. Behind the first call that is not placed, only those can be placed that
    /// began before it ended.
    fn key<T>(&self, calls: &[Call<T>]) -> Box<[u32]> {
        let mut key = vec![small(self.low)];
        let end = calls.get(self.low).and_then(|call| call.end).unwrap_or(0);
        for (number, call) in calls.iter().enumerate().skip(self.low) {
            if call.start > end {
                break;
            }
            if self.done[number] && call.end.is_some() {
                key.push(small(number));
            }
        }
        key.push(u32::MAX);
        key.extend(&self.chosen);
        key.into_boxed_slice()
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).expect("a history has fewer operations")
}

/// The events of all calls that are not placed, in order: a ring of entries, whose head stands for the end.
struct Chain {
    next: Vec<usize>,
    previous: Vec<usize>,
    /// The call of each entry.
    calls: Vec<usize>,
    /// The entry of the completion of an entry's call; itself for completions, the head if there is none.
    returns: Vec<usize>,
}

impl Chain {
    const HEAD: usize = 0;

    fn new<T>(calls: &[Call<T>]) -> Self {
        let starts = calls.iter().enumerate().map(|(number, call)| (call.start, false, number));
        let ends = calls.iter().enumerate().filter_map(|(number, call)| Some((call.end?, true, number)));
        let mut events: Vec<(usize, bool, usize)> = starts.chain(ends).collect();
        events.sort_unstable();
        let count = events.len() + 1;
        let mut return_of = vec![Self::HEAD; calls.len()];
        for (index, (_, is_return, number)) in events.iter().enumerate() {
            if *is_return {
                return_of[*number] = index + 1;
            }
        }
        Self {
            next: (1..=count).map(|entry| entry % count).collect(),
            previous: (0..count).map(|entry| (entry + count - 1) % count).collect(),
            calls: [usize::MAX].into_iter().chain(events.iter().map(|(_, _, number)| *number)).collect(),
            returns: [Self::HEAD].into_iter().chain(events.iter().map(|(_, _, number)| return_of[*number])).collect(),
        }
    }

    fn first(&self) -> usize {
        self.next[Self::HEAD]
    }

    fn after(&self, entry: usize) -> usize {
        self.next[entry]
    }

    fn call(&self, entry: usize) -> usize {
        self.calls[entry]
    }

    fn is_return(&self, entry: usize) -> bool {
        self.returns[entry] == entry
    }

    /// Takes the events of a call out, which its entry still knows.
    fn remove(&mut self, entry: usize) {
        self.unlink(entry);
        if self.returns[entry] != Self::HEAD {
            self.unlink(self.returns[entry]);
        }
    }

    /// Puts back what was taken out last.
    fn restore(&mut self, entry: usize) {
        if self.returns[entry] != Self::HEAD {
            self.link(self.returns[entry]);
        }
        self.link(entry);
    }

    fn unlink(&mut self, entry: usize) {
        let (before, after) = (self.previous[entry], self.next[entry]);
        self.next[before] = after;
        self.previous[after] = before;
    }

    fn link(&mut self, entry: usize) {
        let (before, after) = (self.previous[entry], self.next[entry]);
        self.next[before] = entry;
        self.previous[after] = entry;
    }
}
