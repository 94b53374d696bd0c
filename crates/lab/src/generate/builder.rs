//! What a kind of network is built on: its keys, names for its nodes, and limits.

use crate::errors::{Errors, keep};
use crate::fields::{Fields, list, map};
use crate::forms::word_form;
use crate::scalar;
use crate::section::Form;
use crate::yaml::Node;
use netloom_units::{Duration, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A place in the picture: to the right, and down. A link has a length of about one.
pub(super) type Point = [f64; 2];

/// Nodes and how they are joined.
#[derive(Default)]
pub(super) struct Topology {
    pub(super) nodes: Vec<MadeNode>,
    pub(super) links: Vec<MadeLink>,
}

/// A node that was made.
pub(super) struct MadeNode {
    pub(super) name: String,
    pub(super) is_host: bool,
    pub(super) at: Option<Point>,
}

/// A link that was made.
pub(super) struct MadeLink {
    pub(super) ends: [usize; 2],
    /// Which links it is alike.
    pub(super) tier: &'static str,
    /// How long it takes to cross it, where the kind says.
    pub(super) delay: Option<Duration>,
    /// How that changes over time, where the kind says.
    pub(super) course: Vec<MadeStep>,
}

/// A step of the schedule of a link that was made: between two there are straight lines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MadeStep {
    pub(super) at: Duration,
    pub(super) delay: Option<Duration>,
    /// Whether everything is lost; none: as before.
    pub(super) is_lost: Option<bool>,
    /// The rates forward and backward in bits per second; none: as before.
    pub(super) rates: Option<[u64; 2]>,
}

/// How much of a lab is taken already.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) nodes: usize,
    pub(super) links: usize,
}

/// Where a kind of network puts its nodes and links.
pub(super) struct TopologyBuilder<'a, 'e> {
    fields: &'a Fields<'a>,
    node: &'a Node,
    errors: &'e mut Errors,
    pub(super) random: Random,
    /// What else is drawn derives from this.
    pub(super) seed: Seed,
    /// What the names of inner nodes begin with.
    letter: char,
    taken: Room,
    hosts: usize,
    pub(super) topology: Topology,
}

impl<'a, 'e> TopologyBuilder<'a, 'e> {
    pub(super) fn new(
        fields: &'a Fields<'a>,
        node: &'a Node,
        errors: &'e mut Errors,
        seed: Seed,
        letter: char,
        taken: Room,
    ) -> Self {
        let random = Random(Xoshiro256PlusPlus::seed_from_u64(seed.get()));
        Self { fields, node, errors, random, seed, letter, taken, hosts: 0, topology: Topology::default() }
    }

    /// The whole number under a key.
    pub(super) fn count(&mut self, key: &str) -> Option<usize> {
        let number = self.fields.integer(key, self.errors)?;
        usize::try_from(number).ok()
    }

    /// The same, or what holds if the file does not say it.
    pub(super) fn count_or(&mut self, key: &str, default: usize) -> Option<usize> {
        if self.has(key) { self.count(key) } else { Some(default) }
    }

    /// The number with decimals under a key: above zero, and at most this; the default if it is not there.
    pub(super) fn number(&mut self, key: &str, default: f64, most: f64) -> Option<f64> {
        let read = |node: &Node| {
            let number: Option<f64> = node.plain().and_then(|text| text.parse().ok());
            let is_right = |value: &f64| *value > 0.0 && *value <= most;
            let found = node.text().map_or_else(|| "this".to_owned(), |text| format!("\"{text}\""));
            let message = format!("{found} is not a number above 0 and at most {most}, for example {default}");
            number.filter(is_right).ok_or_else(|| node.error(message))
        };
        if self.has(key) { self.fields.read(key, read, self.errors) } else { Some(default) }
    }

    /// The time under a key.
    pub(super) fn time(&mut self, key: &str, default: Duration) -> Option<Duration> {
        if self.has(key) { self.fields.read(key, scalar::positive_duration, self.errors) } else { Some(default) }
    }

    /// The value under a key as it is written, and where its errors are noted.
    pub(super) fn value(&mut self, key: &str) -> Option<(&'a Node, &mut Errors)> {
        Some((self.fields.get(key)?, self.errors))
    }

    /// The value under a key, in a form that says how it is read.
    pub(super) fn form<F: Form>(&mut self, key: &str) -> Option<F::Value> {
        self.fields.form::<F>(key, self.errors)
    }

    /// The text under a key, or what holds if the file does not say it.
    pub(super) fn text_or(&mut self, key: &str, default: &str) -> Option<String> {
        if self.has(key) { self.fields.read(key, scalar::text, self.errors) } else { Some(default.to_owned()) }
    }

    /// The name and the text of the file under a key.
    pub(super) fn file(&mut self, key: &str) -> Option<(String, String)> {
        let node = self.fields.get(key)?;
        let text = keep(self.errors.read_text(node), self.errors)?;
        Some((node.text()?.to_owned(), text))
    }

    /// Notes that a key is missing.
    pub(super) fn lacks<T>(&mut self, key: &str, example: &str) -> Option<T> {
        self.errors.push(self.node.lacks(key, example));
        None
    }

    /// The items of the list under a key, one at least.
    pub(super) fn list(&mut self, key: &str) -> Option<Vec<&'a Node>> {
        let node = self.fields.get(key)?;
        let items: Vec<&Node> = list(node, self.errors).iter().collect();
        if items.is_empty() {
            self.errors.push(node.error("a list with one item at least is needed here"));
            return None;
        }
        Some(items)
    }

    /// The names and values of the map under a key.
    pub(super) fn entries(&mut self, key: &str) -> Option<Vec<(&'a str, &'a Node)>> {
        let node = self.fields.get(key)?;
        let entries = map(node, "a map of names and what they stand for", self.errors)?;
        Some(entries.iter().map(|entry| (entry.name.as_str(), &entry.value)).collect())
    }

    /// Notes what is wrong with a value.
    pub(super) fn fail<T>(&mut self, node: &Node, message: impl Into<String>) -> Option<T> {
        self.errors.push(node.error(message));
        None
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.fields.get(key).is_some()
    }

    /// Notes what is wrong with the value of a key, or with all if it is not there.
    pub(super) fn wrong<T>(&mut self, key: &str, message: impl Into<String>) -> Option<T> {
        let place = self.fields.get(key).unwrap_or(self.node);
        self.errors.push(place.error(message));
        None
    }

    /// A node with this name.
    pub(super) fn node(&mut self, name: String, at: Option<Point>) -> Option<usize> {
        self.put(MadeNode { name, is_host: false, at })
    }

    /// A node whose name is a letter for what it is, and a number or several.
    pub(super) fn inner(&mut self, number: impl std::fmt::Display, at: Option<Point>) -> Option<usize> {
        let name = format!("{}{number}", self.letter);
        self.node(name, at)
    }

    /// A host, which has the next number.
    pub(super) fn host(&mut self, at: Option<Point>) -> Option<usize> {
        self.hosts += 1;
        let name = format!("h{}", self.hosts);
        self.named_host(name, at)
    }

    pub(super) fn named_host(&mut self, name: String, at: Option<Point>) -> Option<usize> {
        self.put(MadeNode { name, is_host: true, at })
    }

    fn put(&mut self, node: MadeNode) -> Option<usize> {
        let most = self.errors.limits().nodes;
        if self.taken.nodes + self.topology.nodes.len() >= most {
            return self.too_large(&format!("more than {most} nodes"));
        }
        self.topology.nodes.push(node);
        Some(self.topology.nodes.len() - 1)
    }

    fn too_large<T>(&mut self, what: &str) -> Option<T> {
        let message = format!("the lab would have {what}, the most that are possible: generate a smaller network");
        self.errors.push(self.node.error(message));
        None
    }

    pub(super) fn link(&mut self, one: usize, other: usize, tier: &'static str) -> Option<()> {
        self.link_of(one, other, tier, None)
    }

    pub(super) fn link_of(
        &mut self,
        one: usize,
        other: usize,
        tier: &'static str,
        delay: Option<Duration>,
    ) -> Option<()> {
        self.put_link(MadeLink { ends: [one, other], tier, delay, course: Vec::new() })
    }

    /// A link whose delay and loss change over time.
    pub(super) fn link_over_time(
        &mut self,
        one: usize,
        other: usize,
        tier: &'static str,
        course: Vec<MadeStep>,
    ) -> Option<()> {
        self.put_link(MadeLink { ends: [one, other], tier, delay: None, course })
    }

    fn put_link(&mut self, link: MadeLink) -> Option<()> {
        let most = self.errors.limits().links;
        if self.taken.links + self.topology.links.len() >= most {
            return self.too_large(&format!("more than {most} links"));
        }
        self.topology.links.push(link);
        Some(())
    }

    /// How many hosts each of so many edge devices has: `hosts_each`, or its share of `hosts`.
    pub(super) fn hosts_of(&mut self, edges: usize, default: usize) -> Option<Vec<usize>> {
        let each = self.count_or("hosts_each", default)?;
        if !self.has("hosts") {
            return Some(vec![each; edges]);
        }
        if self.has("hosts_each") {
            return self.wrong("hosts", "`hosts_each` says how many hosts there are, too: leave one of them out");
        }
        let all = self.count("hosts")?;
        Some((0..edges).map(|edge| (edge + 1) * all / edges - edge * all / edges).collect())
    }

    /// Gives an edge device so many hosts; `place` says where each is.
    pub(super) fn add_hosts(
        &mut self,
        edge: usize,
        count: usize,
        place: impl Fn(usize) -> Option<Point>,
    ) -> Option<()> {
        for number in 0..count {
            let host = self.host(place(number))?;
            self.link(host, edge, "access")?;
        }
        Some(())
    }

    /// Where a node is.
    pub(super) fn at(&self, node: usize) -> Option<Point> {
        self.topology.nodes[node].at
    }

    /// Whether hosts are at all inner nodes, and not at the edge only.
    pub(super) fn hosts_everywhere(&mut self) -> Option<bool> {
        if self.has("hosts_at") { self.form::<Everywhere>("hosts_at") } else { Some(false) }
    }
}

word_form! {
    /// Whether hosts are at all inner nodes, and not at the edge only.
    pub(super) struct Everywhere = bool { "edge" = false, "all" = true }
}

/// Numbers drawn from the seed.
pub(super) struct Random(Xoshiro256PlusPlus);

impl Random {
    /// A number below `end`, which is not zero, each as likely as the others to one part in 2^64.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let product = u128::from(self.0.next_u64()) * end as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// A number from 0 to 1, without 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A place on a circle around the origin; number 0 is at the top, and numbers go round with the clock.
pub(super) fn around(number: usize, count: usize, radius: f64) -> Point {
    let angle = 2.0 * std::f64::consts::PI * number as f64 / count as f64;
    [radius * libm::sin(angle), -radius * libm::cos(angle)]
}

/// The radius of a circle on which so many neighbours are one link apart.
pub(super) fn radius(count: usize) -> f64 {
    (count as f64 / (2.0 * std::f64::consts::PI)).max(0.8)
}
