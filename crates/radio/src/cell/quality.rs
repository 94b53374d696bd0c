//! How well terminals hear the base station and are heard by it, at each time.

use super::config::{CellConfig, CellSignal, CellStation, HandoverGaps};
use super::table::CqiTable;
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
    base: usize,
    signals: Vec<(CellSignal, Option<HandoverGaps>)>,
    /// The powers that arrive, and the noise, if any signal follows from positions.
    ways: Option<(Ways, Power)>,
    /// When traces and handovers begin.
    began: Instant,
}

impl Qualities {
    pub(super) fn new(
        config: &CellConfig,
        (stations, base): (&[CellStation], usize),
        radio: Option<&RadioConfig>,
        seed: Seed,
    ) -> Result<Self, ConfigError> {
        let ways = radio.map(|radio| ways(config, stations, radio, seed)).transpose()?;
        if ways.is_none() && stations.iter().any(|own| own.signal == CellSignal::Positions) {
            return Err(ConfigError::new("signals", "signals between positions need a frequency and a path loss"));
        }
        let signals = stations.iter().map(|own| (own.signal.clone(), own.handovers)).collect();
        Ok(Self { table: config.table, report: config.report, base, signals, ways, began: Instant::ZERO })
    }

    /// Traces, handovers and paths begin at this instant.
    pub(super) fn begin(&mut self, at: Instant) {
        self.began = at;
        if let Some((ways, _)) = &mut self.ways {
            ways.begin(at);
        }
    }

    /// The CQI that holds in a slot that begins at this instant: that of the last report. Zero: out of range.
    pub(super) fn cqi(&mut self, station: usize, is_uplink: bool, at: Instant) -> u8 {
        let reported = at - Duration::from_nanos(at.as_nanos() % self.report.as_nanos());
        match &self.signals[station].0 {
            CellSignal::Fixed(down, up) => {
                if is_uplink {
                    *up
                } else {
                    *down
                }
            }
            CellSignal::Trace(steps) => {
                let period = steps.last().map_or(1, |last| last.0.as_nanos().max(1));
                let within = Duration::from_nanos(reported.since(self.began).as_nanos() % period);
                steps[steps.partition_point(|step| step.0 <= within).saturating_sub(1)].1
            }
            CellSignal::Positions => {
                let (from, to) = if is_uplink { (station, self.base) } else { (self.base, station) };
                let Some((ways, noise)) = &mut self.ways else { return 0 };
                self.table.cqi(ways.power(from, to, reported).over(*noise))
            }
        }
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

fn ways(
    config: &CellConfig,
    stations: &[CellStation],
    radio: &RadioConfig,
    seed: Seed,
) -> Result<(Ways, Power), ConfigError> {
    let surroundings = Surroundings {
        propagation: radio.propagation,
        walls: radio.walls.clone(),
        shadowing: radio.shadowing,
        fading: radio.fading,
        hertz: radio.hertz,
    };
    let antennas: Vec<_> = stations.iter().map(antenna).collect();
    surroundings.check(&antennas)?;
    // 15 kHz between subcarriers in slots of 1 ms, twice that in half of the time.
    let spacing = 15_000 * 1_000_000 / config.slot.as_nanos().max(1);
    let noise = Power::of(noise_floor(SUBCARRIERS * spacing * u64::from(config.blocks), radio.noise_figure));
    Ok((surroundings.ways(&antennas, seed), noise))
}

fn antenna(CellStation { name, path, power, pattern, .. }: &CellStation) -> Antenna<'_> {
    Antenna { name, path, power: *power, pattern: *pattern }
}
