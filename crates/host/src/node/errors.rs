//! Why nodes do not do what they are asked to.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::error::KernelError;

/// Why a node could not do what it was asked to.
#[derive(Debug)]
pub enum NodeError {
    /// The kernel refused something.
    Refused {
        /// The node's name.
        node: String,
        /// What was attempted, and the kernel's answer.
        error: KernelError,
    },
    /// The node's init has died, and everything in the node with it.
    Gone {
        /// The node's name.
        node: String,
    },
    /// The kernel of a kernel node has ended or does not answer, or a node's agent broke the protocol.
    Kernel {
        /// The node's name.
        node: String,
        /// What is known, with the last lines of its console.
        what: String,
    },
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { node, error } => write!(f, "node {node}: {error}"),
            Self::Kernel { node, what } => write!(f, "node {node}: {what}"),
            Self::Gone { node } => write!(f, "node {node}: its first process was killed, and the node with it"),
        }
    }
}

impl std::error::Error for NodeError {}

/// Why a program did not start.
#[derive(Debug)]
pub enum SpawnError {
    /// There is no such program, or the interpreter that its first line names is missing.
    NoProgram {
        /// The node's name.
        node: String,
        /// The program as it was asked for.
        program: OsString,
    },
    /// The working directory does not exist.
    NoFolder {
        /// The node's name.
        node: String,
        /// The working directory as it was asked for.
        folder: PathBuf,
    },
    /// There is no such user.
    NoUser {
        /// The node's name.
        node: String,
        /// The user as it was asked for.
        user: String,
    },
    /// Anything else.
    Node(NodeError),
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgram { node, program } => {
                write!(f, "node {node}: program not found: {}", program.to_string_lossy())
            }
            Self::NoFolder { node, folder } => write!(f, "node {node}: no such directory: {}", folder.display()),
            Self::NoUser { node, user } => write!(f, "node {node}: no such user: {user} (in the node's /etc/passwd)"),
            Self::Node(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SpawnError {}
