//! Which pipes there are, and what is described for them: from a plan, or from the `plan.json` of a results folder.

use super::samples::Key;
use crate::ReadError;
use crate::regular;
use netloom_lab::{Direction, Plan};
use netloom_link::ScheduleConfig;
use netloom_units::Rate;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A pipe that may get a picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Subject {
    pub(crate) link: String,
    pub(crate) direction: &'static str,
    /// The name of a further pipe; none: the direction's own.
    pub(crate) further: Option<String>,
    pub(crate) from: String,
    pub(crate) to: String,
    /// The described rate at time zero, in bits per second; none if it is unlimited or follows a schedule.
    pub(crate) rate: Option<u64>,
    /// What the lab file says of it, by its keys; empty where that is not needed.
    pub(crate) models: BTreeMap<String, String>,
}

impl Subject {
    pub(crate) fn key(&self) -> Key {
        (self.link.clone(), self.direction.to_owned(), self.further.clone().unwrap_or_default())
    }

    pub(crate) fn title(&self) -> String {
        let further = self.further.as_ref().map_or_else(String::new, |name| format!(".{name}"));
        format!("{}{further}: {} > {}", self.link, self.from, self.to)
    }

    /// The name of its picture.
    pub(crate) fn file(&self) -> String {
        let further = self.further.as_ref().map_or_else(String::new, |name| format!("-{name}"));
        format!("{}-{}{further}.svg", self.link, self.direction)
    }
}

/// The pipes of a plan, in its order.
pub(super) fn of_plan(plan: &Plan) -> Vec<Subject> {
    let subject = |pipe: netloom_lab::PipePlan<'_>| {
        let [from, to] = plan.way_of(pipe.link, pipe.direction).map(str::to_owned);
        let constant = pipe.config.rate.nominal().filter(|_| pipe.config.schedule == ScheduleConfig::None);
        Subject {
            link: pipe.link_name.to_owned(),
            direction: pipe.direction.name(),
            further: pipe.treatment.map(|treatment| treatment.name.clone()),
            from,
            to,
            rate: constant.map(Rate::as_bits_per_second),
            models: BTreeMap::new(),
        }
    };
    plan.pipes().map(subject).collect()
}

/// As much of `plan.json` as the pictures need.
#[derive(Deserialize)]
struct PlanFile {
    name: String,
    links: Vec<LinkFile>,
}

#[derive(Deserialize)]
struct LinkFile {
    name: String,
    ends: Vec<EndFile>,
    forward: Option<PipeFile>,
    backward: Option<PipeFile>,
    shared: Option<PipeFile>,
}

#[derive(Deserialize)]
struct EndFile {
    node: String,
}

#[derive(Deserialize)]
struct PipeFile {
    name: Option<String>,
    rate_bits_per_second: Option<u64>,
    #[serde(default)]
    described: BTreeMap<String, Value>,
    #[serde(default)]
    pipes: Vec<PipeFile>,
}

/// What a results folder says was set up.
pub(crate) struct Planned {
    pub(crate) lab: String,
    pub(crate) pipes: Vec<Subject>,
}

pub(super) fn of_folder(folder: &Path) -> Result<Planned, ReadError> {
    let path = folder.join("plan.json");
    let wrong =
        |why: String| ReadError::NoResults { folder: folder.to_owned(), why: format!("{}: {why}", path.display()) };
    let text = regular::read(&path).map_err(|error| wrong(error.to_string()))?;
    let plan: PlanFile = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    let pipes = plan.links.into_iter().flat_map(subjects).collect();
    Ok(Planned { lab: plan.name, pipes })
}

fn subjects(link: LinkFile) -> Vec<Subject> {
    let LinkFile { name: link, ends, forward, backward, shared } = link;
    let node = |place: usize| ends.get(place).map_or_else(String::new, |end| end.node.clone());
    let [each, others] = Direction::ALL_TO_ALL.map(str::to_owned);
    let directions = [
        (Direction::Forward, forward, (node(0), node(1))),
        (Direction::Backward, backward, (node(1), node(0))),
        (Direction::Shared, shared, (each, others)),
    ];
    let mut all = Vec::new();
    for (direction, own, (from, to)) in directions {
        let Some(own) = own else { continue };
        let subject = |pipe: &PipeFile, further: Option<String>| Subject {
            link: link.clone(),
            direction: direction.name(),
            further,
            from: from.clone(),
            to: to.clone(),
            rate: pipe.rate_bits_per_second.filter(|_| !pipe.described.contains_key("schedule")),
            models: pipe.described.iter().map(|(key, value)| (key.clone(), words(value))).collect(),
        };
        all.push(subject(&own, None));
        all.extend(own.pipes.iter().map(|pipe| subject(pipe, pipe.name.clone())));
    }
    all
}

/// A value as the lab file has it; a nested one as JSON.
fn words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
