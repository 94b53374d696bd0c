//! FQ-CoDel: flows take turns, each under the control of CoDel, and flows that send little go first.
//!
//! Parameters: `limit` (default 10,240 packets) and `memory` (default 32 MB), how much may wait in all; `flows` (default
//! 1,024), among how many queues a seeded hash of addresses, protocol and ports divides packets; `quantum` (default 1,500
//! bytes, a full packet), how much a flow may send per turn; those of CoDel, with `ecn` on by default.
//! Source: RFC 8290, sections 4 and 5.2. Bytes count from the IP header on, for all of them. What is not an IP packet
//! has a queue of its own beside the flows.
//!
//! When too much waits, the flow with the most bytes, the one that just came included, gives up packets from its head,
//! no more than 64 at once, so that the search for it is rare (section 4.1): half of its bytes, as in Linux, where the
//! RFC says half of its packets. Memory is what packets have on the wire, where Linux counts its buffers.

use super::codel::{CodelControl, Law};
use super::divided::joined;
use super::fifo::Fifo;
use super::{Transmission, checks};
use crate::ConfigError;
use crate::cause::Cause;
use crate::hash::FlowHash;
use crate::ledger::Ledger;
use alloc::{collections::VecDeque, vec, vec::Vec};
use core::iter;
use netloom_packet::Packet;
use netloom_units::{Bytes, Instant, Limit, Seed};

/// RFC 8290, section 4.1.
const MOST_DROPS_AT_ONCE: usize = 64;

/// Flows that take turns, under control.
#[derive(Clone, Debug, PartialEq)]
pub struct FqCodelConfig {
    /// How many packets may wait in all; above zero.
    pub limit: u32,
    /// How many bytes, from the IP header on, may wait in all; above zero.
    pub memory: Bytes,
    /// Among how many queues the hash divides, 1 to 65,536.
    pub flows: u32,
    /// How much, from the IP header on, a flow may send per turn; above zero.
    pub quantum: Bytes,
    /// How the delay of each flow is controlled.
    pub control: CodelControl,
}

impl Default for FqCodelConfig {
    /// RFC 8290, section 5.2, with marks as in 5.2.6; the memory is not in the RFC. Its quantum of 1,514 bytes is a full
    /// packet with the header of Ethernet, which is not counted here.
    fn default() -> Self {
        Self {
            limit: 10_240,
            memory: Bytes::new(32_000_000),
            flows: 1_024,
            quantum: Bytes::new(1_500),
            control: CodelControl { ecn: true, ..CodelControl::default() },
        }
    }
}

impl FqCodelConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        checks::limit(Limit::Packets(self.limit))?;
        if self.memory.get() == 0 {
            return Err(ConfigError::new("memory", "0 B: nothing would ever be sent: write for example 32 MB"));
        }
        checks::flows(self.flows)?;
        checks::quantum(self.quantum)?;
        self.control.check()
    }
}

/// The queues; see the module.
#[derive(Clone, Debug)]
pub(crate) struct FqCodel {
    config: FqCodelConfig,
    hash: FlowHash,
    /// Empty until something came.
    flows: Vec<Flow>,
    /// The bytes of each flow, close together for the search.
    backlogs: Vec<u64>,
    /// Flows that have just begun, in order of their turns: RFC 8290, section 4.
    new: VecDeque<u32>,
    /// The others that had something to send.
    old: VecDeque<u32>,
    packets: u64,
    bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct Flow {
    waiting: Fifo,
    law: Law,
    /// How much it may still send: the RFC's byte credits.
    deficit: i64,
    /// Whether it is in one of the lists.
    is_listed: bool,
}

impl FqCodel {
    pub(crate) fn new(config: &FqCodelConfig, seed: Seed) -> Self {
        Self {
            config: config.clone(),
            hash: FlowHash::new(seed),
            flows: Vec::new(),
            backlogs: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// A train arrives, all of it of one flow: RFC 8290, section 4.1.
    pub(crate) fn push(
        &mut self,
        now: Instant,
        mut train: Packet,
        transmission: Transmission,
        ledger: &mut Ledger<'_>,
    ) {
        if self.is_empty() && transmission.remaining.is_zero() {
            // The transmitter became idle by asking in vain, and all flows have left their lists.
            let nothing = self.pop(now, ledger);
            debug_assert!(nothing.is_none(), "nothing waits");
        }
        let index = self.index(&train);
        if !self.flows[index].is_listed {
            self.flows[index].is_listed = true;
            self.flows[index].deficit = self.quantum();
            self.new.push_back(u32::try_from(index).expect("few flows"));
        }
        while !self.has_room(&train) {
            let Some(first) = train.split_front(1) else { return self.squeeze_in(now, index, train, ledger) };
            self.squeeze_in(now, index, first, ledger);
        }
        self.admit(now, index, train, ledger);
    }

    fn index(&mut self, packet: &Packet) -> usize {
        let count = self.config.flows;
        if self.flows.is_empty() {
            self.flows.resize_with(count as usize + 1, Flow::default);
            self.backlogs = vec![0; count as usize + 1];
        }
        packet.flow().map_or(count, |flow| self.hash.bucket(&flow, count)) as usize
    }

    fn quantum(&self) -> i64 {
        i64::try_from(self.config.quantum.get()).unwrap_or(i64::MAX)
    }

    fn has_room(&self, train: &Packet) -> bool {
        self.packets + u64::from(train.segments()) <= u64::from(self.config.limit)
            && self.bytes + train.size().get() <= self.config.memory.get()
    }

    fn admit(&mut self, now: Instant, index: usize, train: Packet, ledger: &mut Ledger<'_>) {
        self.packets += u64::from(train.segments());
        self.bytes += train.size().get();
        self.backlogs[index] += train.size().get();
        ledger.admit(&train);
        self.flows[index].waiting.push(now, train);
    }

    /// Admits a segment after room was made, or drops it if it is part of what gives room.
    fn squeeze_in(&mut self, now: Instant, index: usize, segment: Packet, ledger: &mut Ledger<'_>) {
        let size = segment.size().get();
        self.backlogs[index] += size;
        let mut is_kept = true;
        while is_kept && !self.has_room(&segment) {
            is_kept = self.make_room(ledger);
        }
        self.backlogs[index] -= size;
        if is_kept {
            self.admit(now, index, segment, ledger);
        } else {
            ledger.refuse(segment, Cause::Full);
        }
    }

    /// Drops from the head of the flow with the most bytes; of equal ones, the first. False if that has come to a segment
    /// that counts but does not wait yet.
    fn make_room(&mut self, ledger: &mut Ledger<'_>) -> bool {
        let most = self.backlogs.iter().copied().max().unwrap_or(0);
        let fattest = self.backlogs.iter().position(|bytes| *bytes == most).unwrap_or(0);
        let mut dropped = 0;
        for _ in 0..MOST_DROPS_AT_ONCE {
            let Some((_, segment)) = self.flows[fattest].waiting.pop() else { return false };
            dropped += segment.size().get();
            self.forget(fattest, 1, segment.size().get());
            ledger.evict(segment, Cause::Full);
            if dropped >= most / 2 {
                break;
            }
        }
        true
    }

    fn forget(&mut self, index: usize, packets: u64, bytes: u64) {
        self.packets -= packets;
        self.bytes -= bytes;
        self.backlogs[index] -= bytes;
    }

    /// RFC 8290, section 4.2.
    pub(crate) fn pop(&mut self, now: Instant, ledger: &mut Ledger<'_>) -> Option<Packet> {
        self.take(|flow, control| flow.law.pop(now, control, &mut flow.waiting, ledger))
    }

    /// The next segment, chosen by turns; `dequeue` takes it from the flow, and may drop others.
    fn take(&mut self, mut dequeue: impl FnMut(&mut Flow, &CodelControl) -> Option<Packet>) -> Option<Packet> {
        let quantum = self.quantum();
        loop {
            let index = *self.new.front().or(self.old.front())?;
            let flow = &mut self.flows[index as usize];
            // "A negative number of credits (i.e., it has already dequeued at least a quantum of bytes)": zero is meant
            // too, for it is what a flow has left that has sent exactly a quantum.
            if flow.deficit <= 0 {
                flow.deficit += quantum;
                self.end_turn();
                self.old.push_back(index);
                continue;
            }
            let (packets, bytes) = (flow.waiting.packets(), flow.waiting.bytes().get());
            let segment = dequeue(flow, &self.config.control);
            let (packets, bytes) = (packets - flow.waiting.packets(), bytes - flow.waiting.bytes().get());
            if let Some(segment) = &segment {
                flow.deficit -= i64::try_from(segment.size().get()).expect("a packet has less than 2^63 bytes");
            }
            self.forget(index as usize, packets, bytes);
            if segment.is_some() {
                return segment;
            }
            self.leave(index);
        }
    }

    /// Takes the flow whose turn it is off its list; says whether it was new.
    fn end_turn(&mut self) -> bool {
        let was_new = self.new.pop_front().is_some();
        if !was_new {
            self.old.pop_front();
        }
        was_new
    }

    /// A flow has nothing to send. A new one stands behind the old ones once, so that it cannot be new again at once.
    fn leave(&mut self, index: u32) {
        if self.end_turn() {
            self.old.push_back(index);
        } else {
            self.flows[index as usize].is_listed = false;
        }
    }

    pub(crate) fn drain(&mut self) -> Vec<Packet> {
        joined(iter::from_fn(|| self.take(|flow, _| flow.waiting.pop().map(|(_, segment)| segment))))
    }

    /// What waits keeps its arrival and its turn, unless the number of queues changes.
    pub(crate) fn configure(&mut self, config: &FqCodelConfig, transmission: Transmission, ledger: &mut Ledger<'_>) {
        if config.flows != self.config.flows {
            return self.divide_anew(config, transmission, ledger);
        }
        self.config = config.clone();
        while self.packets > u64::from(config.limit) || self.bytes > config.memory.get() {
            self.make_room(ledger);
        }
    }

    fn divide_anew(&mut self, config: &FqCodelConfig, transmission: Transmission, ledger: &mut Ledger<'_>) {
        let mut waiting: Vec<_> = self.flows.iter_mut().flat_map(|flow| flow.waiting.take()).collect();
        waiting.sort_by_key(|(arrival, _)| *arrival);
        *self = Self { hash: self.hash, ..Self::new(config, Seed::default()) };
        for (arrival, train) in waiting {
            ledger.release(&train);
            self.push(arrival, train, transmission, ledger);
        }
    }
}
