//! Starting programs, asking services whether they are ready, and noting how programs end.

use super::Session;
use super::processes::{DueSignal, ProcessKey, Purpose};
use super::stage::Stage;
use crate::Event;
use crate::commands::readiness::{Readiness, Step, condition};
use crate::commands::{Command, Ending, argv};
use crate::driver::Driver;
use crate::environment;
use crate::node::Begun;
use netloom_control::Reply;
use netloom_host::node::{NodeError, NodeEvent, Spawn, SpawnError};
use netloom_judge::{Kind, RunError};
use netloom_lab::{Ready, ReadyWhen, RunCommand};
use netloom_units::{Duration, Instant};
use serde_json::json;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

/// What a program is started with.
pub(super) struct Launch {
    pub(super) node: usize,
    pub(super) argv: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: PathBuf,
    pub(super) stdio: [OwnedFd; 3],
    pub(super) terminal: bool,
    pub(super) user: Option<String>,
}

impl From<Launch> for Spawn {
    fn from(launch: Launch) -> Self {
        let Launch { argv, env, cwd, stdio: [stdin, stdout, stderr], terminal, user, .. } = launch;
        Self { argv, env, clear_env: true, cwd: Some(cwd), stdin, stdout, stderr, tty: terminal, user }
    }
}

impl Session<'_> {
    /// Whatever starts before time zero waits for its turn.
    pub(super) fn await_first(&mut self) {
        self.waiting = self.first_commands().collect();
    }

    fn first_commands(&self) -> impl Iterator<Item = usize> {
        let before_zero = |number: &usize| self.job.plan.starts_before_zero(self.commands[*number].event);
        (0..self.commands.len()).filter(before_zero)
    }

    /// Whether the lab is set up and all services of the beginning are ready.
    pub(super) fn is_ready_to_begin(&self) -> bool {
        self.first_commands().all(|number| self.commands[number].has_succeeded() == Some(true))
    }

    /// Starts the commands whose turn has come: all that they wait for has succeeded.
    pub(super) fn start_those_whose_turn_it_is(&mut self) -> Result<(), RunError> {
        if self.waiting.is_empty() || matches!(self.stage, Stage::Stopping(_)) {
            return Ok(());
        }
        let mut ready = Vec::new();
        for number in std::mem::take(&mut self.waiting) {
            let others = self.awaited_by(number);
            let failed = others.iter().find(|other| self.commands[**other].has_succeeded() == Some(false)).copied();
            if let Some(other) = failed {
                self.never_starts(number, other)?;
            } else if others.iter().all(|other| self.commands[*other].has_succeeded() == Some(true)) {
                ready.push(number);
            } else {
                self.waiting.push(number);
            }
        }
        self.say_what_starts(&ready);
        self.start_commands(&ready, None)
    }

    /// What a command waits for: what it names, and before time zero for whatever makes the lab ready.
    fn awaited_by(&self, number: usize) -> Vec<usize> {
        let described = &self.commands[number].described;
        let is_service = described.service && matches!(self.stage, Stage::Starting);
        let is_awaited = |other: &usize| {
            let command = &self.commands[*other];
            described.after.contains(&command.event) || is_service && command.described.setup
        };
        (0..self.commands.len()).filter(is_awaited).collect()
    }

    /// What it waited for has failed.
    fn never_starts(&mut self, number: usize, other: usize) -> Result<(), RunError> {
        let [name, other] = [number, other].map(|one| self.commands[one].described.name.clone());
        self.tell(format!("{name} does not start: {other} did not succeed"));
        self.note("not started", json!({ "command": name, "because": other }))?;
        self.commands[number].kept_by = Some(other.clone());
        if matches!(self.stage, Stage::Starting) {
            return Err(RunError::Command(format!("`{name}` could not start: `{other}` did not succeed")));
        }
        Ok(())
    }

    fn say_what_starts(&mut self, numbers: &[usize]) {
        if !matches!(self.stage, Stage::Starting) {
            return;
        }
        let services = numbers.iter().filter(|number| self.commands[**number].described.service).count();
        match (services, numbers.len() - services) {
            (0, 0) => {}
            (0, _) => self.guard.step("setting the nodes up"),
            (1, _) => self.guard.step("starting 1 service"),
            (count, _) => self.guard.step(format!("starting {count} services")),
        }
    }

    /// Starts the commands of timeline entries that were due `at` after time zero.
    pub(super) fn start_timed(&mut self, events: &[usize], at: Duration) -> Result<(), RunError> {
        let number = |event: &usize| {
            let number = self.commands.iter().position(|command| command.event == *event);
            number.expect("every entry that runs something has its command")
        };
        // Those that wait for others start in their turn, which may be now.
        let (waiting, now): (Vec<usize>, Vec<usize>) =
            events.iter().map(number).partition(|one| !self.commands[*one].described.after.is_empty());
        self.waiting.extend(waiting);
        let due = self.zero().map(|zero| zero + at);
        self.start_commands(&now, due)?;
        self.start_those_whose_turn_it_is()
    }

    /// Starts commands that were due at `due`: all of them are asked for before the first is waited for, so that in virtual
    /// time no time passes between them.
    fn start_commands(&mut self, numbers: &[usize], due: Option<Instant>) -> Result<(), RunError> {
        let mut begun = Vec::new();
        for number in numbers {
            let asked = self.begin_command(*number)?;
            // By now a program of a namespace node runs; a kernel has been asked for it.
            begun.push((*number, self.links.now(), asked));
        }
        // All are heard, even if one fails: an answer belongs to its question.
        let finish = |(number, now, asked): (usize, Instant, Result<Begun, SpawnError>)| {
            let node = self.commands[number].described.node;
            let process = asked.and_then(|asked| self.nodes[node].finish_spawn(asked));
            if process.as_ref().is_err_and(says_no) {
                self.commands[number].asked = None;
            }
            (number, now, process.map(|process| ProcessKey { node, process }))
        };
        let started: Vec<_> = begun.into_iter().map(finish).collect();
        started.into_iter().try_for_each(|(number, now, key)| {
            let key = key.map_err(|error| self.cannot_start(number, &error))?;
            self.has_started(number, key, now, due.map(|due| now.since(due)))
        })
    }

    fn begin_command(&mut self, number: usize) -> Result<Result<Begun, SpawnError>, RunError> {
        let command = &self.commands[number];
        let (stdout, stderr) = command.open_logs(&self.job.folder)?;
        let described = &command.described;
        let launch = Launch {
            node: described.node,
            argv: argv(&described.command),
            env: environment::of_program(&self.job.plan, described.node, described.user.as_deref(), &described.env),
            cwd: self.folder_of(described),
            stdio: [null()?, stdout, stderr],
            terminal: false,
            user: described.user.clone(),
        };
        let node = launch.node;
        self.commands[number].asked = Some(self.links.now());
        let named = self.hosts.write(&self.job.plan, node);
        Ok(named.and_then(|()| self.nodes[node].begin_spawn(launch.into())))
    }

    fn has_started(
        &mut self,
        number: usize,
        key: ProcessKey,
        now: Instant,
        lateness: Option<Duration>,
    ) -> Result<(), RunError> {
        let described = &self.commands[number].described;
        let (name, lasting, grace) = (described.name.clone(), described.stop_after, described.stop);
        self.processes.add(key, Purpose::Command(number), now, lasting, grace);
        let running = &mut self.commands[number];
        running.started = Some((now, lateness));
        if running.described.service {
            running.readiness = Some(Readiness::of(running.described.ready.as_ref(), running.described.once, now));
        }
        if let Some(late) = lateness {
            let at = self.job.plan.timeline[self.commands[number].event].at;
            // Without a time of its own, it starts at time zero when its turn comes.
            self.record(Kind::ProgramStart, late, at.is_some(), || format!("{name} at {}", at.unwrap_or_default()));
        }
        let late_ns = lateness.map(Duration::as_nanos);
        self.note("started", json!({ "command": name, "lateness_ns": late_ns }))?;
        self.tell(format!("{name} started"));
        Ok(())
    }

    fn cannot_start(&self, number: usize, error: &SpawnError) -> RunError {
        let command = &self.commands[number];
        let line = self.job.plan.timeline[command.event].line;
        let text = format!("{}:{line}: starting `{}`: {error}", self.job.lab_file.display(), command.described.name);
        match error {
            SpawnError::Node(NodeError::Gone { .. } | NodeError::Kernel { .. }) => RunError::Died(text),
            _ => RunError::Command(text),
        }
    }

    /// Where a command starts.
    fn folder_of(&self, described: &RunCommand) -> PathBuf {
        described.folder.as_ref().map_or_else(|| self.job.cwd.clone(), |folder| self.job.cwd.join(folder))
    }

    pub(super) fn launch(&mut self, launch: Launch) -> Result<ProcessKey, SpawnError> {
        let node = launch.node;
        self.hosts.write(&self.job.plan, node)?;
        let process = self.nodes[node].spawn(launch.into())?;
        Ok(ProcessKey { node, process })
    }

    /// Tells whoever watches what happens now.
    pub(super) fn tell(&mut self, text: String) {
        let now = self.links.now();
        self.tell_at(self.zero().map(|zero| now.since(zero)), text);
    }

    /// Tells whoever watches what happened so long after time zero; none before that.
    pub(super) fn tell_at(&mut self, at: Option<Duration>, text: String) {
        self.guard.mention(&Event::Happened { at_ns: at.map(Duration::as_nanos), text });
    }

    /// Asks the services that are not ready yet whether they are.
    pub(super) fn look_after_services(&mut self) -> Result<(), RunError> {
        if matches!(self.stage, Stage::Stopping(_)) {
            return Ok(());
        }
        for number in 0..self.commands.len() {
            let now = self.links.now();
            let Some(readiness) = &mut self.commands[number].readiness else { continue };
            match readiness.step(now) {
                Step::Wait => {}
                Step::Ask if self.ask(number)? => self.is_ready(number)?,
                Step::Ask => {}
                Step::GiveUp => return Err(self.not_ready(number, "in time")),
            }
        }
        Ok(())
    }

    /// Whether a service is ready; a command that is to tell is started, and tells when it ends.
    fn ask(&mut self, number: usize) -> Result<bool, RunError> {
        let described = &self.commands[number].described;
        let Some(Ready { when, .. }) = &described.ready else { return Ok(true) };
        let node = described.node;
        match when {
            ReadyWhen::Pause(_) => Ok(true),
            ReadyWhen::File(path) => {
                let path = self.job.cwd.join(path);
                self.nodes[node].has_file(path).map_err(|error| RunError::Died(error.to_string()))
            }
            ReadyWhen::Tcp(port) => {
                let port = *port;
                self.nodes[node].listening(port).map_err(|error| RunError::Died(error.to_string()))
            }
            ReadyWhen::Command(command) => {
                let argv = argv(command);
                self.probe(number, node, argv)?;
                Ok(false)
            }
        }
    }

    fn probe(&mut self, number: usize, node: usize, argv: Vec<OsString>) -> Result<(), RunError> {
        if self.processes.key_of(Purpose::Probe(number)).is_some() {
            return Ok(());
        }
        let described = &self.commands[number].described;
        let (cwd, user) = (self.folder_of(described), described.user.clone());
        let env = environment::of_program(&self.job.plan, node, user.as_deref(), &described.env);
        let stdio = [null()?, null()?, null()?];
        let launch = Launch { node, argv, env, cwd, stdio, terminal: false, user };
        let key = self.launch(launch).map_err(|error| self.cannot_start(number, &error))?;
        self.processes.add(key, Purpose::Probe(number), self.links.now(), None, self.job.plan.stop);
        Ok(())
    }

    fn is_ready(&mut self, number: usize) -> Result<(), RunError> {
        self.commands[number].readiness = Some(Readiness::Ready);
        let name = self.commands[number].described.name.clone();
        self.tell(format!("{name} is ready"));
        self.note("ready", json!({ "command": name }))
    }

    fn setup_failed(&self, number: usize, ending: Ending) -> RunError {
        let command = &self.commands[number];
        let (file, line) = (self.job.lab_file.display(), self.job.plan.timeline[command.event].line);
        let node = &self.job.plan.nodes[command.described.node].name;
        let words = command.last_words_text(&self.job.folder);
        let (name, code) = (&command.described.name, ending.shell_code());
        RunError::Command(format!("{file}:{line}: setup of {node}: `{name}` ended with code {code}{words}"))
    }

    fn not_ready(&self, number: usize, how: &str) -> RunError {
        let Command { described, .. } = &self.commands[number];
        let awaited = described.ready.as_ref().map_or_else(String::new, |ready| format!(": {}", condition(ready)));
        let words = self.commands[number].last_words_text(&self.job.folder);
        RunError::Command(format!("service `{}` did not become ready {how}{awaited}{words}", described.name))
    }

    pub(super) fn send_due_signals(&mut self) -> Result<(), RunError> {
        for DueSignal { key, signal, purpose, at } in self.processes.due(self.links.now()) {
            // A program that has just ended needs no signal; its end is about to be reported.
            let _ = self.nodes[key.node].signal(key.process, signal);
            if let Purpose::Command(number) = purpose {
                self.signalled(number, signal, at)?;
            }
        }
        Ok(())
    }

    fn signalled(&mut self, number: usize, signal: i32, at: Instant) -> Result<(), RunError> {
        let now = self.links.now();
        let (name, late) = (self.commands[number].described.name.clone(), now.since(at));
        if let Some(zero) = self.zero().filter(|_| matches!(self.stage, Stage::Playing(_))) {
            self.record(Kind::Signal, late, true, || format!("signal {signal} to {name} at {}", at.since(zero)));
        }
        self.note("signalled", json!({ "command": name, "signal": signal, "lateness_ns": late.as_nanos() }))
    }

    /// Takes in what a node's agent reports.
    pub(super) fn serve_node(&mut self, node: usize) -> Result<(), RunError> {
        while let Some(event) = self.nodes[node].next_event() {
            match event {
                NodeEvent::Exited { process, status, .. } => {
                    let ending = Ending { code: status.code(), signal: status.signal() };
                    self.exited(ProcessKey { node, process }, ending)?;
                }
                NodeEvent::Gone => {
                    self.gone.insert(node);
                    self.processes.remove_node(node);
                    let what = self.nodes[node].obituary();
                    if let Driver::Virtual(time) = self.links.driver() {
                        time.fail(what.clone());
                    }
                    return Err(RunError::Died(what));
                }
            }
        }
        Ok(())
    }

    fn exited(&mut self, key: ProcessKey, ending: Ending) -> Result<(), RunError> {
        let ended = self.nodes[key.node].take_ending(key.process).unwrap_or_else(|| self.links.now());
        let Some(process) = self.processes.remove(key) else { return Ok(()) };
        match process.purpose {
            Purpose::Command(number) => self.command_ended(number, ending, process.was_stopped(), ended),
            Purpose::Probe(number) if ending.code == Some(0) => self.is_ready(number),
            Purpose::Probe(_) | Purpose::Way => Ok(()),
            Purpose::Pack(number) => self.packed(number, ending),
            Purpose::Client(client) => {
                self.server.reply(client, &Reply::Exited { code: ending.shell_code() });
                Ok(())
            }
        }
    }

    fn command_ended(&mut self, number: usize, ending: Ending, stopped: bool, ended: Instant) -> Result<(), RunError> {
        let command = &mut self.commands[number];
        command.ended = Some((ended, ending, stopped));
        command.save(&self.job.folder)?;
        let name = command.described.name.clone();
        let was_ready = command.readiness.as_ref().is_some_and(Readiness::is_ready);
        let is_done = command.described.once && ending.code == Some(0) && !was_ready;
        let died_early = command.described.service && !stopped && !was_ready && !is_done;
        command.readiness = command.readiness.take().filter(Readiness::is_ready);
        let setup_failed = command.described.setup && command.has_succeeded() == Some(false);
        self.note(
            "ended",
            json!({ "command": name, "exit_code": ending.code, "signal": ending.signal, "stopped": stopped }),
        )?;
        self.tell(format!("{name} ended"));
        if died_early {
            return Err(self.not_ready(number, &format!("because it ended with code {}", ending.shell_code())));
        }
        if setup_failed && matches!(self.stage, Stage::Starting) {
            return Err(self.setup_failed(number, ending));
        }
        if is_done { self.is_ready(number) } else { Ok(()) }
    }
}

/// Whether a node has answered that it cannot start a program, rather than not at all.
fn says_no(error: &SpawnError) -> bool {
    !matches!(error, SpawnError::Node(NodeError::Gone { .. } | NodeError::Kernel { .. }))
}

/// Programs of the timeline read from nowhere.
pub(super) fn null() -> Result<OwnedFd, RunError> {
    let null = File::options().read(true).write(true).open("/dev/null");
    null.map(OwnedFd::from).map_err(|error| RunError::Machine(format!("opening /dev/null: {error}")))
}
