//! A lab in several parts, each a process with a scheduler of its own, mostly on a machine of its own.
//!
//! Every part has all of the lab's fabric and all of its machines, but runs only the kernels that are *here*. What a kernel of another part
//! does, the scheduler of that part tells all others: which window it lets a group run, and then what each kernel has sent in it and when it
//! wants to run next. So every part sees the same lab. It lets a kernel run as far as its own copy of the fabric is certain: what the others
//! have told is the promise that nothing more enters before that. This is the conservative simulation of Chandy and Misra, whose null
//! messages each part computes by itself.
//!
//! A group of which all kernels are in one part runs in windows of that part's choice, which it tells before ([`Begun`]). A group with
//! kernels in several parts runs in windows that each part computes for itself, the same everywhere, and ends a window when all have told.

mod codec;

use super::{Device, NextWake, TimedFrame};
use netloom_packet::Pool;
use netloom_units::Instant;
use std::fmt;
use std::sync::Arc;

/// A window of a group whose kernels are all in the part that tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The synchronization round, counted from the beginning.
    pub sync_round: u64,
    /// The end of that synchronization round, which all parts compute.
    pub end: Instant,
    /// The first machine of the group, which tells it from others.
    pub leader: usize,
    /// Nothing happens before this.
    pub begin: Instant,
    /// The machines do everything before this.
    pub until: Instant,
    /// Whether the machine that runs stops with the instant at which it first sends something.
    pub is_alone: bool,
    /// The number of the round, if the links left no lookahead at `begin`.
    pub round: Option<u32>,
    /// The machines that run.
    pub machines: Vec<usize>,
}

/// The report of a machine that has done what it was let do.
///
/// Links look at headers only. So of frames that no kernel of another part can get, others are told the headers and the length: in its place they see
/// zeros. That is what lets several machines carry more than one of them could.
#[derive(Debug)]
pub struct Reported {
    /// The machine.
    pub machine: usize,
    /// The end of what it was let do.
    pub until: Instant,
    /// When it wants to run next.
    pub next_wake: NextWake,
    /// Before which instant it has done everything, if it was stopped by what it sent.
    pub stopped: Option<Instant>,
    /// The frames that its interfaces had to leave out so far, since they were down.
    pub unheard: u64,
    /// The frames that it sent, in order.
    pub sent: Vec<TimedFrame>,
    /// The devices whose frames no kernel of another part gets; empty when it was heard.
    pub inner: Arc<[Device]>,
}

/// A statement of a machine's part on something that the others cannot see: what has become of its disk in a crash, for example. All parts
/// come to this at the same instant, and go on when it has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    /// The machine.
    pub machine: usize,
    /// The instant.
    pub at: Instant,
    /// The statement, whose form is a matter of those who make and read it.
    pub statement: Vec<u8>,
}

/// A message of one part to all others.
#[derive(Debug)]
pub enum Told {
    /// A group begins a window.
    Begun(Begun),
    /// A machine has done what it was let do.
    Reported(Reported),
    /// Something about a machine that only its part can see.
    Stated(Stated),
}

/// Why a part cannot go on with the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parted {
    /// The part that is lost or says something else, by its number.
    pub part: usize,
    /// The reason in words.
    pub what: String,
}

impl fmt::Display for Parted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Parted {}

/// The way to the other parts. Messages of one part arrive in their order.
pub trait Wire {
    /// Tells all other parts something, at the latest with the next [`Wire::flush`].
    ///
    /// # Errors
    /// When a part is lost.
    fn tell(&mut self, told: &Told) -> Result<(), Parted>;

    /// Sends what was told.
    ///
    /// # Errors
    /// When a part is lost.
    fn flush(&mut self) -> Result<(), Parted>;

    /// Returns what some part has told next, without waiting; none if nothing has come.
    ///
    /// # Errors
    /// When a part is lost, or broke the protocol.
    fn hear(&mut self, pool: &mut Pool) -> Result<Option<Told>, Parted>;

    /// Returns, in words, that a part has come to its end and that all was heard of it; none if something may still come.
    fn ended(&mut self, part: usize) -> Option<Parted>;

    /// This part cannot go on, for this reason, which the others hear.
    fn fail(&mut self, _why: &str) {}
}
