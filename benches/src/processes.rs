//! What processes take of memory and processors.

use std::collections::BTreeMap;
use std::fs;

/// A process's memory and how long it has run.
pub(crate) struct Usage {
    pub(crate) is_netloom: bool,
    pub(crate) megabytes: f64,
    pub(crate) seconds: f64,
}

/// Of a process and all its descendants.
pub(crate) fn usage(root: i32) -> BTreeMap<i32, Usage> {
    let program = |pid: i32| fs::read_link(format!("/proc/{pid}/exe")).ok();
    // The first process of the lab is netloom's own; kernels and what runs in them are other programs.
    let netloom = program(root);
    let of = |pid: i32, ticks: f64| Usage {
        is_netloom: program(pid) == netloom,
        megabytes: pss_megabytes(pid),
        seconds: threads_seconds(pid, "").unwrap_or(ticks),
    };
    family(root).into_iter().map(|(pid, seconds)| (pid, of(pid, seconds))).collect()
}

/// What the packet engine's threads of a lab have run, in seconds.
pub(crate) fn engine_seconds(root: i32) -> f64 {
    family(root).into_keys().filter_map(|pid| threads_seconds(pid, ENGINE)).sum()
}

/// How the names of its threads begin.
const ENGINE: &str = "netloom-engine";

/// A process and its descendants, and what each has run in whole ticks, in seconds.
fn family(root: i32) -> BTreeMap<i32, f64> {
    let parents: BTreeMap<i32, (i32, f64)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid: i32| Some((pid, parent_and_time(pid)?)))
        .collect();
    let is_below = |mut pid: i32| {
        while pid != root {
            match parents.get(&pid) {
                Some((parent, _)) => pid = *parent,
                None => return false,
            }
        }
        true
    };
    parents.iter().filter(|(pid, _)| is_below(**pid)).map(|(pid, (_, seconds))| (*pid, *seconds)).collect()
}

/// Fields 4, 14 and 15 of /proc/PID/stat (proc_pid_stat(5)); the second, a name, may hold blanks.
fn parent_and_time(pid: i32) -> Option<(i32, f64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
    // SAFETY: sysconf takes no pointers.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
    Some((fields.get(1)?.parse().ok()?, ticks / ticks_per_second))
}

/// What the threads that there are, and whose names begin so, have run, in seconds: to the nanosecond, where the kernel
/// keeps it (Documentation/scheduler/sched-stats.rst); ticks of 10 ms are too coarse for idle labs.
fn threads_seconds(pid: i32, name: &str) -> Option<f64> {
    let mut sum = 0.0;
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        let thread = thread.ok()?.path();
        if fs::read_to_string(thread.join("comm")).ok()?.starts_with(name) {
            let text = fs::read_to_string(thread.join("schedstat")).ok()?;
            sum += text.split(' ').next()?.parse::<f64>().ok()? / 1e9;
        }
    }
    Some(sum)
}

/// Memory that is shared counts for each in equal parts; page tables belong to a process, too.
fn pss_megabytes(pid: i32) -> f64 {
    let kilobytes = |file: &str, field: &str| {
        let text = fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let value =
            text.lines().find_map(|line| line.strip_prefix(field)?.split_whitespace().next()?.parse::<f64>().ok());
        value.unwrap_or_default()
    };
    (kilobytes("smaps_rollup", "Pss:") + kilobytes("status", "VmPTE:")) * 1024.0 / 1e6
}
