//! When samples are due.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::clock_gettime;
use nix::unistd::read;

use crate::error::{Attempted, KernelError};

/// A timer of the node's clock.
#[derive(Debug)]
pub(super) struct Ticker {
    timer: TimerFd,
    /// When it was set, in nanoseconds of the clock.
    began_ns: u64,
    step_ns: u64,
    /// How often it has expired since.
    expired: u64,
    reads_clock: bool,
}

impl Ticker {
    /// One that expires every `step_ns`. `reads_clock`: see [`MeasureConfig`](crate::measure::MeasureConfig).
    pub(super) fn begin(step_ns: u64, reads_clock: bool) -> Result<Self, KernelError> {
        let attempted = || "set a timer for samples";
        let flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).attempted(attempted)?;
        let began_ns = now_ns();
        let spec = |ns: u64| TimeSpec::from_duration(Duration::from_nanos(ns));
        let expiration = Expiration::IntervalDelayed(spec(began_ns.saturating_add(step_ns)), spec(step_ns));
        timer.set(expiration, TimerSetTimeFlags::TFD_TIMER_ABSTIME).attempted(attempted)?;
        Ok(Self { timer, began_ns, step_ns, expired: 0, reads_clock })
    }

    /// Readable when a sample is due.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }

    /// The instant of the sample that is due, if one is, in nanoseconds of the clock.
    pub(super) fn due(&mut self) -> Option<u64> {
        let mut expired = [0; 8];
        if read(&self.timer, &mut expired) != Ok(expired.len()) {
            return None;
        }
        self.expired += u64::from_ne_bytes(expired);
        let due_ns = self.began_ns.saturating_add(self.step_ns.saturating_mul(self.expired));
        Some(if self.reads_clock { now_ns() } else { due_ns })
    }
}

/// What the node's clock shows, in nanoseconds.
pub(super) fn now_ns() -> u64 {
    clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC).map_or(0, |time| {
        u64::try_from(time.tv_sec()).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec()).unwrap_or(0)
    })
}
