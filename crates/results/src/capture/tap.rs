//! What the driver calls: chooses packets, and passes them on to the writer without waiting for it.

use super::Pace;
use super::fates::Known;
use super::order::{OnAir, Shown};
use super::pcapng::Bound;
use super::writer::{Batch, Shared};
use netloom_fabric::{PortId, Tap, Way};
use netloom_lab::Direction;
use netloom_link::{AirPacket, AirPpdu, Fate, Filter};
use netloom_packet::{Packet, Pool};
use netloom_units::Instant;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

/// A batch for the writer has at most this many packets, or this many bytes.
const BATCH: usize = 128;
const BATCH_BYTES: usize = 1 << 20;
/// How many bytes may wait for a writer that cannot keep up: the kernel's super-packets of 10 ms at 50 Gbit/s.
const MOST_WAITING: usize = 64 << 20;
/// What a packet takes beside its bytes.
const OVERHEAD: usize = 256;

/// Which packets at a port belong to which capture.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The capture's number.
    pub(super) capture: usize,
    /// The port's number in it.
    pub(super) interface: u32,
    /// Whether it is the first end of its link,
    pub(super) is_first: bool,
    /// and which link that is.
    pub(super) link: u32,
    /// Only packets of this direction; none: both.
    pub(super) direction: Option<Direction>,
    /// Only what goes from the node into the link, or to it; none: both.
    pub(super) way: Option<Way>,
    pub(super) filter: Option<Filter>,
}

impl Rule {
    /// At the first end, what comes from the node goes forward; at the second end, what goes to the node.
    fn wants(&self, way: Way, packet: &Packet) -> bool {
        let forward = self.is_first == (way == Way::FromNode);
        let direction = if forward { Direction::Forward } else { Direction::Backward };
        self.direction.is_none_or(|only| only == direction)
            && self.way.is_none_or(|only| only == way)
            && self.filter.as_ref().is_none_or(|filter| filter.matches(packet.flow().as_ref()))
    }
}

/// Who wants to know what becomes of packets in a pipe.
#[derive(Clone, Debug)]
pub(super) struct Followers {
    /// The pipe's link.
    pub(super) link: u32,
    /// The captures.
    pub(super) captures: Vec<usize>,
    /// The captures that write what is on its air, and of that only these packets; none: all.
    pub(super) on_air: Vec<(usize, Option<Filter>)>,
}

/// See the module.
pub(super) struct Recorder {
    /// By the port's number.
    pub(super) rules: Vec<Vec<Rule>>,
    /// By pipe.
    followers: Vec<Followers>,
    /// The hardware addresses at each port and at the other end of its link.
    macs: Vec<[[u8; 6]; 2]>,
    pub(super) pace: Pace,
    pub(super) shared: Arc<Shared>,
    pub(super) writer: SyncSender<Batch>,
    /// Packets that the writer no longer needs.
    pub(super) spent: Receiver<Vec<Packet>>,
    batch: Batch,
    /// Packets that the writer did not get; their buffers go back, too.
    left_out: Vec<Shown>,
}

impl Recorder {
    pub(super) fn new(
        (rules, followers): (Vec<Vec<Rule>>, Vec<Followers>),
        macs: Vec<[[u8; 6]; 2]>,
        pace: Pace,
        shared: Arc<Shared>,
        writer: SyncSender<Batch>,
        spent: Receiver<Vec<Packet>>,
    ) -> Self {
        Self { rules, followers, macs, pace, shared, writer, spent, batch: Batch::default(), left_out: Vec::new() }
    }

    fn hand_over(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        if batch.packets.is_empty() && batch.fates.is_empty() && batch.on_air.is_empty() {
            return;
        }
        let (bytes, segments) = (batch.bytes, batch.segments());
        let waiting = self.shared.waiting.fetch_add(bytes, Ordering::Relaxed);
        let refused = match self.pace {
            Pace::Real if waiting + bytes > MOST_WAITING => Some(batch),
            Pace::Real => self.writer.try_send(batch).err().map(|error| match error {
                TrySendError::Full(back) | TrySendError::Disconnected(back) => back,
            }),
            Pace::Virtual => self.writer.send(batch).err().map(|error| error.0),
        };
        if let Some(back) = refused {
            self.left_out.extend(back.packets);
            self.shared.waiting.fetch_sub(bytes, Ordering::Relaxed);
            self.shared.lost.fetch_add(segments, Ordering::Relaxed);
        }
    }
}

/// Destination and source of what passes a port.
fn ethernet([here, there]: [[u8; 6]; 2], way: Way) -> [u8; 12] {
    let [destination, source] = if way == Way::ToNode { [here, there] } else { [there, here] };
    let mut addresses = [0; 12];
    addresses[..6].copy_from_slice(&destination);
    addresses[6..].copy_from_slice(&source);
    addresses
}

impl Tap for Recorder {
    fn packet(&mut self, port: PortId, way: Way, first: Instant, last: Instant, packet: &Packet) {
        let Some(rules) = self.rules.get(port.0 as usize) else { return };
        let bound = if way == Way::FromNode { Bound::Out } else { Bound::In };
        for Rule { capture, interface, link, .. } in rules.iter().filter(|rule| rule.wants(way, packet)) {
            let ethernet = if packet.hops() == 0 { None } else { Some(ethernet(self.macs[port.0 as usize], way)) };
            let packet = packet.duplicate();
            self.batch.bytes += packet.bytes().len() + OVERHEAD;
            self.batch.packets.push(Shown {
                capture: *capture,
                interface: *interface,
                link: *link,
                bound,
                first,
                last,
                packet,
                ethernet,
            });
        }
        if self.batch.packets.len() >= BATCH || self.batch.bytes >= BATCH_BYTES {
            self.hand_over();
        }
    }

    fn wants_fates(&self) -> bool {
        true
    }

    fn fate(&mut self, fate: &Fate) {
        let Some(Followers { link, captures, .. }) = self.followers.get(fate.pipe as usize) else { return };
        let of_capture = |capture: &usize| Known { capture: *capture, link: *link, fate: *fate };
        self.batch.fates.extend(captures.iter().map(of_capture));
    }

    fn wants_frames(&self) -> bool {
        self.followers.iter().any(|followers| !followers.on_air.is_empty())
    }

    fn frame(&mut self, ppdu: &AirPpdu) {
        let Some(followers) = self.followers.get(ppdu.pipe as usize) else { return };
        for (capture, filter) in &followers.on_air {
            let mut ppdu = ppdu.clone();
            if let Some(filter) = filter {
                if ppdu.management.is_some() {
                    continue;
                }
                let is_wanted = |own: &AirPacket| filter.matches(own.packet.flow().as_ref());
                ppdu.mpdus.retain(|mpdu| mpdu.packets.iter().any(is_wanted));
            }
            let packets = ppdu.mpdus.iter().flat_map(|mpdu| &mpdu.packets);
            let bytes = packets.map(|own| own.packet.bytes().len() + OVERHEAD).sum();
            self.batch.bytes += bytes;
            self.batch.on_air.push(OnAir { capture: *capture, ppdu, bytes });
        }
        if self.batch.on_air.len() >= BATCH || self.batch.bytes >= BATCH_BYTES {
            self.hand_over();
        }
    }

    fn settle(&mut self, pool: &mut Pool) {
        // In virtual time the capture need not be up to date while it grows, and full batches are cheaper.
        if self.pace == Pace::Real {
            self.hand_over();
        }
        self.left_out.drain(..).for_each(|shown| pool.recycle(shown.packet));
        while let Ok(spent) = self.spent.try_recv() {
            spent.into_iter().for_each(|packet| pool.recycle(packet));
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.hand_over();
    }
}
