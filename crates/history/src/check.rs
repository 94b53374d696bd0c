//! Calls the checker of a model.

use crate::error::WrongHistory;
use crate::history::History;
use crate::limits::Limits;
use crate::linear::{ElementSet, Lock, Queue, Register, check_linear};
use crate::model::Model;
use crate::outcome::Outcome;
use crate::{append, plain};

/// Says whether a model explains a history.
///
/// # Errors
/// The first operation that the model does not know, or whose value it cannot have.
pub fn check(history: &History, model: &Model, limits: &Limits<'_>) -> Result<Outcome, WrongHistory> {
    check_functions(history, model)?;
    let name = model.name();
    let outcome = match model {
        Model::Register { initial } | Model::Cas { initial } => {
            check_linear(history, name, limits, || Register::new(initial))?
        }
        Model::Set => check_linear(history, name, limits, ElementSet::default)?,
        Model::Queue => check_linear(history, name, limits, Queue::default)?,
        Model::Mutex => check_linear(history, name, limits, Lock::default)?,
        Model::SetFull { strict } => plain::set_full::check(history, *strict)?,
        Model::Counter { initial } => plain::counter::check(history, *initial)?,
        Model::Ids => plain::ids::check(history)?,
        Model::TotalQueue { strict } => plain::total_queue::check(history, *strict)?,
        Model::Fencing => plain::fencing::check(history)?,
        Model::Monotone => plain::monotone::check(history)?,
        Model::Bank { total } => plain::bank::check(history, *total)?,
        Model::Log => plain::log::check(history)?,
        Model::Append { isolation } => append::check(history, *isolation)?,
    };
    Ok(outcome)
}

fn check_functions(history: &History, model: &Model) -> Result<(), WrongHistory> {
    let known = model.functions();
    if known.is_empty() {
        return Ok(());
    }
    match history.operations().iter().find(|one| !known.contains(&one.function.as_str())) {
        None => Ok(()),
        Some(other) => {
            let (function, name, names) = (&other.function, model.name(), known.join(", "));
            let message = format!("`f` is {function:?}: the model `{name}` knows {names}");
            Err(WrongHistory { file: history.files[other.file].clone(), line: Some(other.line), message })
        }
    }
}
