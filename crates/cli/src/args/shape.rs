//! The command line of `netloom shape`.

use super::PrecisionArg;
use super::direction::PipeKeys;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `netloom shape`
#[derive(Debug, Subcommand)]
pub(crate) enum ShapeCommand {
    /// Send traffic of this machine that matches through a pipe in each direction
    Add(Box<ShapeAddArgs>),
    /// List the shapes that are there
    #[command(after_help = "Examples:\n  netloom shape list\n  netloom shape list --json | jq -r '.[].name'")]
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Change the pipes of a shape, with packets inside
    Set(ShapeSetArgs),
    /// Show what goes through the pipes of a shape, every second
    #[command(after_help = "Examples:\n  netloom shape stats web\n  netloom shape stats web --json --once")]
    Stats {
        /// The shape
        name: String,
        /// Print counters as JSON, one object per second
        #[arg(long)]
        json: bool,
        /// Print once and stop; rates are averages over one second
        #[arg(long)]
        once: bool,
    },
    /// Remove a shape and print its verdict
    #[command(after_help = "Examples:\n  netloom shape remove web\n  netloom shape remove --all")]
    Remove {
        /// The shape
        #[arg(required_unless_present = "all")]
        name: Option<String>,
        /// Every shape of this user
        #[arg(long, conflicts_with = "name")]
        all: bool,
    },
}

/// `netloom shape add`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom shape add --name web --match 'to 10.1.0.0/16 tcp port 443' --rate 10Mbit/s --delay 40ms
  netloom shape add --match 'to 192.0.2.7' --netem 'delay 100ms loss 0.1%' --one-way
  netloom shape add --match 'udp port 5060' --delay 20ms --backward-delay 80ms
  netloom shape add --match 'user alice tcp' --rate 5Mbit/s
  netloom shape add --match 'to 198.51.100.0/24' --profile dsl
  netloom shape add --name dsl --file pipes.yaml

What matches goes forward, what answers to it goes backward: it matches with source and destination
exchanged. Takes the right to administer the network. `netloom shape remove` prints the verdict.")]
pub(crate) struct ShapeAddArgs {
    /// What to call it; default: shape-1 and so on
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Which packets go forward: from, to, port, from-port, to-port, dscp, user, group with values, and protocols
    #[arg(long = "match", value_name = "FILTER", required_unless_present = "file")]
    pub(crate) filter: Option<String>,
    /// A file with the keys `match`, `forward` and `backward`, and those of both directions
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Leave the answers alone
    #[arg(long)]
    pub(crate) one_way: bool,
    /// Shape even the connection over which you work
    #[arg(long)]
    pub(crate) force: bool,
    /// The number of the netfilter queue; default: the first from 19968 on that nobody uses
    #[arg(long, value_name = "NUMBER")]
    pub(crate) queue_number: Option<u16>,
    /// The seed of all random numbers
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// How precisely packets are released
    #[arg(long, value_enum)]
    pub(crate) precision: Option<PrecisionArg>,
    /// The folder that holds the results of all shapes and labs
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Print nothing if all is well
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) keys: PipeKeys,
}

/// `netloom shape set`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom shape set web 'delay=80 ms' 'loss=1 %'
  netloom shape set web.forward 'rate=2 Mbit/s'
  netloom shape set web state=down")]
pub(crate) struct ShapeSetArgs {
    /// The shape, or one direction of it, NAME.forward or NAME.backward
    #[arg(value_name = "NAME[.DIRECTION]")]
    pub(crate) name: String,
    /// What to change: any key of a direction as in a lab file, or state=up|down
    #[arg(required = true, value_name = "KEY=VALUE")]
    pub(crate) changes: Vec<String>,
}
