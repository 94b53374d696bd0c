//! `medium: {kind: cell, ...}`: a cell of a mobile network, whose base station schedules its terminals.

use super::measures::{Db, Dbm, Place, Ratio, measure};
use super::signals::{Fading, Loss, Shadows, shadowing};
use super::sites::{self, RuleKeys, SITES};
use super::surroundings::{Aerial, Barriers};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, map};
use crate::forms::{AboveZero, NodeName, OrZero, Whole, Word, forms};
use crate::keyed::{Keyed, sections};
use crate::kinds::NODE_NAME;
use crate::section::{Form, Kind};
use crate::spec::{CellSpec, TerminalSpec};
use crate::words::words;
use crate::yaml::{Entry, Node};
use netloom_radio::{
    CellConfig, CellSignal, ConfigError, CqiTable, Decibels, Drx, HandoverGaps, RadioConfig, RadioLinkControl,
    Scheduler, SlotUse,
};
use netloom_units::{Duration, Probability};

/// The power of a base station that states none, and of a terminal: those of TR 36.942, table 4.8, and TS 36.101, class 3.
pub(crate) const BASE_POWER: Decibels = Decibels(43.0);
pub(crate) const TERMINAL_POWER: Decibels = Decibels(23.0);
/// The CQI of terminals of which nothing is said.
const USUAL: u8 = 15;

words!(CqiTable { "64qam" = Self::Qam64, "256qam" = Self::Qam256 });
words!(Scheduler { "proportional-fair" = Self::ProportionalFair, "round-robin" = Self::RoundRobin });
words!(RadioLinkControl { "acknowledged" = Self::Acknowledged, "unacknowledged" = Self::Unacknowledged });

const MEGAHERTZ: &str = "^\\s*[0-9]+(\\.[0-9]+)?\\s*MHz\\s*$";

forms! {
    /// A frequency in hertz.
    pub(crate) struct Frequency = u64, Kind::Text(MEGAHERTZ), frequency;
    /// The uses of slots: D, S and U.
    pub(crate) struct Pattern = Vec<SlotUse>, Kind::Text("^[DSU]+$"), pattern;
    /// The time of a slot.
    pub(crate) struct Slot = Duration, Kind::Word(&["1 ms", "500 us", "250 us", "125 us"]), slot;
}

const TERMINALS: Kind = Kind::Map { names: NODE_NAME, values: &TerminalKeys::KIND };

sections! {
    /// A cell of a mobile network: LTE, or 5G with shorter slots. Its ends are a base station, which schedules, and terminals.
    pub(crate) struct Cell = "medium_cell" {
        /// A cell of a mobile network.
        kind is "cell";
        /// The node that is the base station.
        base: NodeName, required "tower";
        /// The time of a slot: 1 ms with LTE; with 5G 1 ms, 500 us, 250 us or 125 us. Default: 1 ms.
        slot: Slot, "500 us";
        /// The resource blocks of each direction: 6 to 100 with LTE (5 per MHz), up to 275 with 5G. Default: 100.
        blocks: Whole<u32, 1, 275>, "51";
        /// The resource elements for data of a block in a slot, of 168. Default: 132.
        elements: Whole<u32, 1, 156>, "120";
        /// The spatial layers. Default: 1.
        layers: Whole<u32, 1, 8>, "2";
        /// The table of channel quality indicators: 64qam or 256qam. Default: 64qam.
        modulation: Word<CqiTable>, "256qam";
        /// The uses of slots where both directions share a frequency: D for downlink, U for uplink, S for neither. Default: both have frequencies of
        /// their own.
        pattern: Pattern, "DDDSU";
        /// Who gets blocks first: proportional-fair or round-robin. Default: proportional-fair.
        scheduler: Word<Scheduler>, "round-robin";
        /// Over how many slots a proportional fair scheduler averages. Default: 100.
        window: Whole<u32, 1, 100_000>, "1000";
        /// How long decoding takes behind a slot. Default: 3 slots.
        processing: OrZero<Duration>, "3 ms";
        /// The time from one attempt of HARQ to the next. Default: 8 slots.
        harq: AboveZero<Duration>, "8 ms";
        /// How often HARQ sends a block. Default: 4.
        attempts: Whole<u32, 1, 16>, "4";
        /// The share of blocks that is not decoded at the first attempt. Default: 10 %.
        errors: OrZero<Probability>, "10 %";
        /// The share of repeats that is not decoded either. Default: 1 %.
        repeat_errors: OrZero<Probability>, "1 %";
        /// Radio link control: acknowledged, or unacknowledged, where blocks that HARQ gave up are lost. Default: acknowledged.
        rlc: Word<RadioLinkControl>, "unacknowledged";
        /// How long what comes behind a missing block waits before that is sent again, or given up. Default: 35 ms.
        reordering: AboveZero<Duration>, "35 ms";
        /// How often radio link control sends a block. Default: 8.
        rounds: Whole<u32, 1, 32>, "8";
        /// The time between two opportunities of a terminal to ask for a grant; 0: it has one at all times. Default: 10 ms.
        request: OrZero<Duration>, "20 ms";
        /// The time from the slot with the request to that of the grant. Default: 7 slots.
        grant: OrZero<Duration>, "7 ms";
        /// When terminals without data do not listen. Default: they always do.
        drx: DrxKeys, "{inactivity: 100 ms, cycle: 160 ms, on: 10 ms}";
        /// How often channel quality indicators are reported. Default: 5 ms.
        report: AboveZero<Duration>, "10 ms";
        /// How many packets wait for a terminal, or at it, at most. Default: 1000.
        limit: Whole<u32, 1, 1_000_000>, "3000";
        /// Powers between positions, from which indicators follow. Default: none, and terminals have those that are written, or 15.
        signals: CellSignals, "{frequency: 1800 MHz, loss: town}";
        /// The cells of the base station, with signals: from where it sends. Default: from where it is.
        cells = SITES, "{north: {position: [0 m, 0 m, 25 m]}}";
        /// When terminals go from one of the cells to another. Default: event A3 with 3 dB, 1 dB and 160 ms.
        handover: RuleKeys, "{offset: 2 dB, time_to_trigger: 320 ms}";
        /// Single terminals: how well they are heard, and when they change cells.
        terminals = TERMINALS, "{phone: {cqi: 9}}";
    }

    /// The times at which a terminal listens.
    pub(crate) struct DrxKeys = "cell_drx" {
        /// For how long it listens behind its last slot with data. Default: 100 ms.
        inactivity: OrZero<Duration>, "100 ms";
        /// The time from the beginning of one time of listening to the next, behind that. Default: 160 ms.
        cycle: AboveZero<Duration>, "320 ms";
        /// How long each of these times is. Default: 10 ms.
        on: AboveZero<Duration>, "10 ms";
    }

    /// The signals of a cell.
    pub(crate) struct CellSignals = "cell_signals" {
        /// The centre frequency.
        frequency: Frequency, required "1800 MHz";
        /// The path loss between positions, as with a medium of kind wifi. Default: log-distance.
        loss: Loss, "town";
        /// Walls, each of which takes its loss from signals that go through it. Default: none.
        walls: Barriers, "[{from: [20 m, -10 m], to: [20 m, 10 m], loss: 6.9 dB}]";
        /// How losses vary over places. Default: not at all.
        shadowing: Shadows, "{deviation: 6 dB, correlation: 37 m}";
        /// How powers vary over time. Default: not at all.
        fading: Fading, "{speed: 1 m/s}";
        /// The power of the base station, without the gain of its antenna. Default: 43 dBm.
        power: Dbm, "46 dBm";
        /// How much noise receivers add to that of the blocks. Default: 7 dB.
        noise_figure: Db, "9 dB";
    }

    /// A terminal of a cell. The base station may stand here, too, with position, power and antenna.
    pub(crate) struct TerminalKeys = "cell_terminal" {
        /// Its channel quality indicator in both directions. Default: by signals, or 15.
        cqi: Whole<u8, 1, 15>, "9";
        /// That of its uplink, where it differs.
        uplink_cqi: Whole<u8, 1, 15>, "5";
        /// The ratio of signal to noise instead, from which an indicator follows.
        sinr: Ratio, "12 dB";
        /// A file with such ratios over time, which repeats: per line a time in milliseconds and decibels.
        trace = Kind::Text("."), "traces/walk.sinr";
        /// The cell at which it stays. Default: the strongest one, with handovers; without signals the first one.
        cell: NodeName, "north";
        /// Changes to other cells at regular times, with a gap in which nothing is sent. Default: none.
        handovers: HandoverKeys, "{every: 20 s, gap: 50 ms}";
        /// Where it is, with signals. Default: that of the node.
        position: Place, "[500 m, 0 m]";
        /// The power with which it sends, with signals. Default: 23 dBm.
        power: Dbm, "26 dBm";
        /// Its antenna, with signals. Default: equal in all directions, 0 dB.
        antenna: Aerial, "{gain: 14 dB, azimuth: 90, width: 65}";
    }

    /// Handovers of a terminal.
    pub(crate) struct HandoverKeys = "cell_handovers" {
        /// The time from one to the next, and to the first.
        every: AboveZero<Duration>, required "20 s";
        /// For how long nothing is sent. Default: 50 ms.
        gap: AboveZero<Duration>, "50 ms";
    }
}

fn frequency(node: &Node) -> Result<u64, Diagnostic> {
    let megahertz = measure(node, "MHz", 1e6, "1800 MHz")?;
    if megahertz < 1.0 {
        return Err(node.error("a frequency of 1 MHz or more is needed here, for example 1800 MHz"));
    }
    Ok(libm::round(megahertz * 1e6) as u64)
}

fn pattern(node: &Node) -> Result<Vec<SlotUse>, Diagnostic> {
    let wrong = || node.error("this is no pattern of slots: write letters D, S and U, as in DDDSU");
    let slot = |letter| match letter {
        'D' => Ok(SlotUse::Downlink),
        'U' => Ok(SlotUse::Uplink),
        'S' => Ok(SlotUse::Special),
        _ => Err(wrong()),
    };
    match node.text() {
        Some(text) if (1..=1_000).contains(&text.len()) => text.chars().map(slot).collect(),
        _ => Err(wrong()),
    }
}

fn slot(node: &Node) -> Result<Duration, Diagnostic> {
    let known = [1_000, 500, 250, 125].map(Duration::from_micros);
    let found = node.text().and_then(|text| text.parse().ok());
    found.filter(|found| known.contains(found)).ok_or_else(|| node.error("a slot has 1 ms, 500 us, 250 us or 125 us"))
}

/// Reads a cell whose map was opened.
pub(super) fn cell(fields: &Fields<'_>, errors: &mut Errors) -> Option<CellSpec> {
    let keys = Cell::read_keys(fields, errors)?;
    let table = keys.modulation.unwrap_or_default();
    let has_signals = keys.signals.is_some();
    let terminals = fields.get("terminals").map_or_else(Vec::new, |own| terminals(own, (table, has_signals), errors));
    let cells = fields.get("cells").map_or_else(Vec::new, |own| sites::sites(own, errors));
    if !has_signals {
        let why = "it belongs to signals: write `signals: {frequency: 1800 MHz}`, or leave it out";
        fields.refuse([("cells", why), ("handover", why)], errors);
    }
    let config = config(&keys);
    fields.checked(config.check().map_err(renamed), errors)?;
    let signals = keys.signals.map(|own| {
        let plain = RadioConfig::new(own.frequency);
        let radio = RadioConfig {
            propagation: own.loss.unwrap_or(plain.propagation),
            walls: own.walls.unwrap_or_default(),
            shadowing: own.shadowing.as_ref().map(shadowing),
            fading: own.fading,
            noise_figure: own.noise_figure.unwrap_or(plain.noise_figure),
            ..plain
        };
        (radio, own.power.unwrap_or(BASE_POWER))
    });
    let usual = if has_signals { CellSignal::Positions } else { CellSignal::Fixed(USUAL, USUAL) };
    Some(CellSpec { config, base: keys.base, usual, terminals, cells, signals })
}

fn config(keys: &Cell) -> CellConfig {
    let slot = keys.slot.unwrap_or(Duration::from_millis(1));
    let usual = CellConfig { slot, processing: slot * 3, harq: slot * 8, grant: slot * 7, ..CellConfig::default() };
    let drx = keys.drx.as_ref().map(|own| Drx {
        inactivity: own.inactivity.unwrap_or(Duration::from_millis(100)),
        cycle: own.cycle.unwrap_or(Duration::from_millis(160)),
        on: own.on.unwrap_or(Duration::from_millis(10)),
    });
    CellConfig {
        slot,
        blocks: keys.blocks.unwrap_or(usual.blocks),
        elements: keys.elements.unwrap_or(usual.elements),
        layers: keys.layers.unwrap_or(usual.layers),
        table: keys.modulation.unwrap_or_default(),
        pattern: keys.pattern.clone().unwrap_or_default(),
        scheduler: keys.scheduler.unwrap_or_default(),
        window: keys.window.unwrap_or(usual.window),
        processing: keys.processing.unwrap_or(usual.processing),
        harq: keys.harq.unwrap_or(usual.harq),
        attempts: keys.attempts.unwrap_or(usual.attempts),
        errors: keys.errors.unwrap_or(usual.errors),
        repeat_errors: keys.repeat_errors.unwrap_or(usual.repeat_errors),
        rlc: keys.rlc.unwrap_or_default(),
        reordering: keys.reordering.unwrap_or(usual.reordering),
        rounds: keys.rounds.unwrap_or(usual.rounds),
        request: keys.request.unwrap_or(usual.request),
        grant: keys.grant.unwrap_or(usual.grant),
        drx,
        report: keys.report.unwrap_or(usual.report),
        queue: keys.limit.unwrap_or(usual.queue),
        handover: sites::rule(keys.handover.as_ref()),
        sites: usual.sites,
    }
}

/// An error of the crate `radio` as one of a model.
pub(crate) fn renamed(wrong: ConfigError) -> netloom_link::ConfigError {
    netloom_link::ConfigError::new(wrong.key, wrong.message)
}

/// The terminals of which something is said, by their names.
fn terminals(
    node: &Node,
    (table, has_signals): (CqiTable, bool),
    errors: &mut Errors,
) -> Vec<(Spanned<String>, TerminalSpec)> {
    const WANTED: &str = "terminals: a map like `{phone: {cqi: 9}}`";
    let entries = map(node, WANTED, errors).unwrap_or_default();
    let read = |entry: &Entry| {
        let fields = Fields::open(&entry.value, &TerminalKeys::SECTION, errors)?;
        if !has_signals {
            let why = "it belongs to signals: write `signals: {frequency: 1800 MHz}` at the medium, or leave it out";
            fields.refuse([("position", why), ("power", why), ("antenna", why)], errors);
        }
        let keys = TerminalKeys::read_keys(&fields, errors)?;
        let signal = keep(signal(&fields, &keys, table, errors), errors)?;
        let gap = Duration::from_millis(50);
        let handovers = keys.handovers.map(|own| HandoverGaps { every: own.every, gap: own.gap.unwrap_or(gap) });
        let (antenna, position, power) = (keys.antenna.unwrap_or_default(), keys.position, keys.power);
        Some((entry.named(), TerminalSpec { signal, handovers, cell: keys.cell, position, power, antenna }))
    };
    entries.iter().filter_map(read).collect()
}

/// How well a terminal is heard, if that is said.
fn signal(
    fields: &Fields<'_>,
    keys: &TerminalKeys,
    table: CqiTable,
    errors: &mut Errors,
) -> Result<Option<CellSignal>, Diagnostic> {
    let trace = fields.get("trace");
    let said: Vec<&Node> = ["cqi", "sinr", "trace"].into_iter().filter_map(|key| fields.get(key)).collect();
    if let [_, second, ..] = said[..] {
        return Err(second.error("a terminal has one of `cqi`, `sinr` and `trace`: leave the others out"));
    }
    if let Some(file) = trace {
        let text = errors.read_text(file)?;
        let name = file.text().unwrap_or_default();
        let steps = samples(&text, table).map_err(|wrong| file.error(format!("{name}: {wrong}")))?;
        return Ok(Some(CellSignal::Trace(steps.into())));
    }
    let down = match (keys.cqi, keys.sinr) {
        (Some(cqi), _) => Some(cqi),
        (None, Some(ratio)) => match table.cqi(ratio) {
            0 => {
                let place = fields.get("sinr").unwrap_or(said[0]);
                return Err(place.error("nothing can be sent at this ratio: write -6.7 dB or more"));
            }
            cqi => Some(cqi),
        },
        (None, None) => None,
    };
    let up = keys.uplink_cqi.or(down);
    Ok(up.map(|up| CellSignal::Fixed(down.unwrap_or(USUAL), up)))
}

/// Reads a trace of ratios of signal to noise.
fn samples(text: &str, table: CqiTable) -> Result<Vec<(Duration, u8)>, String> {
    let sample = |line: &str| {
        let (time, ratio) = line.trim().split_once([' ', ',', '\t'])?;
        let milliseconds: u64 = time.parse().ok().filter(|time| *time <= 1_000_000_000)?;
        let ratio: f64 = ratio.trim().parse().ok().filter(|ratio: &f64| ratio.abs() <= 100.0)?;
        Some((Duration::from_millis(milliseconds), table.cqi(Decibels(ratio))))
    };
    let mut samples: Vec<(Duration, u8)> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let sample =
            sample(line).ok_or(format!("line {number}: write a time in milliseconds and decibels, like `100 12.5`"))?;
        let is_next = samples.last().map_or(sample.0.is_zero(), |before| before.0 < sample.0);
        if !is_next {
            return Err(format!("line {number}: times begin at 0 and rise from line to line"));
        }
        samples.push(sample);
    }
    if samples.len() < 2 {
        return Err("the trace needs two lines at least, of which the last one says how long it is".into());
    }
    Ok(samples)
}
