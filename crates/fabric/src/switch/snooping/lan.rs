//! Who asks in a VLAN for the groups of one family, and where its routers are.

use super::Timing;
use super::message::Query;
use alloc::vec::Vec;
use core::net::IpAddr;
use netloom_units::{Duration, Instant};

/// When a switch begins to ask, it leaves this much time for answers, so that it soon knows who is there. What follows leaves the usual time.
const SOON: Duration = Duration::from_secs(1);

/// A querier that was elected.
#[derive(Clone, Copy, Debug)]
struct Querier {
    address: IpAddr,
    place: usize,
    until: Instant,
    timing: Timing,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Lan {
    /// As the lab file has it.
    own: Timing,
    /// Another querier, of which was heard.
    other: Option<Querier>,
    /// When the switch asks next, if it asks where nobody else does.
    next_query: Option<Instant>,
    /// How many of its next queries follow one another soon, and leave little time for answers.
    startup: u8,
    /// Before then, not all members can have reported: nothing is known of groups without members.
    answers_by: Instant,
    /// Before then, nothing is certain at all.
    sure_from: Instant,
    /// The ports of routers, each until when.
    routers: Vec<(usize, Instant)>,
}

impl Lan {
    /// `first_query`: when the switch asks first, if it asks.
    pub(super) fn new(own: Timing, first_query: Option<Instant>) -> Self {
        Self {
            own,
            other: None,
            next_query: first_query,
            startup: own.robustness,
            answers_by: Instant::ZERO,
            sure_from: Instant::ZERO,
            routers: Vec::new(),
        }
    }

    /// The times that count.
    pub(super) fn timing(&self) -> Timing {
        self.other.map_or(self.own, |other| other.timing)
    }

    /// Whether the switch is the one who asks.
    pub(super) fn asks(&self) -> bool {
        self.next_query.is_some() && self.other.is_none()
    }

    /// Whether somebody asks, so that members report again and again.
    pub(super) fn is_asked(&self, now: Instant) -> bool {
        self.next_query.is_some() || self.other.is_some_and(|other| other.until > now)
    }

    /// Whether not everybody can have answered yet.
    pub(super) fn is_new(&self, now: Instant) -> bool {
        now < self.answers_by
    }

    /// Whether those who are known may be elsewhere.
    pub(super) fn is_unsure(&self, now: Instant) -> bool {
        now < self.sure_from
    }

    /// When something is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.next_query.map(|query| self.other.map_or(query, |other| other.until))
    }

    /// If the switch asks at `now`: how long hosts may take to answer.
    pub(super) fn ask(&mut self, now: Instant) -> Option<Duration> {
        let query = self.next_query?;
        if let Some(other) = self.other {
            if now < other.until {
                return None;
            }
            // It is gone (RFC 3376, section 6.6.2).
            (self.other, self.startup) = (None, self.own.robustness);
        } else if now < query {
            return None;
        }
        let is_soon = self.startup > 0;
        let response = if is_soon { self.own.response.min(SOON) } else { self.own.response };
        self.startup = self.startup.saturating_sub(1);
        // RFC 3376, section 8.6: at first a quarter.
        let quarter = Duration::from_nanos(self.own.interval.as_nanos() / 4);
        self.next_query = Some(now + if self.startup > 0 { quarter } else { self.own.interval });
        if query == Instant::ZERO {
            self.answers_by = now + response;
        }
        self.hear_question(now, response);
        Some(response)
    }

    /// Everybody is asked: those who are there will have answered by then.
    fn hear_question(&mut self, now: Instant, response: Duration) {
        if self.is_unsure(now) {
            self.sure_from = self.sure_from.min(now + response);
        }
    }

    /// Another querier asks; whether it is elected. `own`: the switch's address, if it asks.
    pub(super) fn hear_query(&mut self, now: Instant, place: usize, query: &Query, own: Option<IpAddr>) -> bool {
        if own == Some(query.source) {
            return false;
        }
        let timing = query.timing(&self.own);
        let until = now + timing.other_querier();
        self.hear_router(now, place, until);
        let is_below = |address: IpAddr| !address.is_unspecified() && address < query.source;
        let current = self.other.filter(|other| other.until > now);
        // The lowest address is elected (RFC 3376, section 6.6.2; RFC 3810, section 7.6.2).
        if own.is_some_and(is_below) || current.is_some_and(|other| is_below(other.address)) {
            return false;
        }
        if !self.is_asked(now) {
            self.answers_by = now + query.response;
        }
        self.other = Some(Querier { address: query.source, place, until, timing });
        if query.group.is_none() {
            self.hear_question(now, query.response);
        }
        true
    }

    /// A router is behind this port until then.
    pub(super) fn hear_router(&mut self, now: Instant, place: usize, until: Instant) {
        self.routers.retain(|(_, own)| *own > now);
        if until <= now {
            return self.routers.retain(|(other, _)| *other != place);
        }
        match self.routers.iter_mut().find(|(other, _)| *other == place) {
            Some((_, own)) => *own = until.max(*own),
            None => self.routers.push((place, until)),
        }
    }

    /// The ports that lead to routers, `given` ones among them.
    pub(super) fn routers(&self, now: Instant, given: &[usize]) -> Vec<usize> {
        self.router_ports(now, given).into_iter().map(|(place, _)| place).collect()
    }

    /// The same, each until when.
    pub(super) fn router_ports(&self, now: Instant, given: &[usize]) -> Vec<(usize, Instant)> {
        let learned = self.routers.iter().copied().filter(|(place, until)| *until > now && !given.contains(place));
        let mut ports: Vec<_> = given.iter().map(|place| (*place, Instant::MAX)).chain(learned).collect();
        ports.sort_unstable();
        ports
    }

    /// The elected querier, if it is behind this port.
    pub(super) fn querier(&self, now: Instant, place: usize) -> Option<IpAddr> {
        self.other.filter(|other| other.until > now && other.place == place).map(|other| other.address)
    }

    /// Whoever was behind these ports may be elsewhere. If the querier was, the switch asks in its place until it is heard again.
    pub(super) fn forget(&mut self, now: Instant, is_gone: impl Fn(usize) -> bool) {
        self.routers.retain(|(place, _)| !is_gone(*place));
        if self.other.is_some_and(|other| is_gone(other.place)) {
            self.other = None;
            self.ask_anew(now);
        }
    }

    /// Asks who is there, if it is the switch who asks.
    pub(super) fn ask_anew(&mut self, now: Instant) {
        if self.asks() {
            (self.next_query, self.startup) = (Some(now), self.own.robustness);
        }
    }

    /// Nothing is certain until all have answered who are asked next, or would have been.
    pub(super) fn be_unsure(&mut self, now: Instant) {
        self.sure_from = now + self.timing().membership();
    }
}
