//! Reads a lab file and replaces settings by those of the command line.

use super::Failure;
use crate::args::{Overrides, PrecisionArg};
use crate::talk;
use netloom_judge::ExitCode;
use netloom_lab::{Clock, Lab, Precision};
use netloom_run::RunRequest;
use netloom_units::Seed;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

/// Reads and resolves a lab file, with another clock if one is given, and prints its warnings.
pub(super) fn load(path: &Path, clock: Option<Clock>) -> Result<(Lab, String), Failure> {
    let (lab, text) = parse(path, clock)?;
    if !lab.warnings.is_empty() {
        talk::say(&lab.warnings.render_styled());
    }
    Ok((lab, text))
}

/// Reads and resolves a lab file, and prints nothing.
pub(super) fn parse(path: &Path, clock: Option<Clock>) -> Result<(Lab, String), Failure> {
    let text = netloom_lab::read(path).map_err(|error| Failure::new(ExitCode::LabFile, error))?;
    let name = path.to_string_lossy();
    let parse = || match clock {
        Some(clock) => netloom_lab::parse_with_clock(&text, &name, clock),
        None => netloom_lab::parse(&text, &name),
    };
    let parsed = thread::scope(|scope| match thread::Builder::new().spawn_scoped(scope, parse) {
        Ok(reader) => reader.join(),
        // What follows is the same with one thread only, and takes a little more memory.
        Err(_) => Ok(parse()),
    });
    let read = parsed.unwrap_or_else(|panic| resume_unwind(panic)).map_err(|diagnostics| Failure {
        code: ExitCode::LabFile,
        message: diagnostics.render_styled(),
        styled: true,
        report: None,
    })?;
    // The allocator gives a second thread memory apart from the first one's. So the copy lies in one piece, without the
    // holes that reading leaves: each node would fill some, and with each take a page of its own.
    Ok((read.clone(), text))
}

/// What a lab that is not simulated leaves out; it is said, too.
pub(super) fn unused_traffic(lab: &Lab) -> Option<String> {
    let first = lab.plan.traffic.first()?;
    let warning = format!(
        "line {}: `traffic` is for `netloom sim`; a run ignores it and uses the programs of the timeline",
        first.line
    );
    talk::warning(&warning);
    Some(warning)
}

/// That this machine has too little memory for the lab, if so; it is said, too.
pub(super) fn short_memory(lab: &Lab) -> Option<String> {
    netloom_run::memory_warning(&lab.plan).inspect(|warning| talk::warning(warning))
}

/// The run that is asked for.
pub(super) fn request(path: &Path, overrides: &Overrides, results: PathBuf) -> Result<RunRequest, Failure> {
    request_with(path, overrides, overrides.clock, results)
}

/// The run that is asked for, with this clock if one is given.
pub(super) fn request_with(
    path: &Path,
    overrides: &Overrides,
    clock: Option<Clock>,
    results: PathBuf,
) -> Result<RunRequest, Failure> {
    let (lab, lab_text) = load(path, clock)?;
    let warnings = lab.warnings.lines().chain(unused_traffic(&lab)).chain(short_memory(&lab)).collect();
    let mut plan = lab.plan;
    if let Some(name) = &overrides.name {
        plan.name = valid_name(name)?;
    }
    if let Some(seed) = overrides.seed {
        plan.seed = Seed::new(seed);
    }
    if let Some(precision) = overrides.precision {
        plan.precision = match precision {
            PrecisionArg::Eco => Precision::Eco,
            PrecisionArg::Balanced => Precision::Balanced,
            PrecisionArg::Exact => Precision::Exact,
        };
    }
    if let Some(shards) = overrides.shards {
        plan.shards = shards;
    }
    let command_line = std::env::args().collect();
    let kernel = overrides.kernel.clone();
    let (plan, lab_file, plots, wall_limit) = (plan.into(), path.to_owned(), true, None);
    Ok(RunRequest { plan, lab_file, lab_text, warnings, results, command_line, plots, wall_limit, kernel })
}

/// Checks a name from the command line by the rules for names in lab files.
fn valid_name(name: &str) -> Result<String, Failure> {
    netloom_lab::check_name(name).map_err(|reason| Failure::new(ExitCode::Usage, format!("--name: {reason}")))?;
    Ok(name.to_owned())
}
