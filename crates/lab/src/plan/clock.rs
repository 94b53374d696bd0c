//! How time passes, and on whose network stack.

use crate::words::words;
use netloom_units::Dilation;
use std::fmt;

/// How lab time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// Lab time passes as ours does.
    #[default]
    Real,
    /// Lab time passes more slowly than wall time by this factor.
    Dilated(Dilation),
    /// Lab time passes from event to event, however long each takes to compute.
    Virtual,
}

impl Clock {
    /// Returns the name of the clock: `real`, `dilated` or `virtual`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Dilated(_) => "dilated",
            Self::Virtual => "virtual",
        }
    }

    /// Returns the factor by which lab time is slower than wall time; one in real time, none in virtual time.
    pub fn dilation(self) -> Option<Dilation> {
        match self {
            Self::Real => Some(Dilation::ONE),
            Self::Dilated(factor) => Some(factor),
            Self::Virtual => None,
        }
    }

    /// Returns the stack of nodes that do not say theirs.
    pub fn default_stack(self) -> Stack {
        if self == Self::Real { Stack::Namespace } else { Stack::Kernel }
    }
}

impl fmt::Display for Clock {
    /// As the lab file would have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real | Self::Virtual => f.pad(self.name()),
            Self::Dilated(factor) => f.pad(&format!("{{dilation: {factor}}}")),
        }
    }
}

words! {
    /// The network stack that a node has.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Stack {
        /// The stack of this machine's kernel, in namespaces; in real time only.
        #[default]
        Namespace = "namespace",
        /// The stack of a Linux kernel of its own, which runs as a process.
        Kernel = "kernel",
    } {
        /// The stack of the system in a virtual machine; in real and dilated time.
        Vm = "vm",
        /// No stack but what the packet engine has of one: that of a transit router, a switch or a hub.
        Engine = "engine",
    }
}

impl Stack {
    /// Whether the stack is that of a kernel of the node's own.
    pub fn is_own(self) -> bool {
        matches!(self, Self::Kernel | Self::Vm)
    }
}
