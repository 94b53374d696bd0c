//! Which pipe a packet enters.

use crate::{PipeId, PipeSpec};
use alloc::vec::Vec;
use core::net::IpAddr;
use netloom_link::Filter;
use netloom_packet::{Flow, Packet};

/// From this many filters on, the fabric remembers which one matched a flow.
const MANY: usize = 8;
/// Flows that are remembered, each at a place of its own: a newer flow takes the place of an older one.
const REMEMBERED: usize = 4_096;

/// The pipes behind a port.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry {
    /// The first whose filter matches takes a packet.
    filtered: Vec<(Filter, PipeId)>,
    /// Takes what no filter matches.
    rest: Option<PipeId>,
    /// Whether it is a shared medium that begins here, with all its further pipes.
    pub(crate) is_shared: bool,
    /// Flows that came before and where they went; empty until there is a first one, and with few filters.
    remembered: Vec<Option<(Flow, PipeId)>>,
}

impl Entry {
    /// The pipe that this packet enters. The segments of a train are of one flow, and so a train stays whole.
    pub(crate) fn pipe_for(&mut self, packet: &Packet) -> Option<PipeId> {
        if self.filtered.is_empty() {
            return self.rest;
        }
        match packet.flow() {
            Some(flow) if self.filtered.len() >= MANY => self.remember(&flow),
            flow => self.find(flow.as_ref()),
        }
    }

    /// The pipe that takes what no filter matches.
    pub(crate) fn usual(&self) -> Option<PipeId> {
        self.rest
    }

    /// Whether some packets enter this pipe.
    pub(crate) fn leads_to(&self, pipe: PipeId) -> bool {
        self.rest == Some(pipe) || self.filtered.iter().any(|(_, other)| *other == pipe)
    }

    fn find(&self, flow: Option<&Flow>) -> Option<PipeId> {
        let found = self.filtered.iter().find(|(filter, _)| filter.matches(flow));
        found.map(|(_, pipe)| *pipe).or(self.rest)
    }

    /// Filters see nothing of a packet but its flow, and never change.
    fn remember(&mut self, flow: &Flow) -> Option<PipeId> {
        if self.remembered.is_empty() {
            self.remembered.resize(REMEMBERED, None);
        }
        let place = place(flow);
        match &self.remembered[place] {
            Some((known, pipe)) if known == flow => Some(*pipe),
            _ => {
                let pipe = self.find(Some(flow));
                self.remembered[place] = pipe.map(|pipe| (*flow, pipe));
                pipe
            }
        }
    }
}

/// Where a flow is remembered: multiplicative hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4).
fn place(flow: &Flow) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let address = |address: IpAddr| match address {
        IpAddr::V4(v4) => u64::from(v4.to_bits()),
        IpAddr::V6(v6) => {
            let [a, b, c, d, e, f, g, h] = v6.segments().map(u64::from);
            let [high, low] =
                [[a, b, c, d], [e, f, g, h]].map(|part| part.iter().fold(0, |sum, word| sum << 16 | word));
            high.rotate_left(32) ^ low
        }
    };
    let ports = u64::from(flow.source_port) << 16 | u64::from(flow.destination_port);
    let rest = ports << 16 | u64::from(flow.protocol) << 8 | u64::from(flow.dscp);
    let parts = [address(flow.source), address(flow.destination), rest];
    let mixed = parts.iter().fold(0_u64, |sum, part| (sum.rotate_left(23) ^ part).wrapping_mul(GOLDEN));
    (mixed >> 52) as usize % REMEMBERED
}

/// What is behind each port.
pub(crate) fn entries(specs: &[PipeSpec]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let id = PipeId(u32::try_from(index).expect("fewer than 2^32 pipes"));
        for port in spec.entrances() {
            let place = port.0 as usize;
            if entries.len() <= place {
                entries.resize(place + 1, Entry::default());
            }
            entries[place].is_shared |= !spec.medium.is_empty();
            match &spec.filter {
                Some(filter) => entries[place].filtered.push((filter.clone(), id)),
                None => {
                    assert!(entries[place].rest.is_none(), "two pipes take packets from {port:?}");
                    entries[place].rest = Some(id);
                }
            }
        }
    }
    let is_incomplete = |entry: &Entry| entry.rest.is_none() && !entry.filtered.is_empty();
    assert!(!entries.iter().any(is_incomplete), "behind a port, no pipe takes what no filter matches");
    entries
}
