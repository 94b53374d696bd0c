//! `netloom rerun`

use super::{Failure, Outcome, print, print_json};
use crate::args::RerunArgs;
use crate::talk;
use netloom_archive::{Change, Comparison, Figure, How, Kind, Ready, Then, compare};
use netloom_host::signals::Signals;
use netloom_judge::{ExitCode, Report, quantity};
use netloom_results::render::{Align, Table};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Codes with which a run has come to its end and can be compared.
const OVER: [u8; 4] = [
    ExitCode::Success.number(),
    ExitCode::Unmet.number(),
    ExitCode::NotAsDescribed.number(),
    ExitCode::NotJudged.number(),
];

pub(super) fn rerun(args: &RerunArgs) -> Outcome {
    let then = Then::open(&args.what)?;
    // Keys at the terminal are for the run, which ends with its results.
    let held = (then.kind != Kind::Simulation).then(|| Signals::hold(&[])).transpose();
    let _held = held.map_err(|error| Failure::new(ExitCode::Machine, format!("holding signals back: {error}")))?;
    let (now, changes) = if args.with.is_empty() { play(&then, args)? } else { (args.with.clone(), Vec::new()) };
    let mut found = compare(then.kind, &then.folder, &now, args.tolerance / 100.0)?;
    found.environment.extend(changes);
    if args.json {
        print_json(&found)?;
    } else {
        show(&found)?;
    }
    Ok(if found.same { ExitCode::Success } else { ExitCode::Unmet }.number())
}

/// Plays it as often as is asked for: where the results are, and which files are not what they were.
fn play(then: &Then, args: &RerunArgs) -> Result<(Vec<PathBuf>, Vec<Change>), Failure> {
    let times = args.times.get();
    if times > 1 && then.kind == Kind::Sweep {
        let why = "--times is for runs: the lab file of a sweep says how often each point runs (`repeat`)";
        return Err(Failure::new(ExitCode::Usage, why));
    }
    let ready = then.prepare()?;
    if !args.json && ready.has_root() {
        talk::say("programs and their files are those of the bundle");
    }
    if then.kind == Kind::Sweep {
        let out = unused(&args.out, &then.lab)?;
        let code = start(then, &ready, &out, args)?.0;
        return if OVER.contains(&code) { Ok((vec![out], ready.changes)) } else { Err(failed(code, "the sweep")) };
    }
    if !args.json && matches!(then.kind, Kind::Run | Kind::Up) {
        say_beforehand(then, &ready, args)?;
    }
    let mut all = Vec::new();
    for number in 0..times {
        if times > 1 {
            talk::say(&format!("run {} of {times}", number + 1));
        }
        let (code, text) = start(then, &ready, &args.out, args)?;
        let report: Option<Report> = serde_json::from_slice(&text).ok();
        match report {
            Some(report) if OVER.contains(&code) && report.error.is_none() => all.push(report.results),
            Some(Report { error: Some(why), .. }) => return Err(failed(code, &format!("the run: {why}"))),
            _ => return Err(failed(code, "the run")),
        }
    }
    Ok((all, ready.changes))
}

/// Says what is not as it was then, before the run takes its time: it may be the reason for all differences.
fn say_beforehand(then: &Then, ready: &Ready, args: &RerunArgs) -> Result<(), Failure> {
    let mut command = repeating(then, ready, &args.out, args)?;
    command.arg("--provenance").stderr(Stdio::null());
    // What is wrong with the lab here, the run itself says.
    let Ok(done) = command.output() else { return Ok(()) };
    let Ok(now) = serde_json::from_slice::<Value>(&done.stdout) else { return Ok(()) };
    for change in then.changes(&now).iter().map(in_words) {
        talk::say(&format!("not as it was then: {change}"));
    }
    Ok(())
}

fn failed(code: u8, what: &str) -> Failure {
    let known = ExitCode::from_number(code).filter(|known| *known != ExitCode::Success).unwrap_or(ExitCode::Died);
    Failure::new(known, format!("{what} did not come to its end (exit code {code}), so there is nothing to compare"))
}

/// A folder for a sweep that is not there yet.
fn unused(out: &Path, lab: &str) -> Result<PathBuf, Failure> {
    let failed = |error| Failure::new(ExitCode::Results, format!("{}: {error}", out.display()));
    fs::create_dir_all(out).map_err(failed)?;
    let names = (1..=u32::MAX).map(|number| out.join(format!("{lab}-{number:04}")));
    let mut unused = names.filter(|path| path.symlink_metadata().is_err());
    unused.next().ok_or_else(|| Failure::new(ExitCode::Results, "there are too many reruns"))
}

/// The command that plays it once.
fn repeating(then: &Then, ready: &Ready, out: &Path, args: &RerunArgs) -> Result<Command, Failure> {
    let arguments: Vec<OsString> = then.arguments(ready, out)?;
    let mut command = Command::new(super::queue::program()?);
    command.args(arguments).args(&args.options).stdin(Stdio::null()).stdout(Stdio::piped());
    Ok(command)
}

/// Plays it once: the exit code, and what was written to standard output.
fn start(then: &Then, ready: &Ready, out: &Path, args: &RerunArgs) -> Result<(u8, Vec<u8>), Failure> {
    let mut command = repeating(then, ready, out, args)?;
    let program = command.get_program().to_owned();
    let refused = |error| Failure::new(ExitCode::Machine, format!("starting {}: {error}", program.display()));
    let done = command.spawn().and_then(std::process::Child::wait_with_output).map_err(refused)?;
    let code = done.status.code().and_then(|code| u8::try_from(code).ok());
    Ok((code.unwrap_or(ExitCode::Died.number()), done.stdout))
}

fn show(found: &Comparison) -> Result<(), Failure> {
    for change in found.environment.iter().map(in_words) {
        talk::say(&format!("differs around it: {change}"));
    }
    let mut lines = Vec::new();
    for change in &found.verdicts {
        lines.push(format!("differs: {}", in_words(change)));
    }
    for file in &found.files {
        let line = file.line.map_or_else(String::new, |line| format!(", line {line}"));
        let place = file.byte.map_or_else(String::new, |byte| format!(" from byte {byte}{line} on"));
        lines.push(format!("{} {}{place}", file.path, file.what));
    }
    if found.different_files > found.files.len() {
        lines.push(format!("and {} files more", found.different_files - found.files.len()));
    }
    if !found.figures.is_empty() {
        lines.push(table(&found.figures).to_string().trim_end().to_owned());
    }
    lines.push(conclusion(found));
    print(&lines.join("\n"))?;
    Ok(())
}

fn conclusion(found: &Comparison) -> String {
    let places: Vec<String> = found.results.iter().map(|path| path.display().to_string()).collect();
    let files = if found.by_bytes {
        let all = found.same_files + found.different_files;
        format!("{} of {} the same, byte for byte", found.same_files, quantity::counted(all, "file"))
    } else {
        let same = found.figures.iter().filter(|figure| figure.same).count();
        format!("{same} of {} the same", quantity::counted(found.figures.len(), "figure"))
    };
    let what = format!("{} `{}`", found.kind.words(), found.lab);
    let word = if found.same { "is repeated" } else { "DIFFERS" };
    format!("{what} {word}: {files}; results: {}", places.join(" "))
}

fn in_words(change: &Change) -> String {
    let value = |value: &Value| match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.chars().filter(|c| !c.is_control()).take(100).collect(),
        other => other.to_string().chars().filter(|c| !c.is_control()).take(100).collect(),
    };
    let what: String = change.what.chars().filter(|c| !c.is_control()).collect();
    format!("{what}: then {}, now {}", value(&change.then), value(&change.now))
}

fn table(figures: &[Figure]) -> Table {
    let has_points = figures.iter().any(|figure| figure.point.is_some());
    let mut columns = vec![
        ("FIGURE", Align::Left),
        ("THEN", Align::Right),
        ("NOW", Align::Right),
        ("MAY DIFFER BY", Align::Right),
        ("", Align::Left),
    ];
    if has_points {
        columns.insert(0, ("POINT", Align::Right));
    }
    let mut table = Table::new(&columns);
    for figure in figures {
        let shown = |value: f64| number(value, &figure.unit);
        let value = |value: Option<f64>| value.map_or_else(|| "-".into(), shown);
        let how = match figure.how {
            How::Tolerance(by) => shown(by),
            How::Interval(from, to) => format!("difference {} to {}", shown(from), shown(to)),
        };
        let same = if figure.same { "same" } else { "DIFFERS" };
        let name: String = figure.name.chars().filter(|c| !c.is_control()).collect();
        let mut row = vec![name, value(figure.then), value(figure.now), how, same.into()];
        if has_points {
            row.insert(0, figure.point.map_or_else(String::new, |point| point.to_string()));
        }
        table.row(row);
    }
    table
}

/// With its unit; a difference may be less than nothing.
fn number(value: f64, unit: &str) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    let size = value.abs();
    match unit {
        "bit/s" => format!("{sign}{}", quantity::rate(size)),
        "ns" => format!("{sign}{}", quantity::span(size as u64)),
        "share" => format!("{:.3} %", value * 100.0),
        _ => format!("{value:.4}").trim_end_matches('0').trim_end_matches('.').to_owned() + " " + unit,
    }
}
