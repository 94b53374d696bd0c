//! Objects of the simulator: agents, applications, links and their queues, and what a script sets on them.

use super::defaults::{built_in, is_same};
use crate::notes::Notes;
use crate::source::Place;
use netloom_units::Duration;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Attributes of an object.
const MOST_ATTRIBUTES: usize = 1_000;

/// What a handle stands for.
#[derive(Clone, Debug)]
pub(super) enum Object {
    Simulator,
    Node(usize),
    /// A link, and a direction if it is one.
    Link(usize, Option<usize>),
    /// The queue of a direction, or of both.
    Queue(usize, Option<usize>),
    /// What delays packets in a direction, or in both.
    Delay(usize, Option<usize>),
    /// A LAN, which is a node.
    Lan(usize),
    /// A command of a node.
    Program(usize),
    /// Anything else, with its class and its attributes.
    Other(Box<Other>),
}

/// Something that a script sets on an object or a class, where, and whether it came to anything.
#[derive(Clone, Debug)]
struct Attribute {
    value: String,
    place: Place,
    /// Objects share it with the class from which they have the value.
    is_used: Rc<Cell<bool>>,
}

/// What is set on an object or a class. Whatever is not used is noted in the end, so that nothing is left out in silence.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes {
    set: BTreeMap<String, Attribute>,
    /// The first that found no room.
    left_out: Option<(String, Place)>,
}

impl Attributes {
    /// Sets one; a value that comes later replaces it.
    pub(super) fn set(&mut self, name: &str, value: &str, place: Place) {
        if self.set.len() < MOST_ATTRIBUTES || self.set.contains_key(name) {
            let attribute = Attribute { value: value.to_owned(), place, is_used: Rc::default() };
            self.set.insert(name.to_owned(), attribute);
        } else {
            self.left_out.get_or_insert_with(|| (name.to_owned(), place));
        }
    }

    /// Takes over what a class has and this does not have yet.
    pub(super) fn inherit(&mut self, class: &Self) {
        for (name, attribute) in &class.set {
            self.set.entry(name.clone()).or_insert_with(|| attribute.clone());
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.set.len()
    }

    /// The value of one, which is thereby used.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let attribute = self.set.get(name)?;
        attribute.is_used.set(true);
        Some(&attribute.value)
    }

    /// The number that one is, or ns-2's own value; none of what is no number.
    pub(super) fn number(&self, name: &str, default: f64) -> Option<f64> {
        match self.get(name) {
            Some(text) => text.trim().parse::<f64>().ok().filter(|value| value.is_finite()),
            None => Some(default),
        }
    }

    /// Whether one is true.
    pub(super) fn flag(&self, name: &str, default: bool) -> bool {
        match self.get(name).map(|text| text.trim().to_lowercase()) {
            Some(text) => !["0", "0.0", "false", "no", "off", "f"].contains(&text.as_str()),
            None => default,
        }
    }

    /// Notes what nobody asked for, unless it is as ns-2 has it anyway.
    pub(super) fn note(&self, whose: &str, notes: &mut Notes) {
        if let Some((name, place)) = &self.left_out {
            let said = format!("`{name}` of {whose} is not read: {MOST_ATTRIBUTES} attributes are set before it");
            notes.add(*place, said);
        }
        for (name, attribute) in self.set.iter().filter(|(_, attribute)| !attribute.is_used.get()) {
            // What a class has is noted once.
            attribute.is_used.set(true);
            if built_in(whose, name).is_none_or(|usual| !is_same(usual, &attribute.value)) {
                notes.add(attribute.place, format!("`{name}` of {whose} has no effect on the lab"));
            }
        }
    }
}

/// An agent, an application, an error model, or whatever else has a class.
#[derive(Clone, Debug)]
pub(super) struct Other {
    pub(super) class: String,
    /// What a random variable draws from.
    pub(super) drawn: u64,
    /// Copies of the object share them.
    pub(super) attributes: Rc<Attributes>,
    /// The node of an agent.
    pub(super) node: Option<usize>,
    /// The agent of an application, or the other end of an agent.
    pub(super) peer: Option<String>,
    /// The generator that an agent starts and stops.
    pub(super) generator: Option<String>,
    /// Packets that a transport was asked for, or that a source has sent.
    pub(super) packets: u64,
    pub(super) place: Place,
}

impl Other {
    /// One of a class, with what that class has so far.
    pub(super) fn of(class: String, attributes: Attributes, place: Place) -> Self {
        Self {
            class,
            drawn: 0,
            attributes: Rc::new(attributes),
            node: None,
            peer: None,
            generator: None,
            packets: 0,
            place,
        }
    }

    /// Sets an attribute.
    pub(super) fn put(&mut self, name: &str, value: &str, place: Place) {
        Rc::make_mut(&mut self.attributes).set(name, value, place);
    }

    pub(super) fn is_agent(&self) -> bool {
        self.class.starts_with("Agent/")
    }

    pub(super) fn is_tcp(&self) -> bool {
        self.class.starts_with("Agent/TCP") && !self.class.starts_with("Agent/TCPSink")
    }

    /// A number of this object, or of its class in ns-2.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        let usual = built_in(&self.class, name).and_then(|text| text.parse().ok());
        self.attributes.number(name, usual.unwrap_or(0.0))
    }

    /// A text of this object, or of its class in ns-2.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).or_else(|| built_in(&self.class, name))
    }

    /// The next number from 0 to 1, the same ones in every run: evenly spread.
    fn draw(&mut self) -> f64 {
        let value = (self.drawn >> 11) as f64 / (1_u64 << 53) as f64;
        // The golden ratio as a fraction of 2^64: multiples of it are spread evenly.
        self.drawn = self.drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
        value
    }

    /// The next value of a random variable: of a uniform one evenly spread, else the mean.
    pub(super) fn random(&mut self) -> String {
        let value = match self.class.as_str() {
            "RandomVariable/Uniform" => {
                let least = self.attributes.number("min_", 0.0).unwrap_or(0.0);
                let most = self.attributes.number("max_", 1.0).unwrap_or(1.0);
                least + (most - least) * self.draw()
            }
            "RandomVariable/Constant" => self.attributes.number("val_", 1.0).unwrap_or(1.0),
            _ => self.attributes.number("avg_", 1.0).unwrap_or(1.0),
        };
        format!("{value:?}")
    }

    /// The next value of a random number generator; none if that is no such question.
    pub(super) fn generated(&mut self, method: &str, words: &[String]) -> Option<String> {
        let number = |at: usize| words.get(at).and_then(|text| text.parse::<f64>().ok()).filter(|it| it.is_finite());
        Some(match method {
            "uniform" => {
                let (least, most) = (number(2)?, number(3)?);
                format!("{:?}", least + (most - least) * self.draw())
            }
            "integer" => format!("{}", (number(2)? * self.draw()) as i64),
            "exponential" | "normal" | "lognormal" | "pareto" | "paretoII" => format!("{:?}", number(2).unwrap_or(1.0)),
            _ => return None,
        })
    }
}

/// When a command or an application runs: from an instant, up to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spell {
    pub(super) start: Duration,
    pub(super) stop: Option<Duration>,
}

/// Begins a spell, unless one is open.
pub(super) fn begin(spells: &mut Vec<Spell>, now: Duration) {
    if spells.last().is_none_or(|last| last.stop.is_some()) {
        spells.push(Spell { start: now, stop: None });
    }
}

/// Ends the open spell, if there is one.
pub(super) fn end(spells: &mut [Spell], now: Duration) {
    if let Some(last) = spells.last_mut().filter(|last| last.stop.is_none()) {
        last.stop = Some(now);
    }
}

/// An instant so much later, or the end of time.
pub(super) fn after(instant: Duration, span: Duration) -> Duration {
    Duration::from_nanos(instant.as_nanos().saturating_add(span.as_nanos()))
}

/// How much later one instant is than another; none at all if it is not.
pub(super) fn since(later: Duration, earlier: Duration) -> Duration {
    Duration::from_nanos(later.as_nanos().saturating_sub(earlier.as_nanos()))
}
