//! The cell as a medium: what comes in, what comes out, and when something happens.

use super::bearer::Bearer;
use super::config::{CellConfig, CellStation, RadioLinkControl, SlotUse};
use super::quality::Qualities;
use crate::counters::{StationCounters, Totals};
use crate::error::ConfigError;
use crate::frame::{Cause, Destination, Frame, Outcome, StationId};
use crate::radio::RadioConfig;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use netloom_units::{Duration, Instant, Seed};

/// A cell: a base station and its terminals. What one terminal sends to another goes by the base station, which the caller does.
///
/// It is driven as a [`Medium`](crate::Medium) is.
#[derive(Clone, Debug)]
pub struct CellMedium<P> {
    pub(super) config: CellConfig,
    pub(super) base: usize,
    pub(super) qualities: Qualities,
    /// The downlink to each station, where that of the base station's own number is for everybody; behind them the uplink of each.
    pub(super) bearers: Vec<Bearer<P>>,
    /// Until when terminals listen because they had data.
    pub(super) active_until: Vec<Instant>,
    pub(super) counters: Vec<StationCounters>,
    pub(super) totals: Totals,
    /// The outcomes that the caller has not seen yet, in order.
    pub(super) outcomes: VecDeque<Outcome<P>>,
    /// The first slot that has not been decided, and the next one in which something is to be decided.
    pub(super) open: u64,
    pub(super) next: Option<u64>,
    pub(super) now: Instant,
}

impl<P> CellMedium<P> {
    /// Creates an idle cell of these stations, which are numbered in this order; `base` is the base station.
    ///
    /// # Errors
    /// If the description contradicts itself.
    pub fn new(
        config: &CellConfig,
        (stations, base): (&[CellStation], usize),
        radio: Option<&RadioConfig>,
        seed: Seed,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let terminals = || stations.iter().enumerate().filter(|(place, _)| *place != base).map(|(_, own)| own);
        terminals().try_for_each(CellStation::check)?;
        let of = |way: &'static str| move |own: &CellStation| Bearer::new(seed.derive(&own.name).derive(way));
        Ok(Self {
            config: config.clone(),
            base,
            qualities: Qualities::new(config, (stations, base), radio, seed)?,
            bearers: stations.iter().map(of("down")).chain(stations.iter().map(of("up"))).collect(),
            active_until: vec![Instant::ZERO; stations.len()],
            counters: vec![StationCounters::default(); stations.len()],
            totals: Totals::default(),
            outcomes: VecDeque::new(),
            open: 0,
            next: None,
            now: Instant::ZERO,
        })
    }

    /// Takes a frame at `now` that a station sends: a terminal to the base station, whatever its destination, and the base station to a terminal or to
    /// everybody. If there is no room for it, it is handed out as dropped.
    ///
    /// # Panics
    /// If there is no such station.
    pub fn enqueue(&mut self, now: Instant, from: StationId, frame: Frame<P>) {
        self.run_until(now);
        let (at, station) = (self.now, from.0 as usize);
        self.counters[station].frames += 1;
        let place = match frame.to {
            _ if station != self.base => self.counters.len() + station,
            Destination::Station(to) => to.0 as usize,
            Destination::Everybody => self.base,
        };
        self.follow(place % self.counters.len());
        if self.bearers[place].waiting() >= self.config.queue as usize {
            return self.hand_out(at, station, frame, Some(Cause::Full));
        }
        let bearer = &mut self.bearers[place];
        bearer.push(frame);
        if station != self.base && bearer.known_from.is_none() {
            let known = self.requested(station, at);
            self.bearers[place].known_from = Some(known);
            self.listen(station, known);
            // Now that the terminal listens, what waits for it may be sent sooner.
            self.next = self.next.into_iter().chain(self.next_of(station)).min();
        }
        self.next = self.next.into_iter().chain(self.next_of(place)).min();
    }

    /// A terminal has data now, and is where its measurements say; those of this very instant come with the slot.
    fn follow(&mut self, station: usize) {
        if !self.has_data(station) {
            self.counters[station].handovers += self.qualities.catch_up(station, self.now);
        }
        self.qualities.connect(station, self.now);
    }

    /// Whether something waits for a terminal or at it, or is on its way.
    pub(super) fn has_data(&self, station: usize) -> bool {
        self.bearers[station].has_data() || self.bearers[self.counters.len() + station].has_data()
    }

    /// From when on the base station knows of what comes to an empty queue of a terminal.
    pub(super) fn requested(&self, station: usize, at: Instant) -> Instant {
        let period = self.config.request.as_nanos();
        let reachable = self.qualities.reachable(station, at);
        if period == 0 {
            return reachable;
        }
        let chance = Instant::from_nanos(reachable.as_nanos().div_ceil(period) * period);
        self.qualities.reachable(station, chance) + self.config.slot + self.config.grant
    }

    /// A terminal listens from this instant on, for the time of inactivity.
    pub(super) fn listen(&mut self, station: usize, from: Instant) {
        if let Some(drx) = self.config.drx {
            self.active_until[station] = self.active_until[station].max(from + drx.inactivity);
        }
    }

    /// Returns when [`CellMedium::advance`] wants to be called: there may be something to hand out then. None while there is nothing to do.
    pub fn next_wake(&self) -> Option<Instant> {
        let first = self.outcomes.front().map(|outcome| outcome.at);
        let slot = self.next.map(|slot| self.start(slot) + self.config.slot + self.config.processing);
        first.into_iter().chain(slot).chain(self.next_give_up().map(|(at, _)| at)).min()
    }

    /// Hands out what was delivered or dropped until `now`, in order of instants.
    pub fn advance(&mut self, now: Instant, mut sink: impl FnMut(Outcome<P>)) {
        self.run_until(now);
        while self.outcomes.front().is_some_and(|first| first.at <= self.now)
            && let Some(outcome) = self.outcomes.pop_front()
        {
            let counters = &mut self.counters[outcome.from.0 as usize];
            match outcome.dropped {
                None => {
                    counters.delivered += 1;
                    counters.delivered_bytes += outcome.frame.size.get();
                }
                Some(cause) => {
                    counters.dropped += 1;
                    counters.lost += u64::from(cause != Cause::Full);
                }
            }
            sink(outcome);
        }
    }

    /// Returns the instant before which all outcomes are known at `now`, no matter what is enqueued from `now` on.
    pub fn lookahead_until(&mut self, now: Instant) -> Instant {
        self.run_until(now);
        self.horizon()
    }

    /// Returns how long whatever is enqueued is on its way at least.
    pub fn lookahead(&self) -> Duration {
        self.config.slot + self.config.processing
    }

    /// Shows the frames that will be delivered before the answer of [`CellMedium::lookahead_until`], and when, in order. They stay where they are, and are
    /// handed out by [`CellMedium::advance`] in their turn.
    pub fn foresee(&mut self, mut sink: impl FnMut(Instant, &mut Frame<P>)) {
        let horizon = self.horizon();
        let delivered = self.outcomes.iter_mut().filter(|one| one.dropped.is_none() && one.at < horizon);
        delivered.for_each(|one| sink(one.at, &mut one.frame));
    }

    /// Ends what is on the air at `now`, and hands out all frames that wait or are on their way.
    pub fn clear(&mut self, now: Instant, mut sink: impl FnMut(Frame<P>)) {
        self.run_until(now);
        self.outcomes.drain(..).for_each(|outcome| sink(outcome.frame));
        self.bearers.iter_mut().for_each(|bearer| bearer.clear(&mut sink));
        self.next = None;
    }

    /// Begins counting anew at `now`, where traces, paths and handovers begin, too.
    pub fn begin_counting(&mut self, now: Instant) {
        self.run_until(now);
        self.qualities.begin(self.now);
        self.totals = Totals::default();
        self.counters.fill(StationCounters::default());
        self.look_for_next();
    }

    /// Returns what all stations together have done since counting began. Busy is each slot in which anything was sent.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Returns the counters of each station, in order of numbers. An attempt is a transport block that was sent, and the airtime of a station its share of the
    /// blocks of its direction.
    pub fn counters(&self) -> impl Iterator<Item = StationCounters> + '_ {
        self.counters.iter().copied()
    }

    /// Returns how many frames of all stations have neither been delivered nor dropped.
    pub fn waiting(&self) -> usize {
        self.bearers.iter().map(|bearer| bearer.waiting() + bearer.on_air()).sum::<usize>() + self.outcomes.len()
    }

    /// When a slot begins.
    pub(super) fn start(&self, slot: u64) -> Instant {
        Instant::from_nanos(slot * self.config.slot.as_nanos())
    }

    /// The first slot that begins at an instant or behind it, in which this direction has blocks.
    pub(super) fn slot_from(&self, at: Instant, is_uplink: bool) -> u64 {
        let first = at.as_nanos().div_ceil(self.config.slot.as_nanos()).max(self.open);
        let length = self.config.pattern.len() as u64;
        (first..first + length.max(1)).find(|slot| self.has_blocks(*slot, is_uplink)).unwrap_or(first)
    }

    /// Whether a direction has blocks in a slot.
    pub(super) fn has_blocks(&self, slot: u64, is_uplink: bool) -> bool {
        let wanted = if is_uplink { SlotUse::Uplink } else { SlotUse::Downlink };
        let length = self.config.pattern.len() as u64;
        length == 0 || self.config.pattern[(slot % length) as usize] == wanted
    }

    /// Returns the instant at which a packet is delivered at the earliest that comes from now on.
    fn horizon(&self) -> Instant {
        let slot = self.now.as_nanos().div_ceil(self.config.slot.as_nanos());
        self.start(slot) + self.config.slot + self.config.processing
    }

    /// Decides the slots that began before `now`.
    fn run_until(&mut self, now: Instant) {
        while let Some(slot) = self.next.filter(|slot| self.start(*slot) < now) {
            self.run_slot(slot);
            self.open = slot + 1;
            self.look_for_next();
        }
        self.now = self.now.max(now);
        self.open = self.open.max(self.now.as_nanos().div_ceil(self.config.slot.as_nanos()));
        self.give_up_before(self.horizon());
    }

    pub(super) fn look_for_next(&mut self) {
        self.next = (0..self.bearers.len()).filter_map(|place| self.next_of(place)).min();
    }

    /// The next slot in which something of a bearer may be sent.
    fn next_of(&self, place: usize) -> Option<u64> {
        let (stations, bearer) = (self.counters.len(), &self.bearers[place]);
        let (is_uplink, station) = (place >= stations, place % stations);
        let repeat = bearer.repeats.front().map(|repeat| repeat.due);
        let fresh = (bearer.waiting() > 0).then(|| match bearer.known_from {
            Some(known) if is_uplink => known,
            _ if is_uplink => Instant::MAX,
            _ => self.listening(station, self.start(self.open)),
        });
        let sends = repeat.into_iter().chain(fresh).min().map(|at| {
            let at = at.max(bearer.blind_until).max(self.start(self.open));
            self.slot_from(self.qualities.reachable(station, at), is_uplink)
        });
        let measures = self.qualities.next_measurement(station).filter(|_| bearer.has_data());
        let measures = measures.map(|at| at.as_nanos().div_ceil(self.config.slot.as_nanos()).max(self.open));
        sends.into_iter().chain(measures).min()
    }

    /// When a terminal listens next, from this instant on.
    pub(super) fn listening(&self, station: usize, at: Instant) -> Instant {
        let Some(drx) = self.config.drx.filter(|_| station != self.base) else { return at };
        let within = at.as_nanos() % drx.cycle.as_nanos();
        if at < self.active_until[station] || within < drx.on.as_nanos() {
            return at;
        }
        at + Duration::from_nanos(drx.cycle.as_nanos() - within)
    }

    /// The first instant at which something missing is given up, and by whom.
    fn next_give_up(&self) -> Option<(Instant, usize)> {
        self.bearers.iter().zip(0..).filter_map(|(bearer, place)| Some((bearer.gives_up?, place))).min()
    }

    /// Gives up what is missing for too long before `end`.
    pub(super) fn give_up_before(&mut self, end: Instant) {
        while let Some((at, place)) = self.next_give_up().filter(|(at, _)| *at < end) {
            let from = self.sender(place);
            let Self { bearers, outcomes, config, .. } = self;
            let bearer = &mut bearers[place];
            let mut sink = |frame, dropped| insert(outcomes, Outcome { at, from, frame, dropped });
            bearer.skip(&mut sink);
            bearer.deliver(false, &mut sink);
            bearer.gives_up = bearer.has_gap().then(|| at + config.reordering);
        }
    }

    /// Whose frames a bearer carries.
    pub(super) fn sender(&self, place: usize) -> StationId {
        let stations = self.counters.len();
        let station = if place < stations { self.base } else { place - stations };
        StationId(u32::try_from(station).expect("stations are numbered so"))
    }

    pub(super) fn is_acknowledged(&self) -> bool {
        self.config.rlc == RadioLinkControl::Acknowledged
    }

    fn hand_out(&mut self, at: Instant, from: usize, frame: Frame<P>, dropped: Option<Cause>) {
        let from = StationId(u32::try_from(from).expect("stations are numbered so"));
        insert(&mut self.outcomes, Outcome { at, from, frame, dropped });
    }
}

/// Puts an outcome behind all that are not later.
pub(super) fn insert<P>(outcomes: &mut VecDeque<Outcome<P>>, outcome: Outcome<P>) {
    let place = outcomes.partition_point(|other| other.at <= outcome.at);
    outcomes.insert(place, outcome);
}
