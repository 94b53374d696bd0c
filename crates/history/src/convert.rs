//! Histories as other checkers read them.

use crate::history::{History, Operation, Status};
use netloom_units::Instant;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Returns a history as the JSON that elle-cli reads: an array of events with numbered processes. A process that goes on after an indeterminate
/// operation gets a new number, as Jepsen has it.
pub fn to_elle(history: &History) -> String {
    let mut events: Vec<(usize, Value)> = Vec::new();
    let mut processes = Processes::default();
    for operation in &history.operations {
        let process = processes.number(operation);
        let event = |kind: &str, value: &Value, time: Option<Instant>| {
            let mut event = json!({"process": process, "type": kind, "f": operation.function, "value": value});
            if let Some(key) = &operation.key {
                event["key"] = key.clone();
            }
            if let Some(time) = time {
                event["time"] = json!(time.as_nanos());
            }
            event
        };
        events.push((operation.start, event("invoke", &operation.value, operation.invoked)));
        let result = operation.result.as_ref().unwrap_or(&operation.value);
        match (operation.status, operation.end) {
            (Status::Info, _) | (_, None) => events.push((usize::MAX, event("info", result, operation.completed))),
            (Status::Ok, Some(end)) => events.push((end, event("ok", result, operation.completed))),
            (Status::Fail, Some(end)) => events.push((end, event("fail", result, operation.completed))),
        }
    }
    events.sort_by_key(|(place, _)| *place);
    let mut text = String::from("[");
    for (index, (_, mut event)) in events.into_iter().enumerate() {
        event["index"] = json!(index);
        let _ = write!(text, "{}{event}", if index == 0 { "" } else { ",\n" });
    }
    text.push_str("]\n");
    text
}

/// Returns a history as an array that `encoding/json` of Go reads into a `[]porcupine.Operation`. Times are places in the order of events; operations
/// that failed are left out, and indeterminate ones return last of all, with the output null.
pub fn to_porcupine(history: &History) -> String {
    let mut processes = Processes::default();
    let last = 2 * history.operations.len() + 1;
    let mut lines = Vec::new();
    for operation in &history.operations {
        let process = processes.number(operation);
        if operation.status == Status::Fail {
            continue;
        }
        let output = if operation.status == Status::Ok { operation.result.clone() } else { None };
        let line = json!({
            "ClientId": process,
            "Input": {"f": operation.function, "key": operation.key, "value": operation.value},
            "Call": operation.start,
            "Output": output,
            "Return": operation.end.unwrap_or(last),
        });
        lines.push(line.to_string());
    }
    format!("[{}]\n", lines.join(",\n"))
}

/// Numbers of processes.
#[derive(Default)]
struct Processes {
    numbers: BTreeMap<(usize, String), usize>,
    next: usize,
}

impl Processes {
    /// Returns the number of the process of an operation.
    fn number(&mut self, operation: &Operation) -> usize {
        let name = (operation.file, operation.process.clone());
        let number = *self.numbers.entry(name.clone()).or_insert(self.next);
        self.next = self.next.max(number + 1);
        if operation.end.is_none() {
            // Its operation goes on; the next one needs another process.
            self.numbers.remove(&name);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    const TEXT: &str = r#"{"process": "a", "type": "invoke", "f": "write", "key": "x", "value": 1, "time": 5}
{"process": "a", "type": "info", "time": 6}
{"process": "a", "type": "invoke", "f": "read", "key": "x", "time": 7}
{"process": "b", "type": "invoke", "f": "write", "key": "x", "value": 2, "time": 8}
{"process": "b", "type": "fail", "time": 9}
{"process": "a", "type": "ok", "value": 1, "time": 10}
"#;

    #[test]
    fn elle_gets_numbered_processes_that_end_with_their_indeterminate_operations() {
        let history = History::read(&[Source { name: "h", text: TEXT }], None).unwrap();
        let events: Vec<Value> = serde_json::from_str(&to_elle(&history)).unwrap();
        let found: Vec<_> =
            events.iter().map(|one| (one["process"].as_u64().unwrap(), one["type"].as_str().unwrap())).collect();
        assert_eq!(found, [(0, "invoke"), (1, "invoke"), (2, "invoke"), (2, "fail"), (1, "ok"), (0, "info")]);
        // What is written is read again, with the same operations.
        let again = History::read(&[Source { name: "again", text: &to_elle(&history) }], None).unwrap();
        let words = |read: &History| read.operations.iter().map(Operation::words).collect::<Vec<_>>();
        assert_eq!(words(&again), ["write 1 (indeterminate)", "read → 1", "write 2 (failed)"]);
        assert_eq!(words(&again), words(&history));
    }

    #[test]
    fn porcupine_gets_intervals() {
        let history = History::read(&[Source { name: "h", text: TEXT }], None).unwrap();
        let operations: Vec<Value> = serde_json::from_str(&to_porcupine(&history)).unwrap();
        let found: Vec<_> = operations.iter().map(|one| (one["Call"].as_u64(), one["Return"].as_u64())).collect();
        assert_eq!(found, [(Some(0), Some(7)), (Some(2), Some(5))]);
        assert_eq!((&operations[1]["Output"], &operations[0]["Input"]["f"]), (&json!(1), &json!("write")));
    }
}
