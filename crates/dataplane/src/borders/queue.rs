//! A bounded queue between two threads, one that gives and one that takes. Neither ever waits for the other, and nothing
//! is allocated after the beginning.
//!
//! Each side keeps its own count in a cache line of its own, and remembers the other's: it looks again only when the
//! queue seems full or empty (Lamport 1983, "Specifying concurrent program modules"; Lee, Bu and Chandranmenon 2009,
//! "A lock-free, cache-efficient shared ring buffer").

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value that shares no cache line with another; processors fetch lines of 64 bytes in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Alone<T>(pub(super) T);

struct Shared<T> {
    /// How many were taken so far. Only the taker writes it.
    taken: Alone<AtomicUsize>,
    /// How many were given so far. Only the giver writes it.
    given: Alone<AtomicUsize>,
    /// Number n is in the slot n modulo their number, which is a power of two.
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

// SAFETY: a slot is touched by the giver only while it is free, that is, while fewer than all slots lie between `taken` and
// `given`, and by the taker only while it is full. Each side tells the other by a store with release, which the other loads
// with acquire, and only afterwards touches the slot. So values move from one thread to the other, and no two threads touch
// a slot at a time.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn slot(&self, number: usize) -> *mut MaybeUninit<T> {
        self.slots[number & (self.slots.len() - 1)].get()
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        let (mut number, end) = (*self.taken.0.get_mut(), *self.given.0.get_mut());
        while number != end {
            // SAFETY: both sides have gone, and what was given and not taken is in its slot.
            unsafe { (*self.slot(number)).assume_init_drop() };
            number = number.wrapping_add(1);
        }
    }
}

/// The end that gives.
pub(super) struct Giver<T> {
    shared: Arc<Shared<T>>,
    given: usize,
    /// What the taker had taken when it was looked at last.
    taken: usize,
}

/// The end that takes.
pub(super) struct Taker<T> {
    shared: Arc<Shared<T>>,
    taken: usize,
    /// What the giver had given when it was looked at last.
    given: usize,
}

/// A queue for at least so many values.
pub(super) fn queue<T: Send>(room: usize) -> (Giver<T>, Taker<T>) {
    let slots = (0..room.next_power_of_two()).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    let shared = Arc::new(Shared { taken: Alone::default(), given: Alone::default(), slots });
    (Giver { shared: Arc::clone(&shared), given: 0, taken: 0 }, Taker { shared, taken: 0, given: 0 })
}

impl<T> Giver<T> {
    /// Gives a value, or gives it back if there is no room.
    #[inline]
    pub(super) fn push(&mut self, value: T) -> Result<(), T> {
        let room = self.shared.slots.len();
        if self.given.wrapping_sub(self.taken) == room {
            self.taken = self.shared.taken.0.load(Ordering::Acquire);
            if self.given.wrapping_sub(self.taken) == room {
                return Err(value);
            }
        }
        // SAFETY: the slot is free: fewer than all are between `taken`, as the taker told, and `given`; and nobody else gives.
        unsafe { (*self.shared.slot(self.given)).write(value) };
        self.given = self.given.wrapping_add(1);
        self.shared.given.0.store(self.given, Ordering::Release);
        Ok(())
    }
}

impl<T> Taker<T> {
    /// Takes the oldest value.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<T> {
        if self.taken == self.given && self.is_empty() {
            return None;
        }
        // SAFETY: the slot is full: its number is below `given`, as the giver told; and nobody else takes.
        let value = unsafe { (*self.shared.slot(self.taken)).assume_init_read() };
        self.taken = self.taken.wrapping_add(1);
        self.shared.taken.0.store(self.taken, Ordering::Release);
        Some(value)
    }

    /// Whether there is nothing to take now.
    #[inline]
    pub(super) fn is_empty(&mut self) -> bool {
        self.given = self.shared.given.0.load(Ordering::Acquire);
        self.taken == self.given
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn what_does_not_fit_comes_back() {
        let (mut giver, mut taker) = queue(3);
        assert!(taker.is_empty());
        (0..4).for_each(|value| giver.push(value).expect("rounded up to four"));
        assert_eq!(giver.push(4), Err(4));
        assert_eq!(taker.pop(), Some(0));
        assert_eq!(giver.push(4), Ok(()));
        assert_eq!((0..5).map(|_| taker.pop()).collect::<Vec<_>>(), [Some(1), Some(2), Some(3), Some(4), None]);
    }

    #[test]
    fn what_nobody_takes_is_dropped_once() {
        let count = Arc::new(());
        let (mut giver, mut taker) = queue(8);
        for _ in 0..20 {
            while giver.push(Arc::clone(&count)).is_ok() {}
            drop((taker.pop(), taker.pop(), taker.pop()));
        }
        assert_eq!(Arc::strong_count(&count), 1 + 5);
        drop(giver);
        assert!(taker.pop().is_some());
        drop(taker);
        assert_eq!(Arc::strong_count(&count), 1);
    }

    /// Everything arrives once, in order and whole, however the two threads meet: with queues of all small sizes, and with
    /// pauses at random places on both sides.
    #[test]
    fn two_threads_lose_and_mix_up_nothing() {
        const VALUES: u64 = 20_000;
        for room in [1, 2, 4, 64] {
            for seed in 0..8 {
                let (mut giver, mut taker) = queue(room);
                let refused = AtomicU64::new(0);
                std::thread::scope(|scope| {
                    scope.spawn(|| {
                        let mut chance = Chance(seed);
                        for number in 0..VALUES {
                            let mut value = Box::new([number, !number]);
                            while let Err(back) = giver.push(value) {
                                value = back;
                                refused.fetch_add(1, Ordering::Relaxed);
                                std::thread::yield_now();
                            }
                            chance.pause();
                        }
                    });
                    let mut chance = Chance(seed + 100);
                    for number in 0..VALUES {
                        let value = loop {
                            match taker.pop() {
                                Some(value) => break value,
                                None => std::thread::yield_now(),
                            }
                        };
                        assert_eq!(*value, [number, !number]);
                        chance.pause();
                    }
                    assert!(taker.pop().is_none());
                });
            }
        }
    }

    struct Chance(u64);

    impl Chance {
        /// Now and then a pause of random length.
        fn pause(&mut self) {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match self.0 >> 56 {
                0 => std::thread::yield_now(),
                pause @ 1..64 => (0..pause).for_each(|_| std::hint::spin_loop()),
                _ => {}
            }
        }
    }
}
