//! The command line of `netloom rerun`.

use clap::Args;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `netloom rerun`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom rerun queues.tar.zst
  netloom rerun results/dumbbell/latest --times 5
  netloom rerun results/dumbbell/latest --tolerance 2
  netloom rerun sweeps/queues -- --jobs 2
  netloom rerun queues.tar.zst --with sweeps/queues --json | jq '.figures[] | select(.same | not)'

In virtual time all files must be the same, byte for byte. In real time figures may differ by the tolerance, or be within
the 95 % confidence interval of the difference, where there are several runs. Exit code 0: the same; 1: it differs.
A bundle's lab file runs commands as you: look at those of strangers first.")]
pub(crate) struct RerunArgs {
    /// The folder of a run, simulation or sweep, or a bundle
    #[arg(value_name = "BUNDLE|RESULTS")]
    pub(crate) what: PathBuf,
    /// Run it N times, for confidence intervals; a sweep has its own `repeat`
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) times: NonZeroUsize,
    /// By how many percent figures may differ
    #[arg(long, value_name = "PERCENT", default_value = "5", value_parser = percent)]
    pub(crate) tolerance: f64,
    /// The folder for the new results
    #[arg(short, long, value_name = "DIR", default_value = "reruns")]
    pub(crate) out: PathBuf,
    /// Run nothing: compare with these results
    #[arg(long, value_name = "RESULTS", conflicts_with_all = ["times", "out", "options"])]
    pub(crate) with: Vec<PathBuf>,
    /// Print what differs as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Further options of `netloom run`, `sim` or `sweep`
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) options: Vec<OsString>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|percent| (0.0..=1000.0).contains(percent));
    number.ok_or_else(|| "write a number of percent from 0 to 1000".into())
}
