//! How well terminals hear the base station and are heard by it, at each time.

use super::bearer::HEADER;
use super::config::{CellConfig, CellSignal, CellStation, HandoverGaps};
use super::table::{CqiTable, transport_block};
use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::path_loss::noise_floor;
use crate::power::Power;
use crate::propagation::{Antenna, Surroundings, Ways};
use crate::radio::RadioConfig;
use alloc::vec::Vec;
use netloom_units::{Duration, Instant, Seed};

/// The subcarriers of a resource block.
const SUBCARRIERS: u64 = 12;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Qualities {
    table: CqiTable,
    report: Duration,
    blocks: u32,
    /// The resource elements of a block in all layers.
    elements: u32,
    base: usize,
    signals: Vec<(CellSignal, Option<HandoverGaps>)>,
    /// The powers that arrive, if any signal follows from positions.
    powers: Option<Powers>,
    /// When traces and handovers begin.
    began: Instant,
}

/// The powers that arrive between the base station and those terminals whose signals follow from positions.
#[derive(Clone, Debug)]
struct Powers {
    ways: Ways,
    /// The places of stations among the ends of these ways; of others, nothing that has a meaning.
    places: Vec<usize>,
    noise: Power,
}

impl Qualities {
    pub(super) fn new(
        config: &CellConfig,
        (stations, base): (&[CellStation], usize),
        radio: Option<&RadioConfig>,
        seed: Seed,
    ) -> Result<Self, ConfigError> {
        let powers = radio.map(|radio| Powers::new(config, (stations, base), radio, seed)).transpose()?;
        if powers.is_none() && stations.iter().any(|own| own.signal == CellSignal::Positions) {
            return Err(ConfigError::new("signals", "signals between positions need a frequency and a path loss"));
        }
        let signals = stations.iter().map(|own| (own.signal.clone(), own.handovers)).collect();
        let (table, report, blocks) = (config.table, config.report, config.blocks);
        let elements = config.elements * config.layers;
        Ok(Self { table, report, blocks, elements, base, signals, powers, began: Instant::ZERO })
    }

    /// Traces, handovers and paths begin at this instant.
    pub(super) fn begin(&mut self, at: Instant) {
        self.began = at;
        if let Some(powers) = &mut self.powers {
            powers.ways.begin(at);
        }
    }

    /// The CQI that holds in a slot that begins at this instant, that of the last report, and the most blocks with which it does. Zero: out of range.
    pub(super) fn cqi(&mut self, station: usize, is_uplink: bool, at: Instant) -> (u8, u32) {
        let all = self.blocks;
        let reported = at - Duration::from_nanos(at.as_nanos() % self.report.as_nanos());
        match &self.signals[station].0 {
            CellSignal::Fixed(down, up) => (if is_uplink { *up } else { *down }, all),
            CellSignal::Trace(steps) => {
                let period = steps.last().map_or(1, |last| last.0.as_nanos().max(1));
                let within = Duration::from_nanos(reported.since(self.began).as_nanos() % period);
                (steps[steps.partition_point(|step| step.0 <= within).saturating_sub(1)].1, all)
            }
            CellSignal::Positions => {
                let (from, to) = if is_uplink { (station, self.base) } else { (self.base, station) };
                let Some(powers) = &mut self.powers else { return (0, all) };
                let ratio = powers.ratio(from, to, reported);
                if is_uplink { self.concentrated(ratio) } else { (self.table.cqi(ratio), all) }
            }
        }
    }

    /// The CQI of a terminal that has this ratio if it sends on all blocks, and the most blocks on which it is heard at all: it has the same power on all of them
    /// as on a half, a quarter and so on.
    fn concentrated(&self, ratio: Decibels) -> (u8, u32) {
        let parts = core::iter::successors(Some(1), |parts: &u32| parts.checked_mul(2));
        let fewer = parts.map(|parts| self.blocks / parts).take_while(|blocks| *blocks > 0);
        let cqi = |blocks: u32| {
            let gain = Decibels::of_ratio(f64::from(self.blocks) / f64::from(blocks));
            (self.table.cqi(ratio + gain), blocks)
        };
        // A block carries more than headers.
        let known = fewer.map(cqi).find(|(cqi, blocks)| {
            *cqi > 0 && transport_block(self.table, *cqi, u64::from(blocks * self.elements)) / 8 > HEADER
        });
        known.unwrap_or((0, self.blocks))
    }

    /// When the next report comes behind an instant.
    pub(super) fn next_report(&self, at: Instant) -> Instant {
        at + Duration::from_nanos(self.report.as_nanos() - at.as_nanos() % self.report.as_nanos())
    }

    /// The first instant from this one on that is in no gap of a handover.
    pub(super) fn reachable(&self, station: usize, at: Instant) -> Instant {
        let Some(HandoverGaps { every, gap }) = self.signals[station].1 else { return at };
        let passed = at.since(self.began).as_nanos();
        let since = passed % every.as_nanos();
        if passed >= every.as_nanos() && since < gap.as_nanos() {
            return at + Duration::from_nanos(gap.as_nanos() - since);
        }
        at
    }
}

impl Powers {
    fn new(
        config: &CellConfig,
        (stations, base): (&[CellStation], usize),
        radio: &RadioConfig,
        seed: Seed,
    ) -> Result<Self, ConfigError> {
        let surroundings = Surroundings {
            propagation: radio.propagation,
            walls: radio.walls.clone(),
            shadowing: radio.shadowing,
            fading: radio.fading,
            hertz: radio.hertz,
        };
        let (mut antennas, mut places) = (Vec::new(), Vec::new());
        for (station, own) in stations.iter().enumerate() {
            places.push(antennas.len());
            if station == base || own.signal == CellSignal::Positions {
                antennas.push(antenna(own));
            }
        }
        surroundings.check(&antennas)?;
        // 15 kHz between subcarriers in slots of 1 ms, twice that in half of the time.
        let spacing = 15_000 * 1_000_000 / config.slot.as_nanos().max(1);
        let noise = Power::of(noise_floor(SUBCARRIERS * spacing * u64::from(config.blocks), radio.noise_figure));
        Ok(Self { ways: surroundings.ways(&antennas, seed), places, noise })
    }

    /// The ratio of the power that arrives to the noise in all blocks.
    fn ratio(&mut self, from: usize, to: usize, at: Instant) -> Decibels {
        self.ways.power(self.places[from], self.places[to], at).over(self.noise)
    }
}

fn antenna(CellStation { name, path, power, pattern, .. }: &CellStation) -> Antenna<'_> {
    Antenna { name, path, power: *power, pattern: *pattern }
}
