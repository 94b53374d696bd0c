//! What every part of a session sees: what is to be done, the links and their time, how far the lab is, and what is reported of it.
//!
//! A session has four types. The session itself is the life of the lab: it does what is due, waits, serves what
//! comes, runs the timeline, and in the end collects results and judges. *Programs* are the nodes and what runs in
//! them. *Requests* are the clients of the control socket and their answers. The *context* is what these three see.
//! The session calls the others; they answer, and never call back.

use super::by_hand::ByHand;
use super::stage::{Stage, Stop};
use crate::order::Order;
use netloom_judge::{Interventions, Kind, Punctuality, RunError};
use netloom_lab::{Action, Stack};
use netloom_provision::Event;
use netloom_provision::guard_link::GuardLink;
use netloom_provision::job::{Job, Mode};
use netloom_provision::links::Links;
use netloom_results::EventLog;
use netloom_units::{Duration, Instant};
use serde_json::Value;

/// See the module.
pub(super) struct Context<'a> {
    pub(super) order: &'a Order,
    /// What the lab is made of, as the order has it.
    pub(super) job: &'a Job,
    pub(super) guard: GuardLink,
    pub(super) links: Links,
    pub(super) stage: Stage,
    pub(super) events: EventLog,
    pub(super) punctuality: Punctuality,
    /// What could not be enforced, for the verdict.
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// What clients did that the lab file does not say.
    pub(super) interventions: Interventions,
    /// The actions that they have asked for.
    pub(super) by_hand: ByHand,
    /// How often the machine's tables of neighbours had been full when the session began.
    pub(super) overflows: u64,
    /// How long its kernels and virtual machines booted, in wall time.
    pub(super) boot: std::time::Duration,
}

impl Context<'_> {
    /// When time zero was, if it has come.
    pub(super) fn zero(&self) -> Option<Instant> {
        match &self.stage {
            Stage::Running(run_state) | Stage::Stopping(Stop { played: Some((run_state, _)), .. }) => {
                Some(run_state.zero)
            }
            Stage::Starting | Stage::Stopping(_) => None,
        }
    }

    /// Returns the action of this entry of the timeline, or of what a client has asked for.
    pub(super) fn action(&self, event: usize) -> Option<&Action> {
        let planned = self.job.plan.timeline.get(event).map(|entry| &entry.action);
        planned.or_else(|| self.by_hand.get(event))
    }

    /// Whether the timeline has it; else a client has asked for it.
    pub(super) fn is_planned(&self, event: usize) -> bool {
        event < self.job.plan.timeline.len()
    }

    /// Takes note of what a client did in a run, which only its lab file is to describe; of a lab that is up, clients do as they like.
    pub(super) fn intervene(&mut self, alters_link: bool, what: &str) {
        if self.job.mode == Mode::Run {
            let at = self.zero().map(|zero| self.links.now().since(zero));
            self.interventions.add(alters_link, at, what);
        }
    }

    /// How often the machine's tables of neighbours have been full since; of nodes with kernels of their own alone, that is no matter.
    pub(super) fn overflows_since(&self) -> u64 {
        let is_concerned = self.job.plan.nodes.iter().any(|node| node.stack == Stack::Namespace);
        if is_concerned { self.order.overflows.count().saturating_sub(self.overflows) } else { 0 }
    }

    /// Writes that something happened now.
    pub(super) fn note(&mut self, what: &str, details: Value) -> Result<(), RunError> {
        let zero = self.zero();
        Ok(self.events.add(self.links.now(), zero, what, details)?)
    }

    /// Tells the guard what happens now.
    pub(super) fn report(&mut self, text: String) {
        let now = self.links.now();
        self.report_at(self.zero().map(|zero| now.since(zero)), text);
    }

    /// Tells the guard what happened so long after time zero; none before that.
    pub(super) fn report_at(&mut self, at: Option<Duration>, text: String) {
        self.guard.report_if_ready(&Event::Happened { at_ns: at.map(Duration::as_nanos), text });
    }

    /// Takes note of how late something was.
    pub(super) fn record(&mut self, kind: Kind, late: Duration, is_judged: bool, name: impl FnOnce() -> String) {
        self.punctuality.record(kind, late, &self.job.plan.bounds, is_judged, name);
    }
}
