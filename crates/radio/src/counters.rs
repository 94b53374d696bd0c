//! What a station has sent, and with which success.

use netloom_units::Duration;

/// The counters of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationCounters {
    /// The frames that came to the station to be sent.
    pub frames: u64,
    /// The frames that their destinations have received.
    pub delivered: u64,
    /// The payload of the delivered frames in bytes.
    pub delivered_bytes: u64,
    /// The frames that were dropped.
    pub dropped: u64,
    /// The attempts to send a PPDU, each of which may begin with an RTS.
    pub attempts: u64,
    /// The attempts that collided with those of other stations.
    pub collisions: u64,
    /// The MPDUs of all attempts.
    pub mpdus: u64,
    /// The MPDUs that an attempt failed to get across.
    pub failed_mpdus: u64,
}

/// The sums of all stations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The attempts to send a PPDU.
    pub attempts: u64,
    /// The attempts that collided with those of other stations.
    pub collisions: u64,
    /// The MPDUs that an attempt failed to get across; each was sent again or given up.
    pub failed_mpdus: u64,
    /// How long the medium was busy with what is over: PPDUs, what comes in front of them, their answers, and collisions.
    pub busy: Duration,
}
