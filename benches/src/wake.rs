//! What bounds a sleeping engine: how long this machine takes to wake a thread that waits for an event on another
//! processor, as the kernel places an engine that slept while a program sends.

use crate::row::median;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::thread;
use std::time::{Duration, Instant};

/// The median time from writing into a pipe to the reader's running on, in microseconds, after pauses as between pings.
pub(crate) fn latency_us(rounds: u32) -> Result<f64, String> {
    let failed = |error: std::io::Error| format!("measuring how long a thread takes to wake up: {error}");
    let (reader, mut writer) = pipe().map_err(failed)?;
    let (answers, mut answer) = pipe().map_err(failed)?;
    let start = Instant::now();
    let sleeper = thread::spawn(move || {
        run_on(thread::available_parallelism().map_or(0, |count| count.get() - 1));
        sleep_and_answer(reader, &mut answer, start)
    });
    run_on(0);
    let mut waits = Vec::new();
    let mut answers: PipeReader = answers;
    for _ in 0..rounds {
        thread::sleep(Duration::from_millis(100));
        let written = start.elapsed();
        writer.write_all(&[1]).map_err(failed)?;
        let mut nanos = [0; 8];
        answers.read_exact(&mut nanos).map_err(failed)?;
        let woke = Duration::from_nanos(u64::from_le_bytes(nanos));
        waits.push(woke.saturating_sub(written).as_secs_f64() * 1e6);
    }
    drop(writer);
    run_anywhere();
    sleeper.join().map_err(|_| "the sleeping thread panicked".to_owned())?.map_err(failed)?;
    median(waits)
}

/// Keeps this thread on one processor; where that is refused, the figure may be better than an engine's.
fn run_on(cpu: usize) {
    // SAFETY: an all-zero set is empty, and both calls get a set that lives through them.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

fn run_anywhere() {
    // SAFETY: every byte pattern is a set; the call gets one that lives through it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for cpu in 0..thread::available_parallelism().map_or(1, std::num::NonZero::get) {
            libc::CPU_SET(cpu, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set);
    }
}

/// Says at every event when it noticed it; ends when the writer is gone.
fn sleep_and_answer(mut events: PipeReader, answer: &mut PipeWriter, start: Instant) -> std::io::Result<()> {
    let mut event = [0];
    while events.read(&mut event)? > 0 {
        let woke = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        answer.write_all(&woke.to_le_bytes())?;
    }
    Ok(())
}
