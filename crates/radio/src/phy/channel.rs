//! The channels of 802.11 at 2.4 and 5 GHz.

use crate::error::ConfigError;
use alloc::format;

/// A frequency band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// 2.4 GHz.
    Ghz2,
    /// 5 GHz.
    Ghz5,
}

/// The number of a channel of 20 MHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Channel(u8);

impl Channel {
    /// Returns the channel of this number.
    ///
    /// # Errors
    /// If no band has such a channel.
    pub fn new(number: u8) -> Result<Self, ConfigError> {
        match number {
            1..=14 => Ok(Self(number)),
            36..=64 | 100..=144 if number.is_multiple_of(4) => Ok(Self(number)),
            149..=177 if number % 4 == 1 => Ok(Self(number)),
            _ => {
                let message = format!("{number} is no channel: 1 to 14, 36, 40 … 64, 100 … 144 and 149 … 177 are");
                Err(ConfigError::new("channel", message))
            }
        }
    }

    /// Returns the channel's number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the channel's band.
    pub const fn band(self) -> Band {
        if self.0 <= 14 { Band::Ghz2 } else { Band::Ghz5 }
    }

    /// Returns the centre frequency of the 20 MHz in hertz (IEEE 802.11-2020, 15.4.4.3 and 17.3.8.4.2).
    pub fn hertz(self) -> u64 {
        let megahertz = match self.0 {
            14 => 2_484,
            1..=13 => 2_407 + 5 * u64::from(self.0),
            _ => 5_000 + 5 * u64::from(self.0),
        };
        megahertz * 1_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_have_their_frequencies() {
        for (number, megahertz) in [(1, 2_412), (13, 2_472), (14, 2_484), (36, 5_180), (100, 5_500), (149, 5_745)] {
            assert_eq!(Channel::new(number).map(Channel::hertz), Ok(megahertz * 1_000_000));
        }
        assert!([0, 15, 37, 68, 145, 150, 181].into_iter().all(|number| Channel::new(number).is_err()));
    }
}
