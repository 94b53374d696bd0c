//! A kernel as the scheduler knows it.

use super::division::Division;
use super::parts::{Reported, Told};
use super::{Device, Machine, MachineError, MachineStatistics, NextWake, TimedFrame};
use netloom_fabric::{ForwardingRule, PortId};
use netloom_packet::Pool;
use netloom_units::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::Arc;

/// The shortest span: that of one instant.
pub(super) const INSTANT: Duration = Duration::from_nanos(1);

/// What a kernel is let do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grant {
    /// Nothing happens before this.
    pub(super) begin: Instant,
    /// It does everything before this,
    pub(super) until: Instant,
    /// or stops earlier.
    pub(super) stop: StopRule,
}

/// Where a kernel stops before the end of its grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopRule {
    Nowhere,
    /// With the instant at which it first sends something: it runs alone.
    Sent,
    /// With the instant at which it first sends something that may be answered at once.
    Answerable,
}

/// So many frames wait at most for each device of a kernel that stands still, as in the ring of a virtio device (QEMU: `rx_queue_size`,
/// 256 unless the user says otherwise); what comes then is dropped.
const RING: usize = 256;

/// A frame that waits for a kernel.
#[derive(Debug)]
pub(super) struct Waiting {
    /// When it came: earlier than the kernel gets it, if that stood still.
    arrived: Instant,
    /// The order of frames of one instant.
    order: u32,
    /// Whether the fabric itself will deliver it only later; of frames that it delivers as one, of the last.
    is_foreseen: bool,
    is_last: bool,
    pub(super) timed_frame: TimedFrame,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Member<M> {
    pub(super) machine: M,
    /// Where its devices meet the fabric, by their numbers.
    ports: Vec<Option<PortId>>,
    /// The frames that it will be given next, in order of instants.
    pub(super) inbox: VecDeque<Waiting>,
    given: Vec<TimedFrame>,
    /// Copies of the frames that it was given and may not get to, as far as the fabric has delivered them,
    kept: Vec<Waiting>,
    /// and what was foreseen: instant and order.
    foreseen: Vec<(Instant, u32)>,
    /// Whether it heeds what may be answered.
    heeds: bool,
    /// Before this, it was given all that reaches it,
    pub(super) reached: Instant,
    /// and of that which reaches it then, this: instant and order.
    given_then: Vec<(Instant, u32)>,
    /// As much of that as a copy of the fabric has not delivered.
    given_in_copy: Vec<(Instant, u32)>,
    pub(super) next_wake: NextWake,
    /// When it hears of a carrier, if it has not got to that.
    carrier_at: Option<Instant>,
    pub(super) statistics: MachineStatistics,
    /// What it sent in this window.
    sent: Vec<TimedFrame>,
    /// Until when a machine of another part of the lab was given all that reaches it by pipes between groups,
    had_between: Instant,
    /// Until when it was given what reaches it by others.
    had_inside: Instant,
    /// Before this it stands still, and gets nothing.
    frozen_until: Instant,
    /// How many frames wait for that, by device.
    held: BTreeMap<Device, usize>,
    /// The packets for which there was no room then.
    pub(super) unheard: u64,
    /// The frames that its interfaces had to leave out, as it last reported.
    pub(super) left_out: u64,
}

impl<M: Machine> Member<M> {
    /// A kernel that wants to run from the beginning.
    pub(super) fn new(machine: M) -> Self {
        Self {
            machine,
            ports: Vec::new(),
            inbox: VecDeque::new(),
            given: Vec::new(),
            kept: Vec::new(),
            foreseen: Vec::new(),
            heeds: false,
            reached: Instant::ZERO,
            given_then: Vec::new(),
            given_in_copy: Vec::new(),
            next_wake: NextWake::At(Instant::ZERO),
            carrier_at: None,
            statistics: MachineStatistics::default(),
            sent: Vec::new(),
            had_between: Instant::ZERO,
            had_inside: Instant::ZERO,
            frozen_until: Instant::ZERO,
            held: BTreeMap::new(),
            unheard: 0,
            left_out: 0,
        }
    }

    pub(super) fn attach(&mut self, device: Device, port: PortId) {
        let place = usize::from(device.0);
        if self.ports.len() <= place {
            self.ports.resize(place + 1, None);
        }
        self.ports[place] = Some(port);
    }

    /// Drops all that was to reach it, since it is gone.
    pub(super) fn leave(&mut self, pool: &mut Pool) {
        (self.next_wake, self.carrier_at) = (NextWake::Off, None);
        let waiting = self.inbox.drain(..).chain(self.kept.drain(..)).map(|waiting| waiting.timed_frame);
        waiting.chain(self.given.drain(..)).chain(self.sent.drain(..)).for_each(|frame| pool.recycle(frame.packet));
        self.foreseen.clear();
        self.given_then.clear();
        self.given_in_copy.clear();
    }

    /// Another kernel takes its place and wants to run from `now` on. Returns the one before.
    pub(super) fn begin_as(&mut self, machine: M, next_wake: NextWake, now: Instant) -> M {
        (self.next_wake, self.reached, self.heeds) = (next_wake, now, false);
        mem::replace(&mut self.machine, machine)
    }

    /// Where its devices meet the fabric.
    pub(super) fn ports(&self) -> impl Iterator<Item = (Device, PortId)> + '_ {
        let numbered = (0..).zip(&self.ports);
        numbered.filter_map(|(number, port)| Some((Device(number), (*port)?)))
    }

    /// Whether it heeds what may be answered of that which it sends through this device.
    pub(super) fn heed(&mut self, device: Device, rule: &ForwardingRule) -> bool {
        let heeds = self.machine.heed(device, rule);
        self.heeds |= heeds;
        heeds
    }

    pub(super) fn port(&self, device: Device) -> Option<PortId> {
        self.ports.get(usize::from(device.0)).copied().flatten()
    }

    /// Waits for the first word of a kernel that was started without a grant.
    pub(super) fn boot(&mut self, pool: &mut Pool) -> Result<(), MachineError> {
        self.next_wake = loop {
            if let Some(next_wake) = self.machine.report(&mut self.sent, pool)? {
                break next_wake;
            }
            self.machine.look()?;
        };
        if self.sent.is_empty() {
            return Ok(());
        }
        Err(MachineError::Protocol("it sent a frame before it was allowed to run".into()))
    }

    /// It will be given this frame, behind others of the same instant that have the same number or a lower one.
    pub(super) fn take_in(&mut self, order: u32, timed_frame: TimedFrame) {
        self.insert(Waiting { arrived: timed_frame.at, order, is_foreseen: false, is_last: true, timed_frame });
    }

    /// The same of a frame that the fabric will deliver if this kernel sends nothing before that is answered. `is_last`: of those that
    /// the fabric delivers as one.
    pub(super) fn foresee(&mut self, order: u32, is_last: bool, timed_frame: TimedFrame) {
        self.insert(Waiting { arrived: timed_frame.at, order, is_foreseen: true, is_last, timed_frame });
    }

    /// A copy of the fabric begins to deliver.
    pub(super) fn begin_copy(&mut self) {
        self.given_in_copy.clone_from(&self.given_then);
    }

    /// Whether it was given already what the fabric delivers at this instant, in this order.
    pub(super) fn was_given(&mut self, at: Instant, order: u32) -> bool {
        strike(&mut self.given_then, &(at, order)) || at < self.reached
    }

    /// Whether it was given already, in another part of the lab, what comes at this instant.
    pub(super) fn had(&self, at: Instant, is_between: bool) -> bool {
        at < if is_between { self.had_between } else { self.had_inside }
    }

    /// The same of what a copy of the fabric delivers.
    pub(super) fn was_given_in_copy(&mut self, at: Instant, order: u32) -> bool {
        strike(&mut self.given_in_copy, &(at, order)) || at < self.reached
    }

    /// Lets it stand still from `now` until then: its own time falls behind by as much. One that stands still already does so for longer,
    /// if that is later.
    pub(super) fn freeze(&mut self, now: Instant, until: Instant) {
        let from = now.max(self.frozen_until);
        if until <= from || self.next_wake == NextWake::Off {
            return;
        }
        let span = until.since(from);
        self.machine.stand_still(now, span);
        if let NextWake::At(at) = &mut self.next_wake {
            *at = (*at).max(now) + span;
        }
        self.frozen_until = until;
        self.held.clear();
        mem::take(&mut self.inbox).into_iter().for_each(|waiting| self.insert(waiting));
    }

    /// Whether there is room for a frame until it goes on.
    fn hold(&mut self, waiting: &mut Waiting) -> bool {
        let device = waiting.timed_frame.device;
        let held = self.held.entry(device).or_default();
        if device != Device::AGENT && *held >= RING {
            return false;
        }
        *held += 1;
        // What the fabric itself delivers at the instant of a frame that was foreseen counts as given (`was_given`).
        (waiting.timed_frame.at, waiting.is_foreseen) = (self.frozen_until, false);
        true
    }

    fn insert(&mut self, mut waiting: Waiting) {
        if waiting.timed_frame.at < self.frozen_until && !self.hold(&mut waiting) {
            self.unheard += u64::from(waiting.timed_frame.packet.segments());
            return;
        }
        let key = |any: &Waiting| (any.timed_frame.at, any.arrived, any.order);
        let place = self.inbox.partition_point(|other| key(other) <= key(&waiting));
        self.inbox.insert(place, waiting);
    }

    /// When it has something to do next.
    pub(super) fn next(&self) -> Option<Instant> {
        let next_wake = match self.next_wake {
            NextWake::At(at) => Some(at),
            NextWake::Never | NextWake::Off => None,
        };
        let frame = self.inbox.front().map(|waiting| waiting.timed_frame.at);
        [next_wake, frame, self.carrier_at].into_iter().flatten().min()
    }

    /// From `at` on, which is now, the link of this device has a carrier, or none.
    pub(super) fn set_carrier(&mut self, at: Instant, device: Device, on: bool) {
        if self.next_wake != NextWake::Off {
            self.machine.set_carrier(at, device, on);
            self.carrier_at = Some(at);
        }
    }

    /// Lets it run until `until`; `is_elsewhere`: in another part of the lab.
    pub(super) fn grant(&mut self, grant: Grant, is_elsewhere: bool, pool: &mut Pool) -> Result<(), MachineError> {
        self.statistics.grants += 1;
        self.carrier_at = None;
        let due = self.inbox.partition_point(|waiting| waiting.timed_frame.at < grant.until);
        self.statistics.received += due as u64;
        let is_heeding = self.heeds && grant.stop == StopRule::Answerable;
        for waiting in self.inbox.drain(..due) {
            let TimedFrame { at, device, packet } = &waiting.timed_frame;
            if is_heeding && waiting.is_foreseen {
                self.foreseen.extend(waiting.is_last.then_some((*at, waiting.order)));
            } else if is_heeding {
                let timed_frame = TimedFrame { at: *at, device: *device, packet: packet.duplicate() };
                self.kept.push(Waiting { timed_frame, ..waiting });
            }
            self.given.push(waiting.timed_frame);
        }
        if is_elsewhere {
            self.given.drain(..).for_each(|frame| pool.recycle(frame.packet));
            return Ok(());
        }
        match grant.stop {
            StopRule::Sent => self.machine.grant_alone(grant.until, &mut self.given, pool),
            StopRule::Answerable if self.heeds => self.machine.grant_heeding(grant.until, &mut self.given, pool),
            StopRule::Answerable | StopRule::Nowhere => self.machine.grant(grant.until, &mut self.given, pool),
        }
    }

    /// Takes back what it has not got to, if it stopped before `stop`: what comes later is given to it once more, as far as the fabric does not deliver it itself.
    fn take_back(&mut self, stop: Option<Instant>, pool: &mut Pool) {
        let last = stop.map(|stop| stop - INSTANT);
        self.reached = last.unwrap_or(self.reached);
        self.given_then.retain(|(at, _)| Some(*at) == last);
        for (at, order) in self.foreseen.drain(..) {
            self.statistics.received -= u64::from(stop.is_some_and(|stop| at >= stop));
            self.given_then.extend((Some(at) == last).then_some((at, order)));
        }
        for waiting in mem::take(&mut self.kept) {
            if stop.is_some_and(|stop| waiting.timed_frame.at >= stop) {
                self.statistics.received -= 1;
                self.insert(waiting);
            } else {
                pool.recycle(waiting.timed_frame.packet);
            }
        }
    }

    /// Returns when it wants to run next, and before which instant it has done everything if it was stopped, when it has done what it was let
    /// do: it says so itself, and other parts are told; or it runs elsewhere and that part has told.
    fn outcome(
        &mut self,
        Grant { until, stop, .. }: Grant,
        division: Option<(usize, &mut Division)>,
        pool: &mut Pool,
    ) -> Result<Option<(NextWake, Option<Instant>)>, MachineError> {
        let mut division = division;
        if let Some((machine, division)) = &mut division
            && division.is_elsewhere(*machine)
        {
            let Some(reported) = division.take_report(*machine, until)? else { return Ok(None) };
            (self.sent, self.left_out) = (reported.sent, reported.unheard);
            return Ok(Some((reported.next_wake, reported.stopped)));
        }
        let Some(next_wake) = self.machine.report(&mut self.sent, pool)? else { return Ok(None) };
        let stopped = if stop == StopRule::Answerable && self.heeds { self.machine.stopped() } else { None };
        self.left_out = self.machine.unheard();
        if let Some((machine, division)) = division {
            let sent = mem::take(&mut self.sent);
            let inner = Arc::clone(&division.inner[machine]);
            let unheard = self.left_out;
            let told = Told::Reported(Reported { machine, until, next_wake, stopped, unheard, sent, inner });
            division.tell(&told)?;
            if let Told::Reported(reported) = told {
                self.sent = reported.sent;
            }
        }
        Ok(Some((next_wake, stopped)))
    }

    /// Notes that a window begins in another part of the lab in which it has all that comes from other groups before its end. As this part
    /// follows one group after the other, some of that may leave its own fabric only while the window lasts.
    pub(super) fn is_let_run_elsewhere(&mut self, until: Instant) {
        self.had_between = self.had_between.max(until);
    }

    /// Notes that it ran in another part of the lab, in a window that ended so.
    pub(super) fn was_let_run_elsewhere(&mut self, until: Instant, is_round: bool) {
        // An instant that is played in rounds goes on.
        self.had_inside = self.had_inside.max(if is_round { until - INSTANT } else { until });
    }

    /// What it sent, if it has done what it was let do. `division`: its number, and what is known of other parts of the lab.
    pub(super) fn report(
        &mut self,
        grant: Grant,
        division: Option<(usize, &mut Division)>,
        pool: &mut Pool,
    ) -> Result<Option<impl Iterator<Item = TimedFrame> + '_>, MachineError> {
        let Some((next_wake, stopped)) = self.outcome(grant, division, pool)? else { return Ok(None) };
        let Grant { begin, until, stop } = grant;
        self.next_wake = next_wake;
        self.take_back(stopped, pool);
        if next_wake == NextWake::Off {
            // What would reach it later is dropped.
            self.inbox.drain(..).for_each(|waiting| pool.recycle(waiting.timed_frame.packet));
        }
        let first = self.sent.first().filter(|_| stop == StopRule::Sent).map(|timed_frame| timed_frame.at + INSTANT);
        let until = first.or(stopped).unwrap_or(until).min(until);
        let mut last = begin;
        for TimedFrame { at, .. } in &self.sent {
            if *at < last || *at >= until {
                let (at, least, until) = (at.as_nanos(), last.as_nanos(), until.as_nanos());
                let what =
                    format!("it sent a frame at {at} ns, where only {least} ns and later, before {until} ns, is right");
                return Err(MachineError::Protocol(what));
            }
            last = *at;
        }
        if let NextWake::At(at) = self.next_wake
            && at < until
        {
            let (at, until) = (at.as_nanos(), until.as_nanos());
            let what = format!("it stopped with something to do at {at} ns though it may run until {until} ns");
            return Err(MachineError::Protocol(what));
        }
        self.statistics.sent += self.sent.len() as u64;
        Ok(Some(self.sent.drain(..)))
    }
}

/// Takes something off a list; says whether it was there.
fn strike<T: PartialEq>(list: &mut Vec<T>, item: &T) -> bool {
    let place = list.iter().position(|other| other == item);
    place.map(|place| list.remove(place)).is_some()
}
