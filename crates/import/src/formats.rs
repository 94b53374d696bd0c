//! The formats that are read: one file each.

mod gml;
mod graphml;

use crate::graph;
use crate::source::Read;
use crate::topology::Topology;
use crate::{Input, Options};
use std::path::Path;

/// A format of files that describe networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Graphs as XML.
    GraphMl,
    /// Graphs in brackets.
    Gml,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::GraphMl, Self::Gml];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::GraphMl => "graphml",
            Self::Gml => "gml",
        }
    }

    /// Its name as people write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::GraphMl => "GraphML",
            Self::Gml => "GML",
        }
    }

    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whose file this is, by its name and what it contains; none if it is a lab file, or nobody's.
    pub fn of(path: &Path, text: &str) -> Option<Self> {
        let extension =
            path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
        match extension.as_str() {
            "graphml" => Some(Self::GraphMl),
            "gml" => Some(Self::Gml),
            "xml" => text.contains("<graphml").then_some(Self::GraphMl),
            _ => None,
        }
    }

    /// Reads a file of this format.
    pub(crate) fn read(self, input: &mut Input<'_>, options: &Options) -> Read<Topology> {
        let text = input.text();
        match self {
            Self::GraphMl => graph::topology(graphml::read(text)?, &input.stem, options.role),
            Self::Gml => graph::topology(gml::read(text)?, &input.stem, options.role),
        }
    }
}
