//! The command line of `netloom`.

mod bundle;
mod capture;
mod ci;
mod collect;
mod convert;
mod direction;
mod doctor;
mod generate;
mod graph;
mod history;
mod hunt;
pub(crate) mod image;
mod journal;
pub(crate) mod kernel;
mod lab;
mod link;
mod machines;
pub(crate) mod mm;
pub(crate) mod overview;
mod queue;
mod report;
mod rerun;
mod results;
mod run;
mod shape;
mod split;
mod sweep;
mod ui;
mod workload;

pub(crate) use bundle::BundleArgs;
pub(crate) use capture::{CaptureArgs, PacketsArgs};
pub(crate) use ci::{AnnotationsArg, Ci};
use clap::{Parser, Subcommand};
use clap_complete::Shell;
pub(crate) use collect::CollectArgs;
pub(crate) use convert::{ConvertArgs, Foreign, To};
pub(crate) use doctor::DoctorArgs;
pub(crate) use generate::GenerateArgs;
pub(crate) use graph::{GraphArgs, GraphFormat};
pub(crate) use history::{
    HistoryCheckArgs, HistoryCommand, HistoryConvertArgs, HistoryFiles, HistoryTarget, OpArgs, OpKind, OrderArg,
};
pub(crate) use hunt::HuntArgs;
pub(crate) use journal::{JournalArgs, JournalFormat};
pub(crate) use lab::{
    AdvanceArgs, DownArgs, ExecArgs, FaultArgs, LogsArgs, NodesArgs, PartitionArgs, PauseArgs, PsArgs, SetArgs,
    ShellArgs, StatsArgs, StreamArg, TasksArgs, UpArgs,
};
pub(crate) use link::{LinkArgs, LinkCommand, LinkShellArgs, PlotArgs};
pub(crate) use machines::{Division, OnLoss, PartOf};
pub(crate) use mm::{MmArgs, MmCommand, Way};
pub(crate) use queue::{QueueAddArgs, QueueCancelArgs, QueueCommand, QueueListArgs, QueueLogArgs, QueueWaitArgs};
pub(crate) use report::ReportArgs;
pub(crate) use rerun::RerunArgs;
pub(crate) use results::{PruneArgs, ResultsArgs, ResultsCommand, ResultsPlotArgs};
pub(crate) use run::{CheckArgs, Overrides, PrecisionArg, RunArgs, SimArgs};
pub(crate) use shape::{ShapeAddArgs, ShapeCommand, ShapeSetArgs};
pub(crate) use split::{SplitArgs, SplitPartitionArgs};
use std::ffi::OsString;
use std::path::PathBuf;
pub(crate) use sweep::SweepArgs;
pub(crate) use ui::UiArgs;
pub(crate) use workload::WorkloadArgs;

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
  netloom sweep lab.yaml -o out           run all that it describes, and tabulate the results
  netloom queue add lab.yaml              run it when it is its turn on this machine
  netloom bundle results/dumbbell/latest  pack the results into one file
  netloom sim examples/sim-bottleneck.yaml  simulate its links in virtual time, without root
  netloom doctor                          measure this machine's capacity for labs
  netloom up examples/star.yaml           bring a lab up and work with it
  netloom ui examples/star.yaml           the same and more in a browser
  netloom help exit-codes                 print what the exit codes mean";

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a lab, judge it, and keep the results
    Run(Box<RunArgs>),
    /// Run all that a lab file describes by `vary` and `repeat`, and tabulate the results
    Sweep(SweepArgs),
    /// Search faults with which something that must hold does not, and shrink them to the cause
    Hunt(HuntArgs),
    /// Simulate a lab's links in virtual time with built-in sources, without root
    Sim(SimArgs),
    /// Validate a lab file and print what would be set up
    Check(CheckArgs),
    /// Divide a lab into a lab file for each of several machines, which together are the lab
    Split(SplitArgs),
    /// Print a partition by hand as the parts of a lab have it, as JSON
    #[command(name = "split-partition", hide = true)]
    SplitPartition(SplitPartitionArgs),
    /// Convert files of other network tools into lab files, and labs into such files
    Convert(ConvertArgs),
    /// Print the JSON schema of lab files, which editors can use, or of the control protocol
    #[command(after_help = "Examples:\n  netloom schema > netloom.schema.json\n  netloom schema --protocol")]
    Schema {
        /// Print the schema of the control protocol
        #[arg(long)]
        protocol: bool,
    },
    /// Write a lab file with a network of a well-known shape: a tree, a fat tree, a random graph
    Generate(GenerateArgs),
    /// Draw a lab: its nodes and links as SVG
    Graph(GraphArgs),
    /// Run a command behind a link, translate a string for netem, dummynet or tbf into keys, or plot models
    Link(LinkArgs),
    /// Accept the command lines of mahimahi's mm-delay, mm-loss and mm-link
    Mm(MmArgs),
    /// Run a Python script that was written for Mininet, unchanged and without root
    #[command(after_help = MININET_EXAMPLES, disable_help_flag = true)]
    Mininet {
        #[arg(
            help = "The script and its arguments, or -m and a module of Python",
            value_name = "SCRIPT",
            required = true,
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        words: Vec<OsString>,
    },
    /// Accept the command line of Mininet's mn
    #[command(after_help = MN_EXAMPLES, disable_help_flag = true)]
    Mn {
        #[arg(
            help = "The options of mn; --help shows them",
            value_name = "OPTION",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        words: Vec<OsString>,
    },
    /// Bring a lab up and leave it running
    Up(UpArgs),
    /// Serve a page for the browser: draw labs, run them, watch them, replay them
    Ui(UiArgs),
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
    /// Part nodes of a running lab: packets between them are dropped, slowed or held
    Partition(PartitionArgs),
    /// Disturb programs or nodes of a running lab: signals, clocks
    Fault(FaultArgs),
    /// End the partitions of a running lab that were made by hand
    #[command(after_help = "Examples:\n  netloom heal star")]
    Heal {
        /// The lab
        lab: String,
    },
    /// Advance the time of a lab in virtual time by a step, and pause it there
    Advance(AdvanceArgs),
    /// Pause the time of a lab in virtual time
    #[command(after_help = "Examples:\n  netloom pause\n  netloom pause star")]
    Pause(PauseArgs),
    /// Resume the time of a lab in virtual time
    #[command(after_help = "Examples:\n  netloom resume\n  netloom resume star")]
    Resume(PauseArgs),
    /// Send traffic of this machine itself through pipes, without a lab
    Shape {
        /// What to do
        #[command(subcommand)]
        command: ShapeCommand,
    },
    /// Show what the links of a running lab carry, every second
    Stats(StatsArgs),
    /// Show the verdict so far on a lab that is up, and where packets are late
    #[command(after_help = "Examples:\n  netloom verdict star\n  netloom verdict star --json | jq '.pipes[].p99_ns'")]
    Verdict {
        /// The lab; may be left out if only one is up
        lab: Option<String>,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Restart a command, or the services of a node
    #[command(after_help = "Examples:\n  netloom restart star web\n  netloom restart star h2")]
    Restart {
        /// The lab
        lab: String,
        /// A command or service of the timeline, or a node, whose services are meant
        name: String,
    },
    /// Stop nodes of a lab that is up: their links are cut, and their programs end
    Stop(NodesArgs),
    /// Start nodes that were stopped: addresses, routes, setup and services come back
    Start(NodesArgs),
    /// Show the tasks of the exercise of a lab that is up, and which of them are met
    Tasks(TasksArgs),
    /// Show the output of a lab's commands and services
    Logs(LogsArgs),
    /// Capture the packets of a link of a running lab
    Capture(CaptureArgs),
    /// Show the packet times of TCP flows in a capture: gaps, rate, retransmissions
    Packets(PacketsArgs),
    /// Show what happened to each packet of a run that kept a journal
    Journal(JournalArgs),
    /// Check what clients of a system under test saw, an operation each: is there an order that explains it?
    History {
        /// What to do
        #[command(subcommand)]
        command: HistoryCommand,
    },
    /// Append an event to a history: an operation begins or ends
    Op(OpArgs),
    /// Play a workload on a node: the executables of a folder, when their names say
    Workload(WorkloadArgs),
    /// Rebuild report.html of a run or a sweep, or compare several
    Report(ReportArgs),
    /// List, plot or remove the results of runs
    Results(ResultsArgs),
    /// Pack the results of a run or a sweep into one file, look into such a file, check it, unpack it
    Bundle(BundleArgs),
    /// Repeat a run or a sweep from its results or a bundle of them, and report what differs
    Rerun(RerunArgs),
    /// Queue runs and sweeps: they start one after the other, and users take turns
    Queue {
        /// What to do
        #[command(subcommand)]
        command: QueueCommand,
    },
    /// Stop a lab, print its verdict, and remove everything it made
    Down(DownArgs),
    /// Fetch the results that machines of a cluster still have which a run has lost
    Collect(CollectArgs),
    /// Unpack, list and remove container images, which nodes can have as their file systems
    Image {
        /// What to do
        #[command(subcommand)]
        command: image::ImageCommand,
    },
    /// Build and list the kernels that kernel nodes run
    Kernel {
        /// What to do
        #[command(subcommand)]
        command: kernel::KernelCommand,
    },
    /// Measure this machine for a few seconds: its capacity for labs, and what to change
    Doctor(DoctorArgs),
    /// Print the completion script of a shell
    #[command(after_help = COMPLETION_EXAMPLES)]
    Completion {
        /// The shell
        shell: Shell,
    },
    /// Write manual pages, made of the help of all commands, for packages
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// The folder; it is made if it does not exist
        folder: PathBuf,
    },
    /// Print what the exit codes mean
    #[command(name = "exit-codes", after_help = crate::exit_codes::table())]
    ExitCodes,
    /// Prints names for the completion of a shell, which only its script calls
    #[command(name = "complete", hide = true)]
    Complete {
        /// The words of the command line behind `netloom`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        words: Vec<String>,
    },
}

const MININET_EXAMPLES: &str = "\
Examples:
  netloom mininet experiment.py --bw 10
  netloom mininet -m mininet.examples.linuxrouter";

const MN_EXAMPLES: &str = "\
Examples:
  netloom mn --topo single,3 --test pingall
  netloom mn --link tc,bw=10,delay=10ms
  netloom mn --custom topology.py --topo mytopo --controller remote";

const MAN_EXAMPLES: &str = "\
Examples:
  netloom man ~/.local/share/man/man1";

const COMPLETION_EXAMPLES: &str = "\
Examples:
  netloom completion bash > ~/.local/share/bash-completion/completions/netloom
  netloom completion zsh > ~/.zfunc/_netloom
  netloom completion fish > ~/.config/fish/completions/netloom.fish

Names of labs that are up, of their nodes and of their links are completed, too.";

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn exec_takes_everything_behind_the_dashes() {
        let cli = Cli::parse_from(["netloom", "exec", "lab", "node", "--", "ping", "-c", "1", "x"]);
        let Command::Exec(args) = cli.command else { panic!("exec was asked for") };
        assert_eq!(args.argv, ["ping", "-c", "1", "x"]);
    }
}
