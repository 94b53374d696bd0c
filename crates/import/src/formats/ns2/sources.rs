//! What is sent, and when.

use crate::source::Place;
use crate::value::Map;
use netloom_units::Duration;
use std::collections::BTreeMap;

/// A source.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) keys: Map,
    /// At most so many packets, and the time between two.
    pub(super) limit: Option<(u64, Duration)>,
}

/// The same source from an instant on, up to another one.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    /// Where its application is made, and what that is.
    pub(super) place: Place,
    pub(super) class: String,
    /// The keys of an entry of `traffic`, without its times.
    pub(super) keys: Map,
    pub(super) start: Duration,
    pub(super) stop: Option<Duration>,
    /// The time from one packet to the next, and how many come at most.
    pub(super) limit: Option<(u64, Duration)>,
}

/// A packet that is sent on its own.
#[derive(Clone, Debug)]
pub(super) struct Single {
    pub(super) place: Place,
    pub(super) class: String,
    /// The nodes where it comes from and where it goes.
    pub(super) ends: (usize, usize),
    pub(super) bytes: u64,
    pub(super) at: Duration,
}

/// What is sent so far.
#[derive(Debug, Default)]
pub(super) struct Flows {
    pub(super) all: Vec<Flow>,
    pub(super) singles: Vec<Single>,
    /// The applications that run, each with its flow where one is known.
    pub(super) running: BTreeMap<String, Option<usize>>,
    /// Transfers with an end, by the object that was asked for them.
    pub(super) transfers: BTreeMap<String, Vec<usize>>,
    /// Why nothing is known of an application that runs.
    pub(super) unknown: BTreeMap<String, String>,
    /// Transfers that were asked for at this instant: by whom, of which transport, and how much.
    pub(super) asked: Vec<(String, String, Amount)>,
    /// How much was looked at for changes.
    pub(super) work: usize,
}

/// How much a transfer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    Packets(u64),
    Bytes(u64),
}
