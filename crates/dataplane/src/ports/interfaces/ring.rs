//! The receive ring: memory that the kernel fills with packets, `TPACKET_V2` (Linux, packet_mmap.rst).
//!
//! Slots of 2 KiB hold ordinary packets. A larger super-packet leaves only its head in the slot, marked `COPY`, and is
//! queued whole on the socket, where one `recvmsg` fetches it (`PACKET_COPY_THRESH`). So small packets cost no system
//! call, super-packets cost one per 64 KiB, and the ring needs no slots of 64 KiB.

use super::fanout;
use crate::sys::{check, packet_socket, set_option};
use netloom_packet::VIRTIO_HEADER_LEN;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, munmap};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_recv_buffer_size_force};
use rustix::net::{RecvAncillaryBuffer, RecvFlags, ReturnFlags, recvmsg};
use rustix::param::page_size;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

const SLOT: usize = 2_048;
const SLOTS: usize = 16_384;
/// Sixteen slots a block, where that is no less than a page; a block is contiguous in the kernel, and small blocks are always to be had.
const BLOCK: usize = 32_768;
const RING: usize = SLOT * SLOTS;
const RECEIVE_BUFFER: usize = 64 << 20;

// linux/if_packet.h; libc lacks some of them.
const PACKET_VERSION: i32 = 10;
const PACKET_VNET_HDR: i32 = 15;
const PACKET_COPY_THRESH: i32 = 7;
const PACKET_RX_RING: i32 = 5;
const PACKET_STATISTICS: i32 = 6;
const PACKET_IGNORE_OUTGOING: i32 = 23;
const TPACKET_V2: i32 = 1;
const STATUS_KERNEL: u32 = 0;
const STATUS_COPY: u32 = 1 << 1;
const STATUS_VLAN_VALID: u32 = 1 << 4;
const STATUS_VLAN_TPID_VALID: u32 = 1 << 6;

#[repr(C)]
#[derive(Clone, Copy)]
struct RingRequest {
    block_size: u32,
    blocks: u32,
    frame_size: u32,
    frames: u32,
}

/// `struct tpacket2_hdr`, followed at 32 bytes by `struct sockaddr_ll`.
#[repr(C)]
struct SlotHeader {
    status: u32,
    len: u32,
    snap_len: u32,
    mac: u16,
    net: u16,
    seconds: u32,
    nanoseconds: u32,
    vlan_tci: u16,
    vlan_tpid: u16,
    padding: [u8; 4],
}

const ADDRESS_AT: usize = 32;
const INTERFACE_INDEX_AT: usize = ADDRESS_AT + 4;

/// A packet in its slot.
pub(crate) struct Slot<'a> {
    /// Where it came in.
    pub(crate) ifindex: u32,
    /// The kernel's receive timestamp, time of day.
    pub(crate) seconds: u32,
    pub(crate) nanoseconds: u32,
    /// The VLAN tag that the kernel took out of the packet: protocol and control information.
    pub(crate) vlan: Option<(u16, u16)>,
    pub(crate) body: Body<'a>,
}

/// Where a packet's bytes are.
pub(crate) enum Body<'a> {
    /// In the slot.
    Here { virtio: &'a [u8; VIRTIO_HEADER_LEN], frame: &'a [u8] },
    /// On the socket, virtio header first; fetch it with [`fetch`].
    OnSocket,
    /// Nowhere: the socket's buffer was full.
    Lost,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Ring {
    socket: OwnedFd,
    memory: NonNull<u8>,
    next: usize,
}

// SAFETY: the mapping belongs to this value alone and is not bound to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Opens the ring; it receives from every interface of the current network namespace, or if it is muted, nothing
    /// until its socket gets another filter.
    pub(crate) fn open(is_muted: bool) -> io::Result<Self> {
        let socket = packet_socket()?;
        if is_muted {
            fanout::mute(socket.as_fd())?;
        }
        Self::of(socket, 0)
    }

    /// A ring of this socket, which is not bound yet; it receives from the interface with this index in the socket's network
    /// namespace, or from all if that is zero.
    pub(crate) fn of(socket: OwnedFd, interface: i32) -> io::Result<Self> {
        set_option(&socket, libc::SOL_PACKET, PACKET_VERSION, &TPACKET_V2)?;
        set_option(&socket, libc::SOL_PACKET, PACKET_VNET_HDR, &1_i32)?;
        set_option(&socket, libc::SOL_PACKET, PACKET_COPY_THRESH, &1_i32)?;
        set_option(&socket, libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, &1_i32)?;
        stamp_where_packets_come_in(&socket)?;
        // Beyond the system's maximum where the privileges allow it, else up to the maximum.
        set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER)
            .or_else(|_| set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER))?;
        let small = |value: usize| u32::try_from(value).expect("ring sizes fit 32 bits");
        let block = block(page_size());
        let request = RingRequest {
            block_size: small(block),
            blocks: small(RING / block),
            frame_size: small(SLOT),
            frames: small(SLOTS),
        };
        set_option(&socket, libc::SOL_PACKET, PACKET_RX_RING, &request)?;
        let memory = map(&socket)?;
        let ring = Self { socket, memory, next: 0 };
        ring.bind(interface)?;
        Ok(ring)
    }

    /// From here on packets arrive; everything must be set before.
    fn bind(&self, interface: i32) -> io::Result<()> {
        // SAFETY: all-zero is a valid address: integers.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = u16::try_from(libc::AF_PACKET).expect("a small constant");
        address.sll_ifindex = interface;
        address.sll_protocol = u16::try_from(libc::ETH_P_ALL).expect("a small constant").to_be();
        let len = libc::socklen_t::try_from(size_of_val(&address)).expect("a small structure");
        // SAFETY: the pointer and the length describe `address`.
        check(unsafe { libc::bind(self.socket.as_raw_fd(), std::ptr::from_ref(&address).cast(), len) })?;
        Ok(())
    }

    /// The next packet, if there is one; its slot goes back to the kernel when `take` returns.
    pub(crate) fn next<R>(&mut self, take: impl FnOnce(BorrowedFd<'_>, Slot<'_>) -> R) -> Option<R> {
        // SAFETY: the slot lies inside the mapping.
        let place = unsafe { self.memory.add(self.next * SLOT) };
        let status = self.status().load(Ordering::Acquire);
        if status == STATUS_KERNEL {
            return None;
        }
        // SAFETY: slots are aligned for their header. The kernel writes to one only while its status is KERNEL, so that it
        // is ours since the status was loaded, and until it is stored. The slice ends with the slot.
        let (header, bytes) = unsafe {
            (place.cast::<SlotHeader>().read(), std::slice::from_raw_parts(place.as_ptr().cast_const(), SLOT))
        };
        let result = take(self.socket.as_fd(), slot(&header, status, bytes));
        self.status().store(STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % SLOTS;
        Some(result)
    }

    /// Whose the next slot is: all that may be looked at while it is the kernel's.
    fn status(&self) -> &AtomicU32 {
        // SAFETY: inside the mapping, which lives as long as the ring; slots begin with their status, and are aligned for it.
        unsafe { AtomicU32::from_ptr(self.memory.as_ptr().add(self.next * SLOT).cast()) }
    }

    /// Packets that the kernel dropped since the last call because ring or buffer were full.
    pub(crate) fn drops(&self) -> io::Result<u64> {
        let mut statistics = [0_u32; 2];
        let mut len = libc::socklen_t::try_from(size_of_val(&statistics)).expect("eight bytes");
        // SAFETY: the pointer and the length describe `statistics`.
        check(unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                PACKET_STATISTICS,
                statistics.as_mut_ptr().cast(),
                &raw mut len,
            )
        })?;
        Ok(u64::from(statistics[1]))
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Makes the kernel stamp a packet when it comes in from a node, and not when it reaches the ring a little later.
///
/// The kernel stamps for the whole machine while some socket asks for it, and switches that on in the background. So a
/// program that measures with such stamps, as ping does, would get none for a reply that is faster than the switch, but
/// the time when it woke up itself: two of three single pings over an idle lab then tell 130 us where the path takes 36.
fn stamp_where_packets_come_in(socket: &OwnedFd) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &1_i32)
}

fn slot<'a>(header: &SlotHeader, status: u32, bytes: &'a [u8]) -> Slot<'a> {
    let index = bytes[INTERFACE_INDEX_AT..INTERFACE_INDEX_AT + 4].try_into().expect("four bytes");
    let protocol = if status & STATUS_VLAN_TPID_VALID != 0 { header.vlan_tpid } else { 0x8100 };
    Slot {
        ifindex: u32::from_ne_bytes(index),
        seconds: header.seconds,
        nanoseconds: header.nanoseconds,
        vlan: (status & STATUS_VLAN_VALID != 0).then_some((protocol, header.vlan_tci)),
        body: body(header, status, bytes),
    }
}

fn body<'a>(header: &SlotHeader, status: u32, bytes: &'a [u8]) -> Body<'a> {
    if status & STATUS_COPY != 0 {
        return Body::OnSocket;
    }
    let mac = usize::from(header.mac);
    let virtio = bytes.get(mac.wrapping_sub(VIRTIO_HEADER_LEN)..mac).and_then(|slice| slice.try_into().ok());
    match (virtio, bytes.get(mac..mac + header.snap_len as usize)) {
        (Some(virtio), Some(frame)) if header.snap_len == header.len => Body::Here { virtio, frame },
        _ => Body::Lost,
    }
}

/// Fetches a super-packet from the socket: its virtio header, and its bytes into `buffer`. None if it is not there.
pub(crate) fn fetch(socket: BorrowedFd<'_>, virtio: &mut [u8; VIRTIO_HEADER_LEN], buffer: &mut [u8]) -> Option<usize> {
    let mut parts = [IoSliceMut::new(virtio), IoSliceMut::new(buffer)];
    let message = recvmsg(socket, &mut parts, &mut RecvAncillaryBuffer::default(), RecvFlags::DONTWAIT).ok()?;
    let whole = !message.flags.contains(ReturnFlags::TRUNC);
    if whole { message.bytes.checked_sub(VIRTIO_HEADER_LEN) } else { None }
}

/// Returns the size of a block where pages have this size: whole pages, of which kernels of arm64 have some of 64 KiB.
fn block(page: usize) -> usize {
    BLOCK.max(page)
}

fn map(socket: &OwnedFd) -> io::Result<NonNull<u8>> {
    // All of its pages are there from the beginning.
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new mapping of the ring that was just requested, at an address of the kernel's choice.
    let memory = unsafe { mmap(std::ptr::null_mut(), RING, protection, MapFlags::SHARED, socket, 0) }?;
    // Programs are started by forking, which copies the tables of what is mapped. Where it is refused, that takes its time.
    // SAFETY: only a child that read the ring would notice, and none does.
    let _ = unsafe { madvise(memory, RING, Advice::LinuxDontFork) };
    Ok(NonNull::new(memory.cast()).expect("a mapping is never at zero"))
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `map` with this length, and nothing refers to it any more.
        let _ = unsafe { munmap(self.memory.as_ptr().cast(), RING) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The document packet_mmap.rst asks for this.
    #[test]
    fn a_ring_has_whole_pages_and_whole_slots_whatever_the_size_of_a_page() {
        for page in [4_096, 16_384, 65_536] {
            let block = block(page);
            assert!(block.is_multiple_of(page) && block.is_multiple_of(SLOT), "{page}");
            assert_eq!(RING / block * (block / SLOT), SLOTS, "{page}");
        }
    }
}
