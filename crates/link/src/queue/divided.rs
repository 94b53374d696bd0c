//! Several drop-tail queues side by side, and which of them a packet waits in: by the hash of its flow, or by filters.
//!
//! What the disciplines that choose among queues have in common. Each queue has a limit of its own. The queues are made
//! when the first packet comes, so that an idle pipe is small.

use super::drop_tail::DropTail;
use super::{Transmission, checks};
use crate::hash::FlowHash;
use crate::ledger::Ledger;
use crate::{ConfigError, Filter};
use alloc::{format, string::String, vec::Vec};
use netloom_packet::Packet;
use netloom_units::{Bytes, Instant, Limit, Seed};

/// How packets are divided among queues.
#[derive(Clone, Debug, PartialEq)]
pub enum Division {
    /// By a seeded hash of addresses, protocol and ports.
    Flows {
        /// Among how many queues, 1 to 65,536. What is not an IP packet has one more for itself.
        count: u32,
        /// How much may wait in each of them; packets or bytes, above zero.
        limit: Limit,
    },
    /// By filters: the first that matches.
    Classes(Vec<ClassConfig>),
}

/// A class: the packets that wait in one queue.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassConfig {
    /// The name that the user gave the class.
    pub name: String,
    /// The filter of the class; none for the class of all packets that no filter matches.
    pub filter: Option<Filter>,
    /// The share of the class, in proportion to the weights of the others; 1 to 10,000.
    pub weight: u32,
    /// The limit of the class's queue: how much may wait; packets or bytes, above zero.
    pub limit: Limit,
}

/// Enough for shares in hundredths of a percent.
const MOST_WEIGHT: u32 = 10_000;

impl Division {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::Flows { count, limit } => {
                checks::flows(*count)?;
                check_limit(*limit).map_err(|message| ConfigError::new("limit", message))
            }
            Self::Classes(classes) => check_classes(classes),
        }
    }

    /// How many queues there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Flows { count, .. } => *count as usize + 1,
            Self::Classes(classes) => classes.len(),
        }
    }

    pub(super) fn weight(&self, index: usize) -> u32 {
        match self {
            Self::Flows { .. } => 1,
            Self::Classes(classes) => classes[index].weight,
        }
    }

    fn limit(&self, index: usize) -> Limit {
        match self {
            Self::Flows { limit, .. } => *limit,
            Self::Classes(classes) => classes[index].limit,
        }
    }

    /// The queue of a packet.
    fn index(&self, packet: &Packet, hash: FlowHash) -> usize {
        let flow = packet.flow();
        match self {
            Self::Flows { count, .. } => flow.map_or(*count, |flow| hash.bucket(&flow, *count)) as usize,
            Self::Classes(classes) => {
                let matching = |class: &ClassConfig| class.filter.as_ref().is_some_and(|f| f.matches(flow.as_ref()));
                let found = classes.iter().position(matching);
                let rest = || classes.iter().position(|class| class.filter.is_none());
                found.or_else(rest).expect("a checked division has a class for the rest")
            }
        }
    }
}

/// How long a packet waits depends on what waits elsewhere, so that no bound in time can be kept.
fn check_limit(limit: Limit) -> Result<(), String> {
    match limit {
        Limit::Time(span) => Err(format!(
            "{span}: how long a packet waits depends on the other queues: write packets or bytes, for example 100 packets"
        )),
        other => checks::limit(other).map_err(|wrong| wrong.message),
    }
}

impl ClassConfig {
    /// Whether it makes sense behind the classes `before` it.
    ///
    /// # Errors
    /// Says which of `match`, `weight` and `limit` makes no sense, and what would.
    pub fn check(&self, before: &[Self]) -> Result<(), ConfigError> {
        if !(1..=MOST_WEIGHT).contains(&self.weight) {
            let message = format!("{} is not a weight: write a number from 1 to {MOST_WEIGHT}", self.weight);
            return Err(ConfigError::new("weight", message));
        }
        check_limit(self.limit).map_err(|message| ConfigError::new("limit", message))?;
        let Some(filter) = &self.filter else { return Ok(()) };
        filter.check().map_err(|wrong| ConfigError::new("match", format!("{wrong}")))?;
        match before.iter().find(|class| class.filter.as_ref().is_some_and(|other| other.covers(filter))) {
            Some(class) => {
                let message = format!("never matches: the class `{}` before it takes all of its packets", class.name);
                Err(ConfigError::new("match", message))
            }
            None => Ok(()),
        }
    }
}

fn check_classes(classes: &[ClassConfig]) -> Result<(), ConfigError> {
    let wrong = |message: String| Err(ConfigError::new("classes", message));
    for (index, class) in classes.iter().enumerate() {
        class.check(&classes[..index]).or_else(|error| wrong(format!("`{}`: {error}", class.name)))?;
    }
    let rests: Vec<&str> = classes.iter().filter(|c| c.filter.is_none()).map(|c| c.name.as_str()).collect();
    match rests[..] {
        [_] => Ok(()),
        [] => wrong("no class takes the rest: add one without `match`, for example `rest: {}`".into()),
        [first, second, ..] => wrong(format!(
            "`{first}` and `{second}` both have no `match`: only one class can take what the others do not"
        )),
    }
}

/// The queues of a [`Division`].
#[derive(Clone, Debug)]
pub(super) struct Divided {
    division: Division,
    hash: FlowHash,
    queues: Vec<DropTail>,
    /// How many segments wait in all.
    packets: u64,
}

impl Divided {
    pub(super) fn new(division: &Division, seed: Seed) -> Self {
        Self { division: division.clone(), hash: FlowHash::new(seed), queues: Vec::new(), packets: 0 }
    }

    pub(super) fn division(&self) -> &Division {
        &self.division
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// A train arrives, all of it for one queue. Which queue that is, if nothing waited in it before and something does now.
    pub(super) fn push(
        &mut self,
        now: Instant,
        train: Packet,
        transmission: Transmission,
        ledger: &mut Ledger<'_>,
    ) -> Option<usize> {
        if self.queues.is_empty() {
            let division = &self.division;
            self.queues = (0..division.len()).map(|index| DropTail::new(division.limit(index))).collect();
        }
        let index = self.division.index(&train, self.hash);
        let queue = &mut self.queues[index];
        let before = queue.waiting.packets();
        queue.push(now, train, transmission, ledger);
        self.packets += queue.waiting.packets() - before;
        (before == 0 && !queue.is_empty()).then_some(index)
    }

    /// The length of the segment at the head of a queue; none if nothing waits there.
    pub(super) fn head(&self, index: usize) -> Option<Bytes> {
        self.queues.get(index)?.waiting.head_size()
    }

    /// Takes the segment at the head of a queue; the caller updates the ledger.
    pub(super) fn take(&mut self, index: usize) -> Option<Packet> {
        let (_, segment) = self.queues.get_mut(index)?.waiting.pop()?;
        self.packets -= 1;
        Some(segment)
    }

    /// Divides anew; returns all that waited, in order of arrival, for the caller to push again.
    pub(super) fn configure(&mut self, division: &Division) -> Vec<(Instant, Packet)> {
        let mut waiting: Vec<_> = self.queues.iter_mut().flat_map(|queue| queue.waiting.take()).collect();
        waiting.sort_by_key(|(arrival, _)| *arrival);
        *self = Self { division: division.clone(), hash: self.hash, queues: Vec::new(), packets: 0 };
        waiting
    }
}

/// Joins segments that follow each other, as they waited before they were taken one by one.
pub(super) fn joined(segments: impl Iterator<Item = Packet>) -> Vec<Packet> {
    let mut trains: Vec<Packet> = Vec::new();
    for segment in segments {
        match trains.last_mut() {
            Some(last) if last.is_followed_by(&segment) => last.append(&segment),
            _ => trains.push(segment),
        }
    }
    trains
}
