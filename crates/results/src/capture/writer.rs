//! The thread that writes captures.

use super::Pace;
use super::bpf::FilterProgram;
use super::fates::Known;
use super::order::{OnAir, Order, Segment, Shown};
use super::pcapng::{Pcapng, Stamp};
use super::radiotap::Radiotap;
use super::ring::Out;
use netloom_packet::Packet;
use netloom_units::{Duration, Instant};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError};
use std::time::Duration as RealDuration;

/// A writer that sleeps in its channel would have to be woken by the engine, which costs the engine microseconds.
const NAP: RealDuration = RealDuration::from_millis(5);
/// When nothing came for so many naps, what there is is written.
const IDLE_NAPS: u32 = 40;
/// Time zero has not come.
const UNKNOWN: u64 = u64::MAX;

/// Packets and trains that passed, on their way to the writer.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) packets: Vec<Shown>,
    /// The PPDUs that were on the air.
    pub(super) on_air: Vec<OnAir>,
    /// What became of these, and of others before them.
    pub(super) fates: Vec<Known>,
    pub(super) bytes: usize,
}

impl Batch {
    pub(super) fn segments(&self) -> u64 {
        let on_air = self.on_air.iter().map(|on_air| on_air.ppdu.mpdus.len() as u64);
        self.packets.iter().map(|shown| u64::from(shown.packet.segments())).chain(on_air).sum()
    }
}

/// What tap, writer and session share.
#[derive(Debug)]
pub(super) struct Shared {
    /// Time zero, in nanoseconds of the driver's time.
    zero: AtomicU64,
    /// The end of the run.
    end: AtomicU64,
    /// Bytes that wait for the writer.
    pub(super) waiting: AtomicUsize,
    /// Packets that it did not get.
    pub(super) lost: AtomicU64,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            zero: AtomicU64::new(UNKNOWN),
            end: AtomicU64::new(u64::MAX),
            waiting: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
        }
    }

    pub(super) fn begin(&self, zero: Instant) {
        self.zero.store(zero.as_nanos(), Ordering::Release);
    }

    pub(super) fn end(&self, at: Instant) {
        self.end.store(at.as_nanos(), Ordering::Release);
    }

    fn has_begun(&self) -> bool {
        self.zero.load(Ordering::Acquire) != UNKNOWN
    }

    /// Nanoseconds after time zero, if the run lasts then.
    fn lab_time(&self, at: Instant) -> Option<u64> {
        let within = at.as_nanos() <= self.end.load(Ordering::Acquire);
        let zero = self.zero.load(Ordering::Acquire);
        at.as_nanos().checked_sub(zero).filter(|_| within)
    }
}

/// A capture that is being written.
pub(super) struct Target<W> {
    pub(super) file: Pcapng<W>,
    /// What wants only some of its packets.
    pub(super) filter: Option<FilterProgram>,
    /// Writes the headers of what was on the air, if that is wanted.
    pub(super) radiotap: Option<Radiotap>,
    /// Why it cannot be written any more.
    pub(super) failed: Option<io::Error>,
}

/// See the module.
pub(super) struct Writer<W> {
    pub(super) pace: Pace,
    pub(super) shared: Arc<Shared>,
    pub(super) batches: Receiver<Batch>,
    pub(super) spent: SyncSender<Vec<Packet>>,
    pub(super) targets: Vec<Target<W>>,
    order: Order,
    /// The bytes of a packet, made anew for each.
    bytes: Vec<u8>,
}

impl<W: Out> Writer<W> {
    pub(super) fn new(
        (pace, hold): (Pace, Duration),
        shared: Arc<Shared>,
        batches: Receiver<Batch>,
        spent: SyncSender<Vec<Packet>>,
        targets: Vec<Target<W>>,
    ) -> Self {
        Self { pace, shared, batches, spent, targets, order: Order::new(hold), bytes: Vec::new() }
    }

    /// Writes until the tap is gone: for each capture, why it could not be written, if that is so.
    pub(super) fn run(mut self) -> Vec<Option<io::Error>> {
        while let Some(batch) = self.next() {
            self.shared.waiting.fetch_sub(batch.bytes, Ordering::Relaxed);
            batch.packets.into_iter().for_each(|shown| self.order.push(shown));
            batch.on_air.into_iter().for_each(|on_air| self.order.push_on_air(on_air));
            batch.fates.iter().for_each(|known| self.order.note(known));
            self.write(false);
        }
        self.write(true);
        self.close();
        self.targets.into_iter().map(|target| target.failed).collect()
    }

    fn next(&mut self) -> Option<Batch> {
        if self.pace == Pace::Virtual {
            return self.batches.recv().ok();
        }
        let mut naps = 0;
        loop {
            match self.batches.try_recv() {
                Ok(batch) => return Some(batch),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => std::thread::sleep(NAP),
            }
            naps += 1;
            if naps == IDLE_NAPS && self.shared.has_begun() {
                self.write(true);
                self.flush();
            }
        }
    }

    /// Writes what has waited for long enough, or all.
    fn write(&mut self, all: bool) {
        let next = if all { Order::pop_any } else { Order::pop };
        let mut spent = Vec::new();
        while let Some(segment) = next(&mut self.order) {
            self.write_one(&segment);
            if segment.is_last {
                spent.push(segment.packet);
            }
        }
        while let Some(on_air) = self.order.pop_on_air(all) {
            self.write_on_air(&on_air);
        }
        // If the driver does not come to take its buffers back, they are let go of here.
        let _ = self.spent.try_send(spent);
    }

    fn write_one(&mut self, segment: &Segment) {
        let Self { shared, targets, bytes, .. } = self;
        let Target { file, filter, failed, .. } = &mut targets[segment.capture];
        let (Some(at_ns), None) = (shared.lab_time(segment.at), &failed) else { return };
        segment.packet.complete(bytes);
        if let Some(addresses) = &segment.ethernet {
            bytes[..addresses.len()].copy_from_slice(addresses);
        }
        if filter.as_ref().is_some_and(|filter| !filter.wants(bytes)) {
            return;
        }
        let Segment { interface, bound, .. } = *segment;
        let comment = segment.told.as_ref().map(|told| told.text(segment.at));
        let stamp = Stamp { interface, at_ns, bound: Some(bound), comment: comment.as_deref() };
        *failed = file.packet(stamp, bytes).err();
    }

    /// Writes each MPDU of a PPDU, at the instant at which the PPDU was over, between the control frames around it.
    fn write_on_air(&mut self, on_air: &OnAir) {
        self.write_control(on_air, false);
        self.write_data(on_air);
        self.write_control(on_air, true);
    }

    fn write_control(&mut self, OnAir { capture, ppdu, .. }: &OnAir, is_behind: bool) {
        let Self { shared, targets, bytes, .. } = self;
        let Target { file, radiotap, failed, .. } = &mut targets[*capture];
        let Some(radiotap) = radiotap else { return };
        for (kind, began, over, is_good) in radiotap.control(ppdu, is_behind) {
            let (Some(at_ns), None) = (shared.lab_time(over), &failed) else { return };
            let began_ns = at_ns.saturating_sub(over.since(began).as_nanos());
            radiotap.write_control(ppdu, (kind, is_good), began_ns, bytes);
            *failed = file.packet(Stamp { interface: 0, at_ns, bound: None, comment: None }, bytes).err();
        }
    }

    fn write_data(&mut self, OnAir { capture, ppdu, .. }: &OnAir) {
        let Self { shared, targets, bytes, .. } = self;
        let Target { file, radiotap, failed, .. } = &mut targets[*capture];
        let (Some(at_ns), Some(radiotap)) = (shared.lab_time(ppdu.end), radiotap) else { return };
        // Where on the lab's clock that runs from time zero the data began; before that, at zero.
        let age = ppdu.end.since(ppdu.data.0).as_nanos();
        radiotap.begin(ppdu);
        for place in 0..ppdu.mpdus.len() {
            if failed.is_some() {
                return;
            }
            radiotap.write(ppdu, place, at_ns.saturating_sub(age), bytes);
            *failed = file.packet(Stamp { interface: 0, at_ns, bound: None, comment: None }, bytes).err();
        }
    }

    fn close(&mut self) {
        for Target { file, failed, .. } in &mut self.targets {
            let closed = file.close();
            *failed = failed.take().or(closed.err());
        }
    }

    fn flush(&mut self) {
        for Target { file, failed, .. } in &mut self.targets {
            if failed.is_none() {
                *failed = file.flush().err();
            }
        }
    }
}
