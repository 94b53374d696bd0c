//! The engine's thread: it reads what arrived, delivers what is due, and waits.
//!
//! One thread moves all packets of a shard. In the precisions `balanced` and `exact` it stays on one processor: moved
//! by the kernel, it would follow the sender and then wake the receiver on another processor for every 64 KiB, which
//! costs more than to hand them over. A lock on the processor's folder in `/sys` claims it, which other labs and
//! other users see and which ends with the lab. With `precision: exact` the lab's processes and programs leave this
//! processor to the engine.
//!
//! Super-packets (GSO) stay whole as long as their segments share one fate, which makes many gigabits per second
//! possible. Queues, loss and serialization count segments all the same.
//!
//! The kernel queues what comes over a veth pair on the processor that sends it, so TCP's super-packets swap places
//! now and then before the engine sees them, as they do between plain veth ends. Receive packet steering
//! (`net.core.rps_default_mask` of the lab's network namespace) prevents that, and costs more than it gains: steered
//! to the engine's processor, the median lateness of 50,000 packets per second grows from 7 to 20 µs (`exact`: from 4
//! to 10); steered to another processor, a ping takes 30 µs longer.

use crate::clock::Clock;
use crate::edge::Edge;
use crate::event_queue::{Act, EventQueue, ExecutedEvent, ScheduledEvent, Task};
use crate::mailbox::{Command, ExecutionLog, Mailbox};
use crate::memory::Memory;
use crate::placement::{Placement, stay_on};
use crate::ports::{PortSet, Window};
use crate::priority::{ThreadPriority, processor_time, run_queue_wait};
use crate::series::{INSTANT, SeriesLog};
use crate::wait::{Sleeper, SpinLimit, Waiter};
use netloom_fabric::PipeId;
use netloom_figures::{EngineReport, Policy, Snapshot, ThreadReport};
use netloom_link::PipeChange;
use netloom_units::{Duration, Instant};
use rustix::thread::gettid;
use std::io;
use std::time::Duration as RealDuration;

/// How long after a packet a lab counts as in use.
const LIVELY: RealDuration = RealDuration::from_secs(2);

/// A fabric that is further behind than this is advanced by this much at a time. Lab time.
const PORTION: Duration = Duration::from_millis(10);
/// Picked packets are reported so long after what becomes of them, at the latest: what has arrived meanwhile may not have been read yet,
/// and would come in later than it came. Lab time.
const UNSETTLED: Duration = Duration::from_millis(1);
/// After this long the driver looks for arrivals and commands again, even if the fabric is still behind. Wall time.
const LONGEST_TURN: RealDuration = RealDuration::from_millis(20);

pub(crate) struct Driver {
    pub(crate) clock: Clock,
    pub(crate) waiter: Waiter,
    /// For threads that would otherwise keep others from running.
    pub(crate) spin_limit: SpinLimit,
    /// Whether these are kernels of nodes, which stay on their processors.
    pub(crate) is_beside_kernels: bool,
    /// The processor on which the thread stays.
    pub(crate) processor: Option<usize>,
    /// Whether the thread goes where others need the processor least.
    pub(crate) is_placed: bool,
    pub(crate) sleeper: Sleeper,
    pub(crate) edge: Edge,
    pub(crate) ports: PortSet,
    pub(crate) memory: Memory,
    pub(crate) mailbox: Mailbox,
    /// None before the thread has asked for it.
    pub(crate) thread_priority: Option<ThreadPriority>,
    /// When a packet came from a node last. Wall time since the epoch.
    pub(crate) last_arrival: RealDuration,
    /// How far the fabric has got, while this machine cannot keep up with it.
    pub(crate) behind: Option<Instant>,
    pub(crate) event_queue: EventQueue,
    pub(crate) execution_log: ExecutionLog,
    pub(crate) series: SeriesLog,
    /// Up to here everything has been counted.
    pub(crate) counted: Instant,
    /// Until when everything has happened, unless this machine cannot keep up.
    pub(crate) reached: Instant,
    /// Whether a scheduled event is due, and more may have arrived before it.
    pub(crate) has_unread: bool,
    /// Whether arrivals waited in the latest turn for an event that was due before it.
    pub(crate) has_waited: bool,
}

impl Driver {
    /// Runs until it is told to stop.
    pub(crate) fn run(mut self) -> io::Result<()> {
        self.thread_priority = Some(ThreadPriority::ask(self.clock.real()));
        self.processor.map_or(Ok(()), stay_on)?;
        let _placement = self.is_placed.then(|| Placement::of(gettid()));
        loop {
            while let Some(command) = self.mailbox.next() {
                if !self.obey(command)? {
                    return Ok(());
                }
            }
            if self.pass()? > 0 {
                continue;
            }
            self.wait()?;
        }
    }

    /// Sleeps until shortly before the next event, or returns at once to look again.
    ///
    /// While there was a packet lately, the sleeps are short, and the path is kept warm in between: the next lone packet
    /// then finds an engine that is awake soon. That takes some 0.4 % of a processor, and an idle lab nothing.
    fn wait(&mut self) -> io::Result<()> {
        let real = self.clock.real();
        let lively = real.saturating_sub(self.last_arrival) < LIVELY;
        let wake = self.next_event();
        let until = wake.map(|wake| self.clock.until(wake, real));
        let chosen = self.waiter.sleep(until, lively);
        let span = if self.is_spin_limited(real) { self.spin_limit.limit(real, chosen, until) } else { chosen };
        let Some(span) = span else {
            // Without a margin to spin in, the packet is due now, and warming up would only keep it waiting.
            self.keep_warm(real);
            std::hint::spin_loop();
            return Ok(());
        };
        if !self.ports.may_sleep(self.clock.at(real), self.clock.at(real + span))? {
            return Ok(());
        }
        let undisturbed = self.sleeper.sleep(span)?;
        let end = self.clock.real();
        self.ports.wake(end, !undisturbed)?;
        if undisturbed && wake.is_some() {
            self.waiter.learn(end.saturating_sub(real + span));
        }
        if undisturbed && lively {
            self.keep_warm(end);
        }
        Ok(())
    }

    /// Whether it comes before others on its processor and keeps them from running by spinning. With [`Precision::Exact`] it has the
    /// processor for itself.
    fn is_spin_limited(&self, real: RealDuration) -> bool {
        let Some(thread_priority) = self.thread_priority.as_ref().filter(|_| self.waiter.is_balanced()) else {
            return false;
        };
        thread_priority.policy() == Policy::RealTime && (self.is_beside_kernels || thread_priority.is_crowded(real))
    }

    /// When the fabric wants to be called, a scheduled event is, or something comes that is announced.
    fn next_event(&mut self) -> Option<Instant> {
        let coming = self.ports.next_arrival(&self.edge.fabric);
        [self.edge.fabric.next_wake(), self.event_queue.next(), coming].into_iter().flatten().min()
    }

    fn keep_warm(&mut self, real: RealDuration) {
        if self.waiter.keeps_warm() {
            self.ports.keep_warm(real);
        }
    }

    /// One round; returns how many packets arrived.
    fn pass(&mut self) -> io::Result<usize> {
        let window = self.window();
        let received = self.ports.receive(&mut self.edge, window);
        let real = self.clock.real();
        if received.is_lively {
            self.last_arrival = real;
        }
        if let Some(thread_priority) = &mut self.thread_priority {
            thread_priority.watch(real);
        }
        self.ports.wake_sometimes(real)?;
        self.go_on(received.has_more);
        self.memory.watch(real, received.is_lively, &mut self.edge.handover.pool);
        self.settle();
        Ok(received.count)
    }

    /// Until when arrivals count now. Events do not keep arrivals waiting for two turns in a row: they may be due more often than the
    /// thread gets its processor.
    fn window(&mut self) -> Window {
        let end = self.event_queue.next().unwrap_or(Instant::MAX);
        let latest = self.behind.unwrap_or_else(|| self.event_queue.limit(Instant::MAX));
        let is_overdue = self.behind.is_none() && end < Instant::MAX && end <= self.clock.now();
        self.has_waited = is_overdue && !self.has_waited;
        Window { begin: self.counted, end, latest, is_overdue: self.has_waited }
    }

    /// Everything happens that is due: packets leave, and scheduled events are executed between them. `has_more`: more packets may
    /// have arrived before the next scheduled event, so that it has to wait until they are read.
    fn go_on(&mut self, has_more: bool) {
        let begun = self.clock.real();
        let now = self.clock.now();
        self.has_unread = false;
        loop {
            let end = self.event_queue.limit(now);
            self.behind = self.hand_out(end, begun);
            if self.behind.is_some() || end == now {
                self.reached = now;
                break;
            }
            if has_more {
                self.has_unread = true;
                break;
            }
            if let Some(scheduled_event) = self.event_queue.take_due(now) {
                self.flush();
                self.execute(scheduled_event);
            }
        }
        self.edge.show_passes();
        self.flush();
        self.ports.ahead(&mut self.edge);
    }

    /// Packets that are due until `end` leave the fabric, to whatever kind of port. Returns how far it has got if it gave up
    /// before; `begun`: when this turn began.
    ///
    /// A link can describe more than this machine can compute in time, for example 100 Gbit/s of cross traffic. If all that is
    /// due were carried out at once, that would take longer than the span itself, the next turn longer again, and
    /// soon the driver would not read commands any more. So it works in portions, and after a while looks for arrivals
    /// and commands. What arrives meanwhile arrives when the fabric has got so far: that is late, and the meters see
    /// it.
    fn hand_out(&mut self, end: Instant, begun: RealDuration) -> Option<Instant> {
        let Self { edge, ports, clock, .. } = self;
        loop {
            let portion = edge.fabric.next_wake().map_or(end, |wake| end.min(wake + PORTION));
            edge.leave(portion, |delivery, out| ports.push(delivery, out));
            if portion == end {
                return None;
            }
            if clock.real().saturating_sub(begun) > LONGEST_TURN {
                return Some(portion);
            }
        }
    }

    /// What has left the fabric goes to where it leads.
    fn flush(&mut self) {
        self.ports.flush(&mut self.edge.handover);
    }

    /// Gives buffers back, and tells the ports of packets that were dropped.
    fn settle(&mut self) {
        let Self { edge, ports, clock, .. } = self;
        if ports.hears_of_drops() {
            edge.fabric.dropped().for_each(|packet| ports.dropped(packet));
            ports.flush(&mut edge.handover);
        }
        edge.write_down(|| clock.now());
        edge.settle();
    }

    /// Does what was to be done at this instant, until which everything has happened.
    fn execute(&mut self, ScheduledEvent { number, at, task }: ScheduledEvent) {
        let late = self.clock.now().since(at);
        let mut snapshot = None;
        match task {
            Task::Acts(acts) => {
                for (pipe, act) in acts {
                    self.act(at, pipe, &act);
                }
            }
            Task::Begin => {
                self.counted = at;
                self.edge.handover.meters.reset();
                self.edge.fabric.begin_counting(at);
            }
            Task::Measure => {
                self.counted = at;
                snapshot = Some(self.snapshot(at));
            }
            Task::Sample(sampling) => {
                self.series.take(&mut self.edge.fabric, at, sampling);
                let next = self.series.next(at, self.clock.now(), sampling);
                return self.event_queue.insert(ScheduledEvent { number, at: next, task });
            }
        }
        self.execution_log.note(ExecutedEvent { number, late, snapshot });
    }

    fn act(&mut self, now: Instant, pipe: PipeId, act: &Act) {
        match act {
            Act::Change(change) => self.change(now, pipe, change),
            Act::SetUp(up) => self.edge.fabric.set_up(now, pipe, *up),
            Act::Unplug => self.edge.fabric.unplug(now, pipe),
            Act::SetCarrier(on) => self.set_carrier(pipe, *on),
            Act::SetPortCarrier(port, on) => self.ports.set_carrier(*port, *on),
        }
    }

    fn set_carrier(&mut self, pipe: PipeId, on: bool) {
        let Self { edge, ports, .. } = self;
        edge.fabric.entrances(pipe).for_each(|port| ports.set_carrier(port, on));
    }

    fn change(&mut self, now: Instant, pipe: PipeId, change: &PipeChange) {
        self.edge.fabric.change(now, pipe, change);
        self.ports.changed(pipe, change);
    }

    /// Carries out a command; false ends the thread.
    fn obey(&mut self, command: Command) -> io::Result<bool> {
        // What was due before a change leaves as it was before the change. A driver that is behind has not reached the
        // change yet, and does not make the caller wait for it.
        if self.behind.is_none() {
            self.pass()?;
            while self.has_unread {
                self.pass()?;
            }
        }
        let now = self.behind.unwrap_or_else(|| self.event_queue.limit(self.clock.now()));
        match command {
            Command::Change(pipe, change) => self.change(now, pipe, &change),
            Command::SetUp(pipe, up) => self.edge.fabric.set_up(now, pipe, up),
            Command::Unplug(pipe) => self.edge.fabric.unplug(now, pipe),
            Command::SetCarrier(pipe, on) => self.set_carrier(pipe, on),
            Command::Hold(pipe, stopped, wire) => self.edge.fabric.hold(now, pipe, stopped, wire),
            Command::Plan(scheduled_events) => self.event_queue.add(scheduled_events),
            Command::PlanAhead(scheduled_events, reply) => {
                let is_ahead = scheduled_events.iter().all(|scheduled_event| scheduled_event.at > now);
                if is_ahead {
                    self.event_queue.add(scheduled_events);
                }
                let _ = reply.send(is_ahead);
            }
            Command::Forget(reply) => {
                self.event_queue = EventQueue::default();
                self.series.forget();
                let _ = reply.send(());
            }
            Command::AddTap(id, tap) => {
                self.edge.taps.push((id, tap));
                self.edge.fabric.watch_routers(true);
                self.edge.watch_fates();
            }
            Command::RemoveTap(id) => {
                self.edge.taps.retain(|(other, _)| *other != id);
                self.edge.fabric.watch_routers(!self.edge.taps.is_empty());
                self.edge.watch_fates();
            }
            Command::SetTraceObserver(trace_observer) => self.edge.set_trace_observer(trace_observer, self.clock.now()),
            Command::Counters(reply) => {
                // The caller may have gone; then the answer is not needed.
                let _ = reply.send((now, self.edge.fabric.counters().copied().collect()));
            }
            Command::SamplePackets(step) => self.edge.fabric.sample_packets(step),
            Command::SampledPackets(reply) => {
                let _ = reply.send(self.edge.fabric.sampled_packets(now - UNSETTLED));
            }
            Command::Firings(reply) => {
                let _ = reply.send(self.edge.fabric.take_firings());
            }
            Command::Switches(reply) => {
                let _ = reply.send(self.edge.fabric.switch_states(now).collect());
            }
            Command::Stations(reply) => {
                let counted = self.edge.fabric.on_air().map(|on_air| on_air.map_or_else(Vec::new, |(_, all)| all));
                let _ = reply.send(counted.collect());
            }
            Command::Snapshot(reply) => {
                // It contains what happened at this instant.
                self.counted = self.measured_at() + INSTANT;
                let _ = reply.send(self.snapshot(self.measured_at()));
            }
            Command::Stop(reply) => {
                let _ = reply.send(self.snapshot(self.measured_at()));
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Until when everything has happened. A driver that is behind measures the present, and says by how much it is.
    fn measured_at(&self) -> Instant {
        if self.behind.is_some() { self.clock.now() } else { self.reached }
    }

    fn snapshot(&mut self, at: Instant) -> Snapshot {
        let engine = self.report();
        let fabric = &self.edge.fabric;
        let routers = fabric.router_counters().copied().collect();
        let switches = fabric.switch_states(at).collect();
        Snapshot { at, pipes: self.edge.handover.meters.reports(fabric), routers, switches, engine }
    }

    fn report(&mut self) -> EngineReport {
        let nanos = |time: RealDuration| Duration::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        let mut report = EngineReport {
            behind: self.behind.map_or(Duration::ZERO, |reached| self.clock.now().since(reached)),
            was_out_of_memory: self.memory.was_full(),
            threads: vec![ThreadReport {
                cpu_time: nanos(processor_time()),
                run_queue_wait: run_queue_wait().map(nanos),
                policy: self.thread_priority.as_ref().map(ThreadPriority::policy).unwrap_or_default(),
                gave_way: self.thread_priority.as_ref().map(ThreadPriority::gave_way).unwrap_or_default(),
            }],
            margin: nanos(self.waiter.margin()),
            ..EngineReport::default()
        };
        self.ports.report(&mut report);
        report
    }
}
