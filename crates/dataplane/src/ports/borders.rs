//! The borders between shards of one engine: packets that leave a pipe at a transit router of another shard.
//!
//! They go through a bounded queue to the thread of that shard, with their exact instants. A queue that is full loses
//! what does not fit, as a ring would: that is the machine's loss, counted by port, and fails the verdict. So no thread
//! ever waits for another.
//!
//! A shard tells those beyond its borders in advance when its next packet will come, as soon as it knows. They then sleep
//! until shortly before, and are awake when it comes: a border costs no wake-up but that of the packet itself.

#[cfg(test)]
mod tests;

use super::{Opened, PortGroup, Received, Site, Window};
use crate::clock::Clock;
use crate::edge::{Edge, Handover};
use crate::waker::Waker;
use netloom_fabric::{Delivery, Fabric, PipeId, PortId};
use netloom_figures::{EngineReport, PortReport};
use netloom_link::Departure;
use netloom_packet::{Packet, Pool};
use netloom_units::{Duration, Instant};
use rtrb::{Consumer, Producer, PushError, RingBuffer};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Packets that wait at a border at most: what 400,000 packets per second bring in 20 ms, for which the thread beyond may
/// be kept busy by others.
const ROOM: usize = 8_192;
/// Empty buffers that wait at most on their way back.
const EMPTIES: usize = 1_024;
/// Packets that one pass takes at most, so that what is due is not kept waiting by a flood.
const BATCH: usize = 256;
/// A packet that was announced and did not come for so long is no longer waited for: its shard is busy, or it was lost by
/// a cut.
const STALE: Duration = Duration::from_millis(1);

/// Instants in nanoseconds: none.
const NEVER: u64 = u64::MAX;

/// A value that shares no cache line with another; processors fetch lines of 64 bytes in pairs.
#[repr(align(128))]
struct CachePadded<T>(T);

/// A packet on its way over a border.
struct Crossing {
    inlet: PipeId,
    departure: Departure,
}

/// All borders of a shard.
struct Borders {
    clock: Clock,
    waker: Arc<Waker>,
    /// By pipe: its place in `crossings`, if it leads away.
    places: Vec<usize>,
    crossings: Vec<Way>,
    exits: Vec<Exit>,
    entrances: Vec<Entrance>,
}

/// The end of a pipe at a border.
struct Way {
    exit: usize,
    inlet: PipeId,
    port: PortId,
    /// Packets (segments) that found the queue full.
    lost: u64,
}

/// To another shard.
struct Exit {
    packets: Producer<Crossing>,
    /// Buffers that come back.
    empties: Consumer<Packet>,
    pipes: Vec<PipeId>,
    /// When the next packet leaves those pipes, in nanoseconds, or [`NEVER`].
    next: Arc<CachePadded<AtomicU64>>,
    told: u64,
    waker: Arc<Waker>,
    /// Whether something was given since the shard beyond was woken.
    is_fresh: bool,
}

/// From another shard.
struct Entrance {
    packets: Consumer<Crossing>,
    empties: Producer<Packet>,
    next: Arc<CachePadded<AtomicU64>>,
    /// Packets that came, less the buffers that went back.
    owed: u64,
}

/// The borders of each shard; none for a shard without.
pub(super) fn open(sites: &mut [Site<'_>]) -> io::Result<Vec<Option<Opened>>> {
    let opened = |(borders, site): (Borders, &Site<'_>)| {
        let ports = site.shard.borders.iter().map(|border| border.port).collect();
        (!borders.is_empty()).then(|| Opened { group: Box::new(borders), ports })
    };
    Ok(connect(sites).into_iter().zip(&*sites).map(opened).collect())
}

fn connect(sites: &[Site<'_>]) -> Vec<Borders> {
    let mut all: Vec<Borders> = sites.iter().map(Borders::new).collect();
    for (number, site) in sites.iter().enumerate() {
        let mut exits: BTreeMap<usize, Vec<PipeId>> = BTreeMap::new();
        for border in &site.shard.borders {
            exits.entry(border.shard).or_default().push(border.pipe);
        }
        for border in &site.shard.borders {
            let exit = exits.keys().position(|other| *other == border.shard).expect("noted above");
            let own = &mut all[number];
            own.places[border.pipe.0 as usize] = own.crossings.len();
            own.crossings.push(Way { exit, inlet: border.inlet, port: border.port, lost: 0 });
        }
        for (other, pipes) in exits {
            let (packets, arrivals) = RingBuffer::new(ROOM);
            let (returns, empties) = RingBuffer::new(EMPTIES);
            let next = Arc::new(CachePadded(AtomicU64::new(NEVER)));
            let waker = Arc::clone(&all[other].waker);
            all[other].entrances.push(Entrance {
                packets: arrivals,
                empties: returns,
                next: Arc::clone(&next),
                owed: 0,
            });
            all[number].exits.push(Exit { packets, empties, pipes, next, told: NEVER, waker, is_fresh: false });
        }
    }
    all
}

impl PortGroup for Borders {
    /// What comes within the window is unknown: it enters pipes ahead of time or as late as it is.
    fn receive(&mut self, edge: &mut Edge, _window: Window) -> Received {
        let mut count = 0;
        let mut now = None;
        for entrance in &mut self.entrances {
            while let Some(Crossing { inlet, departure }) =
                if count < BATCH { entrance.packets.pop().ok() } else { None }
            {
                count += 1;
                entrance.owed += 1;
                edge.cross(inlet, departure, *now.get_or_insert_with(|| self.clock.now()));
            }
        }
        Received { count, is_lively: count > 0, has_more: false }
    }

    fn push(&mut self, batch: &mut Vec<Delivery>, out: &mut Handover) {
        batch.drain(..).for_each(|delivery| self.give(delivery, out));
    }

    /// Wakes those to whom something was given, and sends buffers back to where packets come from.
    fn flush(&mut self, out: &mut Handover) {
        for exit in &mut self.exits {
            if std::mem::take(&mut exit.is_fresh) {
                exit.waker.wake();
            }
        }
        self.exchange(&mut out.pool);
    }

    fn descriptor(&self) -> RawFd {
        // What comes rings the doorbell of the thread.
        -1
    }

    /// What was lost here, by the port that it would have reached.
    fn report(&mut self, report: &mut EngineReport) {
        report.ports.extend(self.crossings.iter().map(|way| PortReport {
            port: way.port,
            is_interface: false,
            received: 0,
            lost_receiving: 0,
            lost_sending: way.lost,
            taken: 0,
        }));
    }

    fn next_arrival(&mut self, fabric: &Fabric) -> Option<Instant> {
        self.announce(fabric, self.clock.now())
    }

    /// Nothing has come meanwhile, or was announced for before. Who sleeps is woken by what comes; [`PortGroup::wake`]
    /// ends that.
    fn may_sleep(&mut self, now: Instant, until: Instant) -> bool {
        if self.entrances.is_empty() {
            return true;
        }
        let is_empty = || self.entrances.iter().all(|entrance| entrance.packets.is_empty());
        let is_quiet = || is_empty() && self.coming(now).is_none_or(|next| next >= until);
        self.waker.may_sleep(until, is_quiet)
    }

    fn wake(&mut self, _is_called: bool) -> io::Result<()> {
        self.waker.set_awake();
        Ok(())
    }
}

impl Borders {
    fn new(site: &Site<'_>) -> Self {
        let waker = Arc::new(Waker::new(Arc::clone(&site.doorbell)));
        let places = vec![0; site.shard.pipes.len()];
        let (crossings, exits, entrances) = (Vec::new(), Vec::new(), Vec::new());
        Self { clock: site.clock, waker, places, crossings, exits, entrances }
    }

    fn is_empty(&self) -> bool {
        self.exits.is_empty() && self.entrances.is_empty()
    }

    /// Gives a packet that leads away to its shard.
    fn give(&mut self, delivery: Delivery, out: &mut Handover) {
        let way = &mut self.crossings[self.places[delivery.pipe.0 as usize]];
        let exit = &mut self.exits[way.exit];
        let Delivery { pipe, port, departure } = delivery;
        match exit.packets.push(Crossing { inlet: way.inlet, departure }) {
            Ok(()) => exit.is_fresh = true,
            Err(PushError::Full(Crossing { departure, .. })) => {
                way.lost += out.lost(Delivery { pipe, port, departure });
            }
        }
    }

    /// Sends buffers back to where packets come from, and takes in those that come back: otherwise one shard would make
    /// new ones for ever, and another keep them.
    fn exchange(&mut self, pool: &mut Pool) {
        for exit in &mut self.exits {
            while let Ok(empty) = exit.empties.pop() {
                pool.recycle(empty);
            }
        }
        for entrance in &mut self.entrances {
            while let Some(empty) = if entrance.owed > 0 { pool.take_surplus() } else { None } {
                if let Err(PushError::Full(back)) = entrance.empties.push(empty) {
                    pool.recycle(back);
                    break;
                }
                entrance.owed -= 1;
            }
        }
    }

    /// Tells other shards when the next packet will come, and says when the next one comes from them, if they know.
    fn announce(&mut self, fabric: &Fabric, now: Instant) -> Option<Instant> {
        for exit in &mut self.exits {
            let next = exit.pipes.iter().filter_map(|pipe| fabric.next_known(*pipe)).min();
            let next = next.map_or(NEVER, Instant::as_nanos);
            if next != exit.told {
                exit.told = next;
                exit.next.0.store(next, Ordering::Release);
                exit.waker.wake_before(Instant::from_nanos(next));
            }
        }
        self.coming(now)
    }

    /// When the next packet comes from another shard, if that is known.
    fn coming(&self, now: Instant) -> Option<Instant> {
        let next = self.entrances.iter().map(|entrance| Instant::from_nanos(entrance.next.0.load(Ordering::Acquire)));
        next.filter(|next| *next != Instant::from_nanos(NEVER) && *next + STALE >= now).min()
    }
}
