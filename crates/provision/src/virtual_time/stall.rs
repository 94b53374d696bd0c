//! Tells the user that lab time stands still, and which node computes.

use crate::Event;
use crate::progress_writer::ProgressWriter;
use netloom_units::Instant;
use std::time;

/// How long lab time may stand still, in wall time, before the user is informed; again each time the span has doubled.
const PATIENCE: time::Duration = time::Duration::from_secs(5);

/// See the module.
#[derive(Debug)]
pub(super) struct StallWatch {
    progress_writer: ProgressWriter,
    /// Time zero of the run, if it has come.
    zero: Option<Instant>,
    /// Where lab time is, and since when of wall time.
    reached: Option<(Instant, time::Instant)>,
    /// When to tell next.
    told_after: time::Duration,
    told: Option<Stall>,
}

/// Lab time stands still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stall {
    /// Where, after time zero.
    at_ns: Option<u64>,
    node: String,
    /// What in the node computes.
    what: String,
}

impl StallWatch {
    pub(super) fn new(progress_writer: ProgressWriter) -> Self {
        Self { progress_writer, zero: None, reached: None, told_after: PATIENCE, told: None }
    }

    pub(super) fn begin(&mut self, zero: Instant) {
        self.zero = Some(zero);
    }

    /// Lab time has gone on.
    pub(super) fn clear(&mut self) {
        (self.reached, self.told_after, self.told) = (None, PATIENCE, None);
    }

    /// Kernels compute at `now`; whether it is time to look who, and to [tell](Self::tell).
    pub(super) fn is_due(&mut self, now: Instant, wall: time::Instant) -> bool {
        if self.reached.is_none_or(|(at, _)| at != now) {
            self.clear();
        }
        let (_, since) = *self.reached.get_or_insert((now, wall));
        wall - since >= self.told_after
    }

    /// `what` computes in `node`.
    pub(super) fn report(&mut self, node: &str, what: String) {
        let Some((now, since)) = self.reached else { return };
        let elapsed = since.elapsed();
        self.told_after = elapsed * 2;
        let at_ns = self.zero.map(|zero| now.since(zero).as_nanos());
        let wall_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.progress_writer.report(&Event::Stalled { at_ns, wall_ns, node: node.to_owned(), what: what.clone() });
        self.told = Some(Stall { at_ns, node: node.to_owned(), what });
    }

    /// What was reported, in words, and for how long it has been so; none while lab time goes on.
    pub(super) fn told(&self) -> Option<String> {
        let (stall, (_, since)) = (self.told.as_ref()?, self.reached?);
        Some(netloom_results::render::stall(stall.at_ns, since.elapsed(), &stall.node, &stall.what))
    }
}
