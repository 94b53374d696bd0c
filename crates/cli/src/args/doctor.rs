//! `netloom doctor`

use super::machines::cluster;
use clap::Args;

/// `netloom doctor`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom doctor
  netloom doctor --json | jq '.checks[] | select(.state != \"fine\") | .change'
  netloom doctor --quiet --json > machine.json
  netloom doctor --between 192.0.2.1 192.0.2.2 --on ray://head:10001

Measures for about five seconds: how late this machine wakes up, and what the packet engine forwards in a small lab of
its own. Needs no root and changes nothing; keeps only its result, which later verdicts quote. Exit code 0: labs run
here; 4: they cannot, and the line `namespaces` says why. Other programs that run at the same time lower the figures.")]
pub(crate) struct DoctorArgs {
    /// Measure the path between two machines of a cluster instead: how long packets take, how many are lost, how long they may be, and the rate
    #[arg(long, value_name = "ADDRESS", num_args = 2, requires = "on")]
    pub(crate) between: Option<Vec<String>>,
    /// The cluster of Ray: `ray` for that of RAY_ADDRESS, or its address
    #[arg(long, value_name = "CLUSTER", value_parser = cluster, requires = "between")]
    pub(crate) on: Option<String>,
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
