//! Locks.

use super::automaton::{Automaton, Traces};
use crate::history::Operation;
use crate::values::Numbers;
use serde_json::Value;

/// A lock that one process holds, or none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lock {
    processes: Numbers,
}

/// Actions of a process on a lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LockAction {
    Acquire(u32),
    Release(u32),
}

use LockAction::{Acquire, Release};

impl Automaton for Lock {
    type State = Option<u32>;
    type Action = LockAction;

    fn action(&mut self, operation: &Operation) -> Result<Option<Self::Action>, String> {
        let process = self.processes.of(&Value::from(format!("{} {}", operation.file, operation.process)));
        Ok(Some(if operation.function == "acquire" { Acquire(process) } else { Release(process) }))
    }

    fn initial(&self) -> Self::State {
        None
    }

    fn step(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State> {
        match action {
            Acquire(process) => state.is_none().then_some(Some(*process)),
            Release(process) => (*state == Some(*process)).then_some(None),
        }
    }

    fn observes(_: &Self::Action) -> bool {
        false
    }

    fn trace(action: &Self::Action, traces: &mut Traces) {
        match action {
            Acquire(process) => traces.made.insert(*process),
            Release(process) => traces.shown.insert(*process),
        };
    }

    /// Only who releases needs an acquisition that may not have happened, and the other way round.
    fn is_idle(action: &Self::Action, traces: &Traces) -> bool {
        match action {
            Acquire(process) => !traces.shown.contains(process),
            Release(process) => !traces.made.contains(process),
        }
    }

    fn size(_: &Self::State) -> usize {
        0
    }
}
