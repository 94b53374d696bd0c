//! Keeps an engine thread off processors that programs need.
//!
//! A kernel of a node and its programs wake one another on the processor where they are, and the machine's scheduler leaves them there
//! even if another processor is idle. An engine thread that comes before them keeps that processor from them for as long as it moves
//! packets. So where the thread has no processor of its own, it goes, ten times a second, to the processor that others use least.
//!
//! The load is what `/proc/stat` (proc_stat(5)) calls not idle, without the engine thread's own part. A machine that does not
//! show it leaves the thread to the kernel's scheduler.

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use std::{fs, io};

/// How often the thread's place is looked at; wall time.
const LOOK: Duration = Duration::from_millis(100);

/// The difference in load for which the thread moves, in parts of a processor.
const GAIN: f64 = 0.15;

/// Moves an engine thread for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Placement {
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Placement {
    /// Starts to look after the thread of this number. Nothing is done where there is only one processor, or no thread more.
    pub(crate) fn of(thread: Pid) -> Self {
        let (over, told) = channel();
        let looks = move || watch(thread, &told);
        let is_needed = allowed(thread).is_some_and(|processors| processors.len() > 1);
        let started = is_needed.then(|| Builder::new().name("netloom-place".into()).spawn(looks).ok());
        Self { over: Some(over), thread: started.flatten() }
    }
}

impl Drop for Placement {
    fn drop(&mut self) {
        self.over = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// Keeps this thread on a processor.
pub(crate) fn stay_on(processor: usize) -> io::Result<()> {
    stay_on_of(None, processor)
}

/// Keeps a thread of this process on a processor; none: this thread.
fn stay_on_of(thread: Option<Pid>, processor: usize) -> io::Result<()> {
    let mut only = CpuSet::new();
    only.set(processor);
    Ok(sched_setaffinity(thread, &only)?)
}

/// Looks at the load until it is told to stop, or until the thread or the figures are gone.
fn watch(thread: Pid, told: &Receiver<()>) {
    let Some(processors) = allowed(thread) else { return };
    let mut before = Load::now(thread, &processors);
    while told.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        let now = Load::now(thread, &processors);
        let (Some(earlier), Some(later)) = (&before, &now) else { return };
        if let Some(processor) = better(later.on, &later.others_since(earlier))
            && stay_on_of(Some(thread), processor).is_err()
        {
            return;
        }
        before = now;
    }
}

/// The processors that a thread may use; none if it has ended.
fn allowed(thread: Pid) -> Option<Vec<usize>> {
    let set = sched_getaffinity(Some(thread)).ok()?;
    Some((0..CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect())
}

/// What processors have done so far, and where the engine thread is.
#[derive(Debug)]
struct Load {
    /// The engine thread's processor, and for how long it has run in all; seconds.
    on: usize,
    ran: f64,
    /// By processor: its number, and for how long it was busy and in all; ticks.
    processors: Vec<(usize, u64, u64)>,
}

impl Load {
    fn now(thread: Pid, allowed: &[usize]) -> Option<Self> {
        let task = format!("/proc/self/task/{}", thread.as_raw_nonzero());
        let on = processor_in(&fs::read_to_string(format!("{task}/stat")).ok()?)?;
        let ran: u64 =
            fs::read_to_string(format!("{task}/schedstat")).ok()?.split_ascii_whitespace().next()?.parse().ok()?;
        let mut processors = processors_in(&fs::read_to_string("/proc/stat").ok()?);
        processors.retain(|(number, ..)| allowed.contains(number));
        Some(Self { on, ran: ran as f64 / 1e9, processors })
    }

    /// For each processor the part of the time since `earlier` in which others than the engine thread used it.
    fn others_since(&self, earlier: &Self) -> Vec<(usize, f64)> {
        let ticks_per_second = rustix::param::clock_ticks_per_second() as f64;
        let of = |(number, busy, all): &(usize, u64, u64)| {
            let (_, busy_before, all_before) = earlier.processors.iter().find(|(other, ..)| other == number)?;
            let passed = all.saturating_sub(*all_before).max(1) as f64;
            let own = if *number == self.on && self.on == earlier.on { self.ran - earlier.ran } else { 0.0 };
            let used = busy.saturating_sub(*busy_before) as f64 - own * ticks_per_second;
            Some((*number, (used / passed).clamp(0.0, 1.0)))
        };
        self.processors.iter().filter_map(of).collect()
    }
}

/// The processor to move to from `on`; none if none is better.
fn better(on: usize, others: &[(usize, f64)]) -> Option<usize> {
    let here = others.iter().find(|(number, _)| *number == on).map_or(1.0, |(_, load)| *load);
    let (best, least) = others.iter().min_by(|one, other| one.1.total_cmp(&other.1))?;
    (*best != on && here - least > GAIN).then_some(*best)
}

/// Field 39 of proc_pid_stat(5). The second field is a name in parentheses, which may contain anything.
fn processor_in(stat: &str) -> Option<usize> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(36)?.parse().ok()
}

/// The lines `cpuN` of proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal. Guests' time is part of user. Programs
/// with a positive nice value give way, so that their time counts as idle.
fn processors_in(stat: &str) -> Vec<(usize, u64, u64)> {
    let line = |line: &str| {
        let mut words = line.strip_prefix("cpu")?.split_ascii_whitespace();
        let number = words.next().filter(|_| !line.starts_with("cpu "))?.parse().ok()?;
        let ticks: Vec<u64> = words.take(8).map_while(|word| word.parse().ok()).collect();
        let all: u64 = ticks.iter().sum();
        let idle = ticks.get(3)? + ticks[1] + ticks.get(4).copied().unwrap_or(0);
        Some((number, all.saturating_sub(idle), all))
    };
    stat.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_moves_to_the_processor_that_others_use_least() {
        assert_eq!(better(1, &[(0, 0.1), (1, 0.6), (2, 0.3)]), Some(0));
        assert_eq!(better(0, &[(0, 0.1), (1, 0.6)]), None);
        assert_eq!(better(1, &[(0, 0.5), (1, 0.6)]), None, "a small gain is not worth a move");
        assert_eq!(better(7, &[]), None);
    }

    #[test]
    fn the_load_of_others_is_without_the_threads_own_part() {
        let before = Load { on: 1, ran: 2.0, processors: vec![(0, 10, 100), (1, 50, 100)] };
        let ticks = rustix::param::clock_ticks_per_second();
        let (busy, all) = (50 + ticks * 6 / 10, 100 + ticks);
        let after = Load { on: 1, ran: 2.5, processors: vec![(0, 10 + ticks / 10, all), (1, busy, all)] };
        let others = after.others_since(&before);
        assert_eq!(others.len(), 2);
        assert!((others[0].1 - 0.1).abs() < 0.01 && (others[1].1 - 0.1).abs() < 0.01, "{others:?}");
    }

    #[test]
    fn the_figures_of_this_machine_are_read() {
        let text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 40 5 6 7 8 9 10\ncpu1 0 0 0 7\nintr 5\n";
        assert_eq!(processors_in(text), [(0, 25, 72), (1, 0, 7)]);
        let this = rustix::thread::gettid();
        let processors = allowed(this).unwrap();
        let load = Load::now(this, &processors).expect("this machine shows its load");
        assert!(processors.contains(&load.on) && load.processors.len() == processors.len(), "{load:?}");
    }

    #[test]
    fn looking_ends_with_the_value() {
        drop(Placement::of(rustix::thread::gettid()));
    }
}
