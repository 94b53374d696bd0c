//! Registers with compare-and-set.

use super::automaton::{Automaton, Traces};
use crate::history::{Operation, Status};
use crate::values::{Numbers, list};
use serde_json::Value;

/// A register of one value.
#[derive(Clone, Debug)]
pub(crate) struct Register {
    numbers: Numbers,
    initial: u32,
}

/// Actions on a register; values are numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RegisterAction {
    Read(u32),
    Write(u32),
    Cas(u32, u32),
}

use RegisterAction::{Cas, Read, Write};

impl Register {
    /// Returns a register that holds a value.
    pub(crate) fn new(initial: &Value) -> Self {
        let mut numbers = Numbers::default();
        let initial = numbers.of(initial);
        Self { numbers, initial }
    }
}

impl Automaton for Register {
    type State = u32;
    type Action = RegisterAction;

    fn action(&mut self, operation: &Operation) -> Result<Option<Self::Action>, String> {
        Ok(match operation.function.as_str() {
            "read" if operation.status == Status::Info => None,
            "read" => Some(Read(self.numbers.of(operation.brought()?))),
            "write" => Some(Write(self.numbers.of(operation.given()))),
            _ => match list(operation.given(), "[old, new]")? {
                [old, new] => Some(Cas(self.numbers.of(old), self.numbers.of(new))),
                other => return Err(format!("`value` has {} elements: [old, new] would be right", other.len())),
            },
        })
    }

    fn initial(&self) -> Self::State {
        self.initial
    }

    fn step(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State> {
        match action {
            Read(value) => (state == value).then_some(*state),
            Write(value) => Some(*value),
            Cas(old, new) => (state == old).then_some(*new),
        }
    }

    fn observes(action: &Self::Action) -> bool {
        matches!(action, Read(_))
    }

    fn trace(action: &Self::Action, traces: &mut Traces) {
        if let Read(value) | Cas(value, _) = action {
            traces.shown.insert(*value);
        }
    }

    /// A value that nobody reads or compares with is as if it had not been written: what comes next writes another.
    fn is_idle(action: &Self::Action, traces: &Traces) -> bool {
        match action {
            Write(written) | Cas(_, written) => !traces.shown.contains(written),
            Read(_) => true,
        }
    }

    fn size(_: &Self::State) -> usize {
        0
    }
}
