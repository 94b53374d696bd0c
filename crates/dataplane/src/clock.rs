//! Lab time from the machine's clocks.

use netloom_units::Instant;

/// The engine's clock: nanoseconds of `CLOCK_MONOTONIC` since it was made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    base_ns: u64,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { base_ns: read(libc::CLOCK_MONOTONIC) }
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(read(libc::CLOCK_MONOTONIC) - self.base_ns)
    }
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable, and both clocks that are asked for exist on every Linux.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Packet sockets stamp arrivals with the time of day; this translates it to lab time.
#[derive(Debug)]
pub(crate) struct TimeOfDay {
    clock: Clock,
    /// Time of day minus lab time, in nanoseconds.
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
        let before = self.clock.now().as_nanos();
        let day = read(libc::CLOCK_REALTIME);
        let after = self.clock.now().as_nanos();
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
        Instant::from_nanos(day.saturating_sub(self.offset_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Duration;

    #[test]
    fn a_timestamp_of_now_is_now() {
        let clock = Clock::start();
        let mut day = TimeOfDay::new(clock);
        day.follow();
        let before = clock.now();
        let stamp = read(libc::CLOCK_REALTIME);
        let after = clock.now();
        let seconds = u32::try_from(stamp / 1_000_000_000).expect("before the year 2106");
        let lab_time = day.lab_time(seconds, u32::try_from(stamp % 1_000_000_000).expect("below a second"));
        // The two clocks may be slewed against one another, by at most 500 parts per million, in the meantime.
        let slack = Duration::from_millis(5);
        assert!(lab_time + slack >= before && lab_time <= after + slack, "{before} {lab_time} {after}");
    }
}
