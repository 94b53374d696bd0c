//! What can be said about a medium.

use crate::contention::Contention;
use crate::error::ConfigError;
use crate::phy::{Phy, Standard};
use alloc::format;
use netloom_units::{Bytes, Duration};

/// How stations get access to the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Frames pass one after the other in the order of their arrival, as if one scheduler knew all queues: no interframe spaces, no
    /// backoff, no collisions, no answers.
    Ideal,
    /// Stations contend by the rules of DCF or EDCA, and all hear all.
    #[default]
    Dcf,
}

/// For how long stations defer behind a frame that nobody could decode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Stations that heard it defer for an EIFS, and those who sent it wait for the answer in vain first (IEEE 802.11-2020, 10.3.2.3.7
    /// and 10.3.4.3).
    #[default]
    Eifs,
    /// All defer as behind a good frame, as the model of Bianchi (2000) assumes.
    Difs,
}

/// After how many failed attempts a frame is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryLimits {
    /// Attempts without RTS, and attempts whose RTS got no answer; at least 1, default 7.
    pub short: u32,
    /// Attempts that failed behind a CTS; at least 1, default 4.
    pub long: u32,
}

impl Default for RetryLimits {
    /// IEEE 802.11-2020, annex C: `dot11ShortRetryLimit` and `dot11LongRetryLimit`.
    fn default() -> Self {
        Self { short: 7, long: 4 }
    }
}

/// The bounds of what stations put together into one PPDU. Frames to everybody are never put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aggregation {
    /// The largest A-MSDU: frames under one header and checksum; zero for none.
    pub amsdu: Bytes,
    /// The largest A-MPDU: frames that are acknowledged one by one; zero for none.
    pub ampdu: Bytes,
    /// The window of a BlockAck in MPDUs, which bounds an A-MPDU, too.
    pub window: u32,
}

impl Aggregation {
    /// Nothing is put together.
    pub const NONE: Self = Self { amsdu: Bytes::new(0), ampdu: Bytes::new(0), window: 1 };

    /// Returns the largest A-MPDU of the physical layer (65,535 B with n, 1,048,575 B with ac, 6,500,631 B with ax), a window of 64
    /// MPDUs, 256 with ax, and no A-MSDU.
    pub fn largest(phy: &Phy) -> Self {
        let (ampdu, window) = match phy.standard() {
            Some(Standard::N) => (65_535, 64),
            Some(Standard::Ac) => (1_048_575, 64),
            Some(Standard::Ax) => (6_500_631, 256),
            _ => (0, 1),
        };
        Self { amsdu: Bytes::new(0), ampdu: Bytes::new(ampdu), window }
    }

    fn check(&self, phy: &Phy) -> Result<(), ConfigError> {
        let largest = Self::largest(phy);
        let amsdu = match phy.standard() {
            Some(Standard::N) => 7_935,
            Some(Standard::Ac | Standard::Ax) => 11_454,
            _ => 0,
        };
        let bounds = [("ampdu", self.ampdu.get(), largest.ampdu.get()), ("amsdu", self.amsdu.get(), amsdu)];
        for (key, found, most) in bounds {
            if found > most {
                return Err(ConfigError::new(key, format!("the standard allows at most {most} B")));
            }
        }
        if !(1..=largest.window).contains(&self.window) {
            return Err(ConfigError::new("window", format!("the standard allows 1 to {} MPDUs", largest.window)));
        }
        Ok(())
    }
}

/// In which order a station serves the frames of a category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Discipline {
    /// By their arrival; a PPDU takes those to the destination of the first.
    #[default]
    Fifo,
    /// By destinations in turn, so that each gets the same time on the air (Høiland-Jørgensen and others 2017, section 3.2).
    AirtimeFq,
}

/// The description of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediumConfig {
    /// The physical layer.
    pub phy: Phy,
    /// How stations get access; default DCF.
    pub access: Access,
    /// The parameters of the categories, the least urgent first; without QoS those of best effort hold for all frames.
    pub contention: [Contention; 4],
    /// The size of a PPDU's data above which RTS and CTS come first; none: never.
    pub rts_above: Option<Bytes>,
    /// After how many failed attempts a frame is dropped.
    pub retries: RetryLimits,
    /// For how long stations defer behind a frame that nobody could decode.
    pub recovery: Recovery,
    /// The bounds of what stations put together.
    pub aggregation: Aggregation,
    /// The longest PPDU with aggregates; default 5.484 ms.
    pub longest_ppdu: Duration,
    /// In which order a station serves the frames of a category.
    pub discipline: Discipline,
    /// How many frames wait in a category of a station at most; default 1,000.
    pub queue: u32,
}

impl MediumConfig {
    /// Creates the description of a medium with this layer and everything else at its default.
    pub fn new(phy: Phy) -> Self {
        Self {
            phy,
            access: Access::default(),
            contention: if phy.has_qos() { Contention::edca(&phy) } else { [Contention::dcf(&phy); 4] },
            rts_above: None,
            retries: RetryLimits::default(),
            recovery: Recovery::default(),
            aggregation: Aggregation::largest(&phy),
            // aPPDUMaxTime of HT-mixed, VHT and HE.
            longest_ppdu: Duration::from_micros(5_484),
            discipline: Discipline::default(),
            queue: 1_000,
        }
    }

    /// Whether the parameters agree with one another and with the standard.
    ///
    /// # Errors
    /// If they do not.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.contention.iter().try_for_each(Contention::check)?;
        self.aggregation.check(&self.phy)?;
        if self.retries.short == 0 || self.retries.long == 0 {
            return Err(ConfigError::new("retries", "must be at least 1: the first attempt counts"));
        }
        if self.queue == 0 {
            return Err(ConfigError::new("queue", "must be at least 1 frame"));
        }
        Ok(())
    }
}
