//! What bounds a sleeping engine: how long this machine takes to wake a thread that waits for an event on another
//! processor, as the kernel places an engine that slept while a program sends.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::thread;
use std::time::{Duration, Instant};

/// The times from writing into a pipe to the reader's running on, in microseconds, after pauses as between pings.
///
/// Both threads are of its own: one that the caller would have to release from its processor could pass that on to every
/// program that it starts later.
pub(crate) fn latencies_us(rounds: u32) -> Result<Vec<f64>, String> {
    let failed = |error: std::io::Error| format!("measuring how long a thread takes to wake up: {error}");
    let (reader, writer) = pipe().map_err(failed)?;
    let (answers, answer) = pipe().map_err(failed)?;
    let start = Instant::now();
    let sleeper = thread::spawn(move || {
        run_on(last_processor());
        sleep_and_answer(reader, answer, start)
    });
    let waker = thread::spawn(move || {
        run_on(0);
        wake_and_wait(writer, answers, start, rounds)
    });
    let panicked = |_| "a thread panicked that measured how long threads take to wake up".to_owned();
    let waits = waker.join().map_err(panicked)?.map_err(failed)?;
    sleeper.join().map_err(panicked)?.map_err(failed)?;
    Ok(waits)
}

/// The processor that engines stay on.
pub(crate) fn last_processor() -> usize {
    thread::available_parallelism().map_or(0, |processors| processors.get() - 1)
}

/// Keeps this thread on one processor; where that is refused, the figure may be better than an engine's.
pub(crate) fn run_on(cpu: usize) {
    // SAFETY: an all-zero set is empty, and both calls get a set that lives through them.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

/// Wakes the other thread again and again; returns how long it took each time, in microseconds.
fn wake_and_wait(
    mut events: PipeWriter,
    mut answers: PipeReader,
    start: Instant,
    rounds: u32,
) -> std::io::Result<Vec<f64>> {
    let mut waits = Vec::new();
    for _ in 0..rounds {
        thread::sleep(Duration::from_millis(100));
        let written = start.elapsed();
        events.write_all(&[1])?;
        let mut nanos = [0; 8];
        answers.read_exact(&mut nanos)?;
        let woke = Duration::from_nanos(u64::from_le_bytes(nanos));
        waits.push(woke.saturating_sub(written).as_secs_f64() * 1e6);
    }
    Ok(waits)
}

/// Says at every event when it noticed it; ends when the writer is gone.
fn sleep_and_answer(mut events: PipeReader, mut answer: PipeWriter, start: Instant) -> std::io::Result<()> {
    let mut event = [0];
    while events.read(&mut event)? > 0 {
        let woke = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        answer.write_all(&woke.to_le_bytes())?;
    }
    Ok(())
}
