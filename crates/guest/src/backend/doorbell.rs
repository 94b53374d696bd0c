//! The doorbell that the device backends of all kernels of a lab ring when they have answered: a word in memory that all share, on which
//! the scheduler sleeps.
//!
//! A kernel's process could ring for nothing, or not at all: who has answered stands in each mailbox, and the scheduler looks
//! around every now and then all the same.
//!
//! For each processor the doorbell counts the kernels that have been let run there and are not done. A device backend that is done wakes
//! the scheduler only if a processor has no kernel left behind the one that runs: otherwise the next one wakes it, and
//! twenty kernels that are done one after the other on a processor do not wake it twenty times.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::memory::Memory;

/// A page; of it these words are used: how often the doorbell was rung, whether the scheduler sleeps, how many processors are counted, and
/// how many kernels are let run on each.
const SIZE: usize = 4096;
pub(super) const RUNG: usize = 0;
pub(super) const ASLEEP: usize = 64;
pub(super) const LANES: usize = 68;
pub(super) const RUNNING: usize = 128;
/// Processors that are counted; where there are more, every answer wakes the scheduler.
pub(super) const MOST_LANES: usize = 256;

/// See the module.
#[derive(Debug)]
pub struct Doorbell {
    memory: Arc<Memory>,
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
        Ok(Self { memory: Arc::new(memory), file: file.into(), seen: 0 })
    }

    /// Counts the kernels of so many processors from now on: of those that are given a [`Doorbell::lane`].
    pub fn count_lanes(&self, lanes: usize) {
        let counted = u32::try_from(lanes).ok().filter(|_| lanes <= MOST_LANES).unwrap_or(0);
        self.memory.word(LANES).store(counted, Ordering::SeqCst);
    }

    /// Returns the counter of a processor; none if it is not counted.
    pub fn lane(&self, lane: usize) -> Option<Lane> {
        (lane < MOST_LANES).then(|| Lane { memory: Arc::clone(&self.memory), lane })
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

    /// Returns what lets another thread ring it.
    pub fn ringer(&self) -> Ringer {
        Ringer(Arc::clone(&self.memory))
    }

    /// What a device backend does.
    #[cfg(test)]
    fn ring(&self) {
        self.ringer().ring();
    }
}

/// The means of another thread to ring a doorbell.
#[derive(Clone, Debug)]
pub struct Ringer(Arc<Memory>);

impl Ringer {
    /// Wakes whoever sleeps on the doorbell.
    pub fn ring(&self) {
        self.0.word(RUNG).fetch_add(1, Ordering::SeqCst);
        if self.0.word(ASLEEP).load(Ordering::SeqCst) != 0 {
            super::memory::wake(self.0.word(RUNG));
        }
    }
}

/// The counter of the kernels that are let run on one processor.
#[derive(Debug)]
pub struct Lane {
    memory: Arc<Memory>,
    lane: usize,
}

impl Lane {
    /// The number by which device backends find the counter, from 1.
    pub(super) fn number(&self) -> u32 {
        u32::try_from(self.lane + 1).expect("few lanes")
    }

    /// Its number among the doorbell's, from 0.
    pub(super) fn place(&self) -> usize {
        self.lane
    }

    /// The kernel has gone to another processor. Beyond those that are counted it stays counted here, which wakes the scheduler no
    /// less often.
    pub(super) fn move_to(&mut self, lane: usize) {
        self.lane = if lane < MOST_LANES { lane } else { self.lane };
    }

    /// One more kernel is let run; its device backend counts it off.
    pub(super) fn enter(&self) {
        self.memory.word(RUNNING + 4 * self.lane).fetch_add(1, Ordering::SeqCst);
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
            memory: Arc::new(Memory::of(&doorbell.try_clone().unwrap(), SIZE).unwrap()),
            file: doorbell.try_clone().unwrap().into(),
            seen: 0,
        };
        std::thread::scope(|scope| {
            scope.spawn(|| other.ring());
            assert!(doorbell.wait(Duration::from_secs(600)));
        });
    }
}
