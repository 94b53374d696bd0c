//! Ratios and powers on a logarithmic scale.

use core::ops;

/// Ten times the decimal logarithm of a ratio of powers; of a power, its ratio to a milliwatt (dBm).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Decibels(pub f64);

impl Decibels {
    /// Returns the decibels of a ratio.
    pub fn of_ratio(ratio: f64) -> Self {
        Self(10.0 * libm::log10(ratio))
    }

    /// Returns the ratio.
    pub fn ratio(self) -> f64 {
        libm::pow(10.0, self.0 / 10.0)
    }
}

impl ops::Add for Decibels {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl ops::Sub for Decibels {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
