//! The words of a string, one after the other.

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

    /// Skips the words before the first that is `name`, if there is one: what stands before it on a command line.
    pub(super) fn skip_to(&mut self, name: &str) {
        if let Some(at) = self.words.iter().position(|word| *word == name) {
            self.next = at + 1;
        }
    }
}
