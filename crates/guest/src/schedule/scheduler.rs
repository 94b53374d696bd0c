//! See the module above: what happens between synchronization rounds.

mod balance;
mod changes;
mod division;
mod exchange;
mod give;
mod group;
mod heeding;
mod lanes;
mod show;
mod sync_round;
mod window;

use super::division::Division;
use super::member::{INSTANT, Member};
use super::{Device, Machine, MachineError, MachineStatistics, NextWake, Statistics, TimedFrame};
use crate::backend::Doorbell;
use balance::Balance;
use give::{Give, Known};
use group::Group;
use heeding::Heeded;
use lanes::Lanes;
use netloom_fabric::{Delivery, Fabric, PortId, RouterCounters, SwitchState, Tap, TapId, TraceObserver};
use netloom_link::PipeCounters;
use netloom_packet::{Packet, Pool};
use netloom_units::{Duration, Instant};
use show::{Show, Shown};
use std::fmt;
use sync_round::{Deferred, SyncRound};

/// A device of a kernel that is joined to the fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DevicePort {
    /// Whose: its place among the machines.
    pub machine: usize,
    /// Which of its devices.
    pub device: Device,
    /// Where it meets the fabric.
    pub port: PortId,
}

/// A frame that the agent of a node sent.
#[derive(Debug)]
pub struct AgentFrame {
    /// The instant at which it was sent.
    pub at: Instant,
    /// The machine whose agent sent it, by its place among the machines.
    pub machine: usize,
    /// The frame.
    pub packet: Packet,
}

/// Why [`Scheduler::run_until`] returned.
#[derive(Debug)]
pub enum Stop {
    /// The limit is reached.
    Limit,
    /// Agents sent these frames, in order of instants, at one instant in order of machines. They are all of a window,
    /// which is over.
    Agents(Vec<AgentFrame>),
    /// Nothing can happen any more until something is sent to an agent: no kernel has a timer, and no packet is on its way.
    Idle,
    /// It took longer than the caller wanted to wait. Nothing is lost; the next call goes on where this one stopped, which
    /// may be inside a window: see [`Scheduler::awaited`].
    Pause,
}

/// A kernel cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchedulerError {
    /// Its place among the machines.
    pub machine: usize,
    /// The reason why it cannot go on.
    pub error: MachineError,
}

impl fmt::Display for SchedulerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel {}: {}", self.machine, self.error)
    }
}

impl std::error::Error for SchedulerError {}

/// A frame that leaves a machine.
#[derive(Debug)]
struct Sent {
    machine: usize,
    timed_frame: TimedFrame,
}

/// See the module above.
pub struct Scheduler<M> {
    fabric: Fabric,
    /// The taps, which are shown all packets.
    taps: Vec<(TapId, Box<dyn Tap>)>,
    taps_so_far: u64,
    trace_observer: Option<Box<dyn TraceObserver>>,
    pool: Pool,
    members: Vec<Member<M>>,
    /// Which device is at each port.
    places: Vec<Option<(usize, Device)>>,
    heeded: Heeded,
    /// By port: whether frames leave there as on a wire; shorter if those behind do not.
    whole: Vec<bool>,
    now: Instant,
    /// The machines that run together; none: they have to be found.
    groups: Vec<Group>,
    /// Of which group each machine is.
    group_of: Vec<usize>,
    /// Before when everything has been delivered, by pipe.
    known_of: Vec<Instant>,
    longest_window: Duration,
    lanes: Lanes,
    balance: Balance,
    /// Where machines say that they have a report.
    doorbell: Option<Doorbell>,
    /// What taps are to be shown.
    shown: Vec<Shown>,
    agents: Vec<AgentFrame>,
    /// The synchronization round that is in progress.
    open: Option<SyncRound>,
    /// What was asked for meanwhile.
    deferred: Vec<Deferred>,
    statistics: Statistics,
    /// The other parts of the lab, if it is played in several.
    division: Option<Division>,
}

impl<M: Machine> Scheduler<M> {
    /// A lab at instant zero, where every machine wants to run.
    ///
    /// # Panics
    /// If there is no such machine as a device port says, or if a device port is that of the agent's device, which has no link.
    pub fn new(mut fabric: Fabric, machines: Vec<M>, device_ports: &[DevicePort]) -> Self {
        fabric.keep_rounds_apart();
        let mut members: Vec<Member<M>> = machines.into_iter().map(Member::new).collect();
        let (mut places, mut heeded) = (Vec::new(), Heeded::default());
        for DevicePort { machine, device, port } in device_ports {
            assert!(*device != Device::AGENT, "device 0 joins the agent to the lab process");
            members[*machine].attach(*device, *port);
            let place = port.0 as usize;
            if places.len() <= place {
                places.resize(place + 1, None);
            }
            places[place] = Some((*machine, *device));
            heeded.add(&fabric, *port, |rule| members[*machine].heed(*device, rule));
        }
        let known_of = fabric.counters().map(|_| Instant::ZERO).collect();
        Self {
            fabric,
            taps: Vec::new(),
            taps_so_far: 0,
            trace_observer: None,
            pool: Pool::default(),
            members,
            places,
            heeded,
            whole: Vec::new(),
            now: Instant::ZERO,
            groups: Vec::new(),
            group_of: Vec::new(),
            known_of,
            longest_window: Duration::MAX,
            lanes: Lanes::default(),
            balance: Balance::default(),
            doorbell: None,
            shown: Vec::new(),
            agents: Vec::new(),
            open: None,
            deferred: Vec::new(),
            statistics: Statistics::default(),
            division: None,
        }
    }

    /// Waits for the first report of every machine: of kernels that come up without a grant, as far as they get in no time.
    /// Machines for which it is not called are let run first.
    ///
    /// # Errors
    /// The first machine that does not come up.
    pub fn boot(&mut self) -> Result<(), SchedulerError> {
        for (machine, member) in self.members.iter_mut().enumerate() {
            member.boot(&mut self.pool).map_err(|error| SchedulerError { machine, error })?;
        }
        Ok(())
    }

    /// The machines ring this doorbell when they have something to report.
    pub fn set_doorbell(&mut self, doorbell: Doorbell) {
        self.doorbell = Some(doorbell);
    }

    /// Returns the doorbell of the machines, if they have one.
    pub fn doorbell(&self) -> Option<&Doorbell> {
        self.doorbell.as_ref()
    }

    /// Which processor each machine runs on. Of those that share one only a few are let run at the same time, and machines that can be moved
    /// leave a processor that has more to do than others. Neither changes a result.
    pub fn set_processors(&mut self, processors: &[usize]) {
        self.lanes = Lanes::new(processors);
    }

    /// Returns the group of each machine: the machines of a group take turns, because links without lookahead join them. None where
    /// all run at once in the windows of the whole lab.
    pub fn groups(&mut self) -> Option<&[usize]> {
        self.find_groups();
        (!self.fabric.has_devices()).then_some(&self.group_of)
    }

    /// No window is longer than this, which changes no result but what is sent to agents: it enters where a window ended.
    /// At least one nanosecond, with which every instant is computed alone.
    pub fn set_longest_window(&mut self, longest: Duration) {
        self.longest_window = longest.max(INSTANT);
    }

    /// Shows all packets that enter and leave the fabric from now on, in order of instants for each port.
    pub fn add_tap(&mut self, tap: Box<dyn Tap>) -> TapId {
        let id = TapId(self.taps_so_far);
        self.taps_so_far += 1;
        self.taps.push((id, tap));
        self.watch_routers();
        id
    }

    /// Drops a tap.
    pub fn remove_tap(&mut self, id: TapId) {
        self.taps.retain(|(other, _)| *other != id);
        self.watch_routers();
    }

    /// From now on this trace observer takes the notes of the fabric, or none any more; the one before takes what there is.
    pub fn set_trace_observer(&mut self, trace_observer: Option<Box<dyn TraceObserver>>) {
        let Self { fabric, trace_observer: own, now, .. } = self;
        if let Some(before) = own {
            before.end(fabric, *now);
        }
        *own = trace_observer;
        fabric.take_notes(|pipe| own.as_ref().is_some_and(|own| own.wants(pipe)));
        fabric.record_attempts(own.as_ref().is_some_and(|own| own.wants_attempts()));
    }

    /// All has happened that is due before `now`, in all groups.
    fn write_down(&mut self) {
        if let Some(trace_observer) = &mut self.trace_observer {
            trace_observer.take(&mut self.fabric, self.now);
        }
    }

    fn watch_routers(&mut self) {
        self.fabric.watch_routers(self.taps.iter().any(|(_, tap)| tap.watches_routers()));
        self.fabric.take_fates(self.taps.iter().any(|(_, tap)| tap.wants_fates()));
        self.fabric.record_frames(self.taps.iter().any(|(_, tap)| tap.wants_frames()));
    }

    /// Returns the counters of each transit router, in their order.
    pub fn router_counters(&self) -> impl Iterator<Item = &RouterCounters> {
        self.fabric.router_counters()
    }

    /// Returns the counters of each switch, and the multicast groups that it knows, in their order.
    pub fn switch_states(&self) -> impl Iterator<Item = SwitchState> {
        self.fabric.switch_states(self.now)
    }

    /// The instant that is reached: everything before it has happened.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The machines, in order.
    pub fn machines(&mut self) -> impl Iterator<Item = &mut M> {
        self.members.iter_mut().map(|member| &mut member.machine)
    }

    /// Buffers for frames to agents.
    pub fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }

    /// The machine that is waited for, inside a window; what is asked of the lab then is done when the window is over.
    pub fn awaited(&self) -> Option<usize> {
        let windows = self.groups.iter().filter_map(|group| group.window.as_ref());
        let running = windows.filter(|window| !window.running.is_empty());
        running.min_by_key(|window| window.grant.begin)?.running.first().copied()
    }

    /// A frame enters the agent's device of a machine now. A machine that is off gets nothing; says whether it is on.
    pub fn send_agent(&mut self, machine: usize, packet: Packet) -> bool {
        let member = &mut self.members[machine];
        let is_on = member.next_wake != NextWake::Off;
        if self.open.is_some() {
            self.deferred.push(Deferred::Send(machine, packet));
        } else if is_on {
            member.take_in(0, TimedFrame { at: self.now, device: Device::AGENT, packet });
        } else {
            self.pool.recycle(packet);
        }
        is_on
    }

    /// Whether a machine has powered itself off.
    pub fn is_off(&self, machine: usize) -> bool {
        self.members[machine].next_wake == NextWake::Off
    }

    /// Plays everything that happens before `limit`, and nothing that happens at it; `now` is then `limit`. Returns
    /// earlier if agents sent something, or if nothing can happen any more; then `now` is `limit` all the same, unless that
    /// is [`Instant::MAX`].
    ///
    /// # Errors
    /// The first machine of those that could not go on. The others have run to the end of the window, and the pipes' counters
    /// are right; to go on makes no sense.
    pub fn run_until(&mut self, limit: Instant) -> Result<Stop, SchedulerError> {
        self.run(limit, None)
    }

    /// The same, but stops at the instant `pause` of wall time, be it inside a window. That changes no result.
    ///
    /// # Errors
    /// As for [`Scheduler::run_until`].
    pub fn run_until_pause(&mut self, limit: Instant, pause: std::time::Instant) -> Result<Stop, SchedulerError> {
        self.run(limit, Some(pause))
    }

    fn run(&mut self, limit: Instant, pause: Option<std::time::Instant>) -> Result<Stop, SchedulerError> {
        let is_over = || pause.is_some_and(|pause| std::time::Instant::now() >= pause);
        loop {
            if let Some(sync_round) = self.open.take()
                && (!self.run_round(sync_round, pause)? || (self.agents.is_empty() && is_over()))
            {
                return Ok(Stop::Pause);
            }
            if !self.agents.is_empty() {
                return Ok(Stop::Agents(std::mem::take(&mut self.agents)));
            }
            let Some(next) = self.next() else {
                if limit < Instant::MAX {
                    self.arrive_at(limit);
                }
                return Ok(Stop::Idle);
            };
            let begin = next.max(self.now);
            if begin >= limit {
                self.arrive_at(limit);
                return Ok(Stop::Limit);
            }
            let sync_round = self.sync_round(begin, limit);
            self.balance();
            self.open = Some(sync_round);
        }
    }

    /// When something happens next; none if nothing does.
    fn next(&self) -> Option<Instant> {
        let machines = self.members.iter().filter_map(Member::next).min();
        if machines.is_none() && !self.is_awaited() {
            return None;
        }
        [machines, self.fabric.next_wake()].into_iter().flatten().min()
    }

    /// Whether a packet is inside the fabric that a machine may receive. Cross traffic is not, and never ends.
    fn is_awaited(&self) -> bool {
        let is_somebody = self.members.iter().any(|member| member.next_wake != NextWake::Off);
        // Switches with a spanning tree say something to everybody, again and again.
        if self.fabric.has_clocks() {
            return is_somebody;
        }
        let is_loaded = |counters: &PipeCounters| counters.queued.packets + counters.travelling.packets > 0;
        is_somebody && self.fabric.counters().any(is_loaded)
    }

    /// Nothing more happens before `limit`.
    fn arrive_at(&mut self, limit: Instant) {
        if limit < self.now || limit == Instant::ZERO {
            return;
        }
        self.now = limit;
        // Pipes put off what is not visible; the counters show it now.
        self.fabric.settle(limit - INSTANT);
        self.fabric.recycle(&mut self.pool);
        self.write_down();
    }

    /// From now on frames leave at this port as on a wire: cut, and with complete checksums.
    pub fn send_whole(&mut self, port: PortId) {
        let place = port.0 as usize;
        if self.whole.len() <= place {
            self.whole.resize(place + 1, false);
        }
        self.whole[place] = true;
    }

    /// Puts what the fabric delivers into the inboxes, each frame at the instant at which it leaves, but not before `least`.
    fn receive(&mut self, advance: impl FnOnce(&mut Fabric, &mut dyn FnMut(Instant, Delivery)), least: Instant) {
        let Self { fabric, taps, pool, members, places, whole, statistics, groups, group_of, shown, division, .. } =
            self;
        let is_between = division.as_ref().map_or(&[][..], |division| &division.is_between);
        let ethernet = fabric.ethernet().clone();
        let mut show = Show { taps, shown, groups, is_between };
        let mut give = Give { ethernet: &ethernet, pool, members, whole, is_between };
        advance(fabric, &mut |leave, delivery| {
            let place = places.get(delivery.port.0 as usize).copied().flatten();
            show.leaves(place.map_or(0, |(machine, _)| group_of[machine]), leave, &delivery);
            // A train whose last segment was lost on the way leaves when that shows, which is later.
            let at = delivery.departure.due.max(leave).max(least);
            match place.map(|place| (place, give.known(place.0, at, delivery.pipe))) {
                Some((_, Known::Given)) => give.pool.recycle(delivery.departure.packet),
                Some((place, Known::New)) => {
                    if give.received(place, at, delivery) {
                        let next = &mut show.groups[group_of[place.0]].next;
                        *next = Some(next.map_or(at, |next| next.min(at)));
                    } else {
                        statistics.lost += 1;
                    }
                }
                Some((_, Known::Lost)) | None => {
                    statistics.lost += 1;
                    give.pool.recycle(delivery.departure.packet);
                    return;
                }
            }
            statistics.frames += 1;
        });
    }

    /// What the machines of a group sent enters the fabric in order of instants; at one instant in order of machines, then of
    /// devices, then as it was sent.
    fn send(&mut self, group: usize, outbox: Vec<Sent>) {
        for Sent { machine, timed_frame: TimedFrame { at, device, packet } } in outbox {
            self.statistics.frames += 1;
            if device == Device::AGENT {
                self.agents.push(AgentFrame { at, machine, packet });
                continue;
            }
            self.statistics.packets += u64::from(packet.segments());
            let unsent = match self.members[machine].port(device) {
                Some(port) => {
                    let Self { taps, shown, groups, .. } = self;
                    Show { taps, shown, groups, is_between: &[] }.enters(group, port, at, &packet);
                    self.heeded.note(port, &packet);
                    self.fabric.inject(at, port, packet).err().map(|(_, packet)| packet)
                }
                None => Some(packet),
            };
            if let Some(unsent) = unsent {
                self.statistics.lost += 1;
                self.pool.recycle(unsent);
            }
        }
        self.fabric.recycle(&mut self.pool);
        self.show_passes();
    }

    /// Returns the counters of each pipe, in order of ids. To be called right after [`Scheduler::run_until`] has reached its limit.
    pub fn counters(&self) -> impl Iterator<Item = &PipeCounters> {
        self.fabric.counters()
    }

    /// Lets `look` see the fabric; right after [`Scheduler::run_until`] has reached its limit. What it changes of what packets do, changes results.
    pub fn look<R>(&mut self, look: impl FnOnce(&mut Fabric) -> R) -> R {
        look(&mut self.fabric)
    }

    /// Returns the statistics of what was done so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns the statistics of each machine, in order.
    pub fn machine_statistics(&self) -> impl Iterator<Item = &MachineStatistics> {
        self.members.iter().map(|member| &member.statistics)
    }
}
