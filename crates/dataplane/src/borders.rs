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

use crate::clock::Clock;
use crate::mailbox::Bell;
use crate::meter::Meters;
use crate::report::PortReport;
use netloom_fabric::{Delivery, Fabric, PipeId, PortId, Shard};
use netloom_link::Departure;
use netloom_packet::{Packet, Pool};
use netloom_units::{Duration, Instant};
use rtrb::{Consumer, Producer, PushError, RingBuffer};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

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
const AWAKE: u64 = 0;

/// A value that shares no cache line with another; processors fetch lines of 64 bytes in pairs.
#[repr(align(128))]
struct Alone<T>(T);

/// A packet on its way over a border.
struct Crossing {
    inlet: PipeId,
    departure: Departure,
}

/// Wakes the thread of a shard if it sleeps.
struct Waker {
    /// Until when it sleeps, in nanoseconds of lab time.
    sleeps_until: AtomicU64,
    bell: Arc<Bell>,
}

impl Waker {
    fn wake(&self) {
        if self.sleeps_until.swap(AWAKE, Ordering::Relaxed) != AWAKE {
            self.bell.ring();
        }
    }
}

/// All borders of a shard.
pub(crate) struct Borders {
    waker: Arc<Waker>,
    /// By pipe: its place in `crossings`.
    places: Vec<Option<u32>>,
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
    next: Arc<Alone<AtomicU64>>,
    told: u64,
    waker: Arc<Waker>,
    /// Whether something was given since the shard beyond was woken.
    is_fresh: bool,
}

/// From another shard.
struct Entrance {
    packets: Consumer<Crossing>,
    empties: Producer<Packet>,
    next: Arc<Alone<AtomicU64>>,
    /// Packets that came, less the buffers that went back.
    owed: u64,
}

/// The borders of each shard, whose threads these bells wake; none for a shard without.
pub(crate) fn connect(shards: &[Shard], bells: &[Arc<Bell>]) -> Vec<Option<Borders>> {
    let mut all: Vec<Borders> = shards.iter().zip(bells).map(|(shard, bell)| Borders::new(shard, bell)).collect();
    for (number, shard) in shards.iter().enumerate() {
        let mut exits: BTreeMap<usize, Vec<PipeId>> = BTreeMap::new();
        for border in &shard.borders {
            exits.entry(border.shard).or_default().push(border.pipe);
        }
        for border in &shard.borders {
            let exit = exits.keys().position(|other| *other == border.shard).expect("noted above");
            let own = &mut all[number];
            own.places[border.pipe.0 as usize] = u32::try_from(own.crossings.len()).ok();
            own.crossings.push(Way { exit, inlet: border.inlet, port: border.port, lost: 0 });
        }
        for (other, pipes) in exits {
            let (packets, arrivals) = RingBuffer::new(ROOM);
            let (returns, empties) = RingBuffer::new(EMPTIES);
            let next = Arc::new(Alone(AtomicU64::new(NEVER)));
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
    all.into_iter().map(|borders| Some(borders).filter(|borders| !borders.is_empty())).collect()
}

impl Borders {
    fn new(shard: &Shard, bell: &Arc<Bell>) -> Self {
        let waker = Arc::new(Waker { sleeps_until: AtomicU64::new(AWAKE), bell: Arc::clone(bell) });
        let places = vec![None; shard.pipes.len()];
        Self { waker, places, crossings: Vec::new(), exits: Vec::new(), entrances: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        self.exits.is_empty() && self.entrances.is_empty()
    }

    /// Whether this delivery leads to another shard.
    #[inline]
    pub(crate) fn lead_away(&self, delivery: &Delivery) -> bool {
        self.places[delivery.pipe.0 as usize].is_some()
    }

    /// Gives a packet that leads away to its shard.
    pub(crate) fn give(&mut self, delivery: Delivery, meters: &mut Meters, pool: &mut Pool) {
        let place = self.places[delivery.pipe.0 as usize].expect("it leads away");
        let way = &mut self.crossings[place as usize];
        let exit = &mut self.exits[way.exit];
        match exit.packets.push(Crossing { inlet: way.inlet, departure: delivery.departure }) {
            Ok(()) => exit.is_fresh = true,
            Err(PushError::Full(Crossing { departure, .. })) => {
                meters.lose(delivery.pipe, &departure);
                way.lost += u64::from(departure.packet.segments());
                pool.recycle(departure.packet);
            }
        }
    }

    /// Wakes those to whom something was given.
    pub(crate) fn wake_others(&mut self) {
        for exit in &mut self.exits {
            if std::mem::take(&mut exit.is_fresh) {
                // Either they see what was given before they sleep, or this sees that they sleep.
                fence(Ordering::SeqCst);
                exit.waker.wake();
            }
        }
    }

    /// Takes what came from other shards, up to a batch, and returns how many packets that were.
    pub(crate) fn receive(&mut self, fabric: &mut Fabric, meters: &mut Meters, clock: &Clock) -> usize {
        let mut count = 0;
        let mut now = None;
        for entrance in &mut self.entrances {
            while let Some(Crossing { inlet, departure }) =
                if count < BATCH { entrance.packets.pop().ok() } else { None }
            {
                count += 1;
                entrance.owed += 1;
                // This is as late as the packet is at the end of its pipe.
                meters.record(inlet, &departure, *now.get_or_insert_with(|| clock.now()));
                fabric.cross(inlet, departure);
            }
        }
        count
    }

    /// Sends buffers back to where packets come from, and takes in those that come back: otherwise one shard would make
    /// new ones for ever, and another keep them.
    pub(crate) fn exchange(&mut self, pool: &mut Pool) {
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
    pub(crate) fn announce(&mut self, fabric: &Fabric, now: Instant) -> Option<Instant> {
        for exit in &mut self.exits {
            let next = exit.pipes.iter().filter_map(|pipe| fabric.next_known(*pipe)).min();
            let next = next.map_or(NEVER, Instant::as_nanos);
            if next != exit.told {
                exit.told = next;
                exit.next.0.store(next, Ordering::Release);
                fence(Ordering::SeqCst);
                if exit.waker.sleeps_until.load(Ordering::Relaxed) > next {
                    exit.waker.wake();
                }
            }
        }
        self.coming(now)
    }

    /// When the next packet comes from another shard, if that is known.
    fn coming(&self, now: Instant) -> Option<Instant> {
        let next = self.entrances.iter().map(|entrance| Instant::from_nanos(entrance.next.0.load(Ordering::Acquire)));
        next.filter(|next| *next != Instant::from_nanos(NEVER) && *next + STALE >= now).min()
    }

    /// Whether this shard may sleep from `now` until then: nothing has come meanwhile, or was announced for before. Who
    /// sleeps is woken by what comes; [`Borders::set_awake`] ends that.
    pub(crate) fn may_sleep(&mut self, now: Instant, until: Instant) -> bool {
        if self.entrances.is_empty() {
            return true;
        }
        self.waker.sleeps_until.store(until.as_nanos().max(AWAKE + 1), Ordering::Relaxed);
        // Either this sees what was given, or those who give see that it sleeps.
        fence(Ordering::SeqCst);
        let is_quiet = self.entrances.iter().all(|entrance| entrance.packets.is_empty());
        let may = is_quiet && self.coming(now).is_none_or(|next| next >= until);
        if !may {
            self.set_awake();
        }
        may
    }

    /// This shard is awake.
    pub(crate) fn set_awake(&mut self) {
        self.waker.sleeps_until.store(AWAKE, Ordering::Relaxed);
    }

    /// What was lost here, by the port that it would have reached.
    pub(crate) fn reports(&self) -> impl Iterator<Item = PortReport> {
        self.crossings.iter().map(|way| PortReport {
            port: way.port,
            is_interface: false,
            received: 0,
            lost_receiving: 0,
            lost_sending: way.lost,
        })
    }
}
