//! One interface of this machine, and the ports that divide what comes in there.

use super::super::interfaces::receive::read;
use super::super::interfaces::ring::Ring;
use super::super::interfaces::send::Sender;
use super::super::{BATCH, Received, Window};
use super::External;
use super::filter;
use crate::clock::{Clock, TimeOfDay};
use crate::edge::{Edge, Handover};
use crate::sys::set_option;
use netloom_fabric::{Delivery, Ethernet, PortId};
use netloom_figures::{EngineReport, PortReport};
use netloom_packet::Packet;
use netloom_units::Instant;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Bytes that one turn reads at most: see the ports of interfaces.
const BATCH_BYTES: usize = 384 * 1_024;
/// Numbers of VLANs: twelve bits of a tag.
const VLANS: usize = 4_096;
const VLAN_BITS: u16 = 0x0fff;
/// The protocol identifier of tags of customers' VLANs. Others mean no VLAN of ours.
const CUSTOMER: u16 = 0x8100;
/// No port takes it.
const NOBODY: u16 = u16::MAX;

// linux/if_packet.h
const PACKET_ADD_MEMBERSHIP: i32 = 1;
const PACKET_MR_PROMISC: u16 = 1;
const PACKET_MR_ALLMULTI: u16 = 2;
const PACKET_MR_UNICAST: u16 = 3;

/// `struct packet_mreq`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Membership {
    ifindex: i32,
    kind: u16,
    len: u16,
    address: [u8; 8],
}

/// See the module.
pub(super) struct Line {
    ring: Ring,
    day: TimeOfDay,
    takers: Vec<Taker>,
    /// By VLAN: the place of who takes it. What has no tag is at zero.
    of_vlans: Box<[u16; VLANS]>,
    sender: Sender,
    /// What came after the end of the window.
    held: Option<Found>,
    /// Packets that the kernel dropped because the ring was full.
    overflowed: u64,
}

/// A frame of one of the ports.
struct Found {
    stamp: Instant,
    taker: u16,
    /// None if it was lost.
    packet: Option<Packet>,
}

/// A port, and what it takes.
struct Taker {
    port: PortId,
    vlan: Option<u16>,
    only: Option<[u8; 6]>,
    /// All that the kernel handed over; a train counts once.
    received: u64,
    lost: u64,
}

impl Taker {
    /// Whether it takes a frame with these bytes.
    fn wants(&self, frame: &[u8]) -> bool {
        let Some(own) = &self.only else { return true };
        frame.first_chunk().is_some_and(|to: &[u8; 6]| to[0] & 1 == 1 || to == own)
    }
}

impl Line {
    /// `vlans`: all of this interface that any port takes, in other shards, too.
    pub(super) fn open(
        clock: Clock,
        ethernet: Ethernet,
        interface: u32,
        ports: Vec<External>,
        vlans: &[u16],
    ) -> io::Result<Self> {
        let taker = |own: &External| Taker { port: own.port, vlan: own.vlan, only: own.only, received: 0, lost: 0 };
        let takers: Vec<Taker> = ports.iter().map(taker).collect();
        let tagged: Vec<_> = takers.iter().map(|own| (own.port, own.vlan)).collect();
        let whole: Vec<PortId> = ports.iter().filter(|own| own.whole).map(|own| own.port).collect();
        // Those of the other ports close: one of each is enough.
        let first = ports.into_iter().next().expect("a line has ports").sockets;
        join(&first.receiver, interface, &takers)?;
        let wanted: Option<Vec<[u8; 6]>> = takers.iter().map(|own| own.only).collect();
        let own_vlans: Option<Vec<u16>> = takers.iter().map(|own| own.vlan).collect();
        filter::give(first.receiver.as_fd(), wanted.as_deref(), own_vlans.as_deref())?;
        let index = i32::try_from(interface).expect("interface indices are positive and small");
        Ok(Self {
            ring: Ring::of(first.receiver, index)?,
            day: TimeOfDay::new(clock),
            of_vlans: division(&takers, vlans),
            takers,
            sender: Sender::to_wire(first.sender, clock, interface, &tagged, &whole, ethernet)?,
            held: None,
            overflowed: 0,
        })
    }

    pub(super) fn ports(&self) -> impl Iterator<Item = PortId> {
        self.takers.iter().map(|own| own.port)
    }

    /// Reads what has arrived within the window, up to a batch.
    pub(super) fn receive(&mut self, edge: &mut Edge, window: Window) -> Received {
        let (mut received, mut bytes) = (Received::default(), 0);
        while received.count < BATCH && bytes < BATCH_BYTES {
            let is_first = received.count == 0;
            let Some(found) = self.held.take().or_else(|| self.read(is_first, edge)) else { return received };
            if found.stamp >= window.end {
                self.held = Some(found);
                return received;
            }
            received.count += 1;
            match (self.takers.get_mut(usize::from(found.taker)), found.packet) {
                (Some(taker), Some(packet)) => {
                    received.is_lively = true;
                    taker.received += 1;
                    bytes += packet.bytes().len();
                    edge.enter(found.stamp.min(window.latest), taker.port, packet);
                }
                (Some(taker), None) => {
                    taker.received += 1;
                    taker.lost += 1;
                }
                (None, Some(stray)) => edge.handover.pool.recycle(stray),
                (None, None) => {}
            }
        }
        Received { has_more: true, ..received }
    }

    /// The next frame. It bears its tag, unless that is the one by which its port takes it.
    fn read(&mut self, is_first: bool, edge: &mut Edge) -> Option<Found> {
        let Self { ring, day, of_vlans, takers, .. } = self;
        ring.next(|socket, mut slot| {
            if is_first {
                day.follow();
            }
            let stamp = day.lab_time(slot.seconds, slot.nanoseconds);
            let tag = slot.vlan.filter(|(protocol, _)| *protocol == CUSTOMER);
            let place = of_vlans[usize::from(tag.map_or(0, |(_, control)| control & VLAN_BITS))];
            let taker = takers.get(usize::from(place));
            if taker.is_some_and(|own| own.vlan.is_some()) {
                slot.vlan = None;
            }
            let packet = read(socket, &slot, &mut edge.handover.pool);
            let is_wanted = |frame: &Packet| taker.is_some_and(|own| own.wants(frame.bytes()));
            let is_taken = packet.as_ref().is_none_or(is_wanted);
            Found { stamp, taker: if is_taken { place } else { NOBODY }, packet }
        })
    }

    /// Has the socket forget its error: what is lost by it is counted where it is sent.
    pub(super) fn take_error(&self) {
        let _ = rustix::net::sockopt::socket_error(self);
    }

    /// Sends these packets, and leaves none.
    pub(super) fn send(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover) {
        self.sender.send(batch, out);
    }

    /// Adds what it has counted. The kernel does not say whose frames it dropped: they count at the port that receives most.
    pub(super) fn report(&mut self, report: &mut EngineReport) {
        self.overflowed += self.ring.drops().unwrap_or(0);
        report.lost_receiving += self.overflowed;
        let most = self.takers.iter().enumerate().max_by_key(|(_, own)| own.received).map(|(place, _)| place);
        let told = |(place, own): (usize, &Taker)| {
            let overflowed = if Some(place) == most { self.overflowed } else { 0 };
            self.sender.complete(PortReport {
                port: own.port,
                is_interface: true,
                received: own.received,
                lost_receiving: own.lost + overflowed,
                lost_sending: 0,
                taken: 0,
            })
        };
        report.ports.extend(self.takers.iter().enumerate().map(told));
        report.unheard += self.sender.unheard;
        if let Some(error) = &self.sender.last_error {
            report.last_send_error = Some(error.to_string());
        }
    }
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }
}

/// Who takes which VLAN.
fn division(takers: &[Taker], vlans: &[u16]) -> Box<[u16; VLANS]> {
    let place = |vlan: Option<u16>| {
        let place = takers.iter().position(|own| own.vlan == vlan);
        place.and_then(|place| u16::try_from(place).ok()).unwrap_or(NOBODY)
    };
    let mut division = Box::new([place(None); VLANS]);
    for vlan in vlans {
        division[usize::from(*vlan)] = place(Some(*vlan));
    }
    division
}

/// Has the network card let through what these ports take, for as long as the socket is open. A card that knows VLANs
/// lets through all of them only if it is promiscuous.
fn join(socket: &OwnedFd, interface: u32, takers: &[Taker]) -> io::Result<()> {
    let ifindex = i32::try_from(interface).expect("interface indices are positive and small");
    let add = |kind: u16, own: [u8; 6]| {
        let mut address = [0; 8];
        address[..own.len()].copy_from_slice(&own);
        let request = Membership { ifindex, kind, len: 6, address };
        set_option(socket, libc::SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request)
    };
    match takers {
        [Taker { only: Some(own), vlan: None, .. }] => {
            add(PACKET_MR_UNICAST, *own)?;
            // What groups the nodes listen to is not known here.
            add(PACKET_MR_ALLMULTI, [0; 6])
        }
        _ => add(PACKET_MR_PROMISC, [0; 6]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taker(port: u32, vlan: Option<u16>, only: Option<[u8; 6]>) -> Taker {
        Taker { port: PortId(port), vlan, only, received: 0, lost: 0 }
    }

    #[test]
    fn each_vlan_has_its_taker_and_the_rest_another() {
        let takers = [taker(4, Some(100), None), taker(6, None, None)];
        let division = division(&takers, &[100, 200]);
        assert_eq!([0, 1, 100, 200, 4_095].map(|vlan| division[vlan]), [1, 1, 0, NOBODY, 1]);
    }

    #[test]
    fn without_a_taker_for_the_rest_nobody_takes_it() {
        let division = division(&[taker(4, Some(100), None)], &[100]);
        assert_eq!([0, 1, 100].map(|vlan| division[vlan]), [NOBODY, NOBODY, 0]);
    }

    #[test]
    fn one_address_and_groups_are_wanted() {
        let own = taker(0, None, Some([2, 0, 0, 0, 0, 1]));
        assert!(own.wants(&[2, 0, 0, 0, 0, 1, 9, 9]) && own.wants(&[0xff; 14]) && own.wants(&[0x33, 0x33, 0, 0, 0, 5]));
        assert!(!own.wants(&[2, 0, 0, 0, 0, 2, 9, 9]) && !own.wants(&[2, 0]));
        assert!(taker(0, None, None).wants(&[2, 0, 0, 0, 0, 2]));
    }
}
