use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getpid};

use super::Hierarchy;
use crate::error::{Attempted, KernelError};

/// The shortest quota and the shortest period that the kernel takes, in microseconds (`min_cfs_quota_period` of
/// kernel/sched/core.c).
const SHORTEST_US: u64 = 1000;

/// The longest period that it takes.
const LONGEST_US: u64 = 1_000_000;

/// How long a group may be busy after its processes were killed.
const BUSY_WITHIN: Duration = Duration::from_secs(1);

/// The group of a lab, with one group per node that has a share.
#[derive(Debug, Clone)]
pub struct LabGroup {
    hierarchy: Hierarchy,
    path: PathBuf,
}

/// The group of a node and its share.
#[derive(Debug, Clone)]
pub struct Share {
    path: PathBuf,
    version_1: bool,
}

/// How often and for how long a share throttled its node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Throttling {
    /// Periods in which the node had something to run.
    pub periods: u64,
    /// Periods in which the node used up its share. They count in [`Throttling::periods`], too.
    pub throttled_periods: u64,
    /// How long its processes were kept from running, summed over CPUs.
    pub throttled: Duration,
}

/// How every group that netloom makes is named.
const GROUP_PREFIX: &str = "netloom-";

impl Hierarchy {
    /// The group of a lab, which does not exist yet. `guard` is the process id of the netloom process that will clean
    /// up after it.
    pub fn plan(&self, lab: &str, guard: u32) -> LabGroup {
        let path = self.base().join(format!("{GROUP_PREFIX}{lab}-{guard}"));
        LabGroup { hierarchy: self.clone(), path }
    }
}

impl LabGroup {
    /// Its directory, to be noted down before it is made.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn create(&self) -> Result<(), KernelError> {
        make(&self.path)?;
        match self.hierarchy {
            Hierarchy::V1 { .. } => Ok(()),
            Hierarchy::V2 { .. } => write(&self.path.join("cgroup.subtree_control"), "+cpu"),
        }
    }

    /// Makes the group of `node`, whose processes together get `millionths` of one core: 500,000 is half a core,
    /// 2,000,000 two cores. The kernel's accounting cannot enforce shares below a thousandth of a core. The share is handed
    /// out anew in each period; see [`Grain`].
    ///
    /// # Errors
    /// The kernel's refusal.
    ///
    /// # Panics
    /// If `millionths` is 0: the kernel would take it as "no time at all".
    pub fn share(&self, node: &str, millionths: u64, least_period: Duration) -> Result<Share, KernelError> {
        let Some(Grain { quota_us: quota, period_us: period }) = Grain::of(millionths, least_period) else {
            let attempted = format!("give {node} {millionths} millionths of a processor");
            return Err(KernelError::new(attempted, libc::EINVAL).with_detail("1000 are the least"));
        };
        let share = self.share_of(node);
        make(&share.path)?;
        if share.version_1 {
            write(&share.path.join("cpu.cfs_period_us"), &period.to_string())?;
            write(&share.path.join("cpu.cfs_quota_us"), &quota.to_string())?;
        } else {
            write(&share.path.join("cpu.max"), &format!("{quota} {period}"))?;
        }
        Ok(share)
    }

    /// The share that `node` was given.
    pub fn share_of(&self, node: &str) -> Share {
        Share { path: self.path.join(node), version_1: matches!(self.hierarchy, Hierarchy::V1 { .. }) }
    }

    /// Ends what still runs in it and removes it.
    ///
    /// # Errors
    /// As for [`remove`].
    pub fn remove(&self) -> Result<(), KernelError> {
        remove(&self.path)
    }
}

impl Share {
    /// The group's directory, for [`NodeConfig::cgroup`](crate::node::NodeConfig::cgroup).
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how much the share has throttled its node so far.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn throttling(&self) -> Result<Throttling, KernelError> {
        let file = self.path.join("cpu.stat");
        let text = fs::read_to_string(&file).attempted(|| format!("read {}", file.display()))?;
        Ok(parse_throttling(&text, self.version_1))
    }
}

/// In what pieces a share is handed out: so much of each period, and then the node stands still until the next.
///
/// A node that stands still keeps packets waiting. So the period is as short as the kernel takes it: its shortest quota,
/// 1 ms, divided by the share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grain {
    /// How long the node may run in each period, in microseconds, summed over processors.
    pub quota_us: u64,
    /// The length of a period, in microseconds.
    pub period_us: u64,
}

impl Grain {
    /// Computes the grain for `millionths` of a core, with a period of at least `least_period`; none for shares that the kernel
    /// cannot enforce. The share is exact if a quota up to twice the shortest makes it so.
    ///
    /// # Panics
    /// If `millionths` is 0.
    pub fn of(millionths: u64, least_period: Duration) -> Option<Self> {
        assert!(millionths > 0, "a share is more than nothing");
        let least_us = u64::try_from(least_period.as_micros()).unwrap_or(u64::MAX).clamp(SHORTEST_US, LONGEST_US);
        let first = millionths.checked_mul(least_us)?.div_ceil(1_000_000).max(SHORTEST_US);
        let grain = |quota_us: u64| Self { quota_us, period_us: (quota_us * 1_000_000).div_ceil(millionths) };
        // By how much the share is less than described, in parts of the period.
        let error = |of: &Self| (millionths * of.period_us - of.quota_us * 1_000_000) / of.quota_us;
        let grains = (first..=first * 2).map(grain).filter(|of| of.period_us <= LONGEST_US);
        grains.min_by_key(error)
    }

    /// Returns how long a node that has used its share up stands still.
    pub fn pause(&self) -> Duration {
        Duration::from_micros(self.period_us.saturating_sub(self.quota_us))
    }
}

fn parse_throttling(text: &str, version_1: bool) -> Throttling {
    let mut throttling = Throttling::default();
    for (key, value) in text.lines().filter_map(|line| line.split_once(' ')) {
        let value = value.parse().unwrap_or(0);
        match key {
            "nr_periods" => throttling.periods = value,
            "nr_throttled" => throttling.throttled_periods = value,
            "throttled_time" if version_1 => throttling.throttled = Duration::from_nanos(value),
            "throttled_usec" => throttling.throttled = Duration::from_micros(value),
            _ => (),
        }
    }
    throttling
}

/// Moves the process `pid` into the group at `path`.
pub(crate) fn join(path: &Path, pid: Pid) -> Result<(), KernelError> {
    write(&path.join("cgroup.procs"), &pid.to_string())
}

/// Ends what still runs in a lab's group and its children, and removes them. Nothing happens if it is not there.
///
/// # Errors
/// The kernel's refusal; `EBUSY` when killed processes have not gone within a second. `EINVAL` for a group that is not
/// named as netloom names its own, since everything in it would be killed.
pub fn remove(path: &Path) -> Result<(), KernelError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let attempted = || format!("remove the cgroup {}", path.display());
    if !name.starts_with(GROUP_PREFIX) {
        return Err(KernelError::new(attempted(), libc::EINVAL).with_detail("it is not one of netloom's"));
    }
    let end = Instant::now() + BUSY_WITHIN;
    loop {
        match remove_tree(path) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(2));
            }
            other => return other.attempted(attempted),
        }
    }
}

fn remove_tree(path: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_tree(&entry.path())?;
        }
    }
    kill_all(path);
    match fs::remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Kills what is in a group, but for this process. `cgroup.kill` (version 2, Linux 5.14) misses none that is being forked.
fn kill_all(path: &Path) {
    let list = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    let processes: Vec<Pid> = list.lines().filter_map(|line| line.parse().ok()).map(Pid::from_raw).collect();
    if !processes.contains(&getpid()) && write(&path.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    // Those that cannot be seen from here are listed as 0, which to kill(2) means the caller's own group.
    for pid in processes.into_iter().filter(|pid| pid.as_raw() > 0 && *pid != getpid()) {
        // One that has gone in between needs no killing.
        let _ = kill(pid, Signal::SIGKILL);
    }
}

fn make(path: &Path) -> Result<(), KernelError> {
    fs::create_dir(path).attempted(|| format!("make the cgroup {}", path.display()))
}

/// The files of a group are there as soon as the group is; creating one is not possible.
fn write(file: &Path, value: &str) -> Result<(), KernelError> {
    use std::io::Write;
    let attempted = || format!("write {value} to {}", file.display());
    fs::OpenOptions::new()
        .write(true)
        .open(file)
        .and_then(|mut file| file.write_all(value.as_bytes()))
        .attempted(attempted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_handed_out_in_the_smallest_pieces_that_the_kernel_takes() {
        let grain = |millionths, least_ms| {
            let Grain { quota_us, period_us } = Grain::of(millionths, Duration::from_millis(least_ms)).unwrap();
            (quota_us, period_us)
        };
        assert_eq!(grain(500_000, 1), (1000, 2000));
        assert_eq!(grain(250_000, 2), (1000, 4000));
        assert_eq!(grain(1_000_000, 1), (1000, 1000));
        assert_eq!(grain(2_000_000, 1), (2000, 1000));
        assert_eq!(grain(10_000, 1), (1000, 100_000));
        assert_eq!(grain(1000, 1), (1000, 1_000_000));
        // A millisecond of lab time at dilation 10.
        assert_eq!(grain(400_000, 10), (4000, 10_000));
        // Three tenths are exact with a multiple of 3.
        assert_eq!(grain(300_000, 1), (1002, 3340));
        assert_eq!(Grain::of(999, Duration::ZERO), None);
    }

    #[test]
    fn no_share_is_more_than_described_nor_a_thousandth_less() {
        for millionths in (1000..3_000_000).step_by(997) {
            let Grain { quota_us, period_us } = Grain::of(millionths, Duration::from_millis(1)).unwrap();
            assert!(quota_us >= SHORTEST_US && (SHORTEST_US..=LONGEST_US).contains(&period_us));
            let given = quota_us as f64 / period_us as f64 * 1e6;
            let described = millionths as f64;
            assert!(given <= described && given > described * 0.999, "{millionths}: {given}");
        }
    }

    #[test]
    fn groups_of_others_are_left_alone() {
        let error = remove(Path::new("/sys/fs/cgroup/user.slice")).unwrap_err();
        assert_eq!(error.errno(), libc::EINVAL);
    }

    #[test]
    fn both_versions_tell_the_throttling() {
        let expected = Throttling { periods: 9, throttled_periods: 4, throttled: Duration::from_micros(7) };
        assert_eq!(parse_throttling("nr_periods 9\nnr_throttled 4\nthrottled_time 7000\n", true), expected);
        assert_eq!(parse_throttling("usage_usec 1\nnr_periods 9\nnr_throttled 4\nthrottled_usec 7\n", false), expected);
    }

    /// On a folder that looks like a group, with and without `cgroup.kill`.
    #[test]
    fn a_group_is_killed_at_once_where_the_kernel_can() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        fs::write(folder.path().join("cgroup.procs"), format!("{}\n0\n", child.id())).unwrap();
        let file = folder.path().join("cgroup.kill");
        fs::write(&file, "").unwrap();
        kill_all(folder.path());
        assert_eq!(fs::read_to_string(&file).unwrap(), "1");
        assert!(child.try_wait().unwrap().is_none(), "nobody but the kernel killed it");
        fs::remove_file(&file).unwrap();
        kill_all(folder.path());
        assert!(!child.wait().unwrap().success());
    }
}
