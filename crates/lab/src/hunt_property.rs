//! The texts of properties that are no expectations: lines of logs, exit codes of several commands, and histories of operations.

use crate::plan::{Compare, PropertyTest};
use crate::words::Words;
use regex::Regex;
use std::str::FromStr;

/// The checkers of histories. All but the first are called as the models of `netloom history check`.
pub const CHECKERS: [&str; 15] = [
    "linearizable",
    "register",
    "cas",
    "set",
    "queue",
    "mutex",
    "set-full",
    "counter",
    "ids",
    "total-queue",
    "fencing",
    "monotone",
    "bank",
    "log",
    "append",
];
/// The end of the names of files with operations.
const HISTORY: &str = ".jsonl";

/// Reads a property of logs, exit codes or histories; none if the text is neither, and so an expectation.
///
/// # Errors
/// What is wrong with it, and what would be right.
pub(crate) fn read(text: &str) -> Result<Option<PropertyTest>, String> {
    let text = text.trim();
    let (is_denied, rest) = text.strip_prefix("no ").map_or((false, text), |rest| (true, rest.trim_start()));
    if let Some(rest) = rest.strip_prefix("log ") {
        return log(rest.trim_start(), is_denied).map(Some);
    }
    if let Some(test) = history(text)? {
        return Ok(Some(test));
    }
    if is_denied {
        return Err("`no` belongs to `log`: write for example `no log n* matches \"panic\"`".into());
    }
    let subject = text.split([' ', '=', '<', '>', '!']).next().unwrap_or_default();
    match subject.strip_suffix(".exit").filter(|whose| whose.contains('*')) {
        Some(whose) => exit(whose, text[subject.len()..].trim()).map(Some),
        None => Ok(None),
    }
}

fn log(text: &str, is_denied: bool) -> Result<PropertyTest, String> {
    const EXAMPLE: &str = "write for example `log n* matches \"became leader\" >= 2`";
    let Some((whose, rest)) = text.split_once(" matches ") else {
        return Err(format!("what do the lines of the logs match? {EXAMPLE}"));
    };
    let (whose, rest) = (whose.trim(), rest.trim());
    let quoted = rest.strip_prefix('"').and_then(|inner| inner.rsplit_once('"'));
    let Some((pattern, behind)) = quoted else {
        return Err(format!("a regular expression stands between double quotes: {EXAMPLE}"));
    };
    Regex::new(pattern).map_err(|error| {
        let why = error.to_string();
        let last = why.lines().last().unwrap_or_default().trim_start_matches("error: ");
        format!("\"{pattern}\" is not a regular expression: {last}")
    })?;
    if whose.is_empty() {
        return Err(format!("whose logs? Name a node or command, or a pattern of names: {EXAMPLE}"));
    }
    let behind = behind.trim();
    let (compare, count) = match (behind, is_denied) {
        ("", true) => (Compare::Equal, 0),
        ("", false) => (Compare::AtLeast, 1),
        (_, true) => return Err("`no log` is about no line at all: leave out what stands behind the quotes".into()),
        (comparison, false) => compared(comparison)?,
    };
    Ok(PropertyTest::Log { whose: whose.to_owned(), pattern: pattern.to_owned(), compare, count })
}

/// A checker of a history, or the latency of its operations; none if the text is neither.
fn history(text: &str) -> Result<Option<PropertyTest>, String> {
    let Some((name, rest)) = text.split_once('(') else { return Ok(None) };
    let Some((inner, behind)) = rest.split_once(')') else { return Ok(None) };
    if let Some(file) = inner.trim().strip_suffix(".latency") {
        return latency((name, file), behind.trim()).map(Some);
    }
    let name = name.trim();
    if !CHECKERS.contains(&name) {
        let mut words = inner.split(',').next().unwrap_or_default().split_whitespace();
        if words.next().is_some_and(|first| first.ends_with(HISTORY)) {
            return Err(format!("there is no checker `{name}`: these are {}", CHECKERS.join(", ")));
        }
        return Ok(None);
    }
    if !behind.trim().is_empty() {
        return Err(format!("a history is explained or not: leave out `{}`", behind.trim()));
    }
    let mut parts = inner.split(',').map(str::trim);
    let file = parts.next().filter(|file| !file.is_empty());
    let file = file.ok_or_else(|| format!("which history? Write for example `{name}(history.jsonl)`"))?.to_owned();
    let options = parts.map(|part| option(name, part)).collect::<Result<_, _>>()?;
    Ok(Some(PropertyTest::History { checker: name.to_owned(), file, options }))
}

/// An option of a checker, as `netloom history check` has it without its dashes.
fn option(checker: &str, text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = match text.split_once(char::is_whitespace) {
        Some((name, value)) => (name, Some(value.trim().to_owned())),
        None => (text, None),
    };
    let is_number = value.as_ref().is_some_and(|value| value.parse::<i64>().is_ok());
    let fits = match (name, checker) {
        ("initial", "linearizable" | "register" | "cas") => value.is_some(),
        ("initial", "counter") | ("total", "bank") => is_number,
        ("strict", "set-full" | "total-queue") => value.is_none(),
        ("read-committed" | "snapshot" | "serializable" | "strict-serializable", "append") => value.is_none(),
        _ => false,
    };
    if fits {
        return Ok((name.to_owned(), value));
    }
    let known = match checker {
        "linearizable" | "register" | "cas" | "counter" => "`initial` with a value",
        "bank" => "`total` with a number",
        "set-full" | "total-queue" => "`strict`",
        "append" => "read-committed, snapshot, serializable or strict-serializable",
        _ => "nothing else",
    };
    Err(format!("`{checker}` does not know `{text}`: behind the file it takes {known}"))
}

fn latency((function, file): (&str, &str), text: &str) -> Result<PropertyTest, String> {
    const EXAMPLE: &str = "write for example `p99(ops.latency) < 1 s`, with the file `ops.jsonl`";
    let permille = match function.trim() {
        "max" => Some(1000),
        "median" => Some(500),
        other => other.strip_prefix('p').and_then(percentile),
    };
    let permille = permille.ok_or_else(|| format!("`{function}` is no figure of latencies: {EXAMPLE}"))?;
    let wrong = || format!("`{text}` is not a comparison with a time: {EXAMPLE}");
    let (compare, bound) = comparison(text).ok_or_else(wrong)?;
    Ok(PropertyTest::Latency { file: format!("{}{HISTORY}", file.trim()), permille, compare, bound })
}

/// The parts per thousand of a percentile, as 999 of `99.9`.
fn percentile(text: &str) -> Option<u32> {
    let (whole, tenth) = text.split_once('.').unwrap_or((text, "0"));
    let (whole, tenth): (u32, u32) = (whole.parse().ok()?, tenth.parse().ok()?);
    Some(whole * 10 + tenth).filter(|_| whole < 100 && tenth < 10)
}

fn exit(whose: &str, text: &str) -> Result<PropertyTest, String> {
    let (compare, code) = compared(text)?;
    Ok(PropertyTest::Exit { whose: whose.to_owned(), compare, code })
}

/// Reads a comparison with a whole number.
fn compared(text: &str) -> Result<(Compare, u64), String> {
    comparison(text).ok_or_else(|| {
        let known = Compare::NAMES.join(", ");
        format!(
            "`{text}` is not a comparison with a whole number: write one of {known}, and a number, for example `>= 2`"
        )
    })
}

/// Reads a comparison with a value; none if the text is something else.
fn comparison<T: FromStr>(text: &str) -> Option<(Compare, T)> {
    let end = text.find(|c: char| !"=!<>".contains(c)).unwrap_or(text.len());
    let (word, value) = text.split_at(end);
    Some((Compare::named(word)?, value.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Duration;

    fn log_of(whose: &str, pattern: &str, compare: Compare, count: u64) -> PropertyTest {
        PropertyTest::Log { whose: whose.into(), pattern: pattern.into(), compare, count }
    }

    #[test]
    fn lines_of_logs_are_counted() {
        let read_log = |text| read(text).unwrap().unwrap();
        assert_eq!(read_log("no log n* matches \"panic|assert\""), log_of("n*", "panic|assert", Compare::Equal, 0));
        assert_eq!(read_log("log n1 matches \"ready\""), log_of("n1", "ready", Compare::AtLeast, 1));
        let leaders = log_of("n*", "a \"new\" leader", Compare::AtLeast, 2);
        assert_eq!(read_log(" log n* matches  \"a \"new\" leader\">=2"), leaders);
    }

    #[test]
    fn exit_codes_of_several_commands_are_no_expectation() {
        let expected = PropertyTest::Exit { whose: "n*".into(), compare: Compare::Equal, code: 0 };
        assert_eq!(read("n*.exit == 0"), Ok(Some(expected)));
        assert_eq!(read("ping.exit == 0"), Ok(None));
        assert_eq!(read("backbone.forward.throughput > 1 Mbit/s"), Ok(None));
    }

    #[test]
    fn histories_are_explained_or_not() {
        let of = |checker: &str, file: &str, options: &[(&str, Option<&str>)]| PropertyTest::History {
            checker: checker.into(),
            file: file.into(),
            options: options.iter().map(|(name, value)| ((*name).into(), value.map(str::to_owned))).collect(),
        };
        let found = |text| read(text).unwrap();
        assert_eq!(found("linearizable(history.jsonl)"), Some(of("linearizable", "history.jsonl", &[])));
        assert_eq!(found("set-full( ops.jsonl , strict )"), Some(of("set-full", "ops.jsonl", &[("strict", None)])));
        assert_eq!(found("bank(b.jsonl, total 100)"), Some(of("bank", "b.jsonl", &[("total", Some("100"))])));
        assert_eq!(found("append(h, snapshot)"), Some(of("append", "h", &[("snapshot", None)])));
        let second = Duration::from_secs(1);
        let latency = |permille| PropertyTest::Latency {
            file: "ops.jsonl".into(),
            permille,
            compare: Compare::Below,
            bound: second,
        };
        assert_eq!(found("p99(ops.latency) < 1 s"), Some(latency(990)));
        assert_eq!(found("p99.9(ops.latency) < 1 s"), Some(latency(999)));
        assert_eq!(found("max(ops.latency)<1000 ms"), Some(latency(1000)));
        assert_eq!(found("p99(lan-n1.forward.delay) < 25 ms"), None, "an expectation");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, why) in [
            ("log n1", "what do the lines of the logs match?"),
            ("log n1 matches ready", "between double quotes"),
            ("log n1 matches \"(\"", "is not a regular expression: unclosed group"),
            ("log n1 matches \"x\" about 3", "`about 3` is not a comparison"),
            ("no log n1 matches \"x\" >= 3", "leave out what stands behind the quotes"),
            ("no panic", "`no` belongs to `log`"),
            ("n*.exit is 0", "`is 0` is not a comparison"),
            ("linear(h.jsonl)", "there is no checker `linear`: these are linearizable, register"),
            ("register()", "which history?"),
            ("register(h.jsonl) == 3", "leave out `== 3`"),
            ("ids(h.jsonl, strict)", "behind the file it takes nothing else"),
            ("bank(h.jsonl, total x)", "it takes `total` with a number"),
            ("p99(ops.latency) < 3", "is not a comparison with a time"),
            ("p100(ops.latency) < 3 s", "`p100` is no figure of latencies"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
