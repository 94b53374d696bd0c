//! Which numbers have come: one bit each.

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    words: Vec<u64>,
    /// All numbers below have come.
    below: u64,
}

impl Seen {
    /// Adds a number; says whether it is new.
    pub(crate) fn add(&mut self, number: u64) -> bool {
        let (word, bit) = place(number);
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        while self.has(self.below) {
            self.below += 1;
        }
        is_new
    }

    fn has(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.words.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// The first number that is missing.
    pub(crate) fn below(&self) -> u64 {
        self.below
    }
}

fn place(number: u64) -> (usize, u64) {
    (usize::try_from(number / 64).expect("memory holds a bit per packet"), 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_missing_number_moves_when_its_gap_is_filled() {
        let mut seen = Seen::default();
        assert!(seen.add(0) && seen.add(2) && seen.add(64) && !seen.add(2));
        assert_eq!(seen.below(), 1);
        assert!(seen.add(1));
        assert_eq!(seen.below(), 3);
    }
}
