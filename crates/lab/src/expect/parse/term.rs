//! What is looked at: subjects, figures, and functions of them.

use super::scan::Scan;
use super::subject::{self, Found};
use super::{Around, ExpectError, Names, Wrong, window};
use crate::expect::{Condition, Function, Over, Term, subset};
use std::ops::Range;

/// Functions in functions, at most.
const DEEPEST: usize = 4;

/// A term that is read, but not yet whole.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) term: Term,
    /// Where it is.
    pub(super) at: Range<usize>,
    /// How it is called in messages.
    pub(super) name: String,
    pub(super) has_conditions: bool,
    conditions: Vec<Condition>,
    /// The text of what is in the outermost brackets, without conditions.
    inner: Option<String>,
    /// The figure that is all that is in them.
    figure: Option<String>,
}

/// Reads a term.
pub(super) fn read(scan: &mut Scan<'_>, names: &Names<'_>) -> Result<Read, ExpectError> {
    read_within(scan, names, 0)
}

/// Whether a term begins here, rather than a value.
pub(super) fn is_ahead(scan: &Scan<'_>, names: &Names<'_>) -> bool {
    let mut ahead = scan.clone();
    let (word, _) = ahead.until(ends_name);
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && (ahead.is_at('(') || subject::is_known(word, names))
}

fn ends_name(c: char) -> bool {
    c.is_whitespace() || "=!<>()|,".contains(c)
}

fn read_within(scan: &mut Scan<'_>, names: &Names<'_>, depth: usize) -> Result<Read, ExpectError> {
    let begin = scan.at();
    let mut ahead = scan.clone();
    let (word, word_at) = ahead.until(ends_name);
    if !ahead.is_at('(') {
        return plain(scan, names, depth);
    }
    let function = Function::named(word).ok_or_else(|| {
        let hint = Function::near(word).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        ExpectError::new(word_at.clone(), format!("there is no function `{word}`: {hint}known are {}", Function::KNOWN))
    })?;
    if depth == DEEPEST {
        return Err(ExpectError::new(word_at, "these are too many functions in one another"));
    }
    *scan = ahead;
    scan.take('(');
    let mut read = read_within(scan, names, depth + 1)?;
    let inner_end = window_inside(scan, &mut read)?;
    if read.has_conditions {
        return Err(ExpectError::new(read.at, "conditions stand in the outermost brackets only"));
    }
    let inner = begin_of_inner(scan, begin, inner_end);
    if scan.take('|') {
        read.has_conditions = true;
        read.conditions = conditions(scan, names)?;
    }
    if !scan.take(')') {
        let (left, at) = (scan.rest(), scan.here());
        let what =
            if left.is_empty() { "the bracket is not closed".into() } else { format!("`{left}` does not belong here") };
        return Err(ExpectError::new(at, format!("{what}: write `{word}({})`", read.name)));
    }
    read.term.reduce(function);
    read.figure = read.figure.filter(|figure| *figure == inner);
    read.inner = Some(inner);
    read.at = begin..scan.slice(&(0..scan.at())).trim_end().len();
    read.term.text = scan.slice(&read.at).to_owned();
    read.name = read.term.text.clone();
    Ok(read)
}

/// What is in the brackets that were opened behind `begin`.
fn begin_of_inner(scan: &Scan<'_>, begin: usize, end: usize) -> String {
    let text = scan.slice(&(begin..end));
    text.split_once('(').map_or("", |(_, inner)| inner).trim().to_owned()
}

/// A window that belongs to what is in the brackets; where that ends.
fn window_inside(scan: &mut Scan<'_>, read: &mut Read) -> Result<usize, ExpectError> {
    let mut ahead = scan.clone();
    let (word, at) = ahead.until(ends_name);
    if word != "during" {
        return Ok(scan.at());
    }
    *scan = ahead;
    let (text, text_at) = scan.until(|c| "|)".contains(c));
    let range = at.start..text_at.end;
    set_window(read, (window(text.trim(), &range)?, range))?;
    Ok(scan.at())
}

fn set_window(read: &mut Read, (window, at): (crate::expect::Window, Range<usize>)) -> Result<(), ExpectError> {
    if read.term.window.is_some() {
        return Err(ExpectError::new(at, format!("`{}` is of a part of the run already", read.name)));
    }
    if !read.term.subject.can_be_windowed() {
        let message =
            format!("`{}` is known for the whole run only: `during` is for links and TCP connections", read.name);
        return Err(ExpectError::new(at, message));
    }
    read.term.window = Some(window);
    Ok(())
}

/// `name=value, name=value`
fn conditions(scan: &mut Scan<'_>, names: &Names<'_>) -> Result<Vec<Condition>, ExpectError> {
    let mut found: Vec<Condition> = Vec::new();
    let begin = scan.at();
    loop {
        let (name, name_at) = scan.until(|c| c.is_whitespace() || "=,)|".contains(c));
        if !scan.take('=') {
            return Err(ExpectError::new(name_at, "a condition is `PARAMETER=VALUE`, for example cc=bbr"));
        }
        let (value, value_at) = value(scan);
        let wrong = |message| ExpectError::new(name_at.start..value_at.end, message);
        let condition = names.points.condition(name, value).map_err(wrong)?;
        if found.iter().any(|before| before.parameter == condition.parameter) {
            return Err(wrong(format!("`{name}` has one value: this is another condition of it")));
        }
        found.push(condition);
        if !scan.take(',') {
            break;
        }
    }
    if !names.points.have(&found) {
        return Err(ExpectError::new(begin..scan.at(), "no point of this sweep has these values together"));
    }
    Ok(found)
}

/// The value of a condition: in quotation marks, or up to what ends it outside brackets.
fn value<'a>(scan: &mut Scan<'a>) -> (&'a str, Range<usize>) {
    if scan.take('"') {
        let (text, at) = scan.until(|c| c == '"');
        scan.take('"');
        return (text, at);
    }
    let mut depth = 0_i32;
    let mut ahead = scan.clone();
    let (left, at) = ahead.until(|_| false);
    let end = left.char_indices().find(|(_, c)| {
        depth += match c {
            '{' | '[' | '(' => 1,
            '}' | ']' => -1,
            ')' if depth > 0 => -1,
            _ => 0,
        };
        depth <= 0 && [',', ')', '|'].contains(c)
    });
    let text = &left[..end.map_or(left.len(), |(end, _)| end)];
    scan.skip(text.len());
    (text.trim(), at.start..at.start + text.trim_end().len())
}

/// A subject or a figure.
fn plain(scan: &mut Scan<'_>, names: &Names<'_>, depth: usize) -> Result<Read, ExpectError> {
    // Within brackets these end a name, too; a path in a JSON document may have them.
    let ends = |c: char| c.is_whitespace() || "=!<>".contains(c) || depth > 0 && "()|,".contains(c);
    let (word, at) = scan.until(ends);
    let found = subject::read(word, names).map_err(|error| {
        let kind = error.kind;
        let moved = at.start + error.at.start..at.start + error.at.end;
        let error = ExpectError { at: moved, ..error };
        // What follows may say that it is of other points.
        let elsewhere = kind == Wrong::Subject && depth > 0 && is_elsewhere(scan, names);
        if elsewhere { ExpectError { kind: Wrong::Elsewhere, ..error } } else { error }
    })?;
    let Found { mut term, functions, figure } = found;
    functions.into_iter().for_each(|function| term.reduce(function));
    let name = word.to_owned();
    let mut limited = None;
    // A second one is refused as such.
    while let Some(end) = subset(scan, names, &mut term)? {
        limited = Some(at.start..end);
    }
    let Some(limited) = limited else {
        return Ok(Read { term, at, name, has_conditions: false, conditions: Vec::new(), inner: None, figure });
    };
    term.text = scan.slice(&limited).to_owned();
    // It is not all of the figure any more.
    Ok(Read { term, at: limited, name, has_conditions: false, conditions: Vec::new(), inner: None, figure: None })
}

/// `match (WORDS)`: which packets are meant, and where that ends.
fn subset(scan: &mut Scan<'_>, names: &Names<'_>, term: &mut Term) -> Result<Option<usize>, ExpectError> {
    let mut ahead = scan.clone();
    let (word, word_at) = ahead.until(ends_name);
    if word != "match" {
        return Ok(None);
    }
    if !ahead.take('(') {
        return Err(ExpectError::new(word_at, format!("which packets? {}", subset::EXAMPLE)));
    }
    let (text, text_at) = ahead.until(|c| c == ')');
    let at = word_at.start..text_at.end;
    let end = ahead.at() + ')'.len_utf8();
    if !ahead.take(')') {
        return Err(ExpectError::new(at, "the bracket is not closed"));
    }
    let wrong = |why: String| ExpectError::new(at.clone(), format!("match: {why}"));
    let found = subset::read(text, names.addresses).map_err(wrong)?;
    term.limit_to(found).map_err(wrong)?;
    *scan = ahead;
    Ok(Some(end))
}

/// Whether conditions follow that do not hold at the point that is read.
fn is_elsewhere(scan: &Scan<'_>, names: &Names<'_>) -> bool {
    let mut ahead = scan.clone();
    ahead.until(|c| c == '|');
    ahead.take('|') && conditions(&mut ahead, names).is_ok_and(|found| !names.points.is_here(&found))
}

impl Read {
    /// Completes it with what stands behind the expectation.
    pub(super) fn finish(&mut self, around: &Around<'_>) -> Result<(), ExpectError> {
        let wrong = |at: &Range<usize>, message| ExpectError::new(at.clone(), message);
        if let Some(own) = &around.suffixes.window {
            set_window(self, own.clone())?;
            self.inner = self.inner.take().map(|inner| format!("{inner} during {}..{}", own.0.from, own.0.to));
            self.figure = None;
        }
        if around.over_runs {
            let (inner, figure) = (self.inner.take().unwrap_or_default(), self.figure.take());
            let conditions = std::mem::take(&mut self.conditions);
            let is_here = around.names.points.is_here(&conditions);
            let over = |function| Over { function, conditions, is_here, inner, figure };
            self.term.over_runs(over).map_err(|message| wrong(&self.at, message))?;
        }
        let name = match &self.term.over {
            Some(over) => over.inner.clone(),
            None => subject::bare(&self.term, &self.name),
        };
        self.term
            .check(&name)
            .and_then(|()| self.term.check_subset(&name))
            .map_err(|message| wrong(&self.at, message))?;
        subject::check_measured(&self.term.subject, around.names).map_err(|message| wrong(&self.at, message))
    }

    /// Whether it counts packets one by one, rather than on average.
    pub(super) fn is_whole(&self) -> bool {
        self.term.functions.is_empty() && self.term.over.is_none()
    }
}
