//! Programs that the timeline ends, holds, and starts again.

use super::processes::Purpose;
use super::state::Programs;
use crate::commands::Command;
use crate::session::context::Context;
use crate::session::stage::Stage;
use netloom_judge::{ExitCode, Kind, RunError};
use netloom_lab::{Action, Disturbance, Whose};
use netloom_units::{Duration, Instant};
use serde_json::json;

/// Why a client is refused: its exit code, and a text.
type Refusal = (ExitCode, String);

/// Stands for an entry of the timeline where a client wants the same.
const BY_HAND: usize = usize::MAX;

impl Programs {
    /// Ends or holds the programs that this entry of the timeline means, which was due `at` after time zero.
    pub(crate) fn disturb(&mut self, context: &mut Context<'_>, event: usize, at: Duration) -> Result<(), RunError> {
        let Some((how, whose, duration)) = disturbance(context, event) else { return Ok(()) };
        let (meant, due) = (self.meant(whose), instant(context, at));
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
            Disturbance::Pause => {
                self.hold(&meant, whose, true);
            }
            Disturbance::Restart => self.restart_these(context, meant, (event, whose, duration), due)?,
            Disturbance::Stop => unreachable!("nodes that stop are no matter of their programs alone"),
        }
        let word = match how {
            Disturbance::Kill => "killed",
            Disturbance::Pause => "paused",
            Disturbance::Restart | Disturbance::Stop => "asked to restart",
        };
        note(context, whose, due, word)?;
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
        note(context, whose, due, "asked to restart")?;
        self.start_those_whose_turn_it_is(context).map(Ok)
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
        let Some((how, whose, _)) = disturbance(context, event) else { return Ok(()) };
        let due = instant(context, at);
        if how == Disturbance::Pause {
            let meant = self.meant(whose);
            self.hold(&meant, whose, false);
            return note(context, whose, due, "goes on");
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
    fn meant(&self, whose: Whose) -> Vec<usize> {
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

    /// Signals whatever else runs in a node: daemons, and programs of users.
    fn signal_node(&mut self, whose: Whose, signal: i32) {
        if let Whose::Node(node) = whose {
            // That a node has died is told elsewhere.
            let _ = self.nodes[node].signal_all(signal);
        }
    }
}

fn disturbance(context: &Context<'_>, event: usize) -> Option<(Disturbance, Whose, Option<Duration>)> {
    match &context.job.plan.timeline[event].action {
        Action::Disturb { how, whose, duration } => Some((*how, *whose, *duration)),
        _ => None,
    }
}

fn instant(context: &Context<'_>, at: Duration) -> Instant {
    context.zero().unwrap_or_default() + at
}

/// Writes what was done by now and was due at `due`.
fn note(context: &mut Context<'_>, whose: Whose, due: Instant, what: &str) -> Result<(), RunError> {
    let (plan, late) = (&context.job.plan, context.links.now().since(due));
    let name = plan.whose_name(whose).to_owned();
    let kind = if matches!(whose, Whose::Node(_)) { "node" } else { "command" };
    let at = due.since(context.zero().unwrap_or_default());
    context.record(Kind::Signal, late, true, || format!("{name} {what} at {at}"));
    context.report(format!("{name} {what}"));
    context.note(what, json!({ kind: name, "lateness_ns": late.as_nanos() }))
}
