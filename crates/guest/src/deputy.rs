//! A kernel in virtual time, as the scheduler sees it: the other side of the deputy in the kernel's process.
//!
//! Both share a deck of frames in memory and take turns over a socket; the layout is that of `shim/deputy.h`, where the
//! protocol is described. The deputy's side is trusted no further than its numbers can be checked: it runs in a process
//! that also runs the user's programs.

mod deck;
mod leash;
mod vitals;

pub use leash::Leash;
pub use vitals::Vitals;

use crate::schedule::{Machine, MachineError, Passage, Wish};
use deck::Deck;
use netloom_packet::Pool;
use netloom_units::Instant;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

/// What the kernel says when it waits for frames only.
const NEVER: u64 = u64::MAX;
/// How often a kernel that has not answered is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);
/// A kernel that has used no processor time for so many looks, ten seconds, will not answer any more.
const PATIENCE: u32 = 50;

/// What the deputy says; see `shim/deputy.h`.
mod answer {
    pub(super) const DONE: u32 = 1;
    pub(super) const FULL: u32 = 2;
    pub(super) const EMPTY: u32 = 3;
    pub(super) const BROKEN: u32 = 4;
    pub(super) const LENGTH: usize = 24;
}

/// What the scheduler says.
mod turn {
    pub(super) const RUN: u32 = 1;
    pub(super) const ALONE: u32 = 2;
    pub(super) const GO_ON: u32 = 3;
    pub(super) const LENGTH: usize = 16;
}

/// What a kernel's process inherits for its deputy.
#[derive(Debug)]
pub struct DeputyEnds {
    /// The deputy's socket.
    pub socket: OwnedFd,
    /// The deck's memory.
    pub memory: OwnedFd,
}

/// See the module.
#[derive(Debug)]
pub struct Deputy {
    socket: UnixStream,
    deck: Deck,
    /// Frames of the current grant that did not fit into the deck yet.
    waiting: VecDeque<Passage>,
    vitals: Vitals,
    leash: Arc<Leash>,
    /// Whether the kernel has waited for the first time. Until then it runs without leave.
    has_begun: bool,
}

struct Answer {
    kind: u32,
    now: u64,
    wish: u64,
}

impl Deputy {
    /// The scheduler's side of a kernel with `devices` network devices that begins at `start`, when the time of day is
    /// `wall_clock_ns` after 1970; and what its process is to inherit. The process has to be started before the first
    /// grant, which waits until the kernel has come so far that it asks for leave to go on.
    ///
    /// # Errors
    /// When the kernel of this machine gives no memory or no sockets.
    pub fn create(devices: u16, start: Instant, wall_clock_ns: u64) -> io::Result<(Self, DeputyEnds)> {
        let (socket, theirs) = UnixStream::pair()?;
        let (deck, memory) = Deck::create(devices, start.as_nanos(), wall_clock_ns - start.as_nanos())?;
        socket.set_read_timeout(Some(LOOK_INTERVAL))?;
        let (waiting, vitals, leash) = (VecDeque::new(), Vitals::default(), Arc::default());
        let this = Self { socket, deck, waiting, vitals, leash, has_begun: false };
        Ok((this, DeputyEnds { socket: theirs.into(), memory }))
    }

    /// The kernel's process has started; it is waited for until the leash is pulled.
    pub fn watch(&mut self, vitals: Vitals, leash: Arc<Leash>) {
        self.vitals = vitals;
        self.leash = leash;
    }

    /// Frames that came while the interface was down, so that the kernel did not hear them.
    pub fn unheard(&self) -> u64 {
        self.deck.unheard()
    }

    fn say(&mut self, kind: u32, until: u64) -> Result<(), MachineError> {
        let mut bytes = [0; turn::LENGTH];
        bytes[..4].copy_from_slice(&kind.to_ne_bytes());
        bytes[4..8].copy_from_slice(&u32::from(!self.waiting.is_empty()).to_ne_bytes());
        bytes[8..].copy_from_slice(&until.to_ne_bytes());
        self.socket.write_all(&bytes).map_err(|_| self.vitals.died())
    }

    fn begin_turn(
        &mut self,
        kind: u32,
        until: Instant,
        frames: &mut Vec<Passage>,
        pool: &mut Pool,
    ) -> Result<(), MachineError> {
        debug_assert!(self.waiting.is_empty(), "the grant before was reported");
        if !self.has_begun {
            self.has_begun = true;
            match self.hear()? {
                Some(Answer { kind: answer::DONE, .. }) => {}
                Some(_) => return Err(MachineError::Protocol("its deputy does not begin with a report".into())),
                None => return Err(self.vitals.died()),
            }
        }
        self.waiting.extend(frames.drain(..));
        self.deck.clear();
        self.deck.fill(&mut self.waiting, pool);
        self.say(kind, until.as_nanos())
    }

    /// Waits for the deputy's next word; none: the kernel has switched itself off.
    fn hear(&mut self) -> Result<Option<Answer>, MachineError> {
        let mut bytes = [0; answer::LENGTH];
        let mut got = 0;
        let mut silent = 0;
        while got < bytes.len() {
            match self.socket.read(&mut bytes[got..]) {
                Ok(0) => return self.vitals.ended().map(|()| None),
                Ok(more) => got += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.leash.is_pulled() {
                        return Err(MachineError::Interrupted);
                    }
                    silent = if self.vitals.has_computed() { 0 } else { silent + 1 };
                    if silent >= PATIENCE {
                        return Err(self.vitals.stalled());
                    }
                }
                Err(_) => return Err(self.vitals.died()),
            }
        }
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let kind = u32::from_ne_bytes(bytes[..4].try_into().expect("four bytes"));
        Ok(Some(Answer { kind, now: word(8), wish: word(16) }))
    }
}

impl Machine for Deputy {
    fn grant(&mut self, until: Instant, frames: &mut Vec<Passage>, pool: &mut Pool) -> Result<(), MachineError> {
        self.begin_turn(turn::RUN, until, frames, pool)
    }

    fn stops_after_sending(&self) -> bool {
        true
    }

    fn grant_alone(&mut self, until: Instant, frames: &mut Vec<Passage>, pool: &mut Pool) -> Result<(), MachineError> {
        self.begin_turn(turn::ALONE, until, frames, pool)
    }

    fn report(&mut self, sent: &mut Vec<Passage>, pool: &mut Pool) -> Result<Wish, MachineError> {
        loop {
            let Some(Answer { kind, now, wish }) = self.hear()? else {
                return Ok(Wish::Off);
            };
            match kind {
                answer::DONE => {
                    self.deck.take(sent, pool)?;
                    return Ok(if wish == NEVER { Wish::Never } else { Wish::At(Instant::from_nanos(wish.max(now))) });
                }
                answer::FULL => {
                    self.deck.take(sent, pool)?;
                    self.say(turn::GO_ON, 0)?;
                }
                answer::EMPTY => {
                    self.deck.clear();
                    self.deck.fill(&mut self.waiting, pool);
                    self.say(turn::GO_ON, 0)?;
                }
                answer::BROKEN => {
                    return Err(MachineError::Protocol(format!("its deputy does not understand {wish:#x}")));
                }
                other => return Err(MachineError::Protocol(format!("its deputy says {other}"))),
            }
        }
    }
}
