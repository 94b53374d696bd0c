//! Which address is behind which port: the filtering database (IEEE 802.1D-2004, section 7.9), of a limited size.
//!
//! A hash table with open addressing: a search ends at the first empty place. Entries that are too old, or were learned at a
//! port before it forgot all of its own, are as if they were not there, and leave the table when it grows or is full.

use alloc::{vec, vec::Vec};
use netloom_units::{Duration, Instant};

/// A place without an entry: the broadcast address, which is nobody's.
const EMPTY: u64 = u64::MAX;
/// So many places there are at first.
const FIRST: usize = 64;
/// 2^64 divided by the golden ratio, as in Knuth, The Art of Computer Programming, volume 3, section 6.4.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What learning an address has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Learned {
    /// Nothing but its age; or it is one that never changes.
    Nothing,
    /// It is there.
    New,
    /// It was behind another port.
    Moved,
    /// It is not there, since there is no room.
    NoRoom,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    key: u64,
    port: u32,
    /// How often the port had forgotten its addresses when this one was learned there.
    era: u32,
    /// When it was last heard of; for ever: it was not learned, and stays.
    seen: Instant,
}

const NOBODY: Entry = Entry { key: EMPTY, port: 0, era: 0, seen: Instant::ZERO };

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    /// A power of two of places, at least half of them empty.
    entries: Vec<Entry>,
    used: usize,
    /// Entries, at most; those that stay count as well.
    capacity: usize,
    ageing: Duration,
    /// How often each port has forgotten its addresses.
    eras: Vec<u32>,
    /// Before this no entry is too old that was not when they were all looked at.
    next_sweep: Instant,
}

impl Addresses {
    pub(super) fn new(ports: usize, capacity: usize, ageing: Duration) -> Self {
        let eras = vec![0; ports];
        Self { entries: vec![NOBODY; FIRST], used: 0, capacity, ageing, eras, next_sweep: Instant::ZERO }
    }

    /// This address is behind this port, whatever is heard.
    pub(super) fn fix(&mut self, key: u64, port: usize) {
        self.make_room(Instant::ZERO);
        let place = self.place(key);
        self.used += usize::from(self.entries[place].key == EMPTY);
        self.entries[place] = self.entry(key, port, Instant::MAX);
        self.capacity = self.capacity.max(self.used);
    }

    /// What was learned at this port is forgotten (section 17.11); what never changes stays.
    pub(super) fn forget(&mut self, port: usize) {
        self.eras[port] = self.eras[port].wrapping_add(1);
        self.next_sweep = Instant::ZERO;
    }

    fn entry(&self, key: u64, port: usize, seen: Instant) -> Entry {
        Entry { key, port: u32::try_from(port).expect("ports are numbered in 32 bits"), era: self.eras[port], seen }
    }

    /// Behind which port an address is, as far as that is known at `now`.
    #[inline]
    pub(super) fn find(&self, now: Instant, key: u64) -> Option<usize> {
        let entry = self.entries[self.place(key)];
        (entry.key == key && self.is_valid(now, &entry)).then_some(entry.port as usize)
    }

    /// The address is heard of at this port.
    #[inline]
    pub(super) fn learn(&mut self, now: Instant, key: u64, port: usize) -> Learned {
        let place = self.place(key);
        let entry = self.entries[place];
        if entry.key != key {
            return self.add(now, key, port);
        }
        if entry.seen == Instant::MAX {
            return Learned::Nothing;
        }
        let before = self.is_valid(now, &entry).then_some(entry.port as usize);
        self.entries[place] = self.entry(key, port, now);
        match before {
            None => Learned::New,
            Some(same) if same == port => Learned::Nothing,
            Some(_) => Learned::Moved,
        }
    }

    #[cold]
    fn add(&mut self, now: Instant, key: u64, port: usize) -> Learned {
        if self.used >= self.capacity && now >= self.next_sweep {
            self.rebuild(now, self.entries.len());
        }
        if self.used >= self.capacity {
            return Learned::NoRoom;
        }
        self.make_room(now);
        let place = self.place(key);
        self.entries[place] = self.entry(key, port, now);
        self.used += 1;
        Learned::New
    }

    /// Makes room for one more.
    fn make_room(&mut self, now: Instant) {
        if 2 * (self.used + 1) > self.entries.len() {
            self.rebuild(now, 2 * self.entries.len());
        }
    }

    /// Into so many places, without what is too old.
    fn rebuild(&mut self, now: Instant, places: usize) {
        let before = core::mem::replace(&mut self.entries, vec![NOBODY; places]);
        self.used = 0;
        let mut oldest = now;
        for entry in before.into_iter().filter(|entry| entry.key != EMPTY) {
            if !self.is_valid(now, &entry) {
                continue;
            }
            oldest = oldest.min(entry.seen);
            let place = self.place(entry.key);
            self.entries[place] = entry;
            self.used += 1;
        }
        self.next_sweep = oldest + self.ageing;
    }

    #[inline]
    fn is_valid(&self, now: Instant, entry: &Entry) -> bool {
        let is_young = now.since(entry.seen) < self.ageing && entry.era == self.eras[entry.port as usize];
        is_young || entry.seen == Instant::MAX
    }

    /// Where the address is, or would be.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let last = self.entries.len() - 1;
        let mut place = (key.wrapping_mul(GOLDEN) >> 32) as usize & last;
        while self.entries[place].key != key && self.entries[place].key != EMPTY {
            place = (place + 1) & last;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeMap;

    const SECOND: Duration = Duration::from_secs(1);

    /// Against a plain map that forgets what is too old at every step, and all of a port when that does: the same answers, in
    /// bounded room.
    #[test]
    fn it_knows_what_a_map_knows_and_never_more_than_it_may() {
        for capacity in [1, 5, 100] {
            let mut addresses = Addresses::new(3, capacity, SECOND * 10);
            let mut naive: BTreeMap<u64, (usize, Instant)> = BTreeMap::new();
            let mut state: u64 = 1;
            let mut now = Instant::ZERO;
            for _ in 0..50_000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                now = now + Duration::from_millis(state >> 54);
                let (key, own) = ((state >> 33) % 150, (state >> 20) as usize % 3);
                naive.retain(|_, (_, seen)| now.since(*seen) < SECOND * 10);
                if (state >> 15).is_multiple_of(40) {
                    addresses.forget(own);
                    naive.retain(|_, (port, _)| *port != own);
                }
                assert_eq!(addresses.find(now, key), naive.get(&key).map(|(port, _)| *port));
                let learned = addresses.learn(now, key, own);
                match (learned, naive.get(&key).map(|(port, _)| *port)) {
                    (Learned::NoRoom, None) => assert!(!naive.is_empty(), "an empty table has room"),
                    (Learned::New, None) => drop(naive.insert(key, (own, now))),
                    (Learned::Nothing, Some(before)) if before == own => drop(naive.insert(key, (own, now))),
                    (Learned::Moved, Some(before)) if before != own => drop(naive.insert(key, (own, now))),
                    other => panic!("{other:?}"),
                }
                assert!(naive.len() <= capacity && addresses.entries.len() <= (4 * capacity).max(FIRST));
            }
        }
    }

    #[test]
    fn what_is_fixed_stays_where_it_is() {
        let mut addresses = Addresses::new(8, 1, SECOND);
        (0..100).for_each(|key| addresses.fix(key, 7));
        let late = Instant::ZERO + SECOND * 1_000;
        assert_eq!(addresses.learn(late, 99, 1), Learned::Nothing);
        assert_eq!(addresses.learn(late, 100, 1), Learned::NoRoom);
        addresses.forget(7);
        assert!((0..100).all(|key| addresses.find(late, key) == Some(7)));
    }

    #[test]
    fn without_ageing_time_nothing_is_remembered() {
        let mut addresses = Addresses::new(2, 10, Duration::ZERO);
        assert_eq!(addresses.learn(Instant::ZERO, 1, 1), Learned::New);
        assert_eq!(addresses.find(Instant::ZERO, 1), None);
    }
}
