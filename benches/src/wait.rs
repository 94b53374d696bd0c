//! What bounds how exact delays can be: how late a thread is that does nothing but wait for instants as well as this machine
//! lets anybody.

use crate::wake::{last_processor, run_on};
use std::thread;
use std::time::{Duration, Instant};

/// How the thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It looks at the clock again and again.
    Spin,
    /// It sleeps until 250 us before the instant, then spins.
    SleepThenSpin,
}

/// The priority that a packet engine asks for.
const NICE: i32 = -20;
const SETTLES: Duration = Duration::from_millis(300);
pub(crate) const MARGIN: Duration = Duration::from_micros(250);

/// How late the thread saw instants that are `pause` apart, sorted, in microseconds. It stays on the last processor, as
/// engines do; but one that spins leaves no room there, and then it stays on the first.
pub(crate) fn lateness_us(wait: Wait, pause: Duration, span: Duration) -> Result<Vec<f64>, String> {
    let thread = thread::spawn(move || {
        run_on(if wait == Wait::Spin { 0 } else { last_processor() });
        raise_priority();
        // What ran before has something left to clear away.
        thread::sleep(SETTLES);
        let (begin, mut late) = (Instant::now(), Vec::new());
        let mut due = begin + pause;
        while due < begin + span {
            late.push(wait_until(wait, due).as_secs_f64() * 1e6);
            due += pause;
        }
        late
    });
    let panicked = |_| "a thread panicked that measured how late threads are".to_owned();
    let mut late = thread.join().map_err(panicked)?;
    late.sort_by(f64::total_cmp);
    Ok(late)
}

/// As packet engines ask for it. What is not granted makes the thread later.
pub(crate) fn raise_priority() {
    // SAFETY: neither call takes a pointer.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, NICE);
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
    }
}

/// What a thread takes that sleeps so often in a second and does nothing else, as a share of a processor in percent.
pub(crate) fn napping_percent(naps: u32, rounds: u32) -> Result<Vec<f64>, String> {
    let nap = move |_| {
        let (begin, before) = (Instant::now(), own_seconds());
        (0..naps).for_each(|_| thread::sleep(Duration::from_secs(1) / naps));
        (own_seconds() - before) / begin.elapsed().as_secs_f64() * 100.0
    };
    let thread = thread::spawn(move || (0..rounds).map(nap).collect());
    thread.join().map_err(|_| "a thread panicked that measured what naps cost".to_owned())
}

/// Processor time of this thread.
pub(crate) fn own_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives through the call, and this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn wait_until(wait: Wait, due: Instant) -> Duration {
    loop {
        let now = Instant::now();
        if now >= due {
            return now - due;
        }
        match (due - now).checked_sub(MARGIN) {
            Some(span) if wait == Wait::SleepThenSpin => thread::sleep(span),
            _ => std::hint::spin_loop(),
        }
    }
}
