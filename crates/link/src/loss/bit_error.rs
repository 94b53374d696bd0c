//! Loss by bit errors: each bit is wrong with the same probability p, independently of all others, and a packet with a
//! wrong bit is lost: of n bits with probability 1 - (1 - p)^n.
//!
//! Range: 0 < p ≤ 1, in steps of 10^-18 or as a fraction. n are the bits from the IP header on.
//! Source: GINE section 3.2 ("independent constant bit error rate"), ng_dummy (vimage paper, section III: `ber`).
//! Differs from GINE, which makes the probability proportional to the size, a good approximation only while n p is
//! small; it would exceed 1 for large n p.

use netloom_units::{BitErrorRate, Bytes};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct BitError {
    /// ln (1 - p).
    log_right: f64,
    /// The size of the last packet and the numbers that lose such a packet: those below this one, of 2^64.
    last: (Bytes, u128),
}

impl BitError {
    pub(crate) fn new(rate: BitErrorRate) -> Self {
        Self { log_right: libm::log1p(-rate.as_f64()), last: (Bytes::new(0), 0) }
    }

    /// Whether a packet of `size` is lost.
    pub(crate) fn takes(&mut self, size: Bytes, drawn: u64) -> bool {
        // Most packets have the size of the one before, and then nothing needs to be computed.
        if self.last.0 != size {
            self.last = (size, self.losing(size));
        }
        u128::from(drawn) < self.last.1
    }

    fn losing(&self, size: Bytes) -> u128 {
        if size.get() == 0 {
            return 0;
        }
        // Through logarithms, because 1 - p is 1 in this arithmetic from p = 10^-16 on, and its power is inexact long
        // before. Both functions are exact to the last bit or two for arguments near zero.
        let probability = -libm::expm1(size.get() as f64 * 8.0 * self.log_right);
        // Times a power of two: exact.
        (probability * 18_446_744_073_709_551_616.0) as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losing(wrong: u64, bits: u64, size: u64) -> u128 {
        let rate = BitErrorRate::new(wrong, bits).expect("a rate");
        BitError::new(rate).losing(Bytes::new(size))
    }

    /// 1 - (1 - p)^n of 2^64, computed with 60 decimal digits and rounded down.
    #[test]
    fn small_rates_are_as_exact_as_large_ones() {
        let close = |got: u128, exact: u128| got.abs_diff(exact) <= exact >> 50;
        assert!(
            close(losing(1, 1_000_000_000_000_000, 1_500), EXACT[0]),
            "{}",
            losing(1, 1_000_000_000_000_000, 1_500)
        );
        assert!(close(losing(1, 1_000_000_000, 1_500), EXACT[1]), "{}", losing(1, 1_000_000_000, 1_500));
        assert!(close(losing(1, 100_000, 1_500), EXACT[2]), "{}", losing(1, 100_000, 1_500));
        assert!(
            close(losing(1, 1_000_000_000_000_000_000, 20), EXACT[3]),
            "{}",
            losing(1, 1_000_000_000_000_000_000, 20)
        );
    }

    const EXACT: [u128; 4] = [221_360_928, 221_359_600_834_933, 2_085_959_580_384_523_414, 2_951];

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(losing(1, 1, 1), 1 << 64, "every bit wrong");
        assert_eq!(losing(1, 1, 0), 0, "no bit at all");
        assert_eq!(losing(1, 2, 1), (1 << 64) - (1 << 56), "one of 256 bytes has no wrong bit");
    }
}
