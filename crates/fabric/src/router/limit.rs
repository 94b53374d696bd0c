//! The rate limit of a router's ICMP errors (RFC 1812, section 4.3.2.8; RFC 4443, section 2.4 f): a token bucket.

use netloom_units::{Duration, Instant};

/// Between two error messages in the long run: 1,000 a second.
const GAP: Duration = Duration::from_millis(1);
/// At once: enough for a traceroute that asks for all hops together.
const BURST: u64 = 50;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Limit {
    /// When the bucket will be full again.
    full: Instant,
}

impl Limit {
    /// Whether another one may be sent at `now`.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        let missing = self.full.since(now);
        let allowed = missing.as_nanos() <= (BURST - 1) * GAP.as_nanos();
        if allowed {
            self.full = self.full.max(now) + GAP;
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fifty_at_once_and_a_thousand_a_second() {
        let mut limit = Limit::default();
        let mut sent = |from_us: u64, count: u64, step_us: u64| {
            (0..count).filter(|index| limit.take(Instant::from_nanos((from_us + index * step_us) * 1_000))).count()
        };
        assert_eq!(sent(0, 1_000, 0), 50);
        assert_eq!(sent(1, 100_000, 10), 999);
        assert_eq!(sent(5_000_000, 1_000, 0), 50);
    }
}
