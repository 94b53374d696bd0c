//! `generate`: networks of well-known shapes. What is generated becomes entries of `nodes`, `links` and `layout`, as if the
//! lab file had them; so they go through the same checks, and errors about settings name the place where these are written.
//!
//! Each kind is a function that puts nodes and links on a [`TopologyBuilder`], with the keys that it reads in `keys.rs`.

mod builder;
mod cloud;
mod constellation;
mod data_center;
mod internet;
mod keys;
mod plain;
mod random;
mod scenarios;
mod text;

pub(crate) use keys::GENERATE;
pub use text::{GeneratorKey, generate, generator_keys, generator_kinds};

use crate::diagnostics::{Diagnostic, Span};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, map};
use crate::limits::Limits;
use crate::scalar;
use crate::section::Section;
use crate::yaml::{self, Content, Entry, Node};
use builder::{MadeStep, Room, Topology, TopologyBuilder};
use keys::{KINDS, SECTIONS};
use netloom_units::{Duration, Seed};
use std::collections::{BTreeMap, BTreeSet};

/// Between two networks that are generated side by side, in lengths of a link.
const GAP: f64 = 2.0;

/// A kind of network: its keys, and what builds it; none after an error was noted.
type Kind = (&'static Section, fn(&mut TopologyBuilder<'_, '_>) -> Option<()>);

/// A lab file with what it generates.
pub(crate) struct Expanded {
    /// As if the file had all nodes and links itself.
    pub(crate) root: Node,
    /// Whether something could not be generated.
    pub(crate) has_gaps: bool,
}

/// The lab file with all that it generates; none if that is nothing.
pub(crate) fn expand(root: &Node, errors: &mut Errors) -> Option<Expanded> {
    let wanted = root.value("generate")?;
    // What is wrong with it is noted when it is read in earnest.
    let seed = root.value("seed").and_then(|seed| scalar::seed(seed).ok()).unwrap_or(Seed::new(1));
    let (mut made, before) = (Made { limits: errors.limits(), ..Made::default() }, errors.len());
    for (prefix, node) in generators(wanted, errors) {
        // None after an error was noted.
        let _ = made.add(prefix, node, seed, errors);
    }
    let has_gaps = errors.len() > before;
    let mut root = root.clone();
    if let Content::Map(own) = &mut root.content {
        let head = wanted.head;
        made.check_links(own, errors);
        merge(own, "nodes", made.nodes, head);
        merge(own, "links", made.links, head);
        merge(own, "layout", made.layout, head);
    }
    Some(Expanded { root, has_gaps })
}

/// The generators with what the names of their nodes begin with: the only one has nothing there.
fn generators<'a>(wanted: &'a Node, errors: &mut Errors) -> Vec<(&'a str, &'a Node)> {
    const WANTED: &str = "a network to generate, for example {kind: ring, n: 5}, or a map of names and such";
    let Some(entries) = map(wanted, WANTED, errors) else { return Vec::new() };
    if entries.is_empty() {
        errors.push(wanted.lacks("kind", "ring"));
    }
    if entries.iter().any(|entry| entry.name == "kind" && !matches!(entry.value.content, Content::Map(_))) {
        return vec![("", wanted)];
    }
    let mut named = Vec::new();
    for entry in entries {
        let name = &entry.name;
        if !name.starts_with(|c: char| c.is_ascii_alphabetic())
            || !name.bytes().all(|b| b.is_ascii_alphanumeric())
            || name.len() > 10
        {
            let message = format!(
                "`{name}` cannot name a generated network: begin with a letter, go on with letters and digits, 10 at most; or \
                 write its `kind`"
            );
            errors.push(Diagnostic::new(entry.span, &entry.value.key, message));
            continue;
        }
        named.push((name.as_str(), &entry.value));
    }
    named
}

/// What was generated so far.
#[derive(Default)]
struct Made {
    nodes: Vec<Entry>,
    links: Vec<Entry>,
    layout: Vec<Entry>,
    /// Where the next network may begin in the picture.
    right: f64,
    values: usize,
    bytes: usize,
    limits: Limits,
}

impl Made {
    /// Generates one network; none after an error was noted.
    fn add(&mut self, prefix: &str, node: &Node, seed: Seed, errors: &mut Errors) -> Option<()> {
        let before = errors.len();
        let (name, fields) = Fields::open_kind(node, &SECTIONS, errors)?;
        let (_, make) = KINDS.iter().find(|(section, _)| section.kind() == name)?;
        let settings = Settings::read(&fields, name, errors)?;
        let seed = fields.read("seed", scalar::seed, errors).unwrap_or(seed).derive("generate").derive(prefix);
        let room = Room { nodes: self.nodes.len(), links: self.links.len() };
        let mut builder = TopologyBuilder::new(&fields, node, errors, seed, settings.letter(), room);
        let done = make(&mut builder);
        let topology = builder.topology;
        done.filter(|()| errors.len() == before)?;
        let put = self.put(prefix, node, &topology, &settings);
        keep(put.and_then(|()| settings.unused(&topology)), errors)
    }

    fn put(
        &mut self,
        prefix: &str,
        node: &Node,
        topology: &Topology,
        settings: &Settings<'_>,
    ) -> Result<(), Diagnostic> {
        let full = |name: &str| if prefix.is_empty() { name.to_owned() } else { format!("{prefix}-{name}") };
        let write = Writer { span: node.head, key: &node.key };
        let left = topology.nodes.iter().filter_map(|made| made.at).map(|[x, _]| x).fold(f64::INFINITY, f64::min);
        let shift = if self.right > 0.0 { self.right + GAP - left } else { 0.0 };
        for made in &topology.nodes {
            let name = full(&made.name);
            let own = if made.is_host { settings.host } else { settings.inner };
            let mut entries: Vec<Entry> = own.to_vec();
            if !made.is_host && !entries.iter().any(|entry| entry.name == "kind") {
                let text = || write.text(settings.kind.to_owned());
                let value = settings.word.map_or_else(text, Node::clone);
                entries.push(Entry { name: "kind".into(), span: value.span, value });
            }
            self.count(&entries, node)?;
            if let Some([x, y]) = made.at {
                let place = [x + shift, y].map(|value| write.text(format!("{value:.3}")));
                self.right = self.right.max(x + shift);
                self.layout.push(write.with(&name, Content::List(place.into())));
            }
            self.nodes.push(write.with(&name, Content::Map(entries)));
        }
        for link in &topology.links {
            let [one, other] = link.ends.map(|end| &topology.nodes[end].name);
            let local = format!("{one}-{other}");
            let ends = [one, other].map(|end| write.text(full(end)));
            let mut entries = vec![write.with("ends", Content::List(ends.into()))];
            entries.extend(settings.of_link(&local, link.tier));
            let says_delay =
                entries.iter().any(|entry| ["delay", "netem", "dummynet", "profile"].contains(&entry.name.as_str()));
            if let Some(delay) = link.delay.filter(|_| !says_delay) {
                entries.push(write.entry("delay", &format!("{} us", delay.as_nanos() / 1_000)));
            }
            if !link.course.is_empty() && !says_delay && !entries.iter().any(|entry| entry.name == "schedule") {
                write.schedules(&link.course, &mut entries);
            }
            self.count(&entries, node)?;
            self.links.push(write.with(&full(&local), Content::Map(entries)));
        }
        Ok(())
    }

    /// The error if the settings of what is generated take more memory than any lab needs.
    fn count(&mut self, entries: &[Entry], node: &Node) -> Result<(), Diagnostic> {
        for entry in entries {
            let (values, bytes) = yaml::size(&entry.value);
            self.values += values;
            self.bytes += bytes;
        }
        let Limits { values, bytes, .. } = self.limits;
        if self.values > values || self.bytes > bytes {
            let message = format!(
                "its nodes and links have more than {values} values or {} MiB of settings together: say less of each",
                bytes >> 20
            );
            return Err(node.error(message));
        }
        Ok(())
    }

    /// Notes links of the lab file that have the name of a generated one.
    fn check_links(&self, own: &[Entry], errors: &mut Errors) {
        let Some(Content::Map(written)) =
            own.iter().find(|entry| entry.name == "links").map(|entry| &entry.value.content)
        else {
            return;
        };
        let names: BTreeMap<&str, Span> = self.links.iter().map(|link| (link.name.as_str(), link.span)).collect();
        for link in written {
            if let Some(span) = names.get(link.name.as_str()) {
                let message = format!(
                    "a generated link has the name `{}`: rename this one, or write what differs under `links` of the \
                     generated network",
                    link.name
                );
                errors.push(Diagnostic::new(link.span, &link.value.key, message).and(*span, "generated here"));
            }
        }
    }
}

/// Makes values at the place of a generator.
struct Writer<'a> {
    span: Span,
    key: &'a str,
}

impl Writer<'_> {
    fn node(&self, content: Content) -> Node {
        Node { span: self.span, end: 0, head: self.span, key: self.key.to_owned(), content }
    }

    fn text(&self, text: String) -> Node {
        self.node(Content::Text { text, plain: true, block: None })
    }

    fn with(&self, name: &str, content: Content) -> Entry {
        Entry { name: name.to_owned(), span: self.span, value: self.node(content) }
    }

    /// Adds the schedule of a link to what it says: one, or one for each direction if rates change that it does not say.
    fn schedules(&self, course: &[MadeStep], entries: &mut Vec<Entry>) {
        let says_rate = entries.iter().any(|entry| entry.name == "rate");
        if says_rate || course.iter().all(|step| step.rates.is_none()) {
            entries.push(self.schedule(course, None));
            return;
        }
        for (number, direction) in ["forward", "backward"].into_iter().enumerate() {
            let schedule = self.schedule(course, Some(number));
            match entries.iter_mut().find(|entry| entry.name == direction).map(|entry| &mut entry.value.content) {
                Some(Content::Map(own)) if own.iter().any(|entry| entry.name == "schedule") => {}
                Some(Content::Map(own)) => own.push(schedule),
                _ => entries.push(self.with(direction, Content::Map(vec![schedule]))),
            }
        }
    }

    /// A schedule with straight lines between these steps, with the rates of this direction.
    fn schedule(&self, course: &[MadeStep], direction: Option<usize>) -> Entry {
        let written = |step: &MadeStep| {
            let time = |name: &str, time: Duration| self.entry(name, &format!("{} ns", time.as_nanos()));
            let loss = step.is_lost.map(|is_lost| self.entry("loss", if is_lost { "100 %" } else { "0 %" }));
            let delay = step.delay.map(|delay| time("delay", delay));
            let rate = direction.zip(step.rates).map(|(direction, rates)| rates[direction]);
            let rate = rate.map(|rate| self.entry("rate", &format!("{rate} bit/s")));
            self.node(Content::Map([time("at", step.at)].into_iter().chain(rate).chain(delay).chain(loss).collect()))
        };
        let steps = self.with("steps", Content::List(course.iter().map(written).collect()));
        self.with("schedule", Content::Map(vec![steps, self.entry("interpolation", "linear")]))
    }

    fn entry(&self, name: &str, text: &str) -> Entry {
        self.with(name, Content::Text { text: text.to_owned(), plain: true, block: None })
    }
}

/// What a generator says about its nodes and links.
struct Settings<'a> {
    /// The kind of inner nodes, unless their settings say it.
    kind: &'a str,
    /// Where it is written as a word.
    word: Option<&'a Node>,
    inner: &'a [Entry],
    host: &'a [Entry],
    link: &'a [Entry],
    tiers: &'a [Entry],
    links: &'a [Entry],
}

impl<'a> Settings<'a> {
    fn read(fields: &Fields<'a>, network: &str, errors: &mut Errors) -> Option<Self> {
        let mut is_right = true;
        let mut map = |name: &str, wanted: &str| match fields.get(name).map(|node| (node, &node.content)) {
            None | Some((_, Content::Empty)) => &[][..],
            Some((_, Content::Map(entries))) => entries,
            Some((node, _)) => {
                errors.push(node.expected(wanted));
                is_right = false;
                &[]
            }
        };
        let settings = "a map of settings of a link, for example {rate: 10 Mbit/s}";
        let host = map("host", "a map of settings of a node, for example {cpus: 0.5}");
        let link = map("link", settings);
        let tiers = map("tiers", "a map of tiers, for example {access: {rate: 100 Mbit/s}}");
        let links = map("links", "a map of links, for example {r1-r2: {rate: 1 Mbit/s}}");
        let default = if ["star", "tree"].contains(&network) { "switch" } else { "transit" };
        let (word, inner) = match fields.get("inner").map(|node| (node, &node.content)) {
            None => (None, &[][..]),
            Some((_, Content::Map(entries))) => (None, entries.as_slice()),
            Some((node, Content::Text { .. })) => (Some(node), &[][..]),
            Some((node, _)) => {
                return errors.reject(node.expected("a kind of node, for example `switch`, or a map of settings"));
            }
        };
        for entry in tiers.iter().chain(links) {
            if !matches!(entry.value.content, Content::Map(_)) {
                errors.push(entry.value.expected(settings));
                is_right = false;
            }
        }
        let said = word.or_else(|| inner.iter().find(|entry| entry.name == "kind").map(|entry| &entry.value));
        let kind = said.and_then(Node::text).unwrap_or(default);
        is_right.then_some(Self { kind, word, inner, host, link, tiers, links })
    }

    /// What the names of inner nodes begin with.
    fn letter(&self) -> char {
        match self.kind {
            "switch" | "hub" => 's',
            "host" => 'n',
            _ => 'r',
        }
    }

    /// What holds for a link: what is said of itself comes before what is said of its tier and of all.
    fn of_link(&self, name: &str, tier: &str) -> Vec<Entry> {
        let under = |entries: &'a [Entry], own: &str| match entries.iter().find(|entry| entry.name == own) {
            Some(Entry { value: Node { content: Content::Map(entries), .. }, .. }) => entries.as_slice(),
            _ => &[],
        };
        let mut all: Vec<Entry> = Vec::new();
        for entry in under(self.links, name).iter().chain(under(self.tiers, tier)).chain(self.link) {
            if !all.iter().any(|other| other.name == entry.name) {
                all.push(entry.clone());
            }
        }
        all
    }

    /// The error about settings of a tier or a link that is not there.
    fn unused(&self, topology: &Topology) -> Result<(), Diagnostic> {
        let tiers: BTreeSet<&str> = topology.links.iter().map(|link| link.tier).collect();
        if let Some(entry) = self.tiers.iter().find(|entry| !tiers.contains(entry.name.as_str())) {
            let known = tiers.into_iter().collect::<Vec<_>>().join(", ");
            let message = format!("no link belongs to a tier `{}`: the tiers here are {known}", entry.name);
            return Err(Diagnostic::new(entry.span, &entry.value.key, message));
        }
        let name = |[one, other]: [usize; 2]| format!("{}-{}", topology.nodes[one].name, topology.nodes[other].name);
        let names: BTreeSet<String> = topology.links.iter().map(|link| name(link.ends)).collect();
        if let Some(entry) = self.links.iter().find(|entry| !names.contains(&entry.name)) {
            let near = crate::diagnostics::nearest(&entry.name, names.iter().map(String::as_str));
            let hint = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
            let message = format!("no link `{}` is generated here{hint}", entry.name);
            return Err(Diagnostic::new(entry.span, &entry.value.key, message));
        }
        Ok(())
    }
}

/// Puts what was generated before what the file has itself under this key. Where both have a name, what the file says of it is
/// added, and comes first.
fn merge(own: &mut Vec<Entry>, name: &str, mut made: Vec<Entry>, head: Span) {
    if made.is_empty() {
        return;
    }
    let place = own.iter().position(|entry| entry.name == name).unwrap_or_else(|| {
        let value = Node { span: head, head, key: name.to_owned(), ..Node::empty() };
        own.push(Entry { name: name.to_owned(), span: head, value });
        own.len() - 1
    });
    let value = &mut own[place].value;
    let written = match &mut value.content {
        Content::Empty => Vec::new(),
        Content::Map(entries) => std::mem::take(entries),
        Content::List(items) => items.drain(..).filter_map(named).collect(),
        // An error that is noted where it is read.
        Content::Text { .. } => return,
    };
    let places: BTreeMap<String, usize> = (0..).zip(&made).map(|(at, entry)| (entry.name.clone(), at)).collect();
    for mut entry in written {
        let Some(at) = places.get(&entry.name) else {
            made.push(entry);
            continue;
        };
        let existing = &mut made[*at];
        match (&mut existing.value.content, &mut entry.value.content) {
            // `h1:` adds nothing.
            (Content::Map(_), Content::Empty) => {}
            (Content::Map(old), Content::Map(new)) => {
                old.retain(|old| !new.iter().any(|new| new.name == old.name));
                new.append(old);
                *existing = entry;
            }
            _ => *existing = entry,
        }
    }
    value.content = Content::Map(made);
}

/// An item of a list of names as an entry of a map.
fn named(item: Node) -> Option<Entry> {
    let name = item.text()?.to_owned();
    let value = Node { content: Content::Empty, ..item };
    Some(Entry { name, span: value.span, value })
}

#[cfg(test)]
mod tests;
