//! A lab from its set-up to its end, in the lab process.
//!
//! One thread does everything here, the engine moves the packets in another. The loop is: do what is due, wait for
//! what comes, serve it. The stages follow one another: services start, the timeline runs, everything is stopped.

mod by_hand;
mod carriers;
mod clocks;
mod context;
mod doubles;
mod exercise;
mod finish;
mod freezes;
mod heartbeats;
mod leaders;
mod log_times;
mod measuring;
mod packet_faults;
mod phases;
mod programs;
mod requests;
mod sampling;
mod scheduled_events;
mod so_far;
mod sources;
mod stage;
mod state;
mod stops;
mod tasks;
mod write_errors;

use crate::order::Order;
use by_hand::ByHand;
use carriers::Carriers;
use context::Context;
use exercise::Exercise;
use heartbeats::Heartbeats;
use log_times::LogTimes;
use measuring::Measuring;
use netloom_commands::{Command, Common};
use netloom_commands::{Due, Item, Timeline};
use netloom_control::Server;
use netloom_figures::Snapshot;
use netloom_host::runtime::note_ending;
use netloom_judge::expectations::{Look, Watches};
use netloom_judge::measure::marks;
use netloom_judge::{Interventions, Punctuality, RunError, Spent};
use netloom_provision::Event;
use netloom_provision::accounts::Accounts;
use netloom_provision::assemble::Parts;
use netloom_provision::cpu_shares::throttling;
use netloom_provision::driver::Driver;
use netloom_provision::guard_link::{FromGuard, GuardLink};
use netloom_provision::job::Mode;
use netloom_provision::virtual_time::{EndOfTime, IMPATIENCE};
use netloom_results::EventLog;
use netloom_units::{Duration, Instant};
use programs::{Programs, Purpose};
use requests::{Requests, longest_end};
use scheduled_events::{FIRST_OF_TIMELINE, TIME_ZERO};
use serde_json::json;
use sources::Source;
use stage::{RunState, Stage, Stop, Why};
pub(crate) use state::Session;
use state::{Known, Silence};
use std::collections::BTreeMap;

/// How often to look whether the engine of a lab that is not sampled lives.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// How long the kernels of a lab that is taken down may compute, in wall time, beyond what its programs may take to end.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
/// A lab in virtual time in which nothing has happened for so long, and to which nothing more is to be done, waits for ever.
const LONGEST_SILENCE: Duration = Duration::from_secs(24 * 3600);

impl<'a> Session<'a> {
    /// A lab that was just assembled.
    pub(crate) fn new(order: &'a Order, guard: GuardLink, parts: Parts, server: Server, events: EventLog) -> Self {
        let job = &order.job;
        let Parts { nodes, links, recording, signals, notes, pump, claims, hosts, ways, reboots, boot } = parts;
        let timeline = match job.mode {
            Mode::Run => Timeline::of(&job.plan, &netloom_judge::expectations::instants(&job.plan), FIRST_OF_TIMELINE),
            Mode::Up => Timeline::of_stations(&job.plan, FIRST_OF_TIMELINE),
        };
        Self {
            programs: Programs::new(&job.plan, (nodes, reboots), hosts, ways),
            requests: Requests::new(server, job.mode == Mode::Up, order.stop_at),
            gate: order.gate(),
            guard_is_gone: false,
            signals,
            recording,
            timeline,
            awaited: Vec::new(),
            carriers: Carriers::of(&job.plan),
            windows: BTreeMap::new(),
            watches: Watches::of(&job.plan),
            exercise: Exercise::of(job),
            known: Known::default(),
            silence: Silence::default(),
            measuring: Measuring::default(),
            log_times: LogTimes::default(),
            heartbeats: Heartbeats::new(pump),
            _claims: claims,
            context: Context {
                order,
                job,
                guard,
                links,
                stage: Stage::Starting,
                events,
                punctuality: Punctuality::default(),
                notes,
                warnings: order.warnings.clone(),
                interventions: Interventions::default(),
                by_hand: ByHand::default(),
                overflows: order.overflows.count(),
                boot,
            },
        }
    }

    /// Plays the lab to its end and tells the guard how it ended: the exit code of the lab process, and whether the
    /// guard was there to the end.
    pub(crate) fn live(mut self) -> (i32, bool) {
        self.programs.await_first(&self.context);
        self.programs.show_ways(&mut self.context);
        let played = self.begin_measuring().and_then(|()| self.turn_until_stopped());
        let stopped = played.or_else(|error| {
            let why = self.why(error);
            self.stop(why)?;
            self.turn_until_stopped()
        });
        self.requests.farewell(&mut self.context, &mut self.programs);
        let guard_is_alive = !self.guard_is_gone;
        let (guard, last) = self.finish(stopped);
        let code = match &last {
            Event::Failed { code, .. } => i32::from(*code),
            Event::Finished { report } if report.error.is_some() => i32::from(report.exit_code),
            _ => 0,
        };
        guard.report_last(&last);
        (code, guard_is_alive)
    }

    fn begin_measuring(&mut self) -> Result<(), RunError> {
        self.measuring = Measuring::begin(&self.context, &mut self.programs)?;
        Ok(())
    }

    /// Why the lab ends after this error. Where time does not go on any more, no program can be asked to end, and no
    /// node will report anything.
    fn why(&mut self, error: RunError) -> Why {
        let Driver::Virtual(time) = self.context.links.driver() else { return Why::Failed(error) };
        let Some(end) = time.end() else { return Why::Failed(error) };
        for node in 0..self.programs.nodes.len() {
            // What was said before the end is part of the results; that the node has gone is known.
            let _ = self.serve_node(node);
        }
        self.programs.gone.extend(0..self.programs.nodes.len());
        self.programs.processes.clear();
        match end {
            EndOfTime::Failed(what) => Why::Failed(RunError::Died(what)),
            EndOfTime::Interrupted if self.is_too_long() => Why::WallLimit,
            EndOfTime::Interrupted => {
                self.guard_is_gone |= self.context.guard.listen() == FromGuard::Gone;
                Why::Interrupted
            }
        }
    }

    fn turn_until_stopped(&mut self) -> Result<(), RunError> {
        loop {
            self.do_what_is_due()?;
            if matches!(self.context.stage, Stage::Stopping(_))
                && self.programs.processes.is_empty()
                && !self.programs.begin_packing(&mut self.context)?
            {
                return Ok(());
            }
            for source in self.wait(self.context.links.now(), self.next_wake())? {
                self.serve(source)?;
            }
        }
    }

    /// Whether the run has taken longer than it may.
    fn is_too_long(&self) -> bool {
        self.context.job.wall_end.is_some_and(|end| end <= std::time::Instant::now())
    }

    fn do_what_is_due(&mut self) -> Result<(), RunError> {
        if self.is_too_long() {
            self.end_part()?;
            self.stop(Why::WallLimit)?;
        }
        self.programs.look_after_nodes(&mut self.context)?;
        stops::join_booted(&mut self.context, &mut self.programs, &mut self.carriers)?;
        self.requests.report_changed(self.programs.take_changed());
        self.programs.look_after_services(&mut self.context)?;
        self.part_leaders()?;
        self.programs.start_those_whose_turn_it_is(&mut self.context)?;
        if matches!(self.context.stage, Stage::Starting)
            && self.programs.is_ready_to_begin(&self.context)
            && let Some(left) = self.gate.opens(Common::Begin)?
        {
            self.begin(left)?;
        }
        self.play_timeline()?;
        if !matches!(self.context.stage, Stage::Stopping(_)) {
            self.requests.heal(&mut self.context, &mut self.programs, &mut self.carriers)?;
        }
        self.sample()?;
        self.log_times.look(&self.context, &self.programs.commands, false)?;
        self.look_at_tasks()?;
        if self.carriers.next_look().is_some_and(|at| at <= self.context.links.now()) {
            self.carriers.look(&self.context, &mut self.programs)?;
        }
        self.look_after_engine()?;
        self.programs.stop_in_turn(&self.context);
        self.programs.send_due_signals(&mut self.context)?;
        for client in self.requests.report(&mut self.context, &mut self.programs) {
            self.serve_client(client)?;
        }
        let over = self.context.job.mode == Mode::Run
            && self.timeline.is_over()
            && self.programs.waiting.is_empty()
            && !self.programs.any_changes()
            && !self.commands_run();
        if matches!(self.context.stage, Stage::Running(_)) && over && self.gate.opens(Common::End)?.is_some() {
            self.stop(Why::Over)?;
        }
        Ok(())
    }

    /// Whether the run waits for a command.
    fn commands_run(&self) -> bool {
        self.programs
            .processes
            .any(|purpose| matches!(purpose, Purpose::Command(n) if !self.programs.commands[n].described.service))
    }

    fn next_wake(&self) -> Option<Instant> {
        let sample = match &self.context.stage {
            Stage::Running(run_state) => run_state.sampler.as_ref().map(|_| run_state.next_samples),
            Stage::Starting | Stage::Stopping(_) => None,
        };
        let tasks = self.exercise.next().filter(|_| matches!(self.context.stage, Stage::Running(_)));
        let (carrier, logs) = (self.carriers.next_look(), self.log_times.next());
        let gate = self.gate.next_look(self.context.links.now());
        [sample, tasks, carrier, logs, gate, self.requests.next_sample(), self.next_scheduled_event()]
            .into_iter()
            .flatten()
            .min()
    }

    /// When the lab itself does something next that may make a difference to its nodes.
    fn next_scheduled_event(&self) -> Option<Instant> {
        // Nobody asks services any more when the lab ends: an instant that passed would hold virtual time.
        let asks = !matches!(self.context.stage, Stage::Stopping(_));
        let services = self.programs.commands.iter().filter(|_| asks);
        let services = services.filter_map(|command| command.readiness.as_ref()?.due());
        let next = match &self.context.stage {
            Stage::Running(run_state) => self.timeline.next().map(|after| run_state.zero + after),
            Stage::Starting | Stage::Stopping(_) => None,
        };
        let turns = self.programs.next_turn().filter(|_| asks);
        let heals = self.requests.next_heal().filter(|_| asks);
        let nodes = if asks { self.programs.next_look() } else { self.programs.next_boot() };
        services.chain(self.programs.processes.next()).chain(turns).chain(nodes).chain(next).chain(heals).min()
    }

    /// Time zero, in so much wall time: every service is ready.
    fn begin(&mut self, left: std::time::Duration) -> Result<(), RunError> {
        let zero = self.schedule_events(left)?;
        self.context.job.folder.become_latest()?;
        // What was counted before it is not of the run.
        let (snapshot, _) = self.context.links.measured(TIME_ZERO)?;
        self.recording.begin(zero);
        self.exercise.begin(zero);
        let sampler = sampling::sampler(&self.context)?;
        let (first, began) = (marks(&snapshot), self.accounts(&snapshot));
        self.heartbeats.begin(&self.context.job.plan);
        self.context.stage = Stage::Running(RunState {
            zero,
            sampler,
            next_samples: zero,
            samples: 0,
            next_look: zero,
            first,
            began,
            spent: Spent::default(),
        });
        self.context.events.add(zero, Some(zero), "time zero", json!({}))?;
        self.log_times.begin(&self.context, zero)?;
        self.programs.begin_drifts(&self.context)?;
        if let Driver::Virtual(time) = self.context.links.driver() {
            time.begin();
        }
        self.context.guard.report(&match self.context.job.mode {
            Mode::Run => Event::Started { duration_ns: self.context.job.plan.duration.map(Duration::as_nanos) },
            Mode::Up => Event::Ready,
        });
        Ok(())
    }

    /// What the machine has spent on the lab so far.
    fn accounts(&self, snapshot: &Snapshot) -> Accounts {
        let nodes = self.programs.nodes.iter().map(|node| node.processor_use()).collect();
        let shares = throttling(self.context.job);
        Accounts::now(&snapshot.engine, nodes, shares, self.context.links.driver().statistics())
    }

    fn play_timeline(&mut self) -> Result<(), RunError> {
        while let Stage::Running(run_state) = &self.context.stage {
            let now = self.context.links.now();
            let Some(due) = self.timeline.pop_due(now.since(run_state.zero)) else { return Ok(()) };
            self.play_item(due)?;
        }
        Ok(())
    }

    fn do_item(&mut self, due: Due) -> Result<(), RunError> {
        let Due { at, item, number } = due;
        match item {
            Item::Start(event) => {
                let mut events = vec![event];
                events.extend(std::iter::from_fn(|| self.timeline.pop_start(at)));
                self.programs.start_timed(&mut self.context, &events, at)
            }
            Item::Mark(event) => self.mark(event, at),
            Item::Disturb(event) | Item::Recover(event) if stops::node(&self.context, event).is_some() => {
                self.stop_or_start(event, at, matches!(item, Item::Recover(_)))
            }
            Item::Disturb(event) if clocks::change(&self.context, event).is_some() => self.change_clocks(event, at),
            Item::Disturb(event) | Item::Recover(event) if freezes::freeze(&self.context, event).is_some() => {
                self.freeze_or_thaw(event, at, matches!(item, Item::Recover(_)))
            }
            Item::Disturb(event) => self.programs.disturb(&mut self.context, event, at),
            Item::Recover(event) => self.programs.recover(&mut self.context, event, at),
            Item::Change(_) | Item::Cut(_) | Item::Restore(_) => self.link_was_to_change(due),
            Item::Roam(place) => self.carriers.roam(&mut self.context, &mut self.programs, (place, at)),
            Item::Measure => {
                let snapshot = self.measured(number, at)?;
                let look = Look::of(&self.context.job.plan, self.context.links.pipes(), &snapshot);
                self.windows.insert(at, look);
                Ok(())
            }
            Item::End => {
                let last = self.measured(number, at)?;
                self.stop_at(Why::Over, Some(last))
            }
        }
    }

    /// Without samples nobody would notice that the engine has died.
    fn look_after_engine(&mut self) -> Result<(), RunError> {
        let now = self.context.links.now();
        match &mut self.context.stage {
            Stage::Running(RunState { sampler: None, next_look, .. }) if *next_look <= now => {
                *next_look = now + LOOK_INTERVAL;
                Ok(self.context.links.counters().map(drop)?)
            }
            _ => Ok(()),
        }
    }

    /// In virtual time, a lab that waits for ever would soon be years old. Its kernels have timers of their own for ever,
    /// so that a long silence has to tell it from one that only sleeps.
    fn look_for_life(&mut self, now: Instant, packets: u64) -> Result<(), RunError> {
        let commands_ended = self.programs.commands.iter().filter(|command| command.ended.is_some()).count();
        if (self.silence.packets, self.silence.commands_ended) != (packets, commands_ended) {
            self.silence = Silence { since: now, packets, commands_ended };
        }
        let is_virtual = matches!(self.context.links.driver(), Driver::Virtual(_));
        if is_virtual && self.next_scheduled_event().is_none() && now.since(self.silence.since) >= LONGEST_SILENCE {
            return Err(RunError::Died(self.what_waits_for_ever()));
        }
        Ok(())
    }

    /// A part of a lab ends here and now: the others would not know what its programs do until they have ended.
    fn end_part(&self) -> Result<(), RunError> {
        match self.context.links.driver() {
            Driver::Virtual(time) if time.is_part() && time.end().is_none() => Err(time.interrupt().into()),
            _ => Ok(()),
        }
    }

    /// A user asks the lab to end, which is the regular end of one that is up.
    fn end_on_request(&mut self) -> Result<(), RunError> {
        self.end_part()?;
        let is_up = self.context.job.mode == Mode::Up && matches!(self.context.stage, Stage::Running(_));
        self.stop(if is_up { Why::TakenDown } else { Why::Interrupted })
    }

    /// A client asks the lab to end. A lab in virtual time that is up in several parts ends in all of them, since all are asked at this instant.
    fn end_for_client(&mut self) -> Result<(), RunError> {
        match (self.context.job.mode, &self.context.stage) {
            (Mode::Up, Stage::Running(_)) => self.stop(Why::TakenDown),
            _ => self.end_on_request(),
        }
    }

    /// Ends the run: everything is measured now, and every program is asked to end.
    fn stop(&mut self, why: Why) -> Result<(), RunError> {
        if let Driver::Virtual(time) = self.context.links.driver() {
            match why {
                Why::Interrupted | Why::WallLimit => time.end_within(IMPATIENCE),
                // Programs may take their time to end, but not compute without end.
                Why::TakenDown => time.end_within(PATIENCE + longest_end(&self.context, &self.programs)),
                Why::Over | Why::Failed(_) => {}
            }
        }
        if matches!(self.context.stage, Stage::Stopping(_)) {
            return Ok(());
        }
        // An engine that has ended cannot be asked.
        let last = self.context.links.snapshot().ok();
        self.stop_at(why, last)
    }

    /// Ends the run with what was measured last; with nothing, if the engine has ended.
    fn stop_at(&mut self, why: Why, snapshot: Option<Snapshot>) -> Result<(), RunError> {
        self.note_missed()?;
        self.note_firings()?;
        if let Some(folder) = self.context.job.control_socket.parent() {
            note_ending(folder);
        }
        if matches!(why, Why::Interrupted) {
            self.programs.commands.iter_mut().for_each(Command::interrupt);
        }
        self.thaw_machines();
        self.context.note("the end begins", json!({ "because": why.to_string() }))?;
        if let Some(last) = &snapshot {
            self.recording.end(last.at);
        }
        if !matches!(why, Why::Failed(_)) {
            self.take_samples()?;
        }
        let played = match std::mem::replace(&mut self.context.stage, Stage::Starting) {
            // Without the engine there is nothing to measure any more, and why it ended is known.
            Stage::Running(mut run_state) => snapshot.map(|last| {
                run_state.spent = self.accounts(&last).since(&run_state.began);
                self.heartbeats.end();
                (run_state, Box::new(last))
            }),
            Stage::Starting | Stage::Stopping(_) => None,
        };
        self.context.stage = Stage::Stopping(Stop { why, played });
        self.programs.stop_in_turn(&self.context);
        self.programs.send_due_signals(&mut self.context)
    }

    fn serve(&mut self, source: Source) -> Result<(), RunError> {
        match source {
            Source::Guard => {
                self.context.guard.flush();
                match self.context.guard.listen() {
                    FromGuard::Nothing => Ok(()),
                    FromGuard::Stop => self.end_on_request(),
                    FromGuard::Hurry => {
                        self.end_on_request()?;
                        self.programs.processes.hurry(self.context.links.now());
                        self.programs.send_due_signals(&mut self.context)
                    }
                    FromGuard::Gone => {
                        self.guard_is_gone = true;
                        self.end_on_request()
                    }
                }
            }
            Source::Signals => match self.signals.next() {
                Some(_) => self.end_on_request(),
                None => Ok(()),
            },
            Source::Listener => {
                self.requests.accept(&mut self.context);
                Ok(())
            }
            Source::Client(id) => self.serve_client(id),
            Source::Node(node) => self.serve_node(node),
            Source::PortForward(number) => self.programs.lead_on(&mut self.context, number),
            Source::Time => {
                self.requests.come(None, &self.context);
                self.stop_here();
                Ok(())
            }
        }
    }

    /// Lab time may be where the run is to be held.
    fn stop_here(&mut self) {
        if let Some(at) = self.requests.stop_here(&self.context) {
            let name = &self.context.job.plan.name;
            let text = format!("lab time stands here until `netloom resume {name}`, or `netloom advance {name} 1ms`");
            self.context.report_at(Some(at), text);
        }
    }
}
