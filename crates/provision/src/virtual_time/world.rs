//! The lab in virtual time: the scheduler of its kernels and links, shared by all who let time go on.
//!
//! The session lets it go on to its next scheduled event; a node that was asked something lets it go on until it has
//! answered, which takes a few microseconds of lab time. Between two calls time stands still.

use super::end_of_time::EndOfTime;
use super::gauge::Gauge;
use super::inbox::Inbox;
use super::sampling::TcpSampling;
use super::stall::StallWatch;
use crate::progress_writer::ProgressWriter;
use crate::setup_error::SetupError;
use netloom_dataplane::{Act, EventQueue, ExecutedEvent, Meters, Sampled, ScheduledEvent, Series, Task};
use netloom_fabric::{Fabric, PipeId, PortId, SwitchState, Tap, TapId, TraceObserver};
use netloom_figures::{EngineReport, Snapshot, ThreadReport};
use netloom_guest::backend::{DeviceBackend, Doorbell, Lane, ProcessHealth, Watchdog};
use netloom_guest::schedule::{DevicePort, MachineError, Paced, Scheduler, SchedulerError, Statistics, Stop};
use netloom_link::{PipeChange, PipeCounters, SampledPackets, StationCounters};
use netloom_units::{Duration, Instant};
use std::cell::RefCell;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time;

/// A kernel of the lab.
pub(super) type Kernel = Paced<DeviceBackend>;

/// While a caller waits for an agent's answer, time goes on in steps that begin this small and double: the answer
/// mostly takes no longer, and nothing else is to happen behind the session's back.
const FIRST_STEP: Duration = Duration::from_micros(1);
const LONGEST_STEP: Duration = Duration::from_millis(10);
/// How often it is looked meanwhile whether time goes on at all, in wall time.
const LOOK_AROUND: time::Duration = time::Duration::from_millis(500);
/// Who interrupts a lab in virtual time waits for so long in wall time, at most, for its programs to end.
pub const IMPATIENCE: time::Duration = time::Duration::from_millis(700);

/// The lab in virtual time, shared by all who let time go on.
#[derive(Clone)]
pub struct VirtualTime(pub(super) Rc<RefCell<World>>);

pub(super) struct World {
    pub(super) scheduler: Scheduler<Kernel>,
    meters: Rc<RefCell<Meters>>,
    /// One per kernel.
    pub(super) inboxes: Vec<Inbox>,
    pub(super) names: Vec<String>,
    event_queue: EventQueue,
    executed: Vec<ExecutedEvent>,
    series: Series,
    sampled: Vec<Sampled>,
    /// What kernels are to sample from time zero on, by their places.
    pub(super) sampling: Vec<(usize, TcpSampling)>,
    /// How long kernels are waited for.
    watchdog: Arc<Watchdog>,
    stall: StallWatch,
    /// Why time does not go on any more.
    end: Option<EndOfTime>,
}

/// The reason why a stretch of time ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Time is where it was to go.
    Limit,
    /// Agents have something to say; their channels are readable.
    Agents,
    /// Nothing will ever happen again without a request from outside.
    Idle,
    /// It takes long; the caller may look for other events and go on.
    Pause,
}

impl VirtualTime {
    /// A lab whose kernels are about to boot, at lab time zero. `names`: of the nodes, in the order of `kernels`.
    pub(crate) fn new(
        fabric: Fabric,
        kernels: Vec<Kernel>,
        device_ports: &[DevicePort],
        names: Vec<String>,
        watchdog: Watchdog,
        progress_writer: ProgressWriter,
    ) -> io::Result<Self> {
        let inboxes = kernels.iter().map(|_| Inbox::new()).collect::<io::Result<_>>()?;
        let meters = Rc::new(RefCell::new(Meters::of(&fabric)));
        let mut scheduler = Scheduler::new(fabric, kernels, device_ports);
        scheduler.add_tap(Box::new(Gauge(Rc::clone(&meters))));
        Ok(Self(Rc::new(RefCell::new(World {
            scheduler,
            meters,
            inboxes,
            names,
            event_queue: EventQueue::default(),
            executed: Vec::new(),
            series: Series::default(),
            sampled: Vec::new(),
            sampling: Vec::new(),
            watchdog: Arc::new(watchdog),
            stall: StallWatch::new(progress_writer),
            end: None,
        }))))
    }

    /// From now on frames leave at this port as on a wire.
    pub(crate) fn send_whole(&self, port: PortId) {
        self.0.borrow_mut().scheduler.send_whole(port);
    }

    /// The doorbell that kernels ring when they have something to report, for their processes to inherit.
    pub(super) fn doorbell(&self) -> io::Result<OwnedFd> {
        let doorbell = Doorbell::new()?;
        let theirs = doorbell.try_clone()?;
        self.0.borrow_mut().scheduler.set_doorbell(doorbell);
        Ok(theirs)
    }

    /// A place for each kernel among these processors. Kernels that take turns share one: to wake a process on a processor
    /// that sleeps takes many times as long as a turn. Those that are free may be moved to another one while time goes on.
    pub(super) fn share_out(&self, processors: &[usize], is_free: &[bool]) -> Vec<usize> {
        let world = &mut *self.0.borrow_mut();
        let count = processors.len().max(1);
        let places = match world.scheduler.groups() {
            Some(groups) => spread(groups, count),
            None => (0..world.names.len()).map(|kernel| kernel % count).collect(),
        };
        world.scheduler.set_processors(&places);
        let lane_of = |place: &usize| world.scheduler.doorbell()?.lane(*place);
        let lanes: Vec<Option<Lane>> = places.iter().map(lane_of).collect();
        world.scheduler.doorbell().iter().for_each(|doorbell| doorbell.count_lanes(count));
        let all: Arc<[usize]> = processors.into();
        for ((kernel, lane), may_move) in world.scheduler.machines().zip(lanes).zip(is_free) {
            let choice = if *may_move { Arc::clone(&all) } else { Arc::default() };
            lane.into_iter().for_each(|lane| kernel.machine().set_lane(lane, Arc::clone(&choice)));
        }
        places
    }

    /// The kernel at this place has gone: nothing reaches it any more, as from the instant on that all have come to.
    pub(super) fn remove(&self, node: usize) -> Result<(), EndOfTime> {
        let world = &mut *self.0.borrow_mut();
        world.come_to_an_instant()?;
        world.scheduler.remove(node);
        Ok(())
    }

    /// Another kernel takes the place of one that has gone. Returns the processor on which that one ran, if it may be moved.
    pub(super) fn replace(&self, node: usize, kernel: Kernel) -> io::Result<Option<usize>> {
        let world = &mut *self.0.borrow_mut();
        world.come_to_an_instant().map_err(io::Error::other)?;
        let now = world.scheduler.now();
        world.inboxes[node] = Inbox::new()?;
        let mut before = world.scheduler.replace(node, kernel);
        let Some(other) = world.scheduler.machines().nth(node) else { return Ok(None) };
        other.machine().succeed(before.machine(), now);
        Ok(other.machine().processor())
    }

    /// The kernel at this place runs in a process by now.
    pub(super) fn watch(&self, node: usize, health: ProcessHealth) {
        let world = &mut *self.0.borrow_mut();
        if let Some(kernel) = world.scheduler.machines().nth(node) {
            kernel.machine().watch(health, Arc::clone(&world.watchdog));
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.0.borrow().scheduler.now()
    }

    /// Lets time go on to `limit` (none: as far as anything happens), but for no longer than `patience` of wall time.
    pub fn run(&self, limit: Option<Instant>, patience: time::Duration) -> Result<StopReason, EndOfTime> {
        self.0.borrow_mut().run(limit.unwrap_or(Instant::MAX), patience)
    }

    /// Lets time go on until the agent of `node` has said something, or for `patience` of wall time, and for as long as
    /// kernels compute.
    pub(super) fn play_until_heard(&self, node: usize, patience: time::Duration) -> Result<(), EndOfTime> {
        let begin = time::Instant::now();
        let mut step = FIRST_STEP;
        // A look around ends no step before its time: how far steps reach depends on the lab alone, in all of its parts.
        let mut until = None;
        loop {
            let world = &mut *self.0.borrow_mut();
            if !world.inboxes[node].is_empty() {
                return Ok(());
            }
            let waited = begin.elapsed();
            if waited >= LOOK_AROUND {
                world.look_for_alarms()?;
            }
            let limit = *until.get_or_insert(world.scheduler.now() + step);
            // Who computes is looked at, even if it was waited for long enough.
            match world.run(limit, LOOK_AROUND)? {
                StopReason::Limit | StopReason::Agents => (until, step) = (None, (step + step).min(LONGEST_STEP)),
                StopReason::Idle => {
                    let name = &world.names[node];
                    return Err(EndOfTime::Failed(format!(
                        "node `{name}`: its agent was asked something and does not answer"
                    )));
                }
                // A kernel that computes is waited for, however long that takes.
                StopReason::Pause if waited < patience || world.scheduler.awaited().is_some() => {}
                StopReason::Pause => return Ok(()),
            }
        }
    }

    pub(crate) fn change(&self, pipe: PipeId, change: &PipeChange) {
        self.0.borrow_mut().scheduler.change(pipe, change);
    }

    pub(crate) fn set_up(&self, pipe: PipeId, up: bool) {
        self.0.borrow_mut().scheduler.set_up(pipe, up);
    }

    pub(crate) fn unplug(&self, pipe: PipeId) {
        self.0.borrow_mut().scheduler.unplug(pipe);
    }

    pub(crate) fn set_carrier(&self, pipe: PipeId, on: bool) {
        self.0.borrow_mut().scheduler.set_carrier(pipe, on);
    }

    pub(crate) fn hold(&self, pipe: PipeId, stopped: bool) {
        self.0.borrow_mut().scheduler.hold(pipe, stopped);
    }

    pub(crate) fn add_tap(&self, tap: Box<dyn Tap>) -> TapId {
        self.0.borrow_mut().scheduler.add_tap(tap)
    }

    pub(crate) fn remove_tap(&self, id: TapId) {
        self.0.borrow_mut().scheduler.remove_tap(id);
    }

    /// From now on this trace observer takes the notes of what happens in pipes, or none any more.
    pub(crate) fn set_trace_observer(&self, trace_observer: Option<Box<dyn TraceObserver>>) {
        self.0.borrow_mut().scheduler.set_trace_observer(trace_observer);
    }

    /// Schedules events, which are executed when lab time reaches them, whichever caller advances it.
    pub(crate) fn plan(&self, scheduled_events: Vec<ScheduledEvent>) {
        let world = &mut *self.0.borrow_mut();
        world.event_queue.add(scheduled_events);
        world.execute_events();
    }

    /// The events that were executed since the last call.
    pub(crate) fn executed(&self) -> Vec<ExecutedEvent> {
        std::mem::take(&mut self.0.borrow_mut().executed)
    }

    /// The samples since the last call.
    pub(crate) fn samples(&self) -> Vec<Sampled> {
        std::mem::take(&mut self.0.borrow_mut().sampled)
    }

    /// From now on each pipe picks packets that come in at least so long after one another; or none any more.
    pub(crate) fn sample_packets(&self, step: Option<Duration>) {
        self.0.borrow_mut().scheduler.look(|fabric| fabric.sample_packets(step));
    }

    /// What has become of picked packets since the last call, as far as it happened before this instant.
    pub(crate) fn sampled_packets(&self) -> SampledPackets {
        let scheduler = &mut self.0.borrow_mut().scheduler;
        let before = scheduler.now() - Duration::from_nanos(1);
        scheduler.look(|fabric| fabric.sampled_packets(before))
    }

    pub(crate) fn switch_states(&self) -> Vec<SwitchState> {
        self.0.borrow().scheduler.switch_states().collect()
    }

    /// Returns the counters of the stations of each pipe, in order of ids and of ends.
    pub(crate) fn stations(&self) -> Vec<Vec<StationCounters>> {
        let scheduler = &mut self.0.borrow_mut().scheduler;
        scheduler.look(|fabric| fabric.on_air().map(|on_air| on_air.map_or_else(Vec::new, |(_, all)| all)).collect())
    }

    pub(crate) fn counters(&self) -> (Instant, Vec<PipeCounters>) {
        let world = self.0.borrow();
        (world.scheduler.now(), world.scheduler.counters().copied().collect())
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.0.borrow_mut().snapshot()
    }

    /// Time zero of the run is now.
    pub fn begin(&self) {
        let world = &mut *self.0.borrow_mut();
        let now = world.scheduler.now();
        world.stall.begin(now);
        world.begin_samples(now);
    }

    /// Says that lab time has stood still for long; none while it goes on.
    pub fn stall(&self) -> Option<String> {
        self.0.borrow().stall.told()
    }

    /// How often lab time went on because a program computed for long, by nodes.
    pub fn slices(&self) -> Vec<(String, u64)> {
        let world = &mut *self.0.borrow_mut();
        let slices = world.scheduler.machines().map(|kernel| kernel.machine().slices());
        world.names.iter().cloned().zip(slices).filter(|(_, slices)| *slices > 0).collect()
    }

    /// Why time does not go on any more; none while it does.
    pub fn end(&self) -> Option<EndOfTime> {
        self.0.borrow().end.clone()
    }

    /// An error that a kernel caused, or what kept it from answering if that is known.
    pub(crate) fn explain(&self, error: SetupError) -> SetupError {
        self.end().map_or(error, SetupError::Time)
    }

    /// A node has gone, so that time does not go on; `what` says how.
    pub fn fail(&self, what: String) {
        let world = &mut *self.0.borrow_mut();
        if world.end.is_none() {
            world.end_with(EndOfTime::Failed(what));
        }
    }

    /// The run ends here and now, and other parts of the lab hear of it.
    pub fn interrupt(&self) -> EndOfTime {
        self.0.borrow_mut().end_with(EndOfTime::Interrupted)
    }

    /// The run is to end: kernels that compute for longer than `span` of wall time are not waited for.
    pub fn end_within(&self, span: time::Duration) {
        self.0.borrow().watchdog.fire_after(span);
    }

    /// What the scheduler did so far.
    pub(crate) fn statistics(&self) -> Statistics {
        *self.0.borrow().scheduler.statistics()
    }
}

/// Gives all of a group the same one of `count` places, and groups that follow each other the same one, too: neighbours in a
/// lab file are mostly neighbours in the lab, which wait for each other, and every second node is mostly of one kind.
fn spread(groups: &[usize], count: usize) -> Vec<usize> {
    let mut sizes = vec![0; groups.iter().max().map_or(0, |last| last + 1)];
    groups.iter().for_each(|group| sizes[*group] += 1);
    let mut before = 0;
    let place = |size: &usize| {
        // Where the middle of the group is among all.
        let place = (2 * before + size) * count / (2 * groups.len());
        before += size;
        place
    };
    let places: Vec<usize> = sizes.iter().map(place).collect();
    groups.iter().map(|group| places[*group]).collect()
}

impl World {
    fn run(&mut self, limit: Instant, patience: time::Duration) -> Result<StopReason, EndOfTime> {
        if self.end.is_none() && self.watchdog.is_over() {
            self.end_with(EndOfTime::Interrupted);
        }
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        let pause = time::Instant::now() + patience;
        loop {
            let scheduled_event = self.event_queue.next().filter(|next| *next <= limit);
            let stop = self.scheduler.run_until_pause(scheduled_event.unwrap_or(limit), pause);
            self.look_for_progress();
            let stop = stop.map_err(|error| self.failure(error))?;
            self.execute_events();
            match stop {
                Stop::Limit | Stop::Idle if scheduled_event.is_some_and(|at| at < limit) => {}
                Stop::Limit => return Ok(StopReason::Limit),
                Stop::Idle => return Ok(StopReason::Idle),
                Stop::Pause => return Ok(StopReason::Pause),
                Stop::Agents(frames) => {
                    for frame in frames {
                        self.inboxes[frame.machine].put(frame.at, frame.packet.bytes().to_vec());
                        self.scheduler.pool().recycle(frame.packet);
                    }
                    return Ok(StopReason::Agents);
                }
            }
        }
    }

    /// Lets kernels that compute just now come to the end of their window: time goes no further than it has been let go.
    fn come_to_an_instant(&mut self) -> Result<(), EndOfTime> {
        while !self.scheduler.is_at_an_instant() {
            self.run(self.scheduler.now(), LOOK_AROUND)?;
        }
        Ok(())
    }

    /// Whether the run is to end, while programs keep an agent from answering.
    pub(super) fn look_for_alarms(&mut self) -> Result<(), EndOfTime> {
        if self.watchdog.has_fired() {
            return Err(self.end_with(EndOfTime::Interrupted));
        }
        Ok(())
    }

    /// Executes the events of the instant that is reached: nothing else has happened at it.
    fn execute_events(&mut self) {
        let now = self.scheduler.now();
        while let Some(ScheduledEvent { number, at, task }) = self.event_queue.take_due(now) {
            let mut snapshot = None;
            match task {
                Task::Acts(acts) => {
                    for (pipe, act) in acts {
                        match act {
                            Act::Change(change) => self.scheduler.change(pipe, &change),
                            Act::SetUp(up) => self.scheduler.set_up(pipe, up),
                            Act::Unplug => self.scheduler.unplug(pipe),
                            Act::SetCarrier(on) => self.scheduler.set_carrier(pipe, on),
                            Act::SetPortCarrier(port, on) => self.scheduler.set_port_carrier(port, on),
                        }
                    }
                }
                Task::Begin => {
                    self.meters.borrow_mut().reset();
                    self.scheduler.look(|fabric| fabric.begin_counting(at));
                }
                Task::Measure => snapshot = Some(self.snapshot()),
                Task::Sample(sampling) => {
                    let Self { scheduler, series, .. } = self;
                    self.sampled.push(scheduler.look(|fabric| series.take(fabric, at, sampling)));
                    let next = self.series.next(at, now, sampling);
                    self.event_queue.insert(ScheduledEvent { number, at: next, task });
                    continue;
                }
            }
            self.executed.push(ExecutedEvent { number, late: now.since(at), snapshot });
        }
    }

    fn snapshot(&mut self) -> Snapshot {
        let Self { meters, scheduler, .. } = self;
        let pipes = scheduler.look(|fabric| meters.borrow().reports(fabric));
        // Nothing waits for a processor where time waits for all that is computed.
        let thread = ThreadReport { run_queue_wait: Some(Duration::ZERO), ..ThreadReport::default() };
        let unheard = self.scheduler.unheard();
        let engine = EngineReport { threads: vec![thread], unheard, ..EngineReport::default() };
        let routers = self.scheduler.router_counters().copied().collect();
        let switches = self.scheduler.switch_states().collect();
        Snapshot { at: self.scheduler.now(), pipes, routers, switches, engine }
    }

    /// Tells when lab time has stood still for long.
    fn look_for_progress(&mut self) {
        let (now, awaited) = (self.scheduler.now(), self.scheduler.awaited());
        let Some(machine) = awaited else { return self.stall.clear() };
        if self.stall.is_due(now, time::Instant::now()) {
            let what = self.scheduler.machines().nth(machine).map(|kernel| kernel.machine().what_computes());
            self.stall.report(&self.names[machine], what.unwrap_or_default());
        }
    }

    pub(super) fn failure(&mut self, failed: SchedulerError) -> EndOfTime {
        let end = match failed.error {
            MachineError::Interrupted => EndOfTime::Interrupted,
            MachineError::Elsewhere(what) => EndOfTime::Failed(what),
            error => EndOfTime::Failed(format!("node `{}`: {error}", self.names[failed.machine])),
        };
        self.end_with(end)
    }

    /// Time does not go on any more, as other parts of the lab hear.
    fn end_with(&mut self, end: EndOfTime) -> EndOfTime {
        self.scheduler.fail(&end.to_string());
        self.end.insert(end).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{VirtualTime, spread};
    use crate::progress_writer::ProgressWriter;
    use netloom_fabric::Fabric;
    use netloom_guest::backend::{BackendEnds, DeviceBackend, ProcessHealth, Watchdog};
    use netloom_guest::schedule::Paced;
    use netloom_units::{Instant, Seed};
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    /// What ends the wait for the agent of a kernel that never reports, when it was waited for long enough.
    fn end_of_wait(prepare: impl FnOnce(BackendEnds, UnixStream) -> Option<BackendEnds> + Send + 'static) -> String {
        let (send, receive) = channel();
        std::thread::spawn(move || {
            let (backend, ends) = DeviceBackend::create(1, Instant::ZERO, 0).unwrap();
            let (alarm, alarming) = UnixStream::pair().unwrap();
            let (told, _listener) = UnixStream::pair().unwrap();
            let time = VirtualTime::new(
                Fabric::new(Seed::new(1), &[]),
                vec![Paced::new(backend, Default::default())],
                &[],
                vec!["a".into()],
                Watchdog::new(vec![alarm.into()]),
                ProgressWriter::new(told).unwrap(),
            );
            let time = time.unwrap();
            let _doorbell = time.doorbell().unwrap();
            time.watch(0, ProcessHealth::default());
            let alarming_too = alarming.try_clone().unwrap();
            let _ends = prepare(ends, alarming_too);
            let error = time.play_until_heard(0, Duration::ZERO).unwrap_err();
            send.send(error.to_string()).unwrap();
        });
        receive.recv_timeout(Duration::from_secs(100)).expect("an end")
    }

    #[test]
    fn an_agent_is_waited_for_until_its_kernel_goes_or_the_run_is_to_end() {
        let gone = end_of_wait(|ends, _| {
            drop(ends);
            None
        });
        assert!(gone.contains("node `a`"), "{gone}");
        let interrupted = end_of_wait(|ends, mut alarming| {
            alarming.write_all(b"stop").unwrap();
            Some(ends)
        });
        assert_eq!(interrupted, "interrupted while kernels computed");
    }

    #[test]
    fn groups_stay_together_and_share_the_processors() {
        assert_eq!(spread(&[0, 1, 2, 3], 2), [0, 0, 1, 1]);
        assert_eq!(spread(&[0, 1, 2], 4), [0, 2, 3]);
        assert_eq!(spread(&[0, 1, 1, 1, 2, 0], 2), [0, 1, 1, 1, 1, 0]);
        assert_eq!(spread(&[0, 0, 0], 4), [2, 2, 2]);
        assert_eq!(spread(&[], 2), [0; 0]);
    }
}
