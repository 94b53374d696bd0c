//! Paths of nodes as they are written.

use crate::diagnostics::Spanned;
use crate::tracks::{Ground, Origin, TrackFormat};
use crate::yaml::Node;
use netloom_radio::{Area, Generator, Group, Metres, Path, Position};
use netloom_units::Duration;

/// Where something stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlaceSpec {
    /// In metres.
    Known(Position),
    /// In degrees, so high above the ground.
    OnEarth(Origin, Metres),
}

impl PlaceSpec {
    /// The position on a map with this origin, or the place itself as the origin.
    pub(crate) fn position(self, origin: Option<Origin>) -> Position {
        match self {
            Self::Known(position) => position,
            Self::OnEarth(place, height) => origin.unwrap_or(place).position(place, height),
        }
    }

    /// The place in degrees, if it is written so.
    pub(crate) fn on_earth(self) -> Option<Origin> {
        if let Self::OnEarth(place, _) = self { Some(place) } else { None }
    }
}

/// A path of a node.
#[derive(Clone, Debug)]
pub(crate) enum PathSpec {
    /// A path that the lab file has.
    Known(Path),
    /// A path through waypoints of which some are in degrees, and after how long it begins again.
    OnEarth {
        waypoints: Vec<(Duration, PlaceSpec)>,
        repeat: Option<Duration>,
        /// The list or map that says so.
        place: Box<Node>,
    },
    /// A path that is drawn from the lab's seed and the node's name.
    Drawn {
        generator: Generator,
        area: Area,
        /// For how long it moves; none: as long as the lab may take.
        span: Option<Duration>,
        /// The map that says so.
        place: Box<Node>,
    },
    /// A path around that of another node, drawn in the same way.
    Group { group: Group, leader: Spanned<String>, span: Option<Duration>, place: Box<Node> },
    /// A path that a file has.
    File(Box<TrackFile>),
}

impl PathSpec {
    /// The first waypoint in degrees, if any is written so.
    pub(crate) fn on_earth(&self) -> Option<Origin> {
        let Self::OnEarth { waypoints, .. } = self else { return None };
        waypoints.iter().find_map(|(_, place)| place.on_earth())
    }
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
