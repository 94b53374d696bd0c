//! How well terminals hear their sites and are heard by them, at each time.
//!
//! What other sites and their terminals send on the same carrier counts against a signal as its mean power: by what they sent between the two last reports, as if it were
//! spread evenly over blocks and slots.

use super::bearer::HEADER;
use super::config::{CellConfig, CellSignal, CellStation, HandoverGaps, SlotUse};
use super::load::Load;
use super::serving::{Change, Serving};
use super::site::{self, CellSite, HandoverRule};
use super::table::{CqiTable, transport_block};
use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::path::Path;
use crate::path_loss::noise_floor;
use crate::power::Power;
use crate::propagation::{Antenna, Surroundings, Ways};
use crate::radio::RadioConfig;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use netloom_units::{Duration, Instant, Seed};

/// The subcarriers of a resource block.
const SUBCARRIERS: u64 = 12;
/// At most so many terminals have signals that follow from positions: there are powers for all pairs.
const MOST_TERMINALS: usize = 1_000;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Qualities {
    table: CqiTable,
    report: Duration,
    blocks: u32,
    /// The resource elements of a block in all layers.
    elements: u32,
    signals: Vec<(CellSignal, Option<HandoverGaps>)>,
    /// The powers that arrive, if any signal follows from positions.
    powers: Option<Powers>,
    /// Where each station is.
    servings: Vec<Serving>,
    rule: HandoverRule,
    weight: f64,
    /// When traces and handovers begin.
    began: Instant,
}

/// The period for which an indicator holds, the site, and the indicator with the most blocks.
type Known = (u64, usize, (u8, u32));

/// The powers that arrive between sites and those terminals whose signals follow from positions.
#[derive(Clone, Debug)]
struct Powers {
    ways: Ways,
    /// The places of stations among the ends of these ways, behind the sites; none: they have none.
    places: Vec<Option<usize>>,
    noise: Power,
    /// The carriers of sites.
    carriers: Vec<u32>,
    /// The blocks that each site sent, and the slots in which each station did.
    downlink: Vec<Load>,
    uplink: Vec<Sender>,
    /// So much of either is all in a period.
    whole: [u64; 2],
    /// The indicators of each station and direction, and the interference at each site, each with the period for which it holds.
    known: Vec<Option<Known>>,
    heard: Vec<Option<(u64, Power)>>,
    moves: Vec<bool>,
}

/// A terminal as a sender.
#[derive(Clone, Copy, Debug, Default)]
struct Sender {
    /// Its site and the slot in which it sent last.
    site: usize,
    at: Option<Instant>,
    load: Load,
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
        if powers.is_none() && !config.sites.is_empty() {
            return Err(ConfigError::new("cells", "cells are at positions, which need signals"));
        }
        let sites = config.sites.len().max(1);
        if let Some(own) = stations.iter().find(|own| own.site.is_some_and(|site| site >= sites)) {
            return Err(ConfigError::new("cell", format!("`{}`: there is no such cell", own.name)));
        }
        let signals = stations.iter().map(|own| (own.signal.clone(), own.handovers)).collect();
        let (table, report, blocks) = (config.table, config.report, config.blocks);
        let servings = stations.iter().map(|own| Serving::at(own.site.unwrap_or(0))).collect();
        let mut new = Self {
            table,
            report,
            blocks,
            elements: config.elements * config.layers,
            signals,
            powers,
            servings,
            rule: config.handover,
            weight: config.handover.weight(),
            began: Instant::ZERO,
        };
        new.choose_sites(|station| stations[station].site.is_none() && station != base);
        Ok(new)
    }

    /// Lets terminals begin at the strongest sites.
    fn choose_sites(&mut self, is_free: impl Fn(usize) -> bool) {
        let Some(powers) = &mut self.powers else { return };
        let period = self.rule.period.as_nanos();
        for (station, serving) in self.servings.iter_mut().enumerate() {
            if let Some(place) = powers.places[station].filter(|_| powers.carriers.len() > 1 && is_free(station)) {
                let next = Instant::from_nanos((self.began.as_nanos() / period + 1) * period);
                let next = powers.moves[station].then_some(next);
                *serving = Serving::strongest(&powers.measured(place, self.began), next);
            }
        }
    }

    /// Traces, handovers and paths begin at this instant.
    pub(super) fn begin(&mut self, at: Instant) {
        self.began = at;
        if let Some(powers) = &mut self.powers {
            powers.ways.begin(at);
            powers.forget();
        }
        let are_free: Vec<bool> = self.servings.iter().map(Serving::is_free).collect();
        self.choose_sites(|station| are_free[station]);
    }

    /// The site at which a station is.
    pub(super) fn site(&self, station: usize) -> usize {
        self.servings[station].site
    }

    /// A terminal has data.
    pub(super) fn connect(&mut self, station: usize, at: Instant) {
        self.servings[station].connect(at);
    }

    /// When a terminal measures next, if it ever does.
    pub(super) fn next_measurement(&self, station: usize) -> Option<Instant> {
        self.servings[station].next
    }

    /// Takes the measurement of a terminal that is due.
    pub(super) fn measure(&mut self, station: usize, has_data: bool) -> Change {
        let Self { servings, powers, rule, weight, .. } = self;
        let serving = &mut servings[station];
        let (Some(at), Some(powers)) = (serving.next, powers) else { return Change::Stays };
        let Some(place) = powers.places[station] else { return Change::Stays };
        serving.take(rule, *weight, &powers.measured(place, at), has_data)
    }

    /// Takes the measurements of a terminal without data that were due before an instant; says how often it was handed over.
    pub(super) fn catch_up(&mut self, station: usize, before: Instant) -> u64 {
        let mut handed_over = 0;
        while self.servings[station].next.is_some_and(|next| next < before) {
            handed_over += u64::from(self.measure(station, false) == Change::IsHandedOver);
        }
        handed_over
    }

    /// Something is sent on so many blocks in a slot that begins at this instant.
    pub(super) fn used(&mut self, (station, is_uplink): (usize, bool), at: Instant, blocks: u32) {
        let site = self.servings[station].site;
        let period = at.as_nanos() / self.report.as_nanos();
        if let Some(powers) = &mut self.powers {
            if !is_uplink {
                powers.downlink[site].add(period, u64::from(blocks));
            } else if powers.places[station].is_some() {
                let Sender { load, at: before, .. } = powers.uplink[station];
                let mut load = load;
                load.add(period, u64::from(before != Some(at)));
                powers.uplink[station] = Sender { site, at: Some(at), load };
            }
        }
    }

    /// The CQI that holds in a slot that begins at this instant, that of the last report, and the most blocks with which it does. Zero: out of range.
    pub(super) fn cqi(&mut self, station: usize, is_uplink: bool, at: Instant) -> (u8, u32) {
        let all = self.blocks;
        let period = at.as_nanos() / self.report.as_nanos();
        let reported = Instant::from_nanos(period * self.report.as_nanos());
        match &self.signals[station].0 {
            CellSignal::Fixed(down, up) => (if is_uplink { *up } else { *down }, all),
            CellSignal::Trace(steps) => {
                let whole = steps.last().map_or(1, |last| last.0.as_nanos().max(1));
                let within = Duration::from_nanos(reported.since(self.began).as_nanos() % whole);
                (steps[steps.partition_point(|step| step.0 <= within).saturating_sub(1)].1, all)
            }
            CellSignal::Positions => {
                let site = self.servings[station].site;
                let Some(powers) = &mut self.powers else { return (0, all) };
                let Some(place) = powers.places[station] else { return (0, all) };
                let slot = 2 * station + usize::from(is_uplink);
                if let Some((_, _, known)) = powers.known[slot].filter(|known| (known.0, known.1) == (period, site)) {
                    return known;
                }
                let ratio = powers.ratio((place, site), is_uplink, (period, reported));
                let found = if is_uplink { self.concentrated(ratio) } else { (self.table.cqi(ratio), all) };
                if let Some(own) = &mut self.powers {
                    own.known[slot] = Some((period, site, found));
                }
                found
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
        let at = at.max(self.servings[station].until);
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
        let terminals = || stations.iter().enumerate().filter(|(place, _)| *place != base).map(|(_, own)| own);
        site::check(&config.sites, &terminals().map(|own| own.name.as_str()).collect::<Vec<_>>())?;
        let paths: Vec<Path> = config.sites.iter().map(|site| site.position.into()).collect();
        let mut antennas: Vec<Antenna<'_>> = config.sites.iter().zip(&paths).map(of_site).collect();
        antennas.extend(config.sites.is_empty().then(|| antenna(&stations[base])));
        let sites = antennas.len();
        let mut places = Vec::new();
        for (station, own) in stations.iter().enumerate() {
            let has_place = station != base && own.signal == CellSignal::Positions;
            places.push(has_place.then_some(antennas.len()));
            antennas.extend(has_place.then(|| antenna(own)));
        }
        if antennas.len() - sites > MOST_TERMINALS {
            let most = format!("at most {MOST_TERMINALS} terminals have signals by positions");
            return Err(ConfigError::new("terminals", most));
        }
        surroundings.check(&antennas)?;
        // 15 kHz between subcarriers in slots of 1 ms, twice that in half of the time.
        let spacing = 15_000 * 1_000_000 / config.slot.as_nanos().max(1);
        let noise = Power::of(noise_floor(SUBCARRIERS * spacing * u64::from(config.blocks), radio.noise_figure));
        Ok(Self {
            ways: surroundings.ways_of(sites, &antennas, seed),
            places,
            noise,
            carriers: if config.sites.is_empty() {
                vec![0]
            } else {
                config.sites.iter().map(|own| own.carrier).collect()
            },
            downlink: vec![Load::default(); sites],
            uplink: vec![Sender::default(); stations.len()],
            whole: [slots(config, SlotUse::Downlink) * u64::from(config.blocks), slots(config, SlotUse::Uplink)],
            known: vec![None; 2 * stations.len()],
            heard: vec![None; sites],
            moves: stations.iter().map(|own| !own.path.is_standing()).collect(),
        })
    }

    /// Nothing is known any more.
    fn forget(&mut self) {
        self.known.fill(None);
        self.heard.fill(None);
    }

    /// The powers in dBm with which all sites arrive, on average over fading.
    fn measured(&mut self, place: usize, at: Instant) -> Vec<f64> {
        (0..self.carriers.len()).map(|site| self.ways.level(site, place, at).0).collect()
    }

    /// The ratio of the power that arrives to noise and interference in all blocks.
    fn ratio(&mut self, (place, site): (usize, usize), is_uplink: bool, (period, at): (u64, Instant)) -> Decibels {
        let (from, to) = if is_uplink { (place, site) } else { (site, place) };
        let others =
            if is_uplink { self.at_site(site, (period, at)) } else { self.at_terminal(place, site, (period, at)) };
        self.ways.power(from, to, at).over(self.noise + others)
    }

    /// The power at a terminal of the other sites on the carrier of its own.
    fn at_terminal(&mut self, place: usize, site: usize, (period, at): (u64, Instant)) -> Power {
        let Self { ways, carriers, downlink, whole: [whole, _], .. } = self;
        let others = (0..carriers.len()).filter(|other| *other != site && carriers[*other] == carriers[site]);
        let heard = others.filter_map(|other| {
            let used = downlink[other].before(period).min(*whole);
            (used > 0).then(|| ways.power(other, place, at).part(used, *whole))
        });
        heard.sum()
    }

    /// The power at a site of the terminals of other sites on its carrier.
    fn at_site(&mut self, site: usize, (period, at): (u64, Instant)) -> Power {
        if let Some((_, heard)) = self.heard[site].filter(|known| known.0 == period) {
            return heard;
        }
        let Self { ways, places, carriers, uplink, whole: [_, whole], .. } = self;
        let others = uplink.iter().zip(places.iter()).filter_map(|(own, place)| {
            let used = own.load.before(period).min(*whole);
            let disturbs = used > 0 && own.site != site && carriers[own.site] == carriers[site];
            place.filter(|_| disturbs).map(|place| (place, used))
        });
        let heard = others.map(|(place, used)| ways.power(place, site, at).part(used, *whole)).sum();
        self.heard[site] = Some((period, heard));
        heard
    }
}

/// How many slots of a use a period of reports has, as a whole number from 1 on.
fn slots(config: &CellConfig, wanted: SlotUse) -> u64 {
    let all = (config.report.as_nanos() / config.slot.as_nanos().max(1)).max(1);
    if config.pattern.is_empty() {
        return all;
    }
    let own = config.pattern.iter().filter(|own| **own == wanted).count() as u64;
    (all * own / config.pattern.len() as u64).max(1)
}

fn of_site<'a>((own, path): (&'a CellSite, &'a Path)) -> Antenna<'a> {
    Antenna { name: &own.name, path, power: own.power, pattern: own.pattern }
}

fn antenna(CellStation { name, path, power, pattern, .. }: &CellStation) -> Antenna<'_> {
    Antenna { name, path, power: *power, pattern: *pattern }
}
