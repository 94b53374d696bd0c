//! A medium whose stations are at positions: each senses, receives and is disturbed by what reaches it.
//!
//! Every station has its own view. It is busy while it sends, answers or waits for an answer, while a PPDU is in the air whose preamble it found,
//! while all it hears together is above the threshold of energy, and as long as others have reserved the medium (NAV). Otherwise its backoffs
//! run on, as on a medium where all hear one another. So stations that do not hear each other begin during each other's PPDUs, and whether a
//! receiver decodes one of them follows from the ratio of its power to noise and all others, in chunks within which these are constant.
//!
//! Sources: IEEE 802.11-2020, 10.3 (access, NAV and its reset, RTS and CTS, EIFS) and 17.3.10.6 (CCA); ns-3's models `ThresholdPreambleDetectionModel`,
//! `SimpleFrameCaptureModel` and `InterferenceHelper` with their defaults (4 dB, 5 dB within 16 us, -82 and -62 dBm, a noise figure of 7 dB).
//! Differs from them: signals take no time on their way; a preamble above the sensitivity makes a station busy to its end even if it cannot
//! be decoded; headers of the physical layer always are; a PPDU reserves the medium up to its own answer, even if its TXOP goes on behind that, and a
//! TXOP ends with the first exchange that fails; two categories of a station that are due at once count no retry; when an acknowledgement is lost, the
//! copies of what has arrived are sent again alone, before anything else.
//!
//! Invariants:
//!
//! - What ends at an instant is over before anything begins there; what begins at an instant begins together, and not before the instant has
//!   passed: results depend on instants alone.
//! - Powers are whole numbers, and each decision about a frame is a function of the seed, its sender's name and number, and its receiver's name. So
//!   results do not depend on the order of stations.
//! - Interferers send at instants that are known, whatever stations do. Who finds their preambles is busy to the end of the burst and cannot receive
//!   anything else; behind it nobody waits for an EIFS, and nothing is reserved.
//! - An outcome is handed out a SIFS after the event from which it follows, as a receiver begins its answer then. So for a SIFS all of them are
//!   known, whoever begins meanwhile.

mod ahead;
mod begin;
mod end;
mod foreign;
mod frames;
mod receive;
mod roam;
mod signal;
mod state;

use crate::aired::Recorder;
use crate::antenna::AntennaPattern;
use crate::config::{Access, MediumConfig};
use crate::counters::{StationCounters, Totals};
use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::error_rate::Coding;
use crate::frame::{Cause, Frame, Outcome, StationId};
use crate::interferer::{Interferer, Interferers};
use crate::path::Path;
use crate::path_loss::noise_floor;
use crate::power::Power;
use crate::propagation::{Antenna, FadingConfig, Propagation, ShadowingConfig, Surroundings, Ways};
use crate::queue::Limits;
use crate::rate_control::{Control, Learned, Modes, RateControl};
use crate::wall::Wall;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use netloom_units::{Duration, Instant, Seed};
use roam::Network;
pub use roam::{Associated, Join};
use signal::Signal;
use state::State;

/// The most stations of one medium: what is known of pairs grows with the square of their number.
const MOST_STATIONS: usize = 256;

/// The description of signals on a medium.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioConfig {
    /// The centre frequency.
    pub hertz: u64,
    /// The path loss; default log-distance with an exponent of 3 and 46.6777 dB at one metre.
    pub propagation: Propagation,
    /// The walls, which lose beside what the path does; default none.
    pub walls: Vec<Wall>,
    /// The shadowing; default none.
    pub shadowing: Option<ShadowingConfig>,
    /// The fading; default none.
    pub fading: Option<FadingConfig>,
    /// The neighbours' networks and other devices that send on the channel; default none.
    pub interferers: Vec<Interferer>,
    /// How much noise receivers add; default 7 dB.
    pub noise_figure: Decibels,
    /// The least power in dBm at which a preamble is found; default -82 dBm.
    pub sensitivity: Decibels,
    /// The power in dBm of all signals together from which on a station is busy whatever they are; default -62 dBm.
    pub energy: Decibels,
    /// How much stronger a later frame must be to take the receiver of an earlier one; none: never; default 5 dB.
    pub capture: Option<Decibels>,
    /// The code; default convolutional.
    pub coding: Coding,
}

impl RadioConfig {
    /// Creates the description of signals at a frequency, with everything else at its default.
    pub fn new(hertz: u64) -> Self {
        Self {
            hertz,
            propagation: Propagation::LogDistance { exponent: 3.0, reference: Decibels(46.6777) },
            walls: Vec::new(),
            shadowing: None,
            fading: None,
            interferers: Vec::new(),
            noise_figure: Decibels(7.0),
            sensitivity: Decibels(-82.0),
            energy: Decibels(-62.0),
            capture: Some(Decibels(5.0)),
            coding: Coding::Bcc,
        }
    }
}

/// The description of a station at a position.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioStation {
    /// The name, from which the station's seed follows.
    pub name: String,
    /// Where it is at each time since counting began; until then it is where its path begins.
    pub path: Path,
    /// The power in dBm with which it sends, without the gain of its antenna; default in lab files 16 dBm.
    pub power: Decibels,
    /// Its antenna; default equal in all directions, with a gain of 0 dB.
    pub pattern: AntennaPattern,
    /// How it chooses its modes.
    pub rate: RateControl,
}

impl RadioStation {
    fn antenna(&self) -> Antenna<'_> {
        Antenna { name: &self.name, path: &self.path, power: self.power, pattern: self.pattern }
    }
}

/// The end of a frame's way, and who has received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reception<P> {
    /// The frame, and what became of it. `at` is a SIFS after its last bit.
    pub outcome: Outcome<P>,
    /// The stations that have received it: its destination, or those of all others that could; none if it was dropped.
    pub heard_by: Vec<StationId>,
}

/// The properties of receivers.
#[derive(Clone, Copy, Debug)]
struct Receiver {
    noise: Power,
    sensitivity: Power,
    energy: Power,
    capture: Option<Decibels>,
    coding: Coding,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub struct RadioMedium<P> {
    config: MediumConfig,
    limits: Limits,
    receiver: Receiver,
    ways: Ways,
    modes: Modes,
    /// How stations reach others, where it differs from their own.
    controls: BTreeMap<(u32, u32), Control>,
    /// The knowledge of rate controls about the ways between two stations.
    learned: BTreeMap<(usize, usize), Learned>,
    stations: Vec<State<P>>,
    /// The network with several access points, if it is one.
    network: Option<Box<Network>>,
    /// The least power at which a preamble is found.
    least: Decibels,
    interferers: Interferers,
    /// The signals on the air, and what is over and disturbed it, by the begin.
    signals: Vec<Signal>,
    /// The outcomes that the caller has not seen yet, in order.
    outcomes: VecDeque<Reception<P>>,
    totals: Totals,
    /// Records of what PPDUs carried; none while nobody wants any.
    recorder: Option<Recorder<P>>,
    /// Since when anything is on the air.
    busy_since: Option<Instant>,
    /// Numbers frames in the order of their arrival.
    arrivals: u64,
    now: Instant,
}

impl<P> RadioMedium<P> {
    /// Creates a medium with nothing on the air and these stations, which are numbered in this order. The access of `config` is not looked at.
    ///
    /// # Errors
    /// If the description contradicts itself, or a station has a mode that the physical layer does not have.
    pub fn new(
        config: &MediumConfig,
        radio: &RadioConfig,
        stations: &[RadioStation],
        seed: Seed,
    ) -> Result<Self, ConfigError> {
        let config = MediumConfig { access: Access::Dcf, ..*config };
        config.check()?;
        if stations.len() > MOST_STATIONS {
            let message = format!("at most {MOST_STATIONS} stations can have positions, found {}", stations.len());
            return Err(ConfigError::new("stations", message));
        }
        let RadioConfig { hertz, propagation, shadowing, fading, .. } = *radio;
        let surroundings = Surroundings { propagation, walls: radio.walls.clone(), shadowing, fading, hertz };
        let places = foreign::places(&radio.interferers);
        let of_places = places.iter().map(foreign::Place::antenna);
        let antennas: Vec<Antenna<'_>> = stations.iter().map(RadioStation::antenna).chain(of_places).collect();
        surroundings.check(&antennas)?;
        let modes = Modes::new(&config, radio.coding);
        let made = stations.iter().map(|own| Ok(State::new(&config, own, modes.control(&config.phy, own.rate)?, seed)));
        Ok(Self {
            config,
            limits: Limits::new(&config),
            receiver: Receiver {
                noise: Power::of(noise_floor(config.phy.width().hertz(), radio.noise_figure)),
                sensitivity: Power::of(radio.sensitivity),
                energy: Power::of(radio.energy),
                capture: radio.capture,
                coding: radio.coding,
            },
            ways: surroundings.ways(&antennas, seed),
            stations: made.collect::<Result<_, ConfigError>>()?,
            network: None,
            least: radio.sensitivity,
            interferers: Interferers::new(&radio.interferers, seed)?,
            modes,
            controls: BTreeMap::new(),
            learned: BTreeMap::new(),
            signals: Vec::new(),
            outcomes: VecDeque::new(),
            totals: Totals::default(),
            recorder: None,
            busy_since: None,
            arrivals: 0,
            now: Instant::ZERO,
        })
    }

    /// Says from now on how `from` chooses its modes for `to`.
    ///
    /// # Errors
    /// If the physical layer does not have such a mode.
    pub fn set_rate(
        &mut self,
        now: Instant,
        from: StationId,
        to: StationId,
        rate: RateControl,
    ) -> Result<(), ConfigError> {
        self.run_until(now);
        self.controls.insert((from.0, to.0), self.modes.control(&self.config.phy, rate)?);
        self.learned.remove(&(from.0 as usize, to.0 as usize));
        Ok(())
    }

    /// Returns the ratio of signal to noise with which `to` receives what `from` sends at an instant.
    pub fn signal_to_noise(&mut self, from: StationId, to: StationId, at: Instant) -> Decibels {
        self.ways.power(from.0 as usize, to.0 as usize, at).over(self.receiver.noise)
    }

    /// Does what happens until `now`, and hands out nothing.
    pub fn catch_up(&mut self, now: Instant) {
        self.run_until(now);
    }

    /// Takes a frame at `now` that a station sends. If there is no room for it, it is handed out as dropped.
    ///
    /// # Panics
    /// If there is no station `from`.
    pub fn enqueue(&mut self, now: Instant, from: StationId, frame: Frame<P>) {
        self.run_until(now);
        let (at, number) = (self.now, self.arrivals);
        self.arrivals += 1;
        let station = &mut self.stations[from.0 as usize];
        station.counters.frames += 1;
        let category = if station.contenders.len() > 1 { frame.category as usize } else { 0 };
        let contender = &mut station.contenders[category];
        let had_nothing = contender.has_nothing();
        if let Err(full) = contender.queue.push((at, number), frame) {
            station.counters.dropped += 1;
            let outcome = Outcome { at, from, frame: full, dropped: Some(Cause::Full) };
            // What follows from earlier events may be handed out later.
            let place = self.outcomes.iter().rposition(|other| other.outcome.at <= at).map_or(0, |last| last + 1);
            return self.outcomes.insert(place, Reception { outcome, heard_by: Vec::new() });
        }
        if had_nothing {
            contender.ask(at, !station.is_idle);
        }
    }

    /// Takes a management frame as [`Medium::enqueue_management`](crate::Medium::enqueue_management) does.
    ///
    /// # Panics
    /// If there is no station `from`.
    pub fn enqueue_management(&mut self, now: Instant, from: StationId, frame: Frame<P>) {
        self.run_until(now);
        let (at, number) = (self.now, self.arrivals);
        self.arrivals += 1;
        let station = &mut self.stations[from.0 as usize];
        let Some(contender) = station.contenders.last_mut() else { return };
        let had_nothing = contender.has_nothing();
        contender.queue.push_management((at, number), frame);
        if had_nothing {
            contender.ask(at, !station.is_idle);
        }
    }

    /// Returns when [`RadioMedium::advance`] wants to be called, and [`RadioMedium::take_join`]: there may be something to hand out then. None while there is
    /// nothing to do.
    pub fn next_wake(&self) -> Option<Instant> {
        let sifs = self.config.phy.sifs();
        let first = self.outcomes.front().map(|first| first.outcome.at);
        let ends = self.next_end().map(|at| at + sifs);
        // Nothing comes of a begin before the shortest frame is over.
        let begins = self.next_begin().map(|at| at + self.config.phy.shortest() + sifs);
        let roaming = self.next_roaming().map(|at| at + sifs);
        let joins = self.joins().next().map(|join| join.at);
        first.into_iter().chain(ends).chain(begins).chain(roaming).chain(joins).min()
    }

    /// Hands out what was delivered or dropped until `now`, in order of instants.
    pub fn advance(&mut self, now: Instant, mut sink: impl FnMut(Reception<P>)) {
        self.run_until(now);
        while self.outcomes.front().is_some_and(|first| first.outcome.at <= now) {
            self.outcomes.pop_front().into_iter().for_each(&mut sink);
        }
    }

    /// Ends what is on the air at `now`, as if it had never been sent, and hands out all frames that wait or were about to be handed out.
    pub fn clear(&mut self, now: Instant, mut sink: impl FnMut(StationId, Frame<P>)) {
        self.run_until(now);
        let at = self.now;
        let stations = self.stations.len();
        self.signals.retain(|signal| signal.from >= stations);
        self.book(at);
        self.outcomes.drain(..).for_each(|Reception { outcome, .. }| sink(outcome.from, outcome.frame));
        for (station, number) in self.stations.iter_mut().zip(0..) {
            station.clear(at, |frame| sink(StationId(number), frame));
        }
        self.depart_all(at);
        self.settle(at);
    }

    /// Returns what all stations together have done since counting began. A collision is an attempt of which nothing was decoded while something
    /// else was on the air; the medium is busy while anything is.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Returns how long whatever is enqueued is on its way at least.
    pub fn lookahead(&self) -> Duration {
        self.config.phy.sifs()
    }

    /// Returns the counters of each station, in order of numbers.
    pub fn counters(&self) -> impl Iterator<Item = StationCounters> + '_ {
        let own =
            |(place, station): (usize, &State<P>)| StationCounters { clients: self.clients(place), ..station.counters };
        self.stations.iter().enumerate().map(own)
    }

    /// Returns how many frames of a station have neither been delivered nor dropped.
    ///
    /// # Panics
    /// If there is no such station.
    pub fn waiting(&self, station: StationId) -> usize {
        self.stations[station.0 as usize].contenders.iter().map(|contender| contender.queue.count()).sum()
    }

    /// Begins counting anew at `now`, where paths of stations and bursts of interferers begin, too. What waits then is not counted as having come in.
    pub fn begin_counting(&mut self, now: Instant) {
        self.run_until(now);
        self.ways.begin(now);
        self.interferers.begin(now);
        self.totals = Totals::default();
        self.busy_since = self.busy_since.map(|_| self.now);
        self.stations.iter_mut().for_each(|station| station.begin_counting(self.now));
        self.begin_roaming(self.now);
    }

    /// Does what happens until `now`. What begins at `now` itself is not final yet.
    fn run_until(&mut self, now: Instant) {
        loop {
            let begins = self.next_begin();
            let is_first = |at: &Instant| *at <= now && begins.is_none_or(|begin| *at <= begin);
            let (ends, roams) = (self.next_end(), self.next_roaming());
            if let Some(at) = ends.filter(is_first).filter(|at| roams.is_none_or(|roams| *at <= roams)) {
                self.end(at);
            } else if let Some(at) = roams.filter(is_first) {
                self.roam(at);
            } else if let Some(at) = begins.filter(|at| *at < now) {
                self.begin(at);
            } else {
                break;
            }
        }
        self.now = self.now.max(now);
    }

    /// When something ends next: a PPDU, a wait for an answer, a reservation.
    fn next_end(&self) -> Option<Instant> {
        let signals = self.signals.iter().filter(|signal| !signal.is_over).map(|signal| signal.end);
        signals.chain(self.stations.iter().flat_map(State::timers)).min()
    }

    /// When a station or an interferer begins next, if nothing is enqueued before.
    fn next_begin(&self) -> Option<Instant> {
        self.stations.iter().filter_map(State::due).chain(self.interferers.next_begin()).min()
    }

    /// Brings every station's view of the medium up to date: backoffs stand still or go on.
    fn settle(&mut self, at: Instant) {
        for station in 0..self.stations.len() {
            let active = self.signals.iter().filter(|signal| !signal.is_over);
            let is_sensed = active.clone().any(|signal| signal.is_sensed[station]);
            let heard: Power = active.map(|signal| signal.powers[station]).sum();
            let is_away = self.is_leaving(station);
            self.stations[station].settle(at, is_sensed || is_away || heard >= self.receiver.energy);
        }
        self.book(at);
    }

    /// Books the time in which anything was on the air.
    fn book(&mut self, at: Instant) {
        let is_busy = self.signals.iter().any(|signal| !signal.is_over && self.is_noticed(signal));
        if let Some(since) = self.busy_since {
            self.totals.busy = self.totals.busy + at.since(since);
        }
        self.busy_since = is_busy.then_some(at);
    }
}

fn id(place: usize) -> StationId {
    StationId(u32::try_from(place).expect("stations are numbered so"))
}
