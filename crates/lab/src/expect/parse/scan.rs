//! Where one stands in the text of an expectation.

use std::ops::Range;

/// A text that is read from left to right.
#[derive(Clone, Debug)]
pub(super) struct Scan<'a> {
    text: &'a str,
    at: usize,
    end: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let mut scan = Self { text, at: 0, end: text.len() };
        scan.skip_blanks();
        scan
    }

    /// What is behind this place is for others.
    pub(super) fn end_at(&mut self, end: usize) {
        self.end = end.max(self.at);
    }

    /// Where it is.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// A part of the text.
    pub(super) fn slice(&self, range: &Range<usize>) -> &'a str {
        &self.text[range.clone()]
    }

    /// All that is left, without blanks around it.
    pub(super) fn rest(&self) -> &'a str {
        self.text[self.at..self.end].trim()
    }

    /// Where that is.
    pub(super) fn here(&self) -> Range<usize> {
        let left = &self.text[self.at..self.end];
        let begin = self.at + (left.len() - left.trim_start().len());
        begin..begin + left.trim().len()
    }

    fn skip_blanks(&mut self) {
        let left = &self.text[self.at..self.end];
        self.at += left.len() - left.trim_start().len();
    }

    /// Goes on by so many bytes, which were looked at, and the blanks behind them.
    pub(super) fn skip(&mut self, bytes: usize) -> Range<usize> {
        let taken = self.at..self.at + bytes;
        self.at += bytes;
        self.skip_blanks();
        taken
    }

    /// What there is up to the first character that ends it; and where.
    pub(super) fn until(&mut self, ends: impl Fn(char) -> bool) -> (&'a str, Range<usize>) {
        let left = &self.text[self.at..self.end];
        let length = left.find(ends).unwrap_or(left.len());
        let taken = self.skip(length);
        (self.slice(&taken), taken)
    }

    /// Whether the next character is this one.
    pub(super) fn is_at(&self, c: char) -> bool {
        self.text[self.at..self.end].starts_with(c)
    }

    /// Takes this character, if it is the next.
    pub(super) fn take(&mut self, c: char) -> bool {
        let is_there = self.is_at(c);
        if is_there {
            self.skip(c.len_utf8());
        }
        is_there
    }

    /// Whether the next words are these.
    pub(super) fn is_phrase(&self, words: &[&str]) -> bool {
        let mut own = self.rest().split_whitespace();
        words.iter().all(|word| own.next() == Some(word))
    }

    /// The words that are in no brackets and not quoted, and where each begins.
    pub(super) fn words(&self) -> Vec<(usize, &'a str)> {
        let mut words = Vec::new();
        let mut begin = None;
        self.visit(|at, c, is_bare| match (begin, is_bare && !c.is_whitespace()) {
            (None, true) => begin = Some(at),
            (Some(from), false) => {
                words.push((from, &self.text[from..at]));
                begin = None;
            }
            _ => {}
        });
        words.extend(begin.map(|from| (from, &self.text[from..self.end])));
        words
    }

    /// Whether brackets have a condition.
    pub(super) fn has_condition(&self) -> bool {
        let mut found = false;
        let mut is_quoted = Quotes::default();
        for c in self.text[self.at..self.end].chars() {
            found |= !is_quoted.passes(c) && c == '|';
        }
        found
    }

    /// Calls `see` with every character, where it is, and whether it is in no brackets and not quoted.
    fn visit(&self, mut see: impl FnMut(usize, char, bool)) {
        let mut quotes = Quotes::default();
        let mut depth = 0_u32;
        for (at, c) in self.text[self.at..self.end].char_indices() {
            let is_quoted = quotes.passes(c);
            match c {
                '(' if !is_quoted => depth += 1,
                ')' if !is_quoted => depth = depth.saturating_sub(1),
                _ => {}
            }
            see(self.at + at, c, !is_quoted && depth == 0 && c != ')');
        }
    }
}

/// Which characters are quoted.
#[derive(Default)]
struct Quotes {
    is_open: bool,
    is_escaped: bool,
}

impl Quotes {
    /// Whether this character, which comes next, is quoted or a quotation mark.
    fn passes(&mut self, c: char) -> bool {
        let was_open = self.is_open;
        let was_escaped = self.is_escaped;
        self.is_escaped = was_open && c == '\\' && !was_escaped;
        if c == '"' && !was_escaped {
            self.is_open = !self.is_open;
        }
        was_open || c == '"'
    }
}
