//! Unique identifiers: no two calls return the same.

use super::objects::objects;
use crate::error::WrongHistory;
use crate::history::History;
use crate::outcome::{Contradiction, Outcome};
use crate::values::shown;
use serde_json::Value;
use std::collections::BTreeMap;

/// Checks that all identifiers of a key differ.
pub(crate) fn check(history: &History) -> Result<Outcome, WrongHistory> {
    let mut contradictions = Vec::new();
    for object in objects(history) {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for (index, operation) in object.done("generate") {
            let id = operation.brought().map_err(|message| history.wrong(operation, message))?;
            if *id == Value::Null {
                return Err(history.wrong(operation, "`value` is null: the identifier would be right".to_owned()));
            }
            if let Some(first) = known.get(&id.to_string()) {
                let (before, after) = (history.describe(*first), history.describe(index));
                let message = format!("the identifier {} was given twice: to {before}, and to {after}", shown(id));
                contradictions.push(Contradiction::new("duplicate", message, vec![*first, index]).about(object.key));
                continue;
            }
            known.insert(id.to_string(), index);
        }
    }
    Ok(Outcome::new("ids", contradictions, Vec::new()))
}
