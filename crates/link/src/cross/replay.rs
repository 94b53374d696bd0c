//! Recorded packets: their times and sizes, once or again and again.

use super::Step;
use crate::ConfigError;
use alloc::string::String;
use alloc::sync::Arc;
use netloom_units::{Bytes, Duration};

/// A recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    /// The file that it comes from, as the lab file names it.
    pub file: String,
    /// When each packet comes, from the beginning of the source on, and its size from the IP header on.
    pub packets: Arc<[(Duration, Bytes)]>,
    /// Whether it begins again when it is over: its first packet then comes one mean gap after the last.
    pub repeat: bool,
}

impl Replay {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |message: &str| Err(ConfigError::new("file", message));
        let (Some(first), Some(last)) = (self.packets.first(), self.packets.last()) else {
            return wrong("it has no packets");
        };
        if let Some(place) = self.packets.windows(2).position(|pair| pair[1].0 < pair[0].0) {
            let message = alloc::format!("packet {} is earlier than the one before it", place + 2);
            return Err(ConfigError::new("file", message));
        }
        if self.repeat && first.0 == last.0 {
            return wrong("all its packets come at one instant, so that it cannot be repeated");
        }
        Ok(())
    }

    /// How long after its last packet the recording begins again: the mean gap, rounded up.
    fn pause(&self) -> Option<Duration> {
        let (first, last) = (self.packets.first()?.0, self.packets.last()?.0);
        let gaps = (self.packets.len() as u64).checked_sub(1).filter(|gaps| *gaps > 0)?;
        Some(Duration::from_nanos((last - first).as_nanos().div_ceil(gaps)))
    }
}

/// Where a recording is.
#[derive(Clone, Debug)]
pub(super) struct Player {
    packets: Arc<[(Duration, Bytes)]>,
    /// After its last packet; none if it is not repeated.
    pause: Option<Duration>,
    place: usize,
    /// When the packet before came, from the beginning of this repetition on.
    before: Duration,
    /// The pause that is still to come.
    rest: Duration,
}

impl Player {
    pub(super) fn new(replay: &Replay) -> Self {
        let pause = if replay.repeat { replay.pause() } else { None };
        Self { packets: Arc::clone(&replay.packets), pause, place: 0, before: Duration::ZERO, rest: Duration::ZERO }
    }

    /// The next packet; none if the recording is over.
    pub(super) fn next(&mut self) -> Option<Step> {
        if self.place == self.packets.len() {
            self.rest = self.pause?;
            self.before = self.packets.first()?.0;
            self.place = 0;
        }
        let (at, size) = *self.packets.get(self.place)?;
        let gap = core::mem::take(&mut self.rest) + (at - self.before);
        (self.place, self.before) = (self.place + 1, at);
        Some(Step { gap, size })
    }
}
