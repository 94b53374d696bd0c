//! Received powers as whole numbers: their sums have the same bits in whatever order they are made.

use crate::decibels::Decibels;
use core::iter::Sum;
use core::ops;

/// A power in units of 10⁻²¹ W, -180 dBm: far below the noise of any channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Power(u128);

/// The unit in dBm, and the largest power of all, far above any sender's.
const UNIT: f64 = -180.0;
const LARGEST: f64 = 100.0;

impl Power {
    /// The power of so many dBm, to the nearest unit.
    pub(crate) fn of(dbm: Decibels) -> Self {
        Self(libm::round(Decibels(dbm.0.min(LARGEST) - UNIT).ratio()) as u128)
    }

    /// Such a part of it.
    pub(crate) fn part(self, numerator: u64, denominator: u64) -> Self {
        Self(self.0 * u128::from(numerator) / u128::from(denominator.max(1)))
    }

    /// The ratio to another power, which is at least one unit.
    pub(crate) fn over(self, other: Self) -> Decibels {
        Decibels::of_ratio(self.0 as f64 / other.0.max(1) as f64)
    }
}

impl ops::Add for Power {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl ops::Sub for Power {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Sum for Power {
    fn sum<I: Iterator<Item = Self>>(powers: I) -> Self {
        powers.fold(Self::default(), ops::Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_their_decibels() {
        for dbm in [-120.0, -93.96, -62.0, 0.0, 30.0] {
            let ratio = Power::of(Decibels(dbm)).over(Power::of(Decibels(-100.0)));
            assert!(libm::fabs(ratio.0 - (dbm + 100.0)) < 1e-5, "{ratio:?} of {dbm} dBm");
        }
        // Twice a power is 3.01 dB more; what is far below a unit is nothing.
        let one = Power::of(Decibels(-80.0));
        assert!(libm::fabs((one + one).over(one).0 - 3.0103) < 1e-4);
        assert_eq!(Power::of(Decibels(-300.0)), Power::default());
        assert!(Power::of(Decibels(1e9)) > Power::of(Decibels(60.0)));
    }
}
