//! The memory that scheduler and device backend share; see `shim/mailbox.h`.

use super::memory::{self, Memory};
use super::samples::Samples;
use super::{Answer, CarrierChange};
use crate::schedule::{Device, MachineError, TimedFrame};
use netloom_fabric::ForwardingRule;
use netloom_packet::{LARGE_FRAME, MAX_HEAD, Pool, VIRTIO_HEADER_LEN, VirtioHeader};
use netloom_units::Instant;
use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering};

/// Of the layout; the device backend's side has the same number.
const VERSION: u32 = 7;
/// Room for frames in either direction, in bytes.
const ROOM: usize = 4 << 20;
/// Bytes before the lanes: version, number of devices, start, epoch, and what follows.
const HEADER: usize = 128;
/// Where the device backend counts frames that no device had room for.
const UNHEARD: usize = 24;
/// Whose turn it is, what the scheduler says, and what the device backend says.
const WHOSE: usize = 32;
/// Which of the doorbell's counters is the kernel's, from 1.
const PROCESSOR: usize = 36;
const TURN: usize = 40;
const ANSWER: usize = 56;
/// When a sample of TCP connections is due, how often, and whether it is asked who has them.
const SAMPLE_AT: usize = 80;
const SAMPLE_STEP: usize = 88;
const SAMPLE_OWNERS: usize = 96;
const BACKENDS_TURN: u32 = 0;
const SCHEDULERS_TURN: u32 = 1;
/// Bytes of a lane before its frames: how many are used, reserve.
const LANE_HEADER: usize = 8;
const TO_KERNEL: usize = HEADER;
const FROM_KERNEL: usize = TO_KERNEL + LANE_HEADER + ROOM;
/// The place of the tables that describe what routers pass on, by device.
const PASSAGES: usize = FROM_KERNEL + LANE_HEADER + ROOM;
const MOST_PASSAGES: usize = 16;
const MOST_STRETCHES: usize = 1024;
const PASSAGE: usize = 16 + 17 * MOST_STRETCHES;
const SIZE: usize = PASSAGES + MOST_PASSAGES * PASSAGE;
/// Bytes before each frame: instant, length, device, kind of what reaches the kernel or of a part of a sample, virtio header.
const FRAME_HEADER: usize = 32;
/// The kinds of what is no frame of the network.
const CARRIER_OFF: u16 = 1;
const CARRIER_ON: u16 = 2;
/// The device of what samples consist of, and its kinds.
const SAMPLES_DEVICE: u16 = u16::MAX;
const SAMPLE_BEGINS: u16 = 0;
const SAMPLE_CONNECTION: u16 = 1;
const SAMPLE_OWNER: u16 = 2;

/// See the module.
#[derive(Debug)]
pub(super) struct Mailbox {
    memory: Memory,
}

impl Mailbox {
    pub(super) fn create(devices: u16, start_ns: u64, epoch_ns: u64) -> io::Result<(Self, OwnedFd)> {
        let (mut memory, file) = Memory::create(c"netloom-mailbox", SIZE)?;
        memory.write(0, &VERSION.to_ne_bytes());
        memory.write(4, &u32::from(devices).to_ne_bytes());
        memory.write(8, &start_ns.to_ne_bytes());
        memory.write(16, &epoch_ns.to_ne_bytes());
        Ok((Self { memory }, file))
    }

    /// What the device backend says, if it is the scheduler's turn.
    pub(super) fn answer(&self) -> Option<Answer> {
        if self.memory.word(WHOSE).load(Ordering::Acquire) != SCHEDULERS_TURN {
            return None;
        }
        let word = |at: usize| u64::from_ne_bytes(self.memory.read(at));
        let [kind, stopped] = [ANSWER, ANSWER + 4].map(|at| u32::from_ne_bytes(self.memory.read(at)));
        Some(Answer { kind, is_stopped: stopped != 0, now: word(ANSWER + 8), next_wake: word(ANSWER + 16) })
    }

    /// It is the device backend's turn.
    pub(super) fn say(&mut self, kind: u32, more: bool, until: u64) {
        self.memory.write(TURN, &kind.to_ne_bytes());
        self.memory.write(TURN + 4, &u32::from(more).to_ne_bytes());
        self.memory.write(TURN + 8, &until.to_ne_bytes());
        let whose = self.memory.word(WHOSE);
        whose.store(BACKENDS_TURN, Ordering::Release);
        memory::wake(whose);
    }

    /// The kernel is counted in the doorbell, as of this lane.
    pub(super) fn set_lane(&mut self, number: u32) {
        self.memory.write(PROCESSOR, &number.to_ne_bytes());
    }

    /// Writes down what the router at the other end of a device's link passes on; false if there is no room to say so.
    pub(super) fn describe(&mut self, device: Device, rule: &ForwardingRule) -> bool {
        let (place, stretches) = (usize::from(device.0), &rule.stretches);
        let mtu = u32::try_from(rule.mtu.get()).unwrap_or(u32::MAX);
        let Ok(count) = u16::try_from(stretches.len()) else { return false };
        if place >= MOST_PASSAGES || stretches.is_empty() || stretches.len() > MOST_STRETCHES {
            return false;
        }
        let start = PASSAGES + place * PASSAGE;
        self.memory.write(start, &mtu.to_ne_bytes());
        self.memory.write(start + 6, &[ForwardingRule::TIME_TO_LIVE]);
        self.memory.write(start + 8, &rule.mac);
        for (number, (first, is_passed)) in stretches.iter().enumerate() {
            let [high, low] = [first >> 64, first & u128::from(u64::MAX)];
            let halves = [high, low].map(|half| u64::try_from(half).expect("64 bits").to_ne_bytes()).concat();
            self.memory.write(start + 16 + 16 * number, &halves);
            self.memory.write(start + 16 + 16 * MOST_STRETCHES + number, &[u8::from(*is_passed)]);
        }
        self.memory.write(start + 4, &count.to_ne_bytes());
        true
    }

    /// From this instant on a sample of TCP connections is due every `step_ns`; 0: none any more.
    pub(super) fn sample(&mut self, from_ns: u64, step_ns: u64, owners: bool) {
        self.memory.write(SAMPLE_AT, &from_ns.to_ne_bytes());
        self.memory.write(SAMPLE_OWNERS, &u32::from(owners).to_ne_bytes());
        self.memory.write(SAMPLE_STEP, &step_ns.to_ne_bytes());
    }

    /// The kernel stands still for so long at this instant of its own time: samples that would have been due meanwhile are left out, and
    /// the next one is due where the lab has its next.
    pub(super) fn stand_still(&mut self, now_ns: u64, span_ns: u64) {
        let [next_ns, step_ns] = [SAMPLE_AT, SAMPLE_STEP].map(|at| u64::from_ne_bytes(self.memory.read(at)));
        if step_ns > 0 && next_ns < u64::MAX {
            let next_ns = next_sample(next_ns, step_ns, (now_ns, span_ns));
            self.memory.write(SAMPLE_AT, &next_ns.to_ne_bytes());
        }
    }

    /// How many frames the kernel's devices had no room for, since it began.
    pub(super) fn unheard(&self) -> u64 {
        u64::from_ne_bytes(self.memory.read(UNHEARD))
    }

    fn used(&self, lane: usize) -> &AtomicU32 {
        self.memory.word(lane)
    }

    /// Nothing is on its way to the kernel.
    pub(super) fn clear(&mut self) {
        self.used(TO_KERNEL).store(0, Ordering::Release);
    }

    /// Puts changes of carriers in front of all frames, of which there are none yet.
    pub(super) fn put_carriers(&mut self, carriers: &mut Vec<CarrierChange>) {
        let mut used = 0;
        for CarrierChange { at, device, on } in carriers.drain(..) {
            let mut header = [0; FRAME_HEADER];
            header[..8].copy_from_slice(&at.as_nanos().to_ne_bytes());
            header[12..14].copy_from_slice(&device.0.to_ne_bytes());
            header[14..16].copy_from_slice(&if on { CARRIER_ON } else { CARRIER_OFF }.to_ne_bytes());
            self.memory.write(TO_KERNEL + LANE_HEADER + used, &header);
            used += FRAME_HEADER;
        }
        self.used(TO_KERNEL).store(u32::try_from(used).expect("a kernel has few devices"), Ordering::Release);
    }

    /// Puts as many frames behind those for the kernel as fit.
    pub(super) fn fill(&mut self, frames: &mut VecDeque<TimedFrame>, pool: &mut Pool) {
        let mut used = self.used(TO_KERNEL).load(Ordering::Acquire) as usize;
        while let Some(TimedFrame { at, device, packet }) = frames.front() {
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
            self.memory.write(place, &header);
            self.memory.write(place + FRAME_HEADER, &head[..parts.len]);
            self.memory.write(place + FRAME_HEADER + parts.len, payload);
            used += room;
            if let Some(done) = frames.pop_front() {
                pool.recycle(done.packet);
            }
        }
        self.used(TO_KERNEL).store(u32::try_from(used).expect("a mailbox is small"), Ordering::Release);
    }

    /// Takes all frames that the kernel has sent, and its samples.
    pub(super) fn take(
        &mut self,
        sent: &mut Vec<TimedFrame>,
        pool: &mut Pool,
        samples: &mut Samples,
    ) -> Result<(), MachineError> {
        let used = self.used(FROM_KERNEL).swap(0, Ordering::AcqRel) as usize;
        if used > ROOM {
            return Err(MachineError::Protocol(format!("{used} bytes of frames in a mailbox of {ROOM}")));
        }
        let mut next = 0;
        while next < used {
            let place = FROM_KERNEL + LANE_HEADER + next;
            let header = if used - next >= FRAME_HEADER { self.memory.read(place) } else { [0; FRAME_HEADER] };
            let length = u32::from_ne_bytes(header[8..12].try_into().expect("four bytes")) as usize;
            if length > LARGE_FRAME || next + room(length) > used {
                return Err(MachineError::Protocol(format!("a frame of {length} bytes that does not fit its mailbox")));
            }
            let [device, kind] = [12, 14].map(|at| u16::from_ne_bytes([header[at], header[at + 1]]));
            let at = u64::from_ne_bytes(header[..8].try_into().expect("eight bytes"));
            if device == SAMPLES_DEVICE {
                let mut bytes = vec![0; length];
                self.memory.copy_out(place + FRAME_HEADER, &mut bytes);
                sampled(samples, at, kind, &bytes);
                next += room(length);
                continue;
            }
            let virtio: [u8; VIRTIO_HEADER_LEN] =
                header[16..16 + VIRTIO_HEADER_LEN].try_into().expect("a virtio header");
            let packet = pool.fill_with(length, |buffer| {
                self.memory.copy_out(place + FRAME_HEADER, &mut buffer[..length]);
                Some((length, VirtioHeader::parse(&virtio)))
            });
            let (at, device) = (Instant::from_nanos(at), Device(device));
            sent.extend(packet.map(|packet| TimedFrame { at, device, packet }));
            next += room(length);
        }
        Ok(())
    }
}

/// A part of a sample. What is none is left out.
fn sampled(samples: &mut Samples, at_ns: u64, kind: u16, bytes: &[u8]) {
    match (kind, bytes) {
        (SAMPLE_BEGINS, _) => samples.begin(at_ns),
        (SAMPLE_CONNECTION, message) => samples.connection(message),
        (SAMPLE_OWNER, &[a, b, c, d, e, f, g, h]) => {
            samples.owner(u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes([e, f, g, h]));
        }
        _ => {}
    }
}

/// The first of the instants `next_ns`, `next_ns + step_ns` and so on that is not before the end of a standstill, which begins at `now_ns`;
/// by a clock that then is behind by its span.
fn next_sample(next_ns: u64, step_ns: u64, (now_ns, span_ns): (u64, u64)) -> u64 {
    let end_ns = now_ns.saturating_add(span_ns);
    let left_out = end_ns.saturating_sub(next_ns).div_ceil(step_ns);
    next_ns.saturating_add(left_out.saturating_mul(step_ns)).saturating_sub(span_ns)
}

/// Bytes that a frame takes.
fn room(length: usize) -> usize {
    FRAME_HEADER + length.next_multiple_of(8)
}

#[cfg(test)]
mod tests;
