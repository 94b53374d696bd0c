//! Sets.

use super::automaton::{Automaton, Traces};
use crate::history::{Operation, Status};
use crate::values::{Numbers, list};

/// A set of elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementSet {
    numbers: Numbers,
}

/// Actions on a set; elements are numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SetAction {
    Add(u32),
    Remove(u32),
    Contains(u32, bool),
    Read(Vec<u32>),
}

use SetAction::{Add, Contains, Read, Remove};

impl Automaton for ElementSet {
    /// The elements, sorted.
    type State = Vec<u32>;
    type Action = SetAction;

    fn action(&mut self, operation: &Operation) -> Result<Option<Self::Action>, String> {
        let observes = matches!(operation.function.as_str(), "contains" | "read");
        if observes && operation.status == Status::Info {
            return Ok(None);
        }
        Ok(Some(match operation.function.as_str() {
            "add" => Add(self.numbers.of(operation.given())),
            "remove" => Remove(self.numbers.of(operation.given())),
            "contains" => {
                let found = operation.brought()?;
                let wrong = || format!("`value` of an `ok` of `contains` is {found}: true or false would be right");
                Contains(self.numbers.of(&operation.value), found.as_bool().ok_or_else(wrong)?)
            }
            _ => {
                let elements = list(operation.brought()?, "the elements")?;
                let mut elements: Vec<u32> = elements.iter().map(|element| self.numbers.of(element)).collect();
                elements.sort_unstable();
                Read(elements)
            }
        }))
    }

    fn initial(&self) -> Self::State {
        Vec::new()
    }

    fn step(&self, state: &Self::State, action: &Self::Action) -> Option<Self::State> {
        match action {
            Add(element) => Some(changed(state, *element, true)),
            Remove(element) => Some(changed(state, *element, false)),
            Contains(element, found) => (state.binary_search(element).is_ok() == *found).then(|| state.clone()),
            Read(elements) => (state == elements).then(|| state.clone()),
        }
    }

    fn observes(action: &Self::Action) -> bool {
        matches!(action, Contains(..) | Read(_))
    }

    fn trace(action: &Self::Action, traces: &mut Traces) {
        match action {
            Contains(element, true) => {
                traces.shown.insert(*element);
            }
            Read(elements) => traces.shown.extend(elements),
            Add(element) => {
                traces.made.insert(*element);
            }
            Contains(_, false) | Remove(_) => {}
        }
    }

    /// Nobody needs an element that no read shows, or to remove what nobody adds.
    fn is_idle(action: &Self::Action, traces: &Traces) -> bool {
        match action {
            Add(element) => !traces.shown.contains(element),
            Remove(element) => !traces.made.contains(element),
            Contains(..) | Read(_) => true,
        }
    }

    fn size(state: &Self::State) -> usize {
        4 * state.len()
    }
}

/// Returns a set with or without an element.
fn changed(state: &[u32], element: u32, is_in: bool) -> Vec<u32> {
    let mut state = state.to_vec();
    match state.binary_search(&element) {
        Ok(at) if !is_in => {
            state.remove(at);
        }
        Err(at) if is_in => state.insert(at, element),
        _ => {}
    }
    state
}
