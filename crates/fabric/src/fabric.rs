//! The pipes of a fabric, joined to its ports and transit devices.

mod borders;
mod deferred;
mod devices;
mod faults;
mod lookahead;
mod partitions;
mod preview;
mod sample;

use crate::entry::{Entry, entries};
use crate::transit::Transit;
use crate::wakes::Wakes;
use crate::{Delivery, PipeId, PipeSpec, Place, PortId};
use alloc::{boxed::Box, sync::Arc, vec::Vec};
use deferred::Deferred;
use faults::Guard;
use netloom_link::{
    AirCounters, AirPpdu, Departure, DropLog, Fate, Firing, Note, OnTheWire, Pipe, PipeChange, PipeCounters,
    StationCounters, Subset, Watched,
};
use netloom_packet::{Packet, Pool};
use netloom_units::{Instant, Seed};

/// The error that a packet came from a port that leads nowhere.
#[derive(Debug, PartialEq, Eq)]
pub struct UnknownPort(pub PortId);

/// See the crate's documentation.
#[derive(Debug)]
pub struct Fabric {
    pipes: Vec<Pipe>,
    /// Where they begin and end.
    entrances: Vec<PortId>,
    exits: Vec<PortId>,
    /// What is behind each port.
    entries: Vec<Entry>,
    /// By pipe: the partitions and faults in force, if any ever touches it.
    guards: Vec<Option<Box<Guard>>>,
    /// By pipe: from what it draws.
    seeds: Vec<Seed>,
    /// The treatments by faults since it was asked last.
    firings: Vec<Firing>,
    wakes: Wakes,
    drop_log: DropLog,
    /// What its pipes are in the whole whose shard this is; none if it is the whole.
    places: Option<Vec<Place>>,
    transit: Transit,
    /// Whether what enters and meets a device at the same instant comes behind what was on its way before.
    are_rounds_apart: bool,
    /// The instant whose later round is in progress.
    later_round: Option<Instant>,
    /// Packets that devices have sent to radio media ahead of time.
    deferred: Deferred,
    /// Whether what happens now is ahead of time.
    is_ahead: bool,
}

impl Fabric {
    /// Creates a fabric of these pipes; the pipe at index i gets the id i.
    ///
    /// # Panics
    /// If two pipes without a filter take their packets from one port, or only pipes with one, or if there are more
    /// than 2^32.
    pub fn new(seed: Seed, specs: &[PipeSpec]) -> Self {
        let pipe = |spec: &PipeSpec| Pipe::new(&spec.config, spec.coalesce, seed.derive(&spec.name));
        let mut this = Self {
            pipes: specs.iter().map(pipe).collect(),
            entrances: specs.iter().map(|spec| spec.from).collect(),
            exits: specs.iter().map(|spec| spec.to).collect(),
            entries: entries(specs),
            seeds: specs.iter().map(|spec| seed.derive(&spec.name)).collect(),
            guards: specs.iter().map(|spec| Guard::of(spec, seed.derive(&spec.name))).collect(),
            firings: Vec::new(),
            wakes: Wakes::new(specs.len()),
            drop_log: DropLog::new(),
            places: None,
            transit: Transit::new(specs, &[]),
            are_rounds_apart: false,
            later_round: None,
            deferred: Deferred::new(),
            is_ahead: false,
        };
        // Pipes with cross traffic have something to do from the beginning.
        (0..specs.len()).for_each(|index| this.reschedule(PipeId(u32::try_from(index).expect("checked above"))));
        this
    }

    /// From now on, what enters and meets a device at the same instant comes behind whatever was on its way to a device before,
    /// as if that instant were played twice: whenever it is told to the fabric.
    pub fn keep_rounds_apart(&mut self) {
        self.are_rounds_apart = true;
    }

    /// Injects a packet at `port` at `now`.
    ///
    /// # Errors
    /// Gives the packet back if no pipe begins at that port.
    #[inline]
    pub fn inject(&mut self, now: Instant, port: PortId, packet: Packet) -> Result<(), (UnknownPort, Packet)> {
        if !self.deferred.is_empty() {
            self.let_enter(now);
        }
        self.inject_now(now, port, packet)
    }

    #[inline]
    fn inject_now(&mut self, now: Instant, port: PortId, packet: Packet) -> Result<(), (UnknownPort, Packet)> {
        let entry = self.entries.get_mut(port.0 as usize);
        let Some((id, is_shared)) = entry.and_then(|entry| Some((entry.pipe_for(&packet)?, entry.is_shared))) else {
            return Err((UnknownPort(port), packet));
        };
        if self.guards[id.0 as usize].is_some() {
            self.inject_guarded(now, (port, is_shared), id, packet);
            return Ok(());
        }
        let packet = if is_shared { self.originate(port, packet) } else { packet };
        self.pipes[id.0 as usize].push(now, packet, self.drop_log.of(id.0));
        self.reschedule(id);
        Ok(())
    }

    /// A packet enters a pipe that may treat some in another way. Others pay nothing for it.
    #[cold]
    fn inject_guarded(&mut self, now: Instant, (port, is_shared): (PortId, bool), id: PipeId, packet: Packet) {
        let packet = self.mark(port, packet);
        let packet = if is_shared { self.originate(port, packet) } else { packet };
        if let Some(kept) = self.guard(now, id, port, packet) {
            self.pipes[id.0 as usize].push(now, kept, self.drop_log.of(id.0));
        }
        self.reschedule(id);
    }

    /// A packet enters a shared medium by this port, to which it is not to come back.
    #[cold]
    fn originate(&mut self, port: PortId, packet: Packet) -> Packet {
        let (packet, spent) = packet.originate(port.0);
        spent.into_iter().for_each(|spent| self.transit.spend(spent));
        packet
    }

    /// Returns when [`Fabric::advance`] wants to be called: it may have something to deliver then, or cross traffic to do. None
    /// while the fabric is empty.
    #[inline]
    pub fn next_wake(&self) -> Option<Instant> {
        let wake = self.wakes.first().map(|(instant, _)| instant);
        if self.deferred.is_empty() { wake } else { wake.into_iter().chain(self.next_deferred()).min() }
    }

    /// Delivers everything that is due at `now`, in order of due instants (ties: in order of pipes, and then of devices that do
    /// something by themselves).
    pub fn advance(&mut self, now: Instant, mut sink: impl FnMut(Delivery)) {
        while let Some((wake, number)) = self.wakes.first().filter(|(instant, _)| *instant <= now) {
            if !self.deferred.is_empty() && self.next_deferred().is_some_and(|at| at <= wake) {
                self.let_enter(wake);
                continue;
            }
            let (index, id) = (number as usize, PipeId(number));
            self.begin_round(wake);
            if index >= self.pipes.len() {
                self.act(wake, index - self.pipes.len());
                continue;
            }
            // Asked at its own instant, a pipe answers a late driver as it would have answered a punctual one.
            if let Some(departure) = self.pipes[index].pop(wake, self.drop_log.of(id.0)) {
                self.leave(id, departure, &mut sink);
            }
            self.reschedule(id);
        }
        self.later_round = None;
        if !self.deferred.is_empty() {
            self.let_enter(now);
        }
    }

    /// The first of those that want to be called is called: what follows from it at the same instant is of its round.
    #[inline]
    fn begin_round(&mut self, wake: Instant) {
        if self.are_rounds_apart {
            self.later_round = self.wakes.is_first_later().then_some(wake);
        }
    }

    /// A packet comes out of a pipe, at a port or at a transit device.
    #[inline]
    fn leave(&mut self, id: PipeId, departure: Departure, sink: &mut impl FnMut(Delivery)) {
        let Some(place) = self.transit.at_exit(id) else {
            return sink(Delivery { pipe: id, port: self.exits[id.0 as usize], departure });
        };
        match self.transit.medium(id).map(Arc::clone) {
            Some(ends) => self.hear(id, &ends, departure, sink),
            None => self.pass(place, self.exits[id.0 as usize], departure),
        }
    }

    #[inline]
    fn reschedule(&mut self, id: PipeId) {
        let wake = self.pipes[id.0 as usize].next_wake();
        if self.are_rounds_apart {
            return self.reschedule_in_round(id, wake);
        }
        self.wakes.set(id.0, wake);
    }

    fn reschedule_in_round(&mut self, id: PipeId, wake: Option<Instant>) {
        // It takes no time to the device, so that its packets have entered at this very instant.
        let is_fresh = || self.transit.leads_in(id) && self.pipes[id.0 as usize].is_head_instant();
        let is_later = wake.is_some() && (wake == self.later_round || is_fresh());
        self.wakes.set_in_round(id.0, wake, is_later);
    }

    /// Changes a pipe at `now` with packets inside.
    ///
    /// # Panics
    /// If there is no such pipe, or if faults begin at one whose configuration has no ground for them.
    pub fn change(&mut self, now: Instant, id: PipeId, change: &PipeChange) {
        self.pipes[id.0 as usize].change(now, change, self.drop_log.of(id.0));
        self.change_partitions(now, id, change);
        self.begin_faults(now, id, change);
        self.reschedule(id);
        if let Some(state) = &change.state {
            self.notice(now, id);
            self.transit.set_flapping(id, state.flap.is_some());
        }
    }

    /// Cuts a pipe or restores it.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn set_up(&mut self, now: Instant, id: PipeId, up: bool) {
        self.pipes[id.0 as usize].set_up(now, up, self.drop_log.of(id.0));
        self.reschedule(id);
        self.notice(now, id);
    }

    /// Returns the ports by which packets enter a pipe, as far as they are here, in order of numbers.
    pub fn entrances(&self, id: PipeId) -> impl Iterator<Item = PortId> {
        let ports = self.entries.iter().zip(0..).filter(move |(entry, _)| entry.leads_to(id));
        ports.map(|(_, port)| PortId(port))
    }

    /// Cuts a pipe, and nothing arrives from it any more: what is on the wire is lost.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn unplug(&mut self, now: Instant, id: PipeId) {
        self.pipes[id.0 as usize].unplug(now, self.drop_log.of(id.0));
        self.reschedule(id);
        self.notice(now, id);
    }

    /// Begins counting anew at `now`, before anything happens then: in all pipes, routers and switches, and in journals. This
    /// alone decides from when on things count. What is inside pipes is counted as such.
    pub fn begin_counting(&mut self, now: Instant) {
        for (pipe, number) in self.pipes.iter_mut().zip(0..) {
            pipe.begin_counting(now, self.drop_log.of(number));
        }
        self.transit.begin_counting();
        // From here on stations come and go by themselves.
        for number in 0..self.pipes.len() {
            if self.pipes[number].is_radio() {
                self.reschedule(PipeId(u32::try_from(number).expect("as many as there are numbers")));
            }
        }
    }

    /// Counts these packets of a pipe separately from now on.
    pub fn watch(&mut self, pipe: PipeId, subset: Subset) {
        self.drop_log.watch(pipe.0, subset);
    }

    /// Returns the packets of each pipe that are counted separately, in order of ids.
    pub fn watched(&self) -> impl Iterator<Item = &[Watched]> {
        (0..).take(self.pipes.len()).map(|pipe| self.drop_log.watched(pipe))
    }

    /// Records that a node at a pipe's link stops, or runs again: while any has stopped, the pipe is cut, whatever else restores
    /// it. `wire`: what becomes then of what is on the wire.
    ///
    /// # Panics
    /// If there is no such pipe.
    pub fn hold(&mut self, now: Instant, id: PipeId, stopped: bool, wire: OnTheWire) {
        self.pipes[id.0 as usize].hold(now, stopped, wire, self.drop_log.of(id.0));
        self.reschedule(id);
        self.notice(now, id);
    }

    /// Returns the counters of each pipe, in order of ids.
    #[inline]
    pub fn counters(&self) -> impl Iterator<Item = &PipeCounters> {
        self.pipes.iter().map(Pipe::counters)
    }

    /// Returns what has happened on the air of each pipe that is a radio medium, and the counters of its stations, in order of ids; none for the
    /// others.
    pub fn on_air(&self) -> impl Iterator<Item = Option<(AirCounters, Vec<StationCounters>)>> {
        self.pipes.iter().map(Pipe::on_air)
    }

    /// Takes notes from now on of all that happens to packets in the pipes for which `is_wanted` returns true, by their ids in
    /// the whole if this is a shard of one. What is inside a pipe when that begins is noted from there on.
    pub fn take_notes(&mut self, is_wanted: impl Fn(PipeId) -> bool) {
        let whose = |own: u32| match self.places.as_ref().map(|places| places[own as usize]) {
            None => Some(PipeId(own)),
            Some(Place::Own(pipe)) => Some(pipe),
            // The shard that has the pipe notes all of it.
            Some(Place::Inlet(_)) => None,
        };
        let wanted: Vec<bool> = (0..).take(self.pipes.len()).map(|own| whose(own).is_some_and(&is_wanted)).collect();
        self.drop_log.take_notes(if wanted.contains(&true) { wanted } else { Vec::new() });
    }

    /// Returns how many notes were taken since the last call of [`Fabric::notes`].
    #[inline]
    pub fn noted(&self) -> usize {
        self.drop_log.noted()
    }

    /// Returns the notes since the last call; they have the ids of their pipes as numbers, those in the whole if this is a shard
    /// of one. Those of one pipe are in the order in which things happened; of several, in any order.
    pub fn notes(&mut self) -> impl Iterator<Item = Note> + '_ {
        let Self { drop_log, places, .. } = self;
        drop_log.notes().map(|note| match places.as_ref().map(|places| places[note.pipe as usize]) {
            Some(Place::Own(pipe) | Place::Inlet(pipe)) => Note { pipe: pipe.0, ..note },
            None => note,
        })
    }

    /// Starts or stops recording which packets are dropped or marked.
    pub fn take_fates(&mut self, wanted: bool) {
        self.drop_log.take_fates(wanted);
    }

    /// Returns the drops and marks that were recorded since the last call; pipes are numbered as those of [`Fabric::notes`].
    #[inline]
    pub fn fates(&mut self) -> impl Iterator<Item = Fate> + '_ {
        let Self { drop_log, places, .. } = self;
        drop_log.fates().filter_map(|fate| match places.as_ref().map(|places| places[fate.pipe as usize]) {
            None => Some(fate),
            Some(Place::Own(pipe)) => Some(Fate { pipe: pipe.0, ..fate }),
            Some(Place::Inlet(_)) => None,
        })
    }

    /// Starts or stops noting attempts to send packets over the air of radio media, in the pipes of which notes are taken.
    pub fn record_attempts(&mut self, wanted: bool) {
        self.pipes.iter_mut().for_each(|pipe| pipe.record_attempts(wanted));
    }

    /// Starts or stops recording the PPDUs of radio media.
    pub fn record_frames(&mut self, wanted: bool) {
        self.pipes.iter_mut().for_each(|pipe| pipe.record_frames(wanted));
    }

    /// Hands out the PPDUs of radio media that ended since the last call, those of a medium in order; pipes are numbered as those of [`Fabric::notes`].
    pub fn frames(&mut self, mut sink: impl FnMut(&AirPpdu)) {
        let Self { pipes, places, .. } = self;
        for (each, own) in pipes.iter_mut().zip(0..) {
            let number = match places.as_ref().map(|places| places[own as usize]) {
                None => own,
                Some(Place::Own(pipe) | Place::Inlet(pipe)) => pipe.0,
            };
            each.frames(number, |ppdu| sink(&ppdu));
        }
    }

    /// It is a shard, whose pipes are these in the whole.
    pub(crate) fn with_places(self, places: Vec<Place>) -> Self {
        Self { places: Some(places), ..self }
    }

    /// Returns the packets that were dropped since [`Fabric::recycle`] was called.
    #[inline]
    pub fn dropped(&self) -> impl Iterator<Item = &Packet> {
        self.drop_log.iter().map(|dropped| &dropped.packet)
    }

    /// Gives the buffers of dropped packets back.
    #[inline]
    pub fn recycle(&mut self, pool: &mut Pool) {
        for dropped in self.drop_log.drain(..) {
            pool.recycle(dropped.packet);
        }
        self.transit.recycle(pool);
    }
}
