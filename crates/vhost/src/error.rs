//! Why a port ended.

use std::{fmt, io};

/// A port cannot go on; its guest sees a network device whose cable was cut for good.
#[derive(Debug)]
pub enum PortError {
    /// The guest closed the connection: it powered off, or its process was killed.
    Closed,
    /// A system call failed.
    System {
        /// What was attempted.
        attempted: &'static str,
        /// What the kernel said.
        error: io::Error,
    },
    /// The guest sent a message that the protocol does not allow, or that asks for what was not offered.
    Message(String),
    /// The guest put something into a virtqueue that does not belong there.
    Queue {
        /// Which: 0 receives (to the guest), 1 transmits (from the guest).
        queue: usize,
        /// What it was.
        what: String,
    },
}

impl PortError {
    /// Makes an error of the system's answer.
    pub(crate) fn system<E: Into<io::Error>>(attempted: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::System { attempted, error: error.into() }
    }
}

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("its kernel closed the connection"),
            Self::System { attempted, error } => write!(f, "{attempted}: {error}"),
            Self::Message(what) => write!(f, "its kernel broke the vhost-user protocol: {what}"),
            Self::Queue { queue, what } => {
                let name = if *queue == 0 { "receive" } else { "transmit" };
                write!(f, "its kernel broke the {name} queue: {what}")
            }
        }
    }
}

impl std::error::Error for PortError {}
