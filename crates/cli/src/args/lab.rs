//! What brings a lab up, works with it, and takes it down.

use super::Overrides;
use super::convert::lab_path;
use super::machines::UpMachines;
use clap::{Args, ValueEnum};
use netloom_units::Duration;
use std::path::PathBuf;

/// `netloom up`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom up lab.yaml
  netloom up lab.yaml --name second
  netloom up lab.yaml --results /tmp/results
  netloom up lab.yaml --follow
  netloom up lab.yaml --json --parent $$
  netloom up lab.yaml --on ray://head:10001 --machines 3

`netloom up` starts the services that have no time; only `netloom run` carries out the rest of the timeline and checks
expectations. Results go to RESULTS/<lab>/<time>-<id>/; `netloom down` prints the verdict. With --clock virtual, the
lab's time stands still when it is up: see `netloom advance`.")]
pub(crate) struct UpArgs {
    /// The lab file, or a file or folder of another network tool
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// The folder that holds the results of all labs
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) results: PathBuf,
    /// End the lab when this process ends, for programs that bring labs up
    #[arg(long, value_name = "PID")]
    pub(crate) parent: Option<i32>,
    /// Print where the lab's control socket and results are, as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print what programs write until the lab ends; Ctrl-C ends that, and leaves the lab up
    #[arg(long, conflicts_with = "json")]
    pub(crate) follow: bool,
    /// Print no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) machines: UpMachines,
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
  netloom exec dumbbell 'client*' -- ip -br address
  netloom exec dumbbell --all -- ip route

The exit code is the program's own. In several nodes, the program has no input, each line of its output follows the
name of its node (| standard output, ! standard error), and the exit code is the greatest.")]
pub(crate) struct ExecArgs {
    /// The lab
    pub(crate) lab: String,
    /// The node, or a pattern of nodes that run programs: * stands for any letters, ? for one
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub(crate) node: Option<String>,
    /// Run the program in all nodes that run programs
    #[arg(long)]
    pub(crate) all: bool,
    /// The user that the program runs as: a name in the node's /etc/passwd, or a number
    #[arg(short, long, value_name = "USER")]
    pub(crate) user: Option<String>,
    /// The folder that the program starts in; default: the current one
    #[arg(short, long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Add a variable to the program's environment; may be given several times
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
    /// The serial console of a virtual machine in place of a shell; Ctrl-] leaves it
    #[arg(long)]
    pub(crate) console: bool,
}

/// `netloom stop` and `netloom start`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom stop star h2
  netloom stop star 'r*' sw1
  netloom start star 'r*' sw1

Returns when the nodes have stopped, or run again with their setup done and their services ready. Of a pattern, nodes count
that can be changed: those that run, for `stop`, or have stopped, for `start`.")]
pub(crate) struct NodesArgs {
    /// The lab
    pub(crate) lab: String,
    /// The nodes, or patterns of names: * stands for any letters, ? for one
    #[arg(required = true, value_name = "NODE")]
    pub(crate) nodes: Vec<String>,
}

/// `netloom set`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom set dumbbell backbone 'delay=80 ms' 'loss=1 %'
  netloom set dumbbell backbone.forward 'rate=10 Mbit/s'
  netloom set dumbbell backbone down=true
  netloom set dumbbell backbone 'down=500 ms'
  netloom set dumbbell backbone 'down={carrier: true}'")]
pub(crate) struct SetArgs {
    /// The lab
    pub(crate) lab: String,
    /// The link, or one direction of it, LINK.forward or LINK.backward, or a further pipe of either
    #[arg(value_name = "LINK[.DIRECTION][.PIPE]")]
    pub(crate) link: String,
    /// What to change: any key of a direction as in a lab file; or up=true, down=true, 'down=500 ms' or 'down={carrier: true}'
    #[arg(required = true, value_name = "KEY=VALUE")]
    pub(crate) changes: Vec<String>,
}

/// `netloom partition`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom partition star '[[n1, n2], [n3]]'
  netloom partition star '{ring: n*}' 'slow=200 ms'
  netloom partition star '{isolate: n1, of: n*}' direction=to 'for=2 s'

It lasts for the time of `for`, or until `netloom heal`.")]
pub(crate) struct PartitionArgs {
    /// The lab
    pub(crate) lab: String,
    /// The groups or the shape, as `partition` of a lab file's timeline has it
    #[arg(value_name = "PARTITION")]
    pub(crate) partition: String,
    /// Other keys of the entry: others, direction, slow, jam or for
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) keys: Vec<String>,
}

/// `netloom fault`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom fault star
  netloom fault star '{crash: n1, keep: torn, for: 2 s}'
  netloom fault star '{freeze: n1, for: 5 s}'
  netloom fault star '{on: n*, clock: {step: 3 s, drift: 200 ppm}}'
  netloom fault star '{link: l1, packet: {match: {to_port: 80}, nth: 3}, do: drop}'
  netloom fault star '{link: l1, reset: {to_port: 5432}}'
  netloom fault star '{kill: n1, process: sleep 9*}'
  netloom fault star '{signal: SIGHUP, to: server}'

It happens at once. The entries are those of a lab file's timeline, without the keys that say when: all but run, ramp, move and log.
Without an entry, the faults that each node can have are printed with an example, or the reason why it cannot.
What the lab's clock or a kind of node cannot do is refused, with the reason. A node that has crashed boots after `for`, or by `netloom start`.")]
pub(crate) struct FaultArgs {
    /// The lab
    pub(crate) lab: String,
    /// The entry, as the timeline of a lab file has it. Default: what there is is printed
    #[arg(value_name = "ENTRY")]
    pub(crate) entry: Option<String>,
}

/// `netloom advance`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom up lab.yaml --clock virtual
  netloom advance lab 100ms
  netloom advance lab 2s

Returns when lab time has advanced by TIME, and prints the time since time zero. See also `netloom resume`.")]
pub(crate) struct AdvanceArgs {
    /// The lab
    pub(crate) lab: String,
    /// The length of the step
    #[arg(value_name = "TIME", value_parser = super::run::lab_time)]
    pub(crate) time: Duration,
}

/// `netloom pause` and `netloom resume`
#[derive(Debug, Args)]
pub(crate) struct PauseArgs {
    /// The lab; may be left out if only one is up
    pub(crate) lab: Option<String>,
}

/// `netloom stats`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom stats dumbbell
  netloom stats dumbbell --once
  netloom stats dumbbell --json --once | jq '.pipes[0].departed_bytes'")]
pub(crate) struct StatsArgs {
    /// The lab; may be left out if only one is up
    pub(crate) lab: Option<String>,
    /// Print counters as JSON, one object per second
    #[arg(long)]
    pub(crate) json: bool,
    /// Print once and stop; rates are averages over one second
    #[arg(long)]
    pub(crate) once: bool,
}

/// `netloom tasks`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom tasks lesson-bufferbloat
  netloom tasks lesson-bufferbloat --hints
  netloom tasks lesson-bufferbloat --json | jq '.tasks[] | select(.next) | .title'")]
pub(crate) struct TasksArgs {
    /// The lab; may be left out if only one is up
    pub(crate) lab: Option<String>,
    /// Print the tasks, and what their checks found, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print hints for the next task, too
    #[arg(long, conflicts_with = "json")]
    pub(crate) hints: bool,
}

/// `netloom logs`
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  netloom logs dumbbell
  netloom logs dumbbell iperf3 client1
  netloom logs dumbbell --follow --tail 10
  netloom logs results/dumbbell/latest --only stderr

Each line begins with the command and its node, followed by | for standard output or ! for standard error.
Without --follow, one output comes after the other. Ctrl-C ends this command only.")]
pub(crate) struct LogsArgs {
    /// The lab, or a results folder; may be left out if only one lab is up
    #[arg(value_name = "LAB|FOLDER")]
    pub(crate) lab: Option<String>,
    /// Only the commands with these names, and those on nodes with these names
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Print new lines until the lab ends
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Begin with the last LINES lines of each output
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

For a lab of `netloom up`, prints the verdict, which gives the exit code as for a run: 5 if the network was not
as described, 1 if a service failed. For several labs, the exit code is the first that is not 0.")]
pub(crate) struct DownArgs {
    /// The lab; may be left out if only one is up
    #[arg(conflicts_with = "all")]
    pub(crate) lab: Option<String>,
    /// Every lab of this user
    #[arg(long)]
    pub(crate) all: bool,
}
