//! Sequential objects, and calls of them.

use crate::history::Operation;
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;

/// A call that is to be placed in an order.
#[derive(Clone, Debug)]
pub(super) struct Call<T> {
    /// The number of its operation.
    pub(super) operation: usize,
    /// The place of its invocation.
    pub(super) start: usize,
    /// The place of its completion. A call without one may be placed anywhere behind its invocation, or nowhere.
    pub(super) end: Option<usize>,
    /// The action.
    pub(super) action: T,
}

/// Values, elements or processes that all calls together show and make.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traces {
    /// The ones that some call needs to find.
    pub(super) shown: BTreeSet<u32>,
    /// The ones that some call brings.
    pub(super) made: BTreeSet<u32>,
}

/// An object that carries out one action after the other.
pub(crate) trait Automaton {
    /// The memory of the object.
    type State: Clone + Debug + Eq + Hash;
    /// A call, with what it returned.
    type Action: Clone + Debug + Ord;

    /// Returns the action of an operation that took effect or may have; none if it says nothing, such as a read that returned nothing.
    ///
    /// # Errors
    /// What is wrong with its values.
    fn action(&mut self, operation: &Operation) -> Result<Option<Self::Action>, String>;

    /// Returns the state at the beginning.
    fn initial(&self) -> Self::State;

    /// Returns the state after an action; none if the action cannot return what it did.
    fn step(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State>;

    /// Whether an action changes nothing.
    fn observes(action: &Self::Action) -> bool;

    /// Notes what an action shows of the effects of others, and what it makes.
    fn trace(action: &Self::Action, traces: &mut Traces);

    /// Whether no order needs an action that may be left out, since nothing shows its effect.
    fn is_idle(action: &Self::Action, traces: &Traces) -> bool;

    /// The memory that a state takes, in bytes.
    fn size(state: &Self::State) -> usize;
}
