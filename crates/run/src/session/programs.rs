//! The programs of a lab and the nodes that they run in: they are started, asked whether they are ready, stopped, and heard of
//! when they end. In the end nodes pack what is collected and kept of their files.

mod churn;
mod collect;
mod crashes;
mod disks;
mod faults;
mod kernel_faults;
mod launch;
mod order;
mod processes;
mod returning;
mod services;
mod state;
mod stops;
mod ways;

use super::context::Context;
use super::stage::Stage;
pub(super) use collect::longest as longest_packing;
pub(super) use faults::note_clock;
pub(super) use launch::Launch;
use launch::null;
use netloom_commands::Readiness;
use netloom_commands::{Ending, argv, commands_of};
use netloom_control::ClientId;
use netloom_host::node::{NodeError, NodeEvent, SpawnError};
use netloom_judge::{Kind, RunError};
use netloom_lab::{NodeKey, Plan, RunCommand};
use netloom_provision::driver::Driver;
use netloom_provision::environment;
use netloom_provision::exposed::PortForwards;
use netloom_provision::hosts::HostsFiles;
use netloom_provision::kernels::folder_in;
use netloom_provision::node::{Begun, LabNode};
use netloom_provision::reboots::Reboots;
use netloom_units::{Duration, Instant};
pub(super) use processes::Purpose;
use processes::{DueSignal, ProcessKey, Processes};
use serde_json::json;
pub(super) use state::Programs;
use std::collections::{BTreeMap, BTreeSet};
use std::io::pipe;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;

impl Programs {
    /// Those of a lab whose programs have not been started.
    pub(super) fn new(
        plan: &Plan,
        (nodes, reboots): (Vec<Box<dyn LabNode>>, Option<Reboots>),
        hosts: HostsFiles,
        ways: PortForwards,
    ) -> Self {
        let commands = commands_of(plan);
        Self {
            nodes,
            gone: BTreeSet::new(),
            crashed: BTreeSet::new(),
            ever_crashed: BTreeSet::new(),
            frozen: BTreeMap::new(),
            away_by: BTreeMap::new(),
            drifts: BTreeMap::new(),
            reboots,
            boot_to_pack: BTreeSet::new(),
            unbootable: BTreeMap::new(),
            booted: Vec::new(),
            noted: Vec::new(),
            ranks: netloom_commands::ranks(&commands, plan),
            commands,
            waiting: Vec::new(),
            processes: Processes::default(),
            owners: BTreeMap::new(),
            sessions: BTreeMap::new(),
            ended_for: Vec::new(),
            changing: BTreeMap::new(),
            changed_for: Vec::new(),
            returning: Vec::new(),
            deferred: BTreeSet::new(),
            program_faults: BTreeMap::new(),
            packs: None,
            hosts,
            ways,
            silence: None,
        }
    }

    /// The clients whose programs have ended since the last time, with the exit codes.
    pub(super) fn take_ended(&mut self) -> Vec<(ClientId, i32)> {
        std::mem::take(&mut self.ended_for)
    }

    /// Whatever starts before time zero waits for its turn.
    pub(super) fn await_first(&mut self, context: &Context<'_>) {
        self.waiting = self.first_commands(context).collect();
    }

    fn first_commands(&self, context: &Context<'_>) -> impl Iterator<Item = usize> {
        let before_zero = |number: &usize| context.job.plan.starts_before_zero(self.commands[*number].event);
        (0..self.commands.len()).filter(before_zero)
    }

    /// Whether the lab is set up and all services of the beginning are ready.
    pub(super) fn is_ready_to_begin(&self, context: &Context<'_>) -> bool {
        self.first_commands(context).all(|number| self.commands[number].has_succeeded() == Some(true))
    }

    /// Starts the commands whose turn has come: all that they wait for has succeeded. Some are ready as soon as they run, so that it is the
    /// turn of others at once.
    pub(super) fn start_those_whose_turn_it_is(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        while !self.waiting.is_empty() && !matches!(context.stage, Stage::Stopping(_)) {
            let ready = self.take_ready(context)?;
            if ready.is_empty() {
                return Ok(());
            }
            for (due, numbers) in ready {
                self.say_what_starts(context, &numbers);
                self.start_commands(context, &numbers, due)?;
            }
        }
        Ok(())
    }

    /// Those among the waiting whose turn has come, and when that was due if it was to be some time after others.
    fn take_ready(&mut self, context: &mut Context<'_>) -> Result<BTreeMap<Option<Instant>, Vec<usize>>, RunError> {
        let (mut ready, now) = (BTreeMap::<_, Vec<usize>>::new(), context.links.now());
        for number in std::mem::take(&mut self.waiting) {
            let others = self.awaited_by(context, number);
            let failed = others.iter().find(|other| self.commands[**other].has_succeeded() == Some(false)).copied();
            if let Some(other) = failed {
                self.never_starts(context, number, other)?;
            } else if others.iter().any(|other| self.commands[*other].has_succeeded() != Some(true)) {
                self.waiting.push(number);
            } else {
                match self.turn(number, &others, now) {
                    Some(due) if due > now => self.waiting.push(number),
                    due => ready.entry(due).or_default().push(number),
                }
            }
        }
        Ok(ready)
    }

    /// When a command starts that waits some time after these others, which have all succeeded by `now`.
    fn turn(&mut self, number: usize, others: &[usize], now: Instant) -> Option<Instant> {
        let delay = self.commands[number].described.delay;
        if delay.is_zero() {
            return None;
        }
        let last = others.iter().filter_map(|other| self.commands[*other].succeeded).max();
        let turn = &mut self.commands[number].turn;
        *turn = turn.or_else(|| Some(last.unwrap_or(now) + delay));
        *turn
    }

    /// When the next of those that wait some time after others starts.
    pub(super) fn next_turn(&self) -> Option<Instant> {
        self.waiting.iter().filter_map(|number| self.commands[*number].turn).min()
    }

    /// What a command waits for: what it names, and before time zero for whatever makes the lab ready.
    fn awaited_by(&self, context: &Context<'_>, number: usize) -> Vec<usize> {
        let described = &self.commands[number].described;
        let is_first = matches!(context.stage, Stage::Starting);
        // When its node starts again, what makes that ready comes first.
        let is_setup = |of: &RunCommand| described.service && of.setup && (is_first || of.node == described.node);
        let is_awaited = |other: &usize| {
            let command = &self.commands[*other];
            described.after.contains(&command.event) || is_setup(&command.described)
        };
        (0..self.commands.len()).filter(is_awaited).collect()
    }

    /// What it waited for has failed.
    fn never_starts(&mut self, context: &mut Context<'_>, number: usize, other: usize) -> Result<(), RunError> {
        let [name, other] = [number, other].map(|one| self.commands[one].described.name.clone());
        context.report(format!("{name} does not start: {other} did not succeed"));
        context.note("not started", json!({ "command": name, "because": other }))?;
        self.commands[number].kept_by = Some(other.clone());
        let failure = RunError::Command(format!("`{name}` could not start: `{other}` did not succeed"));
        if matches!(context.stage, Stage::Starting) {
            return Err(failure);
        }
        self.fails_to_return(number, &failure);
        Ok(())
    }

    fn say_what_starts(&mut self, context: &mut Context<'_>, numbers: &[usize]) {
        if !matches!(context.stage, Stage::Starting) {
            return;
        }
        let services = numbers.iter().filter(|number| self.commands[**number].described.service).count();
        match (services, numbers.len() - services) {
            (0, 0) => {}
            (0, _) => context.guard.step("setting the nodes up"),
            (1, _) => context.guard.step("starting 1 service"),
            (count, _) => context.guard.step(format!("starting {count} services")),
        }
    }

    /// Starts the commands of timeline entries that were due `at` after time zero.
    pub(super) fn start_timed(
        &mut self,
        context: &mut Context<'_>,
        events: &[usize],
        at: Duration,
    ) -> Result<(), RunError> {
        let number = |event: &usize| {
            let number = self.commands.iter().position(|command| command.event == *event);
            number.expect("every entry that runs something has its command")
        };
        // Those that wait for others start in their turn, which may be now.
        let (waiting, now): (Vec<usize>, Vec<usize>) =
            events.iter().map(number).partition(|one| !self.commands[*one].described.after.is_empty());
        self.waiting.extend(waiting);
        let due = context.zero().map(|zero| zero + at);
        self.start_commands(context, &now, due)?;
        self.start_those_whose_turn_it_is(context)
    }

    /// Starts commands that were due at `due`: all of them are asked for before the first is waited for, so that in virtual
    /// time no time passes between them.
    fn start_commands(
        &mut self,
        context: &mut Context<'_>,
        numbers: &[usize],
        due: Option<Instant>,
    ) -> Result<(), RunError> {
        let mut begun = Vec::new();
        for number in self.without_those_away(context, numbers)? {
            let asked = self.begin_command(context, number)?;
            // By now a program of a namespace node runs; a kernel has been asked for it.
            begun.push((number, context.links.now(), asked));
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
            let key = key.map_err(|error| self.cannot_start(context, number, &error))?;
            self.has_started(context, number, key, now, due.map(|due| now.since(due)))
        })
    }

    fn begin_command(&mut self, context: &Context<'_>, number: usize) -> Result<Result<Begun, SpawnError>, RunError> {
        let command = &self.commands[number];
        let (stdout, stderr) = command.open_logs(&context.job.folder)?;
        let described = &command.described;
        let (node, user, cwd) = (described.node, described.user.clone(), self.folder_of(context, described));
        let env = environment::of_program(&context.job.plan, node, user.as_deref(), &described.env, &cwd);
        let arguments = argv(&described.command);
        // An image whose program is a shell, as of many distributions, goes on as long as it may hear something.
        let stdin = if described.key == Some(NodeKey::Image) { self.silence()? } else { null()? };
        let stdio = [stdin, stdout, stderr];
        let launch = Launch { node, argv: arguments, env, cwd, stdio, terminal: false, user };
        self.commands[number].asked = Some(context.links.now());
        let named = self.hosts.write(&context.job.plan, node);
        Ok(named.and_then(|()| self.nodes[node].begin_spawn(launch.into())))
    }

    /// An input that neither says anything nor ends.
    fn silence(&mut self) -> Result<OwnedFd, RunError> {
        let wrong = |error| RunError::Machine(format!("making a pipe for the programs of images: {error}"));
        if self.silence.is_none() {
            self.silence = Some(pipe().map_err(wrong)?);
        }
        let (reader, _) = self.silence.as_ref().expect("it was made above");
        reader.try_clone().map(OwnedFd::from).map_err(wrong)
    }

    fn has_started(
        &mut self,
        context: &mut Context<'_>,
        number: usize,
        key: ProcessKey,
        now: Instant,
        lateness: Option<Duration>,
    ) -> Result<(), RunError> {
        let described = &self.commands[number].described;
        let (name, lasting, grace) = (described.name.clone(), described.stop_after, described.stop);
        self.processes.add(key, Purpose::Command(number), now, lasting, grace);
        let event = self.commands[number].event;
        self.owners.insert((key.node, key.process.get()), event);
        let session = self.nodes[key.node].session_of(key.process);
        self.sessions.extend(session.map(|session| ((key.node, session.into()), event)));
        let running = &mut self.commands[number];
        running.started.get_or_insert((now, lateness));
        if running.described.service {
            running.readiness = Some(Readiness::of(running.described.ready.as_ref(), running.described.once, now));
        }
        if let Some(late) = lateness {
            let at = context.job.plan.timeline[self.commands[number].event].at;
            // Without a time of its own, it starts at time zero when its turn comes.
            let is_timed = at.is_some() || !self.commands[number].described.delay.is_zero();
            let at = at.filter(|_| self.commands[number].restarts == 0);
            let due = at.or_else(|| Some((now - late).since(context.zero()?)));
            context.record(Kind::ProgramStart, late, is_timed, || format!("{name} at {}", due.unwrap_or_default()));
        }
        let late_ns = lateness.map(Duration::as_nanos);
        context.note("started", json!({ "command": name, "lateness_ns": late_ns }))?;
        context.report(format!("{name} started"));
        Ok(())
    }

    fn cannot_start(&self, context: &Context<'_>, number: usize, error: &SpawnError) -> RunError {
        let command = &self.commands[number];
        let line = context.job.plan.timeline[command.event].line;
        let text = format!("{}:{line}: starting `{}`: {error}", context.job.lab_file.display(), command.described.name);
        match error {
            SpawnError::Node(NodeError::Gone { .. } | NodeError::Kernel { .. }) => RunError::Died(text),
            _ => RunError::Command(text),
        }
    }

    /// Where a command starts.
    fn folder_of(&self, context: &Context<'_>, described: &RunCommand) -> PathBuf {
        let of_container = context.job.containers.folder(described.node);
        let base = of_container.unwrap_or_else(|| folder_in(context.job, described.node));
        context.job.images.folder(described.node, described.folder.as_deref(), base)
    }

    pub(super) fn launch(&mut self, context: &Context<'_>, launch: Launch) -> Result<ProcessKey, SpawnError> {
        let node = launch.node;
        self.hosts.write(&context.job.plan, node)?;
        let process = self.nodes[node].spawn(launch.into())?;
        Ok(ProcessKey { node, process })
    }

    fn setup_failed(&self, context: &Context<'_>, number: usize, ending: Ending) -> RunError {
        let command = &self.commands[number];
        let (file, line) = (context.job.lab_file.display(), context.job.plan.timeline[command.event].line);
        let node = &context.job.plan.nodes[command.described.node].name;
        let words = command.last_words_text(&context.job.folder);
        let (name, code) = (&command.described.name, ending.shell_code());
        RunError::Command(format!("{file}:{line}: setup of {node}: `{name}` ended with code {code}{words}"))
    }

    pub(super) fn send_due_signals(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        for DueSignal { key, signal, purpose, at, held } in self.processes.due(context.links.now()) {
            // A program that has just ended needs no signal; its end is about to be reported.
            let _ = self.nodes[key.node].signal(key.process, signal);
            if held {
                let _ = self.nodes[key.node].signal(key.process, libc::SIGCONT);
            }
            if let Purpose::Command(number) = purpose {
                self.signalled(context, number, signal, at)?;
            }
        }
        Ok(())
    }

    fn signalled(
        &mut self,
        context: &mut Context<'_>,
        number: usize,
        signal: i32,
        at: Instant,
    ) -> Result<(), RunError> {
        let now = context.links.now();
        let (name, late) = (self.commands[number].described.name.clone(), now.since(at));
        if let Some(zero) = context.zero().filter(|_| matches!(context.stage, Stage::Running(_))) {
            context.record(Kind::Signal, late, true, || format!("signal {signal} to {name} at {}", at.since(zero)));
        }
        context.note("signalled", json!({ "command": name, "signal": signal, "lateness_ns": late.as_nanos() }))
    }

    /// Takes in what a node's agent reports.
    pub(super) fn serve_node(&mut self, context: &mut Context<'_>, node: usize) -> Result<(), RunError> {
        while let Some(event) = self.nodes[node].next_event() {
            match event {
                NodeEvent::Exited { process, status, .. } => {
                    let ending = Ending { code: status.code(), signal: status.signal() };
                    self.exited(context, ProcessKey { node, process }, ending)?;
                }
                NodeEvent::Gone => {
                    self.gone.insert(node);
                    self.processes.remove_node(node);
                    let what = self.nodes[node].obituary();
                    context.note("node_gone", json!({ "node": self.nodes[node].name(), "what": what }))?;
                    if let Driver::Virtual(time) = context.links.driver() {
                        time.fail(what.clone());
                    }
                    return Err(RunError::Died(what));
                }
            }
        }
        Ok(())
    }

    fn exited(&mut self, context: &mut Context<'_>, key: ProcessKey, ending: Ending) -> Result<(), RunError> {
        let ended = self.nodes[key.node].take_ending(key.process).unwrap_or_else(|| context.links.now());
        let Some(process) = self.processes.remove(key) else { return Ok(()) };
        match process.purpose {
            Purpose::Command(number) => self.command_ended(context, number, ending, process.was_stopped(), ended),
            Purpose::Probe(number) if ending.code == Some(0) => self.is_ready(context, number),
            Purpose::Probe(_) | Purpose::PortForward => Ok(()),
            Purpose::Pack(number) => self.packed(context, number, ending),
            Purpose::Client(client) => {
                self.ended_for.push((client, ending.shell_code()));
                Ok(())
            }
        }
    }

    fn command_ended(
        &mut self,
        context: &mut Context<'_>,
        number: usize,
        ending: Ending,
        stopped: bool,
        ended: Instant,
    ) -> Result<(), RunError> {
        let command = &mut self.commands[number];
        command.ended = Some((ended, ending, stopped));
        command.succeeded = command.succeeded.or(Some(ended));
        command.save(&context.job.folder)?;
        let name = command.described.name.clone();
        let was_ready = command.readiness.as_ref().is_some_and(Readiness::is_ready);
        let is_done = command.described.once && ending.code == Some(0) && !was_ready;
        let died_early = command.described.service && !stopped && !was_ready && !is_done;
        let awaits_routes = is_done && command.awaits_routes();
        command.readiness = command.readiness.take().filter(|readiness| readiness.is_ready() || awaits_routes);
        let setup_failed = command.described.setup && command.has_succeeded() == Some(false);
        context.note(
            "ended",
            json!({ "command": name, "exit_code": ending.code, "signal": ending.signal, "stopped": stopped }),
        )?;
        context.report(format!("{name} ended"));
        if died_early {
            let how = format!("because it ended with code {}", ending.shell_code());
            let failure = self.not_ready(context, number, &how);
            if !self.survives(context) {
                return Err(failure);
            }
            self.report_not_ready(context, number, &failure)?;
        }
        if setup_failed {
            let failure = self.setup_failed(context, number, ending);
            if matches!(context.stage, Stage::Starting) {
                return Err(failure);
            }
            self.report_not_ready(context, number, &failure)?;
        }
        if is_done && !awaits_routes {
            self.is_ready(context, number)?;
        }
        if self.commands[number].comes_again {
            self.start_again(&[number]);
        }
        Ok(())
    }
}

/// Whether a node has answered that it cannot start a program, rather than not at all.
fn says_no(error: &SpawnError) -> bool {
    !matches!(error, SpawnError::Node(NodeError::Gone { .. } | NodeError::Kernel { .. }))
}
