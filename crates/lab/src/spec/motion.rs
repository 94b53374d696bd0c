//! Paths of nodes as they are written.

use crate::diagnostics::Spanned;
use crate::tracks::{Ground, TrackFormat};
use crate::yaml::Node;
use netloom_radio::{Area, Generator, Path};
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
    /// Where on Earth it is.
    pub(crate) ground: Ground,
}
