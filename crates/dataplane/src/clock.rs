//! Lab time from the machine's clocks.

use netloom_units::{Dilation, Instant};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration as RealDuration;

/// The engine's clock: the time since the epoch on `CLOCK_MONOTONIC`, and the lab time that this is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    epoch_ns: u64,
    dilation: Dilation,
}

impl Clock {
    /// A clock whose lab time is zero when `CLOCK_MONOTONIC` shows `epoch`; none: now.
    pub(crate) fn start(epoch: Option<RealDuration>, dilation: Dilation) -> Self {
        let epoch_ns = epoch.map_or_else(monotonic, nanoseconds);
        Self { epoch_ns, dilation }
    }

    /// The lab's time; zero before the epoch.
    #[inline]
    pub(crate) fn now(&self) -> Instant {
        self.lab(self.since_epoch())
    }

    /// Wall time since the epoch.
    pub(crate) fn real(&self) -> RealDuration {
        RealDuration::from_nanos(self.since_epoch())
    }

    /// The lab's time at `real`, the wall time since the epoch.
    pub(crate) fn at(&self, real: RealDuration) -> Instant {
        self.lab(nanoseconds(real))
    }

    fn since_epoch(&self) -> u64 {
        monotonic().saturating_sub(self.epoch_ns)
    }

    /// The lab time at so many nanoseconds of wall time since the epoch, rounded down.
    #[inline]
    fn lab(&self, real_ns: u64) -> Instant {
        // A division of 128 bits is slow; up to 584 years of wall time, divided by the denominator, 64 are enough.
        match real_ns.checked_mul(self.dilation.denominator()) {
            Some(product) => Instant::from_nanos(product / self.dilation.numerator()),
            None => self.dilation.instant_after(RealDuration::from_nanos(real_ns)),
        }
    }

    /// What `CLOCK_MONOTONIC` shows at this instant of the lab, in nanoseconds.
    pub(crate) fn monotonic_at(&self, instant: Instant) -> u64 {
        self.epoch_ns.saturating_add(nanoseconds(self.dilation.real_until(instant)))
    }

    /// The lab's time when `CLOCK_MONOTONIC` shows so many nanoseconds; zero before the epoch.
    pub(crate) fn instant_at(&self, monotonic_ns: u64) -> Instant {
        self.lab(monotonic_ns.saturating_sub(self.epoch_ns))
    }

    /// Wall time from `real` (since the epoch) to an instant of the lab, zero if it has passed.
    pub(crate) fn until(&self, instant: Instant, real: RealDuration) -> RealDuration {
        self.dilation.real_until(instant).saturating_sub(real)
    }
}

fn monotonic() -> u64 {
    read(ClockId::Monotonic)
}

fn nanoseconds(span: RealDuration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Packet sockets stamp arrivals with the time of day; this translates it to lab time.
#[derive(Debug)]
pub(crate) struct TimeOfDay {
    clock: Clock,
    /// Time of day minus wall time since the epoch, in nanoseconds.
    offset_ns: u64,
}

/// Two readings of the clock that are further apart were interrupted; their middle says nothing.
const UNDISTURBED_NS: u64 = 1_000;
/// The clock was set when its offset moves by more than this; smaller steps are left to the next undisturbed reading.
const STEP_NS: u64 = 1_000_000;

impl TimeOfDay {
    pub(crate) fn new(clock: Clock) -> Self {
        let mut this = Self { clock, offset_ns: 0 };
        this.offset_ns = this.measure().1;
        this
    }

    /// How long the measurement took, and the offset at its middle.
    fn measure(&self) -> (u64, u64) {
        let before = self.clock.since_epoch();
        let day = read(ClockId::Realtime);
        let after = self.clock.since_epoch();
        (after - before, day - (before + (after - before) / 2))
    }

    /// Follows the time of day: it may be slewed or set at any moment. Called once per batch of packets.
    pub(crate) fn follow(&mut self) {
        let (took, offset) = self.measure();
        if took <= UNDISTURBED_NS || offset.abs_diff(self.offset_ns) > STEP_NS + took {
            self.offset_ns = offset;
        }
    }

    /// The lab time of a kernel timestamp.
    pub(crate) fn lab_time(&self, seconds: u32, nanoseconds: u32) -> Instant {
        let day = u64::from(seconds) * 1_000_000_000 + u64::from(nanoseconds);
        self.clock.lab(day.saturating_sub(self.offset_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Duration;

    #[test]
    fn a_timestamp_of_now_is_now() {
        for dilation in [Dilation::ONE, Dilation::from_whole(10).expect("within bounds")] {
            let clock = Clock::start(None, dilation);
            let mut day = TimeOfDay::new(clock);
            day.follow();
            let before = clock.now();
            let stamp = read(ClockId::Realtime);
            let after = clock.now();
            let seconds = u32::try_from(stamp / 1_000_000_000).expect("before the year 2106");
            let lab_time = day.lab_time(seconds, u32::try_from(stamp % 1_000_000_000).expect("below a second"));
            // The two clocks may be slewed against one another, by at most 500 parts per million, in the meantime.
            let slack = Duration::from_millis(5);
            assert!(lab_time + slack >= before && lab_time <= after + slack, "{before} {lab_time} {after}");
        }
    }

    #[test]
    fn lab_time_is_exact_at_every_dilation() {
        for millionths in [1_000_000, 2_500_000, 10_000_000, 3_141_593, 10_000_000_000] {
            let dilation = Dilation::from_millionths(millionths).expect("within bounds");
            let clock = Clock { epoch_ns: 0, dilation };
            for real_ns in [0, 1, 999_999_999, 1_000_000_007, 86_400_000_000_000, u64::MAX / 3, u64::MAX] {
                let exact = u128::from(real_ns) * 1_000_000 / u128::from(millionths);
                assert_eq!(u128::from(clock.lab(real_ns).as_nanos()), exact, "{real_ns} at {dilation}");
            }
        }
    }

    #[test]
    fn a_wait_ends_when_the_instant_has_come_and_not_before() {
        let clock = Clock { epoch_ns: 0, dilation: Dilation::from_millionths(3_141_593).expect("within bounds") };
        for lab_ns in [1, 7, 1_000_003] {
            let (instant, real) = (Instant::from_nanos(lab_ns), RealDuration::from_nanos(2));
            let end = clock.until(instant, real) + real;
            assert!(clock.lab(nanoseconds(end)) >= instant);
            assert!(clock.lab(nanoseconds(end) - 1) < instant);
        }
        assert_eq!(clock.until(Instant::from_nanos(1), RealDuration::from_secs(1)), RealDuration::ZERO);
    }
}
