//! The handle by which the rest of Netloom starts, changes, asks and stops the engine.

use crate::clock::Clock;
use crate::driver::{Driver, Interfaces};
use crate::guests::Guests;
use crate::memory::Memory;
use crate::meter::Meters;
use crate::report::Snapshot;
use crate::sys::{clear_event, event_fd, signal_event};
use crate::wait::{Precision, Waiter};
use netloom_fabric::{Fabric, PipeId, PortId, Tap, TapId};
use netloom_link::{PipeChange, PipeCounters};
use netloom_packet::Pool;
use netloom_units::{Dilation, Instant};
use netloom_vhost::Listener;
use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver as Inbox, Sender as Outbox, channel};
use std::thread::JoinHandle;
use std::time::Duration as RealDuration;
use std::{fmt, io};

/// Buffers made before the first packet; the pool grows when more packets are on their way at once.
const SMALL_FRAMES: usize = 2_048;
const LARGE_FRAMES: usize = 128;

/// How the engine is to work.
#[derive(Debug)]
pub struct EngineConfig {
    /// How it waits.
    pub precision: Precision,
    /// The processor on which it stays; none: wherever the kernel puts it.
    pub processor: Option<usize>,
    /// By how much lab time is slower than ours.
    pub dilation: Dilation,
    /// What `CLOCK_MONOTONIC` shows when the lab's time is zero: the epoch of the kernels that share it. None: now.
    pub epoch: Option<RealDuration>,
    /// By how many bytes the process may grow while packets are on their way; none: without bound. What comes in beyond
    /// that is lost, and counted as such.
    pub memory: Option<u64>,
    /// Its ports.
    pub ports: Vec<PortConfig>,
}

/// What a port of the fabric leads to.
#[derive(Debug)]
pub enum PortConfig {
    /// An interface of the current network namespace.
    Interface {
        /// The fabric's port.
        port: PortId,
        /// The kernel's index of the interface.
        ifindex: u32,
    },
    /// A network device of a kernel that runs as a process, and that connects to this socket when it boots.
    Guest {
        /// The fabric's port.
        port: PortId,
        /// Where the kernel connects.
        listener: Listener,
    },
}

/// The engine cannot be started, or has died.
#[derive(Debug)]
pub enum EngineError {
    /// A system call failed.
    System {
        /// What was attempted.
        attempted: &'static str,
        /// What the kernel said.
        error: io::Error,
    },
    /// The engine's thread ended; the reason, if it left one.
    Died(Option<String>),
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { attempted, error } => write!(f, "{attempted}: {error}"),
            Self::Died(Some(reason)) => write!(f, "the packet engine stopped: {reason}"),
            Self::Died(None) => f.write_str("the packet engine stopped"),
        }
    }
}

impl std::error::Error for EngineError {}

pub(crate) enum Command {
    Change(PipeId, Box<PipeChange>),
    SetUp(PipeId, bool),
    ResetMeters,
    AddTap(TapId, Box<dyn Tap + Send>),
    RemoveTap(TapId),
    Counters(Outbox<(Instant, Vec<PipeCounters>)>),
    Snapshot(Outbox<Snapshot>),
    Stop(Outbox<Snapshot>),
}

/// Where the engine's thread finds its commands.
pub(crate) struct Mailbox {
    commands: Inbox<Command>,
    bell: Arc<Bell>,
}

/// Wakes the engine, at the price of one memory read per round while nobody rings.
struct Bell {
    rung: AtomicBool,
    event: OwnedFd,
}

impl Mailbox {
    pub(crate) fn next(&mut self) -> Option<Command> {
        if !self.bell.rung.load(Ordering::Acquire) {
            return None;
        }
        if let Ok(command) = self.commands.try_recv() {
            return Some(command);
        }
        self.bell.rung.store(false, Ordering::Release);
        clear_event(&self.bell.event);
        // A command may have come between the look and the reset, and another behind it: then look again next time.
        let late = self.commands.try_recv().ok();
        if late.is_some() {
            self.bell.rung.store(true, Ordering::Release);
        }
        late
    }

    pub(crate) fn as_raw_fd(&self) -> RawFd {
        self.bell.event.as_raw_fd()
    }
}

/// A running engine. Dropping it stops it.
pub struct Engine {
    clock: Clock,
    commands: Outbox<Command>,
    bell: Arc<Bell>,
    thread: Option<JoinHandle<io::Result<()>>>,
    taps: u64,
}

impl Engine {
    /// Opens the sockets in the current network namespace and starts the thread.
    ///
    /// # Errors
    /// When the kernel refuses a socket, its ring, or the thread.
    pub fn start(fabric: Fabric, config: EngineConfig) -> Result<Self, EngineError> {
        let failed = |attempted| move |error| EngineError::System { attempted, error };
        let clock = Clock::start(config.epoch, config.dilation);
        let (interfaces, guests) = sorted(config.ports);
        let interfaces = Interfaces::open(clock, &interfaces, fabric.ethernet().clone())
            .map_err(failed("opening the packet sockets"))?;
        let guests =
            Guests::open(clock, guests, fabric.ethernet().clone()).map_err(failed("preparing the ports of kernels"))?;
        let bell = event_fd().map_err(failed("opening an event counter for the packet engine"))?;
        let bell = Arc::new(Bell { rung: AtomicBool::new(false), event: bell });
        let (commands, inbox) = channel();
        let driver = Driver {
            clock,
            waiter: Waiter::new(config.precision),
            processor: config.processor,
            meters: Meters::new(fabric.counters().count()),
            fabric,
            interfaces,
            guests,
            taps: Vec::new(),
            pool: Pool::new(SMALL_FRAMES, LARGE_FRAMES),
            memory: Memory::new(config.memory),
            mailbox: Mailbox { commands: inbox, bell: Arc::clone(&bell) },
            priority: false,
            last_arrival: RealDuration::ZERO,
            behind: None,
        };
        let builder = std::thread::Builder::new().name("netloom-engine".into());
        let thread = builder.spawn(move || driver.run()).map_err(failed("starting the packet engine's thread"))?;
        Ok(Self { clock, commands, bell, thread: Some(thread), taps: 0 })
    }

    /// The engine's time: nanoseconds of lab time since the epoch.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    fn send(&self, command: Command) {
        // A dead engine takes no commands; whoever waits for its answer learns that.
        let _ = self.commands.send(command);
        self.bell.rung.store(true, Ordering::Release);
        signal_event(&self.bell.event);
    }

    /// Changes a pipe with packets inside.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn change(&mut self, pipe: PipeId, change: PipeChange) -> Result<(), EngineError> {
        self.send(Command::Change(pipe, Box::new(change)));
        self.alive()
    }

    /// Cuts a pipe or joins it again.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn set_up(&mut self, pipe: PipeId, up: bool) -> Result<(), EngineError> {
        self.send(Command::SetUp(pipe, up));
        self.alive()
    }

    /// Forgets lateness, delay and rate measured so far: the run begins.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn reset_meters(&mut self) -> Result<(), EngineError> {
        self.send(Command::ResetMeters);
        self.alive()
    }

    /// Shows `tap` every packet from now on. Without taps, packets do not even pay for the question.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn add_tap(&mut self, tap: Box<dyn Tap + Send>) -> Result<TapId, EngineError> {
        let id = TapId(self.taps);
        self.taps += 1;
        self.send(Command::AddTap(id, tap));
        self.alive().map(|()| id)
    }

    /// Drops a tap.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn remove_tap(&mut self, id: TapId) -> Result<(), EngineError> {
        self.send(Command::RemoveTap(id));
        self.alive()
    }

    /// What each pipe has counted, in order of ids; cheap enough to be asked many times a second.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn counters(&mut self) -> Result<(Instant, Vec<PipeCounters>), EngineError> {
        let (reply, answer) = channel();
        self.send(Command::Counters(reply));
        answer.recv().map_err(|_| self.reason())
    }

    /// Everything that the engine knows.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn snapshot(&mut self) -> Result<Snapshot, EngineError> {
        let (reply, answer) = channel();
        self.send(Command::Snapshot(reply));
        answer.recv().map_err(|_| self.reason())
    }

    /// Stops the engine; packets on their way are gone.
    ///
    /// # Errors
    /// When the engine had died.
    pub fn stop(mut self) -> Result<Snapshot, EngineError> {
        let (reply, answer) = channel();
        self.send(Command::Stop(reply));
        let last = answer.recv().map_err(|_| self.reason());
        self.join();
        last
    }

    fn alive(&mut self) -> Result<(), EngineError> {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) { Ok(()) } else { Err(self.reason()) }
    }

    fn join(&mut self) -> Option<String> {
        match self.thread.take()?.join() {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(panic) => Some(match panic.downcast_ref::<String>() {
                Some(text) => text.clone(),
                None => {
                    panic.downcast_ref::<&str>().map_or_else(|| "it panicked".to_owned(), |text| (*text).to_owned())
                }
            }),
        }
    }

    fn reason(&mut self) -> EngineError {
        EngineError::Died(self.join())
    }
}

/// Ports by their kinds: interfaces by their index, and guests.
fn sorted(ports: Vec<PortConfig>) -> (HashMap<u32, PortId>, Vec<(PortId, Listener)>) {
    let (mut interfaces, mut guests) = (HashMap::new(), Vec::new());
    for port in ports {
        match port {
            PortConfig::Interface { port, ifindex } => {
                interfaces.insert(ifindex, port);
            }
            PortConfig::Guest { port, listener } => guests.push((port, listener)),
        }
    }
    (interfaces, guests)
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.thread.is_some() {
            let (reply, _) = channel();
            self.send(Command::Stop(reply));
            self.join();
        }
    }
}
