//! Puts packets into the order of their instants.
//!
//! A driver shows a packet when it gets to it: what arrives carries the kernel's timestamp, what leaves was due a while
//! ago, and the first segments of a train were due before its last. So packets wait here until none that is earlier can
//! come any more.

use super::fates::{Fates, Known, Told};
use super::pcapng::Bound;
use netloom_link::AirPpdu;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// More than this does not wait.
const MOST_HELD: usize = 32 << 20;

/// A packet or train that passed, and where it belongs.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) capture: usize,
    pub(super) interface: u32,
    pub(super) link: u32,
    pub(super) bound: Bound,
    pub(super) first: Instant,
    pub(super) last: Instant,
    pub(super) packet: Packet,
    /// The Ethernet addresses that it bears on this link, if its own are those of another.
    pub(super) ethernet: Option<[u8; 12]>,
}

/// A PPDU that was on the air, for a capture.
#[derive(Debug)]
pub(super) struct OnAir {
    pub(super) capture: usize,
    pub(super) ppdu: AirPpdu,
    pub(super) bytes: usize,
}

/// One segment.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) at: Instant,
    /// Tells apart what passes at the same instant: in the order in which it was shown.
    number: u64,
    pub(super) capture: usize,
    pub(super) interface: u32,
    link: u32,
    pub(super) bound: Bound,
    pub(super) packet: Packet,
    pub(super) ethernet: Option<[u8; 12]>,
    /// What became of it in its link, as far as that is known.
    pub(super) told: Option<Told>,
    /// Whether the others of its train have gone before.
    pub(super) is_last: bool,
}

impl Segment {
    fn key(&self) -> (Instant, u64) {
        (self.at, self.number)
    }
}

impl PartialEq for Segment {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Segment {}

impl PartialOrd for Segment {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Segment {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Order {
    /// How long packets wait, in lab time.
    hold: Duration,
    fates: Fates,
    held: BinaryHeap<Reverse<Segment>>,
    /// The PPDUs that were on the air, by their ends: a medium shows them in this order.
    on_air: VecDeque<OnAir>,
    held_bytes: usize,
    newest: Instant,
    shown: u64,
}

impl Order {
    pub(super) fn new(hold: Duration) -> Self {
        let (held, fates) = (BinaryHeap::new(), Fates::default());
        Self { hold, fates, held, on_air: VecDeque::new(), held_bytes: 0, newest: Instant::ZERO, shown: 0 }
    }

    /// Takes in what became of packets.
    pub(super) fn note(&mut self, known: &Known) {
        self.fates.note(known);
    }

    /// Takes a packet or train, segment by segment.
    pub(super) fn push(&mut self, shown: Shown) {
        let Shown { capture, interface, link, bound, first, last, mut packet, ethernet } = shown;
        self.newest = self.newest.max(last);
        self.held_bytes += packet.bytes().len();
        let instants = instants(&packet, first, last);
        for (place, at) in instants.iter().copied().enumerate() {
            let is_last = place + 1 == instants.len();
            let segment = match packet.split_front(1) {
                Some(front) => front,
                None => packet.duplicate(),
            };
            self.fates.show((capture, link), bound, &segment);
            let number = self.shown;
            self.shown += 1;
            self.held.push(Reverse(Segment {
                at,
                number,
                capture,
                interface,
                link,
                bound,
                packet: segment,
                ethernet,
                told: None,
                is_last,
            }));
        }
    }

    /// The next segment before which no other will come.
    pub(super) fn pop(&mut self) -> Option<Segment> {
        let Reverse(next) = self.held.peek()?;
        let is_ripe = self.newest.since(next.at) >= self.hold || self.held_bytes > MOST_HELD;
        if is_ripe { self.pop_any() } else { None }
    }

    /// Takes what was on the air.
    pub(super) fn push_on_air(&mut self, on_air: OnAir) {
        self.newest = self.newest.max(on_air.ppdu.end);
        self.held_bytes += on_air.bytes;
        self.on_air.push_back(on_air);
    }

    /// The next that was on the air; until it has waited as long as packets do, only if `whatever` may come.
    pub(super) fn pop_on_air(&mut self, whatever: bool) -> Option<OnAir> {
        let first = self.on_air.front()?;
        let is_ripe = self.newest.since(first.ppdu.end) >= self.hold || self.held_bytes > MOST_HELD;
        let next = if is_ripe || whatever { self.on_air.pop_front()? } else { return None };
        self.held_bytes -= next.bytes;
        Some(next)
    }

    /// The next segment, whatever may come.
    pub(super) fn pop_any(&mut self) -> Option<Segment> {
        let Reverse(mut segment) = self.held.pop()?;
        segment.told = self.fates.let_go((segment.capture, segment.link), segment.bound, &segment.packet);
        if segment.is_last {
            self.held_bytes -= segment.packet.bytes().len();
        }
        Some(segment)
    }
}

/// When each segment passes. The transmitter of a link needs for each as long as its size says, so that those between
/// the first and the last are found by their sizes.
fn instants(packet: &Packet, first: Instant, last: Instant) -> Vec<Instant> {
    let sizes: Vec<u128> = (0..packet.segments()).map(|index| u128::from(packet.segment_size(index).get())).collect();
    let total: u128 = sizes.iter().skip(1).sum::<u128>().max(1);
    let span = u128::from(last.since(first).as_nanos());
    let mut passed = 0;
    let mut all = vec![first];
    for size in sizes.iter().skip(1) {
        passed += size;
        let after = u64::try_from(span * passed / total).expect("at most the whole span");
        all.push(first + Duration::from_nanos(after));
    }
    all
}
