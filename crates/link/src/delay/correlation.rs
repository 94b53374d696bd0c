//! How much of the delay before it each delay keeps (GINE, equation 4.1).

use core::{fmt, str::FromStr};
use netloom_units::{ParseError, Probability};

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
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let trimmed = text.trim();
        let size = trimmed.strip_prefix('-').unwrap_or(trimmed);
        Ok(Self::new(size.parse()?, trimmed.starts_with('-')))
    }
}
