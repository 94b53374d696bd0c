//! The table of pipes: the columns of a run.

use netloom_judge::{Effects, PipeRow};
use netloom_lab::{PipePlan, Plan};
use netloom_link::PipeCounters;
use netloom_sim::{Outcome, PipeOutcome};
use netloom_units::{Duration, Rate};

/// A transmitter that was busy for less than this has not shown its rate.
const TELLING: Duration = Duration::from_millis(100);

pub(super) fn rows(plan: &Plan, outcome: &Outcome) -> Vec<PipeRow> {
    let seconds = outcome.duration.as_secs_f64();
    plan.pipes().zip(&outcome.pipes).map(|(place, pipe)| row(plan, &place, pipe, seconds)).collect()
}

fn row(plan: &Plan, place: &PipePlan<'_>, pipe: &PipeOutcome, seconds: f64) -> PipeRow {
    let (link, direction) = (&plan.links[place.link], place.direction);
    let [from, to] = plan.way_of(place.link, direction).map(str::to_owned);
    let PipeOutcome { config, counters, meter, .. } = pipe;
    let rate = config.rate.nominal().map(Rate::as_bits_per_second);
    let ns = |span: Option<Duration>| span.map(Duration::as_nanos);
    // A packet comes out of a simulated pipe at the very instant when it is due.
    let lateness = (meter.delays.count() > 0).then_some(0);
    PipeRow {
        link: link.name.clone(),
        direction: direction.to_string(),
        pipe: place.treatment.map(|treatment| treatment.name.clone()),
        from,
        to,
        // A simulation has no kernel to join it in.
        joined_in_kernel: false,
        rate_bits_per_second: rate,
        achieved_bits_per_second: rate.filter(|_| meter.busy >= TELLING).map(|rate| rate as f64),
        // As exact as all of it.
        rate_judged: meter.busy >= TELLING,
        throughput_bits_per_second: counters.departed.bytes as f64 * 8.0 / seconds,
        delay_ns: config.delay.mean().as_nanos(),
        measured_delay_mean_ns: ns(meter.delays.mean()),
        measured_delay_p99_ns: ns(meter.delays.quantile(0.99)),
        queue_peak_packets: counters.queue_peak,
        in_flight_at_start_packets: counters.initial.packets,
        in_flight_at_end_packets: counters.in_flight(),
        arrived_packets: counters.arrived.packets,
        arrived_bytes: counters.arrived.bytes,
        departed_packets: counters.departed.packets,
        departed_bytes: counters.departed.bytes,
        dropped_queue_packets: counters.dropped.queue.packets,
        dropped_loss_packets: counters.dropped.loss.packets,
        dropped_early_packets: counters.dropped.early.packets,
        dropped_down_packets: counters.dropped.down.packets,
        dropped_partition_packets: counters.dropped.partition.packets,
        dropped_fault_packets: counters.dropped.fault.packets,
        dropped_air_packets: counters.dropped.air.packets,
        effects: Effects::since(&PipeCounters::default(), counters),
        lateness_p50_ns: lateness,
        lateness_p99_ns: lateness,
        lateness_max_ns: lateness,
    }
}
