//! The correlation of each delay with the one before it (GINE, equation 4.1).

use crate::ConfigError;
use alloc::format;
use core::{fmt, str::FromStr};
use netloom_units::Probability;

/// A number from -1 to 1 in steps of 10^-12.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correlation {
    size: Probability,
    below_zero: bool,
}

impl Correlation {
    /// Every delay is drawn on its own.
    pub const NONE: Self = Self { size: Probability::ZERO, below_zero: false };

    /// `size`, below zero if so said.
    pub fn new(size: Probability, below_zero: bool) -> Self {
        Self { size, below_zero: below_zero && !size.is_zero() }
    }

    /// The correlation as a number from -1 to 1.
    pub fn as_f64(self) -> f64 {
        if self.below_zero { -self.size.as_f64() } else { self.size.as_f64() }
    }

    /// GINE, equation 4.1: delay = c * delay_previous + (1 - c) * delay_random.
    pub(super) fn mix(self, previous: f64, random: f64) -> f64 {
        let c = self.as_f64();
        c * previous + (1.0 - c) * random
    }
}

impl fmt::Display for Correlation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.below_zero { "-" } else { "" })?;
        self.size.fmt(f)
    }
}

impl FromStr for Correlation {
    type Err = ConfigError;
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let trimmed = text.trim();
        let size = trimmed.strip_prefix('-').unwrap_or(trimmed);
        let parsed = size.parse().ok().filter(|_| size.starts_with(|first: char| first.is_ascii_digit()));
        let form = "write a share from -100 % to 100 % in steps of 10^-10 %, for example 80 %";
        let wrong = || ConfigError::new("correlation", format!("\"{text}\" is not a correlation: {form}"));
        Ok(Self::new(parsed.ok_or_else(wrong)?, trimmed.starts_with('-')))
    }
}
