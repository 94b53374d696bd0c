//! Errors and warnings that name file, line and key, show the place, and say what would be right.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::cell::Cell;
use std::fmt;
use std::ops::Range;

/// A place in a lab file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The byte where the place begins.
    pub start: usize,
    /// The byte behind the end of the place.
    pub end: usize,
    /// The line where the place begins, from 1; 0 of what is nowhere in the file.
    pub line: usize,
}

/// A value and where the lab file has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
    /// The key it stands under, for example `links.access.rate`.
    pub(crate) key: String,
}

impl<T> Spanned<T> {
    /// An error about this value.
    pub(crate) fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.span, &self.key, message)
    }
}

impl Spanned<String> {
    /// An error about these bytes of this text. Where the file has it in another form, it is about all of it.
    pub(crate) fn error_at(&self, part: Range<usize>, message: impl Into<String>) -> Diagnostic {
        let quotes = match (self.span.end - self.span.start).checked_sub(self.value.len()) {
            Some(quotes @ (0 | 2)) => quotes / 2,
            _ => return self.error(message),
        };
        let is_within = part.start < part.end && part.end <= self.value.len();
        let span = Span {
            start: self.span.start + quotes + part.start,
            end: self.span.start + quotes + part.end,
            ..self.span
        };
        Diagnostic::new(if is_within { span } else { self.span }, &self.key, message)
    }
}

/// How many are shown; the rest are counted. Nobody reads more, and the first often cause the others.
const MOST_SHOWN: usize = 100;
/// Characters of a message. What it quotes may have any length.
const LONGEST_MESSAGE: usize = 2_000;
/// Characters of a key.
pub(crate) const LONGEST_KEY: usize = 300;
/// Bytes of a file that may be looked through for every error.
const SHORT_FILE: usize = 64 << 10;
/// Bytes of a line that is shown.
const LONGEST_LINE: usize = 2_000;

/// A text of at most so many characters: of a longer one, beginning and end are left.
pub(crate) fn shortened(text: String, longest: usize) -> String {
    if text.len() <= longest || text.chars().nth(longest).is_none() {
        return text;
    }
    let count = text.chars().count();
    let head: String = text.chars().take(longest * 2 / 3).collect();
    let tail: String = text.chars().skip(count - longest / 3 + 1).collect();
    format!("{head}…{tail}")
}

/// One error or warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    span: Span,
    key: String,
    message: String,
    /// Other places that have to do with it.
    related: Vec<(Span, String)>,
}

impl Diagnostic {
    /// Creates a diagnostic about the place `span` and the key `key`, which is empty if there is none.
    pub fn new(span: Span, key: &str, message: impl Into<String>) -> Self {
        let (key, message) = (shortened(key.to_owned(), LONGEST_KEY), shortened(message.into(), LONGEST_MESSAGE));
        Self { span, key, message, related: Vec::new() }
    }

    /// Shows another place, too.
    pub(crate) fn and(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    /// Returns the place that the diagnostic is about.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Returns the line in the lab file, from 1; 0 if the diagnostic is about the file as a whole.
    pub fn line(&self) -> usize {
        self.span.line
    }

    /// Returns the key that the diagnostic is about, for example `links.access.rate`; empty if there is none.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the message, which says what is wrong and what would be right.
    pub fn message(&self) -> &str {
        &self.message
    }

    fn title(&self) -> String {
        if self.key.is_empty() { self.message.clone() } else { format!("{}: {}", self.key, self.message) }
    }
}

/// The errors or the warnings about a lab file, in the order of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    file: String,
    source: String,
    severity: Severity,
    entries: Vec<Diagnostic>,
    /// How many more there are.
    left_out: usize,
    /// The point of a sweep at which they are; empty: none.
    point: String,
}

/// How grave all diagnostics of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Error,
    Warning,
}

impl Diagnostics {
    /// Creates a list of errors in the text `source` of `file`.
    pub fn of_errors(file: &str, source: &str, entries: Vec<Diagnostic>) -> Self {
        Self::new(file, source, Severity::Error, entries)
    }

    /// Creates a list of warnings about the text `source` of `file`.
    pub fn of_warnings(file: &str, source: &str, entries: Vec<Diagnostic>) -> Self {
        Self::new(file, source, Severity::Warning, entries)
    }

    pub(crate) fn new(file: &str, source: &str, severity: Severity, mut entries: Vec<Diagnostic>) -> Self {
        entries.sort_by_key(|entry| entry.span);
        entries.dedup();
        let left_out = entries.len().saturating_sub(MOST_SHOWN);
        entries.truncate(MOST_SHOWN);
        Self { file: file.to_owned(), source: source.to_owned(), severity, entries, left_out, point: String::new() }
    }

    /// The same, of a lab file at this point of a sweep.
    pub(crate) fn at_point(self, point: String) -> Self {
        Self { point, ..self }
    }

    /// Whether the list has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Counts the entries, including those that are not shown.
    pub fn len(&self) -> usize {
        self.entries.len() + self.left_out
    }

    /// Returns the first hundred entries, in the order of their lines.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.entries.iter()
    }

    /// Formats each entry on one line: file, line, key and message.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let shown = self.entries.iter().map(|entry| match entry.span.line {
            0 => format!("{}: {}", self.file, entry.title()),
            line => format!("{}:{line}: {}", self.file, entry.title()),
        });
        shown.chain(self.rest().into_iter().chain(self.where_in_sweep()).map(|rest| format!("{}: {rest}", self.file)))
    }

    fn where_in_sweep(&self) -> Option<String> {
        let is_said = self.point.is_empty() || self.entries.is_empty();
        (!is_said).then(|| format!("at the point {}", self.point))
    }

    fn rest(&self) -> Option<String> {
        let what = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let plural = if self.left_out == 1 { "" } else { "s" };
        (self.left_out > 0).then(|| format!("and {} more {what}{plural}", self.left_out))
    }

    /// Formats all entries, with their places in the file shown, in colours for a terminal.
    pub fn render_styled(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let shown = self.entries.iter().map(|entry| self.render_one(renderer, entry));
        shown.chain(self.rest()).chain(self.where_in_sweep()).collect::<Vec<_>>().join("\n\n")
    }

    /// The lines from the first to the last place of an entry: where they begin, and their text; of a short file all of
    /// it. None if that is more than anybody could look at.
    fn excerpt(&self, entry: &Diagnostic) -> Option<(usize, &str)> {
        if self.source.len() <= SHORT_FILE {
            return Some((0, &self.source));
        }
        let spans = || entry.related.iter().map(|(span, _)| span).chain([&entry.span]);
        let first = spans().map(|span| span.start).min().unwrap_or(0);
        let last = spans().map(|span| span.end).max().unwrap_or(0);
        let begin = self.source[..first].rfind('\n').map_or(0, |at| at + 1);
        let end = self.source[last..].find('\n').map_or(self.source.len(), |at| last + at);
        let is_short = |span: &Span| span.start - begin <= LONGEST_LINE && end - span.start <= LONGEST_LINE;
        let text = &self.source[begin..end];
        (spans().all(is_short) || text.lines().all(|line| line.len() <= LONGEST_LINE)).then_some((begin, text))
    }

    fn render_one(&self, renderer: &Renderer, entry: &Diagnostic) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(entry.title());
        if entry.span.line == 0 {
            return renderer.render(&[title.element(annotate_snippets::Origin::path(self.file.as_str()))]);
        }
        let Some((begin, excerpt)) = self.excerpt(entry) else {
            let place = format!("{}:{}", self.file, entry.span.line);
            return renderer.render(&[title.element(annotate_snippets::Origin::path(place))]);
        };
        let first_line = 1 + self.source[..begin].matches('\n').count();
        let within = |span: &Span| span.start - begin..span.end - begin;
        let mut snippet = Snippet::source(excerpt)
            .line_start(first_line)
            .path(self.file.as_str())
            .annotation(AnnotationKind::Primary.span(within(&entry.span)));
        for (span, label) in &entry.related {
            snippet = snippet.annotation(AnnotationKind::Context.span(within(span)).label(label.as_str()));
        }
        renderer.render(&[title.element(snippet)])
    }
}

impl fmt::Display for Diagnostics {
    /// All with their places in the file shown, as plain text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Renderer::plain()))
    }
}

impl std::error::Error for Diagnostics {}

/// Words with more letters get no suggestions.
const LONGEST_WORD: usize = 64;
/// How many words are compared for the suggestions of one lab file, in about a second: thousands of wrong names among
/// thousands of right ones are not worth more.
const MOST_COMPARED: usize = 500_000;

thread_local! {
    /// How many words this thread may still compare.
    static LEFT_TO_COMPARE: Cell<usize> = const { Cell::new(MOST_COMPARED) };
}

/// A new lab file is read: its errors may make suggestions.
pub(crate) fn allow_suggestions() {
    LEFT_TO_COMPARE.set(MOST_COMPARED);
}

/// The known word that is closest to `word`, if one is close enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > 4 * LONGEST_WORD {
        return None;
    }
    // A third of the letters may differ: `dely` is meant to be `delay`, `rate` is not meant to be `name`.
    // And something of it must be left, so that nothing is near a single letter.
    let letters = word.chars().count();
    let most = letters.div_ceil(3).min(3).min(letters.saturating_sub(1));
    let lower = word.to_lowercase();
    let distance = |other: &str| strsim::osa_distance(&lower, &other.to_lowercase());
    let is_comparable = |other: &&str| other.len() <= 4 * LONGEST_WORD;
    let (mut compared, allowed) = (0, LEFT_TO_COMPARE.get());
    let near = known
        .take(allowed)
        .inspect(|_| compared += 1)
        .filter(is_comparable)
        .map(|other| (distance(other), other))
        .filter(|(far, _)| *far <= most)
        .min_by_key(|(far, _)| *far)
        .map(|(_, near)| near);
    LEFT_TO_COMPARE.set(allowed - compared);
    near
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
