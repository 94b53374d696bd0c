//! Where a flow ends: what arrives is counted and, for a window sender, acknowledged.

use crate::seen::Seen;
use netloom_figures::Histogram;
use netloom_units::{Bytes, Duration, Instant};
use std::collections::BTreeSet;

/// How long an acknowledgement waits for more packets: below the half second of RFC 1122, section 4.2.3.2, and what BSD
/// has always had.
const DELAYED: Duration = Duration::from_millis(200);

/// What a receiver has counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Received {
    /// Different packets.
    pub(crate) packets: u64,
    /// What the sender sent and of which a copy came: a packet that was sent again counts as two.
    pub(crate) transmissions: u64,
    /// Their bytes from the IP header on.
    pub(crate) bytes: u64,
    /// Packets that had come before.
    pub(crate) duplicates: u64,
    /// Packets with a flipped bit, which a checksum finds; they count as not received.
    pub(crate) corrupted: u64,
    /// Packets that came behind a later one (RFC 4737, section 4).
    pub(crate) reordered: u64,
    pub(crate) delays: Histogram<3>,
    pub(crate) last_at: Option<Instant>,
}

/// A packet that has arrived unharmed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) number: u64,
    pub(crate) size: Bytes,
    /// From sending to arriving.
    pub(crate) delay: Duration,
    /// Whether it was sent again, and what tells when.
    pub(crate) is_again: bool,
    pub(crate) sent: u64,
}

/// What is acknowledged: all packets below `below`, and `latest`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    pub(crate) below: u64,
    pub(crate) latest: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Receiver {
    counted: Received,
    seen: Seen,
    /// Which numbers have come as they were sent first, and which as they were sent again, with what tells when.
    at_first: Seen,
    again: BTreeSet<(u64, u64)>,
    /// The highest number that came.
    highest: Option<u64>,
    /// How many packets in order are acknowledged at once; none: nothing is acknowledged.
    every: Option<u32>,
    /// How many wait for their acknowledgement, and until when at most.
    waiting: u32,
    deadline: Option<Instant>,
}

impl Receiver {
    /// A receiver that acknowledges `every` so many packets.
    pub(crate) fn new(every: Option<u32>) -> Self {
        Self { every, ..Self::default() }
    }

    /// Whether it acknowledges packets.
    pub(crate) fn acknowledges(&self) -> bool {
        self.every.is_some()
    }

    /// A packet that cannot be used.
    pub(crate) fn discard(&mut self) {
        self.counted.corrupted += 1;
    }

    /// A packet has arrived; gives what is to be acknowledged now.
    pub(crate) fn take(&mut self, now: Instant, arrival: Arrival) -> Option<Acknowledgement> {
        let Arrival { number, is_again, sent, .. } = arrival;
        let expected = self.seen.below();
        let is_new = self.seen.add(number);
        let is_other = if is_again { self.again.insert((number, sent)) } else { self.at_first.add(number) };
        self.counted.transmissions += u64::from(is_other);
        self.count(now, arrival, is_new);
        let is_in_order = number == expected && self.seen.below() == number + 1;
        self.owe(now, number, is_new && is_in_order)
    }

    fn count(&mut self, now: Instant, Arrival { number, size, delay, .. }: Arrival, is_new: bool) {
        let counted = &mut self.counted;
        if !is_new {
            counted.duplicates += 1;
            return;
        }
        counted.packets += 1;
        counted.bytes += size.get();
        counted.reordered += u64::from(self.highest.is_some_and(|highest| number < highest));
        counted.delays.record(delay);
        counted.last_at = Some(now);
        self.highest = self.highest.max(Some(number));
    }

    /// What is out of order, fills a gap or comes again is acknowledged at once (RFC 5681, section 4.2).
    fn owe(&mut self, now: Instant, latest: u64, may_wait: bool) -> Option<Acknowledgement> {
        let every = self.every?;
        self.waiting += 1;
        if may_wait && self.waiting < every {
            self.deadline.get_or_insert(now + DELAYED);
            return None;
        }
        Some(self.pay(latest))
    }

    fn pay(&mut self, latest: u64) -> Acknowledgement {
        (self.waiting, self.deadline) = (0, None);
        let below = self.seen.below();
        Acknowledgement { below, latest }
    }

    /// When an acknowledgement can wait no longer.
    pub(crate) fn next_wake(&self) -> Option<Instant> {
        self.deadline
    }

    /// The acknowledgement that can wait no longer.
    pub(crate) fn wake(&mut self, now: Instant) -> Option<Acknowledgement> {
        self.deadline.filter(|deadline| *deadline <= now).map(|_| self.pay(self.highest.unwrap_or_default()))
    }

    pub(crate) fn counted(&self) -> &Received {
        &self.counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(receiver: &mut Receiver, ms: u64, number: u64) -> Option<(u64, u64)> {
        let now = Instant::from_nanos(ms * 1_000_000);
        let arrival = Arrival { number, size: Bytes::new(100), delay: Duration::ZERO, is_again: false, sent: 0 };
        receiver.take(now, arrival).map(|owed| (owed.below, owed.latest))
    }

    #[test]
    fn every_second_in_order_and_everything_else_at_once() {
        let mut receiver = Receiver::new(Some(2));
        assert_eq!(take(&mut receiver, 0, 0), None);
        assert_eq!(take(&mut receiver, 1, 1), Some((2, 1)));
        assert_eq!(take(&mut receiver, 2, 3), Some((2, 3)));
        assert_eq!(take(&mut receiver, 3, 3), Some((2, 3)));
        assert_eq!(take(&mut receiver, 4, 2), Some((4, 2)));
        assert_eq!(take(&mut receiver, 5, 4), None);
        let late = Instant::from_nanos(205_000_000);
        assert_eq!(receiver.next_wake(), Some(late));
        assert_eq!(receiver.wake(late), Some(Acknowledgement { below: 5, latest: 4 }));
        assert_eq!(receiver.next_wake(), None);
        let counted = receiver.counted();
        assert_eq!((counted.packets, counted.duplicates, counted.reordered), (5, 1, 1));
    }

    /// Number 0 is sent twice and copied each time, number 1 is sent again without need, number 2 arrives only as it was sent again.
    #[test]
    fn copies_of_links_and_packets_sent_again_are_told_apart() {
        let mut receiver = Receiver::new(None);
        let arrivals =
            [(0, false, 5), (0, false, 5), (0, true, 9), (0, true, 9), (1, false, 5), (1, true, 7), (2, true, 8)];
        for (number, is_again, sent) in arrivals {
            let arrival = Arrival { number, size: Bytes::new(100), delay: Duration::ZERO, is_again, sent };
            receiver.take(Instant::ZERO, arrival);
        }
        let counted = receiver.counted();
        assert_eq!((counted.packets, counted.transmissions, counted.duplicates), (3, 5, 4));
    }
}
