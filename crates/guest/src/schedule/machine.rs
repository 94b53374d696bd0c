//! What the scheduler asks of a kernel. A real one is a process; tests simulate one from a script.

use netloom_fabric::ForwardingRule;
use netloom_packet::{Packet, Pool};
use netloom_units::{Duration, Instant};
use std::{fmt, time};

/// A network device of a kernel. Device 0 joins the node's agent to the lab process; device i + 1 is interface i.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device(pub u16);

impl Device {
    /// The device of the node's agent.
    pub const AGENT: Self = Self(0);
}

/// A frame that enters or leaves a kernel at an instant of virtual time.
#[derive(Debug)]
pub struct TimedFrame {
    /// The instant at which it enters or leaves.
    pub at: Instant,
    /// The device by which it enters or leaves.
    pub device: Device,
    /// The frame.
    pub packet: Packet,
}

/// When a kernel that has stopped wants to run next, if no frame comes before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextWake {
    /// At this instant: it has a timer.
    At(Instant),
    /// It only waits for frames.
    Never,
    /// It has powered itself off.
    Off,
}

/// A kernel cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineError {
    /// Its process ended. With the last lines of its console.
    Died(String),
    /// It neither computes nor answers. With the last lines of its console.
    Stalled(String),
    /// It broke the protocol between kernel and scheduler.
    Protocol(String),
    /// The kernel runs in another part of the lab, from which nothing comes any more or something else than expected; in words.
    Elsewhere(String),
    /// It computes, and the wait for it was ended.
    Interrupted,
}

impl fmt::Display for MachineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Died(console) => write!(f, "its kernel ended unexpectedly{console}"),
            Self::Stalled(console) => write!(f, "its kernel neither computes nor answers{console}"),
            Self::Elsewhere(what) => f.write_str(what),
            Self::Interrupted => f.write_str("its kernel still computed when the run was to end"),
            Self::Protocol(what) => write!(f, "its kernel broke the protocol of virtual time: {what}"),
        }
    }
}

impl std::error::Error for MachineError {}

/// A kernel under the scheduler. It runs from grant to report, at most up to the granted instant.
pub trait Machine {
    /// Lets it run: it takes in `frames` at their instants, in order, and does whatever its own timers call for, at all
    /// instants *before* `until`. It does not wait for the kernel; [`Machine::report`] does. Empties `frames`.
    ///
    /// No frame is at or after this `until`, and none is earlier than the last instant of the grant before, one nanosecond
    /// before its `until`: an instant at which links without delay leave no lookahead is granted again and again, until
    /// nothing more happens at it. `until` never goes back.
    ///
    /// Frames of one instant come before the kernel's own timers of that instant.
    ///
    /// # Errors
    /// When the kernel's process has gone.
    fn grant(&mut self, until: Instant, frames: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<(), MachineError>;

    /// Whether [`Machine::grant_alone`] stops it where it says; the scheduler does not call that otherwise.
    fn stops_after_sending(&self) -> bool {
        false
    }

    /// As [`Machine::grant`], but once it has sent a frame through an interface or its agent, it only ends that instant and
    /// does nothing at later ones: as if `until` had been one nanosecond after that instant, and its next wake counts
    /// from there. All frames that it is given are of one instant, the first at which it runs.
    ///
    /// A machine that alone has something to do runs on like this where links leave no lookahead.
    ///
    /// # Errors
    /// As [`Machine::grant`].
    fn grant_alone(
        &mut self,
        until: Instant,
        frames: &mut Vec<TimedFrame>,
        pool: &mut Pool,
    ) -> Result<(), MachineError> {
        self.grant(until, frames, pool)
    }

    /// A frame that it sends through this device and that `rule` does not describe may be answered at once.
    /// Returns whether it can heed that: whether [`Machine::grant_heeding`] stops it there. The scheduler does not call that otherwise.
    fn heed(&mut self, _device: Device, _passage: &ForwardingRule) -> bool {
        false
    }

    /// As [`Machine::grant`], but once it has sent a frame that may be answered, it only ends that instant and does nothing at later
    /// ones. Frames that it is given for later instants do not reach it then.
    ///
    /// # Errors
    /// As [`Machine::grant`].
    fn grant_heeding(
        &mut self,
        until: Instant,
        frames: &mut Vec<TimedFrame>,
        pool: &mut Pool,
    ) -> Result<(), MachineError> {
        self.grant(until, frames, pool)
    }

    /// Returns before which instant it has done everything, if it was stopped by what it sent; asked when it has reported.
    fn stopped(&self) -> Option<Instant> {
        None
    }

    /// The link of this device has a carrier from the instant `at` on, or none: the kernel hears of it then, before the frames of that
    /// instant. Everything before `at` has happened, and the next grant begins there.
    fn set_carrier(&mut self, _at: Instant, _device: Device, _on: bool) {}

    /// Lets it stand still for this span from `now` on, which it does not notice: its own time falls behind by as much. Called between a
    /// report and the next grant. No grant and no frame is of an instant before the span is over.
    fn stand_still(&mut self, now: Instant, span: Duration);

    /// Once it has done all that, adds the frames that it sent, in order, each at its own instant. None: it has not, and is
    /// asked again later, with the same `sent`.
    ///
    /// # Errors
    /// When the kernel died or broke the protocol.
    fn report(&mut self, sent: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<Option<NextWake>, MachineError>;

    /// Returns how long it and its programs have had a processor since they started, in wall time; none if it stays on its processor.
    /// Programs that have ended may be missing.
    fn processor_time(&self) -> Option<time::Duration> {
        None
    }

    /// Lets it run on the processor of this lane from now on. Called between a report and the next grant.
    fn move_to(&mut self, _lane: usize) {}

    /// Returns how many frames its interfaces had to leave out so far, since they were down.
    fn unheard(&self) -> u64 {
        0
    }

    /// Looks whether it will report at all; called now and then while it does not.
    ///
    /// # Errors
    /// When the kernel died or stalled, or the wait for it was ended.
    fn look(&mut self) -> Result<(), MachineError> {
        Ok(())
    }
}
