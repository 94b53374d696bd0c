//! What happened in the lab, out of `events.jsonl`.

use netloom_control::{Event, Happened, Id};
use netloom_results::{EventLog, Follow, LoggedEvent, Unfinished};
use std::collections::VecDeque;

/// How many bytes of the file are read at once.
const PIECE: usize = 4 * 1024;

/// See the module.
#[derive(Debug)]
pub(super) struct HappenedFeed {
    pub(super) id: Option<Id>,
    file: Follow,
    /// Events of the last piece that are still to be sent.
    read: VecDeque<Event>,
}

impl HappenedFeed {
    pub(super) fn new(id: Option<Id>, events: &EventLog, from_start: bool) -> Self {
        let position = if from_start { 0 } else { events.length() };
        Self { id, file: Follow::beginning_at(events.path().to_owned(), position), read: VecDeque::new() }
    }

    pub(super) fn has_news(&self, events: &EventLog) -> bool {
        !self.read.is_empty() || self.file.position() < events.length()
    }

    /// The next event, or why there are no more.
    pub(super) fn next(&mut self) -> Result<Option<Event>, String> {
        if self.read.is_empty() {
            let piece = self.file.next(PIECE, Unfinished::Awaited);
            let Some(piece) = piece.map_err(|error| format!("reading events.jsonl: {error}"))? else {
                return Err("another program has truncated events.jsonl".to_owned());
            };
            let lines = piece.bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
            self.read = lines.map(event).collect::<Result<_, _>>()?;
        }
        Ok(self.read.pop_front())
    }
}

fn event(line: &[u8]) -> Result<Event, String> {
    let logged: LoggedEvent = serde_json::from_slice(line)
        .map_err(|error| format!("another program has written to events.jsonl: {error}"))?;
    let LoggedEvent { time_ns, since_start_ns, event, details } = logged;
    Ok(Event::Lab(Happened { at_ns: since_start_ns, since_zero_ns: time_ns, what: event, details }))
}
