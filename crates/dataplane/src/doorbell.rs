//! How a thread learns that something waits for it, and finds it.

use crate::sync::{AtomicBool, Event, Ordering, Receiver};
use std::io;
use std::sync::Arc;

/// Wakes a thread, at the price of one memory read per round while the doorbell is silent.
pub(crate) struct Doorbell {
    rung: AtomicBool,
    event: Event,
}

impl Doorbell {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { rung: AtomicBool::new(false), event: Event::new()? })
    }

    /// The event comes first: an event behind a flag that was seen and reset meanwhile would stay, and nobody would look at
    /// it, but for the engine, which it would never let sleep again.
    pub(crate) fn ring(&self) {
        self.event.signal();
        self.rung.store(true, Ordering::Release);
    }

    /// What a sleep waits for.
    pub(crate) fn event(&self) -> &Event {
        &self.event
    }

    /// Whether it has been rung since it was last found that nothing waits.
    pub(crate) fn is_rung(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }
}

/// The commands for a thread, from those who ring its doorbell afterwards.
pub(crate) struct Mailbox<T> {
    pub(crate) messages: Receiver<T>,
    pub(crate) doorbell: Arc<Doorbell>,
}

impl<T> Mailbox<T> {
    pub(crate) fn next(&mut self) -> Option<T> {
        if !self.doorbell.is_rung() {
            return None;
        }
        if let Ok(message) = self.messages.try_recv() {
            return Some(message);
        }
        self.doorbell.rung.store(false, Ordering::Release);
        self.doorbell.event.reset();
        // A message may have come between the look and the reset, and another behind it: then look again next time.
        let late = self.messages.try_recv().ok();
        if late.is_some() {
            self.doorbell.rung.store(true, Ordering::Release);
        }
        late
    }
}
