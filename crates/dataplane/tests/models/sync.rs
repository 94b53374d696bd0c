//! What `src/sync.rs` gives the engine, made of loom's parts.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
pub(crate) use loom::sync::mpsc::Receiver;

use loom::sync::{Condvar, Mutex};
use std::io;

/// An event counter: signalled or not, and somebody may wait for it.
pub(crate) struct Event {
    is_signalled: Mutex<bool>,
    changed: Condvar,
}

impl Event {
    #[expect(clippy::unnecessary_wraps, reason = "the kernel can refuse one")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { is_signalled: Mutex::new(false), changed: Condvar::new() })
    }

    pub(crate) fn signal(&self) {
        *self.is_signalled.lock().expect("no thread panics here") = true;
        self.changed.notify_one();
    }

    pub(crate) fn reset(&self) {
        *self.is_signalled.lock().expect("no thread panics here") = false;
    }

    /// As a poll does: until it is signalled, which it then still is.
    pub(crate) fn wait(&self) {
        let mut is_signalled = self.is_signalled.lock().expect("no thread panics here");
        while !*is_signalled {
            is_signalled = self.changed.wait(is_signalled).expect("no thread panics here");
        }
    }

    pub(crate) fn is_signalled(&self) -> bool {
        *self.is_signalled.lock().expect("no thread panics here")
    }
}
