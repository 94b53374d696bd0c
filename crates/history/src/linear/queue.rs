//! Queues: first in, first out.

use super::automaton::{Automaton, Traces};
use crate::history::{Operation, Status};
use crate::values::Numbers;
use serde_json::Value;

/// A queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    numbers: Numbers,
}

/// Actions on a queue; elements are numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum QueueAction {
    Enqueue(u32),
    Dequeue(u32),
    /// A dequeue that found nothing.
    FindEmpty,
    /// A dequeue of which nobody knows what it took.
    TakeAny,
}

use QueueAction::{Dequeue, Enqueue, FindEmpty, TakeAny};

impl Automaton for Queue {
    type State = Vec<u32>;
    type Action = QueueAction;

    fn action(&mut self, operation: &Operation) -> Result<Option<Self::Action>, String> {
        Ok(Some(match (operation.function.as_str(), operation.status) {
            ("enqueue", _) => Enqueue(self.numbers.of(operation.given())),
            (_, Status::Info) => TakeAny,
            _ => match operation.brought()? {
                Value::Null => FindEmpty,
                value => Dequeue(self.numbers.of(value)),
            },
        }))
    }

    fn initial(&self) -> Self::State {
        Vec::new()
    }

    fn step(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State> {
        match action {
            Enqueue(element) => Some(state.iter().copied().chain([*element]).collect()),
            Dequeue(element) => (state.first() == Some(element)).then(|| state[1..].to_vec()),
            FindEmpty => state.is_empty().then(Vec::new),
            TakeAny => (!state.is_empty()).then(|| state[1..].to_vec()),
        }
    }

    fn observes(action: &Self::Action) -> bool {
        matches!(action, FindEmpty)
    }

    fn trace(action: &Self::Action, traces: &mut Traces) {
        match action {
            Enqueue(element) => traces.made.insert(*element),
            Dequeue(element) => traces.shown.insert(*element),
            FindEmpty | TakeAny => false,
        };
    }

    /// Nobody needs an element that nobody takes, or to take what nobody brings.
    fn is_idle(action: &Self::Action, traces: &Traces) -> bool {
        match action {
            Enqueue(element) => !traces.shown.contains(element),
            Dequeue(element) => !traces.made.contains(element),
            FindEmpty => true,
            TakeAny => false,
        }
    }

    fn size(state: &Self::State) -> usize {
        4 * state.len()
    }
}
