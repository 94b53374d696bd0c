//! What a node takes of the machine: memory and open files, measured with some idle nodes more than the trial needs.

use crate::tree::Tree;
use netloom_host::Pid;

/// Fewer nodes could not be told from what else happens on a machine meanwhile.
pub(super) const IDLE_NODES: usize = 12;

/// What the kernel and this process have before or after nodes were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    kernel_bytes: Option<u64>,
    files: usize,
}

impl Mark {
    pub(super) fn now() -> Self {
        let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        Self { kernel_bytes: Tree::machine().memory_of_kernel(), files }
    }

    /// Memory and open files per node, when `nodes` nodes were made since `before` whose first processes have
    /// `own_bytes` in all.
    pub(super) fn per_node(self, before: Self, nodes: usize, own_bytes: u64) -> (Option<u64>, f64) {
        let grown = self.kernel_bytes.zip(before.kernel_bytes).and_then(|(after, first)| after.checked_sub(first));
        let memory = grown.filter(|grown| *grown > 0).map(|grown| (grown + own_bytes) / nodes as u64);
        (memory, self.files.saturating_sub(before.files) as f64 / nodes as f64)
    }
}

/// The memory of all these processes, in bytes.
pub(super) fn of_processes(pids: impl Iterator<Item = Pid>) -> u64 {
    let tree = Tree::machine();
    pids.filter_map(|pid| tree.memory_of_process(pid.as_raw())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shrinks_says_nothing_of_a_node() {
        let mark = |kernel_bytes, files| Mark { kernel_bytes, files };
        assert_eq!(mark(Some(3_000), 30).per_node(mark(Some(1_000), 10), 10, 500), (Some(250), 2.0));
        assert_eq!(mark(Some(500), 30).per_node(mark(Some(1_000), 10), 10, 500), (None, 2.0));
        assert_eq!(mark(None, 30).per_node(mark(None, 30), 10, 500), (None, 0.0));
    }
}
