//! What brings a lab up, works with it, and takes it down.

use super::Overrides;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `netloom up`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom up lab.yaml
  netloom up lab.yaml --name second
  netloom up lab.yaml --results /tmp/results

Services without a time are started; the rest of the timeline belongs to `netloom run`, and so do expectations. Results go to
RESULTS/<lab>/<time>-<id>/; `netloom down` says the verdict.")]
pub(crate) struct UpArgs {
    /// The lab file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// The folder that holds the results of all labs
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Say nothing while it works
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// `netloom ps`
#[derive(Debug, Args)]
pub(crate) struct PsArgs {
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `netloom exec`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom exec dumbbell client1 -- ping -c 3 server1
  netloom exec dumbbell router1 -- ip route
  netloom exec --user postgres --folder / cluster db1 -- psql

The exit code is the program's own.")]
pub(crate) struct ExecArgs {
    /// The lab
    pub(crate) lab: String,
    /// The node
    pub(crate) node: String,
    /// The user that it runs as: a name in the node's /etc/passwd, or a number
    #[arg(short, long, value_name = "USER")]
    pub(crate) user: Option<String>,
    /// The folder that it starts in; without it, this one
    #[arg(short, long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Added to the program's environment
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub(crate) env: Vec<String>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) argv: Vec<String>,
}

/// `netloom shell`
#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    /// The lab
    pub(crate) lab: String,
    /// The node
    pub(crate) node: String,
}

/// `netloom set`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom set dumbbell backbone 'delay=80 ms' 'loss=1 %'
  netloom set dumbbell backbone.forward 'rate=10 Mbit/s'
  netloom set dumbbell backbone state=down")]
pub(crate) struct SetArgs {
    /// The lab
    pub(crate) lab: String,
    /// The link, or one direction of it: LINK.forward or LINK.backward; then a further pipe, if that is meant
    #[arg(value_name = "LINK[.DIRECTION][.PIPE]")]
    pub(crate) link: String,
    /// What to change: any key of a direction as in a lab file, or state=up|down
    #[arg(required = true, value_name = "KEY=VALUE")]
    pub(crate) changes: Vec<String>,
}

/// `netloom stats`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom stats dumbbell
  netloom stats dumbbell --once
  netloom stats dumbbell --json --once | jq '.pipes[0].departed_bytes'")]
pub(crate) struct StatsArgs {
    /// The lab; may be left out while just one is up
    pub(crate) lab: Option<String>,
    /// Print counters as JSON, one object per second
    #[arg(long)]
    pub(crate) json: bool,
    /// Print once and stop; rates are those of one second
    #[arg(long)]
    pub(crate) once: bool,
}

/// `netloom logs`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom logs dumbbell
  netloom logs dumbbell iperf3 client1
  netloom logs dumbbell --follow --tail 10
  netloom logs results/dumbbell/latest --only stderr

Each line has the command and its node in front; behind these, | stands for standard output and ! for standard error.
Without --follow, one output comes after the other. Ctrl-C ends nothing but this command.")]
pub(crate) struct LogsArgs {
    /// The lab, or a results folder; may be left out while just one lab is up
    #[arg(value_name = "LAB|FOLDER")]
    pub(crate) lab: Option<String>,
    /// Only the commands with these names, and those on nodes with these names
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Go on until the lab ends
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Begin with the last so many lines of each output
    #[arg(short = 'n', long, value_name = "LINES")]
    pub(crate) tail: Option<usize>,
    /// Only one of the outputs
    #[arg(long, value_enum, value_name = "OUTPUT")]
    pub(crate) only: Option<StreamArg>,
}

/// An output of a program.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum StreamArg {
    /// Standard output
    Stdout,
    /// Standard error
    Stderr,
}

/// `netloom down`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom down dumbbell
  netloom down --all

Of a lab that `netloom up` brought up, the verdict is said and gives the exit code, as that of a run: 5 if the network was not
as described, 1 if a service failed. Of several labs, it is the first code that is not 0.")]
pub(crate) struct DownArgs {
    /// The lab; may be left out while just one is up
    #[arg(conflicts_with = "all")]
    pub(crate) lab: Option<String>,
    /// Every lab of this user
    #[arg(long)]
    pub(crate) all: bool,
}
