//! The channel that stations share: one on which all hear one another, or one with signals between positions.

use super::{AirConfig, AirMedium, AirStation, id};
use alloc::boxed::Box;
use alloc::vec::Vec;
use netloom_radio::{
    Aired, CellConfig, CellMedium, CellSignal, CellStation, ConfigError, Frame, Join, Medium, MediumConfig, Outcome,
    RadioMedium, RadioStation, StationConfig, StationCounters, StationId, Totals,
};
use netloom_units::{Duration, Instant, Seed};

/// See the module.
#[derive(Clone, Debug)]
pub(super) enum Channel<P> {
    Shared(Box<Medium<P>>),
    Radio(Box<RadioMedium<P>>),
    Cell(Box<CellMedium<P>>),
}

impl<P> Channel<P> {
    pub(super) fn new(config: &AirConfig, seed: Seed) -> Result<Self, ConfigError> {
        match &config.medium {
            AirMedium::Wifi(medium) => Self::wifi(config, medium, seed),
            AirMedium::Cell(cell) => Self::cell(config, cell, seed),
        }
    }

    fn cell(config: &AirConfig, cell: &CellConfig, seed: Seed) -> Result<Self, ConfigError> {
        let station = |own: &AirStation| CellStation {
            name: own.name.clone(),
            signal: own.terminal.as_ref().map_or(CellSignal::Fixed(1, 1), |own| own.signal.clone()),
            handovers: own.terminal.as_ref().and_then(|own| own.handovers),
            site: own.terminal.as_ref().and_then(|own| own.site),
            path: own.antenna.path.clone(),
            power: own.antenna.power,
            pattern: own.antenna.pattern,
        };
        let stations: Vec<_> = config.stations.iter().map(station).collect();
        let base = config.access_point.ok_or_else(|| ConfigError::new("base", "a cell has a base station"))?;
        let medium = CellMedium::new(cell, (&stations, base), config.radio.as_ref(), seed)?;
        Ok(Self::Cell(Box::new(medium)))
    }

    fn wifi(config: &AirConfig, medium: &MediumConfig, seed: Seed) -> Result<Self, ConfigError> {
        let others = |point: usize| config.stations.iter().enumerate().filter(move |(place, _)| *place != point);
        if let Some(radio) = &config.radio {
            let station = |own: &AirStation| RadioStation {
                name: own.name.clone(),
                path: own.antenna.path.clone(),
                power: own.antenna.power,
                pattern: own.antenna.pattern,
                rate: own.antenna.rate,
            };
            let stations: Vec<_> = config.stations.iter().map(station).collect();
            let mut shared = RadioMedium::new(medium, radio, &stations, seed)?;
            for (point, (place, other)) in
                config.access_point.into_iter().flat_map(|point| others(point).map(move |other| (point, other)))
            {
                shared.set_rate(Instant::ZERO, id(point), id(place), other.antenna.rate)?;
            }
            let Some(points) = &config.access_points else { return Ok(Self::Radio(Box::new(shared))) };
            let channel = medium.phy.channel().map_or(0, netloom_radio::Channel::number);
            let mut network = shared.with_access_points(points, channel)?;
            let is_point = |place: usize| points.points.iter().any(|point| point.station == place);
            let clients = || config.stations.iter().enumerate().filter(|(place, _)| !is_point(*place));
            for (point, (place, client)) in
                points.points.iter().flat_map(|point| clients().map(move |own| (point, own)))
            {
                network.set_rate(Instant::ZERO, id(point.station), id(place), client.antenna.rate)?;
            }
            return Ok(Self::Radio(Box::new(network)));
        }
        let station = |own: &AirStation| StationConfig { name: own.name.clone(), link: own.link };
        let stations: Vec<StationConfig> = config.stations.iter().map(station).collect();
        let shared = Medium::new(medium, &stations, seed)?;
        let mut shared = shared.with_interferers(&config.interferers, seed)?;
        if let Some(point) = config.access_point {
            for (place, other) in others(point) {
                shared.set_link(Instant::ZERO, id(point), id(place), other.link)?;
            }
        }
        Ok(Self::Shared(Box::new(shared)))
    }

    /// Does what happens until `now`.
    pub(super) fn run_until(&mut self, now: Instant) {
        if let Self::Radio(medium) = self {
            medium.catch_up(now);
        }
    }

    /// The access point of several with which a station is; an access point is with itself.
    pub(super) fn access_point(&self, station: usize) -> Option<usize> {
        let Self::Radio(medium) = self else { return None };
        medium.access_point(id(station)).map(|point| point.0 as usize)
    }

    /// The stations that have arrived at access points, as far as that was not taken.
    pub(super) fn joins(&self) -> Vec<Join> {
        if let Self::Radio(medium) = self { medium.joins().collect() } else { Vec::new() }
    }

    pub(super) fn take_join(&mut self, now: Instant) -> Option<Join> {
        if let Self::Radio(medium) = self { medium.take_join(now) } else { None }
    }

    pub(super) fn enqueue(&mut self, now: Instant, from: StationId, frame: Frame<P>) {
        match self {
            Self::Shared(medium) => medium.enqueue(now, from, frame),
            Self::Radio(medium) => medium.enqueue(now, from, frame),
            Self::Cell(medium) => medium.enqueue(now, from, frame),
        }
    }

    pub(super) fn enqueue_management(&mut self, now: Instant, from: StationId, frame: Frame<P>) {
        match self {
            Self::Shared(medium) => medium.enqueue_management(now, from, frame),
            Self::Radio(medium) => medium.enqueue_management(now, from, frame),
            // Cells have signals of their own, which take no blocks here.
            Self::Cell(_) => {}
        }
    }

    pub(super) fn next_wake(&self) -> Option<Instant> {
        match self {
            Self::Shared(medium) => medium.next_wake(),
            Self::Radio(medium) => medium.next_wake(),
            Self::Cell(medium) => medium.next_wake(),
        }
    }

    /// Shows outcomes, and who has received what; none: all for whom it was.
    pub(super) fn advance(&mut self, now: Instant, mut sink: impl FnMut(Outcome<P>, Option<&[StationId]>)) {
        match self {
            Self::Shared(medium) => medium.advance(now, |outcome| sink(outcome, None)),
            Self::Radio(medium) => medium.advance(now, |one| sink(one.outcome, Some(&one.heard_by))),
            Self::Cell(medium) => medium.advance(now, |outcome| sink(outcome, None)),
        }
    }

    pub(super) fn lookahead_until(&mut self, now: Instant) -> Instant {
        match self {
            Self::Shared(medium) => medium.lookahead_until(now),
            Self::Radio(medium) => medium.lookahead_until(now),
            Self::Cell(medium) => medium.lookahead_until(now),
        }
    }

    pub(super) fn lookahead(&self) -> Duration {
        match self {
            Self::Shared(medium) => medium.lookahead(),
            Self::Radio(medium) => medium.lookahead(),
            Self::Cell(medium) => medium.lookahead(),
        }
    }

    pub(super) fn foresee(&mut self, mut sink: impl FnMut(Instant, &mut Frame<P>, Option<&[StationId]>)) {
        match self {
            Self::Shared(medium) => medium.foresee(|at, _, frame| sink(at, frame, None)),
            Self::Radio(medium) => medium.foresee(|at, frame, heard_by| sink(at, frame, Some(heard_by))),
            Self::Cell(medium) => medium.foresee(|at, frame| sink(at, frame, None)),
        }
    }

    pub(super) fn clear(&mut self, now: Instant, mut sink: impl FnMut(Frame<P>)) {
        match self {
            Self::Shared(medium) => medium.clear(now, |_, frame| sink(frame)),
            Self::Radio(medium) => medium.clear(now, |_, frame| sink(frame)),
            Self::Cell(medium) => medium.clear(now, sink),
        }
    }

    pub(super) fn begin_counting(&mut self, now: Instant) {
        match self {
            Self::Shared(medium) => medium.begin_counting(now),
            Self::Radio(medium) => medium.begin_counting(now),
            Self::Cell(medium) => medium.begin_counting(now),
        }
    }

    pub(super) fn totals(&self) -> Totals {
        match self {
            Self::Shared(medium) => medium.totals(),
            Self::Radio(medium) => medium.totals(),
            Self::Cell(medium) => medium.totals(),
        }
    }

    pub(super) fn record_frames(&mut self, copy: Option<fn(&P) -> P>) {
        match self {
            Self::Shared(medium) => medium.record_frames(copy),
            Self::Radio(medium) => medium.record_frames(copy),
            // Its blocks are no frames of 802.11.
            Self::Cell(_) => {}
        }
    }

    pub(super) fn is_recording(&self) -> bool {
        match self {
            Self::Shared(medium) => medium.is_recording(),
            Self::Radio(medium) => medium.is_recording(),
            Self::Cell(_) => false,
        }
    }

    pub(super) fn frames(&mut self) -> Vec<Aired<P>> {
        match self {
            Self::Shared(medium) => medium.frames().collect(),
            Self::Radio(medium) => medium.frames().collect(),
            Self::Cell(_) => Vec::new(),
        }
    }

    pub(super) fn counters(&self) -> Vec<StationCounters> {
        match self {
            Self::Shared(medium) => medium.counters().collect(),
            Self::Radio(medium) => medium.counters().collect(),
            Self::Cell(medium) => medium.counters().collect(),
        }
    }
}
