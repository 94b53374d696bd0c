//! The part that a process plays, and its connections to others.

use crate::seal::Sealed;
use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;

/// The part of a lab that a process plays.
#[derive(Clone, Debug)]
pub struct PartRequest {
    /// Its place among the parts.
    pub here: usize,
    /// The name of the lab on this machine, which no other part has; what all parts record has the name of the whole lab.
    pub own_name: String,
    /// The names of all parts: of their machines.
    pub names: Vec<String>,
    /// The addresses of all parts: `HOST:PORT`, or the absolute path of a Unix socket.
    pub addresses: Vec<String>,
    /// By node of the plan: the part that plays it.
    pub homes: Vec<usize>,
    /// The key that all parts have.
    pub key: [u8; 32],
    /// By what it is called in words: what has to be the same in all parts.
    pub facts: BTreeMap<String, String>,
}

/// A connection to another part.
pub(crate) struct Met {
    pub(crate) part: usize,
    /// The type of the standard library for stream sockets of any kind, as what is done with it here are the same system calls.
    pub(crate) stream: UnixStream,
    pub(crate) sealed: Sealed,
}
