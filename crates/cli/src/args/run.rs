//! What runs a lab from its file, simulates it, or checks it.

use super::Foreign;
use super::ci::Ci;
use super::convert::lab_path;
use super::machines::{Hosts, Machines, PartOf, cluster, hosts, path_time};
use clap::{Args, ValueEnum};
use netloom_lab::{Clock, Shards};
use netloom_units::Dilation;
use std::path::PathBuf;
use std::time::Duration;

/// `netloom run`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom run lab.yaml
  netloom run lab.yaml --seed 7 --results /tmp/results
  netloom run lab.yaml --clock 10
  netloom run lab.yaml --shards 4
  netloom run lab.yaml --clock virtual --wall-limit 10min
  netloom run lab.yaml --auto-dilate
  netloom run lab.yaml --clock virtual --stop-at 12.0347s
  netloom run lab.yaml --stop-at 12.0347s --gdb n2:etcd
  netloom run lab.yaml --stop-at 12.0347s --gdb n2:etcd --gdb-command 'info threads'
  netloom run lab.yaml --follow
  netloom run lab.yaml --on ray://head:10001 --machines 3
  netloom run lab.yaml --clock virtual --part a --at a=192.0.2.1:29788 --at b=192.0.2.2:29788 --key key
  netloom run lab.yaml --json | jq .verdict
  netloom run lab.yaml --junit report.xml

--auto-dilate reruns a lab whose network was not as described, on kernel nodes and in slower time, by the factor
that the verdict proposes, at most 5 times in all. The last report shows all runs; the exit code is the last run's.

Results go to RESULTS/<lab>/<time>-<id>/. Ctrl-C stops the run and keeps its results; a second Ctrl-C kills it.")]
pub(crate) struct RunArgs {
    /// The lab file, or a file or folder of another network tool
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    #[command(flatten)]
    pub(crate) dilate: AutoDilate,
    /// The folder that holds the results of all labs
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// End the run after this much wall time, keep its results, and exit with code 124
    #[arg(long, value_name = "TIME", value_parser = wall_limit)]
    pub(crate) wall_limit: Option<Duration>,
    /// Hold lab time at this instant of the timeline, in virtual time, until `netloom resume`
    #[arg(long, value_name = "TIME", value_parser = lab_time)]
    pub(crate) stop_at: Option<netloom_units::Duration>,
    /// Attach gdb in NODE to the program whose command line matches PATTERN, as it stands at that instant: at a terminal to talk to it
    #[arg(long, value_name = "NODE:PATTERN", requires = "stop_at")]
    pub(crate) gdb: Option<String>,
    /// Print where the results would come from, as provenance.json says it, and run nothing
    #[arg(long, hide = true)]
    pub(crate) provenance: bool,
    /// A command for gdb, may be given several times; `-` alone: those of standard input; default without a terminal: thread apply all backtrace
    #[arg(long, value_name = "COMMAND", requires = "gdb", allow_hyphen_values = true)]
    pub(crate) gdb_command: Vec<String>,
    #[command(flatten)]
    pub(crate) pictures: Pictures,
    /// Write no report.html
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Show what commands and services write, on standard error
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Print the whole report as JSON on standard output, whatever fails
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the verdict, but no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) ci: Ci,
    #[command(flatten)]
    pub(crate) machines: Machines,
    #[command(flatten)]
    pub(crate) part_of: PartOf,
    #[command(flatten)]
    pub(crate) part: SweepPart,
}

/// Reads a span of lab time.
pub(crate) fn lab_time(text: &str) -> Result<netloom_units::Duration, String> {
    text.parse::<netloom_units::Duration>().map_err(|error| error.to_string())
}

/// Whether pictures are drawn at the end.
#[derive(Debug, Args)]
pub(crate) struct Pictures {
    /// Draw pictures into plots/, as `netloom results plot` does later
    #[arg(long, overrides_with = "no_plots")]
    plots: bool,
    /// Draw no pictures, which is the default
    #[arg(long, hide = true, overrides_with = "plots")]
    no_plots: bool,
}

impl Pictures {
    /// Returns whether the last of both options asks for pictures.
    pub(crate) fn wanted(&self) -> bool {
        self.plots && !self.no_plots
    }
}

/// Of a run that is part of a sweep or a job of the queue, which starts it.
#[derive(Debug, Args)]
pub(crate) struct SweepPart {
    /// The process with which the run ends
    #[arg(long, value_name = "PID", hide = true)]
    pub(crate) parent: Option<i32>,
}

/// `netloom sim`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom sim examples/sim-bottleneck.yaml
  netloom sim lab.yaml --for 60s --seed 7 --json | jq '.sources[].delay_p99_ns'
  netloom sim lab.yaml --traffic 'from: client, to: server, kind: constant, rate: 5 Mbit/s, size: 1200 B'
  netloom sim lab.yaml --traffic 'from: client, to: server, kind: window, window: 64 kB, amount: 10 MB'

Sources are those of `traffic:` in the lab file and those of --traffic, which has the same keys: kind is constant,
poisson, on-off, pcap or window (a sender with a fixed window, which is not TCP). Changes of links in the timeline
happen at their instants; its programs do not run. The same seed gives the same figures. Results go to
RESULTS/<lab>/<time>-<id>/.")]
pub(crate) struct SimArgs {
    /// The lab file, or a file or folder of another network tool
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) foreign: Foreign,
    /// Add a source, written like an entry of `traffic:` in a lab file; may be given several times
    #[arg(long, value_name = "SOURCE")]
    pub(crate) traffic: Vec<String>,
    /// How long sources send; default: the lab file's duration, or 10 s
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// The seed of all random numbers
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// The folder that holds the results of all labs
    #[arg(long, visible_alias = "out", value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    #[command(flatten)]
    pub(crate) pictures: Pictures,
    /// Write no report.html
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Print the whole report as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// `netloom check`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom check lab.yaml
  netloom check lab.yaml --json | jq '.nodes[].name'
  netloom check lab.yaml --json | jq '.links[] | {name, joined_in_kernel, not_joined_because}'
  netloom check lab.yaml --clock virtual
  netloom check lab.yaml --machines 2 --path 200us
  netloom check lab.yaml --on ray://head:10001")]
pub(crate) struct CheckArgs {
    /// The lab file, or a file or folder of another network tool
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) foreign: Foreign,
    /// The clock: real, virtual, or by how much lab time is slower than wall time
    #[arg(long, value_parser = clock)]
    pub(crate) clock: Option<Clock>,
    /// Divide the lab among so many machines, in the place of the `machines` of the lab file: 1 to 64
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=netloom_lab::MachinePlan::MOST as u64))]
    pub(crate) machines: Option<u64>,
    /// How long a packet takes from one machine to another, in one direction
    #[arg(long, value_name = "TIME", value_parser = path_time, default_value = "500us")]
    pub(crate) path: netloom_units::Duration,
    /// Ask a cluster of Ray for its machines, and see which of them `netloom run --on` would have play what: `ray` for that of RAY_ADDRESS, or its address
    #[arg(long, value_name = "CLUSTER", value_parser = cluster)]
    pub(crate) on: Option<String>,
    /// The machines of a cluster, as a list in JSON
    #[arg(long, value_name = "HOSTS", hide = true, value_parser = hosts)]
    pub(crate) hosts: Option<Hosts>,
    /// Print the plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Settings that take the place of the lab file's.
#[derive(Clone, Debug, Args)]
pub(crate) struct Overrides {
    #[command(flatten)]
    pub(crate) foreign: Foreign,
    /// The name of the lab, so that the same file can be up several times
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The seed of all random numbers
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// How precisely the packet engine keeps due times
    #[arg(long, value_enum)]
    pub(crate) precision: Option<PrecisionArg>,
    /// The number of threads of the packet engine, or auto
    #[arg(long, value_name = "N", value_parser = shards)]
    pub(crate) shards: Option<Shards>,
    /// The clock: real, virtual, or by how much lab time is slower than wall time
    #[arg(long, value_parser = clock)]
    pub(crate) clock: Option<Clock>,
    /// The kernel of kernel nodes; default: $NETLOOM_KERNEL, or the best of `netloom kernel list`
    #[arg(long, value_name = "PATH")]
    pub(crate) kernel: Option<PathBuf>,
    /// Show kernel nodes this folder as the root of the machine's file system
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Where programs start in that root; default: the current folder's name
    #[arg(long, value_name = "DIR", requires = "root", hide = true)]
    pub(crate) start_folder: Option<PathBuf>,
}

/// How precisely packets are released.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PrecisionArg {
    /// Sleep only; packets are 35 to 100 us late
    Eco,
    /// Sleep, then spin for the last microseconds
    Balanced,
    /// Always spin; occupies a whole processor
    Exact,
}

/// The search for a dilation.
#[derive(Debug, Args)]
pub(crate) struct AutoDilate {
    /// If this machine is too slow for the lab, rerun it with the smallest sufficient dilation
    #[arg(long)]
    pub(crate) auto_dilate: bool,
    /// The largest dilation to try
    #[arg(long, value_name = "N", default_value = "100", requires = "auto_dilate", value_parser = dilation)]
    pub(crate) dilate_at_most: Dilation,
}

fn dilation(text: &str) -> Result<Dilation, String> {
    text.parse::<Dilation>().map_err(|error| error.to_string())
}

/// Parses `--wall-limit`.
pub(super) fn wall_limit(text: &str) -> Result<Duration, String> {
    let limit: netloom_units::Duration = text.parse().map_err(|error| format!("{error}"))?;
    if limit.is_zero() { Err("write more than 0 s".into()) } else { Ok(Duration::from_nanos(limit.as_nanos())) }
}

/// Parses `--shards`.
fn shards(text: &str) -> Result<Shards, String> {
    if text == "auto" {
        return Ok(Shards::Auto);
    }
    let count = text.parse().ok().filter(|count| (1..=Shards::MOST).contains(count));
    count.map(Shards::Count).ok_or_else(|| format!("write auto, or a number from 1 to {}", Shards::MOST))
}

/// Parses `--clock`.
pub(super) fn clock(text: &str) -> Result<Clock, String> {
    match text {
        "real" => Ok(Clock::Real),
        "virtual" => Ok(Clock::Virtual),
        _ if text.starts_with(|first: char| first.is_ascii_digit()) => {
            text.parse::<Dilation>().map(Clock::Dilated).map_err(|error| error.to_string())
        }
        _ => Err("write real, virtual, or by how much lab time is slower than wall time, for example 10".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    #[test]
    fn a_clock_is_a_word_or_a_number() {
        let clock_of = |text: &str| {
            let cli = Cli::try_parse_from(["netloom", "run", "lab.yaml", "--clock", text]).ok()?;
            let Command::Run(args) = cli.command else { panic!("a run was asked for") };
            args.overrides.clock
        };
        assert_eq!(clock_of("real"), Some(Clock::Real));
        assert_eq!(clock_of("virtual"), Some(Clock::Virtual));
        assert_eq!(clock_of("2.5"), Dilation::from_millionths(2_500_000).map(Clock::Dilated));
        for wrong in ["fast", "0", "0.5", "-1", "20000", "", "{dilation: 10}"] {
            assert_eq!(clock_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_limit_belongs_to_a_search() {
        let run = |words: &[&str]| {
            let cli = Cli::try_parse_from(["netloom", "run", "lab.yaml"].iter().chain(words)).ok()?;
            let Command::Run(args) = cli.command else { panic!("a run was asked for") };
            Some((args.dilate.auto_dilate, args.dilate.dilate_at_most))
        };
        let whole = |factor| Dilation::from_whole(factor).unwrap();
        assert_eq!(run(&[]), Some((false, whole(100))));
        assert_eq!(run(&["--auto-dilate", "--dilate-at-most", "20"]), Some((true, whole(20))));
        assert_eq!(run(&["--dilate-at-most", "20"]), None);
        assert_eq!(run(&["--auto-dilate", "--dilate-at-most", "0"]), None);
    }
}
