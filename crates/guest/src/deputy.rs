//! A kernel in virtual time, as the scheduler sees it: the other side of the deputy in the kernel's process.
//!
//! Both share a deck of frames in memory and take turns over a socket; the layout is that of `shim/deputy.h`, where the
//! protocol is described. The deputy's side is trusted no further than its numbers can be checked: it runs in a process
//! that also runs the user's programs.

mod deck;
mod leash;
mod spin;
mod vitals;

pub use leash::Leash;
pub use vitals::Vitals;

use crate::schedule::{Machine, MachineError, Passage, Wish};
use deck::Deck;
use netloom_packet::Pool;
use netloom_units::Instant;
use spin::Spin;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{self, Duration};

/// What the kernel says when it waits for frames only.
const NEVER: u64 = u64::MAX;
/// How often a kernel that has not answered is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// The same, when lab time is to go on while a program computes.
const SPIN_INTERVAL: Duration = Duration::from_millis(10);
/// By how much it goes on when a program has computed for [`SPIN_INTERVAL`] without a system call. As many looks pass
/// between two slices, so that a second of computing is about a second of lab time.
pub const SLICE: netloom_units::Duration = netloom_units::Duration::from_millis(20);
/// How long a program may compute before it gets its first slice.
const SPIN_PATIENCE: Duration = Duration::from_secs(1);
/// A kernel that has used no processor time for so long will not answer any more.
const PATIENCE: Duration = Duration::from_secs(10);

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
    /// Of an answer, what has been read so far.
    heard: Vec<u8>,
    /// Since when the kernel has used no processor time, and when it was last looked whether it has.
    silent: Option<(time::Instant, time::Instant)>,
    /// If lab time is to go on while a program computes.
    spin: Option<Spin>,
    /// Whether the kernel has waited for the first time. Until then it runs without leave.
    has_begun: bool,
}

struct Answer {
    kind: u32,
    now: u64,
    wish: u64,
}

/// What came of waiting for an answer.
enum Heard {
    Answer(Answer),
    /// The kernel has switched itself off.
    Off,
    /// It still computes.
    Nothing,
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
        let this = Self {
            socket,
            deck,
            waiting: VecDeque::new(),
            vitals: Vitals::default(),
            leash: Arc::default(),
            heard: Vec::new(),
            silent: None,
            spin: None,
            has_begun: false,
        };
        Ok((this, DeputyEnds { socket: theirs.into(), memory }))
    }

    /// The kernel's process has started; it is waited for until the leash is pulled.
    pub fn watch(&mut self, vitals: Vitals, leash: Arc<Leash>) {
        self.vitals = vitals;
        self.leash = leash;
    }

    /// From now on lab time goes on while a program computes for long; the kernel has to be told [`SLICE`], too.
    ///
    /// # Errors
    /// When the kernel of this machine sets no limit for reading.
    pub fn advance_on_spin(&mut self) -> io::Result<()> {
        self.spin = Some(Spin::new(SPIN_PATIENCE));
        self.socket.set_read_timeout(Some(SPIN_INTERVAL))
    }

    /// How often lab time went on because a program computed.
    pub fn slices(&self) -> u64 {
        self.spin.as_ref().map_or(0, Spin::given)
    }

    /// What computes, in words: a program of the node, as far as its kernel says which, or the kernel itself.
    pub fn what_computes(&self) -> String {
        self.vitals.what_computes()
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
            match self.hear(None)? {
                Heard::Answer(Answer { kind: answer::DONE, .. }) => {}
                Heard::Off => return Err(self.vitals.died()),
                _ => return Err(MachineError::Protocol("its deputy does not begin with a report".into())),
            }
        }
        self.waiting.extend(frames.drain(..));
        self.deck.clear();
        self.deck.fill(&mut self.waiting, pool);
        self.say(kind, until.as_nanos())
    }

    /// Waits for the deputy's next word; when our time has come to `end`, it waits no more than one look.
    fn hear(&mut self, end: Option<time::Instant>) -> Result<Heard, MachineError> {
        loop {
            let mut bytes = [0; answer::LENGTH];
            let room = answer::LENGTH - self.heard.len();
            match self.socket.read(&mut bytes[..room]) {
                Ok(0) => return self.vitals.ended().map(|()| Heard::Off),
                Ok(more) => self.heard.extend(&bytes[..more]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let now = time::Instant::now();
                    self.look(now)?;
                    if end.is_some_and(|end| end <= now) {
                        return Ok(Heard::Nothing);
                    }
                }
                Err(_) => return Err(self.vitals.died()),
            }
            if let Ok(all) = <[u8; answer::LENGTH]>::try_from(self.heard.as_slice()) {
                self.heard.clear();
                self.silent = None;
                return Ok(Heard::Answer(Answer::read(&all)));
            }
        }
    }

    /// Looks at a kernel that does not answer.
    fn look(&mut self, now: time::Instant) -> Result<(), MachineError> {
        if self.leash.is_pulled() {
            return Err(MachineError::Interrupted);
        }
        if let Some(program) = self.spin.as_mut().and_then(|spin| spin.look(now, self.vitals.glance())) {
            self.vitals.interrupt(program);
        }
        match self.silent {
            Some((_, last)) if now - last < LOOK_INTERVAL => {}
            Some((since, _)) if !self.vitals.has_computed() => {
                if now - since >= PATIENCE {
                    return Err(self.vitals.stalled());
                }
                self.silent = Some((since, now));
            }
            _ => self.silent = Some((now, now)),
        }
        Ok(())
    }
}

impl Answer {
    fn read(bytes: &[u8; answer::LENGTH]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let kind = u32::from_ne_bytes(bytes[..4].try_into().expect("four bytes"));
        Self { kind, now: word(8), wish: word(16) }
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

    fn report(
        &mut self,
        end: Option<time::Instant>,
        sent: &mut Vec<Passage>,
        pool: &mut Pool,
    ) -> Result<Option<Wish>, MachineError> {
        loop {
            let Answer { kind, now, wish } = match self.hear(end)? {
                Heard::Answer(answer) => answer,
                Heard::Off => return Ok(Some(Wish::Off)),
                Heard::Nothing => return Ok(None),
            };
            match kind {
                answer::DONE => {
                    self.deck.take(sent, pool)?;
                    let wish = if wish == NEVER { Wish::Never } else { Wish::At(Instant::from_nanos(wish.max(now))) };
                    return Ok(Some(wish));
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
