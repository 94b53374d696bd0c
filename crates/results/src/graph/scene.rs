//! What is in a picture, and where.

use super::labels::{Area, HEIGHT, Page, width};
use super::layout::{Network, Point, distance};
use netloom_lab::{LinkPlan, NodeKind, NodePlan, Plan, settings_of};
use netloom_link::PipeConfig;
use netloom_units::Duration;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shape {
    Host,
    Router,
    Transit,
    Internet,
    Switch,
    Hub,
    External,
    Tunnel,
    /// A link with more than two ends.
    Lan,
}

/// A node in the picture.
pub(super) struct Vertex {
    pub(super) name: String,
    pub(super) shape: Shape,
    /// What a reader sees who points at it.
    pub(super) about: String,
    pub(super) at: Point,
    /// Where its name is written, if there is room.
    pub(super) label: Option<Area>,
}

/// A line in the picture.
pub(super) struct Line {
    /// The name of its link.
    pub(super) name: String,
    pub(super) ends: (usize, usize),
    pub(super) from: Point,
    pub(super) to: Point,
    /// How far its middle is moved aside, since others join the same nodes.
    pub(super) bend: f64,
    pub(super) about: String,
    pub(super) width: f64,
    /// What is written beside it, in one line or two.
    pub(super) words: Vec<String>,
    pub(super) label: Option<Area>,
}

/// See the module.
pub(super) struct Scene {
    pub(super) vertices: Vec<Vertex>,
    pub(super) lines: Vec<Line>,
    /// The radius of a symbol.
    pub(super) radius: f64,
    /// Samples of lines, and what they mean.
    pub(super) legend: Vec<(f64, String)>,
    /// Where the vertices are, in lengths of a link.
    places: Vec<Point>,
    /// Pixels of such a length.
    scale: f64,
    /// How many vertices are nodes of the lab.
    nodes: usize,
}

/// Up to so many nodes every one has its name in the picture; in larger ones those that have room.
pub(super) const ALL_NAMED: usize = 100;
/// Up to so many links have their settings beside them.
const MOST_DESCRIBED: usize = 40;
/// So many kinds of lines are explained.
const MOST_EXPLAINED: usize = 6;
/// Pixels from one end of a link to the other, at first; how much more at each attempt; and how often.
const SCALE: f64 = 84.0;
const MORE: f64 = 1.12;
const ATTEMPTS: usize = 24;
const ATTEMPTS_FOR_LINKS: usize = 6;
/// Between two symbols.
const BETWEEN: f64 = 4.0;
/// How often symbols that cover one another are moved apart.
const ROUNDS: usize = 200;

/// Where the nodes of a lab are, in lengths of a link, without a picture of them.
pub(super) fn places(plan: &Plan) -> Vec<Point> {
    let (vertices, joins) = drawn(plan);
    let mut places = settled(plan, &vertices, &joins);
    places.truncate(plan.nodes.len());
    places
}

fn settled(plan: &Plan, vertices: &[Vertex], joins: &[Join]) -> Vec<Point> {
    let names: Vec<&str> = vertices.iter().map(|vertex| vertex.name.as_str()).collect();
    let links: Vec<(usize, usize)> = joins.iter().map(|(ends, _)| *ends).collect();
    let mut fixed: Vec<Option<Point>> = plan.nodes.iter().map(|node| node.position).collect();
    fixed.resize(names.len(), None);
    Network { names: &names, links: &links, fixed: &fixed }.places()
}

impl Scene {
    /// The picture of a lab.
    pub(super) fn of(plan: &Plan) -> Self {
        let (vertices, joins) = drawn(plan);
        let places = settled(plan, &vertices, &joins);
        let radius = match plan.nodes.len() {
            0..=ALL_NAMED => 13.0,
            101..=400 => 10.0,
            401..=1_500 => 6.0,
            _ => 3.0,
        };
        let (lines, legend) = lines(plan, &joins);
        let mut scene = Self { vertices, lines, radius, legend, places, scale: 1.0, nodes: plan.nodes.len() };
        scene.settle();
        scene
    }

    /// Where the nodes of the lab are, in lengths of a link.
    pub(super) fn positions(&self) -> impl Iterator<Item = Point> {
        self.places.iter().take(self.nodes).copied()
    }

    /// Makes the picture as large as it must be that names and symbols do not cover one another, and somewhat larger if there is
    /// no room for what is said of links.
    fn settle(&mut self) {
        self.scale = SCALE * (self.radius / 13.0).max(0.3);
        for attempt in 0..ATTEMPTS {
            self.place();
            let is_named = self.vertices.iter().all(|vertex| vertex.label.is_some());
            let is_described = self.lines.iter().all(|line| line.words.is_empty() || line.label.is_some());
            if self.nodes > ALL_NAMED || is_named && (is_described || attempt >= ATTEMPTS_FOR_LINKS) {
                return;
            }
            self.scale *= MORE;
        }
        // Nodes that the file puts on one place: their names stand below one another.
        self.stack_names();
    }

    fn place(&mut self) {
        for (vertex, at) in self.vertices.iter_mut().zip(&self.places) {
            vertex.at = at.map(|value| value * self.scale);
        }
        self.part();
        let mut page = Page::default();
        let size = 2.0 * self.radius;
        self.vertices.iter().for_each(|vertex| page.solid.add(vertex.area(self.radius)));
        for line in &mut self.lines {
            (line.from, line.to) = (self.vertices[line.ends.0].at, self.vertices[line.ends.1].at);
            let [first, second] = [line.from, line.at_middle()];
            page.lines.add_line(first, second);
            page.lines.add_line(second, line.to);
        }
        for vertex in &mut self.vertices {
            vertex.label = page.beside(&vertex.area(self.radius), width(&vertex.name), HEIGHT);
        }
        for line in &mut self.lines {
            let widest = line.words.iter().map(|word| width(word)).fold(0.0, f64::max);
            let height = HEIGHT * line.words.len() as f64;
            let has_room = !line.words.is_empty() && distance(line.from, line.to) > 2.0 * size;
            line.label = has_room.then(|| page.along(line.from, line.to, widest, height)).flatten();
        }
    }

    /// Moves symbols apart that cover one another, by no more than that.
    fn part(&mut self) {
        let mut order: Vec<usize> = (0..self.vertices.len()).collect();
        // The widest symbol with what is left free beside it.
        let widest = self.vertices.iter().map(|vertex| vertex.size(self.radius)[0]).fold(0.0, f64::max) + BETWEEN;
        for _ in 0..ROUNDS {
            // From left to right, so that only those near one another are compared.
            order.sort_by(|a, b| self.vertices[*a].at[0].total_cmp(&self.vertices[*b].at[0]).then(a.cmp(b)));
            let mut is_crowded = false;
            for (place, one) in order.iter().enumerate() {
                for other in &order[place + 1..] {
                    if self.vertices[*other].at[0] - self.vertices[*one].at[0] > widest {
                        break;
                    }
                    is_crowded |= self.part_two(*one, *other);
                }
            }
            if !is_crowded {
                return;
            }
        }
    }

    /// Moves two symbols apart, to the side where they are nearly apart already; false if they are.
    fn part_two(&mut self, one: usize, other: usize) -> bool {
        let [a, b] = [one, other].map(|vertex| (self.vertices[vertex].at, self.vertices[vertex].size(self.radius)));
        let lacks = [0, 1].map(|axis| (a.1[axis] + b.1[axis]) / 2.0 + BETWEEN - (a.0[axis] - b.0[axis]).abs());
        if lacks[0].min(lacks[1]) <= 0.01 {
            return false;
        }
        let axis = usize::from(lacks[1] < lacks[0]);
        let by = lacks[axis] / 2.0 * if b.0[axis] < a.0[axis] { -1.0 } else { 1.0 };
        self.vertices[one].at[axis] -= by;
        self.vertices[other].at[axis] += by;
        true
    }

    /// Gives each name that found no place one far below all that is there.
    fn stack_names(&mut self) {
        if self.nodes > ALL_NAMED {
            return;
        }
        let labels = self.vertices.iter().filter_map(|vertex| vertex.label);
        let mut below = labels.map(|label| label.bottom).fold(f64::NEG_INFINITY, f64::max);
        for vertex in &mut self.vertices {
            below = below.max(vertex.at[1] + self.radius);
        }
        for vertex in self.vertices.iter_mut().filter(|vertex| vertex.label.is_none()) {
            vertex.label = Some(Area::around([vertex.at[0], below + HEIGHT], width(&vertex.name), HEIGHT));
            below += HEIGHT + 1.0;
        }
    }
}

impl Vertex {
    /// What its symbol covers.
    pub(super) fn area(&self, radius: f64) -> Area {
        let [wide, high] = self.size(radius);
        Area::around(self.at, wide, high)
    }

    fn size(&self, radius: f64) -> [f64; 2] {
        if self.shape == Shape::Lan { [3.2 * radius, radius] } else { [2.0 * radius, 2.0 * radius] }
    }
}

impl Line {
    /// The middle of the line, or where it is bent to.
    pub(super) fn at_middle(&self) -> Point {
        let length = distance(self.from, self.to).max(1.0);
        let middle = [(self.from[0] + self.to[0]) / 2.0, (self.from[1] + self.to[1]) / 2.0];
        let aside = [-(self.to[1] - self.from[1]) / length, (self.to[0] - self.from[0]) / length];
        [middle[0] + self.bend * aside[0], middle[1] + self.bend * aside[1]]
    }
}

/// A line's ends among the vertices, and the link that it is of.
type Join = ((usize, usize), usize);

/// The nodes, and a bar for each link with more than two ends.
fn drawn(plan: &Plan) -> (Vec<Vertex>, Vec<Join>) {
    let vertex = |name: &str, shape, about| Vertex { name: name.to_owned(), shape, about, at: [0.0, 0.0], label: None };
    let mut vertices: Vec<Vertex> =
        plan.nodes.iter().map(|node| vertex(&node.name, shape(node), about_node(node))).collect();
    let mut joins = Vec::new();
    for (number, link) in plan.links.iter().enumerate() {
        match &link.ends[..] {
            [one, other] => joins.push(((one.node, other.node), number)),
            ends => {
                vertices.push(vertex(&link.name, Shape::Lan, about_link(link)));
                joins.extend(ends.iter().map(|end| ((end.node, vertices.len() - 1), number)));
            }
        }
    }
    (vertices, joins)
}

fn shape(node: &NodePlan) -> Shape {
    match node.kind {
        NodeKind::Host | NodeKind::Outside => Shape::Host,
        NodeKind::Router => Shape::Router,
        NodeKind::Transit => Shape::Transit,
        NodeKind::Internet => Shape::Internet,
        NodeKind::Switch if node.is_lan => Shape::Lan,
        NodeKind::Switch | NodeKind::OpenFlow => Shape::Switch,
        NodeKind::Hub => Shape::Hub,
        NodeKind::External => Shape::External,
        NodeKind::Tunnel => Shape::Tunnel,
    }
}

fn about_node(node: &NodePlan) -> String {
    let addresses = node.interfaces.iter().flat_map(|interface| &interface.addresses).take(8);
    let addresses: Vec<String> = addresses.map(ToString::to_string).collect();
    let kind = if node.is_lan { "LAN" } else { node.kind.title() };
    let colon = if addresses.is_empty() { "" } else { ": " };
    format!("{} ({kind}){colon}{}", node.name, addresses.join(", "))
}

fn about_link(link: &LinkPlan) -> String {
    let [forward, backward] = link.pipes.each_ref().map(|pipe| settings(pipe).join(", "));
    match (forward == backward, forward.is_empty()) {
        (true, true) => link.name.clone(),
        (true, false) => format!("{}: {forward}", link.name),
        _ => format!("{}: forward {forward}; backward {backward}", link.name),
    }
}

/// Rate, delay and loss of a direction as a reader would say them.
fn settings(pipe: &PipeConfig) -> Vec<String> {
    let all = settings_of(pipe);
    let shown = ["rate", "delay", "loss"].into_iter().filter_map(|key| {
        let value = all.get(key)?;
        let words = match value.as_str() {
            Some(text) => text.to_owned(),
            None => format!("{} {key}", value["kind"].as_str().unwrap_or("varying")),
        };
        Some(if key == "loss" && value.is_string() { format!("{words} loss") } else { words })
    });
    shown.collect()
}

/// The lines, and what explains them.
fn lines(plan: &Plan, joins: &[Join]) -> (Vec<Line>, Vec<(f64, String)>) {
    let rates: BTreeSet<u64> = plan.links.iter().filter_map(rate).collect();
    let slowest = rates.first().copied().unwrap_or(1).max(1);
    let width = |link: &LinkPlan| match rate(link) {
        Some(rate) if rates.len() > 1 => 1.2 + 0.8 * (rate as f64 / slowest as f64).log10().min(4.0),
        _ => 1.4,
    };
    let mut kinds: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    plan.links.iter().for_each(|link| *kinds.entry(words(link)).or_default() += 1);
    let is_described = kinds.len() > 1 && plan.links.len() <= MOST_DESCRIBED;
    let mut seen: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut lines = Vec::new();
    for ((one, other), number) in joins {
        let link = &plan.links[*number];
        let same = seen.entry((*one.min(other), *one.max(other))).or_default();
        // The second and third are bent to either side, and so on.
        let bend = 14.0 * same.div_ceil(2) as f64 * if *same % 2 == 1 { 1.0 } else { -1.0 };
        *same += 1;
        lines.push(Line {
            ends: (*one, *other),
            from: [0.0, 0.0],
            to: [0.0, 0.0],
            bend: if one > other { -bend } else { bend },
            name: link.name.clone(),
            about: about_link(link),
            width: width(link),
            words: if is_described { words(link) } else { Vec::new() },
            label: None,
        });
    }
    let legend = if is_described { Vec::new() } else { explained(plan, width) };
    (lines, legend)
}

fn rate(link: &LinkPlan) -> Option<u64> {
    let [forward, backward] = link.pipes.each_ref().map(|pipe| pipe.rate.nominal());
    forward.into_iter().chain(backward).map(netloom_units::Rate::as_bits_per_second).max()
}

/// What is written beside a link: a line for each direction, if they differ.
pub(super) fn words(link: &LinkPlan) -> Vec<String> {
    let [forward, backward] = link.pipes.each_ref().map(settings);
    if forward == backward {
        return Some(forward.join(", ")).filter(|text| !text.is_empty()).into_iter().collect();
    }
    let shared: Vec<&String> = forward.iter().filter(|word| backward.contains(word)).collect();
    let own = |all: &[String]| {
        let own: Vec<&str> = all.iter().filter(|word| !shared.contains(word)).map(String::as_str).collect();
        if own.is_empty() { "unlimited".to_owned() } else { own.join(", ") }
    };
    let mut lines = vec![format!("→ {}", own(&forward)), format!("← {}", own(&backward))];
    if !shared.is_empty() {
        lines.push(shared.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(", "));
    }
    lines
}

/// Lines of the same rate.
#[derive(Default)]
struct Alike {
    width: f64,
    delays: BTreeSet<Duration>,
    losses: BTreeSet<String>,
}

/// The kinds of lines by rate, the fastest first, each with the delays that it has.
fn explained(plan: &Plan, width_of: impl Fn(&LinkPlan) -> f64) -> Vec<(f64, String)> {
    let mut kinds: BTreeMap<(Reverse<u64>, String), Alike> = BTreeMap::new();
    for link in &plan.links {
        let all = settings_of(&link.pipes[0]);
        let is_plain = link.pipes[0] == link.pipes[1];
        let text = |key: &str| all.get(key).and_then(|value| value.as_str()).map(str::to_owned).filter(|_| is_plain);
        let named = if is_plain { text("rate").unwrap_or_default() } else { words(link).join(" ") };
        let kind = kinds.entry((Reverse(rate(link).unwrap_or(u64::MAX)), named)).or_default();
        kind.width = width_of(link);
        kind.delays.extend(text("delay").and_then(|delay| delay.parse::<Duration>().ok()));
        kind.losses.extend(text("loss").map(|loss| format!("{loss} loss")));
    }
    let mut explained = Vec::new();
    for ((_, rate), Alike { width, delays, losses }) in kinds {
        let delay = match (delays.first(), delays.last()) {
            (Some(least), Some(most)) if least == most => least.to_string(),
            (Some(least), Some(most)) => format!("{least} to {most}"),
            _ => String::new(),
        };
        let loss = if losses.len() == 1 { losses.into_iter().next() } else { None };
        let parts: Vec<String> = [rate, delay].into_iter().chain(loss).filter(|part| !part.is_empty()).collect();
        if !parts.is_empty() {
            explained.push((width, parts.join(", ")));
        }
    }
    if explained.len() > MOST_EXPLAINED { Vec::new() } else { explained }
}
