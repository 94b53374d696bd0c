//! The medium: stations that share one channel and all hear one another.
//!
//! Nothing happens per slot. Of every category of a station it is known when it begins to send if the medium stays idle, and the least of
//! these instants is the next begin. Those who begin at one instant collide. From then on the medium is busy until the answer is over, and
//! backoffs stand still; then all of them go on behind their interframe spaces.
//!
//! Invariants:
//!
//! - A begin is final when its instant has passed, and not before: whoever enqueues a frame at the very instant at which another
//!   station begins takes part in the collision, in whichever order the medium is told. So results depend on instants alone, and
//!   a late driver gets the outcomes of a punctual one.
//! - Every station draws from generators of its own.
//! - What stations and interferers send one after the other adds up, with idle time and collisions, to the time that passed.
//! - Every frame that came in waits, is delivered or is dropped.

mod begin;
mod end;
mod foreign;

use crate::aired::{Aired, Recorder};
use crate::airtime::{Airtime, Use};
use crate::attempt::Attempt;
use crate::config::{Access, MediumConfig};
use crate::contention::Contention;
use crate::counters::{StationCounters, Totals};
use crate::error::ConfigError;
use crate::frame::{Cause, Frame, Outcome, StationId};
use crate::interferer::Interferers;
use crate::link::{Link, LinkConfig};
use crate::queue::Limits;
use crate::station::{Station, StationConfig};
use crate::transmission::{Fate, Party, Transmission};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use netloom_units::{Duration, Instant, Seed};

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct Medium<P> {
    config: MediumConfig,
    limits: Limits,
    stations: Vec<Station<P>>,
    /// The transmission on the air; none while the medium is idle.
    on_air: Option<Transmission>,
    idle_since: Instant,
    interferers: Interferers,
    /// Until when bursts of interferers last that have begun; none while there are none.
    disturbed: Option<Instant>,
    /// When a station begins next, if nothing is enqueued before.
    next_begin: Option<Instant>,
    /// The outcomes that the caller has not seen yet, in order.
    outcomes: VecDeque<Outcome<P>>,
    airtime: Airtime,
    totals: Totals,
    /// Records since they were asked for; none while nobody wants any.
    attempts: Option<Vec<Attempt>>,
    /// Records of what PPDUs carried; none while nobody wants any.
    recorder: Option<Recorder<P>>,
    /// Numbers frames in the order of their arrival.
    arrivals: u64,
    now: Instant,
    /// Room for the next transmission.
    spare: Vec<Party>,
}

impl<P> Medium<P> {
    /// Creates an idle medium with these stations, which are numbered in this order.
    ///
    /// # Errors
    /// If the description contradicts itself, or a station has a mode that the physical layer does not have.
    pub fn new(config: &MediumConfig, stations: &[StationConfig], seed: Seed) -> Result<Self, ConfigError> {
        config.check()?;
        let made: Result<Vec<_>, _> = stations.iter().map(|station| Station::new(config, station, seed)).collect();
        Ok(Self {
            config: *config,
            limits: Limits::new(config),
            stations: made?,
            on_air: None,
            idle_since: Instant::ZERO,
            interferers: Interferers::new(&[], seed)?,
            disturbed: None,
            next_begin: None,
            outcomes: VecDeque::new(),
            airtime: Airtime::new(stations.len(), Instant::ZERO),
            totals: Totals::default(),
            attempts: None,
            recorder: None,
            arrivals: 0,
            now: Instant::ZERO,
            spare: Vec::new(),
        })
    }

    /// Says from now on how `from` reaches `to`. What is on the air stays as it is.
    ///
    /// # Errors
    /// If the physical layer does not have such a mode.
    ///
    /// # Panics
    /// If there is no station `from`.
    pub fn set_link(
        &mut self,
        now: Instant,
        from: StationId,
        to: StationId,
        link: LinkConfig,
    ) -> Result<(), ConfigError> {
        self.run_until(now);
        self.stations[from.0 as usize].set_link(to.0, Link::new(&self.config.phy, link)?);
        Ok(())
    }

    /// Takes a frame at `now` that a station sends. If there is no room for it, it is handed out as dropped.
    ///
    /// # Panics
    /// If there is no station `from`.
    pub fn enqueue(&mut self, now: Instant, from: StationId, frame: Frame<P>) {
        self.run_until(now);
        let is_busy = self.on_air.is_some() || self.disturbed.is_some();
        let (at, number) = (self.now, self.arrivals);
        self.arrivals += 1;
        let station = &mut self.stations[from.0 as usize];
        station.counters.frames += 1;
        let category = if station.contenders.len() > 1 { frame.category as usize } else { 0 };
        let contender = &mut station.contenders[category];
        let was_empty = contender.queue.is_empty();
        if let Err(full) = contender.queue.push((at, number), frame) {
            station.counters.dropped += 1;
            return self.outcomes.push_back(Outcome { at, from, frame: full, dropped: Some(Cause::Full) });
        }
        if was_empty {
            contender.ask(at, is_busy);
            if !is_busy {
                self.next_begin = self.next_begin.into_iter().chain(contender.due()).min();
            }
        }
    }

    /// Takes a management frame at `now` that a station sends, whose size is that of its body. It goes at the lowest basic rate, in front of other frames of the most
    /// urgent category. Its outcome is handed out as those of others are, but it is not counted as a frame.
    ///
    /// # Panics
    /// If there is no station `from`.
    pub fn enqueue_management(&mut self, now: Instant, from: StationId, frame: Frame<P>) {
        self.run_until(now);
        let is_busy = self.on_air.is_some() || self.disturbed.is_some();
        let (at, number) = (self.now, self.arrivals);
        self.arrivals += 1;
        let Some(contender) = self.stations[from.0 as usize].contenders.last_mut() else { return };
        let was_empty = contender.queue.is_empty();
        contender.queue.push_management((at, number), frame);
        if was_empty {
            contender.ask(at, is_busy);
            if !is_busy {
                self.next_begin = self.next_begin.into_iter().chain(contender.due()).min();
            }
        }
    }

    /// Returns when [`Medium::advance`] wants to be called: there may be something to hand out then. None while there is nothing to do.
    #[inline]
    pub fn next_wake(&self) -> Option<Instant> {
        if let Some(first) = self.outcomes.front() {
            return Some(first.at);
        }
        match &self.on_air {
            Some(transmission) => Some(transmission.next()),
            // Nothing comes of a begin before the shortest frame is over.
            None => self.next_begin.map(|begin| begin + self.config.phy.shortest()).or(self.next_calm()),
        }
    }

    /// Hands out what was delivered or dropped until `now`, in order of instants.
    pub fn advance(&mut self, now: Instant, sink: impl FnMut(Outcome<P>)) {
        self.run_until(now);
        self.outcomes.drain(..).for_each(sink);
    }

    /// Returns the instant before which all outcomes are known at `now`, no matter what is enqueued from `now` on. An answer may be earlier
    /// than what could be proved, never later.
    pub fn lookahead_until(&mut self, now: Instant) -> Instant {
        self.run_until(now);
        let is_ideal = self.config.access == Access::Ideal;
        let space = |slots: u32| if is_ideal { Duration::ZERO } else { self.config.phy.aifs(slots) };
        let least = self.config.contention.iter().map(|one| one.aifsn).min().unwrap_or(0);
        let first = match &self.on_air {
            // Whoever has a TXOP may go on behind a SIFS with what comes meanwhile.
            Some(transmission) if transmission.may_last.is_some() => transmission.end + space(0),
            Some(transmission) => transmission.end + space(least),
            None => self.now.max(self.disturbed.unwrap_or(self.idle_since) + space(least)),
        };
        first + self.config.phy.shortest()
    }

    /// Shows the frames that will be delivered when what is on the air is over, and when, in order: before the answer of
    /// [`Medium::lookahead_until`], nothing else is delivered. They stay where they are, and are handed out by [`Medium::advance`] in their turn.
    pub fn foresee(&mut self, mut sink: impl FnMut(Instant, StationId, &mut Frame<P>)) {
        let Some(Transmission { fate, end, parties, .. }) = &self.on_air else { return };
        let arrives = if let Fate::Arrives(at) = fate { *at } else { *end };
        for party in parties {
            let from = StationId(u32::try_from(party.station).expect("stations are numbered so"));
            let queue = &mut self.stations[party.station].contenders[party.category].queue;
            let failure = party.failure(*fate);
            queue.foresee(party.flow, failure, self.config.retries, |is_late, frame| {
                sink(if is_late { *end } else { arrives }, from, frame);
            });
        }
    }

    /// Ends what is on the air at `now`, as if it had never been sent, and hands out all frames that wait.
    pub fn clear(&mut self, now: Instant, mut sink: impl FnMut(StationId, Frame<P>)) {
        self.run_until(now);
        let (at, used) = (self.now, self.use_of_now());
        self.airtime.book(at, used);
        self.recorder.iter_mut().for_each(Recorder::forget);
        (self.on_air, self.next_begin, self.idle_since) = (None, None, at);
        for (station, number) in self.stations.iter_mut().zip(0..) {
            for contender in &mut station.contenders {
                contender.queue.drain().for_each(|frame| sink(StationId(number), frame));
                contender.reset_window();
                contender.resume(at);
                contender.hold(self.disturbed.unwrap_or(at));
            }
        }
    }

    /// Returns what all stations together have done since counting began.
    pub fn totals(&self) -> Totals {
        Totals { busy: self.airtime.busy(), collided: self.airtime.collisions, ..self.totals }
    }

    /// Returns how long whatever is enqueued is on its way at least.
    pub fn lookahead(&self) -> Duration {
        self.config.phy.shortest()
    }

    /// Returns how the medium's time was spent until `now`, since counting began.
    pub fn airtime(&mut self, now: Instant) -> Airtime {
        self.run_until(now);
        let mut airtime = self.airtime.clone();
        airtime.book(self.now, self.use_of_now());
        airtime
    }

    /// Returns the counters of each station, in order of numbers.
    pub fn counters(&self) -> impl Iterator<Item = StationCounters> + '_ {
        let airtimes = self.airtime.stations.iter();
        self.stations.iter().zip(airtimes).map(|(own, airtime)| StationCounters { airtime: *airtime, ..own.counters })
    }

    /// Starts or stops recording attempts. Records that are there are thrown away.
    pub fn record_attempts(&mut self, wanted: bool) {
        self.attempts = wanted.then(Vec::new);
    }

    /// Returns the records of attempts that ended since the last call, in order of their ends; of a collision in order of stations.
    pub fn attempts(&mut self) -> impl Iterator<Item = Attempt> + '_ {
        self.attempts.iter_mut().flat_map(|attempts| attempts.drain(..))
    }

    /// Starts recording what PPDUs with data carry, of which `copy` makes a copy; none stops recording. Records that are there are thrown away.
    pub fn record_frames(&mut self, copy: Option<fn(&P) -> P>) {
        self.recorder = copy.map(Recorder::new);
    }

    /// Whether PPDUs are recorded.
    pub fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }

    /// Returns the records of PPDUs with data that ended since the last call, in order of their ends; those that a [`Medium::clear`] ended
    /// are left out.
    pub fn frames(&mut self) -> impl Iterator<Item = Aired<P>> + '_ {
        self.recorder.iter_mut().flat_map(Recorder::take)
    }

    /// Returns how many frames of a station have neither been delivered nor dropped.
    ///
    /// # Panics
    /// If there is no such station.
    pub fn waiting(&self, station: StationId) -> usize {
        self.stations[station.0 as usize].contenders.iter().map(|contender| contender.queue.count()).sum()
    }

    /// Begins counting anew at `now`, where bursts of interferers begin, too. What waits then is not counted as having come in.
    pub fn begin_counting(&mut self, now: Instant) {
        self.run_until(now);
        self.interferers.begin(now);
        self.airtime = Airtime::new(self.stations.len(), self.now);
        self.totals = Totals::default();
        self.stations.iter_mut().for_each(|station| station.counters = StationCounters::default());
    }

    /// Returns the parameters of the categories, the least urgent first.
    pub fn contention(&self) -> &[Contention; 4] {
        &self.config.contention
    }

    /// Does what happens until `now`. A begin at `now` itself is not final yet.
    fn run_until(&mut self, now: Instant) {
        loop {
            let on_air = self.on_air.as_ref().map(Transmission::next);
            let begins = self.next_begin.into_iter().chain(self.interferers.next_begin()).min();
            let ends = on_air.into_iter().chain(self.disturbed).min();
            if let Some(at) = ends.filter(|at| *at <= now && begins.is_none_or(|begin| *at <= begin)) {
                if on_air == ends { self.go_on(at) } else { self.calm_down(at) }
            } else if let Some(at) = begins.filter(|at| *at < now) {
                if self.next_begin == begins {
                    self.begin(at);
                }
                self.interfere(at);
            } else {
                break;
            }
        }
        self.now = self.now.max(now);
    }

    /// Something happens to what is on the air.
    fn go_on(&mut self, at: Instant) {
        let Some(transmission) = &mut self.on_air else { return };
        if let Fate::Arrives(_) = transmission.fate {
            transmission.fate = Fate::Arrived;
            // The data is over; after its answer nobody may look.
            self.recorder.iter_mut().for_each(Recorder::end);
            let party = transmission.parties[0];
            self.stations[party.station].contenders[party.category].queue.receive(party.flow);
            self.release(at, party);
            // Without an answer, that was all.
            if self.on_air.as_ref().is_some_and(|on_air| on_air.end > at) {
                return;
            }
        }
        self.end(at);
    }

    /// Hands out what a station has got across or given up.
    fn release(&mut self, at: Instant, party: Party) {
        let from = StationId(u32::try_from(party.station).expect("stations are numbered so"));
        let station = &mut self.stations[party.station];
        let (counters, outcomes) = (&mut station.counters, &mut self.outcomes);
        station.contenders[party.category].queue.release(party.flow, |frame, dropped| {
            let counted = u64::from(!party.is_management);
            if dropped.is_some() {
                counters.dropped += counted;
                counters.lost += counted;
            } else {
                counters.delivered += counted;
                counters.delivered_bytes += frame.size.get() * counted;
            }
            outcomes.push_back(Outcome { at, from, frame, dropped });
        });
    }

    fn use_of_now(&self) -> Use {
        match &self.on_air {
            None if self.disturbed.is_some() => Use::Interferer,
            None => Use::Idle,
            Some(transmission) if transmission.fate == Fate::Collides => Use::Collision,
            Some(transmission) => Use::Station(transmission.parties[0].station),
        }
    }
}
