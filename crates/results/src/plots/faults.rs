//! When something was wrong in a run: spans of time that pictures shade, from events that begin and end faults.

use super::data::Subject;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// How many spans are kept in memory: more would fill the pictures.
const MOST_SPANS: usize = 1_000;

/// A span of time in which something was wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct FaultSpan {
    /// The beginning, in seconds after time zero.
    pub(crate) from: f64,
    /// The end; none: that of the run.
    pub(crate) to: Option<f64>,
    /// The words that say what was wrong.
    pub(crate) text: String,
    /// The link, if it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) link: Option<String>,
    /// The only direction that was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) direction: Option<String>,
}

/// The spans of a log, as its events come.
#[derive(Debug, Default)]
pub(super) struct FaultSpans {
    spans: Vec<FaultSpan>,
    /// The spans that have begun, by what is wrong.
    open: BTreeMap<String, usize>,
}

/// Faults of nodes and programs: the events that begin one, the words for it, and the events that end it.
const OF_NODES: [(&str, &str, &[&str]); 4] = [
    ("crashed", "crashed", &["runs again"]),
    ("asked to stop", "stopped", &["runs again"]),
    ("frozen", "frozen", &["goes on"]),
    ("paused", "paused", &["goes on"]),
];

impl FaultSpans {
    /// Takes in an event.
    pub(super) fn note(&mut self, seconds: f64, event: &str, details: &Value) {
        let text = |key: &str| details[key].as_str();
        match event {
            "partition" => {
                let names: Vec<&str> = details["in_force"]
                    .as_array()
                    .map_or_else(Vec::new, |all| all.iter().filter_map(Value::as_str).collect());
                let whose = format!("partition {}", text("by").unwrap_or_default());
                self.end(&whose, seconds);
                if !names.is_empty() {
                    self.begin(whose, span(seconds, format!("parted: {}", names.join(", and "))));
                }
            }
            "link down" | "link up" => {
                let Some(link) = text("link") else { return };
                let (direction, pipe) = (text("direction"), text("pipe"));
                let part: String = [direction, pipe].into_iter().flatten().map(|part| format!(" {part}")).collect();
                let whose = format!("link {link}{part}");
                if event == "link up" {
                    // What is restored as a whole is restored in each direction.
                    self.end_parts(&format!("{whose} "), seconds);
                    return self.end(&whose, seconds);
                }
                let cut = span(seconds, format!("{link}{part} down"));
                let (link, direction) = (Some(link.to_owned()), direction.map(str::to_owned));
                self.begin(whose, FaultSpan { link, direction, ..cut });
            }
            "disk fault" | "disk fault over" => {
                let (Some(name), Some(fault)) = (text("node"), text("fault")) else { return };
                let disk = format!("disk of {name}: ");
                if fault == "works: true" {
                    return self.end_parts(&disk, seconds);
                }
                let whose = format!("{disk}{fault}");
                self.end(&whose, seconds);
                if event == "disk fault" {
                    let lasts = details["for_ns"].as_f64().map(|ns| seconds + ns / 1e9);
                    self.begin(whose.clone(), FaultSpan { to: lasts, ..span(seconds, whose) });
                }
            }
            _ => {
                let Some(name) = text("node").or_else(|| text("command")) else { return };
                for (_, words, _) in OF_NODES.into_iter().filter(|(_, _, ends)| ends.contains(&event)) {
                    self.end(&format!("{words} {name}"), seconds);
                }
                if let Some((_, words, _)) = OF_NODES.into_iter().find(|(begins, ..)| *begins == event) {
                    self.begin(format!("{words} {name}"), span(seconds, format!("{name} {words}")));
                }
            }
        }
    }

    fn add(&mut self, new: FaultSpan) -> Option<usize> {
        let place = self.spans.len();
        (place < MOST_SPANS).then(|| {
            self.spans.push(new);
            place
        })
    }

    fn begin(&mut self, whose: String, new: FaultSpan) {
        if !self.open.contains_key(&whose)
            && let Some(place) = self.add(new)
        {
            self.open.insert(whose, place);
        }
    }

    /// Ends all whose words begin so.
    fn end_parts(&mut self, begins: &str, seconds: f64) {
        let meant: Vec<String> = self.open.keys().filter(|whose| whose.starts_with(begins)).cloned().collect();
        meant.iter().for_each(|whose| self.end(whose, seconds));
    }

    fn end(&mut self, whose: &str, seconds: f64) {
        if let Some(place) = self.open.remove(whose) {
            self.spans[place].to = Some(seconds);
        }
    }

    /// Returns all of them, by their beginnings.
    pub(super) fn into_spans(mut self) -> Vec<FaultSpan> {
        self.spans.sort_by(|one, other| one.from.total_cmp(&other.from));
        self.spans
    }
}

fn span(from: f64, text: String) -> FaultSpan {
    FaultSpan { from, to: None, text, link: None, direction: None }
}

impl FaultSpan {
    /// Whether it matters for a pipe: what is wrong in nodes matters for all.
    pub(super) fn is_about(&self, subject: &Subject) -> bool {
        self.link.as_ref().is_none_or(|link| *link == subject.link)
            && self.direction.as_ref().is_none_or(|only| only == subject.direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn events_that_begin_and_end_a_fault_make_a_span() {
        let mut all = FaultSpans::default();
        let events = [
            (1.0, "crashed", json!({ "node": "n1" })),
            (1.5, "link down", json!({ "link": "l", "direction": "forward", "pipe": null })),
            (1.6, "link down", json!({ "link": "l", "direction": null, "pipe": null })),
            (2.0, "partition", json!({ "in_force": ["a | b"], "by": "client" })),
            (2.5, "partition", json!({ "in_force": ["a | b", "c | d"], "by": "client" })),
            (3.0, "boots", json!({ "node": "n1" })),
            (3.5, "runs again", json!({ "node": "n1" })),
            (4.0, "partition", json!({ "in_force": [], "by": "client" })),
            (4.5, "link up", json!({ "link": "l", "direction": "forward", "pipe": null })),
            (4.6, "link down", json!({ "link": "m", "direction": "backward", "pipe": null })),
            (4.7, "link up", json!({ "link": "m", "direction": null, "pipe": null })),
            (5.0, "frozen", json!({ "node": "n2", "for_ns": 1e9 })),
            (6.0, "goes on", json!({ "node": "n2" })),
            (7.0, "disk fault", json!({ "node": "n1", "fault": "full", "for_ns": 5e8 })),
            (7.2, "disk fault", json!({ "node": "n1", "fault": "hang" })),
            (7.5, "disk fault over", json!({ "node": "n1", "fault": "full" })),
            (7.6, "disk fault", json!({ "node": "n1", "fault": "works: true" })),
            (8.0, "paused", json!({ "command": "web" })),
            (8.0, "clock", json!({ "node": "n1" })),
        ];
        events.iter().for_each(|(at, event, details)| all.note(*at, event, details));
        let spans = all.into_spans();
        let told: Vec<_> = spans.iter().map(|one| (one.from, one.to, one.text.as_str())).collect();
        assert_eq!(
            told,
            [
                (1.0, Some(3.5), "n1 crashed"),
                (1.5, Some(4.5), "l forward down"),
                (1.6, None, "l down"),
                (2.0, Some(2.5), "parted: a | b"),
                (2.5, Some(4.0), "parted: a | b, and c | d"),
                (4.6, Some(4.7), "m backward down"),
                (5.0, Some(6.0), "n2 frozen"),
                (7.0, Some(7.5), "disk of n1: full"),
                (7.2, Some(7.6), "disk of n1: hang"),
                (8.0, None, "web paused"),
            ]
        );
        assert_eq!((spans[1].link.as_deref(), spans[1].direction.as_deref()), (Some("l"), Some("forward")));
    }
}
