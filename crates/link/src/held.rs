//! Packets that partitions and faults hold in front of a pipe.

use crate::PartitionKind;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use netloom_packet::Packet;
use netloom_units::Instant;

/// So many bytes are held in front of a pipe at most, from IP headers on; what comes then is dropped. It is more than the windows of
/// many connections, and bounds the memory that a sender without congestion control can fill.
const MOST: u64 = 16 << 20;

/// A packet that is held.
#[derive(Clone, Debug)]
struct Item {
    packet: Packet,
    /// The instant at which the packet came.
    arrived: Instant,
    /// Whether a fault holds it, whatever partitions there are.
    is_fault: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// By the instant at which they go on, and by how many came before them. What waits for the end of a partition goes on at no instant.
    items: BTreeMap<(Instant, u64), Item>,
    /// The number of packets that came so far.
    count: u64,
    bytes: u64,
}

impl Held {
    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns when the first packet goes on by itself.
    pub(crate) fn next(&self) -> Option<Instant> {
        let ((due, _), _) = self.items.first_key_value()?;
        Some(*due).filter(|due| *due != Instant::MAX)
    }

    /// Takes the packet that goes on first.
    pub(crate) fn take_first(&mut self) -> Option<Packet> {
        let (_, Item { packet, .. }) = self.items.pop_first()?;
        self.bytes -= packet.size().get();
        Some(packet)
    }

    /// Whether there is room for this packet.
    pub(crate) fn has_room(&self, packet: &Packet) -> bool {
        self.bytes + packet.size().get() <= MOST
    }

    /// Holds a packet that came at `arrived`.
    pub(crate) fn push(&mut self, packet: Packet, arrived: Instant, kind: PartitionKind) {
        let due = match kind {
            PartitionKind::Slow(delay) => arrived + delay,
            PartitionKind::Jam | PartitionKind::Drop => Instant::MAX,
        };
        self.insert(due, Item { packet, arrived, is_fault: false });
    }

    /// Holds a packet that came at `arrived` until `due`, whatever partitions there are.
    pub(crate) fn push_until(&mut self, packet: Packet, arrived: Instant, due: Instant) {
        self.insert(due, Item { packet, arrived, is_fault: true });
    }

    fn insert(&mut self, due: Instant, item: Item) {
        self.bytes += item.packet.size().get();
        self.items.insert((due, self.count), item);
        self.count += 1;
    }

    /// Takes all packets that partitions hold, in the order in which they came, and when they came.
    pub(crate) fn take(&mut self) -> Vec<(Instant, Packet)> {
        let (kept, mut all): (Vec<_>, Vec<_>) =
            core::mem::take(&mut self.items).into_iter().partition(|(_, item)| item.is_fault);
        self.items = kept.into_iter().collect();
        all.sort_by_key(|((_, number), _)| *number);
        self.bytes = self.items.values().map(|item| item.packet.size().get()).sum();
        all.into_iter().map(|(_, Item { packet, arrived, .. })| (arrived, packet)).collect()
    }
}
