//! Faults of programs that the kernel of their node makes: system calls that fail, programs that get no processor, turns by drawn
//! priorities, and processes that are killed as if there were no memory left.

use super::faults::refused;
use super::state::Programs;
use crate::session::context::Context;
use netloom_host::node::{CallFault, ProgramFault, ProgramFaultKind};
use netloom_judge::{Kind, RunError};
use netloom_lab::{Call, CallFailure, Disturbance, Plan, ShortPattern, Standstill, Starvation, Turns, Whose};
use netloom_units::{Bytes, Duration, Instant, Probability};
use serde_json::json;

/// A fault with the processes that it means, and how long it lasts.
pub(super) struct KernelFault<'a> {
    pub(super) how: Disturbance,
    /// The command line of the processes; none: all.
    pub(super) process: Option<&'a str>,
    pub(super) duration: Option<Duration>,
}

impl Programs {
    /// Has the kernel of a node begin a fault of its programs. `event`: the entry of the timeline that ends it, too.
    pub(super) fn begin_kernel_fault(
        &mut self,
        context: &mut Context<'_>,
        whose: Whose,
        fault: &KernelFault<'_>,
        event: usize,
        due: Instant,
    ) -> Result<(), RunError> {
        let Whose::Node(node) = whose else { return Ok(()) };
        let KernelFault { how, process, duration } = *fault;
        let name = context.job.plan.nodes[node].name.clone();
        let at = due.since(context.zero().unwrap_or_default());
        let late = context.links.now().since(due);
        let number = match ordered(how, process, duration, seed(&context.job.plan, &name, how, at)) {
            Some(order) => self.nodes[node].begin_fault(order).map_err(refused)?,
            None => {
                self.nodes[node].end_fault(0).map_err(refused)?;
                0
            }
        };
        if duration.is_some() {
            self.program_faults.insert(event, (node, number));
        }
        if how == Disturbance::OutOfMemory && number == 0 {
            let pattern = process.unwrap_or_default();
            context
                .warnings
                .push(format!("at {at} no process of {name} was like `{pattern}`, so that none was killed"));
        }
        context.record(Kind::Signal, late, context.is_planned(event), || format!("{name} {how} at {at}"));
        context.report(format!(
            "{name}: {how}{}",
            process.map_or_else(String::new, |like| format!(" (process `{like}`)"))
        ));
        let killed = (how == Disturbance::OutOfMemory).then_some(number);
        let details = json!({
            "node": name,
            "what": how.to_string(),
            "process": process,
            "pid": killed,
            "for_ns": duration.map(Duration::as_nanos),
            "lateness_ns": late.as_nanos(),
        });
        context.note(how.name(), details)
    }

    /// Holds the machine that a node's kernel runs on, or lets it go on.
    pub(crate) fn hold_machine(&mut self, node: usize, holds: bool, kind: Standstill) -> Result<(), RunError> {
        self.nodes[node].hold(holds, kind == Standstill::Pause).map_err(refused)
    }

    /// Lets the kernel of a node do nothing for this time, and its clocks go on.
    pub(crate) fn stall(&mut self, node: usize, span: Duration) -> Result<(), RunError> {
        self.nodes[node].stall(span.as_nanos()).map_err(refused)
    }

    /// Ends what this entry of the timeline has begun, and says what became of it.
    pub(super) fn end_kernel_fault(
        &mut self,
        context: &mut Context<'_>,
        (whose, how): (Whose, Disturbance),
        event: usize,
        due: Instant,
    ) -> Result<(), RunError> {
        let Some((node, number)) = self.program_faults.remove(&event) else { return Ok(()) };
        let outcome = self.nodes[node].end_fault(number).map_err(refused)?;
        let name = context.job.plan.whose_name(whose).to_owned();
        let at = due.since(context.zero().unwrap_or_default());
        let late = context.links.now().since(due);
        context.record(Kind::Signal, late, context.is_planned(event), || format!("{name} {how} ends at {at}"));
        // Where the kernel has crashed meanwhile, or another entry has ended it, there is nothing to tell.
        let Some(outcome) = outcome else { return Ok(()) };
        let (seen, done) = (outcome.seen, outcome.done);
        let is_idle =
            done == 0 && matches!(how, Disturbance::Fail(_) | Disturbance::Starve(_) | Disturbance::Schedule(_));
        let what = match how {
            Disturbance::Fail(_) => format!("{done} of {seen} calls that matched were met"),
            Disturbance::Starve(_) => format!("programs waited {done} times"),
            _ => format!("{done} threads took turns, for {seen} calls"),
        };
        if is_idle {
            context.warnings.push(format!("until {at} nothing in {name} was disturbed by `{how}`: {what}"));
        }
        context.report(format!("{name}: {} ends: {what}", how.name()));
        let details =
            json!({ "node": name, "what": how.name(), "seen": seen, "done": done, "lateness_ns": late.as_nanos() });
        context.note("fault ends", details)
    }
}

/// Chance of a fault: of the lab's seed, the node's name, and what happens when; so that other entries do not change it.
fn seed(plan: &Plan, node: &str, how: Disturbance, at: Duration) -> u64 {
    plan.seed.derive("program fault").derive(node).derive(&format!("{how} at {}", at.as_nanos())).get()
}

/// The order to the agent; none if faults end.
fn ordered(how: Disturbance, process: Option<&str>, duration: Option<Duration>, seed: u64) -> Option<ProgramFault> {
    let (kind, thread) = match how {
        Disturbance::Fail(failure) => (ProgramFaultKind::Fail(calls(failure)), failure.thread),
        Disturbance::Starve(Starvation { thread, spans }) => {
            let drawn = spans.map(|(part, least, longest)| (share(part), least.as_nanos(), longest.as_nanos()));
            (ProgramFaultKind::Starve { spans: drawn }, thread)
        }
        Disturbance::Schedule(Turns { changes, within }) => (ProgramFaultKind::Turns { changes, within }, None),
        Disturbance::OutOfMemory => (ProgramFaultKind::OutOfMemory, None),
        _ => return None,
    };
    Some(ProgramFault {
        process: process.map(str::to_owned),
        thread: thread.map(text),
        span_ns: duration.map(Duration::as_nanos),
        seed,
        kind,
    })
}

fn calls(failure: CallFailure) -> CallFault {
    let CallFailure { calls, path, thread: _, error, most, delay, nth, times, probability } = failure;
    CallFault {
        calls: calls.calls().map(|call| Call::name(call).to_owned()).collect(),
        path: path.map(text),
        error: error.map(netloom_lab::CallError::number),
        nth,
        times,
        share: share(probability),
        most: most.map(Bytes::get),
        delay_ns: delay.as_nanos(),
    }
}

fn text(pattern: ShortPattern) -> String {
    pattern.as_str().to_owned()
}

/// The share of 2^32.
fn share(probability: Probability) -> u64 {
    let parts = u128::from(probability.as_parts_per_trillion()) << 32;
    u64::try_from(parts / u128::from(Probability::ONE.as_parts_per_trillion())).unwrap_or(1 << 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_host::node::is_call;

    /// The agent knows each name that a lab file may have, and the probability of 1 is all of 2^32.
    #[test]
    fn agents_know_all_calls() {
        let plan = netloom_lab::parse(
            "clock: virtual\nnodes: [a, b]\nlinks: {l: {ends: [a, b]}}\ntimeline: [{on: a, fail: {call: [read, write, send, recv, fsync, open, \
             connect, accept, bind, listen, socket, mmap, brk, rename, unlink, mkdir, truncate, fallocate, stat, getdents, flock, poll, \
             sleep, fork, exec, getrandom], error: EIO}}]\n",
            "t.yaml",
        );
        let action = plan.unwrap().plan.timeline[0].action.clone();
        let netloom_lab::Action::Disturb { how: Disturbance::Fail(failure), .. } = action else { panic!("{action:?}") };
        let fault = calls(failure);
        assert_eq!(fault.calls.len(), 26);
        assert!(fault.calls.iter().all(|name| is_call(name)), "{:?}", fault.calls);
        assert_eq!((fault.share, share(Probability::ZERO)), (1 << 32, 0));
    }
}
