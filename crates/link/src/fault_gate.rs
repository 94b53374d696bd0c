//! The faults in force at the entrance of a pipe, with what they have counted.

mod answers;
mod connections;

use crate::fault::{After, DnsFault, FaultAction, FaultGround, PacketFault, ResetEnds, TcpKind};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec::Vec;
use answers::Answers;
use connections::Connections;
pub use connections::Ended;
use core::net::IpAddr;
use netloom_packet::{DnsMessage, Ecn, Flow, Packet, TcpHeader};
use netloom_units::{Instant, Probability, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A fault, or the record of connections, remembers so many flows at most; then it forgets one for each new one.
const MOST_FLOWS: usize = 65_536;

/// The firings of a fault that are told; of those beyond, the counters tell.
const MOST_TOLD: u64 = 1_000;

/// By what flows are told apart: source, destination and protocol.
pub(crate) type FlowKey = (IpAddr, u16, IpAddr, u16, u8);

fn key(flow: &Flow) -> FlowKey {
    (flow.source, flow.source_port, flow.destination, flow.destination_port, flow.protocol)
}

/// The treatment of a packet by a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The treatment.
    pub action: FaultAction,
    /// The [id](PacketFault::id) of the fault.
    pub fault: u32,
    /// Whether the firing is worth a record: the first ones of a fault are.
    pub is_told: bool,
    /// A number for a treatment that picks something.
    pub pick: u64,
}

/// The record of a treatment of a packet, or of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firing {
    /// The number of the pipe.
    pub pipe: u32,
    /// When it happened.
    pub at: Instant,
    /// The [id](PacketFault::id) of the fault.
    pub fault: u32,
    /// The treatment.
    pub action: FaultAction,
    /// The flow of the packet; none if it is not an IP packet.
    pub flow: Option<Flow>,
    /// The size of the packet from the IP header on; none for a connection.
    pub bytes: Option<u64>,
    /// The sequence number of the packet's first byte, if it is a segment of TCP.
    pub sequence: Option<u32>,
}

impl Firing {
    /// Creates the record of a packet.
    pub fn of(pipe: u32, at: Instant, packet: &Packet, verdict: Verdict) -> Self {
        let Verdict { fault, action, .. } = verdict;
        let bytes = Some(packet.size().get());
        Self { pipe, at, fault, action, flow: packet.flow(), bytes, sequence: packet.sequence() }
    }

    /// Creates the record of a connection.
    pub fn of_connection(pipe: u32, at: Instant, ended: &Ended) -> Self {
        let (fault, action, flow) = (ended.fault, FaultAction::EndConnections, Some(ended.flow));
        Self { pipe, at, fault, action, flow, bytes: None, sequence: ended.reset.as_ref().and_then(Packet::sequence) }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct FaultGate {
    seed: Seed,
    faults: Vec<Fault>,
    /// How many began so far.
    begun: u32,
    connections: Option<Connections>,
    ground: FaultGround,
}

impl FaultGate {
    /// Creates a gate without faults.
    pub fn new(ground: FaultGround, seed: Seed) -> Self {
        let connections = ground.tracks.then(Connections::default);
        Self { seed, faults: Vec::new(), begun: 0, connections, ground }
    }

    /// Whether packets may be answered to their senders.
    pub fn answers(&self) -> bool {
        self.ground.answers
    }

    /// Whether no packet is looked at.
    pub fn is_idle(&self) -> bool {
        self.faults.is_empty() && self.connections.is_none()
    }

    /// Faults begin at `now`. Returns the connections that are ended by that, each with a reset for the end of the pipe.
    pub fn begin(&mut self, now: Instant, faults: &[PacketFault]) -> Vec<Ended> {
        let mut ended = Vec::new();
        for config in faults {
            let number = self.begun;
            self.begun += 1;
            if config.action != FaultAction::EndConnections {
                self.faults.push(Fault::new(config.clone(), now, self.seed.derive("fault"), number));
            } else if let Some(connections) = &mut self.connections {
                ended.extend(connections.end(config));
            }
        }
        ended
    }

    /// Returns what a [stale](DnsFault::Stale) answer in this packet says: the first one of `fault` to the same question.
    pub fn stale_answer(&self, fault: u32, segment: &Packet) -> Option<DnsMessage> {
        let message = segment.dns()?;
        let meant = |known: &&Fault| known.config.id == fault && known.is_stale();
        self.faults.iter().filter(meant).find_map(|known| known.answers.first(&message))
    }

    /// From now on, what is sent in the other direction of this connection gets no further, and its sender is told.
    pub fn doom(&mut self, ended: &Ended) {
        if let Some(connections) = &mut self.connections {
            connections.doom(ended);
        }
    }

    /// Decides about a single packet that enters; none: it goes on as it is.
    pub fn judge(&mut self, now: Instant, segment: &Packet) -> Option<Verdict> {
        let flow = segment.flow();
        let tcp = if flow.as_ref().is_some_and(|flow| flow.protocol == 6) { segment.tcp() } else { None };
        let dns = if self.faults.iter().any(Fault::reads_dns) { segment.dns() } else { None };
        let seen = Seen { packet: segment, flow, tcp, dns };
        let is_doomed = self.connections.as_mut().is_some_and(|connections| connections.note(&seen));
        self.faults.retain(|fault| fault.end.is_none_or(|end| now < end) && !fault.is_done());
        let mut verdict = None;
        for fault in &mut self.faults {
            if fault.chooses(&seen) && verdict.is_none() {
                fault.fired += 1;
                let (action, id, pick) = (fault.config.action, fault.config.id, fault.random.next_u64());
                verdict = Some(Verdict { action, fault: id, is_told: fault.fired <= MOST_TOLD, pick });
            }
        }
        if is_doomed {
            let action = FaultAction::Reset(ResetEnds::Sender);
            verdict = Some(Verdict { action, fault: 0, is_told: false, pick: 0 });
        }
        verdict
    }
}

/// A packet, and what its headers say.
pub(crate) struct Seen<'a> {
    pub(crate) packet: &'a Packet,
    pub(crate) flow: Option<Flow>,
    pub(crate) tcp: Option<TcpHeader>,
    /// Its message of DNS, if a fault is about one.
    pub(crate) dns: Option<DnsMessage>,
}

/// A flow as a fault knows it.
#[derive(Clone, Copy, Debug, Default)]
struct FlowState {
    /// How many of its packets were like those that the fault means.
    count: u64,
    /// The sequence number from which its payload is counted.
    start: Option<u32>,
    /// Whether a SYN was the last but for its acknowledgement.
    is_opening: bool,
}

/// A fault at work.
#[derive(Clone, Debug)]
struct Fault {
    config: PacketFault,
    /// How many packets it has treated.
    fired: u64,
    end: Option<Instant>,
    /// How many packets were like those that it means.
    count: u64,
    flows: BTreeMap<FlowKey, FlowState>,
    /// The first answers of DNS, if others are to say the same.
    answers: Answers,
    random: Xoshiro256PlusPlus,
}

impl Fault {
    fn new(config: PacketFault, now: Instant, seed: Seed, number: u32) -> Self {
        let end = config.lasts.map(|span| now + span);
        let random = Xoshiro256PlusPlus::seed_from_u64(seed.derive(&number.to_string()).get());
        Self { config, fired: 0, end, count: 0, flows: BTreeMap::new(), answers: Answers::default(), random }
    }

    fn is_stale(&self) -> bool {
        self.config.action == FaultAction::Dns(DnsFault::Stale)
    }

    fn reads_dns(&self) -> bool {
        self.config.question.is_some() || matches!(self.config.action, FaultAction::Dns(_))
    }

    /// Whether it never chooses anything any more.
    fn is_done(&self) -> bool {
        let last = self.config.count.map(|count| self.config.nth.saturating_add(count) - 1);
        !self.config.is_by_flow && last.is_some_and(|last| self.count >= last)
    }

    /// Whether it treats this packet; it counts it if it is like those that it means.
    fn chooses(&mut self, seen: &Seen<'_>) -> bool {
        let is_stale = self.is_stale();
        let Self { config, flows, count, random, answers, .. } = self;
        if !config.filter.matches(seen.flow.as_ref()) {
            return false;
        }
        let mut of_flow = None;
        if config.is_by_flow || config.after != After::Nothing {
            let Some(flow) = &seen.flow else { return false };
            of_flow = Some(state_of(flows, key(flow)));
        }
        let is_spared = match (config.after, seen.tcp, &mut of_flow) {
            (After::Nothing, ..) => false,
            (after, Some(tcp), Some(state)) => state.spares(after, &tcp),
            _ => true,
        };
        if is_spared || !is_meant(config, seen) || (is_stale && !answers.differs(seen.dns.as_ref())) {
            return false;
        }
        let counter = match of_flow.filter(|_| config.is_by_flow) {
            Some(state) => &mut state.count,
            None => count,
        };
        *counter += 1;
        let ordinal = *counter;
        let last = config.count.map(|most| config.nth.saturating_add(most));
        if ordinal < config.nth || last.is_some_and(|last| ordinal >= last) {
            return false;
        }
        config.probability == Probability::ONE || config.probability.happens(random.next_u64())
    }
}

fn state_of(flows: &mut BTreeMap<FlowKey, FlowState>, key: FlowKey) -> &mut FlowState {
    if flows.len() >= MOST_FLOWS && !flows.contains_key(&key) {
        flows.pop_first();
    }
    flows.entry(key).or_default()
}

impl FlowState {
    /// Whether a segment is in the part of its connection that is spared.
    fn spares(&mut self, after: After, tcp: &TcpHeader) -> bool {
        if tcp.is_syn() {
            // A connection begins, maybe another one with the same ports.
            *self = Self { count: 0, start: Some(tcp.sequence.wrapping_add(1)), is_opening: !tcp.is_ack() };
        }
        let start = *self.start.get_or_insert(tcp.sequence);
        match after {
            After::Nothing => false,
            After::Handshake if tcp.is_syn() || refuses(tcp) => true,
            After::Handshake => {
                let completes = self.is_opening && tcp.payload == 0 && !tcp.is_fin() && !tcp.is_rst();
                self.is_opening = false;
                completes
            }
            After::Payload(limit) => {
                let end = tcp.sequence.wrapping_add(tcp.payload).wrapping_sub(start);
                // What lies before the start was sent again.
                let sent = if end < 1 << 31 { u64::from(end) } else { 0 };
                sent <= limit.get()
            }
        }
    }
}

/// Whether a segment refuses a connection: the answer to a SYN that nobody wants (RFC 9293, section 3.10.7.1).
fn refuses(tcp: &TcpHeader) -> bool {
    tcp.is_rst() && tcp.is_ack() && tcp.sequence == 0
}

/// Whether a packet is of the kind, of the size, and such that it can be treated.
fn is_meant(config: &PacketFault, seen: &Seen<'_>) -> bool {
    let is_of = |kind: &TcpKind| {
        seen.tcp.is_some_and(|tcp| match kind {
            TcpKind::Syn => tcp.is_syn(),
            TcpKind::Data => tcp.payload > 0,
            TcpKind::Ack => tcp.is_ack() && tcp.payload == 0 && !tcp.is_syn() && !tcp.is_fin() && !tcp.is_rst(),
            TcpKind::Fin => tcp.is_fin(),
            TcpKind::Rst => tcp.is_rst(),
        })
    };
    let size = seen.packet.size();
    let can_be = match config.action {
        FaultAction::Mark => matches!(seen.packet.ecn(), Some(Ecn::Capable0 | Ecn::Capable1)),
        FaultAction::Unmark => seen.packet.ecn() == Some(Ecn::Congested),
        FaultAction::Corrupt(Some(byte)) => size.get() > u64::from(byte),
        FaultAction::Dns(DnsFault::Answer(_)) => seen.dns.as_ref().is_some_and(|message| !message.is_response()),
        FaultAction::Dns(DnsFault::Reverse) => {
            seen.dns.as_ref().is_some_and(|message| message.is_response() && message.reversed().is_some())
        }
        FaultAction::Reset(_) => seen.tcp.is_some_and(|tcp| !tcp.is_rst()),
        _ => true,
    };
    can_be
        && (config.kinds.is_empty() || config.kinds.iter().any(is_of))
        && config.question.as_ref().is_none_or(|name| seen.dns.as_ref().is_some_and(|message| message.is_about(name)))
        && config.longer.is_none_or(|longer| size > longer)
}

#[cfg(test)]
mod tests;
