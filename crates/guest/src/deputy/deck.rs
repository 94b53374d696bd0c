//! The memory that scheduler and deputy share; see `shim/deputy.h`.

use crate::schedule::{Device, MachineError, Passage};
use netloom_packet::{LARGE_FRAME, MAX_HEAD, Pool, VIRTIO_HEADER_LEN, VirtioHeader};
use netloom_units::Instant;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// Of the layout; the deputy's side has the same number.
const VERSION: u32 = 1;
/// Room for frames in either direction, in bytes.
const ROOM: usize = 4 << 20;
/// Bytes before the lanes: version, number of devices, start, epoch, reserve.
const HEADER: usize = 128;
/// Where the deputy counts frames that no device had room for.
const UNHEARD: usize = 24;
/// Bytes of a lane before its frames: how many are used, reserve.
const LANE_HEADER: usize = 8;
const TO_KERNEL: usize = HEADER;
const FROM_KERNEL: usize = TO_KERNEL + LANE_HEADER + ROOM;
const SIZE: usize = FROM_KERNEL + LANE_HEADER + ROOM;
/// Bytes before each frame: instant, length, device, reserve, virtio header.
const FRAME_HEADER: usize = 32;

/// See the module.
#[derive(Debug)]
pub(super) struct Deck {
    memory: NonNull<u8>,
}

// SAFETY: the mapping belongs to this value alone; which thread reads it does not matter.
unsafe impl Send for Deck {}

impl Deck {
    pub(super) fn create(devices: u16, start_ns: u64, epoch_ns: u64) -> io::Result<(Self, OwnedFd)> {
        // SAFETY: the name is a string that ends with a zero byte.
        let fd = unsafe { libc::memfd_create(c"netloom-deck".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if fd == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it has just been made, and nothing else knows it.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        let size = libc::off_t::try_from(SIZE).expect("a few megabytes");
        // SAFETY: plain numbers.
        if unsafe { libc::ftruncate(file.as_raw_fd(), size) } == -1 {
            return Err(io::Error::last_os_error());
        }
        // Memory that the other side cuts off would end whoever reads it.
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: plain numbers.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a new mapping of a file of this size, at an address that the kernel chooses.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                SIZE,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mut this = Self { memory: NonNull::new(memory.cast()).expect("a mapping is not at address 0") };
        this.write(0, &VERSION.to_ne_bytes());
        this.write(4, &u32::from(devices).to_ne_bytes());
        this.write(8, &start_ns.to_ne_bytes());
        this.write(16, &epoch_ns.to_ne_bytes());
        Ok((this, file))
    }

    /// Bytes of the deck. The deputy does not write while it is the scheduler's turn; if it did all the same, other
    /// bytes would be read, which does no harm: no reference to them outlives the call.
    fn read<const N: usize>(&self, at: usize) -> [u8; N] {
        assert!(at + N <= SIZE, "inside the deck");
        // SAFETY: the range lies inside the mapping, which lives as long as this value.
        unsafe { self.memory.add(at).cast::<[u8; N]>().read_unaligned() }
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= SIZE, "inside the deck");
        // SAFETY: the range lies inside the mapping, and `bytes` is memory of our own.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.memory.as_ptr().add(at), bytes.len()) };
    }

    fn copy_out(&self, at: usize, bytes: &mut [u8]) {
        assert!(at + bytes.len() <= SIZE, "inside the deck");
        // SAFETY: the range lies inside the mapping, and `bytes` is memory of our own.
        unsafe { std::ptr::copy_nonoverlapping(self.memory.as_ptr().add(at), bytes.as_mut_ptr(), bytes.len()) };
    }

    /// How many frames the kernel's devices had no room for, since it began.
    pub(super) fn unheard(&self) -> u64 {
        u64::from_ne_bytes(self.read(UNHEARD))
    }

    fn used(&self, lane: usize) -> &AtomicU32 {
        // SAFETY: both lanes begin at a multiple of four bytes inside the mapping; the deputy reads and writes it, too,
        // hence the atomic.
        unsafe { AtomicU32::from_ptr(self.memory.as_ptr().add(lane).cast()) }
    }

    /// Nothing is on its way to the kernel.
    pub(super) fn clear(&mut self) {
        self.used(TO_KERNEL).store(0, Ordering::Release);
    }

    /// Puts as many frames behind those for the kernel as fit.
    pub(super) fn fill(&mut self, frames: &mut VecDeque<Passage>, pool: &mut Pool) {
        let mut used = self.used(TO_KERNEL).load(Ordering::Acquire) as usize;
        while let Some(Passage { at, device, packet }) = frames.front() {
            let mut head = [0; MAX_HEAD];
            let parts = packet.write_head(&mut head);
            let payload = &packet.bytes()[parts.payload];
            let length = parts.len + payload.len();
            let room = room(length);
            if used + room > ROOM {
                break;
            }
            let place = TO_KERNEL + LANE_HEADER + used;
            let mut header = [0; FRAME_HEADER];
            header[..8].copy_from_slice(&at.as_nanos().to_ne_bytes());
            header[8..12].copy_from_slice(&u32::try_from(length).expect("frames are short").to_ne_bytes());
            header[12..14].copy_from_slice(&device.0.to_ne_bytes());
            header[16..16 + VIRTIO_HEADER_LEN].copy_from_slice(&parts.virtio.bytes());
            self.write(place, &header);
            self.write(place + FRAME_HEADER, &head[..parts.len]);
            self.write(place + FRAME_HEADER + parts.len, payload);
            used += room;
            if let Some(done) = frames.pop_front() {
                pool.recycle(done.packet);
            }
        }
        self.used(TO_KERNEL).store(u32::try_from(used).expect("a deck is small"), Ordering::Release);
    }

    /// Takes all frames that the kernel has sent.
    pub(super) fn take(&mut self, sent: &mut Vec<Passage>, pool: &mut Pool) -> Result<(), MachineError> {
        let used = self.used(FROM_KERNEL).swap(0, Ordering::AcqRel) as usize;
        if used > ROOM {
            return Err(MachineError::Protocol(format!("{used} bytes of frames in a deck of {ROOM}")));
        }
        let mut next = 0;
        while next < used {
            let place = FROM_KERNEL + LANE_HEADER + next;
            let header = if used - next >= FRAME_HEADER { self.read(place) } else { [0; FRAME_HEADER] };
            let length = u32::from_ne_bytes(header[8..12].try_into().expect("four bytes")) as usize;
            if length > LARGE_FRAME || next + room(length) > used {
                return Err(MachineError::Protocol(format!("a frame of {length} bytes that does not fit its deck")));
            }
            let virtio: [u8; VIRTIO_HEADER_LEN] =
                header[16..16 + VIRTIO_HEADER_LEN].try_into().expect("a virtio header");
            let packet = pool.fill_with(length, |buffer| {
                self.copy_out(place + FRAME_HEADER, &mut buffer[..length]);
                Some((length, VirtioHeader::parse(&virtio)))
            });
            let at = Instant::from_nanos(u64::from_ne_bytes(header[..8].try_into().expect("eight bytes")));
            let device = Device(u16::from_ne_bytes([header[12], header[13]]));
            sent.extend(packet.map(|packet| Passage { at, device, packet }));
            next += room(length);
        }
        Ok(())
    }
}

/// Bytes that a frame takes.
fn room(length: usize) -> usize {
    FRAME_HEADER + length.next_multiple_of(8)
}

impl Drop for Deck {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this size, and nothing refers to it any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast::<c_void>(), SIZE) };
    }
}

#[cfg(test)]
mod tests;
