//! A link is up or down: flapping by itself, and what a cut does to what is on the wire.

use netloom_units::{Instant, Seed};

/// When the pipe is cut and joined by itself, and what a cut does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StateConfig {
    /// What happens to packets that have left the transmitter when the pipe is cut.
    pub on_the_wire: OnTheWire,
}

/// What happens to packets that have left the transmitter when the pipe is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnTheWire {
    /// They arrive.
    #[default]
    Delivered,
    /// They are dropped, and counted as such.
    Lost,
}

/// Flapping, and how far it has come.
#[derive(Debug)]
pub(crate) struct Flapping {}

impl Flapping {
    /// What `config` says, from `now` on; none if the pipe does not flap.
    pub(crate) fn new(config: &StateConfig, now: Instant, seed: Seed) -> Option<Self> {
        let _ = (config, now, seed);
        None
    }

    /// When the pipe is cut or joined next.
    pub(crate) fn next(&self) -> Option<Instant> {
        None
    }

    /// Whether it is up from that instant on.
    pub(crate) fn take(&mut self) -> bool {
        true
    }
}
