//! Properties of histories: whether a checker explains the operations that clients have noted, and how long these took.

use crate::judged::Held;
use netloom_history::{Contradiction, History, Isolation, Limits, Model, Source, Status, Verdict, check, picture};
use netloom_lab::{Compare, PropertyTest};
use netloom_units::quantity;
use serde_json::Value;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest history that is read.
const LONGEST: u64 = 1 << 30;
/// How long a checker may search in one run.
const PATIENCE: Duration = Duration::from_secs(30);
/// Deeper folders are not looked into.
const DEEPEST: usize = 40;
/// How many operations of a contradiction are listed.
const LISTED: usize = 20;

/// Judges a property of a history by the results of a run.
pub(crate) fn judge(test: &PropertyTest, results: &Path) -> Result<Held, String> {
    match test {
        PropertyTest::History { checker, file, options } => {
            let history = read(results, file)?;
            let outcome = outcome(&history, &model(checker, options, &history))?;
            Ok(match (outcome.verdict, outcome.contradictions.first()) {
                (Verdict::Valid, _) => Held::of(true, ""),
                (Verdict::Unknown, _) => Held::undecided(outcome.notes.first().map_or("", String::as_str)),
                // Which operations contradict one another differs from run to run; the finding shows them.
                (Verdict::Contradiction, first) => Held::of(false, first.map_or("", |first| first.kind)),
            })
        }
        PropertyTest::Latency { file, permille, compare, bound } => {
            Ok(latency(&read(results, file)?, *permille, *compare, bound.as_nanos()))
        }
        _ => Err("it is about no history".into()),
    }
}

/// A contradiction in words and as a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Explained {
    pub(crate) text: String,
    pub(crate) svg: String,
}

/// Explains the first contradiction that a checker finds; none if it finds none.
pub(crate) fn explain(test: &PropertyTest, results: &Path) -> Option<Explained> {
    let PropertyTest::History { checker, file, options } = test else { return None };
    let history = read(results, file).ok()?;
    let outcome = outcome(&history, &model(checker, options, &history)).ok()?;
    let first = outcome.contradictions.first()?;
    Some(Explained { text: words(&history, first), svg: picture(&history, first) })
}

fn words(history: &History, contradiction: &Contradiction) -> String {
    let mut text = format!("{}: {}\n", contradiction.kind, contradiction.message);
    for place in contradiction.operations.iter().take(LISTED) {
        let operation = &history.operations()[*place];
        let time = operation.invoked.map_or_else(String::new, |time| format!("{}  ", quantity::span(time.as_nanos())));
        text.push_str(&format!("  {time}process {}  {}\n", operation.process, operation.words()));
    }
    if let Some(more) = contradiction.operations.len().checked_sub(LISTED).filter(|more| *more > 0) {
        text.push_str(&format!("  and {more} more\n"));
    }
    text
}

fn outcome(history: &History, model: &Model) -> Result<netloom_history::Outcome, String> {
    let end = Instant::now() + PATIENCE;
    let is_over = || Instant::now() > end;
    check(history, model, &Limits { is_over: &is_over, ..Limits::default() }).map_err(|error| error.to_string())
}

/// The model that a checker stands for, with its options.
fn model(checker: &str, options: &[(String, Option<String>)], history: &History) -> Model {
    let value = |name: &str| options.iter().find(|(own, _)| own == name).and_then(|(_, value)| value.as_deref());
    let is_said = |name: &str| options.iter().any(|(own, _)| own == name);
    let mut model = if checker == "linearizable" { linearizable(history) } else { Model::named(checker) };
    match model.as_mut() {
        Some(Model::Register { initial } | Model::Cas { initial }) => {
            let said = value("initial").map(|text| serde_json::from_str(text).unwrap_or_else(|_| text.into()));
            *initial = said.unwrap_or(Value::Null);
        }
        Some(Model::Counter { initial }) => *initial = value("initial").and_then(|text| text.parse().ok()).unwrap_or(0),
        Some(Model::Bank { total }) => *total = value("total").and_then(|text| text.parse().ok()),
        Some(Model::SetFull { strict } | Model::TotalQueue { strict }) => *strict = is_said("strict"),
        Some(Model::Append { isolation }) => {
            let said = Isolation::ALL.into_iter().find(|(name, _)| is_said(name));
            *isolation = said.map_or(Isolation::default(), |(_, level)| level);
        }
        _ => {}
    }
    // The lab file names checkers that there are.
    model.unwrap_or(Model::Register { initial: Value::Null })
}

/// The linearizable object that knows the functions of a history.
fn linearizable(history: &History) -> Option<Model> {
    let all = ["cas", "set", "queue", "mutex"].into_iter().filter_map(Model::named);
    let mut fitting = all.filter(|model| {
        history.operations().iter().all(|operation| model.functions().contains(&operation.function.as_str()))
    });
    // What none of them knows is said by the one for registers.
    fitting.next().or_else(|| Model::named("cas"))
}

/// Whether so many of the operations that completed took a time that compares so.
fn latency(history: &History, permille: u32, compare: Compare, bound: u64) -> Held {
    let done = history.operations().iter().filter(|operation| operation.status == Status::Ok);
    let took = done.filter_map(|operation| {
        let (from, to) = (operation.invoked?, operation.completed?);
        Some(to.as_nanos().saturating_sub(from.as_nanos()))
    });
    let mut took: Vec<u64> = took.collect();
    took.sort_unstable();
    let rank = (took.len() as u64 * u64::from(permille)).div_ceil(1000).max(1);
    match usize::try_from(rank - 1).ok().and_then(|place| took.get(place)) {
        Some(found) => Held::of(compare.holds(*found, bound), ""),
        None => Held::undecided("no operation with times has succeeded"),
    }
}

/// Reads the histories of this name in the results of a run: what commands saved, and what was collected from nodes.
fn read(results: &Path, name: &str) -> Result<History, String> {
    let files = find(results, name)?;
    if files.is_empty() {
        return Err(format!(
            "there is no file `{name}` in the results: does the client write it, and its node `collect` it?"
        ));
    }
    let mut texts = Vec::new();
    for path in files {
        let shown = path.strip_prefix(results).unwrap_or(&path).display().to_string();
        let text = netloom_regular::read_text(&path, LONGEST).map_err(|error| format!("reading {shown}: {error}"))?;
        texts.push((shown, text));
    }
    let sources: Vec<Source<'_>> = texts.iter().map(|(shown, text)| Source { name: shown, text }).collect();
    History::read(&sources, None).map_err(|error| error.to_string())
}

/// Finds files of this name, or with this end of their path, in the order of their paths: in the results, and nowhere else on this machine.
pub(crate) fn find(results: &Path, name: &str) -> Result<Vec<PathBuf>, String> {
    let end = Path::new(name.trim_start_matches('/'));
    if end.components().any(|part| part == Component::ParentDir) {
        return Err(format!("`{name}` leads out of the results: name a file, or the end of a path, without `..`"));
    }
    let mut found: Vec<PathBuf> = Some(results.join(end)).filter(|saved| saved.is_file()).into_iter().collect();
    walk(&results.join("nodes"), end, 0, &mut found)?;
    found.sort();
    Ok(found)
}

fn walk(folder: &Path, name: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("{}: {error}", folder.display())),
    };
    for entry in entries {
        let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
        let (path, kind) = (entry.path(), entry.file_type());
        match kind {
            Ok(kind) if kind.is_dir() && depth < DEEPEST => walk(&path, name, depth + 1, found)?,
            Ok(kind) if kind.is_file() && path.ends_with(name) => found.push(path),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
