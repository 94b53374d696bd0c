//! Errors and warnings that name file, line and key, show the place, and say what would be right.

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::fmt;

/// A place in a lab file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Span {
    /// The byte where it begins.
    pub(crate) start: usize,
    /// The byte behind its end.
    pub(crate) end: usize,
    /// The line where it begins, from 1.
    pub(crate) line: usize,
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
    pub(crate) fn new(span: Span, key: &str, message: impl Into<String>) -> Self {
        Self { span, key: key.to_owned(), message: message.into(), related: Vec::new() }
    }

    /// Shows another place, too.
    pub(crate) fn and(mut self, span: Span, label: impl Into<String>) -> Self {
        self.related.push((span, label.into()));
        self
    }

    /// The line in the lab file, from 1; 0 if it is about the file as a whole.
    pub fn line(&self) -> usize {
        self.span.line
    }

    /// The key it is about, for example `links.access.rate`; empty if there is none.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What is wrong and what would be right.
    pub fn message(&self) -> &str {
        &self.message
    }

    fn title(&self) -> String {
        if self.key.is_empty() { self.message.clone() } else { format!("{}: {}", self.key, self.message) }
    }
}

/// What is wrong with a lab file, in the order of its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    file: String,
    source: String,
    severity: Severity,
    entries: Vec<Diagnostic>,
}

/// How grave all diagnostics of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    Error,
    Warning,
}

impl Diagnostics {
    pub(crate) fn new(file: &str, source: &str, severity: Severity, mut entries: Vec<Diagnostic>) -> Self {
        entries.sort_by_key(|entry| entry.span);
        entries.dedup();
        Self { file: file.to_owned(), source: source.to_owned(), severity, entries }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// All of them, in the order of their lines.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.entries.iter()
    }

    /// Each on one line: file, line, key and message.
    pub fn lines(&self) -> impl Iterator<Item = String> + '_ {
        self.entries.iter().map(|entry| match entry.span.line {
            0 => format!("{}: {}", self.file, entry.title()),
            line => format!("{}:{line}: {}", self.file, entry.title()),
        })
    }

    /// All with their places in the file shown, in colours for a terminal.
    pub fn render_styled(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let blocks: Vec<String> = self.entries.iter().map(|entry| self.render_one(renderer, entry)).collect();
        blocks.join("\n\n")
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
        let mut snippet = Snippet::source(self.source.as_str())
            .path(self.file.as_str())
            .annotation(AnnotationKind::Primary.span(entry.span.start..entry.span.end));
        for (span, label) in &entry.related {
            snippet = snippet.annotation(AnnotationKind::Context.span(span.start..span.end).label(label.as_str()));
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

/// The known word that is closest to `word`, if one is close enough to be meant.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may differ: `dely` is meant to be `delay`, `rate` is not meant to be `name`.
    // And something of it must be left, so that nothing is near a single letter.
    let letters = word.chars().count();
    let most = letters.div_ceil(3).min(3).min(letters.saturating_sub(1));
    let lower = word.to_lowercase();
    let distance = |other: &str| strsim::osa_distance(&lower, &other.to_lowercase());
    known
        .map(|other| (distance(other), other))
        .filter(|(far, _)| *far <= most)
        .min_by_key(|(far, _)| *far)
        .map(|(_, near)| near)
}

/// `a`, `a or b`, `a, b or c`.
pub(crate) fn one_of(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
