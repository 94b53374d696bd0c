//! The clock of a node that has a kernel of its own (CLOCK_REALTIME): what an agent does to it, by adjtimex(2).

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use crate::error::{Attempted, KernelError};

/// A change of a clock. What is not said stays as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOrder {
    /// By how much it is set forward at once, in nanoseconds; below zero, back.
    pub step_ns: Option<i64>,
    /// How much faster than the kernel's time it runs from now on, in parts per trillion; below zero, slower. At most a tenth.
    pub drift_ppt: Option<i64>,
    /// Whether the clock's day has one second more at its end, or one less.
    pub leap: Option<Leap>,
}

impl ClockOrder {
    /// Returns what was attempted, for an error.
    fn attempt(&self) -> String {
        const SECOND: u64 = 1_000_000_000;
        match *self {
            Self { step_ns: Some(step), .. } => {
                let (way, by) = (if step < 0 { "back" } else { "forward" }, step.unsigned_abs());
                format!("set the clock {way} by {}.{:09} s", by / SECOND, by % SECOND)
            }
            Self { drift_ppt: Some(_), .. } => "change the rate of the clock".into(),
            Self { leap: Some(_), .. } => "announce a leap second".into(),
            Self { .. } => "ask for the time".into(),
        }
    }
}

/// A leap second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Leap {
    /// One second more.
    Insert,
    /// One second less.
    Delete,
}

/// A tick of a clock that runs as its kernel does, in microseconds of a kernel with a USER_HZ of 100.
const USUAL_TICK: i64 = 10_000;
/// The drift by one microsecond of a tick, in parts per trillion.
const TICK_PPT: i64 = 100_000_000;
/// The largest drift by the frequency alone (MAXFREQ of include/linux/timex.h: 500 ppm), in parts per trillion.
const MOST_BY_FREQUENCY_PPT: i64 = 500_000_000;
/// The frequency counts in so many parts of 1 ppm.
const PARTS: i64 = 1 << 16;
const PPM_PPT: i64 = 1_000_000;

/// The arguments of adjtimex(2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Told {
    modes: u32,
    status: i32,
    seconds: i64,
    nanoseconds: i64,
    tick: i64,
    frequency: i64,
}

impl Told {
    /// Returns the arguments that carry out this order where the status was so before.
    fn of(order: &ClockOrder, status: i32) -> Self {
        let mut told = Self::default();
        if let Some(step_ns) = order.step_ns {
            const SECOND: i64 = 1_000_000_000;
            told.modes |= libc::ADJ_SETOFFSET | libc::ADJ_NANO;
            (told.seconds, told.nanoseconds) = (step_ns.div_euclid(SECOND), step_ns.rem_euclid(SECOND));
        }
        if let Some(ppt) = order.drift_ppt {
            told.modes |= libc::ADJ_TICK | libc::ADJ_FREQUENCY;
            let ticks = if ppt.abs() <= MOST_BY_FREQUENCY_PPT { 0 } else { nearest(ppt, TICK_PPT) };
            told.tick = USUAL_TICK + ticks;
            told.frequency = nearest((ppt - ticks * TICK_PPT) * PARTS, PPM_PPT);
        }
        if let Some(leap) = order.leap {
            told.modes |= libc::ADJ_STATUS;
            let wanted = match leap {
                Leap::Insert => libc::STA_INS,
                Leap::Delete => libc::STA_DEL,
            };
            told.status = status & !(libc::STA_INS | libc::STA_DEL) | wanted;
        }
        told
    }
}

/// A quotient, rounded to the nearest whole number.
fn nearest(value: i64, divisor: i64) -> i64 {
    (value + divisor / 2).div_euclid(divisor)
}

/// Carries out an order: the clock moves at this instant, and no other clock is set. What a drift does, it does to CLOCK_MONOTONIC, too.
pub(crate) fn set(order: &ClockOrder) -> Result<(), KernelError> {
    let attempted = || order.attempt();
    let before = adjust(&Told::default()).attempted(attempted)?;
    let told = Told::of(order, before.status);
    adjust(&told).attempted(attempted).map_err(|error| match order.step_ns {
        Some(_) if error.errno() == libc::EINVAL => {
            error.with_detail("Linux's clock cannot show a time before 1970, nor before its kernel booted at that time")
        }
        _ => error,
    })?;
    // Steps count in nanoseconds, and so would all that programs ask for from then on.
    if told.modes & libc::ADJ_NANO != 0 && before.status & libc::STA_NANO == 0 {
        adjust(&Told { modes: libc::ADJ_MICRO, ..Told::default() }).attempted(attempted)?;
    }
    Ok(())
}

/// Returns what the kernel says of the clock then.
fn adjust(told: &Told) -> nix::Result<libc::timex> {
    // SAFETY: a structure of numbers, for which all zeros are right.
    let mut timex: libc::timex = unsafe { std::mem::zeroed() };
    (timex.modes, timex.status) = (told.modes, told.status);
    (timex.time.tv_sec, timex.time.tv_usec) = (told.seconds, told.nanoseconds);
    (timex.tick, timex.freq) = (told.tick, told.frequency);
    // SAFETY: the kernel reads and writes this structure alone.
    let state = unsafe { libc::adjtimex(&raw mut timex) };
    Errno::result(state).map(|_| timex)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(order: ClockOrder) -> Told {
        Told::of(&order, libc::STA_UNSYNC | libc::STA_DEL)
    }

    #[test]
    fn steps_are_whole_seconds_and_nanoseconds_forward() {
        let step = |ns| {
            let told = told(ClockOrder { step_ns: Some(ns), ..ClockOrder::default() });
            assert_eq!(told.modes, libc::ADJ_SETOFFSET | libc::ADJ_NANO);
            (told.seconds, told.nanoseconds)
        };
        assert_eq!(step(3_000_000_001), (3, 1));
        assert_eq!(step(-40_000_000), (-1, 960_000_000));
    }

    /// adjtimex(2): the frequency counts in 2^-16 ppm, and 1 us of a tick of 10 ms is 100 ppm.
    #[test]
    fn drifts_are_a_frequency_up_to_500_ppm_and_ticks_beyond() {
        let drift = |ppm: i64| {
            let told = told(ClockOrder { drift_ppt: Some(ppm * 1_000_000), ..ClockOrder::default() });
            assert_eq!(told.modes, libc::ADJ_TICK | libc::ADJ_FREQUENCY);
            (told.tick, told.frequency)
        };
        assert_eq!(drift(0), (10_000, 0));
        assert_eq!(drift(200), (10_000, 200 << 16));
        assert_eq!(drift(-500), (10_000, -500 << 16));
        assert_eq!(drift(640), (10_006, 40 << 16));
        assert_eq!(drift(-670), (9_993, 30 << 16));
        assert_eq!([drift(100_000), drift(-100_000)], [(11_000, 0), (9_000, 0)]);
        let small = told(ClockOrder { drift_ppt: Some(1_500), ..ClockOrder::default() });
        assert_eq!(small.frequency, 98);
    }

    #[test]
    fn a_leap_second_takes_the_place_of_another() {
        let order = ClockOrder { leap: Some(Leap::Insert), ..ClockOrder::default() };
        assert_eq!(
            told(order),
            Told { modes: libc::ADJ_STATUS, status: libc::STA_UNSYNC | libc::STA_INS, ..Told::default() }
        );
    }
}
