//! What can be measured of a command and of a link's direction.

use super::{Dimension, Spread};
use crate::words::words;
use serde_json::Value;
use std::fmt;

/// A metric of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandMetric {
    /// Its exit code; 128 and the signal's number if a signal ended it.
    Exit,
    /// The time from its start to its end.
    Duration,
    /// The text that it wrote to its standard output.
    Stdout,
    /// The text that it wrote to its standard error.
    Stderr,
    /// A value in the JSON document that it wrote to its standard output.
    Json(JsonPath),
}

impl CommandMetric {
    /// All names, for messages; `json` is followed by a path.
    pub(crate) const NAMES: [&'static str; 5] = ["exit", "duration", "stdout", "stderr", "json"];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "exit" => Self::Exit,
            "duration" => Self::Duration,
            "stdout" => Self::Stdout,
            "stderr" => Self::Stderr,
            _ => return None,
        })
    }

    /// Returns the unit in which the metric is measured.
    pub fn dimension(&self) -> Dimension {
        match self {
            Self::Exit => Dimension::Number,
            Self::Duration => Dimension::Duration,
            Self::Stdout | Self::Stderr => Dimension::Text,
            Self::Json(_) => Dimension::Json,
        }
    }
}

words! {
    /// A metric of one direction of a link. Packets are segments; bytes count from the IP header on.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PipeMetric {
        /// The rate of what was delivered.
        Throughput = "throughput",
        /// The rate of what arrived.
        Offered = "offered",
        /// The mean propagation delay that packets had: from the end of their transmission to delivery.
        Delay = "delay",
        /// The median of the propagation delay that packets had.
        DelayP50 = "delay_p50",
        /// The 99th percentile of the propagation delay that packets had.
        DelayP99 = "delay_p99",
        /// The number of packets that waited, at each sample.
        Queue = "queue",
        /// The most packets that waited at once.
        QueueMax = "queue_max",
        /// Packets dropped for any cause.
        Drops = "drops",
        /// Packets marked as having experienced congestion.
        Marks = "marks",
        /// Dropped packets as a share of those that arrived.
        Loss = "loss",
        /// Throughput as a share of the described rate.
        Utilization = "utilization",
        /// The mean of how much later than due packets were delivered.
        Lateness = "lateness",
        /// The 99th percentile of how much later than due packets were delivered.
        LatenessP99 = "lateness_p99",
        /// Packets delivered.
        Packets = "packets",
        /// Bytes delivered.
        Bytes = "bytes",
        /// The share of time in which a radio medium was busy.
        Airtime = "airtime",
        /// The attempts to send on a radio medium that collided with others.
        Collisions = "collisions",
        /// The packets that attempts to send on a radio medium failed to get across.
        Retries = "retries",
        /// The attempts to send on a radio medium.
        Attempts = "attempts",
        /// The packets that were lost on a radio medium: after the last retry, or to everybody in a collision.
        AirDrops = "air_drops",
        /// The mean over attempts to send on a radio medium of the rate of their data.
        AirRate = "air_rate",
        /// How often terminals of a cell that had data went to another one, or stations of 802.11 to another access point.
        Handovers = "handovers",
        /// The stations that are with an access point at the end.
        Clients = "clients",
        /// The share of time in which several stations sent at once on a radio medium where all hear one another.
        CollisionAirtime = "collision_airtime",
    }
}

impl PipeMetric {
    /// Whether only a radio medium has it.
    pub(crate) fn is_of_air(self) -> bool {
        matches!(
            self,
            Self::Airtime
                | Self::Collisions
                | Self::Retries
                | Self::Attempts
                | Self::AirDrops
                | Self::AirRate
                | Self::Handovers
                | Self::Clients
                | Self::CollisionAirtime
        )
    }

    /// Whether each station of a radio medium has it.
    pub(crate) fn is_of_station(self) -> bool {
        let is_of_air = self.is_of_air() && self != Self::CollisionAirtime;
        is_of_air || matches!(self, Self::Throughput | Self::Packets | Self::Bytes)
    }

    /// Returns the unit in which the metric is measured.
    pub fn dimension(self) -> Dimension {
        match self {
            Self::Throughput | Self::Offered | Self::AirRate => Dimension::Rate,
            Self::Delay | Self::DelayP50 | Self::DelayP99 | Self::Lateness | Self::LatenessP99 => Dimension::Duration,
            Self::Loss | Self::Utilization | Self::Airtime | Self::CollisionAirtime => Dimension::Share,
            Self::AirDrops | Self::Drops | Self::Marks | Self::Queue | Self::QueueMax | Self::Packets => {
                Dimension::Packets
            }
            Self::Bytes => Dimension::Bytes,
            Self::Attempts | Self::Clients | Self::Collisions | Self::Handovers | Self::Retries => Dimension::Number,
        }
    }

    /// Whether it has one value or many.
    pub(crate) fn spread(self) -> Spread {
        match self {
            Self::Throughput | Self::Offered | Self::Utilization | Self::Delay | Self::Lateness => Spread::Optional,
            Self::Queue => Spread::Needed,
            _ => Spread::One,
        }
    }
}

/// The path to a value in a JSON document: `end.streams[0].bytes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(pub Vec<JsonStep>);

/// One step into a JSON document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonStep {
    /// A field of an object.
    Field(String),
    /// An item of an array, from 0.
    Item(usize),
}

impl JsonPath {
    /// Parses what follows `json`, for example `.end.streams[0].bytes`; none if that is not a path.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (step, tail) = if let Some(item) = rest.strip_prefix('[') {
                let (number, tail) = item.split_once(']')?;
                (JsonStep::Item(number.parse().ok()?), tail)
            } else {
                let field = rest.strip_prefix('.')?;
                let (name, tail) = field.split_at(field.find(['.', '[']).unwrap_or(field.len()));
                (JsonStep::Field((!name.is_empty()).then(|| name.to_owned())?), tail)
            };
            steps.push(step);
            rest = tail;
        }
        (!steps.is_empty()).then_some(Self(steps))
    }

    /// The value in `document`.
    ///
    /// # Errors
    /// The first part of the path that is not there, in words.
    pub fn find<'a>(&self, document: &'a Value) -> Result<&'a Value, String> {
        let mut value = document;
        for (depth, step) in self.0.iter().enumerate() {
            let inner = match step {
                JsonStep::Field(name) => value.get(name),
                JsonStep::Item(index) => value.get(index),
            };
            value = inner.ok_or_else(|| format!("the output has no `{}`", Self(self.0[..=depth].to_vec())))?;
        }
        Ok(value)
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                JsonStep::Field(name) if index == 0 => f.write_str(name)?,
                JsonStep::Field(name) => write!(f, ".{name}")?,
                JsonStep::Item(item) => write!(f, "[{item}]")?,
            }
        }
        Ok(())
    }
}
