//! The command line of `netloom report`.

use clap::Args;
use std::path::PathBuf;

/// `netloom report`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom report results/dumbbell/latest
  netloom report sweeps/queues
  netloom report results/cubic/latest results/bbr/latest -o cubic-bbr.html
  netloom report sweeps/before sweeps/after

Of one run or sweep, it makes report.html in its folder again, from the files that are there. Several runs, or two sweeps, are
compared side by side on a page of their own; the difference of two sweeps has its 95 % confidence interval.")]
pub(crate) struct ReportArgs {
    /// Folders of runs or simulations, or of sweeps
    #[arg(required = true, value_name = "RESULTS")]
    pub(crate) folders: Vec<PathBuf>,
    /// The page of a comparison; default: comparison.html
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
