//! What a node takes of the machine: memory and open files, measured with some idle nodes more than the trial needs.

use crate::doctor::tree::Tree;

/// Fewer nodes could not be told from what else happens on a machine meanwhile.
pub(super) const IDLE_NODES: usize = 12;

/// What a machine and this process have before or after nodes were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    memory_bytes: Option<u64>,
    files: usize,
}

impl Mark {
    pub(super) fn now() -> Self {
        let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        Self { memory_bytes: Tree::machine().memory_of_nodes(), files }
    }

    /// Memory and open files per node, when `nodes` were made since `before`.
    pub(super) fn per_node(self, before: Self, nodes: usize) -> (Option<u64>, f64) {
        let grown = self.memory_bytes.zip(before.memory_bytes).and_then(|(after, first)| after.checked_sub(first));
        let memory = grown.map(|bytes| bytes / nodes as u64).filter(|bytes| *bytes > 0);
        (memory, self.files.saturating_sub(before.files) as f64 / nodes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shrinks_says_nothing_of_a_node() {
        let mark = |memory_bytes, files| Mark { memory_bytes, files };
        assert_eq!(mark(Some(3_000), 30).per_node(mark(Some(1_000), 10), 10), (Some(200), 2.0));
        assert_eq!(mark(Some(500), 30).per_node(mark(Some(1_000), 10), 10), (None, 2.0));
        assert_eq!(mark(None, 30).per_node(mark(None, 30), 10), (None, 0.0));
    }
}
