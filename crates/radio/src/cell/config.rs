//! The parts of a cell that can be described.

use super::bearer::HEADER;
use super::site::{CellSite, HandoverRule};
use super::table::{CqiTable, transport_block};
use crate::antenna::AntennaPattern;
use crate::decibels::Decibels;
use crate::error::ConfigError;
use crate::path::Path;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use netloom_units::{Duration, Probability};

/// How the base station divides blocks between terminals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// By the ratio of a terminal's rate to what it got on average.
    #[default]
    ProportionalFair,
    /// By how long terminals have waited.
    RoundRobin,
}

/// The mode of radio link control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RadioLinkControl {
    /// Blocks that HARQ gave up are sent again.
    #[default]
    Acknowledged,
    /// Blocks that HARQ gave up are lost.
    Unacknowledged,
}

/// The use of a slot where both directions share the frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotUse {
    /// The base station sends.
    Downlink,
    /// Terminals send.
    Uplink,
    /// Nobody sends data.
    Special,
}

/// The times of discontinuous reception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drx {
    /// For how long a terminal listens behind its last slot with data.
    pub inactivity: Duration,
    /// The length of a cycle behind that.
    pub cycle: Duration,
    /// For how long a terminal listens at the beginning of each cycle.
    pub on: Duration,
}

/// Handovers of a terminal at regular times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandoverGaps {
    /// The time from one handover to the next, and from the beginning of counting to the first.
    pub every: Duration,
    /// For how long nothing is sent to the terminal or by it.
    pub gap: Duration,
}

/// The description of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellConfig {
    /// The length of a slot; default 1 ms.
    pub slot: Duration,
    /// The resource blocks of each direction; default 100, those of 20 MHz with LTE.
    pub blocks: u32,
    /// The resource elements for data of a block in a slot; default 132, which is 12 subcarriers of 11 symbols.
    pub elements: u32,
    /// The spatial layers; default 1.
    pub layers: u32,
    /// The table of CQI; default up to 64-QAM.
    pub table: CqiTable,
    /// The uses of slots, repeated; empty (the default): both directions have frequencies of their own.
    pub pattern: Vec<SlotUse>,
    /// How blocks are divided; default proportional fair.
    pub scheduler: Scheduler,
    /// Over how many slots a proportional fair scheduler averages; default 100.
    pub window: u32,
    /// How long whoever receives a slot takes to decode it; default 3 ms.
    pub processing: Duration,
    /// The time from an attempt to its repeat; default 8 ms.
    pub harq: Duration,
    /// How often HARQ sends a block; default 4.
    pub attempts: u32,
    /// The probability that a block is not decoded at the first attempt; default 10 %.
    pub errors: Probability,
    /// The probability that a repeat is not decoded; default 1 %.
    pub repeat_errors: Probability,
    /// The mode of radio link control; default acknowledged.
    pub rlc: RadioLinkControl,
    /// For how long what comes behind a missing block waits before that is asked for again, or given up; default 35 ms.
    pub reordering: Duration,
    /// How often radio link control sends a block in acknowledged mode; default 8.
    pub rounds: u32,
    /// The time between two opportunities for scheduling requests; zero: terminals have grants at all times; default 10 ms.
    pub request: Duration,
    /// The time from the end of the slot with the request to the first slot of the grant; default 7 ms.
    pub grant: Duration,
    /// Discontinuous reception; default none.
    pub drx: Option<Drx>,
    /// How often the CQI is reported; default 5 ms.
    pub report: Duration,
    /// How many packets wait for a terminal, or at it, at most; default 1,000.
    pub queue: u32,
    /// The sites from which the base station sends, if signals follow from positions; none (the default): one, where the base station is.
    pub sites: Vec<CellSite>,
    /// When terminals change between sites.
    pub handover: HandoverRule,
}

impl Default for CellConfig {
    fn default() -> Self {
        let percent =
            |percent: u64| Probability::from_parts_per_trillion(percent * 10_000_000_000).unwrap_or(Probability::ZERO);
        Self {
            slot: Duration::from_millis(1),
            blocks: 100,
            elements: 132,
            layers: 1,
            table: CqiTable::default(),
            pattern: Vec::new(),
            scheduler: Scheduler::default(),
            window: 100,
            processing: Duration::from_millis(3),
            harq: Duration::from_millis(8),
            attempts: 4,
            errors: percent(10),
            repeat_errors: percent(1),
            rlc: RadioLinkControl::default(),
            reordering: Duration::from_millis(35),
            rounds: 8,
            request: Duration::from_millis(10),
            grant: Duration::from_millis(7),
            drx: None,
            report: Duration::from_millis(5),
            queue: 1_000,
            sites: Vec::new(),
            handover: HandoverRule::default(),
        }
    }
}

impl CellConfig {
    /// Checks that the parameters agree with one another.
    ///
    /// # Errors
    /// The key of the parameter that is wrong, and why.
    pub fn check(&self) -> Result<(), ConfigError> {
        let ranges = [
            ("blocks", self.blocks, 1..=275),
            ("elements", self.elements, 1..=156),
            ("layers", self.layers, 1..=8),
            ("window", self.window, 1..=100_000),
            ("attempts", self.attempts, 1..=16),
            ("rounds", self.rounds, 1..=32),
            ("limit", self.queue, 1..=1_000_000),
        ];
        for (key, value, range) in ranges {
            if !range.contains(&value) {
                return Err(ConfigError::new(key, format!("must be {} to {}", range.start(), range.end())));
            }
        }
        let least = transport_block(self.table, 1, u64::from(self.blocks * self.elements * self.layers)) / 8;
        if least <= HEADER {
            return Err(ConfigError::new("blocks", "with CQI 1 these carry nothing but headers: write more of them"));
        }
        if self.slot.is_zero() || self.report.is_zero() {
            return Err(ConfigError::new("slot", "slots and reports take time"));
        }
        if self.harq < self.slot + self.processing {
            return Err(ConfigError::new(
                "harq",
                "a repeat comes behind the slot and its processing: write a longer time",
            ));
        }
        self.handover.check(self.slot)?;
        let has = |wanted| self.pattern.contains(&wanted);
        let is_one_way = !has(SlotUse::Downlink) || !has(SlotUse::Uplink);
        if !self.pattern.is_empty() && is_one_way {
            return Err(ConfigError::new("pattern", "needs slots of both directions, as in DDDSU"));
        }
        match self.drx {
            Some(drx) if drx.on.is_zero() || drx.cycle < drx.on || drx.on < self.slot => {
                Err(ConfigError::new("drx", "a terminal listens for at least a slot, and no longer than the cycle"))
            }
            _ => Ok(()),
        }
    }
}

/// How well a terminal and the base station hear each other.
#[derive(Clone, Debug, PartialEq)]
pub enum CellSignal {
    /// With these CQI, which stay: downlink and uplink.
    Fixed(u8, u8),
    /// With these CQI in both directions, each from an instant since the beginning of counting on; the last instant is the length of the trace, which is repeated.
    Trace(Arc<[(Duration, u8)]>),
    /// By powers, noise and all that varies between positions.
    Positions,
}

/// The description of a terminal, or of the base station.
#[derive(Clone, Debug, PartialEq)]
pub struct CellStation {
    /// The unique name, from which random generators are derived.
    pub name: String,
    /// The signal; of the base station without a meaning.
    pub signal: CellSignal,
    /// Handovers; none: the terminal stays.
    pub handovers: Option<HandoverGaps>,
    /// The site at which it stays; none: the strongest one, with handovers.
    pub site: Option<usize>,
    /// Where it is, for signals by positions.
    pub path: Path,
    /// The power in dBm with which it sends, without the gain of its antenna.
    pub power: Decibels,
    /// The gain of its antenna by direction.
    pub pattern: AntennaPattern,
}

impl CellStation {
    /// Checks that the parameters make sense.
    ///
    /// # Errors
    /// The key of the parameter that is wrong, and why.
    pub fn check(&self) -> Result<(), ConfigError> {
        let name = &self.name;
        if let CellSignal::Fixed(down, up) = self.signal
            && !((1..=15).contains(&down) && (1..=15).contains(&up))
        {
            return Err(ConfigError::new("cqi", format!("`{name}`: must be 1 to 15, or nothing would ever be sent")));
        }
        if let CellSignal::Trace(steps) = &self.signal {
            let is_good = steps.len() > 1 && steps[0].0.is_zero() && steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !is_good {
                return Err(ConfigError::new(
                    "trace",
                    format!("`{name}`: needs two times at least, from 0 on and rising"),
                ));
            }
        }
        match self.handovers {
            Some(HandoverGaps { every, gap }) if gap.is_zero() || gap >= every => Err(ConfigError::new(
                "handovers",
                format!("`{name}`: a gap is above 0 and shorter than the time from one to the next"),
            )),
            _ => Ok(()),
        }
    }
}
