//! What a run shows: which properties failed in it, and which of those were reached that must hold sometimes.

use crate::assertions;
use crate::checker;
use crate::error::HuntError;
use crate::failure::Failure;
use crate::histories::{self, Explained};
use crate::judged::{Held, Judged, name};
use netloom_judge::{CommandRow, ExitCode, Judgement, Report};
use netloom_lab::{Argv, Compare, HuntPlan, Modality, PropertyPlan, PropertyTest, matches_name};
use netloom_results::Logs;
use regex::bytes::Regex;
use serde_json::Value;
use std::io;
use std::path::Path;

/// The variable with the folder of the results, for commands that judge them.
const RESULTS: &str = "NETLOOM_RESULTS";
/// Exit codes of a shell that did not find the command, or could not run it.
const NOT_RUN: [i32; 2] = [126, 127];

/// The properties by which the runs of a hunt are judged.
#[derive(Debug)]
pub(crate) struct Judge {
    properties: Vec<(PropertyPlan, Option<Regex>)>,
    /// The file in which programs note assertions.
    assertions: Option<String>,
}

impl Judge {
    /// Compiles the properties of a hunt.
    pub(crate) fn new(hunt: &HuntPlan) -> Result<Self, HuntError> {
        let compiled = |property: &PropertyPlan| {
            let pattern = if let PropertyTest::Log { pattern, .. } = &property.test { Some(pattern) } else { None };
            let regex = pattern.map(|pattern| Regex::new(pattern)).transpose();
            regex.map(|regex| (property.clone(), regex)).map_err(|error| HuntError::Unfit(error.to_string()))
        };
        let properties = hunt.properties.iter().map(compiled).collect::<Result<_, _>>()?;
        Ok(Self { properties, assertions: hunt.assertions.clone() })
    }

    /// The expectations that a run has beside those of its lab file, in the order of its report; of a lab that is kept without those
    /// that may fail.
    pub(crate) fn expectations(&self, is_kept: bool) -> Vec<String> {
        let own = self.properties.iter().filter(|(property, _)| property.test == PropertyTest::Expectation);
        let own = own.filter(|(property, _)| !is_kept || must_hold(property.modality));
        own.map(|(property, _)| property.text.clone()).collect()
    }

    /// Judges a run that has ended with this report.
    pub(crate) fn judge(&self, code: Option<ExitCode>, report: &Report, run: &mut dyn RunCommand) -> Judged {
        if let Some(why) = why_void(code, report) {
            return Judged::error(why);
        }
        let added = self.expectations(false).len();
        let Some(own) = report.expectations.len().checked_sub(added) else {
            return Judged::error("the report of the run lacks expectations");
        };
        let mut judged = Judged::default();
        let failed = report.commands.iter().filter(|row| row.failed);
        judged.failures.extend(failed.map(|row| Failure::new(format!("command {}", row.name), &ending(row))));
        let unmet = report.expectations[..own].iter().filter(|row| !row.met);
        judged.failures.extend(unmet.map(|row| Failure::new(row.text.clone(), "")));
        let mut rows = report.expectations[own..].iter();
        for (property, regex) in &self.properties {
            let held = match &property.test {
                PropertyTest::Expectation => Ok(Held::of(rows.next().is_some_and(|row| row.met), "")),
                PropertyTest::Log { whose, compare, count, .. } => {
                    log(report, whose, regex.as_ref()).map(|(found, first)| {
                        Held::of(compare.holds(found, *count), if *count == 0 { &first } else { "" })
                    })
                }
                PropertyTest::Exit { whose, compare, code: wanted } => Ok(exit(report, whose, *compare, *wanted)),
                PropertyTest::Command(command) => run.run(command, &report.results),
                PropertyTest::History { .. } | PropertyTest::Latency { .. } => {
                    histories::judge(&property.test, &report.results)
                }
            };
            match held {
                Ok(held) => judged.add(property, &held),
                Err(why) => return Judged::error(format!("{}: {why}", property.text)),
            }
        }
        if let Some(Err(why)) =
            self.assertions.as_ref().map(|file| assertions::judge(file, &report.results, &mut judged))
        {
            return Judged::error(format!("assertions: {why}"));
        }
        judged.failures.dedup();
        judged
    }

    /// Explains the history with which a property fails, if it is about one.
    pub(crate) fn explain(&self, failure: &Failure, results: &Path) -> Option<Explained> {
        let own = self.properties.iter().map(|(property, _)| property);
        let mut own = own.filter(|property| name(property) == failure.property);
        histories::explain(&own.next()?.test, results)
    }
}

/// Whether what fails must not.
fn must_hold(modality: Modality) -> bool {
    matches!(modality, Modality::Always | Modality::Eventually)
}

/// Runs commands that judge results.
pub(crate) trait RunCommand {
    /// Whether the command succeeds with the results in this folder; an error if it could not be run.
    fn run(&mut self, command: &Argv, results: &Path) -> Result<Held, String>;
}

/// Why a run shows nothing about the programs in it; none if it does.
fn why_void(code: Option<ExitCode>, report: &Report) -> Option<String> {
    if let Some(error) = &report.error {
        return Some(error.clone());
    }
    if report.wall_limit_reached {
        return Some("it took longer than --wall-limit".into());
    }
    if report.interrupted {
        return Some("it was interrupted".into());
    }
    let by_code = match code {
        Some(ExitCode::Success | ExitCode::Unmet | ExitCode::NotJudged) => None,
        Some(ExitCode::NotAsDescribed) => Some(report.verdict.headline()),
        Some(code) => Some(format!("it ended with code {code}")),
        None => Some("it ended without a report".into()),
    };
    by_code.or_else(|| (report.verdict.judgement == Judgement::NotAsDescribed).then(|| report.verdict.headline()))
}

/// How a command failed, and the last that it said.
fn ending(row: &CommandRow) -> String {
    let last = row.stderr_tail.last().map_or("", String::as_str);
    format!("{} {last}", row.ending())
}

/// How many lines match, and the first of them.
fn log(report: &Report, whose: &str, regex: Option<&Regex>) -> Result<(u64, String), String> {
    let Some(regex) = regex else { return Err("it has no regular expression".into()) };
    let mut logs = Logs::in_folder(&report.results).map_err(|error| error.to_string())?;
    let (mut count, mut first) = (0, String::new());
    let mut take = |line: &netloom_results::LogLine<'_>| {
        let is_meant = matches_name(whose, line.command) || matches_name(whose, line.node);
        if is_meant && regex.is_match(line.text) {
            if count == 0 {
                first = String::from_utf8_lossy(line.text).into_owned();
            }
            count += 1;
        }
        true
    };
    logs.read(&mut take).map_err(|error| error.to_string())?;
    logs.finish(&mut take);
    Ok((count, first))
}

/// Whether all commands that ended by themselves have such a code.
fn exit(report: &Report, whose: &str, compare: Compare, code: u64) -> Held {
    let meant = report.commands.iter().filter(|row| matches_name(whose, &row.name) || matches_name(whose, &row.node));
    let mut ended = meant.filter_map(|row| Some((row, u64::try_from(row.exit_code.filter(|_| !row.stopped)?).ok()?)));
    let wrong = ended.find(|(_, own)| !compare.holds(*own, code));
    match wrong {
        Some((row, _)) => Held::of(false, &format!("{} {}", row.name, ending(row))),
        None => Held::of(true, ""),
    }
}

/// Runs commands on this machine.
#[derive(Debug)]
pub(crate) struct Checkers<S: FnMut(u32)> {
    /// Is told the number of each process that is started.
    pub(crate) started: S,
}

impl<S: FnMut(u32)> RunCommand for Checkers<S> {
    fn run(&mut self, argv: &Argv, results: &Path) -> Result<Held, String> {
        let results = results.canonicalize().map_err(|error| format!("{}: {error}", results.display()))?;
        let mut command = checker::command();
        match argv {
            Argv::Shell(text) => command.args(["/bin/sh", "-c", text]),
            Argv::Exec(words) if words.is_empty() => return Err("it is empty".into()),
            Argv::Exec(words) => command.args(words),
        };
        let failed = |error: io::Error| format!("starting it: {error}");
        let mut child = command.env(RESULTS, &results).spawn().map_err(failed)?;
        (self.started)(child.id());
        let (status, [stdout, stderr]) = checker::end(&mut child)?;
        let document = document(&stdout);
        let text = [stdout, stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        match status.code() {
            Some(code) if !NOT_RUN.contains(&code) && document.is_some() => {
                Ok(said(&document.unwrap_or_default(), code))
            }
            Some(0) => Ok(Held::of(true, "")),
            Some(code) if NOT_RUN.contains(&code) => Err(format!("it ended with {code}: {last}")),
            Some(_) => Ok(Held::of(false, last)),
            None => Err("it was killed".into()),
        }
    }
}

/// The JSON object with `valid` that a checker has written, on its last line or as all of its output.
fn document(stdout: &[u8]) -> Option<Value> {
    let text = String::from_utf8_lossy(stdout);
    let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
    let read = |part: &str| serde_json::from_str::<Value>(part).ok().filter(|read| verdict(read).is_some());
    read(last).or_else(|| read(&text))
}

/// The verdict of a checker; Jepsen's checkers put a question mark behind the key.
fn verdict(document: &Value) -> Option<&Value> {
    document.get("valid").or_else(|| document.get("valid?"))
}

/// Judges by a document: `valid` is true, false or unknown, and `message` says why. An exit code other than 0 is no success either.
fn said(document: &Value, code: i32) -> Held {
    let message =
        document.get("message").map(|message| message.as_str().map_or_else(|| message.to_string(), str::to_owned));
    let message = message.unwrap_or_default();
    match verdict(document) {
        Some(Value::Bool(true)) => Held::of(code == 0, &message),
        Some(Value::Bool(false)) => Held::of(false, &message),
        _ => Held::undecided(&message),
    }
}

#[cfg(test)]
mod tests;
