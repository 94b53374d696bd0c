//! What a run found out: the figures that the table, `pipes.json` and `verdict.json` show.
//!
//! Every number carries its unit in its name.

mod attempt;
mod effort;
mod exercise;
mod journal;
mod judgement;
mod plots;
mod port_loss;
mod series;
mod simulation;
mod snooping;
mod stations;
mod switches;
mod tcp;
mod tunnels;

use crate::{Effects, ExitCode, Punctuality};
pub use attempt::Attempt;
pub use effort::{Effort, NodeEffort, Phases, SchedulerEffort};
pub use exercise::{ExerciseReport, TaskRow};
pub use journal::JournalRow;
pub use judgement::Judgement;
use netloom_fabric::RouterCounters;
use netloom_units::Dilation;
pub use plots::Plots;
pub use port_loss::PortLoss;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use series::{NodeSampleReport, SampleReport};
pub use simulation::{SimEffort, SimReport, SourceRow};
pub use snooping::{GroupRow, SnoopingRow};
pub use stations::StationRow;
use std::path::{Path, PathBuf};
pub use switches::{SwitchRow, TreeRow};
pub use tcp::TcpReport;
pub use tunnels::TunnelRow;

/// All that a run found out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// The lab's name.
    pub lab: String,
    /// The folder with the results; empty, and not in the JSON, if the run failed before there was one.
    #[serde(default, skip_serializing_if = "is_nowhere")]
    pub results: PathBuf,
    /// Why the run failed; none if it came to an end that can be judged, or was interrupted. What else is here was found out
    /// before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the run was ended by the user before its time.
    pub interrupted: bool,
    /// Whether the run was ended because it took longer than its wall limit.
    #[serde(default)]
    pub wall_limit_reached: bool,
    /// How long the run lasted in lab time, from time zero (all services ready) to its end.
    pub duration_ns: u64,
    /// One row per link and direction, in the order of the lab file, forward before backward; then one per further pipe.
    pub pipes: Vec<PipeRow>,
    /// Where packets were lost outside the models, the worst first; empty if none was.
    #[serde(default)]
    pub losses: Vec<PortLoss>,
    /// One row per transit router, in the order of the lab file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<RouterRow>,
    /// The ports of the switches, switch by switch.
    pub switches: Vec<SwitchRow>,
    /// The stations of radio media, medium by medium.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stations: Vec<StationRow>,
    /// One row per tunnel to another machine, in the order of the lab file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunnels: Vec<TunnelRow>,
    /// The commands and services of the timeline, in the order in which they started.
    pub commands: Vec<CommandRow>,
    /// The expectations of the lab file and whether they hold.
    pub expectations: Vec<ExpectationRow>,
    /// The figures of the lab file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<FigureRow>,
    /// How far the tasks of the lab's exercise were met; none of a lab without an exercise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exercise: Option<ExerciseReport>,
    /// How much later than described the events of the timeline happened.
    #[serde(default)]
    pub events: Punctuality,
    /// Whether the network was as described.
    pub verdict: Verdict,
    /// The actions of clients during the run that the lab file does not describe; a sweep does not count such a run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interventions: Vec<String>,
    /// The warnings: what to check before the results are trusted.
    pub warnings: Vec<String>,
    /// Nodes in which programs computed for so long that lab time went on meanwhile (`on_spin: advance`): the run is not the
    /// same twice. Empty but in virtual time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advanced: Vec<Advance>,
    /// The pictures of the run, in its results folder; none if nothing happened on any link that the engine saw.
    #[serde(default)]
    pub plots: Option<Plots>,
    /// The samples of pipes; none of a lab that was up, or never reached time zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SampleReport>,
    /// The page that shows the run, in its results folder; none if it was not wanted.
    #[serde(default)]
    pub page: Option<PathBuf>,
    /// The samples of TCP connections; none if none were to be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpReport>,
    /// The samples of the resources that nodes use; none if none were to be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeSampleReport>,
    /// The journal of what happened to each packet; none if none was to be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalRow>,
    /// The cost of the run; none if it never reached time zero.
    #[serde(default)]
    pub effort: Option<Effort>,
    /// All runs of a search for a dilation, this one last; empty without a search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// The exit code that follows from all this.
    pub exit_code: u8,
}

/// By how much lab time went on in a node while its programs computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advance {
    /// The node's name.
    pub node: String,
    /// How much lab time went on, in nanoseconds.
    pub advanced_ns: u64,
}

/// One direction of a link: what was described for it, and what was measured. Packets are segments; bytes count from the
/// IP header on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PipeRow {
    /// The link's name.
    pub link: String,
    /// `forward` or `backward`; `shared` of a shared medium.
    pub direction: String,
    /// The name of a further pipe; none: the direction's own.
    pub pipe: Option<String>,
    /// The node where packets enter.
    pub from: String,
    /// The node where they leave.
    pub to: String,
    /// Whether the link is joined in the kernel: nothing of it is measured, and all figures are zero or missing.
    #[serde(default)]
    pub joined_in_kernel: bool,
    /// The described rate at the end of the run; none: unlimited.
    pub rate_bits_per_second: Option<u64>,
    /// The rate while packets waited for the transmitter; none if they never did for long enough to tell.
    pub achieved_bits_per_second: Option<f64>,
    /// Whether packets waited for the transmitter for so long that the verdict judges the achieved rate.
    #[serde(default)]
    pub rate_judged: bool,
    /// The rate at which packets were delivered, over the whole run.
    pub throughput_bits_per_second: f64,
    /// The described propagation delay at the end of the run.
    pub delay_ns: u64,
    /// The mean propagation delay that packets really had, from the end of their transmission to delivery.
    pub measured_delay_mean_ns: Option<u64>,
    /// The 99th percentile of the propagation delay that packets really had.
    pub measured_delay_p99_ns: Option<u64>,
    /// The most packets that waited at once.
    pub queue_peak_packets: u64,
    /// Packets that were inside at time zero, from when on everything counts.
    #[serde(default)]
    pub in_flight_at_start_packets: u64,
    /// Packets that were inside at the end.
    #[serde(default)]
    pub in_flight_at_end_packets: u64,
    /// Packets that came in.
    pub arrived_packets: u64,
    /// The bytes of the packets that came in.
    pub arrived_bytes: u64,
    /// Packets that were delivered.
    pub departed_packets: u64,
    /// The bytes of the packets that were delivered.
    pub departed_bytes: u64,
    /// Packets dropped because the queue was full.
    pub dropped_queue_packets: u64,
    /// Packets dropped by the loss model.
    pub dropped_loss_packets: u64,
    /// Packets dropped by the queue's discipline, though there was room.
    pub dropped_early_packets: u64,
    /// Packets dropped because the link was down.
    pub dropped_down_packets: u64,
    /// Packets dropped because a partition was between the nodes from which and for which they were.
    #[serde(default)]
    pub dropped_partition_packets: u64,
    /// Packets that a fault of the timeline dropped.
    #[serde(default)]
    pub dropped_fault_packets: u64,
    /// Packets that were lost on the air: after their last retry, or to everybody in a collision.
    #[serde(default)]
    pub dropped_air_packets: u64,
    /// The pipe's other effects on packets, and its cross traffic.
    #[serde(flatten)]
    pub effects: Effects,
    /// The median of the lateness: how much later than due packets were delivered.
    pub lateness_p50_ns: Option<u64>,
    /// 99th percentile of the lateness.
    pub lateness_p99_ns: Option<u64>,
    /// The largest lateness.
    pub lateness_max_ns: Option<u64>,
}

/// The counters of a transit router since time zero. Packets are segments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouterRow {
    /// The router's node.
    pub node: String,
    /// Packets that the router forwarded.
    pub forwarded_packets: u64,
    /// Fragments that the router forwarded instead of packets that it fragmented.
    pub fragments: u64,
    /// Packets for the router itself, which it answered.
    pub answered_packets: u64,
    /// Packets dropped because they had passed as many routers as they may.
    pub expired_packets: u64,
    /// Packets dropped because no route leads to their destination, or because no node has that address.
    pub unroutable_packets: u64,
    /// Packets dropped because the next link carries only smaller ones.
    pub too_big_packets: u64,
    /// Packets dropped because the checksum of their IPv4 header is wrong, or because they are shorter than they say.
    #[serde(default)]
    pub malformed_packets: u64,
    /// Packets dropped for other reasons: without an answer, broadcast and multicast, or not IP.
    pub ignored_packets: u64,
}

/// One command or service of the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRow {
    /// The name of the command (`as`, or made from the program).
    pub name: String,
    /// The node it ran on.
    pub node: String,
    /// The program that ran and its arguments, as one line.
    pub command: String,
    /// The line of the command in the lab file; 0 if it has none there.
    #[serde(default)]
    pub line: usize,
    /// Whether it was there for the others, and was stopped at the end.
    pub service: bool,
    /// When the command started, in lab time after time zero; services start before it.
    pub start_ns: Option<i64>,
    /// How much later than described the command started.
    pub start_lateness_ns: Option<u64>,
    /// When the command ended, in lab time after time zero.
    pub end_ns: Option<i64>,
    /// The command's exit code, when it ended by itself.
    pub exit_code: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// Whether netloom stopped it: a service, `for`, the end of the run, or an interruption.
    pub stopped: bool,
    /// How often the timeline started it again.
    #[serde(default, skip_serializing_if = "never")]
    pub restarts: u32,
    /// Whether the user ended the run while it ran: that is neither success nor failure.
    #[serde(default)]
    pub interrupted: bool,
    /// The command that had to succeed before this one could start, and did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_by: Option<String>,
    /// Whether its node had stopped when it was to start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub node_stopped: bool,
    /// Whether how it ended counts as a failure.
    pub failed: bool,
    /// The file with the command's standard output, relative to the results folder.
    pub stdout: PathBuf,
    /// The file with the command's standard error, relative to the results folder.
    pub stderr: PathBuf,
    /// The last lines of standard error, or else of standard output, if the command failed: few, short, and with control characters escaped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stderr_tail: Vec<String>,
}

fn never(restarts: &u32) -> bool {
    *restarts == 0
}

impl Report {
    /// Returns the exit code of a run that failed, and why it failed, with the place of what it has left; none if it did not fail.
    pub fn failure(&self) -> Option<(ExitCode, String)> {
        let error = self.error.as_ref()?;
        let code = ExitCode::from_number(self.exit_code).unwrap_or(ExitCode::Died);
        let left = if is_nowhere(&self.results) {
            String::new()
        } else {
            format!("\nresults so far: {}", self.results.display())
        };
        Some((code, format!("{error}{left}")))
    }
}

fn is_nowhere(path: &Path) -> bool {
    path.as_os_str().is_empty()
}

impl RouterRow {
    /// The row of `node`, whose router has counted this.
    pub fn new(node: String, counted: &RouterCounters) -> Self {
        Self {
            node,
            forwarded_packets: counted.forwarded,
            fragments: counted.fragments,
            answered_packets: counted.answered,
            expired_packets: counted.expired,
            unroutable_packets: counted.unroutable,
            too_big_packets: counted.too_big,
            malformed_packets: counted.malformed,
            ignored_packets: counted.ignored,
        }
    }

    /// Packets dropped for a cause that a user may want to know.
    pub fn dropped_packets(&self) -> u64 {
        self.expired_packets + self.unroutable_packets + self.too_big_packets + self.malformed_packets
    }
}

impl PipeRow {
    /// Packets dropped for any cause.
    pub fn dropped_packets(&self) -> u64 {
        self.dropped_queue_packets
            + self.dropped_loss_packets
            + self.dropped_early_packets
            + self.dropped_down_packets
            + self.dropped_partition_packets
            + self.dropped_fault_packets
            + self.dropped_air_packets
    }
}

impl CommandRow {
    /// How the command ended, in words.
    pub fn ending(&self) -> String {
        match self.restarts {
            0 => self.last_ending(),
            1 => format!("{}, started again once", self.last_ending()),
            times => format!("{}, started again {times} times", self.last_ending()),
        }
    }

    fn last_ending(&self) -> String {
        match (self.start_ns, self.end_ns, self.exit_code, self.signal) {
            (_, _, Some(code), _) if self.interrupted => format!("interrupted, exit {code}"),
            (_, _, _, Some(signal)) if self.interrupted => format!("interrupted, ended by signal {signal}"),
            _ if self.interrupted => "interrupted".into(),
            (None, ..) if self.node_stopped => "was not started: its node had stopped".into(),
            (None, ..) => match &self.kept_by {
                Some(other) => format!("was not started: {other} did not succeed"),
                None => "was not started".into(),
            },
            (_, None, ..) => "did not end".into(),
            (_, _, Some(code), _) if self.stopped => format!("stopped, exit {code}"),
            // A service is there until the run is over.
            (_, _, Some(code), _) if self.service && self.failed => format!("exit {code} before the run was over"),
            (_, _, Some(code), _) => format!("exit {code}"),
            (_, _, None, Some(signal)) if self.stopped => format!("stopped by signal {signal}"),
            (_, _, None, Some(signal)) => format!("killed by signal {signal}"),
            (_, _, None, None) => "ended".into(),
        }
    }
}

/// One expectation and whether it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpectationRow {
    /// The expectation, as written in the lab file.
    pub text: String,
    /// The expectation's line in the lab file.
    pub line: usize,
    /// Whether the expectation holds.
    pub met: bool,
    /// The explanation in words: what was measured, and what was wanted.
    pub explanation: String,
}

/// A figure of the lab file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureRow {
    /// The figure's name; of a link with two directions, with the direction.
    pub name: String,
    /// The unit: `bit/s`, `ns`, `share`, `packets`, `B`; empty for what programs print.
    pub unit: String,
    /// The measured value; none if nothing was measured.
    pub value: Option<f64>,
    /// Why nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// Figures that ask for more than this do not say how fast the machine is: packets piled up, or something stopped the machine for a
/// while.
const SENSIBLE_SLOWING: f64 = 100.0;

/// The verdict on a run: whether the network did what was described.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The result of the verdict.
    #[serde(flatten)]
    #[schemars(with = "judgement::Told")]
    pub judgement: Judgement,
    /// The bounds that were not kept, the worst first.
    pub findings: Vec<Finding>,
    /// Observations that explain the findings, and are no findings by themselves.
    #[serde(default)]
    pub causes: Vec<String>,
    /// The smallest whole dilation with which this machine would fit, as far as the figures show; null if none is needed, if slowing would
    /// not help, and in virtual time.
    pub dilation: Option<u64>,
    /// The result of `netloom doctor` on this machine, or the advice to run it, where that explains the findings; null otherwise.
    #[serde(default)]
    pub machine: Option<String>,
    /// Remarks that are no findings, above all on what could not be judged, and why.
    pub notes: Vec<String>,
    /// By how much one-way delays over tunnels to other machines are off at most, by what is known of the clocks; null: there is no tunnel.
    #[serde(default)]
    pub one_way_bound_ns: Option<u64>,
}

/// One bound that was not kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The pipe, node or part of Netloom that the finding is about.
    pub subject: String,
    /// The finding in words: what was measured, and what was described.
    pub text: String,
    /// The factor by which lab time would have to be slowed further for the bound to be kept; null if slowing would not help.
    pub slowing: Option<f64>,
}

impl Verdict {
    /// The verdict in one line.
    pub fn headline(&self) -> String {
        let Some(worst) = self.findings.first() else {
            return match self.judgement {
                Judgement::AsDescribed => Judgement::AsDescribed.words().into(),
                // Reports of earlier versions say of a run that measured nothing that it was not as described.
                Judgement::NotJudged | Judgement::NotAsDescribed => {
                    format!("{}: no link carried a packet", Judgement::NotJudged.words())
                }
            };
        };
        let more = match self.findings.len() - 1 {
            0 => String::new(),
            others => format!(" (and {others} more)"),
        };
        format!("NOT as described: {}: {}{more}", worst.subject, worst.text)
    }

    /// Whether the network was as described; neither that nor the contrary if nothing was judged.
    pub fn is_as_described(&self) -> bool {
        self.judgement == Judgement::AsDescribed
    }

    /// Returns a proposal against the findings, in words; none if nothing is known to help.
    pub fn proposal(&self) -> Option<String> {
        let factor = self.dilation?;
        let slowing = self.findings.iter().filter_map(|finding| finding.slowing).max_by(f64::total_cmp);
        if slowing.is_some_and(|slowing| slowing > SENSIBLE_SLOWING) {
            return Some(
                "no dilation follows from figures that are so far off: repeat the run on a machine with nothing else to do, or let \
                 --auto-dilate try larger ones step by step; with --clock virtual nothing is late"
                    .into(),
            );
        }
        Some(if factor <= Dilation::MOST {
            format!("a dilation of {factor} would fit: --clock {factor}, or --auto-dilate")
        } else {
            format!(
                "it would take a dilation of {factor}, more than the largest, {}: with --clock virtual nothing is late",
                Dilation::MOST
            )
        })
    }
}
