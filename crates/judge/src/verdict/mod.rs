//! The verdict: did every link do what was described?
//!
//! A pure function from what was measured. It does not ask whether the user's programs did well, only whether the
//! network they ran over was the one in the lab file.

mod events;
mod outside;
mod processors;
mod tunnels;

use crate::examination::Examination;
use crate::examination::quote::{Asked, Complaint, quote};
use crate::quantity::{rate, span};
use crate::{Finding, Judgement, PortLoss, Punctuality, TunnelRow, Verdict};
use events::late_events;
use netloom_lab::{Bounds, Clock, Precision};
use netloom_units::Duration;
pub use processors::{ProcessorShare, Standstill, Throttled};
use processors::{engine_waits, node_processor, standstill, starvation, throttled};

/// How far from the description a run may stray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowed {
    /// The 99th percentile of a pipe's lateness, in nanoseconds.
    pub lateness_ns: u64,
    /// The lateness of any packet, in nanoseconds.
    pub lateness_max_ns: u64,
    /// The achieved rate of a busy pipe may differ from the described one by this fraction.
    pub rate: f64,
    /// A pipe's mean delay may differ from the described one by this fraction, or by `lateness_ns` if that is more.
    pub delay: f64,
    /// The share of the time that each kernel may wait for a processor, and the engine that serves kernels.
    pub starvation: f64,
    /// How long a kernel may stand still at a time, in nanoseconds of lab time.
    pub standstill_ns: u64,
    /// How late links are changed and measurements are made, in nanoseconds.
    pub events_ns: u64,
    /// How late programs are started and stopped, in nanoseconds.
    pub starts_ns: u64,
    /// Whether programs may give interfaces of described links another queue, MTU or state.
    pub changes: bool,
}

impl From<Bounds> for Allowed {
    fn from(bounds: Bounds) -> Self {
        Self {
            lateness_ns: bounds.lateness.as_nanos(),
            lateness_max_ns: bounds.lateness_max.as_nanos(),
            rate: bounds.rate.as_f64(),
            delay: bounds.delay.as_f64(),
            starvation: bounds.starvation.as_f64(),
            standstill_ns: bounds.standstill.as_nanos(),
            events_ns: bounds.events.as_nanos(),
            starts_ns: bounds.starts.as_nanos(),
            changes: bounds.changes,
        }
    }
}

/// The measurements by which a run is judged.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The clock of the run, to which the proposed dilation is relative.
    pub clock: Clock,
    /// How the engine waited.
    pub precision: Precision,
    /// The examination of this machine by `netloom doctor`, if there was one.
    pub examination: Option<Examination>,
    /// The pipes of the run.
    pub pipes: Vec<PipeEvidence>,
    /// The measurements of the engine, which moved the packets.
    pub engine: EngineEvidence,
    /// The nodes of the run, but for transit routers.
    pub nodes: Vec<NodeEvidence>,
    /// How late the events of the timeline were.
    pub events: Punctuality,
    /// The tunnels of the run to other machines.
    pub tunnels: Vec<TunnelRow>,
    /// The actions of clients that the lab file does not describe, on links and otherwise.
    pub interventions: Vec<NetworkChange>,
    /// How often the machine's tables of neighbours were full.
    pub overflows: u64,
    /// The remarks on what could not be enforced or measured, and why.
    pub notes: Vec<String>,
}

/// One pipe with traffic.
#[derive(Clone, Debug, Default)]
pub struct PipeEvidence {
    /// The pipe's link and direction.
    pub name: String,
    /// Whether anything was delivered.
    pub carried: bool,
    /// The 99th percentile of how much later than due packets were delivered; of few packets, as [`crate::measure`] has it.
    pub lateness_p99_ns: u64,
    /// How much later than due the latest packet was delivered.
    pub lateness_max_ns: u64,
    /// Whether the pipe leads past the engine, in the kernel, where nothing is measured.
    pub joined_in_kernel: bool,
    /// The described propagation delay; none if it was changed during the run.
    pub delay_ns: Option<u64>,
    /// The mean propagation delay that packets really had.
    pub measured_delay_ns: u64,
    /// The time in which packets waited for the transmitter; none if its rate is unlimited.
    pub busy: Option<Busy>,
}

/// The time in which packets waited for a pipe's transmitter, as described and as measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Busy {
    /// How long the transmitter would have been busy at the described rate.
    pub described_ns: u64,
    /// How long the transmitter was busy in fact.
    pub measured_ns: u64,
    /// The described rate at the end of the run.
    pub bits_per_second: f64,
}

/// The engine itself.
#[derive(Clone, Debug, Default)]
pub struct EngineEvidence {
    /// Packets that the kernel could not hand to the engine.
    pub lost_arriving: u64,
    /// Packets that the kernel did not take from the engine, or dropped behind it.
    pub lost_leaving: u64,
    /// How long the engine has worked, in lab time.
    pub lab_ns: u64,
    /// By how much the engine was behind in the end, since it could not compute in time what the links describe. Lab time.
    pub behind_ns: u64,
    /// The port that lost most, if that is known.
    pub worst_port: Option<PortLoss>,
    /// Whether packets found no memory.
    pub was_out_of_memory: bool,
    /// Why the kernel did not take the latest packet from the engine, if it said so.
    pub refusal: Option<String>,
    /// How long the run lasted in wall time, in nanoseconds.
    pub elapsed_ns: u64,
    /// How long each engine thread was ready to run and waited for a processor, in nanoseconds of wall time; none if the kernel does not report it.
    pub waited_ns: Vec<Option<u64>>,
    /// How long one of its threads did without its real-time priority at most, in nanoseconds of wall time.
    pub gave_way_ns: u64,
    /// Whether it reads packets of kernel nodes, in real or dilated time. They arrive when they are read, so that a wait for a
    /// processor delays them by an unknown time; packets of interfaces carry the instant of their arrival.
    pub serves_kernels: bool,
}

/// One node.
#[derive(Clone, Debug, Default)]
pub struct NodeEvidence {
    /// The node's name.
    pub name: String,
    /// The packets that the node's interfaces of described links dropped, outside all models.
    pub dropped: Vec<InterfaceDrops>,
    /// The packets that the node's other interfaces dropped, which its programs made: tunnels without a far end, for example.
    pub dropped_elsewhere: Vec<InterfaceDrops>,
    /// Why the node's CPU share could not be enforced, if that is so.
    pub unenforced_share: Option<String>,
    /// The changes that the node's programs made to its network.
    pub changes: Vec<NetworkChange>,
    /// The addresses that its DHCP clients, or advertisements of routers, had given it, and that it had no more at the end.
    pub lost_leases: Vec<String>,
    /// The anomalies of the node's kernel, in words: a shortage of memory, wrong checksums, or another congestion control.
    pub shortages: Vec<String>,
    /// The packets that the node's kernel had to send and discarded, in words.
    pub discards: Vec<String>,
    /// Whether it has a table of neighbours of its own, as nodes with a kernel of their own have.
    pub has_own_neighbors: bool,
    /// The processor time that the node's kernel had, if the description leaves open how fast its processor is; none without a kernel of
    /// its own.
    pub processor: Option<ProcessorShare>,
    /// How often its share of a processor stopped it; none of nodes without `cpus`.
    pub throttled: Option<Throttled>,
    /// The longest time that its kernel stood still; none of nodes without a kernel of their own, and in virtual time.
    pub standstill: Option<Standstill>,
}

/// The packets that an interface of a node dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceDrops {
    /// The interface's name.
    pub interface: String,
    /// Packets that the interface could not send.
    pub sending: u64,
    /// Packets that came to the interface, and that it lost.
    pub receiving: u64,
}

impl InterfaceDrops {
    /// Whether the interface has dropped nothing.
    pub fn is_none(&self) -> bool {
        self.sending + self.receiving == 0
    }
}

/// A change that a program made to the network of its node, or a client to the network of the lab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkChange {
    /// Whether packets of a described link met the change: a queue, another MTU, an interface that was down or gone.
    pub alters_link: bool,
    /// The change, in words.
    pub what: String,
}

/// A busy period shorter than this cannot tell a rate to a percent: a few packets at its ends decide.
pub const ENOUGH_BUSY: Duration = Duration::from_secs(1);

/// So many nodes are named that were throttled.
const NAMED: usize = 3;

/// Slowing would help against a loss, but it is unknown by how much: half the speed is the smallest step there is.
const SMALLEST_SLOWING: f64 = 2.0;

/// Judges a run.
pub fn judge(allowed: &Allowed, evidence: &Evidence) -> Verdict {
    let carrying = || evidence.pipes.iter().filter(|pipe| pipe.carried);
    let late = carrying().flat_map(|pipe| late_packets(allowed, pipe).into_iter().chain(delay(allowed, pipe)));
    let mut findings: Vec<Finding> = late.chain(late_events(allowed, &evidence.events)).collect();
    let mut complaint = Complaint { late: !findings.is_empty(), ..Complaint::default() };
    let lost = engine_losses(&evidence.engine).into_iter().chain(evidence.nodes.iter().filter_map(node_losses));
    let mut overrun: Vec<Finding> = carrying().filter_map(|pipe| achieved_rate(allowed, pipe)).collect();
    if let Some(behind) = engine_behind(&evidence.engine) {
        // Lateness that grew all the time says how long the run was, not how fast the machine is.
        let most = behind.slowing.unwrap_or(f64::MAX);
        let judged = findings.iter_mut().chain(&mut overrun);
        judged.for_each(|finding| finding.slowing = finding.slowing.map(|slowing| slowing.min(most)));
        overrun.push(behind);
    }
    overrun.extend(lost);
    complaint.overrun = overrun.iter().any(|finding| finding.slowing.is_some());
    findings.extend(overrun);
    let (starved, mut causes) = engine_starvation(allowed, &evidence.engine, !findings.is_empty());
    complaint.starved = !starved.is_empty() || !causes.is_empty();
    findings.extend(starved);
    findings.extend(evidence.tunnels.iter().flat_map(|tunnel| tunnels::findings(allowed, tunnel)));
    findings.extend(outside::findings(allowed, evidence));
    findings.extend(evidence.nodes.iter().filter_map(unenforced_share));
    findings.extend(evidence.nodes.iter().filter_map(|node| altered_links(allowed, node)));
    findings.extend(evidence.nodes.iter().filter_map(lost_leases));
    for node in &evidence.nodes {
        findings.extend(node.processor.as_ref().and_then(|processor| node_processor(allowed, &node.name, processor)));
        findings.extend(node.standstill.as_ref().and_then(|still| standstill(allowed, &node.name, still)));
    }
    if findings.iter().any(|finding| finding.slowing.is_some()) {
        let share = |node: &NodeEvidence| node.throttled.as_ref().and_then(|share| throttled(&node.name, share));
        causes.extend(evidence.nodes.iter().filter_map(share).take(NAMED));
    }
    findings.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    let slowing = findings.iter().filter_map(|finding| finding.slowing).max_by(f64::total_cmp);
    let dilation = slowing.and_then(|slowing| smallest_dilation(evidence.clock, slowing));
    let mut notes = evidence.notes.clone();
    notes.extend(outside::note(allowed, &evidence.interventions));
    notes.extend(evidence.nodes.iter().filter_map(|node| other_changes(allowed, node)));
    notes.extend(evidence.nodes.iter().filter_map(other_drops));
    for node in &evidence.nodes {
        notes.extend(node.shortages.iter().map(|what| format!("node {}: {what}", node.name)));
    }
    notes.extend(outside::discards(evidence));
    if evidence.engine.serves_kernels && evidence.engine.waited_ns.contains(&None) {
        notes
            .push("whether the engine waited for a processor: this kernel keeps no account (CONFIG_SCHED_INFO)".into());
    }
    let machine = about_the_machine(allowed, evidence, complaint);
    notes.extend(evidence.tunnels.iter().filter_map(tunnels::contradiction));
    let (judgement, one_way_bound_ns) = (judgement(&evidence.pipes, &findings), tunnels::bound(&evidence.tunnels));
    Verdict { judgement, findings, causes, dilation, machine, notes, one_way_bound_ns }
}

/// Of links that carried nothing there is nothing to say, neither that they were as described nor the contrary. In a lab without links,
/// and in one whose links are all joined in the kernel, what else is judged decides.
fn judgement(pipes: &[PipeEvidence], findings: &[Finding]) -> Judgement {
    let is_idle = |pipe: &PipeEvidence| !pipe.carried && !pipe.joined_in_kernel;
    if !findings.is_empty() {
        Judgement::NotAsDescribed
    } else if !pipes.is_empty() && pipes.iter().all(is_idle) {
        Judgement::NotJudged
    } else {
        Judgement::AsDescribed
    }
}

/// The engine waited for a processor. If that made packets late, or lost some, that was measured and found already; then this
/// is why. Only what it does to packets of kernels is not measured, and so it is a finding of its own.
fn engine_starvation(allowed: &Allowed, engine: &EngineEvidence, is_found: bool) -> (Vec<Finding>, Vec<String>) {
    let waits = engine_waits(allowed, engine.elapsed_ns, &engine.waited_ns);
    if engine.serves_kernels {
        return (waits.into_iter().map(|(subject, share)| starvation(allowed, subject, share)).collect(), Vec::new());
    }
    let cause = |(subject, share): (String, f64)| {
        format!("the {subject} waited for a processor for {:.1} % of the time", share * 100.0)
    };
    let gave_way = engine.gave_way_ns as f64 / engine.elapsed_ns.max(1) as f64;
    let hungry = (gave_way > allowed.starvation).then(|| {
        format!(
            "the engine needed nearly all of a processor and had no real-time priority for {:.1} % of the time",
            gave_way * 100.0
        )
    });
    (Vec::new(), waits.into_iter().map(cause).chain(hungry).filter(|_| is_found).collect())
}

/// What is known of the machine that explains the findings. In virtual time it makes no difference.
fn about_the_machine(allowed: &Allowed, evidence: &Evidence, complaint: Complaint) -> Option<String> {
    let Evidence { precision, examination, .. } = evidence;
    let asked = Asked { precision: *precision, lateness_ns: allowed.lateness_ns, dilation: evidence.clock.dilation()? };
    quote(complaint, &asked, examination.as_ref())
}

fn weight(finding: &Finding) -> f64 {
    finding.slowing.unwrap_or(0.0)
}

/// The smallest whole dilation that is `slowing` times that of the run, and above it: slowing time by N divides every
/// lateness by N, in lab time. None in virtual time, which cannot be slowed.
fn smallest_dilation(clock: Clock, slowing: f64) -> Option<u64> {
    let present = clock.dilation()?.as_f64();
    // A ratio of measured times is far below 2^53, and the cast saturates anyway.
    Some((present * slowing).ceil().max(present.floor() + 1.0) as u64)
}

/// The percentile, or if that is within its bound, the latest packet: the percentile says nothing of 1 % of the packets, and of a few
/// packets nothing of the latest.
fn late_packets(allowed: &Allowed, pipe: &PipeEvidence) -> Option<Finding> {
    lateness(allowed, pipe).or_else(|| latest(allowed, pipe))
}

fn latest(allowed: &Allowed, pipe: &PipeEvidence) -> Option<Finding> {
    let bound = allowed.lateness_max_ns;
    (pipe.lateness_max_ns > bound).then(|| Finding {
        subject: pipe.name.clone(),
        text: format!(
            "its latest packet was {} late, {} is allowed (`lateness_max`)",
            span(pipe.lateness_max_ns),
            span(bound)
        ),
        slowing: Some(ratio(pipe.lateness_max_ns as f64, bound as f64)),
    })
}

fn lateness(allowed: &Allowed, pipe: &PipeEvidence) -> Option<Finding> {
    let bound = allowed.lateness_ns;
    (pipe.lateness_p99_ns > bound).then(|| Finding {
        subject: pipe.name.clone(),
        text: format!(
            "1 % of its packets were more than {} late, {} is allowed",
            span(pipe.lateness_p99_ns),
            span(bound)
        ),
        slowing: Some(ratio(pipe.lateness_p99_ns as f64, bound as f64)),
    })
}

fn delay(allowed: &Allowed, pipe: &PipeEvidence) -> Option<Finding> {
    let described = pipe.delay_ns?;
    let bound = (allowed.delay * described as f64).max(allowed.lateness_ns as f64);
    let error = pipe.measured_delay_ns.abs_diff(described) as f64;
    (error > bound).then(|| Finding {
        subject: pipe.name.clone(),
        text: format!("its mean delay was {}, {} is described", span(pipe.measured_delay_ns), span(described)),
        slowing: Some(ratio(error, bound)),
    })
}

fn achieved_rate(allowed: &Allowed, pipe: &PipeEvidence) -> Option<Finding> {
    let busy = pipe.busy.filter(|busy| busy.described_ns >= ENOUGH_BUSY.as_nanos())?;
    let share = busy.described_ns as f64 / busy.measured_ns.max(1) as f64;
    ((share - 1.0).abs() > allowed.rate).then(|| Finding {
        subject: pipe.name.clone(),
        text: format!(
            "while packets waited it achieved {} of the described {}",
            rate(busy.bits_per_second * share),
            rate(busy.bits_per_second)
        ),
        slowing: (share < 1.0).then(|| ratio(1.0, share)),
    })
}

/// An engine that is behind by more than this does not catch up between two bursts, but falls back further and further.
const FAR_BEHIND_NS: u64 = 200_000_000;

/// Slowed by as much as it took too long, it would have no time left for anything else: hence twice that.
fn engine_behind(engine: &EngineEvidence) -> Option<Finding> {
    let EngineEvidence { lab_ns, behind_ns, .. } = *engine;
    (behind_ns > FAR_BEHIND_NS).then(|| Finding {
        subject: "engine".into(),
        text: format!(
            "it cannot compute in time what the links describe: after {} of lab time it had computed {}",
            span(lab_ns),
            span(lab_ns - behind_ns.min(lab_ns))
        ),
        slowing: Some(SMALLEST_SLOWING * ratio(lab_ns as f64, lab_ns.saturating_sub(behind_ns).max(1) as f64)),
    })
}

fn engine_losses(engine: &EngineEvidence) -> Option<Finding> {
    let EngineEvidence { lost_arriving, lost_leaving, refusal, worst_port, was_out_of_memory, .. } = engine;
    let reason = refusal.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    let memory = if *was_out_of_memory { "; the engine had used all memory that it may use" } else { "" };
    let most = worst_port.as_ref().map_or_else(String::new, most_of_them);
    (lost_arriving + lost_leaving > 0 || *was_out_of_memory).then(|| Finding {
        subject: "engine".into(),
        text: format!(
            "packets lost outside the models: {lost_arriving} on the way in, {lost_leaving} on the way out{reason}{most}{memory}"
        ),
        // In a lab that is slower as many packets are on their way at once.
        slowing: (!was_out_of_memory).then_some(SMALLEST_SLOWING),
    })
}

fn most_of_them(port: &PortLoss) -> String {
    format!("; most between node {} and link {}: {}", port.node, port.link, port.packets())
}

fn node_losses(node: &NodeEvidence) -> Option<Finding> {
    let (sending, receiving) = drops(&node.dropped);
    (sending + receiving > 0).then(|| Finding {
        subject: format!("node {}", node.name),
        text: format!(
            "packets dropped by its interfaces, outside the models: {} ({}){}",
            sending + receiving,
            by_interface(&node.dropped),
            // Nothing else loses what comes to a veth pair.
            if receiving > 0 {
                ": a program of XDP that sends frames on needs `offload: false` at the node"
            } else {
                ""
            }
        ),
        // What could not be received found no taker, however much time there was.
        slowing: (sending > 0).then_some(SMALLEST_SLOWING),
    })
}

fn drops(of: &[InterfaceDrops]) -> (u64, u64) {
    (of.iter().map(|one| one.sending).sum(), of.iter().map(|one| one.receiving).sum())
}

fn by_interface(drops: &[InterfaceDrops]) -> String {
    let told = |InterfaceDrops { interface, sending, receiving }: &InterfaceDrops| match (sending, receiving) {
        (sending, 0) => format!("{interface}: {sending} when sending"),
        (0, receiving) => format!("{interface}: {receiving} that came"),
        (sending, receiving) => format!("{interface}: {sending} when sending, {receiving} that came"),
    };
    drops.iter().map(told).collect::<Vec<_>>().join("; ")
}

/// What interfaces drop that no link describes is no matter of the links.
fn other_drops(node: &NodeEvidence) -> Option<String> {
    let others = by_interface(&node.dropped_elsewhere);
    (!others.is_empty())
        .then(|| format!("what interfaces of node {} dropped that belong to no described link: {others}", node.name))
}

fn unenforced_share(node: &NodeEvidence) -> Option<Finding> {
    let reason = node.unenforced_share.as_ref()?;
    Some(Finding {
        subject: format!("node {}", node.name),
        text: format!("its CPU share could not be enforced: {reason}"),
        slowing: None,
    })
}

/// Packets met something else there than the links of the lab file.
fn altered_links(allowed: &Allowed, node: &NodeEvidence) -> Option<Finding> {
    let altered = list(node.changes.iter().filter(|change| change.alters_link && !allowed.changes));
    (!altered.is_empty()).then(|| Finding {
        subject: format!("node {}", node.name),
        text: format!(
            "its programs changed what packets of described links meet: {altered} (`changes` in `bounds` allows that)"
        ),
        slowing: None,
    })
}

/// It has not the addresses that are described.
fn lost_leases(node: &NodeEvidence) -> Option<Finding> {
    let lost = node.lost_leases.join(", ");
    (!lost.is_empty()).then(|| Finding {
        subject: format!("node {}", node.name),
        text: format!("{lost}: the server was gone, or did not hear it (the log of `dhcp-{}` says more)", node.name),
        slowing: None,
    })
}

/// What programs do to the network of their node otherwise is their experiment.
fn other_changes(allowed: &Allowed, node: &NodeEvidence) -> Option<String> {
    let others = list(node.changes.iter().filter(|change| !change.alters_link || allowed.changes));
    (!others.is_empty()).then(|| format!("what the programs of node {} did to its network: {others}", node.name))
}

fn list<'a>(changes: impl Iterator<Item = &'a NetworkChange>) -> String {
    changes.map(|change| change.what.as_str()).collect::<Vec<_>>().join(", ")
}

/// A bound of zero cannot be met by any slowing; the ratio stays finite all the same.
fn ratio(measured: f64, bound: f64) -> f64 {
    measured / bound.max(f64::MIN_POSITIVE.sqrt())
}

#[cfg(test)]
mod tests;
