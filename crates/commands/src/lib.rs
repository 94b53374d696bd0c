//! The commands and services of a lab's timeline, and what became of each. This crate starts and ends no program: whoever does so, writes here when and how.

#![forbid(unsafe_code)]

mod gate;
mod rank;
mod readiness;
mod timeline;

pub use gate::{Common, Gate};
pub use rank::{Rank, ranks};
pub use readiness::{Readiness, Step, condition};
pub use timeline::{Due, Item, Timeline};

use ipnet::IpNet;
use netloom_control::{ServiceInfo, ServiceState};
use netloom_judge::CommandRow;
use netloom_lab::{Action, Argv, CommandMetric, Measured, OnRestart, Plan, ReadyWhen, RunCommand, Subject};
use netloom_provision::job::Mode;
use netloom_results::{Folder, WriteError, last_lines};
use netloom_units::{Duration, Instant};
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Its exit code, when it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl Ending {
    /// As a shell would give it: the exit code, or 128 and the signal's number.
    pub fn shell_code(self) -> i32 {
        self.code.unwrap_or_else(|| 128 + self.signal.unwrap_or(0))
    }
}

/// A command or service of the timeline.
#[derive(Debug)]
pub struct Command {
    /// Its entry in the timeline.
    pub event: usize,
    /// As the lab file has it.
    pub described: RunCommand,
    /// Its line in the lab file.
    line: usize,
    node: String,
    stdout: PathBuf,
    stderr: PathBuf,
    /// When its node was asked to start it; none if that has said that it cannot. A node that never answers may have
    /// started it: in virtual time a program that computes from its first instant on keeps its node from answering, and
    /// starts at the instant at which it was asked for.
    pub asked: Option<Instant>,
    /// When it was started, and how much later than described; none as long as the node has not answered.
    pub started: Option<(Instant, Option<Duration>)>,
    /// When and how it ended, and whether netloom asked it to.
    pub ended: Option<(Instant, Ending, bool)>,
    /// When others learned that it had succeeded, for those that wait some time after it.
    pub succeeded: Option<Instant>,
    /// When its turn comes, once all that it waits for has succeeded.
    pub turn: Option<Instant>,
    /// Which entry of the timeline has ended it and is to start it again.
    pub taken_by: Option<usize>,
    /// Whether it starts again as soon as it has ended.
    pub comes_again: bool,
    /// How often it was started again.
    pub restarts: u32,
    /// The command that had to succeed before this one could start, and did not.
    pub kept_by: Option<String>,
    /// Whether its node had stopped when it was to start.
    pub node_stopped: bool,
    /// Whether the user ended the run before it had ended.
    pub interrupted: bool,
    /// For a service: whether it can be used.
    pub readiness: Option<Readiness>,
    /// The prefixes without a route when its node was last asked for those that make it ready.
    pub lacking: Vec<IpNet>,
    /// Whether whom its output names has been parted from others, or that it names nobody was noted.
    pub has_led: bool,
    /// Whether the lab file expects something of how it ends, which then alone counts.
    exit_is_judged: bool,
}

impl Command {
    fn new(plan: &Plan, number: usize, event: usize, described: &RunCommand) -> Self {
        let node = plan.nodes[described.node].name.clone();
        let log = format!("logs/{:02}-{node}-{}", number + 1, file_safe(&described.name));
        Self {
            event,
            described: described.clone(),
            line: plan.timeline[event].line,
            node,
            stdout: format!("{log}.stdout").into(),
            stderr: format!("{log}.stderr").into(),
            asked: None,
            started: None,
            ended: None,
            succeeded: None,
            turn: None,
            taken_by: None,
            comes_again: false,
            restarts: 0,
            kept_by: None,
            node_stopped: false,
            interrupted: false,
            readiness: None,
            lacking: Vec::new(),
            has_led: false,
            exit_is_judged: plan.expect.iter().any(|expectation| expects_exit_of(&expectation.term.subject, event)),
        }
    }

    /// Creates the files for what it writes. When it starts again, it goes on in these.
    pub fn open_logs(&self, folder: &Folder) -> Result<(OwnedFd, OwnedFd), WriteError> {
        let open = |path: &PathBuf| {
            let name = path.to_string_lossy();
            if self.restarts == 0 { folder.file(&name) } else { folder.file_again(&name) }.map(OwnedFd::from)
        };
        Ok((open(&self.stdout)?, open(&self.stderr)?))
    }

    /// Forgets how the command ended, because it starts again. Its start remains the first.
    pub fn renew(&mut self) {
        self.restarts += 1;
        (self.ended, self.readiness, self.succeeded, self.turn) = (None, None, None, None);
        (self.taken_by, self.comes_again) = (None, false);
        self.may_start();
    }

    /// Notes that what has kept the command from starting is over.
    pub fn may_start(&mut self) {
        (self.kept_by, self.node_stopped) = (None, false);
    }

    /// The node that it runs on.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Where in the results folder its standard output and its standard error are.
    pub fn logs(&self) -> [&Path; 2] {
        [&self.stdout, &self.stderr]
    }

    /// The run is interrupted: what runs, or is being started, does not come to its own end. Services have none.
    pub fn interrupt(&mut self) {
        let runs = self.asked.is_some() && self.ended.is_none();
        self.interrupted |= runs && !self.described.service;
    }

    /// Whether how it ended, or that it did not, is a failure.
    pub fn has_failed(&self) -> bool {
        match self.ended {
            _ if self.interrupted => false,
            None if self.never_started() => !self.described.may_fail,
            Some((_, _, true)) => false,
            Some((_, ending, false)) if !self.described.service => {
                ending.code != Some(0) && !self.described.may_fail && !self.exit_is_judged
            }
            Some((_, ending, false)) => {
                let is_done = self.described.once && ending.code == Some(0);
                !(self.described.may_fail || self.exit_is_judged || is_done)
            }
            None => self.asked.is_some(),
        }
    }

    /// Whether others may start that wait for this one; none if it is not known yet.
    pub fn has_succeeded(&self) -> Option<bool> {
        match (self.ended, &self.readiness) {
            (_, Some(readiness)) if readiness.is_ready() => Some(true),
            // It has done its part, and the routes are still to come.
            (Some(_), Some(_)) => None,
            (Some((_, ending, stopped)), None) => Some(ending.code == Some(0) || stopped && !self.described.service),
            (None, _) if self.never_started() => Some(false),
            (None, _) => None,
        }
    }

    /// Whether something kept it from ever starting.
    fn never_started(&self) -> bool {
        self.kept_by.is_some() || self.node_stopped
    }

    /// Whether it is ready only when its node has certain routes, after its own end if it has one.
    pub fn awaits_routes(&self) -> bool {
        self.described.ready.as_ref().is_some_and(|ready| matches!(ready.when, ReadyWhen::Routes(_)))
    }

    /// Returns what the report says of the command, with the last lines that it wrote if it has failed; times count from `zero`.
    pub fn row_with_last_words(&self, zero: Instant, folder: &Folder) -> CommandRow {
        let row = self.row(zero);
        let stderr_tail = if row.failed { self.last_words(folder) } else { Vec::new() };
        CommandRow { stderr_tail, ..row }
    }

    /// Returns what is known of the command; times count from `zero`.
    pub fn row(&self, zero: Instant) -> CommandRow {
        let signed = |at: Instant| i64::try_from(at.as_nanos()).unwrap_or(i64::MAX);
        let after_zero = |at: Instant| signed(at) - signed(zero);
        CommandRow {
            name: self.described.name.clone(),
            node: self.node.clone(),
            command: one_line(&self.described.command),
            line: self.line,
            service: self.described.service,
            start_ns: self.started.map(|(at, _)| at).or(self.asked).map(after_zero),
            start_lateness_ns: self.started.and_then(|(_, late)| late).map(Duration::as_nanos),
            end_ns: self.ended.map(|(at, ..)| after_zero(at)),
            exit_code: self.ended.and_then(|(_, ending, _)| ending.code),
            signal: self.ended.and_then(|(_, ending, _)| ending.signal),
            stopped: self.ended.is_some_and(|(.., stopped)| stopped),
            restarts: self.restarts,
            interrupted: self.interrupted,
            kept_by: self.kept_by.clone(),
            node_stopped: self.node_stopped,
            failed: self.has_failed(),
            stdout: self.stdout.clone(),
            stderr: self.stderr.clone(),
            stderr_tail: Vec::new(),
        }
    }

    /// Returns what became of a service so far; none for other commands.
    pub fn service(&self, now: Instant) -> Option<ServiceInfo> {
        let state = match (self.ended, &self.readiness) {
            _ if !self.described.service => return None,
            (Some((.., true)), _) => ServiceState::Stopped,
            (Some((_, ending, _)), _) if self.described.once && ending.code == Some(0) => ServiceState::Done,
            (Some(_), _) => ServiceState::Dead,
            (None, Some(readiness)) if readiness.is_ready() => ServiceState::Ready,
            (None, _) if self.started.is_some() => ServiceState::Starting,
            (None, _) => ServiceState::Waiting,
        };
        let ending = self.ended.map(|(_, ending, _)| ending);
        Some(ServiceInfo {
            name: self.described.name.clone(),
            node: self.node.clone(),
            state,
            exit_code: ending.and_then(|ending| ending.code),
            signal: ending.and_then(|ending| ending.signal),
            ended_since_ns: self.ended.map(|(at, ..)| now.since(at).as_nanos()),
        })
    }

    /// Whether a lab in this mode has it: one that stays up has what starts before time zero.
    pub fn belongs_to(&self, mode: Mode, plan: &Plan) -> bool {
        mode == Mode::Run || plan.starts_before_zero(self.event) || plan.starts_on_restart_only(self.event)
    }

    /// Whether there was an occasion for it to start: its node has started again, if it waits for that.
    pub fn had_occasion(&self) -> bool {
        self.described.on_restart != OnRestart::Only
            || self.asked.is_some()
            || self.started.is_some()
            || self.never_started()
    }

    /// Copies what the command wrote to its standard output to the name that the lab file wants.
    pub fn save(&self, folder: &Folder) -> Result<(), WriteError> {
        match &self.described.save {
            Some(name) => folder.copy(&self.stdout, name),
            None => Ok(()),
        }
    }

    /// Returns what the command shows of this metric, or why it shows nothing.
    pub fn measured(&self, metric: &CommandMetric, folder: &Folder) -> Result<Measured, String> {
        let started = self.started.map(|(at, _)| at).or(self.asked).ok_or("it was not started")?;
        let Some((ended, ending, _)) = self.ended else { return Err("it did not end".into()) };
        match metric {
            CommandMetric::Exit => Ok(Measured::Number(f64::from(ending.shell_code()))),
            CommandMetric::Duration => Ok(Measured::Number(ended.since(started).as_nanos() as f64)),
            CommandMetric::Stdout => self.stdout_text(folder).map(Measured::Text),
            CommandMetric::Stderr => self.stderr_text(folder).map(Measured::Text),
            CommandMetric::Json(path) => {
                let text = self.stdout_text(folder)?;
                let document: serde_json::Value =
                    serde_json::from_str(&text).map_err(|error| format!("its output is not JSON: {error}"))?;
                let value = path.find(&document)?;
                Measured::from_json(value).ok_or_else(|| format!("{path} is neither a number nor a text"))
            }
        }
    }

    /// All that it wrote to its standard output.
    pub fn stdout_text(&self, folder: &Folder) -> Result<String, String> {
        text_of(folder, &self.stdout)
    }

    /// All that it wrote to its standard error.
    fn stderr_text(&self, folder: &Folder) -> Result<String, String> {
        text_of(folder, &self.stderr)
    }

    /// The last lines that it wrote to its standard error.
    /// What it wrote last to its standard error, or else to its standard output.
    fn last_words(&self, folder: &Folder) -> Vec<String> {
        let of = |log: &Path| last_lines(&folder.path().join(log));
        Some(of(&self.stderr)).filter(|lines| !lines.is_empty()).unwrap_or_else(|| of(&self.stdout))
    }

    /// The same, for a message.
    pub fn last_words_text(&self, folder: &Folder) -> String {
        self.last_words(folder).iter().map(|line| format!("\n  | {line}")).collect()
    }
}

fn expects_exit_of(subject: &Subject, command: usize) -> bool {
    matches!(subject, Subject::Command { event, metric: CommandMetric::Exit } if *event == command)
}

fn text_of(folder: &Folder, log: &Path) -> Result<String, String> {
    let bytes =
        std::fs::read(folder.path().join(log)).map_err(|error| format!("reading {}: {error}", log.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// All commands of a plan, in the order of its timeline.
pub fn commands_of(plan: &Plan) -> Vec<Command> {
    let runs = plan.timeline.iter().enumerate().filter_map(|(event, entry)| match &entry.action {
        Action::Run(run) => Some((event, run)),
        _ => None,
    });
    runs.enumerate().map(|(number, (event, run))| Command::new(plan, number, event, run)).collect()
}

/// Returns the rows of all commands that are to run, before any of them does.
pub fn planned_commands(plan: &Plan, mode: Mode) -> Vec<CommandRow> {
    let commands = commands_of(plan);
    commands.iter().filter(|one| one.belongs_to(mode, plan)).map(|one| one.row(Instant::ZERO)).collect()
}

/// Returns the words to execute: a list as it is, a string by the shell.
pub fn argv(command: &Argv) -> Vec<OsString> {
    match command {
        Argv::Shell(text) => ["/bin/sh", "-c", text].map(OsString::from).to_vec(),
        Argv::Exec(words) => words.iter().map(OsString::from).collect(),
    }
}

fn one_line(command: &Argv) -> String {
    match command {
        Argv::Shell(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Argv::Exec(words) => words.join(" "),
    }
}

/// A name may hold anything; a file name only what every tool can handle.
fn file_safe(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    name.chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only command of a lab whose timeline has this entry, after it ended like this.
    fn ended(entry: &str, expect: &str, ending: Ending, stopped: bool) -> Command {
        let text = format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b]}}}}\ntimeline: [{entry}]\n{expect}");
        let plan = netloom_lab::parse(&text, "test.yaml").unwrap().plan;
        let mut command = commands_of(&plan).remove(0);
        command.started = Some((Instant::from_nanos(10), None));
        command.ended = Some((Instant::from_nanos(30), ending, stopped));
        command
    }

    const FAILURE: Ending = Ending { code: Some(3), signal: None };
    const SUCCESS: Ending = Ending { code: Some(0), signal: None };
    const KILLED: Ending = Ending { code: None, signal: Some(9) };

    #[test]
    fn commands_fail_unless_they_may_or_are_stopped_or_judged() {
        let failed = |entry, expect, ending, stopped| ended(entry, expect, ending, stopped).has_failed();
        let plain = "{on: a, run: 'false'}";
        assert!(failed(plain, "", FAILURE, false));
        assert!(failed(plain, "", KILLED, false));
        assert!(!failed(plain, "", SUCCESS, false));
        assert!(!failed(plain, "", KILLED, true));
        assert!(!failed("{on: a, run: 'false', may_fail: true}", "", FAILURE, false));
        assert!(!failed("{on: a, run: 'false', as: odd}", "expect: [odd.exit == 3]", FAILURE, false));
    }

    #[test]
    fn a_service_fails_when_it_ends_by_itself_unless_it_may() {
        let service = "{on: a, run: sleep 1, service: true}";
        let row = ended(service, "", SUCCESS, false).row(Instant::ZERO);
        assert!(row.failed);
        assert_eq!(row.ending(), "exit 0 before the run was over");
        let tolerated = "{on: a, run: sleep 1, service: true, may_fail: true}";
        assert!(
            !ended(tolerated, "", SUCCESS, false).has_failed() && !ended(tolerated, "", FAILURE, false).has_failed()
        );
        let once = "{on: a, run: sleep 1, service: once}";
        assert!(!ended(once, "", SUCCESS, false).has_failed() && ended(once, "", FAILURE, false).has_failed());
        assert!(!ended(service, "", KILLED, true).has_failed());
    }

    /// One that never answered and one that was asked to end.
    #[test]
    fn an_interrupted_command_is_neither_well_nor_failed() {
        let mut command = ended("{on: a, run: sleep 9}", "", KILLED, true);
        (command.asked, command.started, command.ended) = (Some(Instant::from_nanos(30)), None, None);
        command.interrupt();
        let row = command.row(Instant::from_nanos(25));
        assert_eq!((row.start_ns, row.interrupted, row.failed), (Some(5), true, false));
        assert_eq!(row.ending(), "interrupted");
        command.ended = Some((Instant::from_nanos(40), KILLED, true));
        assert_eq!(command.row(Instant::ZERO).ending(), "interrupted, ended by signal 9");
        let mut service = ended("{on: a, run: sleep 9, service: true}", "", KILLED, true);
        service.interrupt();
        assert_eq!(service.row(Instant::ZERO).ending(), "stopped by signal 9");
        let mut later = ended("{on: a, run: sleep 9}", "", KILLED, true);
        (later.asked, later.started, later.ended) = (None, None, None);
        later.interrupt();
        assert_eq!(later.row(Instant::ZERO).ending(), "was not started");
    }

    #[test]
    fn times_count_from_time_zero_and_may_lie_before_it() {
        let row = ended("{on: a, run: [echo, 'a  b'], as: odd}", "", SUCCESS, false).row(Instant::from_nanos(25));
        assert_eq!((row.start_ns, row.end_ns), (Some(-15), Some(5)));
        assert_eq!(row.command, "echo a  b");
        assert_eq!(row.stdout, PathBuf::from("logs/01-a-odd.stdout"));
    }

    #[test]
    fn endings_are_told_as_a_shell_does() {
        assert_eq!((FAILURE.shell_code(), KILLED.shell_code()), (3, 137));
    }
}
