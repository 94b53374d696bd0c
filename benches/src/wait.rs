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
const MARGIN: Duration = Duration::from_micros(250);

/// How late the thread saw instants that are `pause` apart, sorted, in microseconds. It stays on the last processor, as
/// engines do; but one that spins leaves no room there, and then it stays on the first.
pub(crate) fn lateness_us(wait: Wait, pause: Duration, span: Duration) -> Result<Vec<f64>, String> {
    let thread = thread::spawn(move || {
        run_on(if wait == Wait::Spin { 0 } else { last_processor() });
        // SAFETY: neither call takes a pointer. What is not granted makes the thread later.
        unsafe {
            libc::setpriority(libc::PRIO_PROCESS, 0, NICE);
            libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        }
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
