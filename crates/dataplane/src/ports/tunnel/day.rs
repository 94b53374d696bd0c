//! How wrong the time of day of this machine is at most, as the programs that set it tell the kernel: chrony and ntpd, or `phc2sys` of PTP
//! (adjtimex(2)), or as chrony says itself. Where both ends know that, their clocks are one clock up to both bounds, and each way of a path is known by itself.

use super::tracking::Tracker;
use crate::sys::check;
use netloom_units::Duration;
use rustix::time::{ClockId, clock_gettime};
use std::{env, io};

/// States the bound where the system does not.
const VARIABLE: &str = "NETLOOM_CLOCK_BOUND";
/// No time of day is more exact: programs of PTP tell the kernel that theirs is exact.
const LEAST_NS: u64 = 10_000;
/// A time of day that is off by more says nothing about paths, in nanoseconds.
const MOST_NS: u64 = 1_000_000_000;
/// Reading both clocks takes no longer where nothing interrupts it.
const UNDISTURBED_NS: i64 = 20_000;

/// The time of day of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day {
    /// Time of day minus `CLOCK_MONOTONIC`, in nanoseconds.
    pub(super) offset: i64,
    /// By how much it is off at most, in nanoseconds.
    pub(super) bound: u64,
}

/// The clock of an end, what the environment states of it, and who else tells.
#[derive(Clone, Debug, Default)]
pub(super) struct DayClock {
    stated: Option<u64>,
    tracker: Option<Tracker>,
}

impl DayClock {
    /// Takes the bound that the environment states, if it does.
    ///
    /// # Errors
    /// `InvalidInput`: it is no time.
    pub(super) fn new() -> io::Result<Self> {
        let Some(text) = env::var_os(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(Self::default()) };
        let text = text.to_string_lossy();
        let stated = text.parse::<Duration>().map(Duration::as_nanos);
        let wrong =
            || format!("{VARIABLE}={text}: write for how long the time of day is off at most, for example 20us");
        let stated = stated.map_err(|_| io::Error::new(io::ErrorKind::InvalidInput, wrong()))?;
        Ok(Self { stated: Some(stated), tracker: None })
    }

    /// Asks this one, too, from now on: of two that know, who is more certain counts.
    pub(super) fn ask(&mut self, tracker: Tracker) {
        self.tracker = Some(tracker);
    }

    /// Reads the time of day; none if nobody says how exact it is.
    pub(super) fn read(&self) -> Option<Day> {
        let told = || {
            let tracker = self.tracker.as_ref().and_then(|tracker| tracker.bound(nanoseconds(ClockId::Monotonic)));
            [told_by_kernel(), tracker].into_iter().flatten().min()
        };
        let bound = self.stated.or_else(told)?.max(LEAST_NS);
        let before = nanoseconds(ClockId::Monotonic);
        let day = nanoseconds(ClockId::Realtime);
        let took = nanoseconds(ClockId::Monotonic) - before;
        // Whoever was interrupted in between asks again the next time.
        (bound <= MOST_NS && took <= UNDISTURBED_NS)
            .then(|| Day { offset: day - (before + took / 2), bound: bound + took.unsigned_abs() })
    }
}

fn nanoseconds(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec)
}

/// The kernel's `maxerror`, in nanoseconds; none if the clock is not synchronized.
fn told_by_kernel() -> Option<u64> {
    // SAFETY: all-zero bytes are a valid `timex`: numbers, and modes that change nothing.
    let mut told: libc::timex = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to one `timex`, which lives through the call.
    let state = check(unsafe { libc::adjtimex(&raw mut told) }).ok()?;
    let is_synchronized = state != libc::TIME_ERROR && told.status & libc::STA_UNSYNC == 0;
    u64::try_from(told.maxerror).ok().filter(|_| is_synchronized).map(|microseconds| microseconds.saturating_mul(1_000))
}
