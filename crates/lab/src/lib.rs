//! Lab files: from the text that a user writes to the plan of what is to be built and done.
//!
//! This crate builds and runs nothing: it opens no socket, starts no process and reads no clock, and it reads no file
//! but the lab file and those that it names. What the user wrote (`spec`) and what runs ([`Plan`]) are different types,
//! joined by one `resolve`. All errors of a file are reported at once, each with its place and what would be right.
#![forbid(unsafe_code)]

mod addressing;
mod bounded;
mod capture;
mod decode;
mod describe;
mod diagnostics;
mod errors;
pub mod expect;
pub mod fabric;
mod fields;
mod foreign;
mod forms;
#[cfg(test)]
mod fuzz;
mod generate;
mod hosts;
mod image;
mod journal;
mod keyed;
mod keys;
mod kinds;
mod limits;
pub mod markup;
mod models;
mod names;
pub mod plan;
mod programs;
mod resolve;
mod scalar;
mod schema;
mod section;
mod segments;
mod sets;
mod shape;
mod spec;
mod sweep;
mod table;
mod too_large;
mod traffic;
mod vary;
mod wires;
mod words;
pub mod yaml;

pub use decode::{Cut, parse_cut};
pub use describe::{change as describe_change, mac as mac_text, settings_of};
pub use diagnostics::{Diagnostic, Diagnostics, Span};
pub use expect::{
    CommandMetric, Condition, Dimension, Expectation, Figure, FigureUnit, Function, JsonPath, JsonStep, Judgement,
    Measured, NodeColumn, NodeMetric, Over, OverRuns, PipeMetric, RunsTerm, RunsTest, Settled, Subject, TcpMetric,
    TcpPart, Term, Test, Wanted, Window,
};
pub use foreign::{Dialect, ForeignError, Translation, translate};
pub use generate::{GeneratorKey, generate, generator_keys, generator_kinds};
pub use image::{ImageName, ImageSource};
pub use kinds::WITHHELD;
pub use limits::Limits;
pub use models::filter::write_protocol;
pub use models::{ChangeError, EXAMPLES, check_together, direction_keys, parse_change, parse_pipe};
pub use names::check_name;
pub use plan::{
    Action, Argv, Bounds, Bypass, CapturePlan, CapturePoint, Clock, ContainerEngine, ContainerPlan, Cpus, Daemon,
    Direction, DiskFormat, Disturbance, DiversionPlan, End, EndPlan, Event, ExercisePlan, ExposePlan, ExternalMode,
    ExternalPlan, FileContents, FilePlan, FilterExpression, GroupPlan, ImagePlan, InterfacePlan, InternetPlan,
    JournalPlan, LinkPart, LinkPlan, NamePlan, NodeKey, NodeKind, NodePlan, OnSpin, PinPlan, PipePlan, Plan, Precision,
    QuerierSettings, Ready, ReadyWhen, RoutePlan, RulePlan, RunCommand, SamplePlan, Sends, Shards, SnoopingPlan,
    SnoopingSettings, Stack, SwitchPlan, TableRoutePlan, TaskPlan, TrafficPlan, Treatment, TreePlan, TreePortPlan,
    TreeSettings, TunnelPlan, Unreached, VlansPlan, VmAccess, VmBegin, VmFirmware, VmPlan, VolumePlan, Whose,
    WindowConfig,
};
pub use programs::Program;
pub use schema::schema;
pub use shape::{Match, Owner, Owners, SHAPE_LINK, Shape, parse_match, write_match};
pub use sweep::{PreparedRun, Run, Sweep};
pub use table::key_table;
pub use traffic::parse_traffic;
pub use vary::{Processors, SweepSettings};

use diagnostics::Severity;
use errors::{Errors, Findings};
use expect::Points;
use std::path::Path;

/// A valid lab file.
#[derive(Clone, Debug, PartialEq)]
pub struct Lab {
    /// The plan of what is to be built and done.
    pub plan: Plan,
    /// The warnings about what is probably not meant.
    pub warnings: Diagnostics,
    /// A note that the file describes further runs, or expects something of all runs together, if it does.
    pub note: Option<String>,
}

/// Reads and checks the lab file at `path`.
///
/// # Errors
/// All errors in it, or why it could not be read.
pub fn load(path: &Path) -> Result<Lab, Diagnostics> {
    load_as(path, None)
}

/// Reads and checks the lab file at `path` as if its `clock` were this one.
///
/// # Errors
/// All errors in it with that clock, or why it could not be read.
pub fn load_with_clock(path: &Path, clock: Clock) -> Result<Lab, Diagnostics> {
    load_as(path, Some(clock))
}

fn load_as(path: &Path, clock: Option<Clock>) -> Result<Lab, Diagnostics> {
    let file = path.display().to_string();
    let failed =
        |why: String| Diagnostics::new(&file, "", Severity::Error, vec![Diagnostic::new(Span::default(), "", why)]);
    let text = bounded::read_lab(path).map_err(failed)?;
    parse_within(&text, &file, clock, &Limits::LARGEST)
}

/// The text of the lab file at `path`.
///
/// # Errors
/// The kernel's error, or that this is not a regular file, not text, or too long for a lab file.
pub fn read(path: &Path) -> Result<String, String> {
    bounded::read_lab(path)
}

/// Checks the lab file `text`; errors name it `file`, whose name is the lab's unless the text says another.
///
/// # Errors
/// All errors in it.
pub fn parse(text: &str, file: &str) -> Result<Lab, Diagnostics> {
    parse_within(text, file, None, &Limits::LARGEST)
}

/// Checks the lab file `text` as [`parse`] does, as if its `clock` were this one.
///
/// # Errors
/// All errors in it with that clock.
pub fn parse_with_clock(text: &str, file: &str, clock: Clock) -> Result<Lab, Diagnostics> {
    parse_within(text, file, Some(clock), &Limits::LARGEST)
}

/// The lab file `text`, which need not be right beyond being YAML, as JSON, which is a lab file, too.
///
/// # Errors
/// Why it is no YAML; errors name it `file`.
pub fn to_json(text: &str, file: &str) -> Result<String, Diagnostics> {
    let root = yaml::parse(text).map_err(|errors| Diagnostics::new(file, text, Severity::Error, errors))?;
    Ok(yaml::json(&root))
}

/// Checks the lab file `text` as [`parse`] does, as if its `clock` were this one, if there is one. A lab that is larger than `limits` is refused before
/// anything is made of it.
///
/// # Errors
/// All errors in it, or that it is too large.
pub fn parse_within(text: &str, file: &str, clock: Option<Clock>, limits: &Limits) -> Result<Lab, Diagnostics> {
    diagnostics::allow_suggestions();
    let diagnostics = |severity, entries| Diagnostics::new(file, text, severity, entries);
    let root = yaml::parse_within(text, limits).map_err(|errors| diagnostics(Severity::Error, errors))?;
    if let Some(found) = too_large::of_file(limits, &root) {
        return Err(diagnostics(Severity::Error, vec![found]));
    }
    let mut errors = Errors::in_folder(Path::new(file).parent().unwrap_or(Path::new(""))).within(limits);
    let first = vary::first(&root, &mut errors);
    if !errors.is_empty() {
        return Err(diagnostics(Severity::Error, errors.into_entries()));
    }
    let first = first.map_err(|(wrong, point)| diagnostics(Severity::Error, wrong).at_point(point))?;
    let source = Source { text, file, limits };
    let Some(first) = first else { return finish(&root, &source, clock, Points::default()) };
    let lab = finish(&first.root, &source, clock, first.points).map_err(|found| found.at_point(first.point))?;
    let notes: Vec<String> = first.note.into_iter().chain(lab.note).collect();
    Ok(Lab { note: (!notes.is_empty()).then(|| notes.join("; ")), ..lab })
}

/// That something is expected of all runs together, of which a single one shows nothing.
fn of_all_runs(plan: &Plan) -> Option<String> {
    let what = match plan.over_runs.len() {
        0 => return None,
        1 => "an expectation is".to_owned(),
        count => format!("{count} expectations are"),
    };
    Some(format!("{what} of all runs together: `netloom sweep` judges that"))
}

/// From where a lab file comes, and how large it may be.
struct Source<'a> {
    text: &'a str,
    file: &'a str,
    limits: &'a Limits,
}

/// The lab that `root` describes, which was read from `source`.
fn finish(root: &yaml::Node, source: &Source<'_>, clock: Option<Clock>, points: Points) -> Result<Lab, Diagnostics> {
    let Source { text, file, limits } = source;
    let diagnostics = |severity, entries| Diagnostics::new(file, text, severity, entries);
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    let mut found = Findings { errors: Errors::in_folder(folder).within(limits), ..Findings::default() };
    let (mut spec, left_out) = decode::decode(root, &mut found.errors);
    if let Some(too_large) = too_large::of_lab(limits, &spec) {
        return Err(diagnostics(Severity::Error, vec![too_large]));
    }
    spec.clock = clock.unwrap_or(spec.clock);
    spec.points = points;
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let in_trees = fabric::parts::names(&spec);
    let numbered = fabric::numbered::names(&spec);
    let mut plan = resolve::resolve(spec, &left_out, &stem, &mut found);
    if !found.errors.is_empty() {
        return Err(diagnostics(Severity::Error, found.errors.into_entries()));
    }
    fabric::trees::settle(&mut plan);
    fabric::routers::settle(&mut plan);
    found.warnings.extend(fabric::parts::warn(&plan, &in_trees));
    found.warnings.extend(fabric::numbered::warn(&plan, &numbered));
    let note = of_all_runs(&plan);
    Ok(Lab { plan, warnings: diagnostics(Severity::Warning, found.warnings), note })
}

/// The known word that is closest to `word`, if one is close enough to be meant; for messages about unknown names.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    diagnostics::allow_suggestions();
    diagnostics::nearest(word, known.into_iter())
}
