//! Entries of the timeline as they are written: one may stand for several.

use super::ActionSpec;
use crate::diagnostics::Spanned;
use netloom_link::PipeChange;
use netloom_units::Duration;

/// An entry, which happens at each of its instants, and at each of its places.
#[derive(Debug)]
pub(crate) struct WrittenSpec {
    pub(crate) line: usize,
    pub(crate) when: When,
    /// The nodes of a command: names, and patterns with `*`. Other actions have none.
    pub(crate) on: Vec<Spanned<String>>,
    pub(crate) action: ActionSpec,
    /// What a link becomes after its first change, each with its time after that.
    pub(crate) then: Vec<(Duration, PipeChange)>,
}

/// When an entry happens.
#[derive(Debug, Default)]
pub(crate) struct When {
    pub(crate) at: Option<SpanSpec>,
    pub(crate) again: Option<AgainSpec>,
    /// How long what happens lasts, if that is drawn each time.
    pub(crate) lasts: Option<SpanSpec>,
    /// How long a command waits after others, if that is drawn each time.
    pub(crate) waits: Option<SpanSpec>,
}

/// A span of time, which may be drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanSpec {
    Fixed(Duration),
    /// Each from the first to the second as likely as any other.
    Uniform(Duration, Duration),
    /// Exponentially distributed, with this mean.
    Exponential(Duration),
}

/// How an entry happens again and again.
#[derive(Debug)]
pub(crate) struct AgainSpec {
    /// From one instant to the next.
    pub(crate) every: Spanned<SpanSpec>,
    /// How many there are in all.
    pub(crate) times: Option<u64>,
    /// None is later than this.
    pub(crate) until: Option<Duration>,
}
