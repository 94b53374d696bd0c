//! How a thread that may sleep is woken by those who put something where it looks, or announce it: either it sees that before it
//! sleeps, or they see that it sleeps.

use crate::doorbell::Doorbell;
use crate::sync::{AtomicU64, Ordering, fence};
use netloom_units::Instant;
use std::sync::Arc;

const AWAKE: u64 = 0;

/// Wakes the thread of a shard if it sleeps.
pub(crate) struct Waker {
    /// Until when it sleeps, in nanoseconds of lab time.
    sleeps_until: AtomicU64,
    doorbell: Arc<Doorbell>,
}

impl Waker {
    /// Of a thread that is awake and hears this doorbell.
    pub(crate) fn new(doorbell: Arc<Doorbell>) -> Self {
        Self { sleeps_until: AtomicU64::new(AWAKE), doorbell }
    }

    /// To be called behind what the thread is to find.
    pub(crate) fn wake(&self) {
        // Either it sees what was given before it sleeps, or this sees that it sleeps.
        fence(Ordering::SeqCst);
        self.rouse();
    }

    /// To be called behind the announcement of what comes at `next`: wakes a thread that would sleep for longer.
    pub(crate) fn wake_before(&self, next: Instant) {
        fence(Ordering::SeqCst);
        if self.sleeps_until.load(Ordering::Relaxed) > next.as_nanos() {
            self.rouse();
        }
    }

    fn rouse(&self) {
        if self.sleeps_until.swap(AWAKE, Ordering::Relaxed) != AWAKE {
            self.doorbell.ring();
        }
    }

    /// Whether the thread may sleep until then: `is_quiet` says that nothing is there, and nothing was announced for before.
    /// Who sleeps is woken by what comes; [`Waker::set_awake`] ends that.
    pub(crate) fn may_sleep(&self, until: Instant, is_quiet: impl FnOnce() -> bool) -> bool {
        self.sleeps_until.store(until.as_nanos().max(AWAKE + 1), Ordering::Relaxed);
        // Either this sees what was given, or those who give see that it sleeps.
        fence(Ordering::SeqCst);
        let may = is_quiet();
        if !may {
            self.set_awake();
        }
        may
    }

    /// The thread is awake.
    pub(crate) fn set_awake(&self) {
        self.sleeps_until.store(AWAKE, Ordering::Relaxed);
    }

    /// Whether nobody needs to wake it.
    #[cfg(test)]
    pub(crate) fn is_awake(&self) -> bool {
        self.sleeps_until.load(Ordering::Relaxed) == AWAKE
    }
}
