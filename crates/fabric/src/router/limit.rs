//! The rate limit of a router's ICMP errors (RFC 1812, section 4.3.2.8; RFC 4443, section 2.4 f): two token buckets, one for all and one
//! for each destination, with the figures that Linux has (`icmp_msgs_per_sec`, `icmp_msgs_burst`, `icmp_ratelimit`, `icmp.ratelimit` of IPv6; Linux 6.18 and 7.3).

use alloc::collections::BTreeMap;
use netloom_units::{Duration, Instant};

/// Between two error messages in the long run: 1,000 a second.
const GAP: Duration = Duration::from_millis(1);
/// At once: enough for a traceroute that asks for all hops together.
const BURST: u64 = 50;
/// Between two errors to one destination of IPv4 in the long run.
pub(super) const GAP_TO_ONE: Duration = Duration::from_secs(1);
/// The same of IPv6.
pub(super) const GAP_TO_ONE_V6: Duration = Duration::from_millis(100);
/// To one destination at once.
const BURST_TO_ONE: u64 = 6;
/// Buckets that are full are forgotten when there are more than so many.
const MOST: usize = 4_096;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Limit {
    all: Bucket,
    /// By destination, what is not full.
    to_one: BTreeMap<u128, Bucket>,
}

/// A bucket of tokens.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    /// When it will be full again.
    full: Instant,
}

impl Bucket {
    /// Whether a token is there at `now`; if so, it is taken.
    fn take(&mut self, now: Instant, gap: Duration, burst: u64) -> bool {
        let missing = self.full.since(now);
        let allowed = missing.as_nanos() <= (burst - 1) * gap.as_nanos();
        if allowed {
            self.full = self.full.max(now) + gap;
        }
        allowed
    }
}

impl Limit {
    /// Whether another one may be sent at `now` to this destination. `gap`: how far apart those to it are in the long run; none: they
    /// are not limited.
    pub(super) fn take(&mut self, now: Instant, to: u128, gap: Option<Duration>) -> bool {
        let Some(gap) = gap else { return true };
        if !self.all.take(now, GAP, BURST) {
            return false;
        }
        if self.to_one.len() > MOST {
            self.to_one.retain(|_, bucket| bucket.full > now);
        }
        self.to_one.entry(to).or_default().take(now, gap, BURST_TO_ONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    #[test]
    fn fifty_at_once_and_a_thousand_a_second_in_all() {
        let mut limit = Limit::default();
        let mut destinations = 0..;
        let mut sent = |from_us: u64, count: u64, step_us: u64| {
            let mut take = |index: u64| {
                let to = destinations.next().unwrap_or_default();
                limit.take(at(from_us + index * step_us), to, Some(GAP_TO_ONE))
            };
            (0..count).filter(|index| take(*index)).count()
        };
        assert_eq!(sent(0, 1_000, 0), 50);
        assert_eq!(sent(1, 100_000, 10), 999);
        assert_eq!(sent(5_000_000, 1_000, 0), 50);
    }

    #[test]
    fn six_at_once_and_one_a_second_to_one() {
        let mut limit = Limit::default();
        let mut sent = |to: u128, from_us: u64, count: u64, gap: Option<Duration>| {
            (0..count).filter(|index| limit.take(at(from_us + index * 10_000), to, gap)).count()
        };
        let second = Some(GAP_TO_ONE);
        // For ten seconds, one each 10 ms.
        assert_eq!(sent(1, 0, 1_000, second), 6 + 9);
        assert_eq!(sent(2, 10_000_000, 1_000, Some(GAP_TO_ONE_V6)), 6 + 99);
        // Nobody limits what tells of sizes.
        assert_eq!(sent(1, 20_000_000, 1_000, None), 1_000);
    }
}
