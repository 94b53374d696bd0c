//! Paths of nodes as they are written.

use crate::diagnostics::Spanned;
use crate::words::words;
use crate::yaml::Node;
use netloom_radio::{Area, Generator, Metres, Path};
use netloom_units::Duration;

/// A path of a node.
#[derive(Clone, Debug)]
pub(crate) enum PathSpec {
    /// A path that the lab file has.
    Known(Path),
    /// A path that is drawn from the lab's seed and the node's name.
    Drawn {
        generator: Generator,
        area: Area,
        /// For how long it moves; none: as long as the lab may take.
        span: Option<Duration>,
        /// The map that says so.
        place: Box<Node>,
    },
    /// A path that a file has.
    File(Box<TrackFile>),
}

/// A path of a file.
#[derive(Clone, Debug)]
pub(crate) struct TrackFile {
    /// The name of the file.
    pub(crate) file: Node,
    pub(crate) format: TrackFormat,
    /// Whose path it is, as the file calls it.
    pub(crate) whose: Option<Spanned<String>>,
    /// The height of a file that has none.
    pub(crate) height: Metres,
}

/// A format of files with paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TrackFormat {
    /// Commands of ns-2.
    Setdest,
    /// A line for each node.
    BonnMotion,
    /// A table.
    Csv,
}

words!(TrackFormat { "setdest" = Self::Setdest, "bonnmotion" = Self::BonnMotion, "csv" = Self::Csv });
