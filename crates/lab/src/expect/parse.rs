//! The grammar of expectations.

use super::{CommandMetric, Dimension, FigureUnit, JsonPath, PipeMetric, Subject, Test, Wanted, Window};
use crate::diagnostics::{nearest, one_of};
use crate::plan::Direction;
use netloom_units::{Duration, Probability};

/// The names that an expectation can refer to.
pub(crate) struct Names<'a> {
    /// Commands and their places in the timeline.
    pub(crate) commands: &'a [(String, usize)],
    /// Links, in the order of the plan.
    pub(crate) links: &'a [String],
    /// The further pipes of each link's directions.
    pub(crate) pipes: &'a [[Vec<String>; 2]],
}

/// Why a text is not an expectation.
pub(crate) enum ExpectError {
    /// It names something that the lab does not have.
    UnknownSubject(String),
    /// It is wrong in another way.
    Wrong(String),
}

impl From<String> for ExpectError {
    fn from(message: String) -> Self {
        Self::Wrong(message)
    }
}

/// Subject, test and window of the expectation `text`.
pub(crate) fn parse(text: &str, names: &Names<'_>) -> Result<(Subject, Test, Option<Window>), ExpectError> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_whitespace() || "=!<>".contains(c)).unwrap_or(text.len());
    let (subject_text, rest) = text.split_at(end);
    let subject = subject(subject_text, names)?;
    let (operator, operand) = operator(rest.trim_start(), subject_text)?;
    let (value, window_text) = split_window(operand);
    let test = test(operator, value.trim(), subject.dimension(), subject_text)?;
    let window = window_text.map(window).transpose()?;
    if window.is_some() {
        check_window(&subject, subject_text)?;
    }
    Ok((subject, test, window))
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

/// Subject, window and unit of the figure `text`.
pub(crate) fn parse_figure(
    text: &str,
    names: &Names<'_>,
) -> Result<(Subject, Option<Window>, FigureUnit), ExpectError> {
    let text = text.trim();
    let (subject_text, rest) = text.split_at(text.find(char::is_whitespace).unwrap_or(text.len()));
    let subject = subject(subject_text, names)?;
    if matches!(subject.dimension(), Dimension::Text) {
        return Err(format!("`{subject_text}` is a text, and a figure is a number").into());
    }
    let (before, window_text) = split_window(rest.trim_start());
    let unit = figure_unit(before.trim(), &subject, subject_text)?;
    let window = window_text.map(window).transpose()?;
    if window.is_some() {
        check_window(&subject, subject_text)?;
    }
    Ok((subject, window, unit))
}

/// The unit that `text` says, as in `in bit/s`.
fn figure_unit(text: &str, subject: &Subject, subject_text: &str) -> Result<FigureUnit, String> {
    if text.is_empty() {
        return Ok(subject.unit());
    }
    let Some(unit) = text.strip_prefix("in ").map(str::trim) else {
        return Err(format!(
            "`{text}` is no part of a figure: write `{subject_text}`, or `{subject_text} during 2 s..5 s` of a link"
        ));
    };
    if subject.dimension() != Dimension::Json {
        return Err(format!("`{subject_text}` has its unit already: `in` is for what programs print (`json`)"));
    }
    let known = FIGURE_UNITS.iter().find(|(name, ..)| *name == unit);
    let (_, name, factor) = known.ok_or_else(|| {
        let all = FIGURE_UNITS.map(|(name, ..)| name);
        format!("`{unit}` is no unit of a figure: write one of {}", all.join(", "))
    })?;
    Ok(FigureUnit { name, factor: *factor })
}

fn subject(text: &str, names: &Names<'_>) -> Result<Subject, ExpectError> {
    let (name, rest) = text.split_once('.').unwrap_or((text, ""));
    if let Some(link) = names.links.iter().position(|link| link == name) {
        return Ok(link_subject(name, link, &names.pipes[link], rest)?);
    }
    if let Some((_, event)) = names.commands.iter().find(|(command, _)| command == name) {
        return Ok(command_subject(name, *event, rest)?);
    }
    let known =
        names.commands.iter().map(|(command, _)| command.as_str()).chain(names.links.iter().map(String::as_str));
    let hint = nearest(name, known).map_or_else(
        || {
            "an expectation begins with the name of a command or a link, for example `backbone.forward.throughput`"
                .into()
        },
        |near| format!("did you mean `{near}`?"),
    );
    Err(ExpectError::UnknownSubject(format!("`{name}` is neither a command nor a link of this lab: {hint}")))
}

fn link_subject(name: &str, link: usize, pipes: &[Vec<String>; 2], rest: &str) -> Result<Subject, String> {
    let (direction, rest) = match rest.split_once('.').unwrap_or((rest, "")) {
        ("forward", rest) => (Some(Direction::Forward), rest),
        ("backward", rest) => (Some(Direction::Backward), rest),
        _ => (None, rest),
    };
    let own =
        [Direction::Forward, Direction::Backward].into_iter().filter(|this| direction.is_none_or(|only| only == *this));
    let mut further = own.flat_map(|this| &pipes[this.index()]);
    let (pipe, metric_name) = match rest.split_once('.') {
        Some((pipe, metric)) if further.any(|known| known == pipe) => (Some(pipe.to_owned()), metric),
        _ => (None, rest),
    };
    let known = || PipeMetric::ALL.iter().map(|(known, _)| *known);
    let metric = PipeMetric::named(metric_name)
        .ok_or_else(|| unknown_metric(&format!("link `{name}`"), metric_name, &known().collect::<Vec<_>>()))?;
    Ok(Subject::Link { link, direction, pipe, metric })
}

fn command_subject(name: &str, event: usize, rest: &str) -> Result<Subject, String> {
    let json = rest.strip_prefix("json").filter(|path| path.is_empty() || path.starts_with(['.', '[']));
    let metric = match json {
        Some(path) => CommandMetric::Json(JsonPath::parse(path).ok_or_else(|| {
            format!("`{rest}` is not a path in a JSON document: write for example json.end.sum_received.bytes or json.list[0]")
        })?),
        None => CommandMetric::named(rest)
            .ok_or_else(|| unknown_metric(&format!("command `{name}`"), rest, &CommandMetric::NAMES))?,
    };
    Ok(Subject::Command { event, metric })
}

fn unknown_metric(subject: &str, metric: &str, known: &[&str]) -> String {
    let problem = match metric {
        "" => "the metric is missing".to_owned(),
        _ => format!("there is no metric `{metric}`"),
    };
    let hint =
        nearest(metric, known.iter().copied()).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    format!("{subject}: {problem}; {hint}known here: {}", known.join(", "))
}

const OPERATORS: [&str; 9] = ["==", "!=", "<=", ">=", "<", ">", "within", "between", "contains"];

/// The operator and what follows it.
fn operator<'a>(text: &'a str, subject: &str) -> Result<(&'static str, &'a str), String> {
    for operator in OPERATORS {
        let Some(rest) = text.strip_prefix(operator) else { continue };
        if operator.starts_with(char::is_alphabetic) && !rest.is_empty() && !rest.starts_with(char::is_whitespace) {
            continue;
        }
        return Ok((operator, rest.trim_start()));
    }
    let found = match text.split_whitespace().next() {
        None => format!("nothing follows `{subject}`"),
        Some("=") => return Err("`=` is not a comparison: write `==`".into()),
        Some(word) => format!("`{word}` is not a comparison"),
    };
    Err(format!("{found}: write one of {}", OPERATORS.join(", ")))
}

/// Splits `during A..B` from a value, but not from inside a quoted text.
fn split_window(text: &str) -> (&str, Option<&str>) {
    let quoted = text.rfind('"').map_or(0, |end| end + 1);
    match text[quoted..].find("during ") {
        Some(at) if at == 0 || text[..quoted + at].ends_with(char::is_whitespace) => {
            (&text[..quoted + at], Some(&text[quoted + at + "during ".len()..]))
        }
        _ => (text, None),
    }
}

fn test(operator: &str, value: &str, dimension: Dimension, subject: &str) -> Result<Test, String> {
    if value.is_empty() {
        return Err(format!("nothing follows `{operator}`"));
    }
    let wanted = |text: &str| Wanted::parse(text.trim(), dimension).map_err(|wrong| format!("`{subject}`: {wrong}"));
    match operator {
        "contains" => contains(value, dimension, subject),
        "==" => Ok(Test::Equal(wanted(value)?)),
        "!=" => Ok(Test::NotEqual(wanted(value)?)),
        _ if dimension == Dimension::Text => Err(format!("`{subject}` is a text: use contains, == or !=")),
        "<" => Ok(Test::Less(wanted(value)?)),
        "<=" => Ok(Test::AtMost(wanted(value)?)),
        ">" => Ok(Test::More(wanted(value)?)),
        ">=" => Ok(Test::AtLeast(wanted(value)?)),
        "between" => {
            let (least, most) = value.split_once(" and ").ok_or("write `between X and Y`")?;
            let (least, most) = (wanted(least)?, wanted(most)?);
            if least.number() > most.number() {
                return Err(format!("nothing lies between {least} and {most}: write the smaller one first"));
            }
            Ok(Test::Between(least, most))
        }
        _ => within(value, dimension, wanted),
    }
}

fn contains(value: &str, dimension: Dimension, subject: &str) -> Result<Test, String> {
    if !matches!(dimension, Dimension::Text | Dimension::Json) {
        return Err(format!("`{subject}` is not a text: `contains` is for stdout, stderr and json"));
    }
    match Wanted::parse(value, Dimension::Text)? {
        Wanted::Text(text) => Ok(Test::Contains(text)),
        other => Err(format!("{other} is not a text in double quotes")),
    }
}

fn within(value: &str, dimension: Dimension, wanted: impl Fn(&str) -> Result<Wanted, String>) -> Result<Test, String> {
    let (distance, middle) = value.split_once(" of ").ok_or("write `within 2 % of X` or `within 5 ms of X`")?;
    if !distance.trim_end().ends_with('%') {
        return Ok(Test::Within(wanted(distance)?, wanted(middle)?));
    }
    if dimension == Dimension::Share {
        return Err("a percentage of a percentage is ambiguous: write `between X % and Y %`".into());
    }
    let share: Probability = distance.trim().parse().map_err(|error: netloom_units::ParseError| error.to_string())?;
    Ok(Test::WithinShare(share.as_f64(), wanted(middle)?))
}

fn window(text: &str) -> Result<Window, String> {
    let (from, to) =
        text.split_once("..").ok_or_else(|| format!("`during {text}`: write for example `during 2 s..5 s`"))?;
    let time = |part: &str| part.trim().parse::<Duration>().map_err(|error| format!("during: {error}"));
    let (from, to) = (time(from)?, time(to)?);
    if from >= to {
        return Err(format!("`during {from}..{to}` ends before it begins: write the earlier time first"));
    }
    Ok(Window { from, to })
}

fn check_window(subject: &Subject, text: &str) -> Result<(), String> {
    match subject {
        Subject::Command { .. } => Err(format!("`{text}` is known for the whole run only: `during` is for links")),
        Subject::Link { metric, .. } if !metric.can_be_windowed() => {
            let known: Vec<&str> =
                PipeMetric::ALL.iter().filter(|(_, other)| other.can_be_windowed()).map(|(name, _)| *name).collect();
            Err(format!("`{metric}` is known for the whole run only: `during` is for {}", one_of(&known)))
        }
        Subject::Link { .. } => Ok(()),
    }
}

#[cfg(test)]
mod tests;
