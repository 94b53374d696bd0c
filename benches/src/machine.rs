//! What the figures were measured on, and how busy it was.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// How long the processors are watched before a case.
const WATCH: Duration = Duration::from_millis(400);

/// The machine and the program.
pub(crate) struct Machine {
    pub(crate) processors: usize,
    pub(crate) model: String,
    pub(crate) kernel: String,
    pub(crate) version: String,
    /// Where the program was built from a repository: its commit.
    pub(crate) commit: Option<String>,
    pub(crate) user: &'static str,
}

/// How busy the machine was with other things.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    /// How many processors were busy just then.
    pub(crate) busy: f64,
    /// The kernel's average over a minute.
    pub(crate) average: f64,
}

impl Machine {
    pub(crate) fn look(netloom: &Path) -> Self {
        let told = |command: &mut Command| {
            let output = command.output().ok().filter(|output| output.status.success())?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let git =
            |arguments: &[&str]| told(Command::new("git").arg("-C").arg(env!("CARGO_MANIFEST_DIR")).args(arguments));
        let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|files| !files.is_empty());
        let commit = git(&["rev-parse", "--short=12", "HEAD"]);
        // SAFETY: geteuid cannot fail and takes nothing.
        let is_root = unsafe { libc::geteuid() } == 0;
        Self {
            processors: thread::available_parallelism().map_or(1, usize::from),
            model: model(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            version: told(Command::new(netloom).arg("--version")).unwrap_or_else(|| "unknown".to_owned()),
            commit: commit.map(|commit| if changed { format!("{commit} with changes") } else { commit }),
            user: if is_root { "root" } else { "an ordinary user" },
        }
    }

    /// In a line.
    pub(crate) fn words(&self) -> String {
        let Self { processors, model, kernel, version, commit, user } = self;
        let commit = commit.as_ref().map(|commit| format!(" ({commit})")).unwrap_or_default();
        format!("{version}{commit}, {processors} processors ({model}), Linux {kernel}, {user}")
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "processors": self.processors,
            "processor_model": self.model,
            "kernel": self.kernel,
            "netloom": self.version,
            "commit": self.commit,
            "user": self.user,
        })
    }
}

/// The name of the first processor.
fn model(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    line.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.trim().to_owned())
}

impl Load {
    /// Watches for a moment.
    pub(crate) fn look() -> Self {
        let before = busy_seconds();
        thread::sleep(WATCH);
        let busy = (busy_seconds() - before) / WATCH.as_secs_f64();
        let average = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let average = average.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(f64::NAN);
        Self { busy, average }
    }

    /// So busy that figures are those of something else, too.
    pub(crate) fn is_high(self) -> bool {
        self.busy > 0.25
    }

    pub(crate) fn json(self) -> Value {
        json!({"busy_processors": self.busy, "load_average": self.average})
    }
}

/// Of all processors since the start of the machine, in seconds.
pub(crate) fn busy_seconds() -> f64 {
    // SAFETY: sysconf takes no pointers.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    busy_ticks(&fs::read_to_string("/proc/stat").unwrap_or_default()) / ticks_per_second
}

/// Of /proc/stat (proc_stat(5)): all but the fourth and fifth figure, idle and waiting for disks.
fn busy_ticks(stat: &str) -> f64 {
    let line = stat.lines().next().unwrap_or_default();
    let ticks = line.split_ascii_whitespace().skip(1).take(8).map(|word| word.parse().unwrap_or(0.0));
    ticks.enumerate().filter(|(column, _)| !matches!(column, 3 | 4)).map(|(_, ticks)| ticks).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_kernel_are_read() {
        let cpuinfo = "processor\t: 0\nmodel name\t: Some CPU @ 2.0GHz\n\nprocessor\t: 1\nmodel name\t: Another\n";
        assert_eq!(model(cpuinfo), "Some CPU @ 2.0GHz");
        assert_eq!(model("processor: 0\n"), std::env::consts::ARCH);
        let stat = "cpu  10 1 20 1000 500 3 4 2 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert!((busy_ticks(stat) - 40.0).abs() < f64::EPSILON);
    }
}
