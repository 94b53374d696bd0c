//! A kernel in virtual time, as the scheduler sees it: the other side of the device backend in the kernel's process.
//!
//! Both share a mailbox of frames in memory, in which they take turns, and a doorbell; the layout is that of `shim/mailbox.h`, where
//! the protocol is described. The ends of a socket pair tell each that the other is there. The device backend's side is trusted no further than its numbers can be checked: it runs in a process
//! that also runs the user's programs.

mod doorbell;
mod health;
mod mailbox;
mod memory;
mod samples;
mod spin;
mod watchdog;

pub use doorbell::{Doorbell, Lane, Ringer};
pub use health::ProcessHealth;
pub use watchdog::Watchdog;

use crate::schedule::{Device, Machine, MachineError, NextWake, TimedFrame};
use mailbox::Mailbox;
use netloom_fabric::ForwardingRule;
use netloom_host::measure::{TcpLog, TcpState};
use netloom_packet::Pool;
use netloom_units::Instant;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use samples::Samples;
use spin::Spin;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{self, Duration};

/// What the kernel says when it waits for frames only.
const NEVER: u64 = u64::MAX;
/// How often a kernel that has not answered is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// By how much it goes on when a program has computed for 10 ms without a system call. As many looks pass
/// between two slices, so that a second of computing is about a second of lab time.
pub const SLICE: netloom_units::Duration = netloom_units::Duration::from_millis(20);
/// How long a program may compute before it gets its first slice.
const SPIN_PATIENCE: Duration = Duration::from_secs(1);
/// A kernel that has used no processor time for so long will not answer any more.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the device backend says; see `shim/mailbox.h`.
mod answer {
    pub(super) const DONE: u32 = 1;
    pub(super) const FULL: u32 = 2;
    pub(super) const EMPTY: u32 = 3;
    pub(super) const BROKEN: u32 = 4;
}

/// What the scheduler says.
mod turn {
    pub(super) const RUN: u32 = 1;
    pub(super) const ALONE: u32 = 2;
    pub(super) const GO_ON: u32 = 3;
    pub(super) const HEED: u32 = 4;
}

/// The descriptors that a kernel's process inherits for its device backend.
#[derive(Debug)]
pub struct BackendEnds {
    /// The device backend's socket.
    pub socket: OwnedFd,
    /// The mailbox's memory.
    pub memory: OwnedFd,
}

/// See the module.
#[derive(Debug)]
pub struct DeviceBackend {
    socket: UnixStream,
    mailbox: Mailbox,
    /// Frames of the current grant that did not fit into the mailbox yet.
    waiting: VecDeque<TimedFrame>,
    /// What becomes of carriers at the beginning of the next grant.
    carriers: Vec<CarrierChange>,
    health: ProcessHealth,
    watchdog: Arc<Watchdog>,
    /// Since when the kernel has used no processor time, and when it was last looked whether it has.
    silent: Option<(time::Instant, time::Instant)>,
    /// If lab time is to go on while a program computes.
    spin: Option<Spin>,
    /// Whether the kernel has waited for the first time. Until then it runs without leave.
    has_begun: bool,
    /// The message for it then.
    first_turn: Option<(u32, Instant)>,
    /// Before which instant it has done everything, if it was stopped in its last turn.
    stopped: Option<Instant>,
    /// How far its own time is behind: for so long it has stood still. Only the mailbox has its own time.
    behind: netloom_units::Duration,
    /// Whether it has switched itself off.
    is_off: bool,
    /// Where samples of its TCP connections go.
    samples: Samples,
    /// Whether it is asked whose its connections are.
    owners: bool,
    /// The frames that kernels before it did not receive.
    unheard_before: u64,
    /// Where it is counted while it may run.
    lane: Option<Lane>,
    /// The processors to which it may be moved, by lane.
    processors: Arc<[usize]>,
}

/// The link of a device has a carrier from an instant on, or none.
#[derive(Clone, Copy, Debug)]
struct CarrierChange {
    at: Instant,
    device: Device,
    on: bool,
}

/// What a device backend says.
struct Answer {
    kind: u32,
    is_stopped: bool,
    now: u64,
    next_wake: u64,
}

impl DeviceBackend {
    /// The scheduler's side of a kernel with `devices` network devices that begins at `start`, when the time of day is
    /// `wall_clock_ns` after 1970; and what its process is to inherit. The process has to be started before the first
    /// grant, which waits until the kernel has come so far that it asks for leave to go on.
    ///
    /// # Errors
    /// When the kernel of this machine gives no memory or no sockets.
    pub fn create(devices: u16, start: Instant, wall_clock_ns: u64) -> io::Result<(Self, BackendEnds)> {
        let (socket, theirs) = UnixStream::pair()?;
        let (mailbox, memory) = Mailbox::create(devices, start.as_nanos(), wall_clock_ns - start.as_nanos())?;
        let this = Self {
            socket,
            mailbox,
            waiting: VecDeque::new(),
            carriers: Vec::new(),
            health: ProcessHealth::default(),
            watchdog: Arc::default(),
            silent: None,
            spin: None,
            has_begun: false,
            first_turn: None,
            stopped: None,
            behind: netloom_units::Duration::ZERO,
            is_off: false,
            samples: Samples::default(),
            owners: false,
            unheard_before: 0,
            lane: None,
            processors: Arc::default(),
        };
        Ok((this, BackendEnds { socket: theirs.into(), memory }))
    }

    /// The kernel shares a processor with those of the same lane. `processors`: that of each lane, if it may be moved.
    pub fn set_lane(&mut self, lane: Lane, processors: Arc<[usize]>) {
        self.mailbox.set_lane(lane.number());
        self.lane = Some(lane);
        self.processors = processors;
    }

    /// Returns the processor of its lane, if it may be moved.
    pub fn processor(&self) -> Option<usize> {
        self.processors.get(self.lane.as_ref()?.place()).copied()
    }

    /// The kernel's process has started; it is waited for until the watchdog fires.
    pub fn watch(&mut self, health: ProcessHealth, watchdog: Arc<Watchdog>) {
        self.health = health;
        self.watchdog = watchdog;
    }

    /// From now on lab time goes on while a program computes for long; the kernel has to get [`SLICE`], too.
    pub fn advance_on_spin(&mut self) {
        self.spin = Some(Spin::new(SPIN_PATIENCE));
    }

    /// How often lab time went on because a program computed.
    pub fn slices(&self) -> u64 {
        self.spin.as_ref().map_or(0, Spin::given)
    }

    /// Describes what computes: a program of the node, as far as its kernel says which, or the kernel itself.
    pub fn what_computes(&self) -> String {
        self.health.what_computes()
    }

    /// Takes over from the kernel of a node that has crashed, in its lane: from `now` on its connections are sampled as those of that one
    /// were.
    pub fn succeed(&mut self, before: &mut Self, now: Instant) {
        if let Some(lane) = before.lane.take() {
            self.set_lane(lane, std::mem::take(&mut before.processors));
        }
        self.unheard_before = Machine::unheard(before);
        self.samples = std::mem::take(&mut before.samples);
        self.owners = before.owners;
        if let Some(step) = self.samples.step() {
            self.mailbox.sample(now.as_nanos(), step.as_nanos(), self.owners);
        }
    }

    /// From the instant `from` on, the kernel hands over the state of its TCP connections every `step`, and, if wanted, whose they are. It costs
    /// no lab time and wakes nobody in the kernel. A kernel that cannot has no connections.
    pub fn sample_tcp(&mut self, from: Instant, step: netloom_units::Duration, owners: bool, log: TcpLog) {
        self.owners = owners;
        self.mailbox.sample((from - self.behind).as_nanos(), step.as_nanos(), owners);
        self.samples.set_log(Some((step, log)));
    }

    /// Ends that, unless it is watched.
    pub fn end_samples(&mut self, now: Instant) -> Option<TcpLog> {
        let log = self.samples.set_log(None);
        self.watch_anew(now);
        log
    }

    /// From now on the last sample is kept for those who watch, and one is taken every `step`, unless samples are taken anyway; or nobody watches
    /// any more.
    pub fn watch_tcp(&mut self, now: Instant, step: Option<netloom_units::Duration>) {
        if self.samples.set_view(step) && !self.samples.is_logged() {
            self.watch_anew(now);
        }
    }

    fn watch_anew(&mut self, now: Instant) {
        match self.samples.step() {
            Some(step) => self.mailbox.sample((now - self.behind).as_nanos(), step.as_nanos(), false),
            None => self.mailbox.sample(0, 0, false),
        }
    }

    /// The last sample while it is watched, with its instant; none before the first.
    pub fn last_tcp(&self) -> Option<(Instant, TcpState)> {
        self.samples.last()
    }

    fn say(&mut self, kind: u32, until: u64) {
        self.mailbox.say(kind, !self.waiting.is_empty(), until);
    }

    fn begin_turn(&mut self, kind: u32, until: Instant, frames: &mut Vec<TimedFrame>, pool: &mut Pool) {
        debug_assert!(self.waiting.is_empty(), "the grant before was reported");
        self.waiting.extend(frames.drain(..));
        if !self.has_begun {
            self.first_turn = Some((kind, until));
            return;
        }
        let behind = self.behind;
        self.waiting.iter_mut().for_each(|frame| frame.at = frame.at - behind);
        self.mailbox.clear();
        self.mailbox.put_carriers(&mut self.carriers);
        self.mailbox.fill(&mut self.waiting, pool);
        self.lane.iter().for_each(Lane::enter);
        self.say(kind, (until - behind).as_nanos());
    }

    /// Takes what it has sent, at instants of the lab.
    fn take(&mut self, sent: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<(), MachineError> {
        let first = sent.len();
        self.mailbox.take(sent, pool, &mut self.samples)?;
        sent[first..].iter_mut().for_each(|frame| frame.at = frame.at + self.behind);
        Ok(())
    }

    /// Whether the kernel's process has gone.
    fn has_gone(&self) -> bool {
        let mut ends = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        matches!(poll(&mut ends, PollTimeout::ZERO), Ok(ready) if ready > 0)
    }
}

impl Machine for DeviceBackend {
    fn grant(&mut self, until: Instant, frames: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<(), MachineError> {
        self.begin_turn(turn::RUN, until, frames, pool);
        Ok(())
    }

    fn stops_after_sending(&self) -> bool {
        true
    }

    fn grant_alone(
        &mut self,
        until: Instant,
        frames: &mut Vec<TimedFrame>,
        pool: &mut Pool,
    ) -> Result<(), MachineError> {
        self.begin_turn(turn::ALONE, until, frames, pool);
        Ok(())
    }

    fn heed(&mut self, device: Device, rule: &ForwardingRule) -> bool {
        self.mailbox.describe(device, rule)
    }

    fn grant_heeding(
        &mut self,
        until: Instant,
        frames: &mut Vec<TimedFrame>,
        pool: &mut Pool,
    ) -> Result<(), MachineError> {
        self.begin_turn(turn::HEED, until, frames, pool);
        Ok(())
    }

    fn stopped(&self) -> Option<Instant> {
        self.stopped
    }

    fn set_carrier(&mut self, at: Instant, device: Device, on: bool) {
        self.carriers.push(CarrierChange { at, device, on });
    }

    fn report(&mut self, sent: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<Option<NextWake>, MachineError> {
        let Some(Answer { kind, is_stopped, now, next_wake }) = self.mailbox.answer() else {
            return Ok(self.is_off.then_some(NextWake::Off));
        };
        self.silent = None;
        if !std::mem::replace(&mut self.has_begun, true) {
            if kind != answer::DONE {
                return Err(MachineError::Protocol("its device backend does not begin with a report".into()));
            }
            if let Some((turn, until)) = self.first_turn.take() {
                let mut frames = Vec::from(std::mem::take(&mut self.waiting));
                self.begin_turn(turn, until, &mut frames, pool);
                return Ok(None);
            }
        }
        match kind {
            answer::DONE => {
                self.take(sent, pool)?;
                self.stopped = is_stopped.then(|| Instant::from_nanos(now + 1) + self.behind);
                // What would have come later than the instant at which it was stopped.
                self.waiting.drain(..).for_each(|frame| pool.recycle(frame.packet));
                let next_wake = if next_wake == NEVER {
                    NextWake::Never
                } else {
                    NextWake::At(Instant::from_nanos(next_wake.max(now)) + self.behind)
                };
                return Ok(Some(next_wake));
            }
            answer::FULL => self.take(sent, pool)?,
            answer::EMPTY => {
                self.mailbox.clear();
                self.mailbox.fill(&mut self.waiting, pool);
            }
            answer::BROKEN => {
                return Err(MachineError::Protocol(format!("its device backend does not understand {next_wake:#x}")));
            }
            other => return Err(MachineError::Protocol(format!("its device backend says {other}"))),
        }
        self.say(turn::GO_ON, 0);
        Ok(None)
    }

    fn stand_still(&mut self, now: Instant, span: netloom_units::Duration) {
        self.mailbox.stand_still((now - self.behind).as_nanos(), span.as_nanos());
        self.behind = self.behind + span;
        self.samples.fall_behind(self.behind);
    }

    fn processor_time(&self) -> Option<Duration> {
        if self.processors.len() > 1 { self.health.used() } else { None }
    }

    fn move_to(&mut self, lane: usize) {
        let (Some(processor), Some(own)) = (self.processors.get(lane), &mut self.lane) else { return };
        self.health.move_to(*processor);
        own.move_to(lane);
        self.mailbox.set_lane(own.number());
    }

    fn unheard(&self) -> u64 {
        self.unheard_before + self.mailbox.unheard()
    }

    fn look(&mut self) -> Result<(), MachineError> {
        if self.has_gone() {
            self.health.ended()?;
            self.is_off = true;
            return Ok(());
        }
        if self.watchdog.has_fired() {
            return Err(MachineError::Interrupted);
        }
        let now = time::Instant::now();
        if let Some(program) = self.spin.as_mut().and_then(|spin| spin.look(now, self.health.glance())) {
            self.health.interrupt(program);
        }
        match self.silent {
            Some((_, last)) if now - last < LOOK_INTERVAL => {}
            Some((since, _)) if !self.health.has_computed() => {
                if now - since >= PATIENCE {
                    return Err(self.health.stalled());
                }
                self.silent = Some((since, now));
            }
            _ => self.silent = Some((now, now)),
        }
        Ok(())
    }
}
