//! One line of a history.

use crate::values::shown;
use netloom_units::Instant;
use serde_json::{Map, Value};

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Invoke,
    Ok,
    Fail,
    Info,
}

/// An event as its line has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) process: String,
    pub(crate) kind: Kind,
    pub(crate) function: Option<String>,
    pub(crate) key: Option<Value>,
    /// The value; none if the line has no `value`, which is not the same as null.
    pub(crate) value: Option<Value>,
    pub(crate) time: Option<Instant>,
    pub(crate) error: Option<String>,
}

/// The process that injects faults in histories of Jepsen; its events are no operations.
const NEMESIS: &str = "nemesis";

/// Returns the event of a line; none if it is the nemesis's.
///
/// # Errors
/// What is wrong with the line, and what would be right.
pub(crate) fn parse(line: &str) -> Result<Option<Event>, String> {
    // Elle's files are one array, with an event on each line.
    let line = line.trim().trim_start_matches('[').trim_end_matches([',', ']']);
    let value: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
    let Value::Object(keys) = value else {
        return Err(format!(
            "{} is no event: {{\"process\": 0, \"type\": \"invoke\", …}} would be right",
            shown(&value)
        ));
    };
    // Converters from EDN leave the colons of keywords.
    let keys: Map<String, Value> = keys
        .into_iter()
        .map(|(key, found)| (key.strip_prefix(':').map_or(key.clone(), str::to_owned), found))
        .collect();
    let process = process(keys.get("process"))?;
    if process == NEMESIS {
        return Ok(None);
    }
    Ok(Some(Event {
        process,
        kind: kind(keys.get("type"))?,
        function: keys.get("f").map(function).transpose()?,
        key: keys.get("key").filter(|key| !key.is_null()).cloned(),
        value: keys.get("value").cloned(),
        time: keys.get("time").filter(|time| !time.is_null()).map(time).transpose()?,
        error: keys.get("error").filter(|error| !error.is_null()).map(text),
    }))
}

fn process(value: Option<&Value>) -> Result<String, String> {
    match value {
        Some(Value::String(name)) if !name.is_empty() => Ok(without_colon(name).to_owned()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(other) => Err(format!("`process` is {}: a number or a name would be right", shown(other))),
        None => Err("`process` is missing: the number or name of who calls would be right".to_owned()),
    }
}

fn kind(value: Option<&Value>) -> Result<Kind, String> {
    const RIGHT: &str = "one of invoke, ok, fail, info would be right";
    match value {
        Some(Value::String(name)) => match without_colon(name) {
            "invoke" => Ok(Kind::Invoke),
            "ok" => Ok(Kind::Ok),
            "fail" => Ok(Kind::Fail),
            "info" => Ok(Kind::Info),
            _ => Err(format!("`type` is {name:?}: {RIGHT}")),
        },
        Some(other) => Err(format!("`type` is {}: {RIGHT}", shown(other))),
        None => Err(format!("`type` is missing: {RIGHT}")),
    }
}

fn function(value: &Value) -> Result<String, String> {
    match value {
        Value::String(name) if !name.is_empty() => Ok(without_colon(name).to_owned()),
        other => Err(format!("`f` is {}: the name of a function, such as \"read\", would be right", shown(other))),
    }
}

fn time(value: &Value) -> Result<Instant, String> {
    let wrong = || format!("`time` is {}: nanoseconds as a whole number from 0 on would be right", shown(value));
    value.as_u64().map(Instant::from_nanos).ok_or_else(wrong)
}

/// Returns a value as text: a text without its quotes, all else as JSON.
fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| shown(value), |text| without_colon(text).to_owned())
}

fn without_colon(name: &str) -> &str {
    name.strip_prefix(':').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_parts_with_and_without_colons() {
        let plain = r#"{"process": 3, "type": "ok", "f": "read", "key": "x", "value": null, "time": 17, "index": 4}"#;
        let event = parse(plain).unwrap().unwrap();
        assert_eq!((event.process.as_str(), event.kind, event.function.as_deref()), ("3", Kind::Ok, Some("read")));
        assert_eq!((event.value, event.time), (Some(Value::Null), Some(Instant::from_nanos(17))));
        let keywords = r#"{":process": ":c1", ":type": ":info", ":f": ":write", ":error": ":timeout"}"#;
        let other = parse(keywords).unwrap().unwrap();
        assert_eq!((other.process.as_str(), other.kind, other.value), ("c1", Kind::Info, None));
        assert_eq!(other.error.as_deref(), Some("timeout"));
        let in_array = parse(r#"[{"process": 1, "type": "ok", "value": [1]}],"#).unwrap().unwrap();
        assert_eq!(in_array.value, Some(serde_json::json!([1])));
        assert_eq!(parse(r#"{"process": "nemesis", "type": "info", "f": "start"}"#), Ok(None));
    }

    #[test]
    fn errors_name_the_key_and_what_would_be_right() {
        let cases = [
            ("{", "no JSON"),
            ("[1]", "1 is no event"),
            (r#"{"type": "ok"}"#, "`process` is missing"),
            (r#"{"process": [], "type": "ok"}"#, "`process` is []: a number or a name"),
            (r#"{"process": 1}"#, "`type` is missing: one of invoke, ok, fail, info"),
            (r#"{"process": 1, "type": "done"}"#, "`type` is \"done\": one of invoke"),
            (r#"{"process": 1, "type": "ok", "f": 5}"#, "`f` is 5: the name of a function"),
            (r#"{"process": 1, "type": "ok", "time": "5 s"}"#, "`time` is \"5 s\": nanoseconds"),
            (r#"{"process": 1, "type": "ok", "time": -1}"#, "`time` is -1: nanoseconds"),
        ];
        for (line, message) in cases {
            let error = parse(line).unwrap_err();
            assert!(error.contains(message), "{line}: {error}");
        }
    }
}
