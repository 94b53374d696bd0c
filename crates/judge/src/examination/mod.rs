//! What an examination found out: the figures that the table, the JSON and later verdicts show.
//!
//! Every number carries its unit in its name.

pub(crate) mod quote;

use netloom_lab::Precision;
use serde::{Deserialize, Serialize};

/// All that was found out about a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Examination {
    /// The version of the program that measured.
    pub netloom_version: String,
    /// When the examination ended, in the form of RFC 3339, UTC.
    pub date_utc: String,
    /// How long the examination took.
    pub took_ms: u64,
    /// The machine that was examined.
    pub machine: Machine,
    /// Whether it was measured by root; ordinary users have smaller buffers and less priority.
    pub root: bool,
    /// Whether other programs ran meanwhile, so that all figures are lower than they could be.
    pub busy: bool,
    /// How punctual it is.
    pub timing: Timing,
    /// How many packets the engine moves; none where no lab can be made.
    pub forwarding: Option<Forwarding>,
    /// One by one: what is fine, and what could be better.
    pub checks: Vec<Check>,
    /// The conclusion that follows from the figures.
    pub conclusion: Conclusion,
    /// The exit code that follows from all this.
    pub exit_code: u8,
}

/// The identity of a machine: what distinguishes it from others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The machine's host name.
    pub host_name: String,
    /// The name and release of the machine's kernel.
    pub kernel: String,
    /// The model of the machine's processors.
    pub processor: Option<String>,
    /// The number of processors that this process may use.
    pub processors: usize,
}

/// How punctual a machine is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The lateness of waits with `precision: eco`: a sleep.
    pub eco: Lateness,
    /// The lateness of waits with `precision: balanced`: a sleep that ends early, and spinning for the rest.
    pub balanced: Lateness,
    /// The lateness of waits with `precision: exact`: spinning, on one processor.
    pub exact: Lateness,
    /// The time from an event on one processor until a thread that slept on another runs on; none with one processor.
    pub wake: Option<Lateness>,
    /// The priority of the engine's thread over other programs: `real-time`, `nice` (within its session) or `ordinary`.
    #[serde(default)]
    pub policy: String,
    /// Whether the engine's thread comes before programs of other sessions, of which every program of a lab has one.
    pub priority: bool,
    /// The lateness of waits with `precision: balanced` while a program of another session computes on the same processor.
    #[serde(default)]
    pub contended: Lateness,
    /// The time that one reading of the clock takes, in nanoseconds.
    pub clock_reading_ns: u64,
    /// The share of the processors' time that the machine below this virtual one took away meanwhile.
    pub stolen: f64,
}

/// How much later than due something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// The number of measurements.
    pub count: u64,
    /// The median of the lateness.
    pub p50_ns: u64,
    /// The 99th percentile of the lateness.
    pub p99_ns: u64,
    /// The largest lateness.
    pub max_ns: u64,
}

impl Timing {
    /// Returns the lateness with one precision.
    pub fn of(&self, precision: Precision) -> Lateness {
        match precision {
            Precision::Eco => self.eco,
            Precision::Balanced => self.balanced,
            Precision::Exact => self.exact,
        }
    }
}

/// The measurements of a lab of two nodes and one link without limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Forwarding {
    /// How long it took to make the lab.
    pub setup_ms: f64,
    /// The most paced packets of 64 bytes per second of which none was lost; 0 if some were at every pace.
    pub lossless_packets_per_second: f64,
    /// The rate at which packets were delivered when a sender sent as fast as it could.
    pub flooded_packets_per_second: f64,
    /// The payload of one TCP stream through the engine.
    pub tcp_bits_per_second: f64,
    /// The payload of one TCP stream over a plain veth pair, without the engine.
    pub plain_tcp_bits_per_second: f64,
    /// Mean size of what the stream's node handed to the engine as one, in bytes.
    pub mean_sent_bytes: f64,
    /// Mean size of what the engine handed to the other node as one, in bytes.
    pub mean_received_bytes: f64,
    /// The memory of this machine that a node with one interface takes; none if it was too little to be measured.
    pub node_memory_bytes: Option<u64>,
    /// How many open files the lab's process has for a node.
    pub files_per_node: f64,
}

impl Forwarding {
    /// Returns the rate of the TCP stream through the engine, divided by that of the plain one; none if the plain one carried nothing.
    pub fn ratio(&self) -> Option<f64> {
        (self.plain_tcp_bits_per_second > 0.0).then(|| self.tcp_bits_per_second / self.plain_tcp_bits_per_second)
    }
}

/// How good something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Nothing to do.
    Fine,
    /// Labs run, and there would be more in it.
    CouldBeBetter,
    /// It is not there.
    Missing,
}

impl State {
    /// Returns the words for the state in the table.
    pub fn words(self) -> &'static str {
        match self {
            Self::Fine => "fine",
            Self::CouldBeBetter => "could be better",
            Self::Missing => "missing",
        }
    }
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The group that the check belongs to: `labs`, `time`, `packets`, `size` or `extras`.
    pub group: String,
    /// The name of what was checked.
    pub name: String,
    /// How good it is.
    pub state: State,
    /// The result of the check, in words.
    pub result: String,
    /// The change that would improve the result, with the command; none if there is nothing to do.
    pub change: Option<String>,
}

/// The conclusion that follows from the figures of an examination.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conclusion {
    /// Whether labs can run here.
    pub labs: bool,
    /// The precision to use: `eco`, `balanced` or `exact`.
    pub precision: String,
    /// The reason for this precision.
    pub because: String,
    /// The capacity of this machine.
    pub capacities: Vec<Capacity>,
}

/// One figure of a machine's capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// The resource that the figure is about.
    pub what: String,
    /// The amount of the resource, in `unit`.
    pub value: f64,
    /// The unit of the figure: `packets/s`, `bit/s` or `nodes`.
    pub unit: String,
    /// How the figure comes about.
    pub arithmetic: String,
}
