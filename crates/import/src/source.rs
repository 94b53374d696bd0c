//! The texts that are read, and places in them.

use netloom_lab::{Diagnostic, Diagnostics, Span};

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// Its name, as messages have it.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A place in one of the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The number of the file: 0 is the one that was asked for.
    pub(crate) file: usize,
    pub(crate) span: Span,
}

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) place: Place,
    pub(crate) message: String,
}

/// What a reader finds, or why it cannot go on.
pub(crate) type Read<T> = Result<T, Wrong>;

impl Place {
    /// An error at this place.
    pub(crate) fn wrong(self, message: impl Into<String>) -> Wrong {
        Wrong { place: self, message: message.into() }
    }
}

impl From<Diagnostic> for Wrong {
    fn from(found: Diagnostic) -> Self {
        let key = if found.key().is_empty() { String::new() } else { format!("{}: ", found.key()) };
        Self { place: Place { file: 0, span: found.span() }, message: format!("{key}{}", found.message()) }
    }
}

impl Wrong {
    /// The error as users see it.
    pub(crate) fn shown(self, sources: &[Source]) -> Diagnostics {
        let (name, text) =
            sources.get(self.place.file).map_or(("", ""), |source| (source.name.as_str(), source.text.as_str()));
        Diagnostics::of_errors(name, text, vec![Diagnostic::new(self.place.span, "", self.message)])
    }
}

/// Where the lines of a text begin, for places by bytes.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    file: usize,
    starts: Vec<usize>,
    length: usize,
}

impl Lines {
    /// Those of `text`, which is file number `file`.
    pub(crate) fn of(text: &str, file: usize) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { file, starts: [0].into_iter().chain(breaks).collect(), length: text.len() }
    }

    /// The place of these bytes: what spans more than a line is cut at the end of its first one.
    pub(crate) fn place(&self, start: usize, end: usize) -> Place {
        let start = start.min(self.length);
        let line = self.starts.partition_point(|begin| *begin <= start);
        let line_end = self.starts.get(line).map_or(self.length, |next| next - 1);
        let end = end.clamp(start, line_end.max(start));
        Place { file: self.file, span: Span { start, end, line } }
    }
}

impl Lines {
    /// The number of the file, and how many lines it has.
    pub(crate) fn extent(&self) -> (usize, usize) {
        (self.file, self.starts.len())
    }

    /// The place of a whole line, from 1.
    pub(crate) fn line(&self, line: usize) -> Place {
        let line = line.clamp(1, self.starts.len());
        let begin = self.starts[line - 1];
        let end = self.starts.get(line).map_or(self.length, |next| next - 1);
        self.place(begin, end)
    }

    /// The place of so many characters from the beginning of a line, both from 1.
    pub(crate) fn at(&self, line: usize, column: usize, text: &str) -> Place {
        let begin = self.starts.get(line.max(1) - 1).copied().unwrap_or(self.length);
        let rest = &text[begin..];
        let (offset, letter) = rest.char_indices().nth(column.max(1) - 1).unwrap_or((rest.len(), ' '));
        self.place(begin + offset, (begin + offset + letter.len_utf8()).min(self.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_on_one_line() {
        let lines = Lines::of("ab\ncd\n\nef", 2);
        let span = |start, end| lines.place(start, end).span;
        assert_eq!(span(0, 1), Span { start: 0, end: 1, line: 1 });
        assert_eq!(span(3, 9), Span { start: 3, end: 5, line: 2 });
        assert_eq!(span(6, 6), Span { start: 6, end: 6, line: 3 });
        assert_eq!(span(99, 100), Span { start: 9, end: 9, line: 4 });
        assert_eq!(lines.place(0, 1).file, 2);
    }
}
