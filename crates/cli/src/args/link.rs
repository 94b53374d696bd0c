//! The command line of `netloom link`.

use super::PrecisionArg;
use super::direction::{LinkKeys, profiles};
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// `netloom link`
#[derive(Debug, Args)]
#[command(
    group = clap::ArgGroup::new("string").required(true),
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  netloom link --netem 'delay 100ms 10ms 25% distribution normal loss 0.1% rate 10mbit'
  netloom link --dummynet 'bw 2.6Mbit/s delay 45ms queue 30 plr 0.01'
  netloom link --tbf 'rate 50mbit burst 4542 latency 50ms' --json
  netloom link --profile starlink
  netloom link plot 'delay={kind: normal, mean: 20 ms, deviation: 3 ms}'

What is printed can stand in a link of a lab file. The same strings are accepted there under the keys
netem, dummynet, tbf and profile. Where the meaning differs, a comment says how and why."
)]
pub(crate) struct LinkArgs {
    #[command(subcommand)]
    pub(crate) command: Option<LinkCommand>,
    /// What follows `netem` in a tc command
    #[arg(long, value_name = "STRING", group = "string")]
    pub(crate) netem: Option<String>,
    /// What follows `config` in an ipfw command
    #[arg(long, value_name = "STRING", group = "string")]
    pub(crate) dummynet: Option<String>,
    /// What follows `tbf` in a tc command
    #[arg(long, value_name = "STRING", group = "string")]
    pub(crate) tbf: Option<String>,
    /// A typical link by name
    #[arg(long, value_name = "NAME", group = "string", value_parser = profiles())]
    pub(crate) profile: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The subcommands of `netloom link`.
#[derive(Debug, Subcommand)]
pub(crate) enum LinkCommand {
    /// Draw the distribution or the trace of models as SVG
    Plot(PlotArgs),
    /// Run a command, or a shell, behind a link to this machine's network
    Shell(LinkShellArgs),
}

/// `netloom link shell`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom link shell --delay 40ms --rate 12Mbit/s -- curl -O http://example.org/file
  netloom link shell --uplink-rate 1Mbit/s --downlink-rate 16Mbit/s --queue '50 packets'
  netloom link shell --profile lte-walking -- curl -O http://example.org/file
  netloom link shell --delay 20ms -- netloom link shell --loss 1% -- ping -c 10 192.0.2.1
  netloom link shell --uplink-trace cell.up --downlink-trace cell.down -v -- ./upload

The command has this terminal, folder and user, and a network of its own with a way out through the link. Its exit code
is that of netloom. Values are those of a lab file. Uplink is the way out.")]
pub(crate) struct LinkShellArgs {
    #[command(flatten)]
    pub(crate) keys: LinkKeys,
    /// The seed of all random numbers
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// How precisely packets are released
    #[arg(long, value_enum, default_value = "balanced")]
    pub(crate) precision: PrecisionArg,
    /// Print what was measured on the link, and the verdict, on standard error
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Write what was measured, and the verdict, as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
    /// The program and its arguments; default: $SHELL
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) argv: Vec<OsString>,
}

/// `netloom link plot`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom link plot 'delay={kind: exponential, shift: 10 ms, mean: 10 ms, correlation: 80 %}'
  netloom link plot 'loss={kind: gilbert, share: 1 %, burst: 5 packets}' --packets 100000
  netloom link plot 'rate={kind: delivery-trace, file: cell.trace}' --for 30s --out cell.svg
  netloom link plot 'netem=delay 100ms 10ms 25% distribution normal loss 1%'

Keys and values are those of a link in a lab file. Figures go to standard output.")]
pub(crate) struct PlotArgs {
    /// The model to draw, written as in a lab file
    #[arg(required = true, value_name = "KEY=VALUE")]
    pub(crate) models: Vec<String>,
    /// The SVG file to write; - is standard output
    #[arg(long, value_name = "FILE", default_value = "link.svg")]
    pub(crate) out: PathBuf,
    /// How many packets are sent through delay and loss
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    pub(crate) packets: u32,
    /// The time that the plot of a rate spans
    #[arg(long = "for", value_name = "TIME", default_value = "10 s")]
    pub(crate) span: String,
    /// The seed of the random numbers
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
}
