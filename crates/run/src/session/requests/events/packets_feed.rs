//! A subscription to what becomes of packets.

use super::pace::Pace;
use netloom_control::{Id, PacketRecord, PacketSample};
use netloom_units::Instant;
use std::collections::VecDeque;

/// So many records wait for a client: the newest.
const MOST_WAITING: usize = 4_096;

/// The records of packets for one client.
#[derive(Debug)]
pub(super) struct PacketsFeed {
    pub(super) id: Option<Id>,
    pub(super) pace: Pace,
    waiting: VecDeque<PacketRecord>,
    /// How many have found no room since the last time.
    lost: u64,
}

impl PacketsFeed {
    pub(super) fn new(id: Option<Id>, pace: Pace) -> Self {
        Self { id, pace, waiting: VecDeque::new(), lost: 0 }
    }

    /// Keeps these for the client.
    pub(super) fn put(&mut self, records: &[PacketRecord], lost: u64) {
        self.lost += lost;
        self.waiting.extend(records.iter().cloned());
        let surplus = self.waiting.len().saturating_sub(MOST_WAITING);
        self.waiting.drain(..surplus);
        self.lost += surplus as u64;
    }

    /// If it is due, what the client gets as it `is_clear`; else that waits for the next time.
    pub(super) fn take_due(&mut self, now: Instant, zero: Option<Instant>, is_clear: bool) -> Option<PacketSample> {
        if !self.pace.is_due(now) {
            return None;
        }
        self.pace.step(now, is_clear)?;
        Some(PacketSample {
            at_ns: now.as_nanos(),
            since_zero_ns: zero.map(|zero| now.since(zero).as_nanos()),
            lost: std::mem::take(&mut self.lost),
            packets: std::mem::take(&mut self.waiting).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Duration;

    fn ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_client_is_told_when_it_is_due_and_keeps_the_newest_until_it_takes_them() {
        let mut feed = PacketsFeed::new(None, Pace::new(Duration::from_millis(100), ms(50)));
        let one = |packet: u64| PacketRecord { packet, ..PacketRecord::default() };
        feed.put(&[one(1)], 2);
        assert_eq!(feed.take_due(ms(49), None, true), None);
        let first = feed.take_due(ms(60), Some(ms(10)), true).unwrap();
        assert_eq!((first.at_ns, first.since_zero_ns, first.lost), (60_000_000, Some(50_000_000), 2));
        assert_eq!((first.packets, feed.pace.next()), (vec![one(1)], ms(150)));
        // It does not read for a while.
        let many: Vec<PacketRecord> = (0..3_000).map(one).collect();
        feed.put(&many, 0);
        assert_eq!(feed.take_due(ms(400), None, false), None);
        feed.put(&many, 1);
        let next = feed.take_due(ms(450), None, true).unwrap();
        assert_eq!((next.packets.len(), next.lost, next.packets[0].packet), (4_096, 6_000 - 4_096 + 1, 1_904));
        assert_eq!(feed.take_due(ms(550), None, true).unwrap().lost, 0);
    }
}
