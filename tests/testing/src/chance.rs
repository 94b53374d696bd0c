//! Chance that is the same every time.

use std::time::Duration;

/// The generator SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    /// Begins with a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Draws a number below `limit`, which is above zero.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below a usize")
    }

    /// Draws a number of milliseconds in `from..to`.
    pub fn millis(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from)
    }

    /// Draws a span below `limit`, which is above zero.
    ///
    /// # Panics
    /// If the limit has more than 64 bits of nanoseconds.
    pub fn span(&mut self, limit: Duration) -> Duration {
        Duration::from_nanos(self.next() % u64::try_from(limit.as_nanos()).expect("less than centuries"))
    }

    /// Draws a yes in so many of a hundred cases.
    pub fn percent(&mut self, share: u64) -> bool {
        self.next() % 100 < share
    }

    /// Draws one of them; there must be one.
    pub fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// Returns another source of chance, which depends on this one only by what was drawn up to now.
    pub fn fork(&mut self) -> Self {
        Self(self.next())
    }
}
