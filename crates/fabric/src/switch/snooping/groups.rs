//! Who is a member of which group: ports by VLAN and group, each for a while, of limited number.
//!
//! What is too old is as if it were not there, and leaves the table when that is full. So no timer is needed but for the questions
//! whether a group still has members, which are asked again.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::net::IpAddr;
use netloom_units::{Duration, Instant};

/// A group in a VLAN.
pub(super) type Key = (u16, IpAddr);

/// What a report has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// Nothing but its age.
    Again,
    New,
    /// It is not there, since there is no room.
    NoRoom,
}

/// A port behind which there are members.
#[derive(Clone, Copy, Debug)]
struct Member {
    place: usize,
    until: Instant,
    /// So long those are taken to be there that never say that they leave.
    v1_until: Instant,
    /// How often it is still asked whether there are any, and when next.
    asks: u8,
    next_ask: Instant,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    table: BTreeMap<Key, Vec<Member>>,
    /// Groups, at most.
    capacity: usize,
    /// The questions that are still to be asked.
    asks: BTreeSet<(Instant, Key, usize)>,
    /// Before this nothing is too old that was not when all were looked at.
    next_sweep: Instant,
}

impl Groups {
    pub(super) fn new(capacity: usize) -> Self {
        Self { table: BTreeMap::new(), capacity, asks: BTreeSet::new(), next_sweep: Instant::ZERO }
    }

    /// The ports with members; none if the group has none.
    pub(super) fn members(&self, now: Instant, key: Key) -> Vec<usize> {
        let alive = |own: &Vec<Member>| {
            own.iter().filter(|member| member.until > now).map(|member| member.place).collect::<Vec<_>>()
        };
        self.table.get(&key).map(alive).unwrap_or_default()
    }

    /// All that there is: group, port, and until when.
    pub(super) fn all(&self, now: Instant) -> impl Iterator<Item = (Key, usize, Instant)> + '_ {
        let of_group = |(key, own): (&Key, &Vec<Member>)| {
            let key = *key;
            own.iter().map(move |member| (key, member.place, member.until)).collect::<Vec<_>>()
        };
        self.table.iter().flat_map(of_group).filter(move |(_, _, until)| *until > now)
    }

    /// A report: there is a member behind this port, and so it stays until then.
    pub(super) fn join(&mut self, now: Instant, key: Key, place: usize, until: Instant, is_v1: bool) -> Joined {
        let v1_until = if is_v1 { until } else { Instant::ZERO };
        if let Some(member) = self.find(key, place) {
            let joined = if member.until > now { Joined::Again } else { Joined::New };
            // Whoever is asked has answered.
            let asked = (member.asks > 0).then_some(member.next_ask);
            *member = Member { until, v1_until: member.v1_until.max(v1_until), asks: 0, ..*member };
            asked.map(|at| self.asks.remove(&(at, key, place)));
            return joined;
        }
        if !self.table.contains_key(&key) && !self.has_room(now) {
            return Joined::NoRoom;
        }
        let member = Member { place, until, v1_until, asks: 0, next_ask: Instant::ZERO };
        let own = self.table.entry(key).or_default();
        let at = own.partition_point(|other| other.place < place);
        own.insert(at, member);
        self.next_sweep = self.next_sweep.min(until);
        Joined::New
    }

    fn has_room(&mut self, now: Instant) -> bool {
        if self.table.len() >= self.capacity && now >= self.next_sweep {
            self.retain(|member| member.until > now);
            let all = self.table.values().flatten();
            self.next_sweep = all.map(|member| member.until).min().unwrap_or(Instant::MAX);
        }
        self.table.len() < self.capacity
    }

    /// A member behind this port says that it leaves. Whether that counts: one that never says so may be there.
    pub(super) fn may_leave(&mut self, now: Instant, key: Key, place: usize) -> bool {
        self.find(key, place).is_some_and(|member| member.until > now && member.v1_until <= now)
    }

    /// There is no member behind this port any more.
    pub(super) fn leave(&mut self, key: Key, place: usize) {
        let Some(own) = self.table.get_mut(&key) else { return };
        let Ok(at) = own.binary_search_by_key(&place, |member| member.place) else { return };
        let gone = own.remove(at);
        if own.is_empty() {
            self.table.remove(&key);
        }
        if gone.asks > 0 {
            self.asks.remove(&(gone.next_ask, key, place));
        }
    }

    /// Perhaps there is no member behind this port any more: unless one reports, it ends then.
    pub(super) fn shorten(&mut self, key: Key, place: usize, until: Instant) {
        if let Some(member) = self.find(key, place).filter(|member| member.until > until) {
            member.until = until;
            self.next_sweep = self.next_sweep.min(until);
        }
    }

    /// The same at all ports but this one.
    pub(super) fn shorten_others(&mut self, key: Key, place: usize, until: Instant) {
        let others = self.table.get(&key).into_iter().flatten().map(|member| member.place);
        let others: Vec<usize> = others.filter(|other| *other != place).collect();
        others.into_iter().for_each(|other| self.shorten(key, other, until));
    }

    /// So often it is still asked whether there is a member behind this port, if it is not asked already.
    pub(super) fn ask(&mut self, key: Key, place: usize, asks: u8, next_ask: Instant) {
        let Some(member) = self.find(key, place).filter(|member| member.asks == 0 && asks > 0) else { return };
        (member.asks, member.next_ask) = (asks, next_ask);
        self.asks.insert((next_ask, key, place));
    }

    /// Whether it is being asked whether there is a member behind this port.
    pub(super) fn is_asked(&mut self, key: Key, place: usize) -> bool {
        self.find(key, place).is_some_and(|member| member.asks > 0)
    }

    /// When a question is due next.
    pub(super) fn due(&self) -> Option<Instant> {
        self.asks.first().map(|(at, ..)| *at)
    }

    /// The next question that is due at `now`; it is asked again so much later, unless it was the last.
    pub(super) fn take_ask(&mut self, now: Instant, later: Duration) -> Option<(Key, usize)> {
        let (at, key, place) = self.asks.first().copied().filter(|(at, ..)| *at <= now)?;
        self.asks.remove(&(at, key, place));
        let member = self.find(key, place).expect("who is gone is not asked");
        let left = member.asks - 1;
        member.asks = 0;
        self.ask(key, place, left, at + later);
        Some((key, place))
    }

    /// Nobody is behind these ports any more.
    pub(super) fn forget(&mut self, is_gone: impl Fn(usize) -> bool) {
        self.retain(|member| !is_gone(member.place));
    }

    fn retain(&mut self, keeps: impl Fn(&Member) -> bool) {
        let asks = &mut self.asks;
        self.table.retain(|key, own| {
            own.retain(|member| {
                let is_kept = keeps(member);
                if !is_kept && member.asks > 0 {
                    asks.remove(&(member.next_ask, *key, member.place));
                }
                is_kept
            });
            !own.is_empty()
        });
    }

    fn find(&mut self, key: Key, place: usize) -> Option<&mut Member> {
        let own = self.table.get_mut(&key)?;
        let at = own.binary_search_by_key(&place, |member| member.place).ok()?;
        own.get_mut(at)
    }
}
