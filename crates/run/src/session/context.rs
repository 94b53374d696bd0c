//! What every part of a session sees: what is to be done, the links and their time, how far the lab is, and what is told of it.

use super::stage::{Stage, Stop};
use crate::Event;
use crate::guard_link::GuardLink;
use crate::job::Job;
use crate::links::Links;
use netloom_judge::{Kind, Punctuality, RunError};
use netloom_results::EventLog;
use netloom_units::{Duration, Instant};
use serde_json::Value;

/// See the module.
pub(super) struct Context<'a> {
    pub(super) job: &'a Job,
    pub(super) guard: GuardLink,
    pub(super) links: Links,
    pub(super) stage: Stage,
    pub(super) events: EventLog,
    pub(super) punctuality: Punctuality,
    /// What could not be enforced, for the verdict.
    pub(super) notes: Vec<String>,
    pub(super) warnings: Vec<String>,
}

impl Context<'_> {
    /// When time zero was, if it has come.
    pub(super) fn zero(&self) -> Option<Instant> {
        match &self.stage {
            Stage::Playing(play) | Stage::Stopping(Stop { played: Some((play, _)), .. }) => Some(play.zero),
            Stage::Starting | Stage::Stopping(_) => None,
        }
    }

    /// Writes that something happened now.
    pub(super) fn note(&mut self, what: &str, details: Value) -> Result<(), RunError> {
        let zero = self.zero();
        self.events.add(self.links.now(), zero, what, details)
    }

    /// Tells the guard what happens now.
    pub(super) fn tell(&mut self, text: String) {
        let now = self.links.now();
        self.tell_at(self.zero().map(|zero| now.since(zero)), text);
    }

    /// Tells the guard what happened so long after time zero; none before that.
    pub(super) fn tell_at(&mut self, at: Option<Duration>, text: String) {
        self.guard.mention(&Event::Happened { at_ns: at.map(Duration::as_nanos), text });
    }

    /// Takes note of how late something was.
    pub(super) fn record(&mut self, kind: Kind, late: Duration, is_judged: bool, name: impl FnOnce() -> String) {
        self.punctuality.record(kind, late, &self.job.plan.bounds, is_judged, name);
    }
}
