//! Lab files: from the text that a user writes to the plan of what is to be built and done.
//!
//! This crate builds and runs nothing: it opens no socket, starts no process and reads no clock, and it reads no file
//! but the lab file and those that it names. What the user wrote (`spec`) and what runs ([`Plan`]) are different types,
//! joined by one `resolve`. All errors of a file are reported at once, each with its place and what would be right.
#![forbid(unsafe_code)]

mod addressing;
mod capture;
mod decode;
mod describe;
mod diagnostics;
mod direction;
mod disjoint_sets;
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
mod hunt;
mod hunt_property;
mod image;
mod input_files;
mod journal;
mod key_table;
mod keyed;
mod keys;
mod kinds;
mod limits;
pub mod markup;
mod models;
mod names;
mod parted;
pub mod placement;
pub mod plan;
mod profiles;
mod programs;
mod resolve;
mod scalar;
mod schema;
mod section;
mod segments;
mod shape;
mod spec;
mod split;
mod sweep;
mod tracks;
mod traffic;
mod vary;
mod vlan_map;
mod words;
pub mod yaml;

pub use decode::{Cut, parse_cut};
pub use describe::{change as describe_change, firing as describe_firing, mac as mac_text, settings_of};
pub use diagnostics::{Diagnostic, Diagnostics, Span};
pub use expect::{
    CommandMetric, Condition, Dimension, Expectation, Figure, FigureUnit, Function, JsonPath, JsonStep, Judgement,
    Measured, NodeColumn, NodeMetric, Over, OverRuns, PipeMetric, RunsTerm, RunsTest, Settled, Subject, TcpMetric,
    TcpPart, Term, Test, Wanted, Window,
};
pub use foreign::{Dialect, ForeignError, Translation, translate};
pub use generate::{GeneratorKey, generate, generator_keys, generator_kinds};
pub use hunt::{HuntLab, HuntedRun, matches_name, with_entry};
pub use hunt_property::CHECKERS;
pub use image::{ImageName, ImageSource};
pub use key_table::key_table;
pub use kinds::WITHHELD;
pub use limits::Limits;
pub use models::filter::write_protocol;
pub use models::{ChangeError, EXAMPLES, check_together, direction_keys, parse_change, parse_pipe};
pub use names::check_name;
pub use parted::{Parted, Parter};
pub use plan::{
    Action, Argv, Bounds, Bypass, Call, CallError, CallFailure, CallSet, CaptureHeaders, CapturePlan, CapturePoint,
    Ceiling, Clock, ClockChange, Compare, ContainerEngine, ContainerPlan, Cpus, Daemon, Direction, DiskCall, DiskCalls,
    DiskFault, DiskFaultKind, DiskFormat, DiskPlan, Disturbance, DiversionPlan, End, EndPlan, Event, ExercisePlan,
    ExposePlan, ExternalMode, ExternalPlan, FarInterface, FarNode, FaultPlan, FaultShape, FaultTreatment, FileContents,
    FilePlan, Filesystem, FilterExpression, GroupPlan, HuntPlan, ImagePlan, InterfacePlan, InternetPlan, JournalPlan,
    Keep, KeyPlan, LeaderPartition, LeapSecond, LimitChange, LinkPart, LinkPlan, MachineChoice, MachinePlan, Modality,
    NamePlan, NodeClock, NodeKey, NodeKind, NodePlan, OnRestart, OnSpin, PacketFaults, PinPlan, PipePlan, Plan,
    Precision, PropertyPlan, PropertyTest, QuerierSettings, Ready, ReadyWhen, RoamPlan, RoutePlan, RulePlan,
    RunCommand, SamplePlan, Sends, Shards, ShortPattern, Signal, SnoopingPlan, SnoopingSettings, Stack, Standstill,
    Starvation, SwitchPlan, TableRoutePlan, TaskPlan, Tolerance, TrafficPlan, Treatment, TreePlan, TreePortPlan,
    TreeSettings, TunnelPlan, Turns, Unreached, VlansPlan, VmAccess, VmBegin, VmFirmware, VmPlan, VolumePlan, Whose,
    WindowConfig,
};
pub use plan::{BadDisk, ClockFaults, LimitFaults, NameFaults, NodeFault, NodeFaults, SinglePackets, SingleTreatment};
pub use profiles::{PROFILES, Profile};
pub use programs::Program;
pub use resolve::{RequestedFault, RequestedPartition, fault_refusals, parse_fault, parse_partition};
pub use schema::schema;
pub use shape::{Match, Owner, Owners, SHAPE_LINK, Shape, parse_match, write_match};
pub use split::{Division, Part, SplitSettings, Undivided, split, split_partition};
pub use sweep::{PreparedRun, Run, Sweep};
pub use tracks::{Way, setdest};
pub use traffic::parse_traffic;
pub use vary::{Processors, SweepSettings};

use diagnostics::Severity;
use errors::{Errors, Findings};
use expect::Points;
use spec::Spec;
use std::path::Path;
use yaml::Content;

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
    let text = input_files::read_lab(path).map_err(failed)?;
    parse_within(&text, &file, clock, &Limits::LARGEST)
}

/// The text of the lab file at `path`.
///
/// # Errors
/// The kernel's error, or that this is not a regular file, not text, or too long for a lab file.
pub fn read(path: &Path) -> Result<String, String> {
    input_files::read_lab(path)
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
    if let Some(found) = too_large_file(limits, &root) {
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
    if let Some(too_large) = too_large_lab(limits, &spec) {
        return Err(diagnostics(Severity::Error, vec![too_large]));
    }
    spec.clock = clock.unwrap_or(spec.clock);
    spec.points = points;
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let in_trees = fabric::warnings::switches_in_trees(&spec);
    let numbered = fabric::warnings::links_with_numbered_loss(&spec);
    let mut plan = resolve::resolve(spec, &left_out, &stem, &mut found);
    if !found.errors.is_empty() {
        return Err(diagnostics(Severity::Error, found.errors.into_entries()));
    }
    fabric::trees::settle(&mut plan);
    fabric::routers::settle(&mut plan);
    found.warnings.extend(fabric::warnings::of_trees(&plan, &in_trees));
    found.warnings.extend(fabric::warnings::of_numbered_loss(&plan, &numbered));
    let note = of_all_runs(&plan);
    Ok(Lab { plan, warnings: diagnostics(Severity::Warning, found.warnings), note })
}

/// Why what stands in the file is too large; none if it is not.
fn too_large_file(limits: &Limits, root: &yaml::Node) -> Option<Diagnostic> {
    let count = |node: &yaml::Node| match &node.content {
        Content::Map(all) => all.len(),
        Content::List(items) => items.len(),
        Content::Text { .. } | Content::Empty => 0,
    };
    let too_many = |name: &str, most: usize| {
        let node = root.value(name).filter(|node| count(node) > most)?;
        Some(node.error(format!("these are {} {name}: {}", count(node), most_of(name, most))))
    };
    too_many("nodes", limits.nodes).or_else(|| too_many("links", limits.links))
}

/// Why the lab is too large with what is generated; none if it is not.
fn too_large_lab(limits: &Limits, spec: &Spec) -> Option<Diagnostic> {
    let node = spec.nodes.get(limits.nodes).map(|node| node.name.error(most_of("nodes", limits.nodes)));
    node.or_else(|| spec.links.get(limits.links).map(|link| link.name.error(most_of("links", limits.links))))
}

fn most_of(what: &str, most: usize) -> String {
    let whose = if most == Limits::SERVED.nodes { "a lab on a page" } else { "a lab" };
    format!("{whose} has at most {most} {what}")
}

/// The known word that is closest to `word`, if one is close enough to be meant; for messages about unknown names.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    diagnostics::allow_suggestions();
    diagnostics::nearest(word, known.into_iter())
}
