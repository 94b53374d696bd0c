//! The command line of `netloom hunt`.

use super::ci::Ci;
use super::convert::lab_path;
use super::machines::cluster;
use super::run::wall_limit;
use clap::Args;
use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

/// `netloom hunt`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom hunt lab.yaml
  netloom hunt lab.yaml --runs 2000 -o hunts/night
  netloom hunt lab.yaml --for 30min --seed 7
  netloom hunt lab.yaml -o hunts/night --resume
  netloom hunt lab.yaml --systematic --for 2h
  netloom hunt lab.yaml --on ray://head:10001
  netloom hunt lab.yaml --regress hunts/night/findings
  netloom hunt lab.yaml --corpus tests/findings --junit hunt.xml --sarif hunt.sarif
  netloom hunt hunts/night/findings/0001/minimal.yaml
  netloom hunt lab.yaml --json | jq '.findings[].failure'

Each run is the lab with other faults, drawn from what `hunt` in the lab file says. A failure is shrunk to the faults that are
enough for it, and kept as an ordinary lab in FOLDER/findings/0001/minimal.yaml. The exit code is 1 if something was found, or if
what must hold sometimes never did. Ctrl-C ends the hunt, and --resume goes on with it.")]
pub(crate) struct HuntArgs {
    /// The lab file, with `clock: virtual` and `hunt`
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    /// The file with the text of the lab, which is called like FILE
    #[arg(long, value_name = "PATH", hide = true)]
    pub(crate) as_played: Option<PathBuf>,
    /// The folder of the hunt; default: hunts/LAB
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// How many runs are played; default: what the lab file says, or 200
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<NonZeroU64>,
    /// For how long runs are begun, in wall time; default: what the lab file says
    #[arg(long = "for", value_name = "TIME", value_parser = wall_limit)]
    pub(crate) lasts: Option<Duration>,
    /// How many runs go on at once; default: one on each processor
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Play the runs on the machines of a cluster of Ray: `ray` for that of RAY_ADDRESS, or of this machine alone; or its address
    #[arg(long, value_name = "CLUSTER", value_parser = cluster, conflicts_with = "player")]
    pub(crate) on: Option<String>,
    /// A word of the command that plays a run in the place of this program, with the arguments of `netloom run`
    #[arg(long, value_name = "WORD", hide = true, allow_hyphen_values = true)]
    pub(crate) player: Vec<OsString>,
    /// The seed from which faults are drawn; programs and links have that of the lab file
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Try each fault alone at each instant at which something happens, then all pairs of them, instead of drawing faults
    #[arg(long)]
    pub(crate) systematic: bool,
    /// Give each run another seed of the lab as well: programs and links draw other random numbers
    #[arg(long)]
    pub(crate) vary_seed: bool,
    /// End with so many findings
    #[arg(long, value_name = "N")]
    pub(crate) findings: Option<NonZeroUsize>,
    /// Go on with the hunt in the folder
    #[arg(long)]
    pub(crate) resume: bool,
    /// Play the minimal.yaml of all findings in this folder first
    #[arg(long, value_name = "FOLDER")]
    pub(crate) regress: Option<PathBuf>,
    /// Play the findings in this folder first, and add new ones to it: for version control
    #[arg(long, value_name = "FOLDER")]
    pub(crate) corpus: Option<PathBuf>,
    /// How many runs it may take to shrink a finding
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub(crate) shrink_runs: usize,
    /// For how long the moment of a finding is searched, in wall time; 0s: not at all
    #[arg(long, value_name = "TIME", value_parser = wall_time, default_value = "1min")]
    pub(crate) moment: Duration,
    /// End each run after this much wall time; it shows nothing then
    #[arg(long, value_name = "TIME", value_parser = wall_limit, default_value = "10min")]
    pub(crate) wall_limit: Duration,
    /// The kernel of kernel nodes; default: $NETLOOM_KERNEL, or the best of `netloom kernel list`
    #[arg(long, value_name = "PATH")]
    pub(crate) kernel: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) ci: Ci,
    /// Print hunt.json on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what was found, but no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Parses `--moment`, which may be nothing.
fn wall_time(text: &str) -> Result<Duration, String> {
    let span: netloom_units::Duration = text.parse().map_err(|error| format!("{error}"))?;
    Ok(Duration::from_nanos(span.as_nanos()))
}
