//! How much memory the engine may use for packets on their way.
//!
//! A queue or a delay line holds what the lab file says, and that may be more than the machine has. Then the kernel
//! would kill some process, the lab's or another, without a reason that the user sees. So the engine stops making
//! buffers before that, and drops what arrives and finds none. These drops are counted and fail the verdict.

use netloom_packet::Pool;
use rustix::param::page_size;
use std::time::Duration as RealDuration;

/// How often the process is measured while packets come in. At 25 Gbit/s of super-packets 30 MB come in meanwhile, and as
/// much is put aside for it. A look takes some microseconds, and tens of them after a pause: no packet waits for it that
/// comes after one.
const EVERY: RealDuration = RealDuration::from_millis(10);

/// See the module.
#[derive(Debug)]
pub(crate) struct Memory {
    /// What the process may have in all, in bytes.
    most: Option<u64>,
    looked: RealDuration,
    /// When something came for the first time since then.
    came: Option<RealDuration>,
    was_full: bool,
}

impl Memory {
    /// The process may grow by so many bytes from now on.
    pub(crate) fn new(growth: Option<u64>) -> Self {
        let most = growth.zip(resident()).map(|(growth, now)| now.saturating_add(growth));
        Self { most, looked: RealDuration::ZERO, came: None, was_full: false }
    }

    /// Measures the process if that is due, and lets the pool grow or not. `real` is wall time since the epoch;
    /// `has_come`: packets have just come. Then it waits for a moment in which none do, unless they come all the time.
    #[inline]
    pub(crate) fn watch(&mut self, real: RealDuration, has_come: bool, pool: &mut Pool) {
        if self.most.is_none() || !has_come && self.came.is_none() {
            return;
        }
        let since = if has_come { *self.came.get_or_insert(real) } else { self.looked };
        if real.saturating_sub(since) >= EVERY {
            (self.looked, self.came) = (real, None);
            self.look(pool);
        }
    }

    fn look(&mut self, pool: &mut Pool) {
        let full = self.most.zip(resident()).is_some_and(|(most, now)| now > most);
        self.was_full |= full;
        pool.set_growing(!full);
    }

    /// Whether it was ever full.
    pub(crate) fn was_full(&self) -> bool {
        self.was_full
    }
}

/// The memory of this process, in bytes (proc(5), statm: the second field, in pages).
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_process_makes_no_more_buffers_but_uses_those_that_it_has() {
        let mut pool = Pool::new(1, 0);
        let mut memory = Memory::new(Some(1 << 40));
        memory.watch(EVERY, true, &mut pool);
        memory.watch(2 * EVERY, true, &mut pool);
        assert!(!memory.was_full() && !pool.is_short_of(1));
        memory.most = Some(0);
        memory.watch(2 * EVERY, true, &mut pool);
        assert!(!memory.was_full(), "it was measured a moment ago");
        memory.watch(3 * EVERY, true, &mut pool);
        assert!(memory.was_full() && !pool.is_short_of(1), "one buffer is free");
        let packet = pool.fill_with(1, |_| Some((1, netloom_packet::VirtioHeader::COMPLETE))).unwrap();
        assert!(pool.fill_with(1, |_| Some((1, netloom_packet::VirtioHeader::COMPLETE))).is_none());
        pool.recycle(packet);
        assert!(pool.fill_with(1, |_| Some((1, netloom_packet::VirtioHeader::COMPLETE))).is_some());
    }

    /// Else each lone packet waits while a file is opened and read.
    #[test]
    fn a_packet_after_a_pause_does_not_wait_for_a_look() {
        let mut pool = Pool::new(1, 0);
        let mut memory = Memory::new(Some(0));
        memory.most = Some(0);
        let second = RealDuration::from_secs(1);
        memory.watch(second, true, &mut pool);
        assert!(!memory.was_full(), "nothing had come for long");
        memory.watch(second, false, &mut pool);
        assert!(memory.was_full(), "nothing comes any more");
        memory.was_full = false;
        memory.watch(2 * second, false, &mut pool);
        assert!(!memory.was_full(), "nothing has come since");
        for busy in 0..10 {
            memory.watch(2 * second + EVERY * busy / 10, true, &mut pool);
            assert!(!memory.was_full(), "it waits for a pause");
        }
        memory.watch(2 * second + EVERY, true, &mut pool);
        assert!(memory.was_full(), "packets come all the time");
    }

    #[test]
    fn this_process_has_some_memory() {
        assert!(resident().is_some_and(|bytes| bytes > 100_000));
    }
}
