//! What the exit codes of `netloom` mean.

use std::fmt;

/// How a `netloom` command ended. The numbers are part of the interface: scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum ExitCode {
    /// Done; for a run: it ran, as described, and every expectation was met.
    Success = 0,
    /// An expectation was not met, or a command of the timeline failed.
    Unmet = 1,
    /// The command line is wrong.
    Usage = 2,
    /// The lab file is wrong.
    LabFile = 3,
    /// This machine cannot do it: no namespaces, or a program is missing.
    Machine = 4,
    /// The run came to its end, but the network was not as described.
    NotAsDescribed = 5,
    /// The results could not be written, or a bundle of them is damaged.
    Results = 6,
    /// The lab is up already, or there is no such lab, node or link.
    NoSuchLab = 7,
    /// The lab died: one of its processes was killed, or an internal error ended it.
    Died = 8,
    /// The run's `duration` ended its programs before any link carried a packet, so that nothing of the network was
    /// judged; or the checker of a history could not decide.
    NotJudged = 9,
    /// The run took longer than `--wall-limit` allows; as timeout(1) has it.
    WallLimit = 124,
    /// Interrupted by Ctrl-C, a termination signal or `netloom down`.
    Interrupted = 130,
}

impl ExitCode {
    /// Every code, in order.
    pub const ALL: [Self; 12] = [
        Self::Success,
        Self::Unmet,
        Self::Usage,
        Self::LabFile,
        Self::Machine,
        Self::NotAsDescribed,
        Self::Results,
        Self::NoSuchLab,
        Self::Died,
        Self::NotJudged,
        Self::WallLimit,
        Self::Interrupted,
    ];

    /// The number that the process exits with.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The code with this number, if there is one.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.number() == number)
    }

    /// One line for the manual and the help.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Success => "success; of a run: the network was as described, and every expectation was met",
            Self::Unmet => "an expectation was not met, or a command of the timeline failed",
            Self::Usage => "the command line is wrong",
            Self::LabFile => "the lab file is wrong",
            Self::Machine => "this machine cannot do it: it refuses namespaces, or a program is missing",
            Self::NotAsDescribed => "the network was not as described: see the verdict",
            Self::Results => "the results could not be written, or a bundle of them is damaged",
            Self::NoSuchLab => "the lab is up already, or there is no such lab, node or link",
            Self::Died => "the lab died: one of its processes was killed, or an internal error ended it",
            Self::NotJudged => "nothing was judged: no link carried a packet by the end, or a history was undecidable",
            Self::WallLimit => "the run took longer than --wall-limit allows; its results are kept",
            Self::Interrupted => "interrupted by Ctrl-C, a signal or `netloom down`",
        }
    }
}

impl fmt::Display for ExitCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_found_again() {
        for code in ExitCode::ALL {
            assert_eq!(ExitCode::from_number(code.number()), Some(code));
            assert!(!code.meaning().is_empty());
        }
        assert_eq!(ExitCode::from_number(10), None);
    }
}
