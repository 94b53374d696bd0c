//! What a new network namespace of this machine is like before anybody has changed it.
//!
//! The kernel fills the parameters of IPv4 from those of the machine, and those of IPv6 with its own defaults, or as
//! `net.core.devconf_inherit_init_net` says. Most of them are what a node needs already. A look at one namespace that is made
//! for this spares each of a thousand nodes some twenty files below `/proc/sys`.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use super::parameters::base_keys;
use crate::clone::{Cloned, clone_process};
use crate::error::KernelError;
use crate::sysctl;

/// The values of parameters, by name. Those that are not known are missing.
#[derive(Debug, Default)]
pub(crate) struct Fresh(BTreeMap<String, String>);

/// From how many nodes on it pays to look, which takes as long as a node.
const WORTH_A_LOOK: usize = 16;

impl Fresh {
    /// What so many nodes, or any number, are to know.
    pub(crate) fn for_nodes(most: Option<usize>) -> Self {
        if most.is_none_or(|most| most >= WORTH_A_LOOK) { Self::look(&base_keys()) } else { Self::default() }
    }

    /// Makes a network namespace, reads those parameters in it, and removes it again. What cannot be read is not known.
    fn look(keys: &[String]) -> Self {
        let Ok((mut told, tell)) = io::pipe() else { return Self::default() };
        let mut tell = Some(tell);
        let cloned = clone_process(libc::CLONE_NEWNET | libc::CLONE_NEWPID, || {
            let lines: String =
                keys.iter().filter_map(|key| Some(format!("{key}={}\n", sysctl::get(key).ok()?.trim_end()))).collect();
            let written = tell.take().map_or(Ok(()), |mut tell| tell.write_all(lines.as_bytes()));
            i32::from(written.is_err())
        });
        drop(tell.take());
        let Ok(Cloned { pid, .. }) = cloned else { return Self::default() };
        let mut text = String::new();
        let read = told.read_to_string(&mut text);
        while let Err(nix::errno::Errno::EINTR) = nix::sys::wait::waitpid(pid, None) {}
        read.map_or_else(|_| Self::default(), |_| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        // A line that was cut short has no end.
        let lines = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')?.split_once('='));
        Self(lines.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    /// Sets the parameter in this process's namespace, which is new, unless it has that value.
    pub(crate) fn set(&self, key: &str, value: &str) -> Result<(), KernelError> {
        if self.has(key, value) { Ok(()) } else { sysctl::set(key, value) }
    }

    /// The same for a parameter that some kernels are built without.
    pub(crate) fn set_if_present(&self, key: &str, value: &str) -> Result<(), KernelError> {
        if self.has(key, value) { Ok(()) } else { sysctl::set_if_present(key, value) }
    }

    /// Whether it is known to have that value.
    pub(super) fn has(&self, key: &str, value: &str) -> bool {
        self.0.get(key).is_some_and(|is| is == value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_are_believed() {
        let fresh = Fresh::parse("net.a=0\nnet.b=1\t0\nnet.c=0");
        assert!(fresh.has("net.a", "0") && fresh.has("net.b", "1\t0"));
        assert!(!fresh.has("net.a", "1") && !fresh.has("net.c", "0") && !fresh.has("net.d", "0"));
        assert!(!Fresh::default().has("net.a", "0"));
    }
}
