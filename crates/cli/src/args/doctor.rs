//! `netloom doctor`

use clap::Args;

/// `netloom doctor`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom doctor
  netloom doctor --json | jq '.checks[] | select(.state != \"fine\") | .change'
  netloom doctor --quiet --json > machine.json

Measures for about five seconds: how late this machine wakes up, and what the packet engine forwards in a small lab of
its own. Needs no root and changes nothing; keeps only its result, which later verdicts quote. Exit code 0: labs run
here; 4: they cannot, and the line `namespaces` says why. Other programs that run at the same time lower the figures.")]
pub(crate) struct DoctorArgs {
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
