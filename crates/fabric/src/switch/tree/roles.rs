//! Which port gets which role, and what it does then (IEEE 802.1D-2004, sections 17.28, 17.29 and 17.31).

use super::port::{Attention, Info, Port, Timer};
use super::vector::{Times, Vector};
use super::{PortRole, Tree};
use netloom_units::{Duration, Instant};

impl Tree {
    /// The port role selection machine (section 17.28); whether something changed.
    pub(super) fn select_roles(&mut self) -> bool {
        if !self.ports.iter().any(|port| port.reselect) {
            return false;
        }
        self.ports.iter_mut().for_each(|port| port.reselect = false);
        self.find_root();
        for place in 0..self.ports.len() {
            let is_root = self.root_port == Some(place);
            let (own, times) = (self.id, self.root_times);
            let hello = self.times.hello;
            let port = &mut self.ports[place];
            port.designated = Vector { root: self.root.root, cost: self.root.cost, bridge: own, port: port.id };
            port.designated_times = Times { hello, ..times };
            let differs = port.priority != port.designated || port.times != port.designated_times;
            let is_better = port.designated < port.priority;
            let is_from_here = port.priority.bridge.address() == own.address();
            (port.selected_role, port.update) = match port.info {
                Info::Disabled => (PortRole::Disabled, false),
                Info::Aged => (PortRole::Designated, true),
                Info::Mine => (PortRole::Designated, port.update || differs),
                Info::Received if is_root => (PortRole::Root, false),
                Info::Received if is_better => (PortRole::Designated, true),
                Info::Received if is_from_here => (PortRole::Backup, false),
                Info::Received => (PortRole::Alternate, false),
            };
            port.selected = true;
        }
        true
    }

    /// The best of what the bridge hears, and of what it would say itself.
    fn find_root(&mut self) {
        let own = (Vector { root: self.id, cost: 0, bridge: self.id, port: 0 }, 0);
        let (mut best, mut from) = (own, None);
        for (place, port) in self.ports.iter().enumerate() {
            let Vector { cost, bridge, .. } = port.priority;
            if port.info != Info::Received || bridge.address() == self.id.address() {
                continue;
            }
            let offered = (Vector { cost: cost.saturating_add(port.cost), ..port.priority }, port.id);
            if offered < best {
                (best, from) = (offered, Some(place));
            }
        }
        self.root = best.0;
        self.root_port = from;
        self.root_times = from.map_or(self.times, |place| self.ports[place].times.further());
    }

    /// The port role transitions machine (section 17.29); whether something changed.
    pub(super) fn act_on_role(&mut self, now: Instant, place: usize) -> bool {
        let port = &self.ports[place];
        if !port.is_settled() {
            return false;
        }
        if port.role != port.selected_role {
            self.ports[place].take_role(now);
            return true;
        }
        match port.role {
            PortRole::Disabled => self.ports[place].rest(),
            PortRole::Alternate | PortRole::Backup => self.answer(place) || self.ports[place].rest(),
            PortRole::Root => self.answer(place) || self.lead_to_root(now, place),
            PortRole::Designated => self.ports[place].lead_from_root(now),
        }
    }

    /// A root, alternate or backup port answers a proposal, once all other ports agree.
    fn answer(&mut self, place: usize) -> bool {
        let is_in_step = |port: &Port| {
            port.is_settled() && port.role == port.selected_role && (port.synced || port.role == PortRole::Root)
        };
        let are_all = self.ports.iter().all(is_in_step);
        let port = &mut self.ports[place];
        if port.proposed && !port.agree {
            port.proposed = false;
            self.ports.iter_mut().for_each(|other| other.sync = true);
            return true;
        }
        let answers = are_all && !port.agree || port.proposed && port.agree;
        if answers {
            (port.proposed, port.agree, port.new_info) = (false, true, true);
            port.sync &= port.role != PortRole::Root;
        }
        answers
    }

    fn lead_to_root(&mut self, now: Instant, place: usize) -> bool {
        let others = self.ports.iter().enumerate().filter(|(other, _)| *other != place);
        let has_re_rooted = others.into_iter().all(|(_, port)| port.recent_root_timer.is_over(now));
        let port = &mut self.ports[place];
        if !port.forward && !port.re_root {
            self.ports.iter_mut().for_each(|other| other.re_root = true);
            return true;
        }
        if port.forward && port.re_root {
            port.re_root = false;
            return true;
        }
        let may = port.forward_timer.is_over(now)
            || has_re_rooted && port.recent_backup_timer.is_over(now) && !port.is_slow();
        may && port.go_on(now)
    }

    /// The topology change machine (section 17.31); whether something changed.
    pub(super) fn mind_changes(&mut self, now: Instant, place: usize) -> bool {
        let port = &mut self.ports[place];
        let leads = port.leads_down_or_up();
        match port.attention {
            Attention::Inactive => {
                if port.learn {
                    port.forget_changes();
                    port.attention = Attention::Learning;
                }
                port.learn
            }
            Attention::Learning if leads && port.forward && !port.is_edge => {
                port.attention = Attention::Active;
                port.announce_change(now);
                port.new_info = true;
                self.propagate(place);
                true
            }
            Attention::Learning if port.has_heard_change() => {
                port.forget_changes();
                true
            }
            Attention::Learning if !leads && !port.learn => {
                port.attention = Attention::Inactive;
                port.flush = true;
                (port.change_timer, port.acknowledge) = (Timer::OVER, false);
                true
            }
            Attention::Learning => false,
            Attention::Active if !leads || port.is_edge => {
                port.attention = Attention::Learning;
                true
            }
            Attention::Active => self.pass_change_on(now, place),
        }
    }

    fn pass_change_on(&mut self, now: Instant, place: usize) -> bool {
        let port = &mut self.ports[place];
        if !port.has_heard_change() {
            return false;
        }
        if port.heard_notification {
            port.announce_change(now);
        }
        if take(&mut port.heard_acknowledgement) {
            port.change_timer = Timer::OVER;
        }
        if take(&mut port.propagate) {
            port.announce_change(now);
            port.flush = true;
            port.status.topology_changes += 1;
        }
        let is_told = take(&mut port.heard_notification) | take(&mut port.heard_change);
        if is_told {
            port.acknowledge |= port.role == PortRole::Designated;
            self.propagate(place);
        }
        true
    }

    /// All other ports say that the tree has changed.
    fn propagate(&mut self, place: usize) {
        let others = self.ports.iter_mut().enumerate().filter(|(other, _)| *other != place);
        others.for_each(|(_, port)| port.propagate = true);
    }
}

fn take(flag: &mut bool) -> bool {
    core::mem::take(flag)
}

impl Port {
    /// Leaves its role for the one that was selected.
    fn take_role(&mut self, now: Instant) {
        let Timing { max_age, hello, forward_delay } = self.timing();
        match self.role {
            PortRole::Root => self.recent_root_timer = Timer::of(now, forward_delay),
            PortRole::Alternate => self.forward_timer = Timer::of(now, forward_delay),
            PortRole::Backup => {
                self.forward_timer = Timer::of(now, forward_delay);
                self.recent_backup_timer = Timer::of(now, hello * 2);
            }
            PortRole::Disabled => self.forward_timer = Timer::of(now, max_age),
            PortRole::Designated => {}
        }
        self.role = self.selected_role;
        match self.role {
            PortRole::Root => self.recent_root_timer = Timer::HELD,
            PortRole::Designated => {}
            PortRole::Alternate | PortRole::Backup | PortRole::Disabled => {
                (self.learn, self.forward) = (false, false);
                self.forward_timer = Timer::HELD;
                self.recent_root_timer = Timer::OVER;
                if self.role == PortRole::Backup {
                    self.recent_backup_timer = Timer::HELD;
                }
                self.rest();
            }
        }
    }

    fn timing(&self) -> Timing {
        let times = self.designated_times;
        Timing { max_age: times.max_age(), hello: times.hello(), forward_delay: times.forward_delay() }
    }

    /// A port that forwards nothing is in step with the others.
    fn rest(&mut self) -> bool {
        let is_new = self.sync || self.re_root || !self.synced;
        (self.sync, self.re_root, self.synced) = (false, false, true);
        is_new
    }

    fn lead_from_root(&mut self, now: Instant) -> bool {
        if !self.forward && !self.agreed && !self.proposing && !self.is_edge {
            self.proposing = true;
            self.edge_timer = Timer::of(now, self.edge_delay());
            self.new_info = true;
            return true;
        }
        let may_sync = !self.learn && !self.forward || self.agreed || self.is_edge;
        if may_sync && !self.synced || self.sync && self.synced {
            self.recent_root_timer = Timer::OVER;
            (self.synced, self.sync) = (true, false);
            return true;
        }
        let has_retired = self.recent_root_timer.is_over(now);
        if has_retired && self.re_root {
            self.re_root = false;
            return true;
        }
        let must_stop = self.sync && !self.synced || self.re_root && !has_retired || self.disputed;
        if must_stop && !self.is_edge && (self.learn || self.forward) {
            (self.learn, self.forward, self.disputed) = (false, false, false);
            self.forward_timer = Timer::of(now, self.forward_delay());
            return true;
        }
        let may = self.forward_timer.is_over(now) || self.agreed || self.is_edge;
        may && !self.sync && (has_retired || !self.re_root) && self.go_on(now)
    }

    /// From discarding to learning, and from learning to forwarding.
    fn go_on(&mut self, now: Instant) -> bool {
        if !self.learn {
            self.learn = true;
            self.forward_timer = Timer::of(now, self.forward_delay());
            return true;
        }
        if self.forward {
            return false;
        }
        self.forward = true;
        self.forward_timer = Timer::OVER;
        if self.role == PortRole::Designated {
            self.agreed = !self.is_slow();
        }
        true
    }

    fn has_heard_change(&self) -> bool {
        self.heard_change || self.heard_notification || self.heard_acknowledgement || self.propagate
    }

    fn forget_changes(&mut self) {
        (self.heard_change, self.heard_notification) = (false, false);
        (self.heard_acknowledgement, self.propagate) = (false, false);
    }

    /// *newTcWhile* of section 17.21.7.
    fn announce_change(&mut self, now: Instant) {
        if !self.change_timer.is_over(now) {
            return;
        }
        let Timing { max_age, hello, forward_delay } = self.timing();
        if self.is_slow() {
            self.change_timer = Timer::of(now, max_age + forward_delay);
        } else {
            self.change_timer = Timer::of(now, hello + Duration::from_secs(1));
            self.new_info = true;
        }
    }
}

/// What the root of the tree says of spans.
struct Timing {
    max_age: Duration,
    hello: Duration,
    forward_delay: Duration,
}
