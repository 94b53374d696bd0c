//! Objects of the simulator: agents, applications, links and their queues.

use crate::source::Place;
use netloom_units::Duration;
use std::collections::BTreeMap;

/// Variables of an object.
const MOST_VARIABLES: usize = 1_000;

/// What a handle stands for.
#[derive(Clone, Debug)]
pub(super) enum Object {
    Simulator,
    Node(usize),
    /// A link, and a direction if it is one.
    Link(usize, Option<usize>),
    /// The queue of a direction.
    Queue(usize, Option<usize>),
    /// A LAN, which is a node.
    Lan(usize),
    /// A command of a node.
    Program(usize),
    /// Anything else, with its class and its variables.
    Other(Box<Other>),
}

/// An agent, an application, an error model, or whatever else has a class.
#[derive(Clone, Debug)]
pub(super) struct Other {
    pub(super) class: String,
    /// From which a random variable draws.
    pub(super) drawn: u64,
    pub(super) variables: BTreeMap<String, String>,
    /// The node of an agent.
    pub(super) node: Option<usize>,
    /// The agent of an application, or the other end of an agent.
    pub(super) peer: Option<String>,
    pub(super) start: Option<Duration>,
    pub(super) stop: Option<Duration>,
    pub(super) place: Place,
}

impl Other {
    /// Sets a variable.
    pub(super) fn put(&mut self, name: &str, value: &str) {
        if self.variables.len() < MOST_VARIABLES {
            self.variables.insert(name.to_owned(), value.to_owned());
        }
    }

    /// The next value of a random variable, the same ones in every run: evenly spread, or the mean where it is not uniform.
    pub(super) fn random(&mut self) -> String {
        let number = |name: &str, default: f64| {
            let said = self.variables.get(name).and_then(|text| text.parse::<f64>().ok());
            said.filter(|value| value.is_finite()).unwrap_or(default)
        };
        let value = match self.class.as_str() {
            "RandomVariable/Uniform" => {
                let (least, most) = (number("min_", 0.0), number("max_", 1.0));
                least + (most - least) * ((self.drawn >> 11) as f64 / (1_u64 << 53) as f64)
            }
            "RandomVariable/Constant" => number("val_", 0.0),
            _ => number("avg_", 1.0),
        };
        // The golden ratio as a fraction of 2^64: multiples of it are spread evenly.
        self.drawn = self.drawn.wrapping_add(0x9e37_79b9_7f4a_7c15);
        format!("{value:?}")
    }
}
