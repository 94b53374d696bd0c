//! The formats that are read: one file each.

mod containerlab;
mod core_xml;
mod gml;
mod graphml;
mod imunes;
mod kathara;
mod kollaps;
mod miniedit;
mod ns2;
mod rattan;
mod shadow;
mod wlan;

use crate::Options;
use crate::files::Input;
use crate::graph;
use crate::source::Read;
use crate::topology::Topology;
use std::path::Path;

/// A format of files that describe networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Graphs as XML.
    GraphMl,
    /// Graphs in brackets.
    Gml,
    /// Containers and links.
    Containerlab,
    /// Devices and collision domains.
    Kathara,
    /// Scripts of ns-2 and Emulab.
    Ns2,
    /// Experiments of IMUNES.
    Imunes,
    /// Scenarios of CORE.
    Core,
    /// Networks of Mininet's editor.
    MiniEdit,
    /// Topologies of Kollaps.
    Kollaps,
    /// Configurations of Shadow.
    Shadow,
    /// Configurations of rattan.
    Rattan,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 11] = [
        Self::GraphMl,
        Self::Gml,
        Self::Containerlab,
        Self::Kathara,
        Self::Ns2,
        Self::Imunes,
        Self::Core,
        Self::MiniEdit,
        Self::Kollaps,
        Self::Shadow,
        Self::Rattan,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::GraphMl => "graphml",
            Self::Gml => "gml",
            Self::Containerlab => "containerlab",
            Self::Kathara => "kathara",
            Self::Ns2 => "ns2",
            Self::Imunes => "imunes",
            Self::Core => "core",
            Self::MiniEdit => "miniedit",
            Self::Kollaps => "kollaps",
            Self::Shadow => "shadow",
            Self::Rattan => "rattan",
        }
    }

    /// Its name as people write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::GraphMl => "GraphML",
            Self::Gml => "GML",
            Self::Containerlab => "containerlab",
            Self::Kathara => "Kathará",
            Self::Ns2 => "ns-2",
            Self::Imunes => "IMUNES",
            Self::Core => "CORE",
            Self::MiniEdit => "MiniEdit",
            Self::Kollaps => "Kollaps",
            Self::Shadow => "Shadow",
            Self::Rattan => "rattan",
        }
    }

    /// Returns the format of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the format of a file, by its name and what it contains; none if it is a lab file, or of no known format.
    pub fn of(path: &Path, text: &str) -> Option<Self> {
        let extension =
            path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
        match extension.as_str() {
            "graphml" => Some(Self::GraphMl),
            "gml" => Some(Self::Gml),
            "tcl" | "ns" => Some(Self::Ns2),
            "imn" => Some(Self::Imunes),
            "mn" => Some(Self::MiniEdit),
            "toml" if text.contains("[links]") || text.contains("[cells") => Some(Self::Rattan),
            "xml" if text.contains("<scenario") => Some(Self::Core),
            "xml" if text.contains("<experiment") => Some(Self::Kollaps),
            "conf" if path.file_name().is_some_and(|name| name == "lab.conf") => Some(Self::Kathara),
            "yml" | "yaml" if has_key(text, "hosts") && has_key(text, "network") => Some(Self::Shadow),
            "yml" | "yaml" => has_key(text, "topology").then_some(Self::Containerlab),
            "xml" => text.contains("<graphml").then_some(Self::GraphMl),
            _ => None,
        }
    }

    /// Reads a file of this format.
    pub(crate) fn read(self, input: &mut Input<'_>, options: &Options) -> Read<Topology> {
        match self {
            Self::GraphMl => graph::topology(graphml::read(input.text())?, &input.stem, options.role),
            Self::Gml => graph::topology(gml::read(input.text())?, &input.stem, options.role),
            Self::Containerlab => containerlab::read(input, options),
            Self::Kathara => kathara::read(input, options),
            Self::Ns2 => ns2::read(input, options),
            Self::Imunes => imunes::read(input),
            Self::Core => core_xml::read(input, options),
            Self::MiniEdit => miniedit::read(input.text(), &input.stem),
            Self::Kollaps => kollaps::read(input.text(), &input.stem, options),
            Self::Shadow => shadow::read(input),
            Self::Rattan => rattan::read(input),
        }
    }
}

/// Whether a YAML text has this key at its top level.
fn has_key(text: &str, key: &str) -> bool {
    text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':')))
}
