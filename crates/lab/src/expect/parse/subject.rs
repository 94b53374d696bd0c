//! Names, and what they mean.

mod station;

use super::{ExpectError, Names, Wrong};
use crate::diagnostics::{nearest, one_of};
use crate::direction::Direction;
use crate::expect::{CommandMetric, Function, JsonPath, NodeMetric, PipeMetric, Subject, TcpMetric, TcpPart, Term};
use crate::words::Words;

/// What a name means.
pub(super) struct Found {
    pub(super) term: Term,
    /// Functions behind it, as in `transfer.cwnd.max`, the inner one first.
    pub(super) functions: Vec<Function>,
    /// The figure of this name.
    pub(super) figure: Option<String>,
}

/// The flows of all nodes that are sampled.
const FLOWS: &str = "flows";

/// Whether the text begins with a name of this lab.
pub(super) fn is_known(text: &str, names: &Names<'_>) -> bool {
    let name = text.split_once('.').map_or(text, |(name, _)| name);
    all(names).any(|known| known == name)
}

fn all<'a>(names: &'a Names<'_>) -> impl Iterator<Item = &'a str> {
    let commands = names.commands.iter().map(|(name, ..)| name.as_str());
    let nodes = names.nodes.iter().map(|(name, _)| name.as_str());
    let figures = names.figures.iter().map(|figure| figure.name.as_str());
    commands.chain(names.links.iter().map(String::as_str)).chain(nodes).chain(figures).chain([FLOWS])
}

/// Reads a name with all that is behind it.
pub(super) fn read(text: &str, names: &Names<'_>) -> Result<Found, ExpectError> {
    let (name, rest) = text.split_once('.').unwrap_or((text, ""));
    let figure = names.figures.iter().find(|figure| figure.name == name);
    if let Some(figure) = figure.filter(|_| rest.is_empty()) {
        return Ok(of_figure(figure, name));
    }
    let wrong = |message: String| {
        let at = (name.len() + 1).min(text.len())..text.len();
        ExpectError::new(if at.is_empty() { 0..text.len() } else { at }, message)
    };
    let of_metric = |read: Result<(Subject, Vec<Function>), String>| {
        let (subject, functions) = read.map_err(wrong)?;
        Ok(Found { term: Term::plain(text, subject), functions, figure: None })
    };
    if let Some((_, event, _)) = names.commands.iter().find(|(command, ..)| command == name) {
        return of_metric(command(name, *event, rest));
    }
    if let Some(link) = names.links.iter().position(|link| link == name) {
        return of_metric(link_subject(name, link, names, rest));
    }
    if let Some(node) = names.nodes.iter().position(|(node, _)| node == name) {
        return of_metric(node_subject(name, node, names, rest));
    }
    if let Some(figure) = figure {
        return in_figure(figure, name, rest).map_err(wrong);
    }
    if name == FLOWS {
        return of_metric(tcp_metric("`flows`", TcpPart::All, true, rest));
    }
    let hint = nearest(name, all(names)).map_or_else(
        || "write for example `backbone.forward.throughput`".into(),
        |near| format!("did you mean `{near}`?"),
    );
    let message = format!("this lab has no command, link, node or figure `{name}`: {hint}");
    Err(ExpectError { kind: Wrong::Subject, ..ExpectError::new(0..name.len(), message) })
}

fn of_figure(figure: &crate::expect::Figure, name: &str) -> Found {
    Found { term: Term::of_figure(figure), functions: Vec::new(), figure: Some(name.to_owned()) }
}

/// One direction of a figure that has two.
fn in_figure(figure: &crate::expect::Figure, name: &str, rest: &str) -> Result<Found, String> {
    let mut found = of_figure(figure, name);
    let one = match rest {
        "forward" => Direction::Forward,
        "backward" => Direction::Backward,
        _ => return Err(format!("figure `{name}` has no `{rest}`: write `{name}`")),
    };
    match &mut found.term.subject {
        Subject::Link { direction: direction @ None, .. } => *direction = Some(one),
        _ => return Err(format!("figure `{name}` is of one direction: write `{name}`")),
    }
    found.term.text = format!("{name}.{rest}");
    found.figure = Some(found.term.text.clone());
    Ok(found)
}

/// Splits functions from the end of a metric: `cwnd.max`, `srtt.p99.9`.
fn functions(rest: &str) -> (&str, Vec<Function>) {
    let mut rest = rest;
    let mut found = Vec::new();
    // A percentile may have a decimal point of its own.
    let cut = |text: &str, dots: usize| text.rmatch_indices('.').nth(dots).map(|(at, _)| at);
    while let Some((at, function)) =
        [1, 0].into_iter().find_map(|dots| cut(rest, dots).and_then(|at| Some((at, Function::named(&rest[at + 1..])?))))
    {
        found.insert(0, function);
        rest = &rest[..at];
    }
    (rest, found)
}

fn link_subject(name: &str, link: usize, names: &Names<'_>, rest: &str) -> Result<(Subject, Vec<Function>), String> {
    if let Some(found) = station::of_link(name, link, names, rest)? {
        return Ok(found);
    }
    let pipes = &names.pipes[link];
    let (direction, rest) = match rest.split_once('.').unwrap_or((rest, "")) {
        ("forward", rest) => (Some(Direction::Forward), rest),
        ("backward", rest) => (Some(Direction::Backward), rest),
        _ => (None, rest),
    };
    let ways =
        [Direction::Forward, Direction::Backward].into_iter().filter(|this| direction.is_none_or(|only| only == *this));
    let mut further = ways.flat_map(|this| &pipes[this.index()]);
    let (pipe, metric_name) = match rest.split_once('.') {
        Some((pipe, metric)) if further.any(|known| known == pipe) => (Some(pipe.to_owned()), metric),
        _ => (None, rest),
    };
    let (metric_name, functions) = functions(metric_name);
    let is_radio = names.air[link].is_some();
    let own = PipeMetric::WORDS.iter().filter(|(_, metric)| is_radio || !metric.is_of_air());
    let known: Vec<&str> = own.map(|(known, _)| *known).collect();
    let metric =
        PipeMetric::named(metric_name).ok_or_else(|| unknown_metric(&format!("link `{name}`"), metric_name, &known))?;
    station::check_medium(name, metric, names.air[link].as_ref())?;
    Ok((Subject::Link { link, direction, pipe, metric, station: None, only: None }, functions))
}

fn command(name: &str, event: usize, rest: &str) -> Result<(Subject, Vec<Function>), String> {
    let json = rest.strip_prefix("json").filter(|path| path.is_empty() || path.starts_with(['.', '[']));
    if let Some(path) = json {
        let path = JsonPath::parse(path).ok_or_else(|| {
            format!("`{rest}` is not a path in a JSON document: write for example json.end.sum_received.bytes or json.list[0]")
        })?;
        return Ok((Subject::Command { event, metric: CommandMetric::Json(path) }, Vec::new()));
    }
    let (metric_name, functions) = functions(rest);
    if let Some(metric) = CommandMetric::named(metric_name) {
        return Ok((Subject::Command { event, metric }, functions));
    }
    let (each, metric) = of_each(rest);
    match tcp_metric("", TcpPart::Command(event), each, metric) {
        Ok(found) => Ok(found),
        Err(_) => {
            let known: Vec<&str> = CommandMetric::NAMES.into_iter().chain(TcpMetric::names()).collect();
            Err(unknown_metric(&format!("command `{name}`"), metric_name, &known))
        }
    }
}

/// What a node uses, or what its connections do.
fn node_subject(name: &str, node: usize, names: &Names<'_>, rest: &str) -> Result<(Subject, Vec<Function>), String> {
    let subject = format!("node `{name}`");
    let (each, metric) = of_each(rest);
    if each {
        return tcp_metric(&subject, TcpPart::Node(node), each, metric);
    }
    let (metric_name, functions) = functions(rest);
    if let Some(own) = NodeMetric::named(metric_name) {
        return Ok((Subject::Node { node, metric: own }, functions));
    }
    if let Some(found) = station::of_node(name, names, metric_name)? {
        return Ok((found, functions));
    }
    tcp_metric(&subject, TcpPart::Node(node), each, metric).map_err(|_| {
        let known: Vec<&str> = TcpMetric::names().chain(NodeMetric::names()).collect();
        unknown_metric(&subject, metric_name, &known)
    })
}

/// Whether each flow is meant, as in `flows.goodput`; and the metric.
fn of_each(rest: &str) -> (bool, &str) {
    match rest.split_once('.').unwrap_or((rest, "")) {
        (FLOWS, metric) => (true, metric),
        _ => (false, rest),
    }
}

fn tcp_metric(subject: &str, part: TcpPart, each: bool, rest: &str) -> Result<(Subject, Vec<Function>), String> {
    let (name, functions) = functions(rest);
    let metric =
        TcpMetric::named(name).ok_or_else(|| unknown_metric(subject, name, &TcpMetric::names().collect::<Vec<_>>()))?;
    Ok((Subject::Tcp { part, each, metric }, functions))
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

/// That everything is measured which is looked at.
pub(super) fn check_measured(subject: &Subject, names: &Names<'_>) -> Result<(), String> {
    let (part, metric) = match subject {
        Subject::Tcp { part, metric, .. } => (part, metric),
        Subject::Node { node, metric } => return check_node(*node, *metric, names),
        Subject::Command { .. } | Subject::Link { .. } => return Ok(()),
    };
    let is_sampled = |node: usize| names.nodes.get(node).is_none_or(|(_, sampled)| sampled.tcp);
    let node = match part {
        TcpPart::All if names.nodes.is_empty() || names.nodes.iter().any(|(_, sampled)| sampled.tcp) => {
            return Ok(());
        }
        TcpPart::All => None,
        TcpPart::Node(node) => Some(*node),
        TcpPart::Command(event) => names.commands.iter().find(|(_, own, _)| own == event).map(|(_, _, node)| *node),
    };
    if node.is_some_and(is_sampled) {
        return Ok(());
    }
    let own = node.and_then(|node| names.nodes.get(node));
    let place = own.map_or_else(String::new, |(name, _)| format!(", or in {}", one_of(&[&format!("node `{name}`")])));
    Err(format!(
        "`{metric}` is of TCP connections, which are not sampled: write `measure: {{tcp: 10 ms}}` in this file{place}"
    ))
}

fn check_node(node: usize, metric: NodeMetric, names: &Names<'_>) -> Result<(), String> {
    match names.nodes.get(node) {
        Some((name, sampled)) if !sampled.node => Err(format!(
            "`{metric}` is of nodes, which are not sampled: write `measure: {{node: 100 ms}}` in this file, or in node `{name}`"
        )),
        _ => Ok(()),
    }
}

/// How a term is called without functions.
pub(super) fn bare(term: &Term, text: &str) -> String {
    let mut text = text;
    while let Some((function, inner)) = text.split_once('(') {
        if Function::named(function.trim()).is_none() {
            break;
        }
        text = inner.trim_end_matches(')').trim();
    }
    let _ = term;
    [" during ", " match "]
        .into_iter()
        .fold(text, |text, end| text.split_once(end).map_or(text, |(text, _)| text))
        .to_owned()
}
