//! What can be said about a physical layer.

use super::channel::Channel;

/// An amendment of IEEE 802.11, by its letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// 802.11b: DSSS and CCK at 2.4 GHz, up to 11 Mbit/s.
    B,
    /// 802.11a: OFDM at 5 GHz, up to 54 Mbit/s.
    A,
    /// 802.11g: OFDM at 2.4 GHz, up to 54 Mbit/s, and the rates of 802.11b.
    G,
    /// 802.11n, Wi-Fi 4: HT in both bands.
    N,
    /// 802.11ac, Wi-Fi 5: VHT at 5 GHz.
    Ac,
    /// 802.11ax, Wi-Fi 6: HE in both bands.
    Ax,
}

/// A channel's width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// 20 MHz.
    #[default]
    Mhz20,
    /// 40 MHz.
    Mhz40,
    /// 80 MHz.
    Mhz80,
    /// 160 MHz.
    Mhz160,
}

impl Width {
    /// Returns the width in hertz.
    pub const fn hertz(self) -> u64 {
        match self {
            Self::Mhz20 => 20_000_000,
            Self::Mhz40 => 40_000_000,
            Self::Mhz80 => 80_000_000,
            Self::Mhz160 => 160_000_000,
        }
    }
}

/// The guard interval between two symbols of OFDM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GuardInterval {
    /// 0.4 us, the short one of n and ac.
    Ns400,
    /// 0.8 us.
    #[default]
    Ns800,
    /// 1.6 us, of ax.
    Ns1600,
    /// 3.2 us, of ax.
    Ns3200,
}

/// The preamble of DSSS and CCK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preamble {
    /// 192 us with its header.
    #[default]
    Long,
    /// 96 us with its header.
    Short,
}

/// The slot time at 2.4 GHz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlotTime {
    /// 9 us, where all stations understand 802.11g or later.
    #[default]
    Short,
    /// 20 us, beside stations of 802.11b.
    Long,
}

/// The description of a physical layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhyConfig {
    /// The standard that all stations speak.
    pub standard: Standard,
    /// The channel, which decides the band.
    pub channel: Channel,
    /// The channel's width; default 20 MHz.
    pub width: Width,
    /// The guard interval; default 0.8 us.
    pub guard_interval: GuardInterval,
    /// The preamble of the rates of 802.11b; default long.
    pub preamble: Preamble,
    /// The slot time at 2.4 GHz; default short. 802.11b always has the long one.
    pub slot_time: SlotTime,
}

impl PhyConfig {
    /// Creates the description of a standard on a channel, with everything else at its default.
    pub fn new(standard: Standard, channel: Channel) -> Self {
        Self {
            standard,
            channel,
            width: Width::default(),
            guard_interval: GuardInterval::default(),
            preamble: Preamble::default(),
            slot_time: SlotTime::default(),
        }
    }
}
