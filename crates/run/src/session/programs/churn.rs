//! Programs that the timeline ends, holds, and starts again.

use super::disks::DiskDisturbance;
use super::kernel_faults::KernelFault;
use super::processes::Purpose;
use super::state::Programs;
use crate::session::context::Context;
use crate::session::stage::Stage;
use netloom_commands::Command;
use netloom_judge::{ExitCode, Kind, RunError};
use netloom_lab::{Action, Disturbance, LimitChange, Signal, Whose};
use netloom_units::{Duration, Instant};
use serde_json::json;
use std::sync::Arc;

/// Why a client is refused: its exit code, and a text.
type Refusal = (ExitCode, String);

/// Stands for an entry of the timeline where a client wants the same.
const BY_HAND: usize = usize::MAX;

impl Programs {
    /// Ends or holds the programs that this entry of the timeline means, which was due `at` after time zero.
    pub(crate) fn disturb(&mut self, context: &mut Context<'_>, event: usize, at: Duration) -> Result<(), RunError> {
        let Some(disturbed) = disturbance(context, event) else { return Ok(()) };
        let due = instant(context, at);
        self.disturb_these(context, disturbed, event, due)
    }

    fn disturb_these(
        &mut self,
        context: &mut Context<'_>,
        Disturbed { how, whose, process, duration }: Disturbed,
        event: usize,
        due: Instant,
    ) -> Result<(), RunError> {
        let (meant, is_planned) = (self.meant(whose), context.is_planned(event));
        if let (Disturbance::Disk(fault), Whose::Node(node)) = (how, whose) {
            let path = process.as_deref();
            return self.disturb_disk(context, &DiskDisturbance { node, fault, path, duration, event, due });
        }
        if let Disturbance::Limit(change) = how {
            let count = self.limit(whose, change)?;
            return note_limit(context, (whose, due, is_planned), change, count);
        }
        if how.is_of_kernel() {
            let fault = KernelFault { how, process: process.as_deref(), duration };
            return self.begin_kernel_fault(context, whose, &fault, event, due);
        }
        if let Some(pattern) = process {
            let count = self.signal_like(how, whose, &pattern)?;
            return note_processes(context, (whose, due, is_planned), &word(how), (&*pattern, count));
        }
        match how {
            Disturbance::Kill => {
                for number in meant {
                    if self.processes.kill(Purpose::Command(number), due).is_some() {
                        self.take(number, event, whose, duration);
                    }
                }
                self.send_due_signals(context)?;
                self.signal_node(whose, libc::SIGKILL);
            }
            Disturbance::Pause => self.hold(&meant, whose, true),
            Disturbance::Continue => self.hold(&meant, whose, false),
            Disturbance::Signal(signal) => self.tell(&meant, whose, signal),
            Disturbance::Restart => self.restart_these(context, meant, (event, whose, duration), due)?,
            Disturbance::Stop
            | Disturbance::Crash(_)
            | Disturbance::Clock(_)
            | Disturbance::Freeze(_)
            | Disturbance::Disk(_)
            | Disturbance::Limit(_)
            | Disturbance::Fail(_)
            | Disturbance::EndFailures
            | Disturbance::Starve(_)
            | Disturbance::Schedule(_)
            | Disturbance::OutOfMemory => {
                unreachable!("this is no matter of programs alone")
            }
        }
        note(context, (whose, due, is_planned), &word(how))?;
        self.start_those_whose_turn_it_is(context)
    }

    /// The same as an entry of the timeline `restart: NAME` does, for a client and now. Refused if there is no such command or node.
    pub(crate) fn restart(&mut self, context: &mut Context<'_>, name: &str) -> Result<Result<(), Refusal>, RunError> {
        if !matches!(context.stage, Stage::Running(_)) {
            let message = "nothing can be restarted: the lab has not begun, or is ending".to_owned();
            return Ok(Err((ExitCode::Usage, message)));
        }
        let whose = match self.named(context, name) {
            Ok(whose) => whose,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let node = match whose {
            Whose::Node(node) => node,
            Whose::Command(event) => {
                self.meant(Whose::Command(event)).first().map_or(usize::MAX, |one| self.commands[*one].described.node)
            }
        };
        if let Some(why) = self.why_away(&context.job.plan, node) {
            return Ok(Err((ExitCode::Usage, why)));
        }
        let (meant, due) = (self.meant(whose), context.links.now());
        self.restart_these(context, meant, (BY_HAND, whose, None), due)?;
        note(context, (whose, due, false), "asked to restart")?;
        self.start_those_whose_turn_it_is(context)?;
        context.intervene(false, &format!("service {name} restarted"));
        Ok(Ok(()))
    }

    /// The command, or the node with commands, of this name.
    fn named(&self, context: &Context<'_>, name: &str) -> Result<Whose, Refusal> {
        let plan = &context.job.plan;
        let started = |command: &&Command| command.started.is_some();
        let command = self.commands.iter().find(|command| command.described.name == name);
        match (command, plan.nodes.iter().position(|node| node.name == name)) {
            (Some(command), _) if started(&command) => Ok(Whose::Command(command.event)),
            (Some(_), _) => Err((ExitCode::Usage, format!("`{name}` has not started yet, and so cannot start again"))),
            (None, Some(node)) if !self.meant(Whose::Node(node)).is_empty() => Ok(Whose::Node(node)),
            (None, Some(_)) => {
                Err((ExitCode::Usage, format!("node `{name}` has no program of the lab file that could start again")))
            }
            (None, None) => {
                let names: Vec<&str> = self.commands.iter().map(|one| one.described.name.as_str()).take(20).collect();
                let known = if names.is_empty() {
                    "the lab file has no commands".into()
                } else {
                    format!("there are {}", names.join(", "))
                };
                Err((ExitCode::NoSuchLab, format!("no command and no node is called `{name}`: {known}")))
            }
        }
    }

    /// Those that run are asked to end and come again; of the others, those that are over.
    fn restart_these(
        &mut self,
        context: &mut Context<'_>,
        meant: Vec<usize>,
        (event, whose, duration): (usize, Whose, Option<Duration>),
        due: Instant,
    ) -> Result<(), RunError> {
        let is_running = |this: &Self, number: usize| this.processes.any(|own| own == Purpose::Command(number));
        let (running, others): (Vec<usize>, Vec<usize>) =
            meant.into_iter().partition(|number| is_running(self, *number));
        for number in running {
            self.processes.stop(due, |purpose| purpose == Purpose::Command(number));
            self.take(number, event, whose, duration.or(Some(Duration::ZERO)));
            self.commands[number].comes_again = duration.is_none() && self.commands[number].taken_by.is_some();
        }
        // One that is over begins anew; one whose time has not come is left alone.
        let over: Vec<usize> = others.into_iter().filter(|one| self.commands[*one].ended.is_some()).collect();
        let over: Vec<usize> = over.into_iter().filter(|one| self.commands[*one].taken_by.is_none()).collect();
        match duration {
            None => self.start_again(&self.those_that_return(whose, over)),
            Some(_) => over.into_iter().for_each(|number| self.take(number, event, whose, duration)),
        }
        self.send_due_signals(context)
    }

    /// The programs that this entry of the timeline has ended or held start again or go on, `at` after time zero.
    pub(crate) fn recover(&mut self, context: &mut Context<'_>, event: usize, at: Duration) -> Result<(), RunError> {
        let Some(Disturbed { how, whose, process, .. }) = disturbance(context, event) else { return Ok(()) };
        let (due, is_planned) = (instant(context, at), context.is_planned(event));
        if let (Disturbance::Disk(fault), Whose::Node(node)) = (how, whose) {
            return self.end_disk_fault(context, node, fault, due);
        }
        if how.is_of_kernel() {
            return self.end_kernel_fault(context, (whose, how), event, due);
        }
        if let Some(pattern) = process {
            let count = self.signal_like(Disturbance::Continue, whose, &pattern)?;
            return note_processes(context, (whose, due, is_planned), &word(Disturbance::Continue), (&*pattern, count));
        }
        if how == Disturbance::Pause {
            let meant = self.meant(whose);
            self.hold(&meant, whose, false);
            return note(context, (whose, due, is_planned), "goes on");
        }
        let mut now = Vec::new();
        for number in 0..self.commands.len() {
            if self.commands[number].taken_by != Some(event) {
                continue;
            }
            // One that takes its time to end starts when it has.
            self.commands[number].comes_again = self.commands[number].ended.is_none();
            now.extend(self.commands[number].ended.is_some().then_some(number));
        }
        let (waiting, now): (Vec<usize>, Vec<usize>) =
            now.into_iter().partition(|number| !self.commands[*number].described.after.is_empty());
        self.start_again(&waiting);
        now.iter().for_each(|number| self.commands[*number].renew());
        self.start_commands(context, &now, Some(due))?;
        self.start_those_whose_turn_it_is(context)
    }

    /// The commands that are meant.
    pub(super) fn meant(&self, whose: Whose) -> Vec<usize> {
        let is_meant = |number: &usize| match whose {
            Whose::Command(event) => self.commands[*number].event == event,
            Whose::Node(node) => self.commands[*number].described.node == node,
        };
        (0..self.commands.len()).filter(is_meant).collect()
    }

    /// Those among them that start again: of a node, its services.
    fn those_that_return(&self, whose: Whose, numbers: Vec<usize>) -> Vec<usize> {
        let returns = |number: &usize| matches!(whose, Whose::Command(_)) || self.commands[*number].described.service;
        numbers.into_iter().filter(returns).collect()
    }

    /// Notes who is to start this command again, if it is to.
    fn take(&mut self, number: usize, event: usize, whose: Whose, duration: Option<Duration>) {
        let returns = duration.is_some() && !self.those_that_return(whose, vec![number]).is_empty();
        self.commands[number].taken_by = returns.then_some(event);
    }

    /// Lets commands that have ended start again in their turn.
    pub(super) fn start_again(&mut self, numbers: &[usize]) {
        for number in numbers {
            self.commands[*number].renew();
            self.waiting.push(*number);
        }
    }

    fn hold(&mut self, meant: &[usize], whose: Whose, held: bool) {
        let signal = if held { libc::SIGSTOP } else { libc::SIGCONT };
        for number in meant {
            if let Some(key) = self.processes.hold(Purpose::Command(*number), held) {
                // One that has just ended cannot be held; its end is about to be reported.
                let _ = self.nodes[key.node].signal(key.process, signal);
            }
        }
        self.signal_node(whose, signal);
    }

    /// Sends them a signal; of a node, to all that run in it.
    fn tell(&mut self, meant: &[usize], whose: Whose, signal: Signal) {
        if matches!(whose, Whose::Node(_)) {
            return self.signal_node(whose, signal.number());
        }
        for number in meant {
            if let Some(key) = self.processes.key_of(Purpose::Command(*number)) {
                // One that has just ended gets nothing; its end is about to be reported.
                let _ = self.nodes[key.node].signal(key.process, signal.number());
            }
        }
    }

    /// Signals whatever else runs in a node: daemons, and programs of users.
    fn signal_node(&mut self, whose: Whose, signal: i32) {
        if let Whose::Node(node) = whose {
            // That a node has died is reported elsewhere.
            let _ = self.nodes[node].signal_all(signal);
        }
    }
}

/// A disturbance of programs.
struct Disturbed {
    how: Disturbance,
    whose: Whose,
    /// Which processes of them; none: all.
    process: Option<Arc<str>>,
    duration: Option<Duration>,
}

fn disturbance(context: &Context<'_>, event: usize) -> Option<Disturbed> {
    match context.action(event)? {
        Action::Disturb { how, whose, process, duration } => {
            Some(Disturbed { how: *how, whose: *whose, process: process.clone(), duration: *duration })
        }
        _ => None,
    }
}

/// Says in a word or two how programs were disturbed.
fn word(how: Disturbance) -> String {
    match how {
        Disturbance::Kill => "killed".to_owned(),
        Disturbance::Pause => "paused".to_owned(),
        Disturbance::Continue => "goes on".to_owned(),
        Disturbance::Signal(signal) => format!("got {}", signal.name()),
        Disturbance::Limit(change) => format!("limited: {change}"),
        Disturbance::Restart
        | Disturbance::Stop
        | Disturbance::Crash(_)
        | Disturbance::Clock(_)
        | Disturbance::Disk(_)
        | Disturbance::Freeze(_)
        | Disturbance::Fail(_)
        | Disturbance::EndFailures
        | Disturbance::Starve(_)
        | Disturbance::Schedule(_)
        | Disturbance::OutOfMemory => "asked to restart".to_owned(),
    }
}

fn instant(context: &Context<'_>, at: Duration) -> Instant {
    context.zero().unwrap_or_default() + at
}

/// Writes what was done by now and was due at `due`, which is judged if the timeline says when.
fn note(
    context: &mut Context<'_>,
    (whose, due, is_planned): (Whose, Instant, bool),
    what: &str,
) -> Result<(), RunError> {
    let (plan, late) = (&context.job.plan, context.links.now().since(due));
    let name = plan.whose_name(whose).to_owned();
    let kind = if matches!(whose, Whose::Node(_)) { "node" } else { "command" };
    let at = due.since(context.zero().unwrap_or_default());
    context.record(Kind::Signal, late, is_planned, || format!("{name} {what} at {at}"));
    context.report(format!("{name} {what}"));
    context.note(what, json!({ kind: name, "lateness_ns": late.as_nanos() }))
}

/// The same of so many processes whose command line is like a pattern. That there were none is told: then nothing was disturbed.
fn note_processes(
    context: &mut Context<'_>,
    (whose, due, is_planned): (Whose, Instant, bool),
    what: &str,
    (pattern, count): (&str, u64),
) -> Result<(), RunError> {
    let (plan, late) = (&context.job.plan, context.links.now().since(due));
    let name = plan.whose_name(whose).to_owned();
    let kind = if matches!(whose, Whose::Node(_)) { "node" } else { "command" };
    let at = due.since(context.zero().unwrap_or_default());
    context.record(Kind::Signal, late, is_planned, || format!("{name}: {pattern} {what} at {at}"));
    if count == 0 {
        context.warnings.push(format!("at {at} no process of {name} was like `{pattern}`, so that none was reached"));
    }
    context.report(format!("{name}: {what}: {count} processes like `{pattern}`"));
    let details = json!({ kind: name, "process": pattern, "processes": count, "lateness_ns": late.as_nanos() });
    context.note(what, details)
}

/// The same of limits. That none of its programs ran is told: then nothing was limited.
fn note_limit(
    context: &mut Context<'_>,
    (whose, due, is_planned): (Whose, Instant, bool),
    change: LimitChange,
    programs: u64,
) -> Result<(), RunError> {
    let (plan, late) = (&context.job.plan, context.links.now().since(due));
    let name = plan.whose_name(whose).to_owned();
    let kind = if matches!(whose, Whose::Node(_)) { "node" } else { "command" };
    let at = due.since(context.zero().unwrap_or_default());
    context.record(Kind::Signal, late, is_planned, || format!("{name} limited at {at}"));
    if programs == 0 {
        context.warnings.push(format!("at {at} {name} did not run, so that nothing was limited"));
    }
    context.report(format!("{name} limited: {change}"));
    context.note("limited", json!({ kind: name, "limits": change.to_string(), "lateness_ns": late.as_nanos() }))
}
