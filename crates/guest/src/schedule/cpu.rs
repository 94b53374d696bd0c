//! The cost of a node's processor: without it, a kernel in virtual time computes in zero time.
//!
//! The model: the node has one processor, and each frame that an interface sends or receives keeps it busy for
//! `packet` + `byte` * length. It serves frames one after the other in the order in which they ask for it: a received frame
//! when it arrives, a sent frame when the kernel hands it to the device; of those at one instant, received frames come
//! first. A received frame reaches the kernel when the processor is done with it, and a sent frame leaves the node then.
//!
//! | parameter | unit | range | default |
//! |---|---|---|---|
//! | packet | ns per frame | 0 and above | 0 |
//! | byte | ps per byte, from the IP header on | 0 and above | 0 |
//!
//! The sum is rounded up to the next nanosecond; see [`CpuCost::of`].
//!
//! A super-packet of many segments is one frame with all their bytes, as it is for a real driver with offloads.
//! What programs compute costs nothing, and neither do frames of the node's agent. Nothing is dropped: a processor that
//! cannot keep up falls behind, and what should be lost is lost where the lab has a queue with a limit.
//!
//! Lookahead stays as it is: when a frame is delivered depends on what the kernel sends before that frame *arrives*, so
//! the kernel is let run from arrival to arrival, and to no instant at which an undecided frame could be delivered.

use super::{Device, Machine, MachineError, NextWake, TimedFrame};
use netloom_fabric::ForwardingRule;
use netloom_packet::{Packet, Pool};
use netloom_units::{CpuCost, Duration, Instant};
use std::collections::VecDeque;
use std::time;

/// A kernel with a processor that takes time; see the module.
#[derive(Debug)]
pub struct Paced<M> {
    machine: M,
    cost: CpuCost,
    /// Until when the processor is busy.
    busy: Instant,
    /// All that the kernel does before this is known.
    reached: Instant,
    /// Until when it was granted, and in the current step.
    until: Instant,
    step: Option<Instant>,
    /// When the kernel itself wants to run.
    next_wake: NextWake,
    /// When it hears of a carrier, which takes its processor no time.
    carrier_at: Option<Instant>,
    /// Frames that have arrived, or will, and that the processor has not been asked for yet.
    arriving: VecDeque<TimedFrame>,
    /// Frames with the instants at which the kernel gets them.
    ready: VecDeque<TimedFrame>,
    /// Frames with the instants at which they leave.
    leaving: VecDeque<TimedFrame>,
    /// What the kernel gets, or has sent, in a step.
    frames: Vec<TimedFrame>,
}

impl<M: Machine> Paced<M> {
    /// `machine` at the instant zero. Without a cost it runs as it would alone.
    pub fn new(machine: M, cost: CpuCost) -> Self {
        Self {
            machine,
            cost,
            busy: Instant::ZERO,
            reached: Instant::ZERO,
            until: Instant::ZERO,
            step: None,
            next_wake: NextWake::At(Instant::ZERO),
            carrier_at: None,
            arriving: VecDeque::new(),
            ready: VecDeque::new(),
            leaving: VecDeque::new(),
            frames: Vec::new(),
        }
    }

    /// The kernel.
    pub fn machine(&mut self) -> &mut M {
        &mut self.machine
    }

    /// The processor serves a frame that asks for it at `at`: until when.
    fn serve(&mut self, at: Instant, packet: &Packet) -> Instant {
        self.busy = self.busy.max(at) + self.cost.of(packet.size());
        self.busy
    }

    /// The processor serves what arrives until `end`.
    fn take_in(&mut self, end: Instant) {
        while self.arriving.front().is_some_and(|frame| frame.at <= end) {
            let Some(TimedFrame { at, device, packet }) = self.arriving.pop_front() else { return };
            let at = if device == Device::AGENT { at } else { self.serve(at, &packet) };
            insert(&mut self.ready, TimedFrame { at, device, packet });
        }
    }

    /// Lets the kernel run as far as it is known what it gets, if it has something to do.
    fn begin_step(&mut self, pool: &mut Pool) -> Result<(), MachineError> {
        self.take_in(self.reached);
        loop {
            let undecided = self.arriving.front().map(|frame| frame.at + self.least_cost(frame));
            let end = self.until.min(undecided.unwrap_or(Instant::MAX));
            let due = self.ready.partition_point(|frame| frame.at < end);
            let hears = self.carrier_at.is_some_and(|at| at < end);
            if due == 0 && !hears && !matches!(self.next_wake, NextWake::At(at) if at < end) {
                self.reached = self.reached.max(end);
                self.take_in(self.reached);
                if end == self.until {
                    return Ok(());
                }
                continue;
            }
            if hears {
                self.carrier_at = None;
            }
            self.frames.extend(self.ready.drain(..due));
            self.step = Some(end);
            return self.machine.grant(end, &mut self.frames, pool);
        }
    }

    /// An agent's frame is delivered as it arrives.
    fn least_cost(&self, frame: &TimedFrame) -> Duration {
        if frame.device == Device::AGENT { Duration::ZERO } else { self.cost.of(frame.packet.size()) }
    }

    /// A step that ends at `end` is over. What the kernel sent asks for the processor.
    fn end_step(&mut self, end: Instant, next_wake: NextWake) {
        let mut sent = std::mem::take(&mut self.frames);
        self.next_wake = next_wake;
        for TimedFrame { at, device, packet } in sent.drain(..) {
            if device == Device::AGENT {
                insert(&mut self.leaving, TimedFrame { at, device, packet });
                continue;
            }
            self.take_in(at);
            let at = self.serve(at, &packet);
            insert(&mut self.leaving, TimedFrame { at, device, packet });
        }
        self.frames = sent;
        self.reached = self.reached.max(end);
        self.take_in(self.reached);
    }

    /// When something happens next.
    fn next_wake(&mut self, pool: &mut Pool) -> NextWake {
        let leave = self.leaving.front().map(|frame| frame.at);
        if self.next_wake == NextWake::Off {
            // What it sent before that still leaves.
            self.ready.drain(..).chain(self.arriving.drain(..)).for_each(|frame| pool.recycle(frame.packet));
            return leave.map_or(NextWake::Off, NextWake::At);
        }
        let own = if let NextWake::At(at) = self.next_wake { Some(at) } else { None };
        let frame = self.ready.front().map(|frame| frame.at);
        [own, leave, frame].into_iter().flatten().min().map_or(NextWake::Never, NextWake::At)
    }
}

/// Puts a frame in its place among others, behind those of the same instant.
fn insert(frames: &mut VecDeque<TimedFrame>, frame: TimedFrame) {
    let place = frames.partition_point(|other| other.at <= frame.at);
    frames.insert(place, frame);
}

impl<M: Machine> Machine for Paced<M> {
    fn grant(&mut self, until: Instant, frames: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<(), MachineError> {
        if self.cost.is_zero() {
            return self.machine.grant(until, frames, pool);
        }
        self.until = until;
        if self.next_wake == NextWake::Off {
            frames.drain(..).for_each(|frame| pool.recycle(frame.packet));
        }
        self.arriving.extend(frames.drain(..));
        self.begin_step(pool)
    }

    /// What takes time leaves later than the kernel sends it, so only one that takes none can be stopped then.
    fn stops_after_sending(&self) -> bool {
        self.cost.is_zero() && self.machine.stops_after_sending()
    }

    fn grant_alone(
        &mut self,
        until: Instant,
        frames: &mut Vec<TimedFrame>,
        pool: &mut Pool,
    ) -> Result<(), MachineError> {
        self.machine.grant_alone(until, frames, pool)
    }

    /// A machine with a cost cannot: frames leave later than the kernel sends them.
    fn heed(&mut self, device: Device, rule: &ForwardingRule) -> bool {
        self.cost.is_zero() && self.machine.heed(device, rule)
    }

    fn grant_heeding(
        &mut self,
        until: Instant,
        frames: &mut Vec<TimedFrame>,
        pool: &mut Pool,
    ) -> Result<(), MachineError> {
        self.machine.grant_heeding(until, frames, pool)
    }

    fn stopped(&self) -> Option<Instant> {
        self.machine.stopped()
    }

    fn set_carrier(&mut self, at: Instant, device: Device, on: bool) {
        self.machine.set_carrier(at, device, on);
        self.carrier_at = (!self.cost.is_zero()).then_some(at);
    }

    /// The processor stands still, too: what it was about to do, it does so much later.
    fn stand_still(&mut self, now: Instant, span: Duration) {
        self.machine.stand_still(now, span);
        self.busy = self.busy.max(now) + span;
        if let NextWake::At(at) = &mut self.next_wake {
            *at = (*at).max(now) + span;
        }
        for frame in self.ready.iter_mut().chain(&mut self.leaving) {
            frame.at = frame.at.max(now) + span;
        }
    }

    fn report(&mut self, sent: &mut Vec<TimedFrame>, pool: &mut Pool) -> Result<Option<NextWake>, MachineError> {
        if self.cost.is_zero() {
            return self.machine.report(sent, pool);
        }
        while let Some(step) = self.step {
            let Some(next_wake) = self.machine.report(&mut self.frames, pool)? else { return Ok(None) };
            self.step = None;
            self.end_step(step, next_wake);
            if self.next_wake != NextWake::Off {
                self.begin_step(pool)?;
            }
        }
        let out = self.leaving.partition_point(|frame| frame.at < self.until);
        sent.extend(self.leaving.drain(..out));
        Ok(Some(self.next_wake(pool)))
    }

    fn processor_time(&self) -> Option<time::Duration> {
        self.machine.processor_time()
    }

    fn move_to(&mut self, lane: usize) {
        self.machine.move_to(lane);
    }

    fn unheard(&self) -> u64 {
        self.machine.unheard()
    }

    fn look(&mut self) -> Result<(), MachineError> {
        self.machine.look()
    }
}
