//! How punctual this machine is, measured with the engine's own means: its clock, its way to wait, its priority.
//!
//! Nothing here needs a privilege, and nothing outlives a call: every measurement has threads of its own, since a thread
//! cannot take its priority back.

use crate::clock::Clock;
use crate::placement::stay_on;
use crate::priority::ThreadPriority;
use crate::sync::Event;
use crate::wait::{Precision, Sleeper, Waiter};
use netloom_figures::{Distribution, Policy};
use netloom_units::{Dilation, Duration};
use std::io;
use std::os::fd::AsRawFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration as RealDuration;

/// The engine learns how late the machine's sleeps end; so many waits before the first that counts let it.
const REHEARSAL: u32 = 30;
/// No thread takes longer to wake up, and one that was never rung for is not waited for forever.
const LONGEST_SLEEP: RealDuration = RealDuration::from_secs(2);

/// How late waits ended.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// How much later than due, in wall time.
    pub lateness: Distribution,
    /// How the thread came before other programs.
    pub policy: Policy,
    /// How long before an instant the engine would have stopped sleeping and spun, at the end.
    pub margin: RealDuration,
}

/// Waits for `count` instants that are `pause` apart, as the engine waits for packets that are due. `processor`: where
/// the thread stays; none: wherever the kernel puts it.
///
/// # Errors
/// When the kernel refuses the thread, its processor or its sleep.
pub fn waits(precision: Precision, count: u32, pause: RealDuration, processor: Option<usize>) -> io::Result<Waits> {
    on_a_thread("netloom-waits", move || {
        processor.map_or(Ok(()), stay_on)?;
        let clock = Clock::start(None, Dilation::ONE);
        let mut thread_priority = ThreadPriority::ask(clock.real());
        let mut waiter = Waiter::new(precision);
        let mut lateness = Distribution::default();
        for round in 0..REHEARSAL + count {
            let late = wait_until(&clock, &mut waiter, clock.real() + pause)?;
            thread_priority.watch(clock.real());
            if round >= REHEARSAL {
                lateness.record(ours(late), 1);
            }
        }
        Ok(Waits { lateness, policy: thread_priority.policy(), margin: waiter.margin() })
    })
}

/// Returns how much later than `due` it returned.
fn wait_until(clock: &Clock, waiter: &mut Waiter, due: RealDuration) -> io::Result<RealDuration> {
    loop {
        let now = clock.real();
        if now >= due {
            return Ok(now - due);
        }
        match waiter.sleep(Some(due - now), false) {
            None => std::hint::spin_loop(),
            Some(span) => {
                if Sleeper::new([]).sleep(span)? {
                    waiter.learn(clock.real().saturating_sub(now + span));
                }
            }
        }
    }
}

/// How long it takes, `count` times with `pause` between them, until a thread that sleeps as the engine does on one
/// processor runs on after another thread rang for it on the other.
///
/// # Errors
/// When the kernel refuses a thread, its processor, an event counter or the sleep.
pub fn wakes(count: u32, pause: RealDuration, processors: [usize; 2]) -> io::Result<Distribution> {
    let [ringing, sleeping] = processors;
    let event = Event::new()?;
    let clock = Clock::start(None, Dilation::ONE);
    let (woke, answers) = channel();
    thread::scope(|scope| {
        let (event, clock) = (&event, &clock);
        let sleeper = scope.spawn(move || sleep_and_answer(event, clock, &woke, count, sleeping));
        let ringer = scope.spawn(move || ring_and_wait(event, clock, &answers, count, pause, ringing));
        let panicked = |_| io::Error::other("a thread panicked that measured how long threads take to wake up");
        let outcome = ringer.join().map_err(panicked)?;
        sleeper.join().map_err(panicked)??;
        outcome
    })
}

fn ring_and_wait(
    event: &Event,
    clock: &Clock,
    answers: &Receiver<RealDuration>,
    count: u32,
    pause: RealDuration,
    processor: usize,
) -> io::Result<Distribution> {
    stay_on(processor)?;
    let mut latency = Distribution::default();
    for _ in 0..count {
        Sleeper::new([]).sleep(pause)?;
        let rung = clock.real();
        event.signal();
        let woke =
            answers.recv_timeout(LONGEST_SLEEP).map_err(|_| io::Error::other("a sleeping thread did not wake"))?;
        latency.record(ours(woke.saturating_sub(rung)), 1);
    }
    Ok(latency)
}

fn sleep_and_answer(
    event: &Event,
    clock: &Clock,
    woke: &Sender<RealDuration>,
    count: u32,
    processor: usize,
) -> io::Result<()> {
    stay_on(processor)?;
    let _ = ThreadPriority::ask(RealDuration::ZERO);
    let mut sleeper = Sleeper::new([event.as_raw_fd()]);
    for _ in 0..count {
        sleeper.sleep(LONGEST_SLEEP)?;
        let now = clock.real();
        event.reset();
        if woke.send(now).is_err() {
            break;
        }
    }
    Ok(())
}

/// Measures what one reading of the engine's clock costs, as a mean of many.
pub fn clock_reading() -> RealDuration {
    const READINGS: u32 = 20_000;
    let clock = Clock::start(None, Dilation::ONE);
    let begin = clock.real();
    for _ in 0..READINGS {
        std::hint::black_box(clock.real());
    }
    (clock.real() - begin) / READINGS
}

fn on_a_thread<T: Send + 'static>(name: &str, work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work)?;
    thread.join().map_err(|_| io::Error::other(format!("the thread {name} panicked")))?
}

fn ours(span: RealDuration) -> Duration {
    Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wait_is_counted_whatever_the_precision() {
        for precision in [Precision::Eco, Precision::Balanced, Precision::Exact] {
            let waits = waits(precision, 20, RealDuration::from_micros(200), None).expect("threads may wait");
            assert_eq!(waits.lateness.count(), 20, "{precision:?}");
            assert!(waits.lateness.max() >= waits.lateness.quantile(0.5));
        }
    }

    #[test]
    fn a_thread_wakes_as_often_as_it_is_rung_for() {
        // Both on one processor, which every machine has.
        let here = (0..libc::CPU_SETSIZE as usize).find(|cpu| {
            on_a_thread("try", {
                let cpu = *cpu;
                move || stay_on(cpu)
            })
            .is_ok()
        });
        let here = here.expect("a processor to run on");
        let latency = wakes(5, RealDuration::from_micros(100), [here, here]).expect("threads may wait");
        assert_eq!(latency.count(), 5);
    }

    #[test]
    fn a_reading_of_the_clock_costs_something() {
        assert!(clock_reading() > RealDuration::ZERO);
    }
}
