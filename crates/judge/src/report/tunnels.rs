//! What was found out about tunnels to other machines.

use netloom_fabric::PortId;
use netloom_figures::{Distribution, TunnelReport};
use netloom_lab::fabric::port_id;
use netloom_lab::{Direction, NodePlan, Plan, TunnelPlan};
use netloom_units::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tunnel to a lab of another machine, since the lab began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TunnelRow {
    /// Its node.
    pub node: String,
    /// The other machine, as the lab file has it.
    pub remote: String,
    /// The least time that the path there took lately: half of the round trip, unless both ends read one clock.
    pub base_ns: u64,
    /// Whether both ends read one clock, so that each way is known by itself.
    pub one_clock: bool,
    /// By how much one-way delays from there are off at most, by what is known of the clocks of both ends; 0 if they read one clock.
    #[serde(default)]
    pub one_way_bound_ns: u64,
    /// By how much longer the way there takes than the way back, at their best; null: no common time of day tells.
    #[serde(default)]
    pub asymmetry_ns: Option<i64>,
    /// How often the clocks of both ends moved apart at once, as after a machine stood still.
    #[serde(default)]
    pub clock_jumps: u64,
    /// Whether the times of day of both ends are further apart than the machines say.
    #[serde(default)]
    pub clocks_contradict: bool,
    /// How long datagrams took from there: the shortest time.
    #[serde(default)]
    pub path_min_ns: u64,
    /// The same, the median.
    pub path_p50_ns: u64,
    /// The same, 99th percentile.
    pub path_p99_ns: u64,
    /// The longest.
    pub path_max_ns: u64,
    /// How long after their instant frames came from there, 99th percentile; zero if they came in time.
    pub behind_p99_ns: u64,
    /// The mean delay that is described of the pipe from there, which makes up for that.
    pub spare_ns: u64,
    /// Frames that were sent there.
    pub sent_frames: u64,
    /// Frames that came from there, each counted once.
    pub received_frames: u64,
    /// Frames from there that the path lost.
    pub lost_frames: u64,
    /// Frames that came once more.
    pub repeated_frames: u64,
    /// Frames that were not sent since the far end was there no more.
    pub missed_frames: u64,
    /// Datagrams from that address that were none of the far end's.
    pub stray_datagrams: u64,
    /// Datagrams from there that were not made with the tunnel's key.
    #[serde(default)]
    pub forged_datagrams: u64,
    /// Datagrams that somebody repeated, of a tunnel with a key.
    #[serde(default)]
    pub replayed_datagrams: u64,
    /// The longest datagram that is sent there: longer frames are cut into pieces.
    #[serde(default)]
    pub datagram_bytes: u64,
    /// Frames that were sent there in pieces.
    #[serde(default)]
    pub cut_frames: u64,
    /// Frames that came from there in pieces, and were joined.
    #[serde(default)]
    pub joined_frames: u64,
    /// Frames of which pieces came, and not all in time: they are among those that the path lost.
    #[serde(default)]
    pub lost_in_joining_frames: u64,
    /// Pieces that belong to no frame.
    #[serde(default)]
    pub malformed_pieces: u64,
    /// Pieces that came once more, or after their frame was joined or given up.
    #[serde(default)]
    pub repeated_pieces: u64,
    /// Frames from there that the path lost, and that came when they were asked for.
    #[serde(default)]
    pub repaired_frames: u64,
    /// Frames that were sent there once more, since the far end asked for them.
    #[serde(default)]
    pub resent_frames: u64,
    /// Whether the far end ever took frames.
    pub joined: bool,
    /// How often it was silent for a while, or began anew.
    pub gaps: u64,
    /// How long it was silent altogether, before it was heard again.
    pub silent_ns: u64,
    /// When it was heard last, from time zero on, if it is silent or has left.
    pub heard_until_ns: Option<u64>,
    /// Whether it said that it leaves.
    pub left: bool,
}

impl TunnelRow {
    /// The rows of a plan's tunnels; `zero`: the run's time zero.
    pub fn of_plan(plan: &Plan, reports: &[TunnelReport], zero: Instant) -> Vec<Self> {
        let row = |node: &NodePlan| {
            let tunnel = node.tunnel.as_ref()?;
            let end = node.interfaces.first()?.end;
            let report = reports.iter().find(|report| report.port == port_id(end))?;
            Some(Self { spare_ns: spare(plan, report.port), ..Self::new(node, tunnel, report, zero) })
        };
        plan.nodes.iter().filter_map(row).collect()
    }

    fn new(node: &NodePlan, tunnel: &TunnelPlan, report: &TunnelReport, zero: Instant) -> Self {
        Self {
            node: node.name.clone(),
            remote: tunnel.remote.clone(),
            base_ns: report.base.as_nanos(),
            one_clock: report.has_common_clock,
            one_way_bound_ns: report.clocks.bound.as_nanos(),
            asymmetry_ns: report.clocks.asymmetry_ns,
            clock_jumps: report.clocks.jumps,
            clocks_contradict: report.clocks.contradict,
            path_min_ns: report.took.min().map_or(0, Duration::as_nanos),
            path_p50_ns: quantile(&report.took, 0.5),
            path_p99_ns: quantile(&report.took, 0.99),
            path_max_ns: quantile(&report.took, 1.0),
            behind_p99_ns: quantile(&report.behind, 0.99),
            spare_ns: 0,
            sent_frames: report.sent,
            received_frames: report.received,
            lost_frames: report.lost,
            repeated_frames: report.repeated,
            missed_frames: report.missed,
            stray_datagrams: report.strays,
            forged_datagrams: report.forged,
            replayed_datagrams: report.replayed,
            datagram_bytes: report.datagram,
            cut_frames: report.cut,
            joined_frames: report.joined_frames,
            lost_in_joining_frames: report.unjoined,
            malformed_pieces: report.malformed,
            repeated_pieces: report.repeated_pieces,
            repaired_frames: report.repaired,
            resent_frames: report.resent,
            joined: report.was_joined,
            gaps: report.gaps,
            silent_ns: report.silent.as_nanos(),
            heard_until_ns: report.heard_until.map(|at| at.since(zero).as_nanos()),
            left: report.has_left,
        }
    }
}

fn quantile(of: &Distribution, q: f64) -> u64 {
    of.quantile(q).map_or(0, Duration::as_nanos)
}

/// The mean delay of the pipe that begins at this port.
fn spare(plan: &Plan, port: PortId) -> u64 {
    let begins_here = |link: &&netloom_lab::LinkPlan| link.ends.iter().any(|end| port_id(end.end) == port);
    let Some(link) = plan.links.iter().find(begins_here) else { return 0 };
    let from = |direction: &Direction| port_id(link.entry(*direction).end) == port;
    let Some(direction) = link.directions().iter().find(|direction| from(direction)) else { return 0 };
    link.pipes[direction.index()].delay.mean().as_nanos()
}
