//! What is measured inside the nodes of a lab.

use crate::job::{Job, Mode};
use netloom_host::measure::MeasureConfig;
use netloom_lab::{Clock, Plan, Subject, TcpPart, Term};
use netloom_units::Duration;

/// Returns what the first process of the node at this place is to measure. A lab that is up may stay for days, and nothing is.
pub fn of_node(job: &Job, place: usize) -> Option<MeasureConfig> {
    let measure = &job.plan.nodes[place].measure;
    let [tcp_ns, node_ns] = [measure.tcp, measure.node].map(|step| step.map(Duration::as_nanos));
    let tcp_ns = tcp_ns.filter(|_| !job.kernel_samples);
    let is_wanted = job.mode == Mode::Run && (tcp_ns.is_some() || node_ns.is_some());
    let reads_clock = job.plan.clock != Clock::Virtual;
    is_wanted.then(|| MeasureConfig { tcp_ns, node_ns, reads_clock, owners: wants_owners(&job.plan) })
}

/// How often its kernel is to hand over the state of its connections, which shifts nothing in virtual time.
pub fn by_kernel(job: &Job, place: usize) -> Option<Duration> {
    job.plan.nodes[place].measure.tcp.filter(|_| job.kernel_samples && job.mode == Mode::Run)
}

/// Whether it matters which program has a connection.
pub fn wants_owners(plan: &Plan) -> bool {
    plan.terms().any(|term: &Term| matches!(term.subject, Subject::Tcp { part: TcpPart::Command(_), .. }))
}
