//! The command line of `netloom collect`.

use super::machines::cluster;
use clap::Args;
use std::path::PathBuf;

/// `netloom collect`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom collect results/far/latest
  netloom collect results/far/latest --on ray://head:10001

A machine that a run or a lab over a cluster has lost keeps the results of its part for a day. They come into the results folder, and the
report is made anew. Its exit code is that of the report.")]
pub(crate) struct CollectArgs {
    /// The results folder of a run or lab over a cluster that has lost machines
    #[arg(value_name = "RESULTS")]
    pub(crate) folder: PathBuf,
    /// The cluster of Ray, if it has another address now: `ray` for that of RAY_ADDRESS, or its address
    #[arg(long, value_name = "CLUSTER", value_parser = cluster)]
    pub(crate) on: Option<String>,
    /// Print the report as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
