//! Samples of what a node's processes and its network use.

use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::error::{Attempted, KernelError};
use crate::measure::connections::MOST_ROWS;
use crate::measure::stream;
use crate::measure::system::Figures;
use crate::node::inspect;

#[derive(Debug)]
pub(super) struct System {
    /// Whether the kernel is the node's own.
    own_kernel: bool,
    tick_ns: u64,
    page_bytes: u64,
    /// The last row.
    latest: Option<Figures>,
    rows: u64,
}

impl System {
    pub(super) fn begin(own_kernel: bool) -> Self {
        let tick_ns = 1_000_000_000 / configured(libc::_SC_CLK_TCK, 100);
        let page_bytes = configured(libc::_SC_PAGESIZE, 4_096);
        Self { own_kernel, tick_ns, page_bytes, latest: None, rows: 0 }
    }

    /// Whether there may be more rows.
    pub(super) fn has_room(&self) -> bool {
        self.rows < MOST_ROWS
    }

    pub(super) fn sample(&mut self, time_ns: u64, written: &mut Vec<u8>) -> Result<(), KernelError> {
        let mut figures = self.look()?;
        if let Some(latest) = &self.latest {
            keep_growing(&mut figures, latest);
        }
        if self.latest.as_ref() == Some(&figures) {
            return Ok(());
        }
        stream::push_time(written, time_ns);
        stream::push_system(written, &figures);
        self.latest = Some(figures);
        self.rows += 1;
        if !self.has_room() {
            stream::push_system_full(written);
        }
        Ok(())
    }

    fn look(&self) -> Result<Figures, KernelError> {
        let mut figures = self.processes()?;
        figures.interface_dropped_packets = inspect::interfaces(|_| None, |_, _| {})?
            .iter()
            .map(|(_, counted)| counted.rx_dropped + counted.tx_dropped)
            .sum();
        if self.own_kernel {
            let read = |file: &str| fs::read_to_string(file).attempted(|| format!("read {file}"));
            (figures.user_ns, figures.system_ns) = whole_processor(&read("/proc/stat")?, self.tick_ns);
            figures.used_memory_bytes = used_memory(&read("/proc/meminfo")?);
            // A kernel without a network has no such file.
            let softnet = fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
            (figures.softnet_dropped_packets, figures.softnet_squeezed) = softnet_sums(&softnet);
        }
        Ok(figures)
    }

    /// What all processes but this one use; with what those used that have ended.
    fn processes(&self) -> Result<Figures, KernelError> {
        let ended = getrusage(UsageWho::RUSAGE_CHILDREN).attempted(|| "ask what ended programs have used")?;
        let ns = |time: nix::sys::time::TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0) * 1_000;
        let mut sum =
            Figures { user_ns: ns(ended.user_time()), system_ns: ns(ended.system_time()), ..Figures::default() };
        let own = std::process::id().to_string();
        for entry in fs::read_dir("/proc").attempted(|| "list /proc")?.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())) else {
                continue;
            };
            if name == own {
                continue;
            }
            // Processes end while this reads.
            let Some(process) = fs::read_to_string(entry.path().join("stat")).ok().and_then(|stat| process(&stat))
            else {
                continue;
            };
            sum.processes += 1;
            sum.threads += process.threads;
            sum.user_ns += process.user_ticks * self.tick_ns;
            sum.system_ns += process.system_ticks * self.tick_ns;
            let pages = fs::read_to_string(entry.path().join("statm")).ok().and_then(|statm| private_pages(&statm));
            sum.process_memory_bytes += pages.unwrap_or(0) * self.page_bytes;
        }
        Ok(sum)
    }
}

/// A process that ends between the looks at ended programs and at its own file is in neither, for once: what a node has used never shrinks.
fn keep_growing(figures: &mut Figures, latest: &Figures) {
    figures.user_ns = figures.user_ns.max(latest.user_ns);
    figures.system_ns = figures.system_ns.max(latest.system_ns);
}

/// What sysconf(3) says, or what is usual.
fn configured(name: libc::c_int, usual: u64) -> u64 {
    // SAFETY: it takes a number and touches no memory of ours.
    let value = unsafe { libc::sysconf(name) };
    u64::try_from(value).ok().filter(|value| *value > 0).unwrap_or(usual)
}

/// What is read of a process.
#[derive(Debug, PartialEq)]
struct Process {
    /// With those of its children that have ended and that it has waited for.
    user_ticks: u64,
    system_ticks: u64,
    threads: u64,
}

/// The flag of threads of the kernel (`PF_KTHREAD`), which are no processes of the node.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// "pid (name) state …", proc_pid_stat(5): field 9 has flags, fields 14 to 17 are utime, stime, cutime and cstime, and field 20 is the number of threads.
fn process(stat: &str) -> Option<Process> {
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    // The first of these is field 3. Children's times are signed numbers.
    let number =
        |field: usize| fields.get(field - 3)?.parse::<i64>().ok().map(|number| u64::try_from(number).unwrap_or(0));
    if number(9)? & KERNEL_THREAD != 0 {
        return None;
    }
    Some(Process {
        user_ticks: number(14)? + number(16)?,
        system_ticks: number(15)? + number(17)?,
        threads: number(20)?,
    })
}

/// "size resident shared …" in pages, proc_pid_statm(5): what is resident and shared with nobody, not even with a file.
fn private_pages(statm: &str) -> Option<u64> {
    let mut numbers = statm.split_ascii_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(resident.saturating_sub(shared))
}

/// "cpu user nice system idle iowait irq softirq …", proc_stat(5): what programs and the kernel used.
fn whole_processor(stat: &str, tick_ns: u64) -> (u64, u64) {
    let all = stat.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let ticks: Vec<u64> = all.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
    let sum = |places: &[usize]| places.iter().filter_map(|place| ticks.get(*place)).sum::<u64>() * tick_ns;
    (sum(&[0, 1]), sum(&[2, 5, 6]))
}

/// What of the memory could not be given to programs, proc_meminfo(5).
fn used_memory(meminfo: &str) -> Option<u64> {
    let kibibytes = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    Some(kibibytes("MemTotal:")?.saturating_sub(kibibytes("MemAvailable:")?) * 1_024)
}

/// A line for each processor, in hexadecimal: processed, dropped, squeezed (net/core/net-procfs.c).
fn softnet_sums(text: &str) -> (Option<u64>, Option<u64>) {
    let column = |place: usize| {
        let numbers = text.lines().map(|line| u64::from_str_radix(line.split_ascii_whitespace().nth(place)?, 16).ok());
        numbers.sum::<Option<u64>>().filter(|_| !text.is_empty())
    };
    (column(1), column(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_ends_while_it_is_looked_for_takes_nothing_away() {
        let latest = Figures { user_ns: 70, system_ns: 30, processes: 2, ..Figures::default() };
        let mut figures = Figures { user_ns: 20, system_ns: 40, processes: 1, ..Figures::default() };
        keep_growing(&mut figures, &latest);
        assert_eq!(figures, Figures { user_ns: 70, system_ns: 40, processes: 1, ..Figures::default() });
    }

    #[test]
    fn files_of_proc_are_read() {
        let stat = "7 (a) b (c) S 42 7 7 0 -1 4194560 1 2 3 4 50 60 7 -1 20 0 3 0 12 1 2";
        assert_eq!(process(stat), Some(Process { user_ticks: 57, system_ticks: 60, threads: 3 }));
        assert_eq!(process("7 (a"), None);
        assert_eq!(process("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0"), None);
        assert_eq!(private_pages("100 30 12 1 0 5 0"), Some(18));
        let processor = "cpu  100 10 30 4000 5 6 7 0 0 0\ncpu0 1 1 1 1\n";
        assert_eq!(whole_processor(processor, 10_000_000), (1_100_000_000, 430_000_000));
        assert_eq!(whole_processor("", 10_000_000), (0, 0));
        assert_eq!(used_memory("MemTotal:  1000 kB\nMemFree: 1 kB\nMemAvailable:  400 kB\n"), Some(614_400));
        assert_eq!(used_memory("MemTotal:  1000 kB\n"), None);
        let softnet = "000e554f 00000002 00000001 0\n001cf582 0000000f 00000001 0\n";
        assert_eq!(softnet_sums(softnet), (Some(17), Some(2)));
        assert_eq!(softnet_sums(""), (None, None));
    }

    /// A program that computes for a while, ends and is waited for is counted from its beginning to after its end.
    #[test]
    fn processor_time_of_programs_counts_while_they_run_and_when_they_have_ended() {
        let system = System::begin(false);
        let before = system.look().unwrap();
        let spin = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";
        let mut child = std::process::Command::new("sh").args(["-c", spin]).spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        let after = system.look().unwrap();
        assert!(after.user_ns >= before.user_ns + 20_000_000, "{before:?} {after:?} {pid}");
        assert!(after.processes > 0 && after.process_memory_bytes > 0);
        assert_eq!((after.softnet_dropped_packets, after.used_memory_bytes), (None, None));
        let own = System::begin(true).look().unwrap();
        assert!(own.softnet_dropped_packets.is_some() && own.used_memory_bytes.is_some_and(|bytes| bytes > 0));
    }
}
