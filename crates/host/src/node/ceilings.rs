//! Limits of a node's programs that change while they run.

use std::io;

use nix::unistd::Pid;
use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
use serde::{Deserialize, Serialize};

use crate::error::{Attempted, KernelError};

/// New limits of programs. What is not said stays as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CeilingOrder {
    /// The memory of all processes together, in bytes; in a kernel of the node's own.
    pub memory_bytes: Option<Ceiling>,
    /// The number of processes and threads; in a kernel of the node's own.
    pub pids: Option<Ceiling>,
    /// The number of descriptors that each process may open.
    pub fds: Option<Ceiling>,
}

/// A limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ceiling {
    /// At most so many.
    At(u64),
    /// As many as the kernel allows.
    Unlimited,
}

impl Ceiling {
    /// Returns the limit as files of control groups have it.
    pub(super) fn written(self) -> String {
        match self {
            Self::At(most) => most.to_string(),
            Self::Unlimited => "max".to_owned(),
        }
    }
}

/// Limits the descriptors of these processes: the soft limit, at most as high as the hard one. One that has ended is skipped.
pub(super) fn limit_descriptors(pids: &[Pid], ceiling: Ceiling) -> Result<(), KernelError> {
    for pid in pids {
        let attempted = || format!("limit the descriptors of process {pid}");
        let Some(process) = rustix::process::Pid::from_raw(pid.as_raw()) else { continue };
        let hard = match hard_limit(*pid) {
            Ok(hard) => hard,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).attempted(attempted),
        };
        let soft = match ceiling {
            Ceiling::At(most) => Some(hard.map_or(most, |hard| most.min(hard))),
            Ceiling::Unlimited => hard,
        };
        match prlimit(Some(process), Resource::Nofile, Rlimit { current: soft, maximum: hard }) {
            Ok(_) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(io::Error::from(error)).attempted(attempted),
        }
    }
    Ok(())
}

/// The most descriptors that a process may allow itself; none: any number. From its file `limits` (proc(5)).
fn hard_limit(pid: Pid) -> io::Result<Option<u64>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/limits"))?;
    Ok(hard_of(&text).unwrap_or_else(|| getrlimit(Resource::Nofile).maximum))
}

/// A line reads "Max open files", the soft limit, the hard limit, "files". None: there is no such line.
fn hard_of(limits: &str) -> Option<Option<u64>> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let hard = line.split_ascii_whitespace().nth(1)?;
    Some(hard.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hard_limit_is_read_from_a_process() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max open files            1024                 524288               files     \n";
        assert_eq!(hard_of(text), Some(Some(524_288)));
        assert_eq!(hard_of("Max open files  1024  unlimited  files\n"), Some(None));
        assert_eq!(hard_of(""), None);
    }

    #[test]
    fn descriptors_are_limited_while_a_process_runs() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_raw(child.id().cast_signed());
        let limited = limit_descriptors(&[pid], Ceiling::At(17));
        let text = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        let lifted = limit_descriptors(&[pid], Ceiling::Unlimited);
        let hard = hard_limit(pid).unwrap();
        let later = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(limited.is_ok() && lifted.is_ok());
        let soft = |limits: &str| {
            let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap().to_owned();
            line.split_ascii_whitespace().next().unwrap().parse::<u64>().ok()
        };
        assert_eq!((soft(&text), soft(&later)), (Some(17), hard));
    }
}
