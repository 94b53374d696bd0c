//! The doorbell that the device backends of all kernels of a lab ring when they have answered: a word in memory that all share, on which
//! the scheduler sleeps.
//!
//! A kernel's process could ring for nothing, or not at all: who has answered stands in each mailbox, and the scheduler looks
//! around every now and then all the same.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::memory::Memory;

/// A page; of it two words are used: how often the doorbell was rung, and whether the scheduler sleeps.
const SIZE: usize = 4096;
pub(super) const RUNG: usize = 0;
pub(super) const ASLEEP: usize = 64;

/// See the module.
#[derive(Debug)]
pub struct Doorbell {
    memory: Memory,
    file: File,
    /// How often it had been rung when it was last looked at.
    seen: u32,
}

impl Doorbell {
    /// A doorbell that has not rung.
    ///
    /// # Errors
    /// When the kernel of this machine gives no memory.
    pub fn new() -> io::Result<Self> {
        let (memory, file) = Memory::create(c"netloom-doorbell", SIZE)?;
        Ok(Self { memory, file: file.into(), seen: 0 })
    }

    /// Duplicates the doorbell's descriptor, for a kernel's process to inherit.
    ///
    /// # Errors
    /// When there are no more descriptors.
    pub fn try_clone(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    /// Waits until it is rung, for `longest` at most; says whether it was since the last call.
    pub fn wait(&mut self, longest: Duration) -> bool {
        let (rung, asleep) = (self.memory.word(RUNG), self.memory.word(ASLEEP));
        if rung.load(Ordering::SeqCst) == self.seen {
            asleep.store(1, Ordering::SeqCst);
            super::memory::wait_while(rung, self.seen, longest);
            asleep.store(0, Ordering::SeqCst);
        }
        let rung = rung.load(Ordering::SeqCst);
        std::mem::replace(&mut self.seen, rung) != rung
    }

    /// What a device backend does.
    #[cfg(test)]
    fn ring(&self) {
        self.memory.word(RUNG).fetch_add(1, Ordering::SeqCst);
        if self.memory.word(ASLEEP).load(Ordering::SeqCst) != 0 {
            super::memory::wake(self.memory.word(RUNG));
        }
    }
}

impl AsFd for Doorbell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_before_or_during_the_wait_ends_it() {
        let mut doorbell = Doorbell::new().unwrap();
        assert!(!doorbell.wait(Duration::from_millis(1)));
        doorbell.ring();
        assert!(doorbell.wait(Duration::from_secs(600)));
        assert!(!doorbell.wait(Duration::ZERO));
        let other = Doorbell {
            memory: Memory::of(&doorbell.try_clone().unwrap(), SIZE).unwrap(),
            file: doorbell.try_clone().unwrap().into(),
            seen: 0,
        };
        std::thread::scope(|scope| {
            scope.spawn(|| other.ring());
            assert!(doorbell.wait(Duration::from_secs(600)));
        });
    }
}
