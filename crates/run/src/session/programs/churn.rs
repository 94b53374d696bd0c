//! Programs that the timeline ends, holds, and starts again.

use super::Programs;
use super::processes::Purpose;
use crate::session::context::Context;
use netloom_judge::{Kind, RunError};
use netloom_lab::{Action, Disturbance, Whose};
use netloom_units::{Duration, Instant};
use serde_json::json;

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
            Disturbance::Restart => {
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
                self.send_due_signals(context)?;
            }
        }
        let word = match how {
            Disturbance::Kill => "killed",
            Disturbance::Pause => "paused",
            Disturbance::Restart => "asked to restart",
        };
        note(context, whose, due, word)?;
        self.start_those_whose_turn_it_is(context)
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
    context.tell(format!("{name} {what}"));
    context.note(what, json!({ kind: name, "lateness_ns": late.as_nanos() }))
}
