//! A control group for the processes of a run: what they take, and nothing else of the machine.
//!
//! Of version 2 (Documentation/admin-guide/cgroup-v2.rst), or of version 1, where processor time and memory are two hierarchies.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

const ROOT: &str = "/sys/fs/cgroup";
/// What is still at its end after the command has ended gets so long, in steps.
const STEPS: u32 = 100;
const STEP: Duration = Duration::from_millis(20);

/// Enters the two groups that are its first arguments, which may be the same one, and becomes the program behind them.
const ENTER: &str = "echo $$ > \"$1/cgroup.procs\" && echo $$ > \"$2/cgroup.procs\" && shift 2 && exec \"$@\"";

/// How many groups there have been: each has a name of its own, so that none finds what another has counted.
static MADE: AtomicU32 = AtomicU32::new(0);

/// The folders of a group, which is removed when this is dropped.
pub(super) struct Group {
    processors: PathBuf,
    memory: PathBuf,
    is_unified: bool,
}

impl Group {
    /// A new group; an error says why there is none.
    pub(super) fn create() -> Result<Self, String> {
        let root = Path::new(ROOT);
        let name = format!("netloom-bench-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let is_unified = root.join("cgroup.controllers").exists();
        let group = if is_unified {
            // It is set on most machines, and nobody else is disturbed by it.
            let _ = fs::write(root.join("cgroup.subtree_control"), "+memory");
            Self { processors: root.join(&name), memory: root.join(&name), is_unified }
        } else {
            Self { processors: root.join("cpuacct").join(&name), memory: root.join("memory").join(&name), is_unified }
        };
        for folder in [&group.processors, &group.memory] {
            match fs::create_dir(folder) {
                Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(format!("no control group: making {}: {error}", folder.display()));
                }
                _ => {}
            }
        }
        Ok(group)
    }

    /// A command that runs in it.
    pub(super) fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", ENTER, "sh"]).arg(&self.processors).arg(&self.memory).args(words);
        command
    }

    /// The processor time that its processes have taken, in seconds.
    pub(super) fn seconds(&self) -> Option<f64> {
        if self.is_unified {
            Some(field(&read(&self.processors, "cpu.stat"), "usage_usec")? / 1e6)
        } else {
            Some(read(&self.processors, "cpuacct.usage").trim().parse::<f64>().ok()? / 1e9)
        }
    }

    /// The memory that its processes have now, in megabytes: pages of their own and shared ones, and what the kernel keeps for them; no files.
    pub(super) fn megabytes(&self) -> Option<f64> {
        let text = read(&self.memory, "memory.stat");
        let bytes = if self.is_unified {
            let kernel =
                ["kernel_stack", "pagetables", "slab_unreclaimable"].map(|name| field(&text, name).unwrap_or(0.0));
            field(&text, "anon")? + field(&text, "shmem")? + kernel.iter().sum::<f64>()
        } else {
            let kernel = read(&self.memory, "memory.kmem.usage_in_bytes").trim().parse::<f64>().unwrap_or(0.0);
            field(&text, "total_rss")? + field(&text, "total_shmem")? + kernel
        };
        Some(bytes / 1e6)
    }

    /// Waits until the last process has ended, and ends those that stay.
    pub(super) fn settle(&self) {
        for step in 0..STEPS {
            let left = read(&self.processors, "cgroup.procs");
            if left.trim().is_empty() {
                return;
            }
            if step == STEPS / 2 {
                // Its processes are those that this program has started.
                for pid in left.lines().filter_map(|line| line.parse::<i32>().ok()) {
                    // SAFETY: the call takes no pointers.
                    unsafe { libc::kill(pid, libc::SIGKILL) };
                }
            }
            sleep(STEP);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.settle();
        // The second is gone already where there is one alone.
        let _ = fs::remove_dir(&self.processors);
        let _ = fs::remove_dir(&self.memory);
    }
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_default()
}

/// The number behind a name, in a file of a line for each.
fn field(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "anon_thp 5\nanon 4096\nshmem 12\n";
        assert_eq!((field(text, "anon"), field(text, "shmem"), field(text, "file")), (Some(4096.0), Some(12.0), None));
    }
}
