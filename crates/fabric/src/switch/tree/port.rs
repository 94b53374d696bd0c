//! A port of the spanning tree: what it knows, and what it does with what it hears (IEEE 802.1D-2004, sections 17.19, 17.23,
//! 17.24 and 17.27).

use super::bpdu::{Bpdu, Flags, Message, Sender};
use super::vector::{Times, Vector, number};
use super::{PortRole, PortTree, TreePort};
use netloom_units::{Duration, Instant};

/// For how long a bridge sticks to the version of the protocol that it has chosen, and after how long without a BPDU it
/// believes that there is no other bridge (table 17-1).
const MIGRATE: Duration = Duration::from_secs(3);
/// BPDUs that a port sends within a second, at most (table 17-1: transmit hold count).
const HOLD: u8 = 6;
const SECOND: Duration = Duration::from_secs(1);
/// The priority of all ports (table 17-2), before their numbers.
const PRIORITY: u16 = 0x8000;

/// A timer of the standard, as the instant at which it has run down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Timer(Instant);

impl Timer {
    /// One that does not run: it is full for as long as its port's role says.
    pub(super) const HELD: Self = Self(Instant::MAX);
    /// One that has run down.
    pub(super) const OVER: Self = Self(Instant::ZERO);

    pub(super) fn of(now: Instant, span: Duration) -> Self {
        Self(now + span)
    }

    pub(super) fn is_over(self, now: Instant) -> bool {
        self.0 <= now
    }
}

/// Where the priority of a port comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Info {
    #[default]
    Disabled,
    Aged,
    Mine,
    Received,
}

/// The topology change machine (section 17.31).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Attention {
    #[default]
    Inactive,
    Learning,
    Active,
}

/// What a message means for a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    SuperiorDesignated,
    RepeatedDesignated,
    InferiorDesignated,
    InferiorRootOrAlternate,
    Other,
}

/// The variables of section 17.19, by their names there. *learning* and *forwarding* follow *learn* and *forward* at once.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the standard's")]
pub(super) struct Port {
    pub(super) is_enabled: bool,
    pub(super) id: u16,
    pub(super) cost: u32,
    is_admin_edge: bool,
    is_point_to_point: bool,
    pub(super) role: PortRole,
    pub(super) selected_role: PortRole,
    pub(super) info: Info,
    pub(super) priority: Vector,
    pub(super) times: Times,
    pub(super) designated: Vector,
    pub(super) designated_times: Times,
    pub(super) reselect: bool,
    pub(super) selected: bool,
    pub(super) update: bool,
    pub(super) proposed: bool,
    pub(super) proposing: bool,
    pub(super) agree: bool,
    pub(super) agreed: bool,
    pub(super) sync: bool,
    pub(super) synced: bool,
    pub(super) re_root: bool,
    pub(super) disputed: bool,
    pub(super) learn: bool,
    pub(super) forward: bool,
    pub(super) is_edge: bool,
    pub(super) new_info: bool,
    /// *sendRSTP*, turned round.
    is_slow: bool,
    pub(super) attention: Attention,
    pub(super) heard_change: bool,
    pub(super) heard_notification: bool,
    pub(super) heard_acknowledgement: bool,
    pub(super) acknowledge: bool,
    pub(super) propagate: bool,
    /// Whether what was learned here is to be forgotten.
    pub(super) flush: bool,
    /// The message about it.
    pub(super) status: PortTree,
    sent_lately: u8,
    pub(super) forward_timer: Timer,
    hello_timer: Timer,
    info_timer: Timer,
    pub(super) recent_root_timer: Timer,
    pub(super) recent_backup_timer: Timer,
    pub(super) change_timer: Timer,
    pub(super) edge_timer: Timer,
    migration_timer: Timer,
    hold_timer: Timer,
}

impl Port {
    /// The port at this place.
    pub(super) fn new(place: usize, spec: &TreePort) -> Self {
        Self {
            is_enabled: true,
            id: PRIORITY | number(u16::try_from(place + 1).unwrap_or_default()),
            cost: spec.cost,
            is_admin_edge: spec.is_edge,
            is_edge: spec.is_edge,
            is_point_to_point: spec.is_point_to_point,
            synced: true,
            reselect: true,
            forward_timer: Timer::HELD,
            ..Self::default()
        }
    }

    /// The link goes down or comes up.
    pub(super) fn enable(&mut self, now: Instant, is_enabled: bool) {
        self.is_enabled = is_enabled;
        self.is_slow = false;
        self.migration_timer = Timer::of(now, MIGRATE);
    }

    /// Whether it may act on its role.
    pub(super) fn is_settled(&self) -> bool {
        self.selected && !self.update
    }

    pub(super) fn is_slow(&self) -> bool {
        self.is_slow
    }

    pub(super) fn leads_down_or_up(&self) -> bool {
        matches!(self.role, PortRole::Root | PortRole::Designated)
    }

    /// *forwardDelay* of section 17.20.5.
    pub(super) fn forward_delay(&self) -> Duration {
        if self.is_slow { self.designated_times.forward_delay() } else { self.designated_times.hello() }
    }

    /// How long to listen for other bridges until there seems to be none (*EdgeDelay*, section 17.20.4).
    pub(super) fn edge_delay(&self) -> Duration {
        if self.is_point_to_point { MIGRATE } else { self.designated_times.max_age() }
    }

    /// What a BPDU says (sections 17.23, 17.24 and 17.27).
    pub(super) fn hear(&mut self, now: Instant, bpdu: &Bpdu) {
        if !self.is_enabled {
            return;
        }
        self.is_edge = false;
        self.edge_timer = Timer::of(now, MIGRATE);
        let is_rapid = matches!(bpdu, Bpdu::Rapid(_));
        if self.migration_timer.is_over(now) && self.is_slow == is_rapid {
            self.is_slow = !is_rapid;
            self.migration_timer = Timer::of(now, MIGRATE);
        }
        match bpdu {
            Bpdu::Notification => self.heard_notification = true,
            Bpdu::Configuration(message) | Bpdu::Rapid(message) if !self.is_own(message) => {
                self.consider(now, message, is_rapid);
            }
            Bpdu::Configuration(_) | Bpdu::Rapid(_) => {}
        }
    }

    /// Whether this port has sent it, and it came back.
    fn is_own(&self, message: &Message) -> bool {
        message.vector.is_of_same_port(&self.designated)
    }

    fn consider(&mut self, now: Instant, message: &Message, is_rapid: bool) {
        let flags = message.flags;
        match self.news(message) {
            News::SuperiorDesignated => {
                (self.agreed, self.proposing) = (false, false);
                self.proposed |= flags.proposal;
                self.note_change(flags);
                self.agree &= self.info == Info::Received && message.vector <= self.priority;
                (self.priority, self.times) = (message.vector, message.times);
                self.keep_info(now);
                self.info = Info::Received;
                (self.reselect, self.selected) = (true, false);
            }
            News::RepeatedDesignated => {
                self.proposed |= flags.proposal;
                self.note_change(flags);
                self.note_agreement(flags, is_rapid);
                self.keep_info(now);
            }
            News::InferiorDesignated if is_rapid && flags.learning => {
                (self.disputed, self.agreed) = (true, false);
            }
            News::InferiorRootOrAlternate => {
                self.note_agreement(flags, is_rapid);
                self.note_change(flags);
            }
            News::InferiorDesignated | News::Other => {}
        }
    }

    /// *rcvInfo* of section 17.21.8.
    fn news(&self, message: &Message) -> News {
        let Message { vector, times, flags } = message;
        let is_better = *vector < self.priority;
        if flags.sender != Sender::Designated {
            return if is_better { News::Other } else { News::InferiorRootOrAlternate };
        }
        if *vector == self.priority {
            return match (*times == self.times, self.info) {
                (false, _) => News::SuperiorDesignated,
                (true, Info::Received) => News::RepeatedDesignated,
                (true, _) => News::Other,
            };
        }
        let is_superior = is_better || vector.is_of_same_port(&self.priority);
        if is_superior { News::SuperiorDesignated } else { News::InferiorDesignated }
    }

    fn note_change(&mut self, flags: Flags) {
        self.heard_change |= flags.topology_change;
        self.heard_acknowledgement |= flags.acknowledgement;
    }

    fn note_agreement(&mut self, flags: Flags, is_rapid: bool) {
        self.agreed = is_rapid && self.is_point_to_point && flags.agreement;
        self.proposing &= !self.agreed;
    }

    /// What was heard counts until three hellos are missing, unless it is too old already (*updtRcvdInfoWhile*).
    fn keep_info(&mut self, now: Instant) {
        let is_young = self.times.further().age <= self.times.max_age;
        self.info_timer = if is_young { Timer::of(now, self.times.hello() * 3) } else { Timer::OVER };
    }

    /// The port information machine, and the bridge detection machine (sections 17.25 and 17.27); whether something changed.
    pub(super) fn inform(&mut self, now: Instant) -> bool {
        self.detect_bridges(now) || self.change_info(now)
    }

    fn detect_bridges(&mut self, now: Instant) -> bool {
        let before = self.is_edge;
        if !self.is_enabled {
            self.is_edge = self.is_admin_edge;
        } else if !self.is_edge && !self.is_slow && self.proposing && self.edge_timer.is_over(now) {
            self.is_edge = true;
        }
        self.is_edge != before
    }

    fn change_info(&mut self, now: Instant) -> bool {
        if !self.is_enabled {
            let is_new = self.info != Info::Disabled;
            if is_new {
                self.info = Info::Disabled;
                (self.proposing, self.proposed, self.agree, self.agreed) = (false, false, false, false);
                (self.reselect, self.selected) = (true, false);
            }
            return is_new;
        }
        if self.selected && self.update {
            self.take_own_info();
            return true;
        }
        let has_aged = match self.info {
            Info::Disabled => true,
            Info::Received => !self.update && self.info_timer.is_over(now),
            Info::Aged | Info::Mine => false,
        };
        if has_aged {
            self.info = Info::Aged;
            (self.reselect, self.selected) = (true, false);
        }
        has_aged
    }

    fn take_own_info(&mut self) {
        (self.proposing, self.proposed) = (false, false);
        self.agreed &= self.info == Info::Mine && self.designated <= self.priority;
        self.synced &= self.agreed;
        (self.priority, self.times) = (self.designated, self.designated_times);
        self.update = false;
        self.info = Info::Mine;
        self.new_info = true;
    }

    /// The port transmit machine (section 17.26): what it sends now, if anything.
    pub(super) fn transmit(&mut self, now: Instant) -> Option<Bpdu> {
        if !self.is_enabled {
            return None;
        }
        if self.hold_timer.is_over(now) && self.sent_lately > 0 {
            self.sent_lately -= 1;
            self.hold_timer = Timer::of(now, SECOND);
        }
        let is_changing = !self.change_timer.is_over(now);
        if self.hello_timer.is_over(now) {
            self.hello_timer = Timer::of(now, self.designated_times.hello());
            self.new_info |= self.role == PortRole::Designated || self.role == PortRole::Root && is_changing;
        }
        if !self.new_info || !self.is_settled() || self.sent_lately >= HOLD {
            return None;
        }
        let (vector, times) = (self.designated, self.designated_times);
        let message = |flags| Message { vector, times, flags };
        let sent = match (self.is_slow, self.role) {
            (false, _) => Bpdu::Rapid(message(self.flags(is_changing))),
            (true, PortRole::Root) => Bpdu::Notification,
            (true, PortRole::Designated) => Bpdu::Configuration(message(Flags::plain(is_changing, self.acknowledge))),
            (true, _) => return None,
        };
        if self.sent_lately == 0 {
            self.hold_timer = Timer::of(now, SECOND);
        }
        self.sent_lately += 1;
        self.new_info = false;
        self.acknowledge &= self.is_slow && self.role == PortRole::Root;
        self.hello_timer = Timer::of(now, self.designated_times.hello());
        Some(sent)
    }

    fn flags(&self, topology_change: bool) -> Flags {
        Flags {
            sender: match self.role {
                PortRole::Designated => Sender::Designated,
                PortRole::Root => Sender::Root,
                PortRole::Alternate | PortRole::Backup | PortRole::Disabled => Sender::Other,
            },
            topology_change,
            proposal: self.proposing,
            learning: self.learn,
            forwarding: self.forward,
            agreement: self.agree,
            acknowledgement: false,
        }
    }

    /// When a timer runs down next, after `now`.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        let timers = [
            self.forward_timer,
            self.hello_timer,
            self.info_timer,
            self.recent_root_timer,
            self.recent_backup_timer,
            self.edge_timer,
            if self.sent_lately > 0 { self.hold_timer } else { Timer::OVER },
        ];
        let running = timers.into_iter().filter(|timer| !timer.is_over(now) && *timer != Timer::HELD);
        if self.is_enabled { running.map(|timer| timer.0).min() } else { None }
    }
}
