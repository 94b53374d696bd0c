//! What `/proc`, `/sys` and `/etc` say of a machine. Reads below any folder, so that tests can make machines up.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The root of a file system.
#[derive(Clone, Debug)]
pub(super) struct Tree(PathBuf);

/// What the files say. What a machine does not tell is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Facts {
    /// Processors that other programs are kept from.
    pub(super) isolated: usize,
    /// How many processors this process's control groups allow it, if they limit them.
    pub(super) quota: Option<f64>,
    /// Processors by the governor of their frequency.
    pub(super) governors: BTreeMap<String, usize>,
    /// Whether a hypervisor runs this machine.
    pub(super) is_virtual: bool,
    pub(super) clock_source: Option<String>,
    pub(super) clock_sources: Vec<String>,
    /// How long programs with real-time priority may run in each period, in microseconds; -1: always.
    pub(super) realtime_runtime_us: Option<i64>,
    pub(super) realtime_period_us: Option<i64>,
    /// The highest real-time priority that this process may ask for without a privilege; 0: none.
    pub(super) realtime_priority: u64,
    /// Programs that wanted to run, as a mean of the last minute.
    pub(super) load: Option<f64>,
    pub(super) memory_total_bytes: Option<u64>,
    pub(super) memory_available_bytes: Option<u64>,
    /// The largest socket buffers that ordinary users may ask for, in bytes.
    pub(super) receive_buffer_bytes: Option<u64>,
    pub(super) send_buffer_bytes: Option<u64>,
    /// The most that this process may set its own limit to; none: no limit.
    pub(super) open_files: Option<u64>,
    pub(super) processes: Option<u64>,
    pub(super) highest_pid: Option<u64>,
    pub(super) network_namespaces: Option<u64>,
    /// How many learned neighbours of one family all network namespaces may have together.
    pub(super) neighbors: Option<u64>,
    /// `ID` and `ID_LIKE` of the distribution.
    pub(super) distribution: Vec<String>,
}

impl Tree {
    /// The files of this machine.
    pub(super) fn machine() -> Self {
        Self::at(Path::new("/"))
    }

    pub(super) fn at(root: &Path) -> Self {
        Self(root.to_owned())
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.0.join(path)).ok()
    }

    fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    fn number(&self, path: &str) -> Option<u64> {
        self.line(path)?.parse().ok()
    }

    /// Everything at once.
    pub(super) fn facts(&self) -> Facts {
        let memory = self.text("proc/meminfo").unwrap_or_default();
        let limits = self.text("proc/self/limits").unwrap_or_default();
        let sources = "sys/devices/system/clocksource/clocksource0";
        Facts {
            isolated: self.line("sys/devices/system/cpu/isolated").map_or(0, |list| count_of_list(&list)),
            quota: self.quota(),
            governors: self.governors(),
            is_virtual: self.text("proc/cpuinfo").is_some_and(|text| has_flag(&text, "hypervisor")),
            clock_source: self.line(&format!("{sources}/current_clocksource")),
            clock_sources: words(self.line(&format!("{sources}/available_clocksource"))),
            realtime_runtime_us: self.line("proc/sys/kernel/sched_rt_runtime_us").and_then(|line| line.parse().ok()),
            realtime_period_us: self.line("proc/sys/kernel/sched_rt_period_us").and_then(|line| line.parse().ok()),
            realtime_priority: hard_limit(&limits, "Max realtime priority").unwrap_or(0),
            load: self.line("proc/loadavg").and_then(|line| line.split(' ').next()?.parse().ok()),
            memory_total_bytes: kibibytes(&memory, "MemTotal:"),
            memory_available_bytes: kibibytes(&memory, "MemAvailable:"),
            receive_buffer_bytes: self.number("proc/sys/net/core/rmem_max"),
            send_buffer_bytes: self.number("proc/sys/net/core/wmem_max"),
            open_files: hard_limit(&limits, "Max open files"),
            processes: hard_limit(&limits, "Max processes"),
            highest_pid: self.number("proc/sys/kernel/pid_max"),
            network_namespaces: self.number("proc/sys/user/max_net_namespaces"),
            neighbors: self.number("proc/sys/net/ipv4/neigh/default/gc_thresh3"),
            distribution: self.distribution(),
        }
    }

    /// The model of the processors.
    pub(super) fn processor(&self) -> Option<String> {
        let text = self.text("proc/cpuinfo")?;
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(':').map(|(_, model)| model.trim().to_owned())
    }

    /// What all processors have done since the machine started, in the kernel's ticks: all of it, and what was stolen.
    pub(super) fn ticks(&self) -> Ticks {
        let text = self.text("proc/stat").unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let ticks: Vec<u64> = line.split_ascii_whitespace().skip(1).filter_map(|word| word.parse().ok()).collect();
        // proc_stat(5): user nice system idle iowait irq softirq steal; what follows is in user and nice already.
        Ticks { all: ticks.iter().take(8).sum(), stolen: ticks.get(7).copied().unwrap_or(0) }
    }

    /// The kernel's own memory, in bytes, as far as it grows with nodes.
    pub(super) fn memory_of_kernel(&self) -> Option<u64> {
        let memory = self.text("proc/meminfo")?;
        let grows = ["Slab:", "KernelStack:", "PageTables:", "Percpu:"];
        grows.iter().map(|name| kibibytes(&memory, name)).sum()
    }

    /// The memory of a process, in bytes; what it shares with others counts in part.
    pub(super) fn memory_of_process(&self, pid: i32) -> Option<u64> {
        kibibytes(&self.text(&format!("proc/{pid}/smaps_rollup"))?, "Pss:")
    }

    fn governors(&self) -> BTreeMap<String, usize> {
        let mut governors = BTreeMap::new();
        let folders = fs::read_dir(self.0.join("sys/devices/system/cpu")).into_iter().flatten().flatten();
        for folder in folders {
            if let Ok(text) = fs::read_to_string(folder.path().join("cpufreq/scaling_governor")) {
                *governors.entry(text.trim().to_owned()).or_default() += 1;
            }
        }
        governors
    }

    /// The tightest limit of the group that this process is in and of those above it.
    fn quota(&self) -> Option<f64> {
        let own = self.text("proc/self/cgroup").unwrap_or_default();
        let second = own.lines().find_map(|line| line.strip_prefix("0::"));
        let first = own.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            controllers.split(',').any(|controller| controller == "cpu").then_some(path)
        });
        let above = |path: &str| Path::new(path).ancestors().map(Path::to_owned).collect::<Vec<_>>();
        let second = second.map(above).unwrap_or_default().into_iter().filter_map(|group| {
            let group = format!("sys/fs/cgroup{}", group.display());
            share(&self.line(&format!("{group}/cpu.max"))?)
        });
        let first = first.map(above).unwrap_or_default().into_iter().filter_map(|group| {
            let group = format!("sys/fs/cgroup/cpu{}", group.display());
            let period = self.line(&format!("{group}/cpu.cfs_period_us"))?;
            share(&format!("{} {period}", self.line(&format!("{group}/cpu.cfs_quota_us"))?))
        });
        second.chain(first).min_by(f64::total_cmp)
    }

    fn distribution(&self) -> Vec<String> {
        let text = self.text("etc/os-release").unwrap_or_default();
        let field = |key: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
            Some(value.trim_matches('"').to_owned())
        };
        let mut names = words(field("ID"));
        names.extend(words(field("ID_LIKE")));
        names
    }
}

/// See [`Tree::ticks`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ticks {
    pub(super) all: u64,
    pub(super) stolen: u64,
}

impl Ticks {
    /// The share that was stolen between `earlier` and this.
    pub(super) fn stolen_since(self, earlier: Self) -> f64 {
        let all = self.all.saturating_sub(earlier.all).max(1);
        self.stolen.saturating_sub(earlier.stolen) as f64 / all as f64
    }
}

fn words(line: Option<String>) -> Vec<String> {
    line.unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect()
}

fn has_flag(cpuinfo: &str, flag: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|line| line.split_ascii_whitespace().any(|word| word == flag))
}

/// How many processors a list such as `0-3,8` names.
fn count_of_list(list: &str) -> usize {
    let part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse::<usize>().ok()?, last.trim().parse::<usize>().ok()?);
        Some(last.checked_sub(first)? + 1)
    };
    list.split(',').filter_map(part).sum()
}

/// A line of `/proc/meminfo`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

/// The hard limit in a line of `/proc/self/limits`; none: unlimited, or not there.
fn hard_limit(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// A quota and its period, as processors; none: unlimited.
fn share(line: &str) -> Option<f64> {
    let (quota, period) = line.split_once(' ')?;
    let (quota, period) = (quota.parse::<f64>().ok()?, period.trim().parse::<f64>().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

#[cfg(test)]
mod tests;
