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
    /// When it ended, in the form of RFC 3339, UTC.
    pub date_utc: String,
    /// How long it took.
    pub took_ms: u64,
    /// Which machine it was.
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
    /// What follows from it.
    pub conclusion: Conclusion,
    /// The exit code that follows from all this.
    pub exit_code: u8,
}

/// What tells a machine from others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    pub host_name: String,
    /// Name and release of its kernel.
    pub kernel: String,
    /// The model of its processors.
    pub processor: Option<String>,
    /// How many of them this process may use.
    pub processors: usize,
}

/// How punctual a machine is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Waits as with `precision: eco`: a sleep.
    pub eco: Lateness,
    /// As with `balanced`: a sleep that ends early, and spinning for the rest.
    pub balanced: Lateness,
    /// As with `exact`: spinning, on one processor.
    pub exact: Lateness,
    /// From an event on one processor until a thread that slept on another runs on; none with one processor.
    pub wake: Option<Lateness>,
    /// How the engine's thread comes before other programs: `real-time`, `nice` (within its session) or `ordinary`.
    #[serde(default)]
    pub policy: String,
    /// Whether it does so before programs of other sessions, of which every program of a lab has one.
    pub priority: bool,
    /// Waits as with `balanced` while a program of another session computes on the same processor.
    #[serde(default)]
    pub contended: Lateness,
    /// What one reading of the clock costs.
    pub clock_reading_ns: u64,
    /// The share of the processors' time that the machine below this virtual one took away meanwhile.
    pub stolen: f64,
}

/// How much later than due something happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lateness {
    /// How often it was measured.
    pub count: u64,
    /// Median.
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// The largest.
    pub max_ns: u64,
}

impl Timing {
    /// The lateness with one precision.
    pub fn of(&self, precision: Precision) -> Lateness {
        match precision {
            Precision::Eco => self.eco,
            Precision::Balanced => self.balanced,
            Precision::Exact => self.exact,
        }
    }
}

/// What a lab of two nodes and one link without limits carried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Forwarding {
    /// How long it took to make the lab.
    pub setup_ms: f64,
    /// The most paced packets of 64 bytes per second of which none was lost; 0 if some were at every pace.
    pub lossless_packets_per_second: f64,
    /// What came out when a sender sent as fast as it could.
    pub flooded_packets_per_second: f64,
    /// The payload of one TCP stream through the engine.
    pub tcp_bits_per_second: f64,
    /// The same over a plain veth pair, without the engine.
    pub plain_tcp_bits_per_second: f64,
    /// Mean size of what the stream's node handed to the engine as one, in bytes.
    pub mean_sent_bytes: f64,
    /// Mean size of what the engine handed to the other node as one, in bytes.
    pub mean_received_bytes: f64,
    /// What a node with one interface takes of the machine's memory; none if it was too little to be seen.
    pub node_memory_bytes: Option<u64>,
    /// How many open files the lab's process has for a node.
    pub files_per_node: f64,
}

impl Forwarding {
    /// The stream through the engine against the plain one; none if there was none.
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
    /// As the table has it.
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
    /// What it belongs to: `labs`, `time`, `packets`, `size` or `extras`.
    pub group: String,
    /// What was looked at.
    pub name: String,
    /// How good it is.
    pub state: State,
    /// What was found.
    pub result: String,
    /// What to change, with the command; none if there is nothing to do.
    pub change: Option<String>,
}

/// What follows from the figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conclusion {
    /// Whether labs can run here.
    pub labs: bool,
    /// The precision to use: `eco`, `balanced` or `exact`.
    pub precision: String,
    /// Why this one.
    pub because: String,
    /// The capacity of this machine.
    pub capacities: Vec<Capacity>,
}

/// One figure of a machine's capacity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// Of which resource.
    pub what: String,
    /// How much, in `unit`.
    pub value: f64,
    /// `packets/s`, `bit/s` or `nodes`.
    pub unit: String,
    /// How the figure comes about.
    pub arithmetic: String,
}
