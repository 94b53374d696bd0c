//! How punctual the machine is, and what keeps it from being so.

use super::{Found, better, fine};
use crate::tree::Facts;
use netloom_judge::examination::{Check, Lateness};
use netloom_judge::quantity::span;

/// Above these, in nanoseconds, the 99th percentile of the lateness could be better. Virtual machines reach half of it:
/// see the table in docs/precision.md.
const SLEEPING_NS: u64 = 250_000;
const BALANCED_NS: u64 = 90_000;
const SPINNING_NS: u64 = 50_000;
/// The same of waking a thread, where the processor slept, too.
const WAKING_NS: u64 = 400_000;
/// A reading of the clock without a system call takes less.
const READING_NS: u64 = 200;
/// A share of the processors' time; more is felt in every figure.
const STOLEN: f64 = 0.01;
/// Sources of time that need no system call to be read.
const FAST_SOURCES: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

pub(super) fn all(found: &Found<'_>) -> Vec<Check> {
    let timing = found.timing;
    let mut checks = vec![
        waits(found, "sleeps (eco)", timing.eco, SLEEPING_NS),
        waits(found, "sleep, spin (balanced)", timing.balanced, BALANCED_NS),
        waits(found, "spinning (exact)", timing.exact, SPINNING_NS),
    ];
    checks.extend(timing.wake.map(|wake| waits(found, "waking a thread", wake, WAKING_NS)));
    checks.extend([priority(found), other_load(found), clock_source(found)]);
    checks.extend([governor(found.facts), realtime(found)].into_iter().flatten());
    checks
}

fn waits(found: &Found<'_>, name: &str, late: Lateness, bound_ns: u64) -> Check {
    let result = format!(
        "half within {}, 99 % within {}, all {} within {}",
        span(late.p50_ns),
        span(late.p99_ns),
        late.count,
        span(late.max_ns)
    );
    if late.p99_ns <= bound_ns {
        return fine("time", name, result);
    }
    let change = if found.is_busy() {
        "measure again when the machine is idle: see `other load`"
    } else if found.facts.is_virtual {
        "end other programs (`top` shows them), or give this virtual machine processors of its own"
    } else {
        "end other programs: `top` shows them"
    };
    better("time", name, result, change)
}

fn priority(found: &Found<'_>) -> Check {
    let timing = found.timing;
    let policy = match timing.policy.as_str() {
        "real-time" => "the engine has a real-time priority (SCHED_FIFO, the lowest)",
        "nice" => "the engine has a nice value of its own, which counts within its session",
        _ => "none for the engine",
    };
    let beside =
        format!("beside a program of another session, 99 % of its waits end within {}", span(timing.contended.p99_ns));
    let result = if timing.contended.count > 0 { format!("{policy}; {beside}") } else { policy.to_owned() };
    if timing.priority {
        return fine("time", "priority", result);
    }
    let change = match timing.policy.as_str() {
        "real-time" => "measure again when the machine is idle: see `other load`",
        _ if found.rights.privileged => {
            "let root have real-time priorities: `sysctl kernel.sched_rt_runtime_us` is not to be 0, nor \
             `cpu.rt_runtime_us` of the control group"
        }
        _ => {
            "run as root; or `echo \"$USER - rtprio 1\" | sudo tee /etc/security/limits.d/netloom.conf`, and log in again"
        }
    };
    better("time", "priority", result, change)
}

/// Other programs that ran made all figures worse.
fn other_load(found: &Found<'_>) -> Check {
    const NAME: &str = "other load";
    let (load, stolen) = (found.facts.load.unwrap_or(0.0), found.timing.stolen);
    let mut result = format!("{load:.1} programs wanted to run in the last minute");
    if found.facts.is_virtual {
        result = format!("{result}; the host took {:.1} % of the time", stolen * 100.0);
    }
    if stolen > STOLEN {
        return better("time", NAME, result, "ask for processors that this virtual machine does not share");
    }
    if found.is_busy() {
        let change = "measure again when the machine is idle: all figures are lower than they could be";
        return better("time", NAME, result, change);
    }
    fine("time", NAME, result)
}

fn clock_source(found: &Found<'_>) -> Check {
    const NAME: &str = "clock source";
    let reading = found.timing.clock_reading_ns;
    let Some(source) = &found.facts.clock_source else {
        return fine("time", NAME, format!("not told; a reading takes {reading} ns"));
    };
    let result = format!("{source}; a reading takes {reading} ns");
    if reading <= READING_NS {
        return fine("time", NAME, result);
    }
    let faster = FAST_SOURCES.iter().find(|fast| found.facts.clock_sources.iter().any(|known| known == *fast));
    match faster.filter(|faster| *faster != source) {
        Some(faster) => {
            let file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
            better("time", NAME, result, format!("echo {faster} | sudo tee {file}"))
        }
        None => {
            better("time", NAME, result, "start the kernel with `tsc=reliable`, if its processor has such a counter")
        }
    }
}

/// None where the system does not control frequencies, as on virtual machines.
fn governor(facts: &Facts) -> Option<Check> {
    const NAME: &str = "processor speed";
    if facts.governors.is_empty() {
        return None;
    }
    let named: Vec<String> = facts.governors.iter().map(|(name, count)| format!("{name} on {count}")).collect();
    let result = format!("governor {}", named.join(", "));
    Some(if facts.governors.keys().all(|name| name == "performance") {
        fine("time", NAME, result)
    } else {
        let files = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
        better("time", NAME, result, format!("echo performance | sudo tee {files}"))
    })
}

/// The engine gives its priority up before it is throttled; programs of labs may be.
fn realtime(found: &Found<'_>) -> Option<Check> {
    const NAME: &str = "real-time limit";
    let (runtime, period) = (found.facts.realtime_runtime_us?, found.facts.realtime_period_us?);
    let may = if found.rights.privileged || found.facts.realtime_priority > 0 { "may" } else { "may not" };
    let result = if runtime < 0 {
        format!("none for real-time programs, which this user {may} start: one that spins can stop the engine")
    } else {
        let nanoseconds = |microseconds: i64| u64::try_from(microseconds).unwrap_or(0) * 1_000;
        let (rest, period) = (span(nanoseconds(period - runtime)), span(nanoseconds(period)));
        format!(
            "the kernel suspends real-time programs, which this user {may} start, for {rest} of every {period}; the engine uses less"
        )
    };
    Some(fine("time", NAME, result))
}
