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
    /// The dropped frames that were lost on the air: after the last retry, or to everybody in a collision.
    pub lost: u64,
    /// The attempts to send a PPDU, each of which may begin with an RTS.
    pub attempts: u64,
    /// The attempts that collided with those of other stations.
    pub collisions: u64,
    /// The MPDUs of all attempts.
    pub mpdus: u64,
    /// The MPDUs that an attempt failed to get across.
    pub failed_mpdus: u64,
    /// How long the station had the medium with what is over: its PPDUs, what comes in front of them and their answers, with the spaces
    /// between them. Collisions on a medium where all hear one another are nobody's.
    pub airtime: Duration,
    /// The sum over all attempts of the rate of their data, in bits per second.
    pub rates: u128,
    /// How often a terminal of a cell that had data went to another site, or a station of 802.11 to another access point.
    pub handovers: u64,
    /// The stations that are with an access point now.
    pub clients: u64,
}

impl StationCounters {
    /// Returns the sums of both.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self {
            frames: self.frames + other.frames,
            delivered: self.delivered + other.delivered,
            delivered_bytes: self.delivered_bytes + other.delivered_bytes,
            dropped: self.dropped + other.dropped,
            lost: self.lost + other.lost,
            attempts: self.attempts + other.attempts,
            collisions: self.collisions + other.collisions,
            mpdus: self.mpdus + other.mpdus,
            failed_mpdus: self.failed_mpdus + other.failed_mpdus,
            airtime: self.airtime + other.airtime,
            rates: self.rates + other.rates,
            handovers: self.handovers + other.handovers,
            clients: self.clients + other.clients,
        }
    }

    /// Counts an attempt to send MPDUs at this rate in bits per second.
    pub(crate) fn attempt(&mut self, mpdus: u32, rate: u64) {
        self.attempts += 1;
        self.mpdus += u64::from(mpdus);
        self.rates += u128::from(rate);
    }
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
    /// How long several sent at once, where all hear one another; zero with signals between positions, which overlap without being lost.
    pub collided: Duration,
}
