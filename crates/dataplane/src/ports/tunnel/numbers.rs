//! Which of the frames that the far end sent have come: they are numbered from zero.

/// How far apart the numbers of frames are that overtake one another, at most; what comes later than that counts as come twice.
const WIDTH: u64 = 8_192;
const WORDS: usize = WIDTH as usize / 64;

/// See the module.
#[derive(Debug)]
pub(super) struct Numbers {
    /// One above the highest that has come.
    next: u64,
    /// Of the last `WIDTH` numbers, which have come.
    seen: [u64; WORDS],
    /// How many have come, each counted once.
    come: u64,
    /// How many came once more, or too late to tell.
    repeated: u64,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { next: 0, seen: [0; WORDS], come: 0, repeated: 0 }
    }
}

impl Numbers {
    /// Whether a frame of this number has not come yet; from now on it has.
    pub(super) fn take(&mut self, number: u64) -> bool {
        let is_new = self.pass(number);
        *(if is_new { &mut self.come } else { &mut self.repeated }) += 1;
        is_new
    }

    /// Whether a frame of this number can still come: it neither came nor was passed, and is not too old.
    pub(super) fn is_new(&self, number: u64) -> bool {
        number >= self.next || (self.next - number <= WIDTH && !self.has(number))
    }

    /// Waits no longer for a frame of this number, which does not count as come. Returns whether it could have come.
    pub(super) fn pass(&mut self, number: u64) -> bool {
        let is_new = self.is_new(number);
        if number >= self.next {
            let begin = self.next.max(number.saturating_sub(WIDTH - 1));
            (begin..=number).for_each(|passed| self.set(passed, false));
            self.next = number.saturating_add(1);
        }
        if is_new {
            self.set(number, true);
        }
        is_new
    }

    /// How many of the first `sent` frames have not come.
    pub(super) fn lost(&self, sent: u64) -> u64 {
        sent.saturating_sub(self.come)
    }

    /// How many have come, each counted once.
    pub(super) fn come(&self) -> u64 {
        self.come
    }

    /// How many came more than once.
    pub(super) fn repeated(&self) -> u64 {
        self.repeated
    }

    fn place(number: u64) -> (usize, u64) {
        let place = number % WIDTH;
        (usize::try_from(place / 64).expect("below the width"), 1 << (place % 64))
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        self.seen[word] & bit != 0
    }

    fn set(&mut self, number: u64, is: bool) {
        let (word, bit) = Self::place(number);
        if is { self.seen[word] |= bit } else { self.seen[word] &= !bit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overtakes_has_come_and_what_comes_twice_counts_once() {
        let mut numbers = Numbers::default();
        for (number, is_new) in [(0, true), (2, true), (1, true), (1, false), (5, true), (5, false)] {
            assert_eq!(numbers.take(number), is_new, "{number}");
        }
        assert_eq!((numbers.come(), numbers.repeated(), numbers.lost(6), numbers.lost(2)), (4, 2, 2, 0));
        assert!(numbers.take(WIDTH + 100) && !numbers.take(3) && numbers.take(101));
        assert_eq!(numbers.lost(WIDTH + 101), WIDTH + 101 - 6);
    }

    #[test]
    fn what_is_passed_neither_came_nor_can_come() {
        let mut numbers = Numbers::default();
        assert!(numbers.is_new(3) && numbers.pass(3) && !numbers.is_new(3) && numbers.is_new(2));
        assert!(!numbers.take(3) && !numbers.pass(3) && numbers.take(4));
        assert_eq!((numbers.come(), numbers.repeated(), numbers.lost(5)), (1, 1, 4));
    }

    #[test]
    fn any_number_is_taken() {
        let mut numbers = Numbers::default();
        assert!(numbers.take(u64::MAX) && !numbers.take(u64::MAX - 1 - WIDTH) && numbers.take(u64::MAX - 7));
    }
}
