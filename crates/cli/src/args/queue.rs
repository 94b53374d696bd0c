//! The command line of `netloom queue`.

use super::convert::lab_path;
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The subcommands of `netloom queue`.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  netloom queue add lab.yaml sweep.yaml
  netloom queue list
  netloom queue wait 3 && netloom queue log 3
  netloom queue cancel 4

Each job runs as you and in the folder in which it was added, when the processors that it needs are free and it is your
turn: users that wait take turns. Jobs survive the end of the session and of the machine; see `netloom queue resume --help`.")]
pub(crate) enum QueueCommand {
    /// Add runs and sweeps to the queue
    Add(QueueAddArgs),
    /// Show your jobs, and what others wait for
    List(QueueListArgs),
    /// Take jobs out of the queue, or end them
    Cancel(QueueCancelArgs),
    /// Wait until jobs have ended, and exit with the code of the first that did not succeed
    Wait(QueueWaitArgs),
    /// Show what a job has written
    Log(QueueLogArgs),
    /// Start the jobs that wait, for example after a reboot
    #[command(after_help = RESUME)]
    Resume,
    /// Starts keepers of jobs, which only netloom starts
    #[command(hide = true)]
    Work {
        /// The folder of the queue
        #[arg(hide = true)]
        store: PathBuf,
    },
    /// Sees a job through, which only netloom starts
    #[command(hide = true)]
    Keep {
        /// The folder of the queue
        #[arg(hide = true)]
        store: PathBuf,
        /// The number of the job
        #[arg(hide = true)]
        job: u64,
    },
}

const RESUME: &str = "Examples:
  netloom queue resume
  (crontab -l; echo '@reboot netloom queue resume') | crontab -

`netloom queue add`, `list` and `wait` do the same. To have it done when the machine starts, without logging in, give it to
cron as above, or to a user unit of systemd with lingering (`loginctl enable-linger`).";

/// `netloom queue add`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom queue add lab.yaml
  netloom queue add first.yaml second.yaml third.yaml
  netloom queue add lab.yaml -- --seed 7 --results /data/results
  netloom queue add sweep.yaml -- -o out --jobs 2
  netloom queue add lab.yaml --processors 2
  job=$(netloom queue add lab.yaml --json | jq '.[0].job') && netloom queue wait $job

What a lab file says counts as it is now, even if it changes before the job is started; the files that it names count as they
are then. A lab file that describes many runs is run as by `netloom sweep`. Runs in virtual time need one processor,
all others all.")]
pub(crate) struct QueueAddArgs {
    /// Lab files, or files or folders of other network tools
    #[arg(required = true, value_parser = lab_path())]
    pub(crate) files: Vec<PathBuf>,
    /// How many processors each job needs; it is pinned to those that it gets
    #[arg(short, long, value_name = "N")]
    pub(crate) processors: Option<NonZeroUsize>,
    /// Print the jobs as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Options of `netloom run`, or of `netloom sweep`
    #[arg(last = true, value_name = "OPTIONS")]
    pub(crate) options: Vec<OsString>,
}

/// `netloom queue list`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netloom queue list\n  netloom queue list --json | jq '.jobs[] | select(.exit_code != 0)'"
)]
pub(crate) struct QueueListArgs {
    /// Show all jobs that have ended, not only the last ones
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `netloom queue cancel`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom queue cancel 3 4
  netloom queue cancel 3 --now

A job that runs is ended as by Ctrl-C: its results are written. With --now its lab is killed.")]
pub(crate) struct QueueCancelArgs {
    /// The numbers of the jobs
    #[arg(required = true, value_name = "JOB")]
    pub(crate) jobs: Vec<u64>,
    /// Kill the lab at once, without results
    #[arg(long)]
    pub(crate) now: bool,
}

/// `netloom queue wait`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  netloom queue wait\n  netloom queue wait 3; echo $?\n  netloom queue wait 3 4 --json | jq '.[].exit_code'"
)]
pub(crate) struct QueueWaitArgs {
    /// The numbers of the jobs; default: all that have not ended
    #[arg(value_name = "JOB")]
    pub(crate) jobs: Vec<u64>,
    /// Print the jobs as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `netloom queue log`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  netloom queue log 3\n  netloom queue log 3 --follow")]
pub(crate) struct QueueLogArgs {
    /// The number of the job
    #[arg(value_name = "JOB")]
    pub(crate) job: u64,
    /// Print new output until the job has ended
    #[arg(short, long)]
    pub(crate) follow: bool,
}
