//! Monotone reads: no process reads less than it has read before.

use super::objects::objects;
use crate::error::WrongHistory;
use crate::history::History;
use crate::outcome::{Contradiction, Outcome};
use crate::values::whole;
use std::collections::BTreeMap;

/// Checks the reads of each process.
pub(crate) fn check(history: &History) -> Result<Outcome, WrongHistory> {
    let mut contradictions = Vec::new();
    for object in objects(history) {
        let mut last: BTreeMap<(usize, &str), (i64, usize)> = BTreeMap::new();
        for (index, read) in object.done("read") {
            let found = read.brought().and_then(|value| whole(value, "what grows"));
            let found = found.map_err(|message| history.wrong(read, message))?;
            let greatest = last.entry((read.file, &read.process)).or_insert((found, index));
            if found < greatest.0 {
                let (before, after) = (history.describe(greatest.1), history.describe(index));
                let message = format!("{after} goes back behind {before}");
                contradictions
                    .push(Contradiction::new("went back", message, vec![greatest.1, index]).about(object.key));
            } else {
                *greatest = (found, index);
            }
        }
    }
    Ok(Outcome::new("monotone", contradictions, Vec::new()))
}
