//! `netloom doctor`: measures this machine for a few seconds, and says its capacity for labs and what to change. This
//! crate knows no lab but the small one that it makes itself: it reads no lab file, runs no user's program and changes
//! no setting.
//!
//! What is looked up is in `tree`, what is tried in `kvm`, what is measured in `netloom_dataplane::probe` (time) and in `trial` (packets, in a
//! lab of its own). `checks` and `conclusion` are pure functions from that to words. The result is kept (`store`),
//! so that verdicts can quote it (`netloom_judge::examination`).

mod checks;
mod conclusion;
mod kvm;
mod machine;
mod programs;
mod store;
mod traffic;
mod tree;
mod trial;

pub use store::of_this_machine;
pub use traffic::{COMMAND as TRAFFIC_COMMAND, main as traffic};

use checks::Found;
use machine::machine;
use netloom_dataplane::{Precision, probe};
use netloom_figures::{Distribution, Policy};
use netloom_guest::counter;
use netloom_guest::kernel::{self, Need};
use netloom_host::cgroup::Hierarchy;
use netloom_host::facts::Facts as Rights;
use netloom_host::processors;
use netloom_host::signals::Signals;
use netloom_judge::examination::{Examination, Lateness, Timing};
use netloom_judge::{ExitCode, RunError};
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};
use tree::Tree;
use trial::Interrupted;

/// Waits per precision, one every millisecond, as packets come in a lab of light traffic.
const WAITS: u32 = 700;
const PAUSE: Duration = Duration::from_millis(1);
/// Waits beside a program that computes; each may take as long as that program's turn.
const CONTENDED_WAITS: u32 = 250;
/// A thread that comes first wakes in time beside such a program; one that takes turns with it waits for milliseconds.
const FIRST_NS: u64 = 1_000_000;
/// Wakes, and the rest before each: long enough for a processor to go to sleep.
const WAKES: u32 = 60;
const REST: Duration = Duration::from_millis(3);

/// An examination, and where it is kept or why it is not.
#[derive(Debug)]
pub struct Examined {
    /// The results of the examination.
    pub examination: Examination,
    /// Where later verdicts find it, or a sentence that says why they will not.
    pub kept: Result<PathBuf, String>,
}

/// Examines this machine and keeps the result. `sink` is called with each step. The calling process must have one thread
/// only, and is left with one.
///
/// # Errors
/// When the kernel refuses a thread, and when the user interrupts. That no lab can be made is a result, not an error.
pub fn examine(sink: &mut dyn FnMut(&str)) -> Result<Examined, RunError> {
    let begun = Instant::now();
    let signals = Signals::hold(&[]).map_err(|error| RunError::Machine(format!("holding signals back: {error}")))?;
    let tree = Tree::machine();
    let facts = tree.facts();
    let ticks = tree.ticks();
    let allowed =
        processors::allowed().map_err(|errno| machine_error("finding the processors to use", &errno.into()))?;
    let mut timing = timing(&allowed, &signals, sink)?;
    alone();
    let kernel = kernel::find(Need::VirtualTime, None).or_else(|_| kernel::find(Need::Clock, None));
    let program = kernel.as_ref().ok().map(|kernel| kernel.path.as_path());
    let trial = trial::run(&allowed, program, &signals, sink).map_err(|Interrupted| interrupted())?;
    timing.stolen = tree.ticks().stolen_since(ticks);
    sink("looking at programs and settings");
    let rights = Rights::gather();
    let release = nix::sys::utsname::uname().map(|names| names.release().to_string_lossy().into_owned());
    let release = release.unwrap_or_default();
    let found = Found {
        facts: &facts,
        rights: &rights,
        release: &release,
        processors: allowed.len(),
        timing: &timing,
        trial: &trial,
        cgroups: Hierarchy::look(),
        kernel,
        counter: counter::of_this_machine(),
        kvm: kvm::attempt(),
        missing_programs: programs::missing(),
    };
    let labs = matches!(trial, trial::Outcome::Carried(..));
    let mut examination = Examination {
        netloom_version: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine(),
        root: rights.root,
        busy: found.is_busy(),
        checks: checks::all(&found),
        conclusion: conclusion::draw(&found),
        timing: timing.clone(),
        forwarding: match &trial {
            trial::Outcome::Carried(forwarding, _) => Some(forwarding.clone()),
            trial::Outcome::Refused { .. } => None,
        },
        exit_code: if labs { ExitCode::Success } else { ExitCode::Machine }.number(),
        ..Examination::default()
    };
    examination.date_utc = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    examination.took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let kept = store::keep(&examination);
    Ok(Examined { examination, kept })
}

fn timing(allowed: &[usize], signals: &Signals, sink: &mut dyn FnMut(&str)) -> Result<Timing, RunError> {
    let (first, last) = (allowed.first().copied(), allowed.last().copied());
    let mut waits = |precision, processor, what: &str| {
        if signals.next().is_some() {
            return Err(interrupted());
        }
        sink(what);
        probe::waits(precision, WAITS, PAUSE, processor).map_err(|error| machine_error(what, &error))
    };
    let eco = waits(Precision::Eco, None, "measuring how late sleeps end")?;
    let balanced = waits(Precision::Balanced, None, "measuring how late waits end that spin at their end")?;
    let exact = waits(Precision::Exact, last, "measuring how late spinning is interrupted")?;
    let wake = match (first, last) {
        (Some(first), Some(last)) if first != last => {
            let what = "measuring how long a thread takes to wake up";
            sink(what);
            Some(probe::wakes(WAKES, REST, [first, last]).map_err(|error| machine_error(what, &error))?)
        }
        _ => None,
    };
    let contended = contended(last, signals, sink)?;
    let is_first = |late: &Lateness| late.count > 0 && late.p99_ns <= FIRST_NS;
    Ok(Timing {
        eco: lateness(&eco.lateness),
        balanced: lateness(&balanced.lateness),
        exact: lateness(&exact.lateness),
        wake: wake.as_ref().map(lateness),
        policy: policy_name(balanced.policy).to_owned(),
        priority: is_first(&contended),
        contended,
        clock_reading_ns: u64::try_from(probe::clock_reading().as_nanos()).unwrap_or(u64::MAX),
        stolen: 0.0,
    })
}

/// How late waits end while a program of another session, as each program of a lab is, computes on the same processor.
fn contended(processor: Option<usize>, signals: &Signals, sink: &mut dyn FnMut(&str)) -> Result<Lateness, RunError> {
    let what = "measuring how late waits end beside another session's program";
    if signals.next().is_some() {
        return Err(interrupted());
    }
    sink(what);
    let failed = |error: std::io::Error| machine_error(what, &error);
    let rival = traffic::Rival::start(processor).map_err(failed)?;
    let waits = probe::waits(Precision::Balanced, CONTENDED_WAITS, PAUSE, processor).map_err(failed);
    drop(rival);
    waits.map(|waits| lateness(&waits.lateness))
}

fn policy_name(policy: Policy) -> &'static str {
    match policy {
        Policy::RealTime => "real-time",
        Policy::Nice => "nice",
        Policy::Ordinary => "ordinary",
    }
}

fn lateness(distribution: &Distribution) -> Lateness {
    let at = |q: f64| distribution.quantile(q).map_or(0, netloom_units::Duration::as_nanos);
    Lateness { count: distribution.count(), p50_ns: at(0.5), p99_ns: at(0.99), max_ns: at(1.0) }
}

/// Waits until the kernel has forgotten the threads that have ended: a lab is forked by a process with one thread.
fn alone() {
    let threads = || std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    for _ in 0..1_000 {
        if threads() == 1 {
            break;
        }
        std::thread::sleep(PAUSE);
    }
}

fn interrupted() -> RunError {
    RunError::Reported { code: ExitCode::Interrupted, message: "interrupted".into() }
}

fn machine_error(what: &str, error: &std::io::Error) -> RunError {
    RunError::Machine(format!("{what}: {error}"))
}
