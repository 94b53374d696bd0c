//! Numbers that several disciplines need.

use netloom_units::Duration;
use rand_core::Rng;

/// The next number from 0 up to, but not, 1, in steps of 2⁻⁵³: as many as a fraction has bits.
pub(super) fn uniform(random: &mut impl Rng) -> f64 {
    const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
    (random.next_u64() >> 11) as f64 * STEP
}

/// By how many seconds `one` is longer than `other`; below zero if it is shorter.
pub(super) fn seconds_longer(one: Duration, other: Duration) -> f64 {
    (one - other).as_secs_f64() - (other - one).as_secs_f64()
}
