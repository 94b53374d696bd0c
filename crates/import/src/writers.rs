//! Labs as files of other tools: nodes, links and what links do; notes say what else is left out.

mod containerlab;
mod dot;
mod graphml;
mod machines;
mod mininet;

use netloom_lab::{Direction, LinkPlan, Plan, settings_of};
use serde_json::Value;

/// A format that labs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Graphs as XML.
    GraphMl,
    /// Graphviz.
    Dot,
    /// Containers and links.
    Containerlab,
    /// A script for Mininet.
    Mininet,
}

impl Target {
    /// All target formats.
    pub const ALL: [Self; 4] = [Self::GraphMl, Self::Dot, Self::Containerlab, Self::Mininet];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::GraphMl => "graphml",
            Self::Dot => "dot",
            Self::Containerlab => "containerlab",
            Self::Mininet => "mininet",
        }
    }

    /// The text of `plan` in this format, and what of the lab it does not have: a sentence each.
    pub fn write(self, plan: &Plan) -> (String, Vec<String>) {
        let (text, mut left) = match self {
            Self::GraphMl => (graphml::write(plan), graph()),
            Self::Dot => (dot::write(plan), graph()),
            Self::Containerlab => containerlab::write(plan),
            Self::Mininet => mininet::write(plan),
        };
        left.extend(left_out(plan));
        (text, left)
    }
}

/// What graphs do not have.
fn graph() -> Vec<String> {
    vec!["left out: addresses, routes and settings of nodes".to_owned()]
}

/// What none of these formats has.
fn left_out(plan: &Plan) -> Vec<String> {
    let counted = |count: usize, what: &str| (count > 0).then(|| format!("left out: {count} {what}"));
    let further = plan.links.iter().flat_map(|link| &link.treatments).map(Vec::len).sum();
    let found = [
        counted(plan.timeline.len(), "entries of the timeline"),
        counted(plan.traffic.len(), "sources of traffic"),
        counted(plan.expect.len(), "expectations"),
        counted(further, "further pipes of links"),
    ];
    found.into_iter().flatten().collect()
}

/// What a direction of a link does: keys and values as a lab file has them.
fn direction(link: &LinkPlan, direction: Direction) -> Vec<(String, String)> {
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    settings_of(&link.pipes[direction.index()]).into_iter().map(|(key, value)| (key, text(value))).collect()
}

/// The settings of a link: those of both directions once, the others with the direction before the key.
fn settings(link: &LinkPlan) -> Vec<(String, String)> {
    let [forward, backward] = [Direction::Forward, Direction::Backward].map(|one| direction(link, one));
    let both: Vec<_> = forward.iter().filter(|one| backward.contains(one)).cloned().collect();
    let own = |name: &str, all: &[(String, String)]| -> Vec<(String, String)> {
        let others = all.iter().filter(|one| !both.contains(one));
        others.map(|(key, value)| (format!("{name}.{key}"), value.clone())).collect()
    };
    [both.clone(), own("forward", &forward), own("backward", &backward)].concat()
}
