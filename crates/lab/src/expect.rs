//! Expectations: what the user wants a run to show, as sentences that are checked when the file is read.
//!
//! `<subject>.<metric> <operator> <value> [during A..B]`. The subject is a command of the timeline or a link; a link
//! without a direction means both directions, each of which must hold.

mod judge;
mod metric;
mod parse;
mod value;

pub use judge::Judgement;
pub use metric::{CommandMetric, JsonPath, JsonStep, PipeMetric};
pub(crate) use parse::{ExpectError, Names, parse, parse_figure};
pub use value::{Dimension, Measured, Wanted};

use crate::plan::Direction;
use netloom_units::Duration;

/// One expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Its line in the lab file.
    pub line: usize,
    /// As the lab file has it.
    pub text: String,
    /// What is looked at.
    pub subject: Subject,
    /// What must hold for it.
    pub test: Test,
    /// Which part of the run counts; none: all of it.
    pub window: Option<Window>,
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
    pub subject: Subject,
    /// Which part of the run counts; none: all of it.
    pub window: Option<Window>,
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
    },
}

impl Subject {
    /// The unit of a figure, if the lab file says nothing of it.
    pub(crate) fn unit(&self) -> FigureUnit {
        let name = match self.dimension() {
            Dimension::Rate => "bit/s",
            Dimension::Duration => "ns",
            Dimension::Share => "share",
            Dimension::Packets => "packets",
            Dimension::Bytes => "B",
            Dimension::Number | Dimension::Text | Dimension::Json => "",
        };
        FigureUnit { name, factor: 1.0 }
    }

    /// In which unit the subject is measured.
    pub fn dimension(&self) -> Dimension {
        match self {
            Self::Command { metric, .. } => metric.dimension(),
            Self::Link { metric, .. } => metric.dimension(),
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
