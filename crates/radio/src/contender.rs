//! A category of a station that contends for the medium: its queue and its backoff.
//!
//! A backoff is a number of whole slots that begin where the interframe space ends. While the medium is idle nothing is done about it:
//! the instant at which it ends follows from where its slots begin. When the medium becomes busy, the slots that were over by then are taken off.

use crate::config::{Access, MediumConfig};
use crate::contention::Contention;
use crate::queue::Queue;
use netloom_units::{Duration, Instant, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[derive(Clone, Debug)]
pub(crate) struct Contender<P> {
    pub(crate) queue: Queue<P>,
    contention: Contention,
    /// The interframe space behind which slots begin.
    space: Duration,
    slot: Duration,
    window: u32,
    /// So many slots are left, counted from here on.
    slots: u32,
    from: Instant,
    /// When the frame came that waits longest, if it found an empty queue.
    asked: Instant,
    /// Whether it has something to send beside what is in the queue.
    pub(crate) owes: bool,
    random: Xoshiro256PlusPlus,
}

impl<P> Contender<P> {
    pub(crate) fn new(config: &MediumConfig, contention: Contention, seed: Seed) -> Self {
        let is_ideal = config.access == Access::Ideal;
        let contention =
            if is_ideal { Contention { cw_min: 0, cw_max: 0, txop: Duration::ZERO, ..contention } } else { contention };
        let space = if is_ideal { Duration::ZERO } else { config.phy.aifs(contention.aifsn) };
        Self {
            queue: Queue::new(config),
            contention,
            space,
            slot: config.phy.slot(),
            window: contention.cw_min,
            slots: 0,
            from: Instant::ZERO + space,
            asked: Instant::ZERO,
            owes: false,
            random: Xoshiro256PlusPlus::seed_from_u64(seed.get()),
        }
    }

    /// How long one access may last; zero: one PPDU.
    pub(crate) fn txop(&self) -> Duration {
        self.contention.txop
    }

    /// When it begins to send, if the medium stays idle until then.
    #[inline]
    pub(crate) fn due(&self) -> Option<Instant> {
        (!self.has_nothing()).then(|| (self.from + self.slot * u64::from(self.slots)).max(self.asked))
    }

    /// Whether there is nothing to send.
    #[inline]
    pub(crate) fn has_nothing(&self) -> bool {
        self.queue.is_empty() && !self.owes
    }

    /// When it can begin at the earliest if the medium stays idle, whatever comes.
    pub(crate) fn earliest(&self) -> Instant {
        self.from
    }

    /// A frame finds an empty queue: without a backoff in progress it goes at once if the medium has been idle for long enough.
    pub(crate) fn ask(&mut self, now: Instant, is_busy: bool) {
        self.asked = now;
        if self.slots == 0 && (is_busy || now < self.from) {
            self.back_off();
        }
    }

    /// The medium becomes busy: slots that are over do not come back.
    #[inline]
    pub(crate) fn freeze(&mut self, at: Instant) {
        let over = at.since(self.from).as_nanos() / self.slot.as_nanos();
        self.slots = self.slots.saturating_sub(u32::try_from(over).unwrap_or(u32::MAX));
    }

    /// The medium has been idle since then.
    #[inline]
    pub(crate) fn resume(&mut self, idle_since: Instant) {
        self.from = idle_since + self.space;
    }

    /// The medium counts as idle from then on at the earliest.
    #[inline]
    pub(crate) fn hold(&mut self, idle_since: Instant) {
        self.from = self.from.max(idle_since + self.space);
    }

    /// Draws a backoff from the contention window.
    pub(crate) fn back_off(&mut self) {
        let drawn = ((self.random.next_u64() >> 32) * (u64::from(self.window) + 1)) >> 32;
        self.slots = u32::try_from(drawn).expect("below the window");
    }

    /// The window is the least again: behind a success, and for the frame behind one that was given up.
    pub(crate) fn reset_window(&mut self) {
        self.window = self.contention.cw_min;
    }

    /// The window doubles, up to the largest.
    pub(crate) fn widen_window(&mut self) {
        self.window = (2 * self.window + 1).min(self.contention.cw_max);
    }
}
