//! Processors of nodes: those of this machine that they run on, and those that they have in virtual time.

use netloom_units::{CpuCost, CpuLevel};
use std::fmt;

/// The processor of a node in virtual time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuPlan {
    /// The time that packets, system calls and computing take.
    pub cost: CpuCost,
    /// The level of processor that programs see; none: they see this machine's processor.
    pub level: Option<CpuLevel>,
}

/// The processors of this machine that a node runs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinPlan {
    /// The line of the lab file that says it.
    pub line: usize,
    /// Their numbers, in order, each once.
    pub processors: Vec<usize>,
}

impl PinPlan {
    /// The highest number of a processor: what the C library's set of processors holds.
    pub const MOST: usize = 1023;
}

impl fmt::Display for PinPlan {
    /// As the kernel writes lists of processors: `0,2-3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = "";
        for run in self.processors.chunk_by(|one, next| one + 1 == *next) {
            match run {
                [first, .., last] => write!(f, "{before}{first}-{last}")?,
                one => write!(f, "{before}{}", one[0])?,
            }
            before = ",";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_shown_as_the_kernel_shows_them() {
        let shown = |processors: &[usize]| PinPlan { line: 1, processors: processors.to_vec() }.to_string();
        assert_eq!(shown(&[3]), "3");
        assert_eq!(shown(&[0, 1, 2, 4, 6, 7]), "0-2,4,6-7");
    }
}
