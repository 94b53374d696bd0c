//! `events.jsonl`: what happened, as marks in the pictures.

use super::data::Subject;
use super::faults::{FaultSpan, FaultSpans};
use crate::ReadError;
use crate::regular;
use netloom_units::Rate;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufReader, ErrorKind};
use std::path::Path;

/// How many marks a picture has at most.
const MOST_MARKS: usize = 14;
/// Events of nodes that pictures mark.
const OF_NODES: [&str; 5] = ["crashed", "asked to stop", "runs again", "frozen", "goes on"];
/// How many events are kept in memory: more would fill the picture with marks.
const MOST_EVENTS: usize = 10_000;

/// What happened in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Log {
    pub(crate) events: Vec<Event>,
    /// When something was wrong.
    pub(crate) faults: Vec<FaultSpan>,
    /// When the run ended, in seconds after time zero; none if nobody noted it.
    pub(crate) end: Option<f64>,
}

/// Something that happened after time zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) seconds: f64,
    pub(crate) what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum What {
    /// A link was changed, cut or joined.
    Link { link: String, direction: Option<String>, pipe: Option<String>, text: String, described: Described },
    /// A program began or ended.
    Program(String),
    /// The lab file marks it, or it is a fault of a node.
    Mark(String),
}

/// What became of the described rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Described {
    Same,
    /// In bits per second; none: unlimited, or not constant.
    Rate(Option<u64>),
}

/// The marks of a picture, in order of time.
pub(super) struct Marks<'a> {
    pub(super) shown: Vec<(f64, &'a str)>,
    /// How many others there are.
    pub(super) others: usize,
}

#[derive(Deserialize)]
struct Line {
    time_ns: Option<u64>,
    event: String,
    link: Option<String>,
    direction: Option<String>,
    pipe: Option<String>,
    set: Option<BTreeMap<String, Value>>,
    node: Option<String>,
    command: Option<String>,
    exit_code: Option<i64>,
    signal: Option<i64>,
    text: Option<String>,
    /// The partitions in force.
    in_force: Option<Vec<String>>,
}

/// The events after time zero and before the end. A simulation without any has no such file.
pub(super) fn read(path: &Path) -> Result<Log, ReadError> {
    let wrong = |why: String| ReadError::File { path: path.to_owned(), why };
    let file = match regular::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Log::default()),
        opened => opened.map_err(|error| wrong(error.to_string()))?,
    };
    let (mut log, mut faults) = (Log::default(), FaultSpans::default());
    let (mut reader, mut text) = (BufReader::new(file), String::new());
    for number in 1.. {
        regular::read_line(&mut reader, &mut text).map_err(|error| wrong(format!("line {number}: {error}")))?;
        if text.is_empty() {
            break;
        }
        // A run that was killed may leave half a line.
        let Ok(line) = serde_json::from_str::<Line>(&text) else { continue };
        let Some(seconds) = line.time_ns.map(|ns| ns as f64 / 1e9) else { continue };
        if line.event == "the end begins" {
            log.end = Some(seconds);
            break;
        }
        if let Ok(details) = serde_json::from_str(&text) {
            faults.note(seconds, &line.event, &details);
        }
        if let Some(what) = line.what().filter(|_| log.events.len() < MOST_EVENTS) {
            log.events.push(Event { seconds, what });
        }
    }
    // Changes of links are noted when the engine reported them.
    log.faults = faults.into_spans();
    log.events.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    Ok(log)
}

impl Line {
    fn what(self) -> Option<What> {
        let Self { event, link, direction, pipe, set, node, command, exit_code, signal, text: mark, in_force, .. } =
            self;
        if let Some(name) = node.filter(|_| OF_NODES.contains(&event.as_str())) {
            return Some(What::Mark(format!("{name} {event}")));
        }
        let text = match (event.as_str(), command) {
            ("started", Some(name)) => return Some(What::Program(format!("{name} starts"))),
            ("ended", Some(name)) => {
                let how = match (exit_code, signal) {
                    (Some(0), _) => "ends".to_owned(),
                    (Some(code), _) => format!("ends with {code}"),
                    (None, Some(signal)) => format!("ends by signal {signal}"),
                    (None, None) => "ends".to_owned(),
                };
                return Some(What::Program(format!("{name} {how}")));
            }
            ("log", _) => return mark.map(What::Mark),
            ("partition", _) => {
                return in_force.map(|all| {
                    What::Mark(if all.is_empty() { "healed".into() } else { format!("parted: {}", all.join(", and ")) })
                });
            }
            ("link changed", _) => written(set.as_ref()?),
            ("link down", _) => "down".to_owned(),
            ("link up", _) => "up".to_owned(),
            _ => return None,
        };
        let described = match &set {
            Some(set) if set.contains_key("schedule") => Described::Rate(None),
            Some(set) => set.get("rate").map_or(Described::Same, |rate| Described::Rate(constant(rate))),
            None => Described::Same,
        };
        Some(What::Link { link: link?, direction, pipe, text, described })
    }
}

/// `rate: 10 Mbit/s, delay: 5 ms`
fn written(set: &BTreeMap<String, Value>) -> String {
    let each = set.iter().map(|(key, value)| match value {
        Value::String(text) => format!("{key}: {text}"),
        other => format!("{key}: {other}"),
    });
    each.collect::<Vec<_>>().join(", ")
}

fn constant(rate: &Value) -> Option<u64> {
    rate.as_str()?.parse::<Rate>().ok().map(Rate::as_bits_per_second)
}

impl Log {
    /// Those that matter for a pipe: first what happened to it and what the lab file marks, then programs as long as there is room.
    pub(super) fn marks(&self, subject: &Subject) -> Marks<'_> {
        let mut own = Vec::new();
        let mut programs = Vec::new();
        for event in &self.events {
            match &event.what {
                What::Link { text, .. } if event.is_about(subject) => own.push((event.seconds, text.as_str())),
                What::Link { .. } => {}
                What::Mark(text) => own.push((event.seconds, text.as_str())),
                What::Program(text) => programs.push((event.seconds, text.as_str())),
            }
        }
        let count = own.len() + programs.len();
        let mut shown: Vec<(f64, &str)> = own.into_iter().chain(programs).take(MOST_MARKS).collect();
        shown.sort_by(|one, other| one.0.total_cmp(&other.0));
        Marks { others: count - shown.len(), shown }
    }

    /// Those that matter for what is in a node: what the lab file marks, then programs as long as there is room.
    pub(super) fn marks_of_all(&self) -> Marks<'_> {
        let of = |wanted: fn(&What) -> Option<&str>| {
            self.events.iter().filter_map(move |event| Some((event.seconds, wanted(&event.what)?)))
        };
        let own = of(|what| if let What::Mark(text) = what { Some(text) } else { None });
        let programs = of(|what| if let What::Program(text) = what { Some(text) } else { None });
        let all: Vec<(f64, &str)> = own.chain(programs).collect();
        let mut shown: Vec<(f64, &str)> = all.iter().take(MOST_MARKS).copied().collect();
        shown.sort_by(|one, other| one.0.total_cmp(&other.0));
        Marks { others: all.len() - shown.len(), shown }
    }

    /// All of them: when, of which kind, in words, and of which link and direction if it is of one.
    pub(crate) fn happenings(
        &self,
    ) -> impl Iterator<Item = (f64, &'static str, String, Option<String>, Option<String>)> + '_ {
        self.events.iter().map(|event| match &event.what {
            What::Link { link, direction, pipe, text, .. } => {
                let further = pipe.as_ref().map_or_else(String::new, |pipe| format!(" {pipe}"));
                let way = direction.as_ref().map_or_else(String::new, |way| format!(" {way}"));
                let words = format!("{link}{way}{further}: {text}");
                (event.seconds, "link", words, Some(link.clone()), direction.clone())
            }
            What::Program(text) => (event.seconds, "program", text.clone(), None, None),
            What::Mark(text) => (event.seconds, "mark", text.clone(), None, None),
        })
    }

    /// From when on which rate is described for a pipe, beginning at zero.
    pub(crate) fn rates(&self, subject: &Subject) -> Vec<(f64, Option<u64>)> {
        let mut rates = vec![(0.0, subject.rate)];
        for event in &self.events {
            if let What::Link { pipe, described: Described::Rate(rate), .. } = &event.what
                && event.is_about(subject)
                && *pipe == subject.further
            {
                rates.push((event.seconds, *rate));
            }
        }
        rates
    }
}

impl Event {
    /// Whether it is about this pipe; what is said of a direction is about its further pipes, too, if it cuts them.
    fn is_about(&self, subject: &Subject) -> bool {
        let What::Link { link, direction, pipe, text, .. } = &self.what else { return false };
        let is_cut = pipe.is_none() && (text == "down" || text == "up");
        *link == subject.link
            && direction.as_deref().is_none_or(|only| only == subject.direction)
            && (*pipe == subject.further || is_cut)
    }
}
