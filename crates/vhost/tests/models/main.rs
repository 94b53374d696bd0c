//! Suppression of notifications under loom: in every order in which device and driver can meet, and with every value that the
//! memory model allows them to read. It is the code of the device, with another `sync` below it; the driver does the same.

#[path = "../../src/suppress.rs"]
mod suppress;

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicU16, Ordering, fence};
}

use loom::sync::{Condvar, Mutex};
use loom::thread;
use std::sync::Arc;
use suppress::{ahead, is_wanted, publish, want};
use sync::AtomicU16;

const UNWANTED: u16 = 1;

/// What rings: a descriptor that stays readable until it is read.
#[derive(Default)]
struct Kick {
    is_rung: Mutex<bool>,
    changed: Condvar,
}

impl Kick {
    fn ring(&self) {
        *self.is_rung.lock().expect("no thread panics here") = true;
        self.changed.notify_one();
    }

    fn wait(&self) {
        let mut is_rung = self.is_rung.lock().expect("no thread panics here");
        while !*is_rung {
            is_rung = self.changed.wait(is_rung).expect("no thread panics here");
        }
        *is_rung = false;
    }

    fn is_rung(&self) -> bool {
        *self.is_rung.lock().expect("no thread panics here")
    }
}

struct Ring {
    index: AtomicU16,
    /// Of the side that takes.
    flags: AtomicU16,
    kick: Kick,
}

impl Ring {
    fn new(flags: u16) -> Arc<Self> {
        Arc::new(Self { index: AtomicU16::new(0), flags: AtomicU16::new(flags), kick: Kick::default() })
    }

    /// Publishes so many, one after the other.
    fn give(&self, count: u16) {
        for index in 1..=count {
            publish(&self.index, index);
            if is_wanted(&self.flags, UNWANTED) {
                self.kick.ring();
            }
        }
    }

    /// Takes so many, and sleeps while there is none.
    fn take(&self, count: u16) {
        let mut taken = 0;
        while taken < count {
            let mut new = ahead(&self.index, taken);
            if new == 0 {
                want(&self.flags, UNWANTED, true);
                new = ahead(&self.index, taken);
                if new == 0 {
                    self.kick.wait();
                }
                want(&self.flags, UNWANTED, false);
            }
            taken += new;
        }
        assert_eq!(taken, count);
    }
}

/// Whoever sleeps is rung for, however the two meet; loom says if one never wakes up.
#[test]
fn nobody_sleeps_over_what_was_published() {
    loom::model(|| {
        let ring = Ring::new(UNWANTED);
        let giver = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || ring.give(2))
        };
        ring.take(2);
        giver.join().expect("a thread");
    });
}

/// Who does not want it is not rung for.
#[test]
fn who_looks_anyway_is_left_alone() {
    loom::model(|| {
        let ring = Ring::new(UNWANTED);
        let giver = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || ring.give(1))
        };
        giver.join().expect("a thread");
        assert_eq!(ahead(&ring.index, 0), 1);
        assert!(!ring.kick.is_rung());
    });
}
