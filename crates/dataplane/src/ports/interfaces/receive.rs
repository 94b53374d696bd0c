//! From the ring into the fabric.

use super::ring::{Body, Ring, Slot, fetch};
use super::{BATCH, Received, Window};
use crate::clock::{Clock, TimeOfDay};
use crate::edge::Edge;
use netloom_fabric::PortId;
use netloom_figures::PortReport;
use netloom_packet::{LARGE_FRAME, Packet, Pool, VIRTIO_HEADER_LEN, VirtioHeader};
use netloom_units::Instant;
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Bytes that one pass reads at most: super-packets that leave at once are then still in the processor's caches, and the
/// next ones take their room. The benchmarks' bare loop took a third more time in a chain with batches of 64 super-packets
/// than with six; for the engine this was not measured by itself.
const BATCH_BYTES: usize = 384 * 1_024;
const VLAN_TAG: usize = 4;
const MAC_ADDRESSES: usize = 12;

/// Reads all ports.
#[derive(Debug)]
pub(crate) struct Receiver {
    ring: Ring,
    day: TimeOfDay,
    ports: PortTable,
    /// Packets that the kernel dropped because the ring was full. It does not say from which ports.
    pub(crate) overflowed: u64,
    /// What came after the end of the window.
    held: Option<Found>,
}

/// A packet out of the ring.
#[derive(Debug)]
struct Found {
    stamp: Instant,
    ifindex: u32,
    /// None if it was lost.
    packet: Option<Packet>,
}

/// The port behind each interface index. The indices of a lab's ports follow one another.
#[derive(Debug)]
struct PortTable {
    first: u32,
    ports: Vec<Option<Seen>>,
}

/// What the ring brought from a port. A train counts once.
#[derive(Clone, Copy, Debug)]
struct Seen {
    port: PortId,
    /// All that the kernel handed over.
    packets: u64,
    /// Of these, how many were lost because the socket's buffer was full, or the engine's memory.
    lost: u64,
}

impl PortTable {
    fn new(ports: &HashMap<u32, PortId>) -> Self {
        let first = ports.keys().min().copied().unwrap_or(0);
        let last = ports.keys().max().copied().unwrap_or(0);
        let seen = |port: &PortId| Seen { port: *port, packets: 0, lost: 0 };
        let table = (first..=last).map(|index| ports.get(&index).map(seen));
        Self { first, ports: table.collect() }
    }

    fn get(&mut self, ifindex: u32) -> Option<&mut Seen> {
        let place = ifindex.checked_sub(self.first)? as usize;
        self.ports.get_mut(place)?.as_mut()
    }
}

impl Receiver {
    /// `is_muted`: nothing is received until the socket gets another filter.
    pub(crate) fn open(clock: Clock, ports: &HashMap<u32, PortId>, is_muted: bool) -> io::Result<Self> {
        Ok(Self {
            ring: Ring::open(is_muted)?,
            day: TimeOfDay::new(clock),
            ports: PortTable::new(ports),
            overflowed: 0,
            held: None,
        })
    }

    /// Reads what has arrived within the window, up to a batch.
    pub(crate) fn receive(&mut self, edge: &mut Edge, window: Window) -> Received {
        let (mut received, mut bytes) = (Received::default(), 0);
        while received.count < BATCH && bytes < BATCH_BYTES {
            let is_first = received.count == 0;
            let Some(found) = self.held.take().or_else(|| self.read(is_first, &mut edge.handover.pool)) else {
                return received;
            };
            if found.stamp >= window.end {
                self.held = Some(found);
                return received;
            }
            received.count += 1;
            match (self.ports.get(found.ifindex), found.packet) {
                (Some(seen), Some(packet)) => {
                    received.is_lively = true;
                    seen.packets += 1;
                    bytes += packet.bytes().len();
                    edge.enter(window.arrival(found.stamp), seen.port, packet);
                }
                (Some(seen), None) => {
                    seen.packets += 1;
                    seen.lost += 1;
                }
                // The loopback interface and whatever else is not a port of the lab.
                (None, Some(stray)) => edge.handover.pool.recycle(stray),
                (None, None) => {}
            }
        }
        Received { has_more: true, ..received }
    }

    fn read(&mut self, is_first: bool, pool: &mut Pool) -> Option<Found> {
        let Self { ring, day, .. } = self;
        ring.next(|socket, slot| {
            if is_first {
                day.follow();
            }
            let stamp = day.lab_time(slot.seconds, slot.nanoseconds);
            Found { stamp, ifindex: slot.ifindex, packet: read(socket, &slot, pool) }
        })
    }

    /// Adds what the kernel dropped since the last call to `overflowed`.
    pub(crate) fn count_drops(&mut self) {
        self.overflowed += self.ring.drops().unwrap_or(0);
    }

    /// What each port has brought.
    pub(crate) fn reports(&self) -> impl Iterator<Item = PortReport> {
        self.ports.ports.iter().flatten().map(|seen| PortReport {
            port: seen.port,
            is_interface: true,
            received: seen.packets,
            lost_receiving: seen.lost,
            lost_sending: 0,
            taken: 0,
        })
    }
}

impl AsFd for Receiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }
}

/// Copies a packet out of the ring at once: holding slots would keep the kernel from using them.
pub(in crate::ports) fn read(socket: BorrowedFd<'_>, slot: &Slot<'_>, pool: &mut Pool) -> Option<Packet> {
    match slot.body {
        Body::Lost => None,
        Body::OnSocket => {
            let mut virtio = [0; VIRTIO_HEADER_LEN];
            let mut header = VirtioHeader::COMPLETE;
            let vlan = slot.vlan;
            if pool.is_short_of(LARGE_FRAME) {
                // It has to leave the socket all the same: the next slot that is marked means the packet behind it.
                let _ = fetch(socket, &mut virtio, &mut []);
                return None;
            }
            pool.fill_with(LARGE_FRAME, |buffer| {
                let room = buffer.len() - VLAN_TAG;
                let len = fetch(socket, &mut virtio, &mut buffer[..room])?;
                header = VirtioHeader::parse(&virtio);
                Some((tag(buffer, len, vlan, &mut header), header))
            })
        }
        Body::Here { virtio, frame } => {
            let mut header = VirtioHeader::parse(virtio);
            pool.fill_with(frame.len() + VLAN_TAG, |buffer| {
                buffer[..frame.len()].copy_from_slice(frame);
                Some((tag(buffer, frame.len(), slot.vlan, &mut header), header))
            })
        }
    }
}

/// Puts a VLAN tag back where the kernel took it out, and returns the new length.
fn tag(buffer: &mut [u8], len: usize, vlan: Option<(u16, u16)>, header: &mut VirtioHeader) -> usize {
    let Some((protocol, control)) = vlan.filter(|_| len >= MAC_ADDRESSES) else { return len };
    buffer.copy_within(MAC_ADDRESSES..len, MAC_ADDRESSES + VLAN_TAG);
    buffer[MAC_ADDRESSES..MAC_ADDRESSES + 2].copy_from_slice(&protocol.to_be_bytes());
    buffer[MAC_ADDRESSES + 2..MAC_ADDRESSES + 4].copy_from_slice(&control.to_be_bytes());
    if let Some((start, _)) = &mut header.checksum {
        *start += 4;
    }
    len + VLAN_TAG
}
