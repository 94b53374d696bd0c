//! The command line of `netloom sweep`.

use super::ci::Ci;
use super::convert::lab_path;
use super::machines::cluster;
use super::run::{SweepPart, clock, wall_limit};
use clap::Args;
use netloom_lab::Clock;
use netloom_sweep::Only;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// `netloom sweep`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom sweep lab.yaml --list
  netloom sweep lab.yaml -o results/queues
  netloom sweep lab.yaml -o results/queues --resume
  netloom sweep lab.yaml -o results/queues --retry
  netloom sweep lab.yaml -o part --only 1,5-9
  netloom sweep lab.yaml -o all --join part-1 part-2
  netloom sweep lab.yaml -o out --on ray://head:10001
  netloom sweep lab.yaml --jobs 2 --json | jq '.points[].figures'

Every run is a `netloom run` of its own; its results are in FOLDER/runs. Runs in virtual time share the processors, others
have the machine to themselves, one after the other, unless `sweep: {processors: N}` in the lab file says otherwise. Ctrl-C
ends the runs in progress; --resume runs what is left, and --retry also what failed. Tables: FOLDER/points.csv with means and
their 95 % confidence intervals, FOLDER/runs.csv, FOLDER/sweep.json.")]
pub(crate) struct SweepArgs {
    /// The lab file
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    /// The folder of the sweep; default: sweeps/LAB
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// How many runs go on at once, at most; in virtual time it may be more than there are processors
    #[arg(short, long, value_name = "N")]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Resume the sweep in the folder: run what has not ended
    #[arg(long)]
    pub(crate) resume: bool,
    /// Resume the sweep, and repeat the runs that failed
    #[arg(long)]
    pub(crate) retry: bool,
    /// Run only these, for example 7 or 1,5-9, or none: the others are left for --resume
    #[arg(long, value_name = "RUNS", value_parser = only)]
    pub(crate) only: Option<Only>,
    /// Run on the machines of a cluster of Ray: `ray` for that of RAY_ADDRESS, or of this machine alone; or its address
    #[arg(long, value_name = "CLUSTER", value_parser = cluster, conflicts_with_all = ["only", "join", "list", "jobs"])]
    pub(crate) on: Option<String>,
    /// Run nothing, and take the runs that have ended from these folders of the same sweep; with --resume into a folder that is there
    #[arg(long, value_name = "FOLDER", num_args = 1.., conflicts_with_all = ["only", "retry", "list"])]
    pub(crate) join: Vec<PathBuf>,
    /// Print the points and run nothing
    #[arg(long, visible_alias = "dry-run")]
    pub(crate) list: bool,
    /// Do not ask, however many runs there are
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// The clock: real, virtual, or by how much lab time is slower than wall time
    #[arg(long, value_parser = clock)]
    pub(crate) clock: Option<Clock>,
    /// The kernel of kernel nodes; default: $NETLOOM_KERNEL, or the best of `netloom kernel list`
    #[arg(long, value_name = "PATH")]
    pub(crate) kernel: Option<PathBuf>,
    /// Show kernel nodes this folder as the root of the machine's file system
    #[arg(long, value_name = "DIR", conflicts_with = "on")]
    pub(crate) root: Option<PathBuf>,
    /// Where programs start in that root; default: the current folder's name
    #[arg(long, value_name = "DIR", requires = "root", hide = true)]
    pub(crate) start_folder: Option<PathBuf>,
    /// End each run after this much wall time, as failed
    #[arg(long, value_name = "TIME", value_parser = wall_limit)]
    pub(crate) wall_limit: Option<Duration>,
    /// Draw the pictures of every run, and write its report.html however many runs there are
    #[arg(long)]
    pub(crate) plots: bool,
    /// Write no report.html, neither of the sweep nor of its runs
    #[arg(long)]
    pub(crate) no_report: bool,
    #[command(flatten)]
    pub(crate) ci: Ci,
    /// Print sweep.json on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the table, but no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Where the text of the lab file is, as it was when it was queued
    #[arg(long, value_name = "PATH", hide = true)]
    pub(crate) as_played: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) part: SweepPart,
}

/// Parses `--only`.
fn only(text: &str) -> Result<Only, String> {
    text.parse()
}
