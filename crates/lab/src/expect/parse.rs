//! The grammar of expectations and figures.

mod operand;
mod scan;
mod subject;
mod term;

use super::runs::Points;
use super::{Dimension, Figure, FigureUnit, RunsTest, Term, Test, Window};
use crate::errors::Nodes;
use netloom_units::Duration;
use scan::Scan;
use std::ops::Range;

/// What an expectation can refer to.
pub(crate) struct Names<'a> {
    /// Commands, their places in the timeline, and the nodes that they run on.
    pub(crate) commands: &'a [(String, usize, usize)],
    /// Links, in the order of the plan.
    pub(crate) links: &'a [String],
    /// The further pipes of each link's directions.
    pub(crate) pipes: &'a [[Vec<String>; 2]],
    /// Nodes, in the order of the plan, and what is sampled inside them.
    pub(crate) nodes: &'a [(String, Sampled)],
    /// The stations of each link that is a radio medium; none for the others.
    pub(crate) air: &'a [Option<OnAir>],
    /// Figures that were read before.
    pub(crate) figures: &'a [Figure],
    /// What varies in the file.
    pub(crate) points: &'a Points,
    /// The addresses of nodes, if they are known.
    pub(crate) addresses: Option<&'a Nodes>,
}

/// The stations of a radio medium.
#[derive(Clone, Debug)]
pub(crate) struct OnAir {
    /// Their names, in the order of ends.
    pub(crate) stations: Vec<String>,
    /// Whether they have positions, so that not all hear one another.
    pub(crate) has_signals: bool,
}

/// The samples that are taken inside a node.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sampled {
    /// Whether its TCP connections are sampled.
    pub(crate) tcp: bool,
    /// Whether its processor and memory are sampled.
    pub(crate) node: bool,
}

/// Why a text is not an expectation.
#[derive(Debug)]
pub(crate) struct ExpectError {
    /// What of the text is wrong, in bytes.
    pub(crate) at: Range<usize>,
    pub(crate) kind: Wrong,
    pub(crate) message: String,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It names something that the lab does not have.
    Subject,
    /// It names something that the lab does not have at this point of a sweep, of which it says nothing.
    Elsewhere,
    /// Anything else.
    Other,
}

impl ExpectError {
    fn new(at: Range<usize>, message: impl Into<String>) -> Self {
        Self { at, kind: Wrong::Other, message: message.into() }
    }
}

/// An expectation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Parsed {
    /// Of a run.
    Run(Box<Term>, Test),
    /// Of all runs together.
    Runs(RunsTest),
}

/// Reads an expectation.
pub(crate) fn parse(text: &str, names: &Names<'_>) -> Result<Parsed, ExpectError> {
    let mut scan = Scan::new(text);
    if scan.is_phrase(&["all", "runs"]) {
        return match scan.rest().split_whitespace().eq(["all", "runs", "as", "described"]) {
            true => Ok(Parsed::Runs(RunsTest::AllAsDescribed)),
            false => Err(ExpectError::new(scan.here(), "write `all runs as described`")),
        };
    }
    let suffixes = Suffixes::of(text)?;
    scan.end_at(suffixes.begin);
    let over_runs = suffixes.over_runs || scan.has_condition();
    let around = Around { names, suffixes: &suffixes, over_runs };
    let mut left = term::read(&mut scan, names)?;
    left.finish(&around)?;
    let test = operand::read(&mut scan, &left, &around)?;
    if !over_runs {
        return Ok(Parsed::Run(Box::new(left.term), test));
    }
    if matches!(test, Test::Contains(_)) {
        let message = format!("`{}` is looked at as a text, of which nothing can be reckoned over runs", left.name);
        return Err(ExpectError::new(left.at, message));
    }
    Ok(Parsed::Runs(RunsTest::Holds(Box::new(left.term), test)))
}

/// What is around a term.
struct Around<'a> {
    names: &'a Names<'a>,
    suffixes: &'a Suffixes,
    /// Whether it is of many runs.
    over_runs: bool,
}

/// Reads a figure: what it is, and in which unit.
pub(crate) fn parse_figure(text: &str, names: &Names<'_>) -> Result<(Term, FigureUnit), ExpectError> {
    let mut scan = Scan::new(text);
    let suffixes = Suffixes::of(text)?;
    if suffixes.over_runs {
        return Err(ExpectError::new(
            suffixes.begin..text.len(),
            "a figure is of one run, and each run has it: leave out `over runs`",
        ));
    }
    scan.end_at(suffixes.begin);
    let mut read = term::read(&mut scan, names)?;
    if read.has_conditions {
        return Err(ExpectError::new(read.at, "a figure is of one run, which has no conditions"));
    }
    if read.term.dimension == Dimension::Text {
        return Err(ExpectError::new(read.at, format!("`{}` is a text, and a figure is a number", read.name)));
    }
    let unit = figure_unit(&mut scan, &read)?;
    read.finish(&Around { names, suffixes: &suffixes, over_runs: false })?;
    Ok((read.term, unit))
}

/// Whether it is of many runs, as far as the text tells: such an expectation is not for a single one.
pub(crate) fn is_over_runs(text: &str) -> bool {
    let scan = Scan::new(text);
    let words = scan.words();
    let is_end = |place: usize| words.get(place + 2).is_none_or(|(_, word)| *word == "during");
    scan.is_phrase(&["all", "runs"])
        || words.windows(2).enumerate().any(|(place, two)| two[0].1 == "over" && two[1].1 == "runs" && is_end(place))
        || scan.has_condition()
}

/// What stands behind an expectation.
struct Suffixes {
    /// Where they begin.
    begin: usize,
    window: Option<(Window, Range<usize>)>,
    over_runs: bool,
}

impl Suffixes {
    /// `during A..B` and `over runs`, each of which may be missing.
    fn of(text: &str) -> Result<Self, ExpectError> {
        let scan = Scan::new(text);
        let words = scan.words();
        let mut found = Self { begin: text.len(), window: None, over_runs: false };
        // What an expectation is about comes first.
        let Some(first) = words.iter().skip(1).position(|(_, word)| ["during", "over"].contains(word)) else {
            return Ok(found);
        };
        let mut rest = words[first + 1..].iter().peekable();
        found.begin = words[first + 1].0;
        while let Some((at, word)) = rest.next() {
            if *word == "over" {
                let end = match rest.next() {
                    Some((end, "runs")) => end + "runs".len(),
                    _ => return Err(ExpectError::new(*at..text.len(), "`over` what? Write `over runs`")),
                };
                if std::mem::replace(&mut found.over_runs, true) {
                    return Err(ExpectError::new(*at..end, "`over runs` stands here twice"));
                }
                continue;
            }
            if *word != "during" {
                return Err(ExpectError::new(*at..text.len(), format!("`{word}` is no part of an expectation here")));
            }
            let begin = at + word.len();
            let mut end = text.len();
            while let Some((next, _)) = rest.next_if(|(_, part)| !["over", "during"].contains(part)) {
                end = *next;
            }
            end = rest.peek().map_or(text.len(), |(next, _)| *next).max(end);
            let range = *at..begin + text[begin..end].trim_end().len();
            if found.window.is_some() {
                return Err(ExpectError::new(range, "`during` stands here twice"));
            }
            found.window = Some((window(text[begin..end].trim(), &range)?, range));
        }
        Ok(found)
    }
}

fn window(text: &str, at: &Range<usize>) -> Result<Window, ExpectError> {
    let wrong = |message: String| ExpectError::new(at.clone(), message);
    let (from, to) =
        text.split_once("..").ok_or_else(|| wrong(format!("`during {text}`: write for example `during 2 s..5 s`")))?;
    let time = |part: &str| part.trim().parse::<Duration>().map_err(|error| wrong(format!("during: {error}")));
    let (from, to) = (time(from)?, time(to)?);
    if from >= to {
        return Err(wrong(format!("`during {from}..{to}` ends before it begins: write the earlier time first")));
    }
    Ok(Window { from, to })
}

/// Units that the values of programs may have, as those of reports.
const FIGURE_UNITS: [(&str, &str, f64); 14] = [
    ("bit/s", "bit/s", 1.0),
    ("kbit/s", "bit/s", 1e3),
    ("Mbit/s", "bit/s", 1e6),
    ("Gbit/s", "bit/s", 1e9),
    ("B/s", "bit/s", 8.0),
    ("ns", "ns", 1.0),
    ("us", "ns", 1e3),
    ("ms", "ns", 1e6),
    ("s", "ns", 1e9),
    ("B", "B", 1.0),
    ("kB", "B", 1e3),
    ("MB", "B", 1e6),
    ("packets", "packets", 1.0),
    ("%", "share", 0.01),
];

/// The unit that follows, as in `in bit/s`.
fn figure_unit(scan: &mut Scan<'_>, read: &term::Read) -> Result<FigureUnit, ExpectError> {
    let (text, at) = (scan.rest(), scan.here());
    if text.is_empty() {
        return Ok(FigureUnit::of(read.term.dimension));
    }
    let wrong = |message: String| Err(ExpectError::new(at.clone(), message));
    let own = &read.name;
    let Some(unit) = text.strip_prefix("in ").map(str::trim) else {
        return wrong(format!("`{text}` is no part of a figure: write `{own}`, or `{own} during 2 s..5 s` of a link"));
    };
    if read.term.dimension != Dimension::Json {
        return wrong(format!("`{own}` has its unit already: `in` is for what programs print (`json`)"));
    }
    let Some((_, name, factor)) = FIGURE_UNITS.iter().find(|(known, ..)| *known == unit) else {
        let all = FIGURE_UNITS.map(|(known, ..)| known);
        return wrong(format!("`{unit}` is no unit of a figure: write one of {}", all.join(", ")));
    };
    Ok(FigureUnit { name, factor: *factor })
}

#[cfg(test)]
mod tests;
