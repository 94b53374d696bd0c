//! How long packets take from one end of a pipe to the other, for whoever samples that.
//!
//! A packet in a pipe is two machine words and does not know when it came in. So this is remembered here, for each frame, and
//! only while somebody wants to know.

mod delays;

use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
pub use delays::Delays;
use delays::Weighed;
use netloom_packet::Packet;
use netloom_units::Instant;

/// When so many deliveries wait to be counted, those that are over are counted beforehand.
const MANY: usize = 1 << 16;

/// Those of all pipes of a fabric, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Transits(Vec<Transit>);

/// A segment: the number of its frame, and its own in it.
type Segment = (u64, u16);

/// Those of a pipe.
#[derive(Debug, Default)]
struct Transit {
    /// By frames: what waits or is being sent.
    inside: BTreeMap<u64, Stays>,
    /// What travels or has arrived, until it is counted.
    sent: BinaryHeap<Reverse<Arrival>>,
    /// Of that, what was lost on its way.
    lost: BTreeSet<Segment>,
    /// What has arrived and was counted beforehand.
    counted: Weighed,
}

/// The segments of a frame that are inside: mostly they came in at one instant, which takes no list.
#[derive(Debug)]
struct Stays {
    first: Stay,
    others: Vec<Stay>,
}

/// Segments that came in at one instant.
#[derive(Clone, Copy, Debug)]
struct Stay {
    first: u16,
    count: u16,
    entered: Instant,
}

/// Segments on their way: they are compared by their due instants first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival {
    due: Instant,
    entered: Instant,
    segment: Segment,
    count: u16,
}

impl Transits {
    /// It has come in, and the impairments have let it through.
    pub(crate) fn enter(&mut self, pipe: u32, now: Instant, packet: &Packet) {
        let (frame, first) = packet.place();
        let stay = Stay { first, count: count_of(packet), entered: now };
        let inside = &mut self.of(pipe).inside;
        match inside.get_mut(&frame) {
            Some(stays) => stays.others.push(stay),
            None => drop(inside.insert(frame, Stays { first: stay, others: Vec::new() })),
        }
    }

    /// It has been sent to its end, and arrives at `due`.
    pub(crate) fn send(&mut self, pipe: u32, now: Instant, packet: &Packet, due: Instant) {
        let transit = self.of(pipe);
        transit.leave(packet, |transit, segment, Stay { count, entered, .. }| {
            transit.sent.push(Reverse(Arrival { due, entered, segment, count }));
        });
        if transit.sent.len() >= MANY {
            transit.count_until(now);
        }
    }

    /// It is dropped before it was sent, if it has come in at all.
    pub(crate) fn drop(&mut self, pipe: u32, packet: &Packet) {
        self.of(pipe).leave(packet, |_, _, _| ());
    }

    /// It is taken off the transmitter or the line and dropped.
    pub(crate) fn lose(&mut self, pipe: u32, packet: &Packet) {
        let (frame, first) = packet.place();
        let transit = self.of(pipe);
        let known = transit.leave(packet, |_, _, _| ());
        if known < count_of(packet) {
            transit.lost.extend((0..count_of(packet)).map(|index| (frame, first + index)));
        }
    }

    /// How long those took that arrived since this was asked last, and until now; none if there are none.
    pub(crate) fn take(&mut self, pipe: u32, now: Instant) -> Option<Delays> {
        let transit = self.of(pipe);
        transit.count_until(now);
        core::mem::take(&mut transit.counted).delays()
    }

    fn of(&mut self, pipe: u32) -> &mut Transit {
        let place = pipe as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, Transit::default);
        }
        &mut self.0[place]
    }
}

impl Transit {
    /// It waits no longer: `each` takes the segments of it that have come in, as many together as came in together. How many
    /// those are.
    fn leave(&mut self, packet: &Packet, mut each: impl FnMut(&mut Self, Segment, Stay)) -> u16 {
        let (frame, mut first) = packet.place();
        let Some(mut stays) = self.inside.remove(&frame) else { return 0 };
        let (end, mut known) = (first + count_of(packet), 0);
        while first < end {
            match stays.cut(first, end) {
                Some(left) => {
                    (first, known) = (first + left.count, known + left.count);
                    each(self, (frame, left.first), left);
                }
                None => first += 1,
            }
        }
        if stays.settle() {
            self.inside.insert(frame, stays);
        }
        known
    }

    fn count_until(&mut self, now: Instant) {
        while let Some(Reverse(arrival)) = self.sent.peek().copied().filter(|Reverse(arrival)| arrival.due <= now) {
            self.sent.pop();
            let (frame, first) = arrival.segment;
            let lost = if self.lost.is_empty() {
                0
            } else {
                (0..arrival.count).filter(|index| self.lost.remove(&(frame, first + index))).count()
            };
            let took = arrival.due.since(arrival.entered);
            self.counted.add(took, u64::from(arrival.count) - lost as u64);
        }
        // What was lost would have been due by now.
        if self.sent.is_empty() {
            self.lost.clear();
        }
    }
}

impl Stays {
    /// Takes what came in together with the segment `first`, from that one to `end`; none if it is not here.
    fn cut(&mut self, first: u16, end: u16) -> Option<Stay> {
        let mut all = core::iter::once(&mut self.first).chain(&mut self.others);
        let stay = all.find(|stay| (stay.first..stay.first + stay.count).contains(&first))?;
        let Stay { first: begin, count, entered } = *stay;
        let taken = Stay { first, count: end.min(begin + count) - first, entered };
        let behind = Stay { first: first + taken.count, count: begin + count - first - taken.count, entered };
        stay.count = first - begin;
        if stay.count == 0 {
            *stay = behind;
        } else if behind.count > 0 {
            self.others.push(behind);
        }
        Some(taken)
    }

    /// Forgets what is empty; whether anything is left.
    fn settle(&mut self) -> bool {
        self.others.retain(|stay| stay.count > 0);
        if self.first.count == 0
            && let Some(other) = self.others.pop()
        {
            self.first = other;
        }
        self.first.count > 0
    }
}

fn count_of(packet: &Packet) -> u16 {
    u16::try_from(packet.segments()).expect("a frame counts them so")
}
