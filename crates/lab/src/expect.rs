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

mod condition;
mod dimension;
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

pub use condition::Condition;
pub use dimension::Dimension;
pub use function::Function;
pub use judge::{Judgement, Settled};
pub use metric::{CommandMetric, JsonPath, JsonStep, PipeMetric};
pub use node::{NodeColumn, NodeMetric};
pub(crate) use parse::{ExpectError, Names, Parsed, Wrong, is_over_runs, parse, parse_figure};
pub(crate) use runs::{Groups, Points};
pub use runs::{OverRuns, RunsTerm, RunsTest};
pub use tcp::{TcpMetric, TcpPart};
pub use term::{Over, Spread, Term};
pub use value::{Measured, Wanted};

use crate::plan::Direction;
use netloom_link::Subset;
use netloom_units::Duration;

/// One expectation of a single run.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Its line in the lab file.
    pub line: usize,
    /// As the lab file has it.
    pub text: String,
    /// What is looked at.
    pub term: Term,
    /// What must hold for it.
    pub test: Test,
}

/// Something that is measured, under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name in reports and tables.
    pub name: String,
    /// Its line in the lab file.
    pub line: usize,
    /// As the lab file has it.
    pub text: String,
    /// What is looked at.
    pub term: Term,
    /// In which unit it is; what a program prints has the one that the lab file says.
    pub unit: FigureUnit,
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureUnit {
    /// In reports: `bit/s`, `ns`, `share`, `packets`, `B`, or nothing.
    pub name: &'static str,
    /// By what a value is multiplied to be in it.
    pub factor: f64,
}

/// What an expectation looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A command of the timeline.
    Command {
        /// The entry's place in the timeline.
        event: usize,
        /// What of it.
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
        /// What of it.
        metric: PipeMetric,
        /// Which packets; none: all of them.
        only: Option<Box<Subset>>,
    },
    /// A node that was sampled.
    Node {
        /// The node's place in the plan.
        node: usize,
        /// What of it.
        metric: NodeMetric,
    },
    /// TCP connections that were sampled inside nodes.
    Tcp {
        /// Which of them.
        part: TcpPart,
        /// Whether each of them has a value of its own.
        each: bool,
        /// What of them.
        metric: TcpMetric,
    },
}

impl Expectation {
    /// All that has to be measured for it.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        std::iter::once(&self.term).chain(self.test.terms())
    }

    /// The same of this part of the run, as far as what it is about has parts and it does not name one itself.
    pub fn within(&self, window: Window) -> Self {
        let mut other = self.clone();
        other.term.limit(window);
        other.test.terms_mut().for_each(|term| term.limit(window));
        other
    }
}

impl Subject {
    /// In which unit the subject is measured.
    pub fn dimension(&self) -> Dimension {
        match self {
            Self::Command { metric, .. } => metric.dimension(),
            Self::Link { metric, .. } => metric.dimension(),
            Self::Node { metric, .. } => metric.dimension(),
            Self::Tcp { metric, .. } => metric.dimension(),
        }
    }
}

/// What must hold.
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
