//! Kollaps' topologies: services, bridges, links and a schedule (github.com/miguelammatos/Kollaps, `XMLGraphParser.py` and
//! `xmlgraphparser.rs`).

mod schedule;

use crate::Options;
use crate::containers;
use crate::machine;
use crate::quantity;
use crate::source::{Lines, Place, Read};
use crate::topology::{End, Topology};
use crate::value::{Map, Origin, Value, entry};
use crate::xml;
use netloom_units::{Duration, Probability, Rate};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// What is read of each element. `boot` and `network` are for Kollaps' own containers.
const READ: [(&str, &[&str]); 9] = [
    ("experiment", &["boot"]),
    ("services", &[]),
    ("service", &["name", "image", "command", "script", "share", "replicas", "reuse", "supervisor", "port"]),
    ("bridges", &[]),
    ("bridge", &["name"]),
    ("links", &[]),
    ("link", &["origin", "dest", "latency", "upload", "download", "jitter", "drop", "network"]),
    ("dynamic", &[]),
    (
        "schedule",
        &["name", "time", "amount", "action", "origin", "dest", "latency", "upload", "download", "jitter", "drop"],
    ),
];

/// Reads the topology in `text`.
pub(crate) fn read(text: &str, stem: &str, options: &Options) -> Read<Topology> {
    let lines = Lines::of(text, 0);
    let document = xml::parse(text, &lines)?;
    let mut reader = Reader {
        lines: &lines,
        topology: Topology::called(stem),
        nodes: BTreeMap::new(),
        links: Vec::new(),
        by_ends: BTreeMap::new(),
        no_images: options.no_images,
    };
    reader.nodes(&document)?;
    for element in inside(&document, "links") {
        reader.link(&element)?;
    }
    reader.write_links();
    schedule::read(&mut reader, &document)?;
    Ok(reader.topology)
}

/// The elements in a section.
fn inside<'a>(document: &'a Document<'a>, section: &str) -> impl Iterator<Item = Node<'a, 'a>> {
    let sections = document.root_element().children().filter(move |child| child.has_tag_name(section));
    sections.flat_map(|found| found.children()).filter(Node::is_element)
}

/// A number of instances.
fn count(element: &Node<'_, '_>, name: &str, lines: &Lines) -> Read<Option<usize>> {
    let Some((text, place)) = xml::attribute(element, name, lines) else { return Ok(None) };
    let wrong = || place.wrong(format!("`{name}=\"{text}\"` is no number of instances"));
    text.parse().ok().filter(|count| *count > 0).ok_or_else(wrong).map(Some)
}

struct Reader<'a> {
    lines: &'a Lines,
    topology: Topology,
    /// By name: a bridge, or the instances of a service.
    nodes: BTreeMap<String, Called>,
    links: Vec<LinkOf>,
    /// The links from a name to another one, by their numbers.
    by_ends: BTreeMap<[String; 2], Vec<usize>>,
    no_images: bool,
}

/// What a name stands for.
#[derive(Debug, Default)]
struct Called {
    numbers: Vec<usize>,
    is_bridge: bool,
    /// The dashboard, which is no part of the network.
    is_left_out: bool,
}

/// A link of the file: between two names, with a link of the lab for each pair of instances.
#[derive(Debug)]
struct LinkOf {
    /// Forward and backward; the way back may be described by a link of its own.
    shapes: [Option<Shape>; 2],
    numbers: Vec<usize>,
    place: Place,
}

/// What one direction of a link does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shape {
    rate: Option<(Rate, Place)>,
    latency: Option<(Duration, Place)>,
    jitter: Option<(Duration, Place)>,
    drop: Option<(Probability, Place)>,
}

impl Shape {
    /// What a link or a change of one says, and what was there before where it says nothing. `rate` is the attribute with
    /// the rate of this direction.
    fn said(&self, element: &Node<'_, '_>, rate: &str, lines: &Lines) -> Read<Self> {
        let attribute = |name: &str| xml::attribute(element, name, lines);
        let read = |name: &str, wanted: &str| {
            attribute(name)
                .map(|(text, place)| (text, place, format!("`{name}=\"{text}\"` is no {wanted}")))
                .into_iter()
        };
        let mut shape = self.clone();
        for (text, place, wrong) in read(rate, "rate: write for example `100Mbps`") {
            shape.rate = Some((quantity::spelled_rate(text).ok_or_else(|| place.wrong(wrong))?.value, place));
        }
        for (text, place, wrong) in read("latency", "time: write milliseconds, for example `10`") {
            shape.latency = Some((quantity::duration(text, -3).ok_or_else(|| place.wrong(wrong))?.value, place));
        }
        for (text, place, wrong) in read("jitter", "time: write milliseconds, for example `0.5`") {
            shape.jitter = Some((quantity::duration(text, -3).ok_or_else(|| place.wrong(wrong))?.value, place));
        }
        for (text, place, wrong) in read("drop", "probability: write for example `0.01`") {
            shape.drop = Some((quantity::probability(text, 0).ok_or_else(|| place.wrong(wrong))?.value, place));
        }
        Ok(shape)
    }

    /// The settings of a direction; those that are as in `before` are left out, and those that ended are nothing.
    fn settings(&self, before: &Self) -> Map {
        let mut settings = Map::new();
        let mut put = |key: &str, value: Value, place: Place| {
            settings.push(entry(key, value.because(Origin::at(place))));
        };
        if let Some((rate, place)) = self.rate.filter(|rate| before.rate.map(|it| it.0) != Some(rate.0)) {
            put("rate", rate.into(), place);
        }
        let delay = |shape: &Self| [shape.latency, shape.jitter].map(|time| time.map_or(Duration::ZERO, |time| time.0));
        let [mean, deviation] = delay(self);
        if let Some((_, place)) = self.latency.or(self.jitter).filter(|_| delay(self) != delay(before)) {
            let normal = || Value::plain(format!("{{kind: normal, mean: {mean}, deviation: {deviation}}}"));
            put("delay", if deviation.is_zero() { mean.into() } else { normal() }, place);
        }
        let share = |shape: &Self| shape.drop.map_or(Probability::ZERO, |drop| drop.0);
        if let Some((drop, place)) = self.drop.filter(|_| share(self) != share(before)) {
            put("loss", drop.into(), place);
        }
        settings
    }
}

impl<'a> Reader<'a> {
    /// Services and bridges.
    fn nodes(&mut self, document: &'a Document<'a>) -> Read<()> {
        let joins = schedule::instances(document, self.lines)?;
        for element in inside(document, "services").filter(|element| element.has_tag_name("service")) {
            self.service(&element, &joins)?;
        }
        for element in inside(document, "bridges").filter(|element| element.has_tag_name("bridge")) {
            let (name, _) = xml::required(&element, "name", self.lines, "a bridge is called by its name")?;
            let place = xml::place(&element, self.lines);
            let number = self.topology.add_node(name, "bridge", place)?;
            self.topology.nodes[number].settings.push(entry("kind", Value::plain("transit")));
            self.call(name, Called { numbers: vec![number], is_bridge: true, is_left_out: false }, place)?;
        }
        if self.topology.nodes.is_empty() {
            let place = xml::place(&document.root_element(), self.lines);
            return Err(place.wrong("there is no <service> in this file: a network has at least one node"));
        }
        xml::rest(&document.root_element(), self.lines, &READ, &[], &mut self.topology.notes);
        Ok(())
    }

    fn service(&mut self, element: &Node<'a, 'a>, joins: &BTreeMap<String, usize>) -> Read<()> {
        let (name, _) = xml::required(element, "name", self.lines, "a service is called by its name")?;
        let attribute = |key: &str| xml::attribute(element, key, self.lines);
        let place = xml::place(element, self.lines);
        if attribute("supervisor").is_some() {
            self.topology.notes.add(place, format!("`{name}` is Kollaps' dashboard: it is left out"));
            return self.call(name, Called { is_left_out: true, ..Called::default() }, place);
        }
        let said = count(element, "replicas", self.lines)?.unwrap_or(1);
        let instances = joins.get(name).copied().unwrap_or(said);
        let is_container = !self.no_images && attribute("image").is_some();
        let is_shared = attribute("share").is_some_and(|(share, _)| share == "true") && instances > 1;
        for (is_said, note) in [
            (self.no_images && attribute("image").is_some(), "images are not run: nodes have this machine's files"),
            (
                !is_container && attribute("command").is_some(),
                "`command` is not run: it is what the image gets as parameters",
            ),
            (is_shared, "`share` is not read: each instance has a link of its own"),
        ] {
            if is_said {
                self.topology.notes.add(place, note);
            }
        }
        let mut numbers = Vec::new();
        for instance in 1..=instances {
            let label = if instances == 1 { name.to_owned() } else { format!("{name}-{instance}") };
            let number = self.topology.add_node(&label, "service", place)?;
            let settings = &mut self.topology.nodes[number].settings;
            if let Some((image, at)) = attribute("image").filter(|_| is_container) {
                containers::put_image(settings, image, at);
            }
            if let Some((command, at)) = attribute("command").filter(|_| is_container) {
                // A list as Python writes it.
                let list = command.trim().strip_prefix('[').and_then(|list| list.strip_suffix(']'));
                containers::put_words(settings, "command", &list.unwrap_or(command).replace(',', " "), at);
            }
            if !is_container {
                machine::own_files(&mut self.topology, number);
            }
            if let Some((script, at)) = attribute("script") {
                let on = Value::text(self.topology.nodes[number].name.clone());
                let run = vec![entry("on", on), entry("run", Value::text(script))];
                self.topology.timeline.push(Value::map(run).because(Origin::at(at)));
            }
            numbers.push(number);
        }
        self.call(name, Called { numbers, ..Called::default() }, place)
    }

    fn call(&mut self, name: &str, called: Called, place: Place) -> Read<()> {
        match self.nodes.insert(name.to_owned(), called) {
            None => Ok(()),
            Some(_) => Err(place.wrong(format!("there are two services or bridges called {name:?}"))),
        }
    }

    /// The two names that a link or an event is about; none if one of them is left out.
    fn ends(&mut self, element: &Node<'a, 'a>) -> Read<Option<[String; 2]>> {
        let mut ends = [String::new(), String::new()];
        for (key, end) in ["origin", "dest"].into_iter().zip(&mut ends) {
            let (name, place) = xml::required(element, key, self.lines, "a link leads from `origin` to `dest`")?;
            match self.nodes.get(name) {
                Some(called) if called.is_left_out => {
                    self.topology
                        .notes
                        .add(place, format!("a link to `{name}`, which is left out: it is left out, too"));
                    return Ok(None);
                }
                Some(_) => *end = name.to_owned(),
                None => {
                    let message = format!("`{key}=\"{name}\"`: there is no service or bridge of this name");
                    return Err(place.wrong(message));
                }
            }
        }
        if ends[0] == ends[1] {
            self.topology.notes.add(xml::place(element, self.lines), "a link from a node to itself: it is left out");
            return Ok(None);
        }
        Ok(Some(ends))
    }

    fn link(&mut self, element: &Node<'a, 'a>) -> Read<()> {
        let Some(ends) = self.ends(element)? else { return Ok(()) };
        let place = xml::place(element, self.lines);
        let forward = Shape::default().said(element, "upload", self.lines)?;
        let backward = match xml::attribute(element, "download", self.lines) {
            Some(_) => Some(Shape::default().said(element, "download", self.lines)?),
            None => None,
        };
        // A link without `download` leads in one direction; another one may lead back.
        let back = self.by_ends.get(&[ends[1].clone(), ends[0].clone()]).and_then(|numbers| numbers.last().copied());
        if let Some(back) = back.filter(|back| backward.is_none() && self.links[*back].shapes[1].is_none()) {
            self.links[back].shapes[1] = Some(forward);
            return Ok(());
        }
        let [one, other] = [0, 1].map(|end| self.nodes[&ends[end]].numbers.clone());
        let mut numbers = Vec::new();
        for (first, second) in one.iter().flat_map(|first| other.iter().map(move |second| (*first, *second))) {
            let joined = [End::at(first), End::at(second)];
            numbers.push(self.topology.add_link("", Origin::at(place), joined)?);
        }
        self.by_ends.entry(ends).or_default().push(self.links.len());
        self.links.push(LinkOf { shapes: [Some(forward), backward], numbers, place });
        Ok(())
    }

    /// Writes into the links of the lab what those of the file do.
    fn write_links(&mut self) {
        for link in &mut self.links {
            let forward = link.shapes[0].clone().unwrap_or_default();
            let backward = link.shapes[1].get_or_insert_with(|| {
                self.topology.notes.add(link.place, "a link in one direction only: it is the same in the other");
                forward.clone()
            });
            let [there, back] = [&forward, backward].map(|shape| shape.settings(&Shape::default()));
            let plain =
                |map: &Map| map.iter().map(|(key, value)| (key.clone(), value.content.clone())).collect::<Vec<_>>();
            for number in &link.numbers {
                let made = &mut self.topology.links[*number];
                let (same, other): (Map, Map) = there
                    .iter()
                    .cloned()
                    .partition(|one| plain(&back).contains(&(one.0.clone(), one.1.content.clone())));
                made.backward = back.iter().filter(|one| !same.iter().any(|it| it.0 == one.0)).cloned().collect();
                (made.settings, made.forward) = (same, other);
            }
        }
    }
}
