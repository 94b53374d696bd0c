//! What brings a lab up, works with it, and takes it down.

use super::Overrides;
use clap::Args;
use std::path::PathBuf;

/// `netloom up`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom up lab.yaml
  netloom up lab.yaml --name second

Services without a time are started; the rest of the timeline belongs to `netloom run`.")]
pub(crate) struct UpArgs {
    /// The lab file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
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

/// `netloom down`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom down dumbbell
  netloom down --all")]
pub(crate) struct DownArgs {
    /// The lab; may be left out while just one is up
    #[arg(conflicts_with = "all")]
    pub(crate) lab: Option<String>,
    /// Every lab of this user
    #[arg(long)]
    pub(crate) all: bool,
}
