//! The command line of `netloom`.

mod doctor;
pub(crate) mod kernel;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
pub(crate) use doctor::DoctorArgs;
use netloom_lab::{Clock, Shards};
use netloom_units::Dilation;
use std::path::PathBuf;

/// A network emulator: real programs over the network that you describe, judged after every run.
#[derive(Debug, Parser)]
#[command(name = "netloom", version, max_term_width = 100, after_help = TOP_EXAMPLES, subcommand_required = true)]
#[command(arg_required_else_help = true, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const TOP_EXAMPLES: &str = "\
Examples:
  netloom run examples/dumbbell.yaml      run a lab, judge it, keep the results
  netloom check examples/dumbbell.yaml    show what would be set up, without root
  netloom sim examples/sim-bottleneck.yaml  simulate its links in virtual time, without root
  netloom doctor                          measure this machine: what labs it carries
  netloom up examples/star.yaml           bring a lab up for an interactive day
  netloom help exit-codes                 what the exit codes mean";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a lab from its file to a judged result
    Run(RunArgs),
    /// Simulate a lab's links in virtual time with built-in sources, without root
    Sim(SimArgs),
    /// Validate a lab file and print what would be set up
    Check(CheckArgs),
    /// Print the JSON schema of lab files, which editors can use
    #[command(after_help = "Examples:\n  netloom schema > netloom.schema.json")]
    Schema,
    /// Say what a string for netem, dummynet or tbf means in a lab file, or draw models
    Link(LinkArgs),
    /// Bring a lab up and leave it there
    Up(UpArgs),
    /// List the labs that are up
    #[command(after_help = "Examples:\n  netloom ps\n  netloom ps --json | jq -r '.[].name'")]
    Ps(PsArgs),
    /// Run a program in a node of a running lab
    Exec(ExecArgs),
    /// Open a shell in a node of a running lab
    #[command(after_help = "Examples:\n  netloom shell dumbbell client1")]
    Shell(ShellArgs),
    /// Change a link of a running lab
    Set(SetArgs),
    /// Show what the links of a running lab carry, every second
    Stats(StatsArgs),
    /// Capture the packets of a link of a running lab
    Capture(CaptureArgs),
    /// Show when the packets of TCP flows in a capture pass: gaps, rate, retransmissions
    Packets(PacketsArgs),
    /// Stop a lab and remove everything it made
    Down(DownArgs),
    /// Build and list the kernels that kernel nodes run
    Kernel {
        /// What to do
        #[command(subcommand)]
        command: kernel::KernelCommand,
    },
    /// Measure this machine for a few seconds: what labs it carries, and what to change
    Doctor(DoctorArgs),
    /// Print the completion script of a shell
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completion {
        /// For which shell
        shell: Shell,
    },
    /// What the exit codes mean
    #[command(name = "exit-codes", after_help = crate::commands::exit_code_table())]
    ExitCodes,
    /// The first process of a kernel node, which only a kernel starts
    #[command(name = "guest-init", hide = true)]
    GuestInit {
        /// What the kernel passes on from its command line
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        rest: Vec<String>,
    },
    /// A source or sink of traffic, which only `netloom doctor` starts
    #[command(name = netloom_run::doctor::TRAFFIC_COMMAND, hide = true)]
    DoctorTraffic {
        /// What it is to do
        #[arg(hide = true)]
        words: Vec<String>,
    },
}

const COMPLETION_EXAMPLES: &str = "\
Examples:
  netloom completion bash > ~/.local/share/bash-completion/completions/netloom
  netloom completion zsh > ~/.zfunc/_netloom
  netloom completion fish > ~/.config/fish/completions/netloom.fish";

/// How precisely packets are released.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PrecisionArg {
    /// Sleep only; late by 35 to 100 us
    Eco,
    /// Sleep, then spin for the last microseconds
    Balanced,
    /// Spin always; takes a whole processor
    Exact,
}

/// `netloom run`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom run lab.yaml
  netloom run lab.yaml --seed 7 --results /tmp/results
  netloom run lab.yaml --clock 10
  netloom run lab.yaml --shards 4
  netloom run lab.yaml --clock virtual
  netloom run lab.yaml --auto-dilate
  netloom run lab.yaml --json | jq .verdict

--auto-dilate reruns a lab that was not as described on Linux kernels of its own, in time that is slower by the factor
that its verdict proposes, at most 5 times in all. The last report shows all runs; the exit code is the last run's.

Results go to RESULTS/<lab>/<time>-<id>/. Ctrl-C stops the run and still leaves them; a second Ctrl-C kills it.")]
pub(crate) struct RunArgs {
    /// The lab file
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    #[command(flatten)]
    pub(crate) dilate: AutoDilate,
    /// The folder that holds the results of all labs
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Print the whole report as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing but the verdict while it works
    #[arg(short, long)]
    pub(crate) quiet: bool,
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
happen at their instants; its programs are left out. The same seed gives the same figures. Results go to
RESULTS/<lab>/<time>-<id>/, plots among them.")]
pub(crate) struct SimArgs {
    /// The lab file
    pub(crate) file: PathBuf,
    /// One source more, as an entry of `traffic:` in a lab file; may be given several times
    #[arg(long, value_name = "SOURCE")]
    pub(crate) traffic: Vec<String>,
    /// For how long sources send; without it the lab file's duration, or else 10 s
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) duration: Option<String>,
    /// Another seed for everything random
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// The folder that holds the results of all labs
    #[arg(long, visible_alias = "out", value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// Draw no plots
    #[arg(long)]
    pub(crate) no_plots: bool,
    /// Print the whole report as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing while it works
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// What the command line may say instead of the lab file.
#[derive(Debug, Args)]
pub(crate) struct Overrides {
    /// Another name, so that the same file can be up several times
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Another seed for everything random
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Another precision
    #[arg(long, value_enum)]
    pub(crate) precision: Option<PrecisionArg>,
    /// Another number of threads of the packet engine, or auto
    #[arg(long, value_name = "N", value_parser = shards)]
    pub(crate) shards: Option<Shards>,
    /// Another clock: real, virtual, or a number, by which lab time is slower than ours
    #[arg(long, value_parser = clock)]
    pub(crate) clock: Option<Clock>,
    /// The kernel of kernel nodes; without it $NETLOOM_KERNEL, or the best that `netloom kernel list` shows
    #[arg(long, value_name = "PATH")]
    pub(crate) kernel: Option<PathBuf>,
}

/// The search for a dilation.
#[derive(Debug, Args)]
pub(crate) struct AutoDilate {
    /// If this machine is too slow for the lab, rerun it with the smallest dilation that will fit
    #[arg(long)]
    pub(crate) auto_dilate: bool,
    /// The largest dilation to rerun it with
    #[arg(long, value_name = "N", default_value = "100", requires = "auto_dilate", value_parser = dilation)]
    pub(crate) dilate_at_most: Dilation,
}

fn dilation(text: &str) -> Result<Dilation, String> {
    text.parse::<Dilation>().map_err(|error| error.to_string())
}

/// What `--shards` says.
fn shards(text: &str) -> Result<Shards, String> {
    if text == "auto" {
        return Ok(Shards::Auto);
    }
    let count = text.parse().ok().filter(|count| (1..=Shards::MOST).contains(count));
    count.map(Shards::Count).ok_or_else(|| format!("write auto, or a number from 1 to {}", Shards::MOST))
}

/// What `--clock` says.
fn clock(text: &str) -> Result<Clock, String> {
    match text {
        "real" => Ok(Clock::Real),
        "virtual" => Ok(Clock::Virtual),
        _ if text.starts_with(|first: char| first.is_ascii_digit()) => {
            text.parse::<Dilation>().map(Clock::Dilated).map_err(|error| error.to_string())
        }
        _ => Err("write real, virtual, or how many times slower than ours lab time passes, for example 10".to_owned()),
    }
}

/// `netloom check`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom check lab.yaml
  netloom check lab.yaml --json | jq '.nodes[].name'
  netloom check lab.yaml --json | jq '.links[] | {name, joined_in_kernel, not_joined_because}'
  netloom check lab.yaml --clock virtual")]
pub(crate) struct CheckArgs {
    /// The lab file
    pub(crate) file: PathBuf,
    /// Another clock: real, virtual, or a number, by which lab time is slower than ours
    #[arg(long, value_parser = clock)]
    pub(crate) clock: Option<Clock>,
    /// Print the plan as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

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
  netloom link plot 'delay={kind: normal, mean: 20 ms, deviation: 3 ms}'

What is printed can stand in a link of a lab file. The same strings are accepted there under the keys
netem, dummynet and tbf. Where the meaning differs, a comment says how and why."
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
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What else can be done with a link.
#[derive(Debug, Subcommand)]
pub(crate) enum LinkCommand {
    /// Draw the distribution or the trace of models as SVG, to look before you run
    Plot(PlotArgs),
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
    /// What to draw, as a lab file would have it
    #[arg(required = true, value_name = "KEY=VALUE")]
    pub(crate) models: Vec<String>,
    /// Where to write the picture; - is standard output
    #[arg(long, value_name = "FILE", default_value = "link.svg")]
    pub(crate) out: PathBuf,
    /// How many packets are sent through delay and loss
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    pub(crate) packets: u32,
    /// For how long the rate is looked at
    #[arg(long = "for", value_name = "TIME", default_value = "10 s")]
    pub(crate) span: String,
    /// Where chance begins
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
}

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

The exit code is the program's own.")]
pub(crate) struct ExecArgs {
    /// The lab
    pub(crate) lab: String,
    /// The node
    pub(crate) node: String,
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

/// `netloom capture`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom capture dumbbell backbone -w backbone.pcapng
  netloom capture dumbbell backbone.forward --snaplen 128 | tcpdump -n -r -

Times are lab time since time zero. Ctrl-C ends it.")]
pub(crate) struct CaptureArgs {
    /// The lab
    pub(crate) lab: String,
    /// The link, or one direction of it
    #[arg(value_name = "LINK[.DIRECTION]")]
    pub(crate) link: String,
    /// Where to write, in the format pcapng; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) write: PathBuf,
    /// Keep so many bytes of each packet
    #[arg(short, long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(14..=262_144))]
    pub(crate) snaplen: Option<u64>,
}

/// `netloom packets`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom packets results/dumbbell/latest/captures/backbone.pcapng
  netloom packets backbone.pcapng --at server:eth0 --plot packets.svg
  netloom packets backbone.pcapng --json | jq '.[0].times_ns[:10]'

One row per direction of a connection and interface. Only packets with data count; times begin at the SYN.")]
pub(crate) struct PacketsArgs {
    /// The capture, in the format pcapng
    pub(crate) file: PathBuf,
    /// Only what this interface saw, as the capture names it: NODE:INTERFACE
    #[arg(long, value_name = "INTERFACE")]
    pub(crate) at: Option<String>,
    /// Draw the number of packets over time as SVG; - is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Print as JSON, with the time of every packet
    #[arg(long)]
    pub(crate) json: bool,
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

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

    #[test]
    fn exec_takes_everything_behind_the_dashes() {
        let cli = Cli::parse_from(["netloom", "exec", "lab", "node", "--", "ping", "-c", "1", "x"]);
        let Command::Exec(args) = cli.command else { panic!("exec was asked for") };
        assert_eq!(args.argv, ["ping", "-c", "1", "x"]);
    }
}
