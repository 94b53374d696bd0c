//! The words of a string, one after the other.

/// Whether `own` is `word` or its beginning.
fn begins(word: &str, own: &str) -> bool {
    !own.is_empty() && word.starts_with(own)
}

/// The first of these words that `own` is or begins, as iproute2's `matches` goes through them.
pub(super) fn whole(words: &[&'static str], own: &str) -> Option<&'static str> {
    words.iter().find(|word| begins(word, own)).copied()
}

/// See the module.
pub(super) struct Words<'a> {
    words: Vec<&'a str>,
    next: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { words: text.split_whitespace().collect(), next: 0 }
    }

    /// The next word.
    pub(super) fn take(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.next).copied();
        self.next += usize::from(word.is_some());
        word
    }

    /// The word that has to follow here.
    pub(super) fn need(&mut self, what: &str) -> Result<&'a str, String> {
        let after = self.words.get(self.next.wrapping_sub(1)).copied().unwrap_or_default();
        self.take().ok_or_else(|| format!("\"{after}\" is the last word: {what} must follow"))
    }

    /// The next word as `read` understands it; if it does not, the word is not taken.
    pub(super) fn maybe<T>(&mut self, read: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let value = read(self.words.get(self.next)?).ok()?;
        self.next += 1;
        Some(value)
    }

    /// Takes the next word if it is this one.
    pub(super) fn is(&mut self, word: &str) -> bool {
        let found = self.words.get(self.next) == Some(&word);
        self.next += usize::from(found);
        found
    }

    /// Takes the next word if it is this one or, as tc takes it, its beginning.
    pub(super) fn begins(&mut self, word: &str) -> bool {
        let found = self.words.get(self.next).is_some_and(|own| begins(word, own));
        self.next += usize::from(found);
        found
    }

    /// Takes the first later word that is this one or its beginning away, with the one behind it, which it returns: some words of tc
    /// may stand anywhere.
    pub(super) fn take_later(&mut self, word: &str) -> Option<&'a str> {
        let at = (self.next..self.words.len()).find(|at| begins(word, self.words[*at]))?;
        let value = self.words.get(at + 1).copied()?;
        self.words.drain(at..at + 2);
        Some(value)
    }

    /// Skips the words before the first that is `name`, if there is one: what stands before it on a command line.
    pub(super) fn skip_to(&mut self, name: &str) {
        if let Some(at) = self.words.iter().position(|word| *word == name) {
            self.next = at + 1;
        }
    }
}
