//! The handle by which the rest of Netloom starts, changes, asks and stops the engine.

use crate::clock::Clock;
use crate::doorbell::Doorbell;
use crate::driver::Driver;
use crate::edge::Edge;
use crate::event_queue::{EventQueue, ExecutedEvent, IfLate, ScheduledEvent};
use crate::mailbox::{Command, ExecutionLog, Mailbox};
use crate::memory::Memory;
use crate::merge::{self, Awaited, Places};
use crate::ports::{self, OpenError, PortConfig, PortSet, Site};
use crate::series::{Sampled, SeriesInbox};
use crate::taps;
use crate::wait::{Precision, Sleeper, SpinLimit, Waiter};
use crate::worker::Worker;
use netloom_fabric::{Fabric, PipeId, PortId, Shard, SwitchState, Tap, TapId, TraceObserver};
use netloom_figures::Snapshot;
use netloom_link::{Firing, OnTheWire, PipeChange, PipeCounters, SampledPackets, StationCounters};
use netloom_packet::Pool;
use netloom_units::{Dilation, Duration, Instant};
use std::collections::HashMap;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Inbox, Sender as Outbox, channel};
use std::time::Duration as RealDuration;
use std::{fmt, io, thread};

/// Buffers that each thread makes before the first packet; the pool grows when more packets are on their way at once.
const SMALL_FRAMES: usize = 2_048;
const LARGE_FRAMES: usize = 128;

/// How the engine is to work.
#[derive(Debug)]
pub struct EngineConfig {
    /// How it waits.
    pub precision: Precision,
    /// The processors on which its threads stay, the first on the first; those for which there is none run wherever the
    /// kernel puts them, and a single one beside kernels where others need the processor least.
    pub processors: Vec<usize>,
    /// By how much lab time is slower than wall time.
    pub dilation: Dilation,
    /// The time that `CLOCK_MONOTONIC` shows when the lab's time is zero: the epoch of the kernels that share it. None: now.
    pub epoch: Option<RealDuration>,
    /// By how many bytes the process may grow while packets are on their way; none: without bound. What arrives beyond
    /// that is lost, and counted as such.
    pub memory: Option<u64>,
    /// Its ports.
    pub ports: Vec<PortConfig>,
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

/// A running engine. Dropping it stops it.
pub struct Engine {
    clock: Clock,
    /// One by shard.
    workers: Vec<Worker>,
    places: Places,
    taps: u64,
    executed: Inbox<(usize, ExecutedEvent)>,
    awaited: Awaited,
    series: SeriesInbox,
}

impl Engine {
    /// Opens the sockets in the current network namespace and starts a single thread.
    ///
    /// # Errors
    /// When the kernel refuses a socket, its ring, or the thread.
    pub fn start(fabric: Fabric, config: EngineConfig) -> Result<Self, EngineError> {
        Self::start_shards(vec![Shard::whole(fabric)], config)
    }

    /// Opens the sockets in the current network namespace and starts a thread for every shard. Pipes and routers are
    /// numbered, from now on, as in the whole that the shards are parts of.
    ///
    /// # Errors
    /// When the kernel refuses a socket, its ring, or a thread.
    pub fn start_shards(shards: Vec<Shard>, config: EngineConfig) -> Result<Self, EngineError> {
        let failed = |attempted| move |error| EngineError::System { attempted, error };
        let clock = Clock::start(config.epoch, config.dilation);
        let places = Places::new(&shards);
        let doorbells: io::Result<Vec<Arc<Doorbell>>> = shards.iter().map(|_| Doorbell::new().map(Arc::new)).collect();
        let doorbells = doorbells.map_err(failed("opening an event counter for the packet engine"))?;
        let is_beside_kernels = config.ports.iter().any(|port| matches!(port, PortConfig::Guest { .. }));
        let is_alone = shards.len() == 1;
        let sites = sites(clock, &shards, &doorbells, config.ports);
        let (opened, pools) = open_beside_pools(sites);
        let opened = opened.map_err(|(attempted, error)| failed(attempted)(error))?;
        let (execution_log, executed) = channel();
        let series = SeriesInbox::new(shards.len());
        let mut prepared: Vec<(Driver, Outbox<Command>)> = Vec::new();
        for (((shard, ports), doorbell), pool) in shards.into_iter().zip(opened).zip(doorbells).zip(pools) {
            let (commands, inbox) = channel();
            let mailbox = Mailbox { messages: inbox, doorbell };
            let driver = Driver {
                clock,
                waiter: Waiter::new(config.precision),
                spin_limit: SpinLimit::default(),
                is_beside_kernels,
                sleeper: Sleeper::new(ports.descriptors().chain([mailbox.doorbell.event().as_raw_fd()])),
                processor: config.processors.get(prepared.len()).copied(),
                is_placed: is_beside_kernels && is_alone && config.processors.is_empty(),
                edge: Edge::new(shard.fabric, &shard.borders, pool),
                ports,
                memory: Memory::new(config.memory),
                mailbox,
                thread_priority: None,
                last_arrival: RealDuration::ZERO,
                behind: None,
                event_queue: EventQueue::default(),
                execution_log: ExecutionLog { shard: prepared.len(), executed: execution_log.clone() },
                series: series.log_of(prepared.len()),
                has_unread: false,
                has_waited: false,
                counted: Instant::ZERO,
                reached: Instant::ZERO,
            };
            prepared.push((driver, commands));
        }
        // From here on, whatever fails stops the threads that were started.
        let mut engine =
            Self { clock, workers: Vec::new(), places, taps: 0, executed, awaited: Awaited::default(), series };
        for (number, (driver, commands)) in prepared.into_iter().enumerate() {
            let name = if is_alone { "netloom-engine".into() } else { format!("netloom-engine-{number}") };
            let worker = Worker::start(name, driver, commands);
            engine.workers.push(worker.map_err(failed("starting the packet engine's thread"))?);
        }
        Ok(engine)
    }

    /// The engine's time: nanoseconds of lab time since the epoch.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Changes a pipe with packets inside.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn change(&mut self, pipe: PipeId, change: PipeChange) -> Result<(), EngineError> {
        let (shard, pipe) = self.places.find(pipe);
        self.workers[shard].send(Command::Change(pipe, Box::new(change)));
        self.alive()
    }

    /// Cuts a pipe or restores it.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn set_up(&mut self, pipe: PipeId, up: bool) -> Result<(), EngineError> {
        let noticed = self.places.inlet(pipe);
        for (shard, own) in noticed.into_iter().chain([self.places.find(pipe)]) {
            self.workers[shard].send(Command::SetUp(own, up));
        }
        self.alive()
    }

    /// Cuts a pipe, and what is on the wire is lost, too.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn unplug(&mut self, pipe: PipeId) -> Result<(), EngineError> {
        if let Some((shard, inlet)) = self.places.inlet(pipe) {
            self.workers[shard].send(Command::SetUp(inlet, false));
        }
        let (shard, own) = self.places.find(pipe);
        self.workers[shard].send(Command::Unplug(own));
        self.alive()
    }

    /// The guests at the entrances of a pipe hear that their link has a carrier from now on, or none.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn set_carrier(&mut self, pipe: PipeId, on: bool) -> Result<(), EngineError> {
        let (shard, own) = self.places.find(pipe);
        self.workers[shard].send(Command::SetCarrier(own, on));
        self.alive()
    }

    /// A node at a pipe's link stops, or runs again: while any has stopped, the pipe is cut, whatever else restores it.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn hold(&mut self, pipe: PipeId, stopped: bool) -> Result<(), EngineError> {
        if let Some((shard, inlet)) = self.places.inlet(pipe) {
            self.workers[shard].send(Command::Hold(inlet, stopped, OnTheWire::Delivered));
        }
        let (shard, own) = self.places.find(pipe);
        self.workers[shard].send(Command::Hold(own, stopped, OnTheWire::Lost));
        self.alive()
    }

    /// Schedules events, which the engine's threads execute by themselves: each thread those that concern its pipes. Returns whether they
    /// are scheduled, which they always are unless those that come late are to be forgotten.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn plan(&mut self, scheduled_events: Vec<ScheduledEvent>, if_late: IfLate) -> Result<bool, EngineError> {
        let parts = self.awaited.divide(scheduled_events, &self.places, self.workers.len());
        if if_late == IfLate::Execute {
            for (worker, part) in self.workers.iter().zip(parts).filter(|(_, part)| !part.is_empty()) {
                worker.send(Command::Plan(part));
            }
            return self.alive().map(|()| true);
        }
        let mut rest = parts.into_iter();
        let answers = self.ask(|reply| Command::PlanAhead(rest.next().unwrap_or_default(), reply))?;
        if answers.into_iter().all(|is_ahead| is_ahead) {
            return Ok(true);
        }
        self.ask(Command::Forget)?;
        self.awaited.clear();
        self.executed.try_iter().for_each(drop);
        self.series.clear();
        Ok(false)
    }

    /// The events that were executed since the last call.
    pub fn executed(&mut self) -> Vec<ExecutedEvent> {
        let Self { executed, awaited, places, .. } = self;
        executed.try_iter().filter_map(|(shard, part)| awaited.put(shard, part, places)).collect()
    }

    /// The samples that [`Task::Sample`](crate::Task::Sample) asks for, since the last call.
    pub fn samples(&mut self) -> Vec<Sampled> {
        let Self { series, places, .. } = self;
        series.take(|shard, pipe| places.whole(shard, pipe))
    }

    /// Shows `tap` every packet from now on. Without taps, packets do not even pay for the question. Several threads take
    /// turns with it.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn add_tap(&mut self, tap: Box<dyn Tap + Send>) -> Result<TapId, EngineError> {
        let id = TapId(self.taps);
        self.taps += 1;
        for (worker, own) in self.workers.iter().zip(taps::for_each(tap, self.workers.len())) {
            worker.send(Command::AddTap(id, own));
        }
        self.alive().map(|()| id)
    }

    /// Drops a tap.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn remove_tap(&mut self, id: TapId) -> Result<(), EngineError> {
        self.workers.iter().for_each(|worker| worker.send(Command::RemoveTap(id)));
        self.alive()
    }

    /// Returns, for each shard, which pipes of the whole are its own, by id.
    pub fn own_pipes(&self) -> Vec<Vec<bool>> {
        self.places.own_pipes(self.workers.len())
    }

    /// From now on these trace observers, one for each shard, take the notes of what happens in pipes. Without trace observers, nothing is noted.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn set_trace_observers(
        &mut self,
        trace_observers: Vec<Box<dyn TraceObserver + Send>>,
    ) -> Result<(), EngineError> {
        for (worker, trace_observer) in self.workers.iter().zip(trace_observers) {
            worker.send(Command::SetTraceObserver(Some(trace_observer)));
        }
        self.alive()
    }

    /// The trace observers take what there is, and go.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn remove_trace_observers(&mut self) -> Result<(), EngineError> {
        self.workers.iter().for_each(|worker| worker.send(Command::SetTraceObserver(None)));
        self.alive()
    }

    /// Returns the counters of each pipe, in order of ids; cheap enough to be asked many times a second.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn counters(&mut self) -> Result<(Instant, Vec<PipeCounters>), EngineError> {
        self.ask(Command::Counters).map(|answers| self.places.merge_counters(&answers))
    }

    /// Returns the counters of each switch, and the multicast groups that it knows, in the order of devices; as cheap as [`Engine::counters`].
    ///
    /// # Errors
    /// When the engine has died.
    pub fn switch_states(&mut self) -> Result<Vec<SwitchState>, EngineError> {
        self.ask(Command::Switches).map(|answers| self.places.merge_switches(&answers))
    }

    /// Returns the counters of the stations of each pipe that is a radio medium, in order of ids and of ends; empty for the others. As cheap as [`Engine::counters`].
    ///
    /// # Errors
    /// When the engine has died.
    pub fn stations(&mut self) -> Result<Vec<Vec<StationCounters>>, EngineError> {
        self.ask(Command::Stations).map(|answers| self.places.merge_stations(&answers))
    }

    /// From now on each pipe picks packets that come in at least so long after one another, in lab time; or none any more. It has no
    /// effect on packets.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn sample_packets(&mut self, step: Option<Duration>) -> Result<(), EngineError> {
        self.workers.iter().for_each(|worker| worker.send(Command::SamplePackets(step)));
        self.alive()
    }

    /// Returns what has become of picked packets since the last call; of the last millisecond, something may be missing.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn sampled_packets(&mut self) -> Result<SampledPackets, EngineError> {
        self.ask(Command::SampledPackets).map(merge::merge_packets)
    }

    /// Returns what faults of the timeline have done to packets since the last call, in order.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn firings(&mut self) -> Result<Vec<Firing>, EngineError> {
        let mut all = self.ask(Command::Firings)?.concat();
        all.sort_by_key(|firing| (firing.at, firing.pipe));
        Ok(all)
    }

    /// Returns everything that the engine knows.
    ///
    /// # Errors
    /// When the engine has died.
    pub fn snapshot(&mut self) -> Result<Snapshot, EngineError> {
        self.ask(Command::Snapshot).map(|answers| self.places.merge(answers))
    }

    /// Stops the engine; packets on their way are gone.
    ///
    /// # Errors
    /// When the engine had died.
    pub fn stop(mut self) -> Result<Snapshot, EngineError> {
        let last = self.ask(Command::Stop).map(|answers| self.places.merge(answers));
        self.end();
        last
    }

    /// Asks all threads at once, and waits for all answers.
    fn ask<A>(&mut self, mut question: impl FnMut(Outbox<A>) -> Command) -> Result<Vec<A>, EngineError> {
        let ask = |worker: &Worker| {
            let (reply, answer) = channel();
            worker.send(question(reply));
            answer
        };
        let asked: Vec<Inbox<A>> = self.workers.iter().map(ask).collect();
        let answers: Result<Vec<A>, _> = asked.into_iter().map(|answer| answer.recv()).collect();
        answers.map_err(|_| self.reason())
    }

    fn alive(&mut self) -> Result<(), EngineError> {
        if self.workers.iter().all(Worker::is_alive) { Ok(()) } else { Err(self.reason()) }
    }

    /// Why one of the threads has ended.
    fn reason(&mut self) -> EngineError {
        let ended = self.workers.iter_mut().filter(|worker| !worker.is_alive());
        EngineError::Died(ended.filter_map(Worker::join).next())
    }

    /// Tells the engine to end, and does not wait for it: the kernel takes its time to close sockets for packets. Nothing can be asked of it
    /// any more.
    pub fn begin_end(&mut self) {
        for worker in &mut self.workers {
            if worker.is_joinable() {
                let (reply, _) = channel();
                worker.send(Command::Stop(reply));
            }
        }
    }

    fn end(&mut self) {
        self.begin_end();
        self.workers.iter_mut().for_each(|worker| drop(worker.join()));
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.end();
    }
}

/// Opens the ports of each shard. The pools of buffers are made meanwhile, which takes as long as the kernel lets the sockets wait.
fn open_beside_pools(sites: Vec<Site<'_>>) -> (Result<Vec<PortSet>, OpenError>, Vec<Pool>) {
    let count = sites.len();
    let make = move || (0..count).map(|_| Pool::new(SMALL_FRAMES, LARGE_FRAMES)).collect();
    thread::scope(|scope| {
        let pools = thread::Builder::new().name("netloom-pools".into()).spawn_scoped(scope, make);
        let opened = ports::open(sites);
        // Without a thread more, they are made here.
        (opened, pools.ok().and_then(|pools| pools.join().ok()).unwrap_or_else(make))
    })
}

/// Where the ports of each shard are opened.
fn sites<'a>(clock: Clock, shards: &'a [Shard], doorbells: &[Arc<Doorbell>], ports: Vec<PortConfig>) -> Vec<Site<'a>> {
    let site = |(shard, doorbell): (&'a Shard, &Arc<Doorbell>)| Site {
        clock,
        shard,
        doorbell: Arc::clone(doorbell),
        ports: Vec::new(),
    };
    let mut sites: Vec<Site<'_>> = shards.iter().zip(doorbells).map(site).collect();
    let owners: HashMap<PortId, usize> =
        shards.iter().enumerate().flat_map(|(shard, own)| own.ports.iter().map(move |port| (*port, shard))).collect();
    for port in ports {
        // A port that no shard has leads nowhere; any shard may read it.
        sites[owners.get(&port.port()).copied().unwrap_or(0)].ports.push(port);
    }
    sites
}
