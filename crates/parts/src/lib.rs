//! The parts of a lab in virtual time that several processes play together, mostly on machines of their own: how they meet, and what they tell
//! one another. This crate knows neither lab files nor kernels, and starts no process.
//!
//! Every part has the whole lab file, and plays the whole session: what agents say, it hears of all nodes at the same instants of lab time,
//! so that it does the same as the others. It runs the kernels of its own nodes alone; see [`netloom_guest::schedule::Wire`]. So every part
//! has all results.
//!
//! The parts meet before the lab is forked ([`OtherParts::meet`]): each two have one connection, on which they compare what has to be the
//! same on all machines. Then [`Peers`] carries what schedulers tell.

#![forbid(unsafe_code)]

mod meeting;
mod peers;
mod seal;

pub use peers::Peers;
use seal::Sealed;
use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;

/// The part of a lab that a process plays.
#[derive(Clone, Debug)]
pub struct PartRequest {
    /// Its place among the parts.
    pub here: usize,
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
struct Met {
    part: usize,
    /// The type of the standard library for stream sockets of any kind, as what is done with it here are the same system calls.
    stream: UnixStream,
    sealed: Sealed,
}

/// The other parts of a lab, which this process has met.
#[derive(Default)]
pub struct OtherParts {
    met: Vec<Met>,
}

impl OtherParts {
    /// Meets all other parts of a lab that is played in several, in the process from which the lab is forked.
    ///
    /// # Errors
    /// Which part does not come, or is not of the same lab, with the difference in words.
    pub fn meet(&mut self, request: Option<&PartRequest>) -> Result<(), String> {
        if let Some(request) = request {
            self.met = meeting::meet(request)?;
        }
        Ok(())
    }

    /// Closes the connections in this process.
    pub fn let_go(&mut self) {
        self.met.clear();
    }

    /// Returns the connections, for the process that plays the part.
    pub fn peers(&mut self, request: &PartRequest) -> Peers {
        Peers::new(std::mem::take(&mut self.met), &request.names)
    }
}
