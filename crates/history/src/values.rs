//! Values of operations: how they are shown, counted and numbered.

use serde_json::Value;
use std::collections::BTreeMap;

/// How much of a value a message shows, in characters.
const SHOWN: usize = 60;

/// Returns a value as it stands in a message: as JSON, cut where it is long.
pub(crate) fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        return text;
    }
    let head: String = text.chars().take(SHOWN - 1).collect();
    format!("{head}…")
}

/// Returns a value as a whole number, or says what would be right.
pub(crate) fn whole(value: &Value, what: &str) -> Result<i64, String> {
    value.as_i64().ok_or_else(|| format!("`value` is {}: {what}, a whole number, would be right", shown(value)))
}

/// Returns a value as a list, or says what would be right.
pub(crate) fn list<'a>(value: &'a Value, what: &str) -> Result<&'a [Value], String> {
    let found = value.as_array().map(Vec::as_slice);
    found.ok_or_else(|| format!("`value` is {}: {what}, a list, would be right", shown(value)))
}

/// Numbers for values, in the order of their first appearance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    known: BTreeMap<String, u32>,
}

impl Numbers {
    /// Returns the number of a value, the same for the same value.
    pub(crate) fn of(&mut self, value: &Value) -> u32 {
        let next = u32::try_from(self.known.len()).expect("a history has fewer values");
        *self.known.entry(value.to_string()).or_insert(next)
    }
}
