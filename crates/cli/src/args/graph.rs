//! What draws labs.

use super::Foreign;
use super::convert::lab_path;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `netloom graph`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom graph examples/dumbbell.yaml > dumbbell.svg
  netloom graph lab.yaml -o lab.svg
  netloom graph Abilene.graphml -o abilene.svg
  netloom graph lab.yaml --format layout >> lab.yaml
  netloom graph examples/wifi-walls.yaml --format map -o map.svg

Nodes are where `layout` of the lab file puts them, or as far from one another as there are links between them. The
same file gives the same picture; with --format layout, its places become part of the file.")]
pub(crate) struct GraphArgs {
    /// The lab file, or a file or folder of another network tool
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) foreign: Foreign,
    /// The file to write; default: standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value = "svg")]
    pub(crate) format: GraphFormat,
}

/// What `netloom graph` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A picture
    Svg,
    /// A map in metres of its radio media: positions, ways, walls, and how far senders reach
    Map,
    /// Where its nodes are, as `layout` of a lab file
    Layout,
}
