//! How the engine waits for the next event. All spans here are wall time: machines wake up late by wall time,
//! however slowly time passes in the lab.

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// How much processor time the engine may spend on being on time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Sleeps until a packet is due: late by what the machine's timers are late, some 35 to 100 us.
    Eco,
    /// Sleeps until shortly before a packet is due, then spins. An idle lab costs nothing.
    #[default]
    Balanced,
    /// Always spins, and takes a whole processor.
    Exact,
}

/// Bounds of the margin. Timers on virtual machines fire 15 to 18 us late, and leaving the processor's sleep takes as
/// long again. What is later than the upper bound waited for a processor, and spinning would only take it from others.
const LEAST_MARGIN: Duration = Duration::from_micros(40);
pub(crate) const MOST_MARGIN: Duration = Duration::from_micros(250);
const FIRST_MARGIN: Duration = Duration::from_micros(80);
/// The margin rises by this when a sleep ended later than it allows for, and falls by the other when it did not: it
/// settles where one sleep in five hundred is too late.
const RISE: Duration = Duration::from_micros(10);
const FALL: Duration = Duration::from_nanos(20);
/// A processor that slept for long wakes up later still, 200 us and more on virtual machines, whose host has given it
/// away. So a long sleep ends so much before the instant, and a shorter one follows.
const APPROACHES: [Duration; 2] = [Duration::from_millis(1), Duration::from_micros(250)];
/// How long a wait lasts when nothing is due.
const IDLE: Duration = Duration::from_millis(500);
/// How long a wait lasts at most in a lab that is in use.
const LIVELY_NAP: Duration = Duration::from_millis(5);

/// How long a thread spins at most, and for which part of the time, whose priority keeps kernels of nodes from running.
const LONGEST_SPIN: Duration = MOST_MARGIN;
const SPINNING_PART: u32 = 4;

/// Decides how long to sleep, and learns from each sleep how late this machine wakes up.
#[derive(Debug)]
pub(crate) struct Waiter {
    precision: Precision,
    margin: Duration,
}

impl Waiter {
    pub(crate) fn new(precision: Precision) -> Self {
        Self { precision, margin: FIRST_MARGIN }
    }

    /// How long before the instant a sleep ends, to spin from there.
    pub(crate) fn margin(&self) -> Duration {
        self.margin
    }

    /// How long to sleep when the next packet is due after `wake`; none: do not sleep, look again.
    ///
    /// `lively`: the lab is in use, and the sleep is to be a nap.
    pub(crate) fn sleep(&self, wake: Option<Duration>, lively: bool) -> Option<Duration> {
        let longest = if lively && self.keeps_warm() { LIVELY_NAP } else { IDLE };
        let until = wake.unwrap_or(IDLE);
        let span = match self.precision {
            Precision::Exact => return None,
            Precision::Balanced => {
                let approach = APPROACHES.into_iter().find(|approach| until > *approach * 2);
                until.saturating_sub(approach.unwrap_or(self.margin))
            }
            Precision::Eco => until,
        };
        (!span.is_zero()).then_some(span.min(longest))
    }

    /// Whether it spins only before a packet is due.
    pub(crate) fn is_balanced(&self) -> bool {
        self.precision == Precision::Balanced
    }

    /// Whether the engine spends processor time on being ready for the next packet.
    pub(crate) fn keeps_warm(&self) -> bool {
        self.precision != Precision::Eco
    }

    /// Learns from a sleep that nothing cut short, and that ended so `late`.
    pub(crate) fn learn(&mut self, late: Duration) {
        let margin = if late > self.margin { self.margin + RISE } else { self.margin.saturating_sub(FALL) };
        self.margin = margin.clamp(LEAST_MARGIN, MOST_MARGIN);
    }
}

/// Limits how much a thread spins that comes before all others on its processor. A program of a namespace node goes to another
/// processor then, but a kernel of a node stays on one: on that of the thread, it would stand still for as long as packets follow
/// one another too closely for a sleep that ends early. Such a thread sleeps until a packet is due, as with [`Precision::Eco`].
#[derive(Debug, Default)]
pub(crate) struct SpinLimit {
    /// For how long it may still spin.
    left: Duration,
    /// When it was asked last. Wall time since the epoch.
    asked: Duration,
    /// Whether it has spun since.
    spins: bool,
}

impl SpinLimit {
    /// How long to sleep at `real`, where [`Waiter::sleep`] said `chosen`, and the next packet is due after `wake`; none: spin.
    pub(crate) fn limit(
        &mut self,
        real: Duration,
        chosen: Option<Duration>,
        wake: Option<Duration>,
    ) -> Option<Duration> {
        let passed = real.saturating_sub(self.asked);
        self.asked = real;
        self.left = if self.spins {
            self.left.saturating_sub(passed)
        } else {
            (self.left + passed / SPINNING_PART).min(LONGEST_SPIN)
        };
        let is_over = self.left.is_zero();
        let span = chosen.or_else(|| wake.filter(|wake| is_over && !wake.is_zero()));
        self.spins = span.is_none();
        span
    }
}

/// Sleeps until something comes.
pub(crate) struct Sleeper(Vec<libc::pollfd>);

impl Sleeper {
    /// Whatever can be read from one of these descriptors ends a sleep. Negative descriptors are none.
    pub(crate) fn new(descriptors: impl IntoIterator<Item = RawFd>) -> Self {
        let polled = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        Self(descriptors.into_iter().map(polled).collect())
    }

    /// Sleeps for `span`, or until something comes; says whether the span passed undisturbed.
    pub(crate) fn sleep(&mut self, span: Duration) -> io::Result<bool> {
        let timeout = libc::timespec {
            tv_sec: i64::try_from(span.as_secs()).expect("a wait is short"),
            tv_nsec: i64::from(span.subsec_nanos()),
        };
        let count = libc::nfds_t::try_from(self.0.len()).expect("a few");
        // SAFETY: the array and its length belong together, and the timeout lives through the call.
        let ready = unsafe { libc::ppoll(self.0.as_mut_ptr(), count, &raw const timeout, std::ptr::null()) };
        if ready < 0 {
            let error = io::Error::last_os_error();
            return if error.kind() == io::ErrorKind::Interrupted { Ok(false) } else { Err(error) };
        }
        Ok(ready == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(precision: Precision, us: u64) -> Option<Duration> {
        Waiter::new(precision).sleep(Some(Duration::from_micros(us)), false)
    }

    #[test]
    fn sleeps_by_precision() {
        assert_eq!(span(Precision::Exact, 1_000), None);
        assert_eq!(span(Precision::Balanced, 80), None);
        assert_eq!(span(Precision::Balanced, 100), Some(Duration::from_micros(20)));
        assert_eq!(span(Precision::Balanced, 50_000), Some(Duration::from_millis(49)));
        assert_eq!(span(Precision::Balanced, 1_000), Some(Duration::from_micros(750)));
        assert_eq!(span(Precision::Eco, 50), Some(Duration::from_micros(50)));
        assert_eq!(span(Precision::Eco, 0), None);
        assert_eq!(Waiter::new(Precision::Balanced).sleep(None, false), Some(IDLE - APPROACHES[0]));
        assert_eq!(Waiter::new(Precision::Balanced).sleep(None, true), Some(LIVELY_NAP));
        assert_eq!(Waiter::new(Precision::Eco).sleep(None, true), Some(IDLE));
    }

    #[test]
    fn who_is_restrained_spins_for_a_quarter_of_the_time_at_most_and_not_for_long() {
        let (mut spin_limit, us) = (SpinLimit::default(), Duration::from_micros);
        // Packets follow one another by 20 us: the waiter always wants to spin.
        let (mut now, mut spun, mut longest, mut at_once) = (us(1_000_000), us(0), us(0), us(0));
        let begin = now;
        while now < begin + us(100_000) {
            let step = spin_limit.limit(now, None, Some(us(20)));
            at_once = if step.is_none() { at_once + us(1) } else { us(0) };
            longest = longest.max(at_once);
            spun += us(u64::from(step.is_none()));
            now += step.unwrap_or(us(1));
        }
        assert!(spun > us(15_000) && spun < us(25_000), "{spun:?}");
        assert!(longest <= LONGEST_SPIN + us(1), "{longest:?}");
    }

    #[test]
    fn nobody_is_restrained_who_sleeps_long_enough_and_what_is_due_is_not_slept_through() {
        let (mut spin_limit, us) = (SpinLimit::default(), Duration::from_micros);
        for round in 1..1_000 {
            let now = us(1_000 * round);
            assert_eq!(spin_limit.limit(now, Some(us(800)), Some(us(1_000))), Some(us(800)));
            assert_eq!(spin_limit.limit(now + us(800), None, Some(us(200))), None);
        }
        spin_limit.left = us(0);
        assert_eq!(spin_limit.limit(spin_limit.asked, None, Some(us(0))), None);
    }

    #[test]
    fn the_margin_settles_above_the_usual_lateness() {
        let mut waiter = Waiter::new(Precision::Balanced);
        for round in 0..40_000 {
            let late = if round % 100 == 0 { 110 } else { 90 };
            waiter.learn(Duration::from_micros(late));
        }
        assert!(waiter.margin() >= Duration::from_micros(110) - RISE, "{:?}", waiter.margin());
        assert!(waiter.margin() < MOST_MARGIN, "{:?}", waiter.margin());
    }
}
