//! The timeline.

use super::churn::churn;
use super::disk_faults::disk;
use super::faults;
use super::files::User;
use super::partitions::{heal, partition};
use super::program_faults::program_fault;
use super::ramp;
use super::repeats::{length, once, part, places, when};
use super::variables::Environment;
use crate::diagnostics::{Diagnostic, Spanned, one_of};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{AboveZero, Command, CommandName, OneOrMore, Placed, Word};
use crate::keyed::Keyed;
use crate::keys::{CUT, Condition, DOWN, LOG, MoveKeys, PACKET, RAMP_ENTRY, RESET, RUN, SET, SetupKeys, UP};
use crate::models::fault::{end_of_connections, fault};
use crate::models::{ChangeError, changes};
use crate::names::file_name;
use crate::plan::{OnRestart, Ready, ReadyWhen};
use crate::scalar::{filled, flag, positive_duration};
use crate::spec::{ActionSpec, EntrySpec, MoveSpec, RunSpec, SpanSpec, When, WrittenSpec};
use crate::yaml::{self, Content, Node};
use netloom_link::{PacketFault, PipeChange};
use netloom_units::Duration;
use std::path::PathBuf;

/// How long a service may take to become ready, unless the lab file says otherwise.
const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// All entries that can be read; `left_out` says whether commands could not.
pub(super) fn entries(node: &Node, errors: &mut Errors, left_out: &mut bool) -> Vec<WrittenSpec> {
    if !matches!(node.content, Content::List(_) | Content::Empty) {
        *left_out = true;
    }
    let mut entries = Vec::new();
    for item in list(node, errors) {
        match entry(item, errors) {
            Some(entry) => entries.push(entry),
            None => *left_out = true,
        }
    }
    entries
}

/// What an entry can be, by the key that says so.
const KINDS: [&str; 29] = [
    "run",
    "set",
    "ramp",
    "down",
    "up",
    "partition",
    "heal",
    "move",
    "log",
    "kill",
    "pause",
    "continue",
    "signal",
    "restart",
    "reboot",
    "stop",
    "start",
    "flap",
    "clock",
    "freeze",
    "packet",
    "reset",
    "crash",
    "limit",
    "disk",
    "fail",
    "starve",
    "schedule",
    "oom",
];

/// One entry of any kind.
pub(super) fn entry(node: &Node, errors: &mut Errors) -> Option<WrittenSpec> {
    let Content::Map(keys) = &node.content else {
        return errors.reject(node.expected("an entry like `{at: 1 s, on: client, run: ping -c 3 server}`"));
    };
    let has = |name: &str| keys.iter().any(|key| key.name == name);
    // Of a program, `stop` says how long it may take to end.
    let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| has(kind) && !(*kind == "stop" && has("run"))).collect();
    let (mut on, mut then) = (Vec::new(), Vec::new());
    let (when, action) = match kinds[..] {
        ["run"] => run(node, &mut on, errors)?,
        ["set"] => set(node, errors)?,
        ["ramp"] => ramp(node, &mut then, errors)?,
        ["log"] => log(node, errors)?,
        ["down"] => down(node, errors)?,
        ["up"] => up(node, errors)?,
        ["partition"] => partition(node, &mut on, errors)?,
        ["heal"] => heal(node, errors)?,
        ["move"] => moved(node, errors)?,
        ["clock"] => faults::clock(node, errors)?,
        ["packet"] => packet(node, errors)?,
        ["reset"] => reset(node, errors)?,
        ["limit"] => faults::limit(node, errors)?,
        ["disk"] => disk(node, errors)?,
        [kind @ ("fail" | "starve" | "schedule" | "oom")] => program_fault(kind, node, errors)?,
        [kind] => churn(kind, node, errors)?,
        [] => {
            return errors.reject(node.error(format!("the entry has no action: write one of {}", one_of(&KINDS))));
        }
        _ => {
            return errors
                .reject(node.error(format!("an entry has only one of {}: make one entry of each", one_of(&KINDS))));
        }
    };
    Some(WrittenSpec { line: node.span.line, when, on, action, then })
}

fn run(node: &Node, on: &mut Vec<Spanned<String>>, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &RUN, errors)?;
    let ready_node = fields.get("ready");
    let ready = ready_node.and_then(|condition| ready(condition, errors));
    let service = fields.read("service", service, errors);
    if let (Some(condition), Some((false, _))) = (ready_node, service) {
        errors.push(condition.error("only a service can be waited for: leave out `service: false`"));
    }
    let name = fields.form::<CommandName>("as", errors);
    let save = fields.read("save", file_name, errors);
    let mut when = when(&fields, errors);
    let stop_after = length(&fields, "for", &mut when.lasts, errors);
    let stop = fields.form::<AboveZero<Duration>>("stop", errors);
    let on_restart = fields.form::<Placed<Word<OnRestart>>>("on_restart", errors);
    let after = fields.form::<OneOrMore<CommandName>>("after", errors).unwrap_or_default();
    let delay = length(&fields, "delay", &mut when.waits, errors);
    if let (Some(place), true) = (fields.get("delay"), after.is_empty()) {
        errors.push(
            place.error("this counts from the end of others, or from when they are ready: add `after`, or write `at`"),
        );
    }
    let env = fields.form::<Environment>("env", errors).unwrap_or_default();
    let user = fields.form::<User>("user", errors);
    let folder = fields.read("folder", |value| filled(value).map(PathBuf::from), errors);
    let may_fail = fields.form::<bool>("may_fail", errors).unwrap_or(false);
    let command = fields.form::<Command>("run", errors);
    *on = fields.get("on").map_or_else(Vec::new, |value| places(value, errors));
    let (service, once) = service.unwrap_or((ready_node.is_some(), false));
    errors.extend(on_restart.as_ref().and_then(|of| wrong_restart(of, service, fields.get("at"))));
    let run = RunSpec {
        on: on.first()?.clone(),
        name,
        command: command?,
        after,
        delay: delay.unwrap_or(Duration::ZERO),
        ready,
        service,
        once,
        on_restart,
        save,
        stop_after,
        stop,
        env,
        may_fail,
        user,
        folder,
        ..RunSpec::default()
    };
    Some((when, ActionSpec::Run(Box::new(run))))
}

/// The error of what only services say, or of an instant for what starts with its node alone.
fn wrong_restart(on_restart: &Spanned<OnRestart>, service: bool, at: Option<&Node>) -> Option<Diagnostic> {
    if !service {
        return Some(
            on_restart.error("only services start again with their node: add `service: true`, or leave this out"),
        );
    }
    let at = at.filter(|_| on_restart.value == OnRestart::Only)?;
    Some(at.error("with `on_restart: only` it starts whenever its node starts again: leave out `at`"))
}

/// Whether it is a service, and whether that may end with 0.
fn service(node: &Node) -> Result<(bool, bool), Diagnostic> {
    match node.text() {
        Some("once") => Ok((true, true)),
        _ => flag(node).map(|service| (service, false)).map_err(|_| node.expected("true, false or once")),
    }
}

/// The commands of the whole lab that make it ready.
pub(super) fn setup(node: &Node, errors: &mut Errors) -> Vec<EntrySpec> {
    list(node, errors).iter().filter_map(|item| setup_entry(item, errors)).collect()
}

fn setup_entry(node: &Node, errors: &mut Errors) -> Option<EntrySpec> {
    let SetupKeys { on, run: command, r#as: name, env } = SetupKeys::open(node, errors)?;
    let run = RunSpec { on, name, command, env, setup: true, ..RunSpec::default() };
    Some(EntrySpec { line: node.span.line, at: None, action: ActionSpec::Run(Box::new(run)) })
}

fn set(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &SET, errors)?;
    let change = fields.get("set").and_then(|value| changes(value, errors));
    changed(&fields, change, errors)
}

fn ramp(node: &Node, then: &mut Vec<(Duration, PipeChange)>, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &RAMP_ENTRY, errors)?;
    let (first, others) = fields.get("ramp").and_then(|value| ramp::changes(value, errors)).unzip();
    *then = others.unwrap_or_default();
    changed(&fields, first, errors)
}

fn packet(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &PACKET, errors)?;
    let lasts = fields.form::<AboveZero<Duration>>("for", errors);
    let parts = fields.get("packet").zip(fields.get("do"));
    let found = parts.and_then(|(choice, action)| fault(choice, action, lasts, line(node), errors));
    changed(&fields, found.map(of_fault), errors)
}

fn reset(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &RESET, errors)?;
    let found = fields.get("reset").and_then(|connections| end_of_connections(connections, line(node), errors));
    changed(&fields, found.map(of_fault), errors)
}

/// The line of an entry, by which events tell of it.
fn line(node: &Node) -> u32 {
    u32::try_from(node.span.line).unwrap_or(u32::MAX)
}

fn of_fault(fault: PacketFault) -> PipeChange {
    PipeChange { faults: vec![fault], ..PipeChange::default() }
}

/// Reads when and where a change happens; none if it could not be read itself.
fn changed(fields: &Fields<'_>, change: Option<PipeChange>, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let (when, part) = (when(fields, errors), part(fields, errors));
    Some((when, ActionSpec::Set { part: part?, change: Box::new(change?) }))
}

fn log(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &LOG, errors)?;
    let when = when(&fields, errors);
    let line = |value: &Node| match filled(value)? {
        text if text.chars().any(char::is_control) => Err(value.expected("a text on one line")),
        text => Ok(text),
    };
    let text = fields.read("log", line, errors)?;
    Some((when, ActionSpec::Log(text)))
}

fn down(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &DOWN, errors)?;
    let mut when = when(&fields, errors);
    let cut = fields.get("down").and_then(|value| cut(value, &mut when.lasts, errors));
    let part = part(&fields, errors);
    let (duration, carrier) = cut?;
    Some((when, ActionSpec::Down { part: part?, duration, carrier }))
}

/// How a link is cut by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// For how long, if not until it is restored.
    pub duration: Option<Duration>,
    /// Whether the interfaces at its ends lose their carrier.
    pub carrier: bool,
}

/// The cut that the value of `down` describes, as a lab file would have it.
///
/// # Errors
/// What is wrong with the value.
///
/// ```
/// let cut = netloom_lab::parse_cut("{carrier: true}")?;
/// assert!(cut.carrier && cut.duration.is_none());
/// # Ok::<(), netloom_lab::ChangeError>(())
/// ```
pub fn parse_cut(value: &str) -> Result<Cut, ChangeError> {
    let wrong = |why: &str| ChangeError::new(format!("down: {why}"));
    let parsed = if value.trim().is_empty() { Ok(Node::empty()) } else { yaml::parse(value) };
    let node = parsed.map_err(|errors| wrong(errors.first().map_or("it is not YAML", Diagnostic::message)))?;
    let mut errors = Errors::default();
    let mut drawn = None;
    let found = cut(&node, &mut drawn, &mut errors);
    if drawn.is_some() {
        return Err(wrong("nothing is drawn by hand: write how long"));
    }
    match (found, errors.into_entries().first()) {
        (Some((duration, carrier)), None) => Ok(Cut { duration, carrier: carrier.is_some() }),
        (_, error) => Err(wrong(error.map_or("it is no cut", Diagnostic::message))),
    }
}

/// For how long a link is cut, if not until `up`; and where it says that its carrier goes, too. If the time is drawn, that goes to `drawn`.
fn cut(
    node: &Node,
    drawn: &mut Option<SpanSpec>,
    errors: &mut Errors,
) -> Option<(Option<Duration>, Option<Spanned<()>>)> {
    if node.plain() == Some("true") {
        return Some((None, None));
    }
    if !matches!(node.content, Content::Map(_)) {
        return keep(how_long(node), errors).map(|duration| (Some(duration), None));
    }
    let fields = Fields::open(node, &CUT, errors)?;
    let place = fields.get("carrier");
    let carrier = place.map_or(Some(false), |value| keep(flag(value), errors));
    let duration = fields.get("for").map_or(Some(None), |_| length(&fields, "for", drawn, errors).map(Some));
    Some((duration?, place.filter(|_| carrier == Some(true)).map(|place| place.spanned(()))))
}

fn how_long(node: &Node) -> Result<Duration, Diagnostic> {
    match node.plain() {
        Some("false") => Err(node.error("write `up: true` to restore a link")),
        _ => positive_duration(node),
    }
}

fn up(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &UP, errors)?;
    let when = when(&fields, errors);
    let is_true =
        |value: &Node| if flag(value)? { Ok(()) } else { Err(value.error("write `down: true` to cut a link")) };
    fields.read("up", is_true, errors);
    let part = part(&fields, errors)?;
    Some((when, ActionSpec::Up { part }))
}

fn moved(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &MoveKeys::SECTION, errors)?;
    let when = once(&fields, errors);
    let MoveKeys { r#move: who, from, to, carrier } = MoveKeys::read_keys(&fields, errors)?;
    Some((when, ActionSpec::Move(Box::new(MoveSpec { node: who, from, to, carrier }))))
}

pub(super) fn ready(node: &Node, errors: &mut Errors) -> Option<Ready> {
    let fields = Fields::open(node, &Condition::SECTION, errors)?;
    let before = errors.len();
    let Condition { tcp, udp, file, command, pause, timeout } = Condition::read_keys(&fields, errors)?;
    let conditions = [
        tcp.map(ReadyWhen::Tcp),
        udp.map(ReadyWhen::Udp),
        file.map(ReadyWhen::File),
        command.map(ReadyWhen::Command),
        pause.map(ReadyWhen::Pause),
    ];
    let timeout = timeout.unwrap_or(READY_TIMEOUT);
    let mut given = conditions.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(when), None) => Some(Ready { when, timeout }),
        (Some(_), Some(_)) => {
            errors.reject(node.error("a service has one condition: keep one of tcp, udp, file, command or pause"))
        }
        (None, _) => {
            if errors.len() == before {
                errors.push(node.error("the condition is empty: write one of tcp, udp, file, command or pause"));
            }
            None
        }
    }
}
