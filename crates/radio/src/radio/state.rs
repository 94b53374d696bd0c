//! A station with its own view of the medium.

use super::RadioStation;
use super::signal::Part;
use crate::config::MediumConfig;
use crate::contender::Contender;
use crate::counters::StationCounters;
use crate::frame::Frame;
use crate::phy::Ppdu;
use crate::queue::Load;
use crate::rate_control::Control;
use crate::station::CATEGORIES;
use crate::transmission::Party;
use alloc::vec::Vec;
use netloom_units::{Bytes, Instant, Seed};

/// An exchange of frames, from its first PPDU to the answer to its data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) party: Party,
    pub(super) start: Instant,
    /// Until when its sender may go on behind it; none without a TXOP.
    pub(super) until: Option<Instant>,
    /// The part that it has sent last, and the number of that PPDU.
    pub(super) part: Part,
    pub(super) number: u64,
    /// Until when it waits for an answer to begin; none while it sends or receives.
    pub(super) deadline: Option<Instant>,
    /// So many MPDUs have arrived, as far as that is decided.
    pub(super) arrived: Option<u32>,
    /// Whether all of them have arrived before, and only the acknowledgement was lost.
    pub(super) is_copy: bool,
    /// Whether something else was on the air during its last PPDU.
    pub(super) is_disturbed: bool,
}

/// The MPDUs that have arrived without the sender's knowledge: they are sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copies {
    pub(super) flow: usize,
    pub(super) load: Load,
    pub(super) attempts: u32,
}

impl Exchange {
    /// Creates an exchange of which nothing is on the air yet.
    pub(super) fn new(party: Party, is_copy: bool, start: Instant, until: Option<Instant>) -> Self {
        Self {
            party,
            start,
            until,
            part: Part::Request,
            number: 0,
            deadline: None,
            arrived: None,
            is_copy,
            is_disturbed: false,
        }
    }
}

/// The answer that a station sends a SIFS after it has received something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) at: Instant,
    pub(super) part: Part,
    pub(super) to: usize,
    /// The number of the PPDU that it answers.
    pub(super) answers: u64,
    pub(super) ppdu: Ppdu,
    pub(super) size: Bytes,
    pub(super) reserved: Instant,
}

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct State<P> {
    pub(super) seed: Seed,
    /// The least urgent first; without QoS a single one.
    pub(super) contenders: Vec<Contender<P>>,
    /// The MPDUs that each of them has to send again.
    pub(super) copies: Vec<Option<Copies>>,
    pub(super) counters: StationCounters,
    pub(super) counted_since: Instant,
    pub(super) control: Control,
    /// How many PPDUs it has sent.
    pub(super) sent: u64,
    pub(super) is_sending: bool,
    /// The channel on which it is; none while it is on none. All have the same one where there are no several access points.
    pub(super) channel: Option<u8>,
    /// The PPDU that it receives, by its sender and number.
    pub(super) receives: Option<(usize, u64)>,
    pub(super) exchange: Option<Exchange>,
    pub(super) reply: Option<Reply>,
    /// Until when others have reserved the medium, and when that is given up if nothing is heard before.
    pub(super) reserved: Option<Instant>,
    pub(super) reset: Option<Instant>,
    /// Before this, the medium does not count as idle: it could not decode something.
    hold: Instant,
    pub(super) is_idle: bool,
}

impl<P> State<P> {
    pub(super) fn new(config: &MediumConfig, described: &RadioStation, control: Control, seed: Seed) -> Self {
        let own = seed.derive(&described.name);
        let of =
            |category: usize| Contender::new(config, config.contention[category], own.derive(CATEGORIES[category]));
        let contenders: Vec<_> =
            if config.phy.has_qos() { (0..4).map(of).collect() } else { [1].into_iter().map(of).collect() };
        Self {
            seed: own.derive("signals"),
            copies: contenders.iter().map(|_| None).collect(),
            contenders,
            counters: StationCounters::default(),
            counted_since: Instant::ZERO,
            control,
            sent: 0,
            is_sending: false,
            channel: Some(0),
            receives: None,
            exchange: None,
            reply: None,
            reserved: None,
            reset: None,
            hold: Instant::ZERO,
            is_idle: true,
        }
    }

    /// When something ends here.
    pub(super) fn timers(&self) -> impl Iterator<Item = Instant> + use<P> {
        let deadline = self.exchange.and_then(|exchange| exchange.deadline);
        deadline.into_iter().chain(self.reserved).chain(self.reset)
    }

    /// When it begins to send next.
    pub(super) fn due(&self) -> Option<Instant> {
        let contends = self.contenders.iter().filter(|_| self.is_idle).filter_map(Contender::due);
        contends.chain(self.reply.map(|reply| reply.at)).min()
    }

    /// Whether something other than the medium keeps it from contending.
    pub(super) fn is_engaged(&self) -> bool {
        self.is_sending || self.exchange.is_some() || self.reply.is_some() || self.reserved.is_some()
    }

    /// Brings its view of the medium up to date.
    pub(super) fn settle(&mut self, at: Instant, is_heard: bool) {
        let is_idle = !is_heard && !self.is_engaged();
        match (self.is_idle, is_idle) {
            (true, false) => self.contenders.iter_mut().for_each(|contender| contender.freeze(at)),
            (false, true) => {
                let since = at.max(self.hold);
                self.contenders.iter_mut().for_each(|contender| contender.resume(since));
            }
            _ => {}
        }
        self.is_idle = is_idle;
    }

    /// Notes that it could not decode what ended; before this, the medium does not count as idle. What it decodes ends that.
    pub(super) fn hold_until(&mut self, until: Instant) {
        self.hold = until;
    }

    /// Others have reserved the medium.
    pub(super) fn reserve(&mut self, until: Instant) {
        if self.reserved.is_none_or(|before| before < until) {
            self.reserved = Some(until);
        }
    }

    /// Begins counting anew.
    pub(super) fn begin_counting(&mut self, now: Instant) {
        (self.counters, self.counted_since) = (StationCounters::default(), now);
    }

    /// Ends all that it does, and shows the frames that wait.
    pub(super) fn clear(&mut self, at: Instant, mut sink: impl FnMut(Frame<P>)) {
        (self.is_sending, self.receives, self.exchange, self.reply) = (false, None, None, None);
        (self.reserved, self.reset, self.hold, self.is_idle) = (None, None, at, true);
        self.copies.fill(None);
        for contender in &mut self.contenders {
            contender.queue.drain().for_each(&mut sink);
            contender.owes = false;
            contender.reset_window();
            contender.resume(at);
        }
    }
}
