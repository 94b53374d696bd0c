//! What a run writes down of its packets: captures and the journal.

use crate::job::Job;
use crate::links::Links;
use crate::setup_error::SetupError;
use netloom_fabric::TapId;
use netloom_judge::JournalRow;
use netloom_lab::Clock;
use netloom_results::WriteError;
use netloom_results::capture::{Captures, Pace};
use netloom_results::journal::Journal;
use netloom_units::{Duration, Instant};

/// The captures and the journal of a run.
pub struct Recording {
    /// What the plan wants to be captured, and the driver's tap for it.
    captures: Option<(Captures, TapId)>,
    journal: Option<Journal>,
    pace: Pace,
}

impl Recording {
    /// Starts what the plan wants: before any node sends, so that nothing is inside of which the journal has not heard.
    pub(crate) fn start(job: &Job, links: &mut Links) -> Result<Self, SetupError> {
        let pace = if job.plan.clock == Clock::Virtual { Pace::Virtual } else { Pace::Real };
        let captures = match Captures::start(&job.plan, &job.filters, &job.folder, pace)? {
            Some((captures, tap)) => Some((captures, links.add_tap(tap)?)),
            None => None,
        };
        let journal = match Journal::start(&job.plan, &job.folder, pace, &links.driver().own_pipes())? {
            Some((journal, trace_observers)) => {
                links.driver_mut().set_trace_observers(trace_observers)?;
                Some(journal)
            }
            None => None,
        };
        Ok(Self { captures, journal, pace })
    }

    /// Time zero. The journal hears of it from the pipes.
    pub fn begin(&self, zero: Instant) {
        if let Some((captures, _)) = &self.captures {
            captures.begin(zero);
        }
    }

    /// The end of the run: what happens later is no part of it.
    pub fn end(&self, at: Instant) {
        // In virtual time, what happens at this instant has not happened when the run is measured.
        let last = if self.pace == Pace::Virtual { at - Duration::from_nanos(1) } else { at };
        if let Some((captures, _)) = &self.captures {
            captures.end(last);
        }
        if let Some(journal) = &self.journal {
            journal.end(last);
        }
    }

    /// All packets of the captures are on the disk; what is missing, in words.
    pub fn finish_captures(&mut self, links: &mut Links) -> Result<Option<String>, WriteError> {
        let Some((captures, tap)) = self.captures.take() else { return Ok(None) };
        // An engine that has died has no taps any more, and why it died is reported elsewhere.
        let _ = links.remove_tap(tap);
        captures.finish()
    }

    /// The journal is on the disk.
    pub fn finish_journal(&mut self, links: &mut Links) -> Result<Option<JournalRow>, WriteError> {
        let Some(journal) = self.journal.take() else { return Ok(None) };
        // Nor has it trace observers.
        let _ = links.driver_mut().remove_trace_observers();
        journal.finish().map(Some)
    }
}
