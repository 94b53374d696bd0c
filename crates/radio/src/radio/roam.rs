//! Stations of a network with several access points come to one, leave it and lose it.
//!
//! A station that is to leave finishes what it is sending, answering or receiving first. What waits at it then is lost, and what waits for it at the access point it
//! leaves. Off the air it neither hears nor is heard. Where it arrives it is silent until what is on the air there is over, as one that does not know of reservations
//! (IEEE 802.11-2020, 10.3.4.3).

use super::signal::{Part, Signal};
use super::{RadioMedium, Reception, id};
use crate::association::{AccessPoint, AccessPoints, Association, Move};
use crate::error::ConfigError;
use crate::frame::{Cause, Destination, Outcome, StationId};
use crate::power::Power;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem;
use netloom_units::{Duration, Instant};

/// Where a station is between its access points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// The station is with its access point, or is one.
    There,
    /// The station leaves as soon as it has finished what it does, and arrives elsewhere at this instant at the earliest.
    Leaves(Instant),
    /// The station is off the air, and arrives at this instant if it is on its way.
    Away(Instant),
}

/// A station has arrived at an access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Join {
    /// When those behind the access point learn of it: a SIFS later.
    pub at: Instant,
    /// The station.
    pub station: StationId,
    /// The access point.
    pub point: StationId,
    /// Whether it was off the air before; otherwise it has been there from the beginning.
    pub was_away: bool,
}

/// From when on a station is with an access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Associated {
    /// The time behind the beginning.
    pub at: Duration,
    /// The station.
    pub station: StationId,
    /// The access point; none: it is with none from then on.
    pub point: Option<StationId>,
}

/// The access points of a medium, and who is with them.
#[derive(Clone, Debug)]
pub(super) struct Network {
    config: AccessPoints,
    /// The power in dBm from which on an access point is heard.
    least: f64,
    /// The channel of interferers.
    channel: u8,
    /// By station; none of an access point.
    associations: Vec<Option<Association>>,
    presence: Vec<Presence>,
    /// By station: the access point at which it is, as long as it is not away.
    with: Vec<Option<usize>>,
    joins: VecDeque<Join>,
}

impl Network {
    /// When something happens next.
    fn next(&self) -> Option<Instant> {
        let beacons = self.associations.iter().flatten().filter_map(|own| own.next);
        let on_way = |(presence, own): (&Presence, &Option<Association>)| match presence {
            Presence::Away(until) if own.as_ref().is_some_and(|own| own.point.is_some()) => Some(*until),
            _ => None,
        };
        beacons.chain(self.presence.iter().zip(&self.associations).filter_map(on_way)).min()
    }

    fn point(&self, station: usize) -> Option<AccessPoint> {
        let place = self.associations[station].as_ref().and_then(|own| own.point)?;
        Some(self.config.points[place])
    }

    fn is_due(&self, station: usize, at: Instant) -> bool {
        matches!(self.presence[station], Presence::Away(until) if until <= at) && self.point(station).is_some()
    }
}

impl<P> RadioMedium<P> {
    /// Returns the same medium as a network with several access points. `channel`: that of interferers.
    ///
    /// # Errors
    /// If the description contradicts itself.
    pub fn with_access_points(mut self, config: &AccessPoints, channel: u8) -> Result<Self, ConfigError> {
        config.check(self.stations.len())?;
        let stations = self.stations.len();
        self.network = Some(Box::new(Network {
            config: config.clone(),
            least: self.least.0,
            channel,
            associations: Vec::new(),
            presence: alloc::vec![Presence::There; stations],
            with: alloc::vec![None; stations],
            joins: VecDeque::new(),
        }));
        for point in &config.points {
            self.stations[point.station].channel = Some(point.channel);
        }
        self.associate(Instant::ZERO, None);
        Ok(self)
    }

    /// Lets stations begin where they hear an access point best. `first`: the first beacon at which they look whether that has changed.
    fn associate(&mut self, at: Instant, first: Option<Instant>) {
        let Some(mut network) = self.network.take() else { return };
        let points: Vec<usize> = network.config.points.iter().map(|point| point.station).collect();
        let any_moves = points.iter().any(|point| self.ways.is_moving(*point));
        network.associations.clear();
        for station in 0..self.stations.len() {
            let first = first.filter(|_| any_moves || self.ways.is_moving(station));
            let kept = network.config.kept(station);
            let own = (!points.contains(&station))
                .then(|| Association::strongest(self.levels(&points, station, at), network.least, kept, first));
            network.associations.push(own);
        }
        self.network = Some(network);
        for station in 0..self.stations.len() {
            self.settle_in(at, station);
        }
    }

    /// A station is where its association says, without having been on its way.
    fn settle_in(&mut self, at: Instant, station: usize) {
        let Some(network) = &mut self.network else { return };
        if network.associations[station].is_none() {
            return;
        }
        let point = network.point(station);
        let with = point.map(|point| point.station);
        if with.is_some() && network.with[station] == with {
            return;
        }
        network.with[station] = with;
        network.presence[station] = if with.is_some() { Presence::There } else { Presence::Away(at) };
        self.stations[station].channel = point.map(|point| point.channel);
        self.announce(at, station, false);
    }

    /// The powers in dBm with which access points are heard, on average over fading.
    fn levels(&mut self, points: &[usize], station: usize, at: Instant) -> Vec<f64> {
        points.iter().map(|point| self.ways.level(*point, station, at).0).collect()
    }

    /// Paths begin, and with them associations.
    pub(super) fn begin_roaming(&mut self, at: Instant) {
        let Some(network) = &self.network else { return };
        let first = at + network.config.rule.beacon;
        self.associate(at, Some(first));
        self.settle(at);
    }

    /// When stations look at beacons or arrive next.
    pub(super) fn next_roaming(&self) -> Option<Instant> {
        self.network.as_ref().and_then(|network| network.next())
    }

    /// No station that is about to leave arrives elsewhere before this.
    pub(super) fn next_arrival(&self) -> Option<Instant> {
        let network = self.network.as_ref()?;
        let leaving =
            network.presence.iter().filter_map(|own| if let Presence::Leaves(at) = own { Some(*at) } else { None });
        let end = self.next_end().unwrap_or(self.now);
        leaving.map(|at| at.max(end)).chain(network.next()).min()
    }

    /// Returns the access point with which a station is, an access point's own number for itself; none while it is with none, or in a medium without several
    /// access points.
    pub fn access_point(&self, station: StationId) -> Option<StationId> {
        let (network, place) = (self.network.as_ref()?, station.0 as usize);
        match (&network.associations[place], network.presence[place]) {
            (None, _) => Some(station),
            (Some(_), Presence::There) => network.with[place].map(id),
            _ => None,
        }
    }

    /// How many stations are with an access point.
    pub(super) fn clients(&self, point: usize) -> u64 {
        let Some(network) = &self.network else { return 0 };
        let stations = (0..network.associations.len()).filter(|station| network.associations[*station].is_some());
        stations.filter(|station| self.access_point(id(*station)) == Some(id(point))).count() as u64
    }

    /// Returns which stations are with which access points until a time behind the beginning, if nothing is sent: all stations at zero, then each change.
    pub fn associations(mut self, until: Duration) -> Vec<Associated> {
        self.begin_counting(Instant::ZERO);
        let stations = || (0..).map(StationId);
        let mut known: Vec<Option<StationId>> =
            stations().take(self.stations.len()).map(|own| self.access_point(own)).collect();
        let all =
            stations().zip(&known).map(|(station, point)| Associated { at: Duration::ZERO, station, point: *point });
        let mut found: Vec<Associated> = all.collect();
        while let Some(next) = self.next_roaming().filter(|next| next.since(Instant::ZERO) <= until) {
            self.run_until(next);
            for (station, before) in stations().zip(&mut known) {
                let point = self.access_point(station);
                if mem::replace(before, point) != point {
                    found.push(Associated { at: next.since(Instant::ZERO), station, point });
                }
            }
        }
        found
    }

    /// Returns the stations that have arrived at access points and of which nobody was told yet, in order of instants.
    pub fn joins(&self) -> impl Iterator<Item = Join> + '_ {
        self.network.iter().flat_map(|network| network.joins.iter().copied())
    }

    /// Takes the first of [`RadioMedium::joins`] if it is due by `now`.
    pub fn take_join(&mut self, now: Instant) -> Option<Join> {
        let network = self.network.as_mut()?;
        let is_due = network.joins.front().is_some_and(|first| first.at <= now);
        if is_due { network.joins.pop_front() } else { None }
    }

    /// Stations look at the beacon of this instant, or arrive.
    pub(super) fn roam(&mut self, at: Instant) {
        for station in 0..self.stations.len() {
            if self.network.as_ref().is_some_and(|network| network.is_due(station, at)) {
                self.arrive(at, station);
            }
            self.look(at, station);
        }
        self.settle(at);
    }

    /// A station looks at the beacons that are due.
    fn look(&mut self, at: Instant, station: usize) {
        let Some(mut network) = self.network.take() else { return };
        let is_due = |own: &&mut Association| own.next.is_some_and(|next| next <= at);
        let mut moved = Move::Stays;
        if let Some(own) = network.associations[station].as_mut().filter(is_due) {
            let points = network.config.points.iter().map(|point| point.station);
            let levels: Vec<f64> = points.map(|point| self.ways.level(point, station, at).0).collect();
            moved = own.take(&network.config.rule, network.least, &levels);
        }
        let until = if moved == Move::Goes { at + network.config.rule.gap } else { at };
        let presence = network.presence[station];
        network.presence[station] = match (moved, presence) {
            (Move::Stays, presence) => presence,
            (_, Presence::Away(_)) => Presence::Away(until),
            _ => Presence::Leaves(until),
        };
        self.network = Some(network);
        self.depart(at, station);
    }

    /// Stations leave that have finished what they did.
    pub(super) fn depart_all(&mut self, at: Instant) {
        for station in 0..self.network.as_ref().map_or(0, |network| network.presence.len()) {
            self.depart(at, station);
        }
    }

    /// A station that is to leave does so, if it has finished what it did.
    fn depart(&mut self, at: Instant, station: usize) {
        let own = &self.stations[station];
        // Bursts of interferers may last long, and nobody receives anything by them.
        let receives = own.receives.is_some_and(|(from, _)| from < self.stations.len());
        let is_busy = own.is_sending || own.exchange.is_some() || own.reply.is_some() || receives;
        let Some(network) = self.network.as_mut().filter(|_| !is_busy) else { return };
        let Presence::Leaves(until) = network.presence[station] else { return };
        (network.presence[station], network.with[station]) = (Presence::Away(until.max(at)), None);
        for signal in self.signals.iter_mut().filter(|signal| !signal.is_over) {
            signal.powers[station] = Power::default();
            signal.is_sensed[station] = false;
        }
        let mut lost = Vec::new();
        self.stations[station].channel = None;
        self.stations[station].clear(at, |frame| lost.push(frame));
        lost.into_iter().for_each(|frame| self.lose(at, station, frame));
        let points: Vec<usize> = self.points().collect();
        points.into_iter().for_each(|point| self.forget_client(at, point, station));
        self.learned.retain(|(from, to), _| *from != station && *to != station);
        if self.network.as_ref().is_some_and(|roaming| roaming.is_due(station, at)) {
            self.arrive(at, station);
        }
    }

    fn points(&self) -> impl Iterator<Item = usize> + '_ {
        self.network.iter().flat_map(|network| network.config.points.iter().map(|point| point.station))
    }

    /// Loses what waits at an access point for a station that is not with it, but for what it is just sending: that fails by itself.
    fn forget_client(&mut self, at: Instant, point: usize, station: usize) {
        let to = Destination::Station(id(station));
        let sends = self.stations[point].exchange.filter(|exchange| exchange.party.to == to);
        for category in 0..self.stations[point].contenders.len() {
            if sends.is_some_and(|exchange| exchange.party.category == category) {
                continue;
            }
            let own = &mut self.stations[point];
            let contender = &mut own.contenders[category];
            if own.copies[category].is_some_and(|copies| contender.queue.destination(copies.flow) == to) {
                (own.copies[category], contender.owes) = (None, false);
            }
            let lost = contender.queue.remove(to);
            lost.into_iter().for_each(|frame| self.lose(at, point, frame));
        }
    }

    /// An exchange of an access point is over: if its station has left meanwhile, so has the rest of what waits for it.
    pub(super) fn forget_absent(&mut self, at: Instant, from: usize, to: Destination) {
        let Destination::Station(to) = to else { return };
        if self.access_point(id(from)) == Some(id(from)) && self.access_point(to) != Some(id(from)) {
            self.forget_client(at, from, to.0 as usize);
        }
    }

    fn lose(&mut self, at: Instant, station: usize, frame: crate::frame::Frame<P>) {
        let counters = &mut self.stations[station].counters;
        counters.dropped += 1;
        counters.lost += 1;
        let outcome = Outcome { at: at + self.config.phy.sifs(), from: id(station), frame, dropped: Some(Cause::Left) };
        self.outcomes.push_back(Reception { outcome, heard_by: Vec::new() });
    }

    /// A station arrives at the access point to which it was on its way.
    fn arrive(&mut self, at: Instant, station: usize) {
        let Some(network) = &mut self.network else { return };
        let Some(AccessPoint { station: point, channel }) = network.point(station) else { return };
        (network.presence[station], network.with[station]) = (Presence::There, Some(point));
        let home = network.channel;
        self.stations[station].channel = Some(channel);
        self.stations[station].counters.handovers += 1;
        let mut signals = mem::take(&mut self.signals);
        for signal in signals.iter_mut().filter(|signal| !signal.is_over) {
            let is_there = self.channel_of(signal, home) == Some(channel);
            signal.is_sensed[station] = is_there && signal.part != Part::Foreign;
            if is_there {
                signal.powers[station] = self.arriving(signal, station, at);
            }
        }
        self.signals = signals;
        self.announce(at, station, true);
    }

    fn channel_of(&self, signal: &Signal, home: u8) -> Option<u8> {
        if signal.part == Part::Foreign { Some(home) } else { self.stations[signal.from].channel }
    }

    /// The stations for which a PPDU is to everybody, of those that have decoded it: an access point's own alone.
    pub(super) fn audience(&self, signal: &Signal, hearers: &[usize]) -> Vec<StationId> {
        let is_meant = |station: &usize| {
            let network = self.network.as_ref().filter(|_| signal.to.is_none());
            network.is_none_or(|network| network.with[*station] == Some(signal.from))
        };
        hearers.iter().copied().filter(is_meant).map(id).collect()
    }

    /// Whether a station is an access point at which nobody is: what it sends to everybody misses nobody.
    pub(super) fn is_alone(&self, station: usize) -> bool {
        self.network.as_ref().is_some_and(|network| !network.with.contains(&Some(station)))
    }

    /// Those behind an access point are to learn that a station is with it.
    fn announce(&mut self, at: Instant, station: usize, was_away: bool) {
        let sifs: Duration = self.config.phy.sifs();
        let Some(network) = &mut self.network else { return };
        if let Some(point) = network.point(station) {
            let (own, point) = (id(station), id(point.station));
            network.joins.push_back(Join { at: at + sifs, station: own, point, was_away });
        }
    }

    /// The channel of interferers; none of a medium with a single channel.
    pub(super) fn home_channel(&self) -> Option<u8> {
        self.network.as_ref().map(|network| network.channel)
    }

    /// Whether a station is about to leave, or off the air.
    pub(super) fn is_leaving(&self, station: usize) -> bool {
        self.network.as_ref().is_some_and(|network| network.presence[station] != Presence::There)
    }
}
