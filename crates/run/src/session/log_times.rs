//! When logs grew, of a lab in virtual time that keeps a journal: `log-times.jsonl`.
//!
//! Programs write their logs without the session. So it looks how long the files are, and how often it looks changes nothing for any node.

use super::context::Context;
use netloom_commands::Command;
use netloom_judge::RunError;
use netloom_lab::Clock;
use netloom_results::{GrownLog, LOG_TIMES, Stream, WriteError};
use netloom_units::{Duration, Instant};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

/// How often to look, in lab time. A node's output comes at the end of a synchronization round, which is about as long.
const STEP: Duration = Duration::from_millis(10);

/// See the module.
#[derive(Default)]
pub(super) struct LogTimes {
    file: Option<File>,
    /// How long each log was, by the command's number and the place of its stream.
    lengths: BTreeMap<(usize, usize), u64>,
    next: Option<Instant>,
}

impl LogTimes {
    /// When to look next; never for other labs.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Begins at time zero, if the lab is one whose logs are looked at.
    pub(super) fn begin(&mut self, context: &Context<'_>, zero: Instant) -> Result<(), WriteError> {
        let plan = &context.job.plan;
        if plan.clock == Clock::Virtual && plan.journal.is_some() {
            self.file = Some(context.job.folder.file(LOG_TIMES)?);
            self.next = Some(zero);
        }
        Ok(())
    }

    /// Writes down which logs have grown since the last look, if it is time for one, or the lab has ended with what programs wrote last.
    pub(super) fn look(&mut self, context: &Context<'_>, commands: &[Command], is_last: bool) -> Result<(), RunError> {
        let now = context.links.now();
        let (Some(next), Some(file), Some(zero)) = (self.next, &mut self.file, context.zero()) else { return Ok(()) };
        if next > now && !is_last {
            return Ok(());
        }
        self.next = Some(now + STEP);
        let folder = context.job.folder.path();
        let mut text = Vec::new();
        for (number, command) in commands.iter().enumerate() {
            for (place, log) in command.logs().into_iter().enumerate() {
                // A command that has not started has no log.
                let length = std::fs::metadata(folder.join(log)).map_or(0, |found| found.len());
                let before = self.lengths.insert((number, place), length).unwrap_or(0);
                if length > before {
                    let stream = [Stream::Stdout, Stream::Stderr][place];
                    let grown = GrownLog { time_ns: now.since(zero).as_nanos(), number, stream, bytes: length };
                    serde_json::to_writer(&mut text, &grown).expect("it has numbers and words");
                    text.push(b'\n');
                }
            }
        }
        Ok(file.write_all(&text).map_err(WriteError::file(&folder.join(LOG_TIMES)))?)
    }
}
