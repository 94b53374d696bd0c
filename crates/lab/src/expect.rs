//! Expectations: what the user wants a run, or all runs of a sweep together, to show. They are checked when the file is read.
//!
//! ```text
//! TERM COMPARISON VALUE-OR-TERM [during A..B] [over runs]
//! all runs as described
//!
//! TERM      SUBJECT.METRIC [match (WORDS)], the name of a figure, or FUNCTION(TERM [during A..B] [| PARAMETER=VALUE, ...])
//! ```
//!
//! A subject is a command of the timeline, a link, a node, or `flows`. A link without a direction means both directions, each of
//! which must hold. A figure is a term under a name.
//!
//! An expression becomes terms (a subject, functions, a part of the run) and a test. What a term needs while the run
//! goes on follows from the plan: samples of pipes, distributions at the ends of windows, samples of TCP connections,
//! and which program owns a connection. An expectation over runs is taken out of the file of a single run, which gets
//! a figure for each of its terms instead; the crate `sweep` judges these figures together.

mod function;
mod judge;
mod metric;
mod node;
mod parse;
mod runs;
mod subset;
mod tcp;
mod term;
mod value;

pub use function::Function;
pub use judge::{Judgement, Settled};
pub use metric::{CommandMetric, JsonPath, JsonStep, PipeMetric};
pub use node::{NodeColumn, NodeMetric};
pub(crate) use parse::{ExpectError, Names, OnAir, Parsed, Sampled, Wrong, is_over_runs, parse, parse_figure};
pub(crate) use runs::{Groups, Points};
pub use runs::{OverRuns, RunsTerm, RunsTest};
pub use tcp::{TcpMetric, TcpPart};
pub use term::{Condition, Dimension, Over, Spread, Term};
pub use value::{Measured, Wanted};

use crate::direction::Direction;
use netloom_link::Subset;
use netloom_units::Duration;

/// One expectation of a single run.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Its line in the lab file.
    pub line: usize,
    /// The text of the expectation, as the lab file has it.
    pub text: String,
    /// The term that is measured: the left side of the comparison.
    pub term: Term,
    /// The test that the value of the term must pass.
    pub test: Test,
}

/// Something that is measured, under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name in reports and tables.
    pub name: String,
    /// Its line in the lab file.
    pub line: usize,
    /// The text of the figure, as the lab file has it.
    pub text: String,
    /// The term that is measured.
    pub term: Term,
    /// The unit of the figure; what a program prints has the one that the lab file gives.
    pub unit: FigureUnit,
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureUnit {
    /// The name of the unit in reports: `bit/s`, `ns`, `share`, `packets`, `B`, or nothing.
    pub name: &'static str,
    /// The factor by which a value is multiplied to be in this unit.
    pub factor: f64,
}

/// A part of the lab that is measured, with its metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A command of the timeline.
    Command {
        /// The entry's place in the timeline.
        event: usize,
        /// The metric of the command.
        metric: CommandMetric,
    },
    /// One or both directions of a link.
    Link {
        /// The link's place in the plan.
        link: usize,
        /// The direction; none: both, and each must hold.
        direction: Option<Direction>,
        /// The further pipe of this name; none: the link's own.
        pipe: Option<String>,
        /// The metric of the link's direction.
        metric: PipeMetric,
        /// The station that is meant of a radio medium, by its place among the ends; none: all of them together.
        station: Option<usize>,
        /// The packets that count; none: all of them.
        only: Option<Box<Subset>>,
    },
    /// A node that was sampled.
    Node {
        /// The node's place in the plan.
        node: usize,
        /// The metric of the node.
        metric: NodeMetric,
    },
    /// TCP connections that were sampled inside nodes.
    Tcp {
        /// The connections that are meant.
        part: TcpPart,
        /// Whether each connection has a value of its own.
        each: bool,
        /// The metric of the connections.
        metric: TcpMetric,
    },
}

impl Expectation {
    /// Returns all terms that have to be measured for the expectation.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        std::iter::once(&self.term).chain(self.test.terms())
    }

    /// Returns the expectation limited to this part of the run. A term stays as it is if it names a part itself, or if its subject
    /// has no parts.
    pub fn within(&self, window: Window) -> Self {
        let mut other = self.clone();
        other.term.limit(window);
        other.test.terms_mut().for_each(|term| term.limit(window));
        other
    }
}

impl Subject {
    /// Returns the unit in which the subject is measured.
    pub fn dimension(&self) -> Dimension {
        match self {
            Self::Command { metric, .. } => metric.dimension(),
            Self::Link { metric, .. } => metric.dimension(),
            Self::Node { metric, .. } => metric.dimension(),
            Self::Tcp { metric, .. } => metric.dimension(),
        }
    }
}

/// A test that a measured value must pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// `== X`
    Equal(Wanted),
    /// `!= X`
    NotEqual(Wanted),
    /// `< X`
    Less(Wanted),
    /// `<= X`
    AtMost(Wanted),
    /// `> X`
    More(Wanted),
    /// `>= X`
    AtLeast(Wanted),
    /// `between X and Y`, both included.
    Between(Wanted, Wanted),
    /// `within P % of X`: the share and X.
    WithinShare(f64, Wanted),
    /// `within D of X`: D and X.
    Within(Wanted, Wanted),
    /// `contains "text"`
    Contains(String),
}

/// A part of the run, after time zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its beginning.
    pub from: Duration,
    /// Its end, later than its beginning.
    pub to: Duration,
}
