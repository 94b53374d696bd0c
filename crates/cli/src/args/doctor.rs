//! `netloom doctor`

use clap::Args;

/// `netloom doctor`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom doctor
  netloom doctor --json | jq '.checks[] | select(.state != \"fine\") | .change'
  netloom doctor --quiet --json > machine.json

Measures for about five seconds: how late this machine wakes up, and what the packet engine forwards in a small lab of
its own. Changes nothing, needs no root, and leaves nothing behind but its result, which later verdicts quote. Exit code
0: labs run here; 4: they cannot, and the line `namespaces` says why. Other programs that run meanwhile lower the figures.")]
pub(crate) struct DoctorArgs {
    /// Print everything as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing while it works
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
