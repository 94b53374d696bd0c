//! Reads a lab file and replaces settings by those of the command line.

use super::Failure;
use crate::args::{Foreign, Overrides, PrecisionArg};
use crate::talk;
use netloom_import::{Format, Imported};
use netloom_judge::ExitCode;
use netloom_lab::{Clock, Diagnostics, Lab, Plan, Precision};
use netloom_run::{FilterProblem, MachineRoot, RunRequest};
use netloom_units::Seed;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

/// A lab that was read.
pub(super) struct Loaded {
    pub(super) lab: Lab,
    /// The text of its lab file; that of a file of another tool is made.
    pub(super) text: String,
    /// What a file of another tool says and the lab does not have.
    pub(super) notes: Vec<String>,
}

/// Reads and resolves a lab file, with another clock if one is given, and prints its warnings.
pub(super) fn load(path: &Path, foreign: &Foreign, clock: Option<Clock>) -> Result<Loaded, Failure> {
    let loaded = parse(path, foreign, clock)?;
    print_notes(&loaded.notes);
    print_notes(loaded.lab.note.as_slice());
    if !loaded.lab.warnings.is_empty() {
        talk::say(&loaded.lab.warnings.render_styled());
    }
    Ok(loaded)
}

/// Refuses expressions of captures that are none, and warns of those that cannot be read on this machine.
pub(super) fn check_filters(plan: &Plan, path: &Path) -> Result<(), Failure> {
    let mut wrong = Vec::new();
    for problem in netloom_run::filter_problems(plan, path) {
        match problem {
            FilterProblem::Wrong(why) => wrong.push(why),
            FilterProblem::Unknown(why) => talk::warning(&why),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(Failure::new(ExitCode::LabFile, wrong.join("\n"))) }
}

/// Prints what a file of another tool says and the lab does not have.
pub(super) fn print_notes(notes: &[String]) {
    for note in notes {
        talk::say(&format!("note: {note}"));
    }
}

/// Reads and resolves a lab file, and prints nothing.
pub(super) fn parse(path: &Path, foreign: &Foreign, clock: Option<Clock>) -> Result<Loaded, Failure> {
    let name = path.to_string_lossy();
    match read(path, foreign)? {
        File::Lab(text) => {
            let lab = match clock {
                Some(clock) => netloom_lab::parse_with_clock(&text, &name, clock),
                None => netloom_lab::parse(&text, &name),
            };
            Ok(Loaded { lab: lab.map_err(|found| refused(&found))?, text, notes: Vec::new() })
        }
        File::Foreign(imported) => {
            let lab = imported.parse(clock).map_err(|found| refused(&found))?;
            Ok(Loaded { lab, text: imported.yaml().to_owned(), notes: imported.notes().collect() })
        }
    }
}

/// The same as `load`, in one piece of memory.
///
/// The allocator gives a second thread memory apart from the first one's. So the copy is without the holes that reading leaves: each
/// node of a lab would fill some, and with each take a page of its own.
fn load_in_one_piece(path: &Path, foreign: &Foreign, clock: Option<Clock>) -> Result<Loaded, Failure> {
    let load = || load(path, foreign, clock);
    let loaded = thread::scope(|scope| match thread::Builder::new().spawn_scoped(scope, load) {
        Ok(reader) => reader.join(),
        // What follows is the same with one thread only, and takes a little more memory.
        Err(_) => Ok(load()),
    });
    let loaded = loaded.unwrap_or_else(|panic| resume_unwind(panic))?;
    Ok(Loaded { lab: loaded.lab.clone(), text: loaded.text.clone(), notes: loaded.notes.clone() })
}

/// A file that describes a lab.
enum File {
    Lab(String),
    Foreign(Imported),
}

fn read(path: &Path, foreign: &Foreign) -> Result<File, Failure> {
    let place = foreign.as_played.as_deref().unwrap_or(path);
    let text = netloom_lab::read(place).map_err(|error| Failure::new(ExitCode::LabFile, error))?;
    if foreign.as_played.is_some() {
        return Ok(File::Lab(text));
    }
    match foreign.from.or_else(|| Format::of(path, &text)) {
        Some(format) => import(path, format, text, foreign).map(File::Foreign),
        None => Ok(File::Lab(text)),
    }
}

/// The text of a lab file, or of the one that a file of another tool becomes.
pub(super) fn text(path: &Path, foreign: &Foreign) -> Result<String, Failure> {
    Ok(match read(path, foreign)? {
        File::Lab(text) => text,
        File::Foreign(imported) => imported.yaml().to_owned(),
    })
}

/// Reads a file of another tool.
pub(super) fn import(path: &Path, format: Format, text: String, foreign: &Foreign) -> Result<Imported, Failure> {
    netloom_import::read(format, &path.to_string_lossy(), text, &foreign.options()).map_err(|found| refused(&found))
}

/// The failure for what is wrong with a file.
pub(super) fn refused(found: &Diagnostics) -> Failure {
    Failure { code: ExitCode::LabFile, message: found.render_styled(), styled: true, report: None }
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

/// That this machine has too little room for the neighbours of the lab's nodes, if so; it is said, too.
pub(super) fn crowded(lab: &Lab) -> Option<String> {
    netloom_run::neighbor_warning(&lab.plan).inspect(|warning| talk::warning(warning))
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
    let begun = Instant::now();
    let Loaded { lab, text: lab_text, notes } = load_in_one_piece(path, &overrides.foreign, clock)?;
    let here = unused_traffic(&lab).into_iter().chain(short_memory(&lab)).chain(crowded(&lab));
    let warnings = notes.into_iter().chain(lab.warnings.lines()).chain(here).collect();
    let mut plan = lab.plan;
    if let Some(name) = &overrides.name {
        plan.name = valid_name(name)?;
    }
    if let Some(seed) = overrides.seed {
        plan.seed = Seed::new(seed);
    }
    if let Some(precision) = overrides.precision {
        plan.precision = precision_of(precision);
    }
    if let Some(shards) = overrides.shards {
        plan.shards = shards;
    }
    let command_line = std::env::args().collect();
    let (kernel, parent) = (overrides.kernel.clone(), None);
    let (plan, lab_file, plots, page, wall_limit) = (plan.into(), path.to_owned(), false, true, None);
    let run = RunRequest {
        begun,
        plan,
        lab_file,
        lab_text,
        warnings,
        results,
        command_line,
        plots,
        page,
        wall_limit,
        stop_at: None,
        gate: None,
        part: None,
        stays: false,
        kernel,
        parent,
        root: machine_root(overrides.root.as_deref(), overrides.start_folder.as_deref())?,
    };
    Ok(run)
}

/// Finds the folder that kernel nodes are to see in the place of this machine's files.
pub(super) fn machine_root(root: Option<&Path>, start: Option<&Path>) -> Result<Option<MachineRoot>, Failure> {
    let failed = |what: &Path| {
        let what = what.display().to_string();
        move |error| Failure::new(ExitCode::Usage, format!("--root: {what}: {error}"))
    };
    let Some(root) = root else { return Ok(None) };
    let folder = root.canonicalize().map_err(failed(root))?;
    let here = || std::env::current_dir().map_err(failed(Path::new("the current folder")));
    let start = start.map(Path::to_owned).map_or_else(here, Ok)?;
    Ok(Some(MachineRoot { folder, start }))
}

/// A precision from the command line.
pub(super) fn precision_of(precision: PrecisionArg) -> Precision {
    match precision {
        PrecisionArg::Eco => Precision::Eco,
        PrecisionArg::Balanced => Precision::Balanced,
        PrecisionArg::Exact => Precision::Exact,
    }
}

/// Checks a name from the command line by the rules for names in lab files.
fn valid_name(name: &str) -> Result<String, Failure> {
    netloom_lab::check_name(name).map_err(|reason| Failure::new(ExitCode::Usage, format!("--name: {reason}")))?;
    Ok(name.to_owned())
}
