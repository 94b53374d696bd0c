//! From what the engine counted to what the report says. Pure.

use crate::quantity::{counted, span};
use crate::verdict::{Busy, ENOUGH_BUSY, EngineEvidence, PipeEvidence};
use crate::{Effects, LinkName, PipeRow, PipeState, PortLoss, Spent};
use netloom_figures::{Distribution, EngineReport, PipeReport, SlowReceiver, Snapshot};
use netloom_link::PipeCounters;
use netloom_units::{Duration, Instant, Rate};

/// The counters of a pipe at an instant, as far as differences between instants are of interest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mark {
    /// The instant at which they were read.
    pub at: Instant,
    /// All counters of the pipe.
    pub counters: PipeCounters,
    /// The number of packets whose delay was measured.
    pub delays: u64,
    /// The sum of these delays in nanoseconds.
    pub delay_sum_ns: f64,
}

/// Returns the marks of all pipes.
pub fn marks(snapshot: &Snapshot) -> Vec<Mark> {
    snapshot.pipes.iter().map(|pipe| mark(snapshot.at, pipe)).collect()
}

pub(crate) fn mark(at: Instant, pipe: &PipeReport) -> Mark {
    let delays = pipe.delay.count();
    let mean = pipe.delay.mean().map_or(0, Duration::as_nanos);
    Mark { at, counters: pipe.counters, delays, delay_sum_ns: mean as f64 * delays as f64 }
}

/// What happened in a pipe between two marks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flow {
    pub(crate) seconds: f64,
    /// What was inside at the first mark, and at the second.
    pub(crate) in_flight: [u64; 2],
    pub(crate) arrived_packets: u64,
    pub(crate) arrived_bytes: u64,
    pub(crate) departed_packets: u64,
    pub(crate) departed_bytes: u64,
    pub(crate) dropped_queue: u64,
    pub(crate) dropped_loss: u64,
    pub(crate) dropped_early: u64,
    pub(crate) dropped_down: u64,
    pub(crate) dropped_partition: u64,
    pub(crate) dropped_fault: u64,
    pub(crate) dropped_air: u64,
    pub(crate) effects: Effects,
    /// How long several stations of a radio medium sent at once.
    pub(crate) air_collided_ns: u64,
    /// The mean delay; none if no packet was delivered.
    pub(crate) delay_ns: Option<f64>,
}

impl Flow {
    pub(crate) fn between(from: &Mark, to: &Mark) -> Self {
        let (before, after) = (&from.counters, &to.counters);
        // An engine that is behind may come to time zero, and count anew, after this was measured first.
        let delays = to.delays.saturating_sub(from.delays);
        Self {
            seconds: to.at.since(from.at).as_secs_f64(),
            in_flight: [before.in_flight(), after.in_flight()],
            arrived_packets: after.arrived.packets.saturating_sub(before.arrived.packets),
            arrived_bytes: after.arrived.bytes.saturating_sub(before.arrived.bytes),
            departed_packets: after.departed.packets.saturating_sub(before.departed.packets),
            departed_bytes: after.departed.bytes.saturating_sub(before.departed.bytes),
            dropped_queue: after.dropped.queue.packets.saturating_sub(before.dropped.queue.packets),
            dropped_loss: after.dropped.loss.packets.saturating_sub(before.dropped.loss.packets),
            dropped_early: after.dropped.early.packets.saturating_sub(before.dropped.early.packets),
            dropped_down: after.dropped.down.packets.saturating_sub(before.dropped.down.packets),
            dropped_partition: after.dropped.partition.packets.saturating_sub(before.dropped.partition.packets),
            dropped_fault: after.dropped.fault.packets.saturating_sub(before.dropped.fault.packets),
            dropped_air: after.dropped.air.packets.saturating_sub(before.dropped.air.packets),
            effects: Effects::since(before, after),
            air_collided_ns: after.air.collided.as_nanos().saturating_sub(before.air.collided.as_nanos()),
            delay_ns: (delays > 0).then(|| (to.delay_sum_ns - from.delay_sum_ns) / delays as f64),
        }
    }

    /// The share of packets that was dropped, of those that arrived or that the pipe made as copies. What had arrived before counts if it
    /// was dropped now, so that it is 1 at most. None if no packet arrived.
    pub(crate) fn loss(&self) -> Option<f64> {
        let all = (self.arrived_packets + self.effects.duplicated_packets).max(self.drops());
        (self.arrived_packets > 0).then(|| self.drops() as f64 / all as f64)
    }

    /// Bits per second delivered.
    pub(crate) fn throughput(&self) -> f64 {
        per_second(self.departed_bytes, self.seconds)
    }

    /// Bits per second that arrived.
    pub(crate) fn offered(&self) -> f64 {
        per_second(self.arrived_bytes, self.seconds)
    }

    /// Packets dropped for any cause.
    pub(crate) fn drops(&self) -> u64 {
        self.dropped_queue
            + self.dropped_loss
            + self.dropped_early
            + self.dropped_down
            + self.dropped_partition
            + self.dropped_fault
            + self.dropped_air
    }
}

fn per_second(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

/// Returns one row per pipe: described against measured, from the marks at time zero to the snapshot at the end.
pub fn pipe_rows(names: &[LinkName], states: &[PipeState], first: &[Mark], last: &Snapshot) -> Vec<PipeRow> {
    let ends = marks(last);
    (0..states.len())
        .map(|pipe| {
            let flow = Flow::between(&first[pipe], &ends[pipe]);
            pipe_row(&names[states[pipe].place.link], &states[pipe], &last.pipes[pipe], &flow)
        })
        .collect()
}

fn pipe_row(name: &LinkName, state: &PipeState, report: &PipeReport, flow: &Flow) -> PipeRow {
    let direction = state.place.direction;
    let (from, to) = name.path(direction);
    let rate = state.config.rate.nominal().map(Rate::as_bits_per_second);
    let ns = |duration: Option<Duration>| duration.map(Duration::as_nanos);
    PipeRow {
        link: name.name.clone(),
        direction: direction.to_string(),
        pipe: state.place.pipe.clone(),
        from: from.to_owned(),
        to: to.to_owned(),
        joined_in_kernel: name.joined,
        rate_bits_per_second: rate,
        achieved_bits_per_second: rate.zip(telling_ratio(report)).map(|(rate, ratio)| rate as f64 * ratio),
        rate_judged: rate.is_some() && report.busy_described >= ENOUGH_BUSY,
        throughput_bits_per_second: flow.throughput(),
        delay_ns: state.config.delay.mean().as_nanos(),
        measured_delay_mean_ns: ns(report.delay.mean()),
        measured_delay_p99_ns: ns(report.delay.quantile(0.99)),
        queue_peak_packets: report.counters.queue_peak,
        in_flight_at_start_packets: flow.in_flight[0],
        in_flight_at_end_packets: flow.in_flight[1],
        arrived_packets: flow.arrived_packets,
        arrived_bytes: flow.arrived_bytes,
        departed_packets: flow.departed_packets,
        departed_bytes: flow.departed_bytes,
        dropped_queue_packets: flow.dropped_queue,
        dropped_loss_packets: flow.dropped_loss,
        dropped_early_packets: flow.dropped_early,
        dropped_down_packets: flow.dropped_down,
        dropped_partition_packets: flow.dropped_partition,
        dropped_fault_packets: flow.dropped_fault,
        dropped_air_packets: flow.dropped_air,
        effects: flow.effects,
        lateness_p50_ns: ns(report.lateness.quantile(0.5)),
        lateness_p99_ns: ns(report.lateness.quantile(0.99)),
        lateness_max_ns: ns(report.lateness.max()),
    }
}

/// A transmitter that was busy for less than this has not shown its rate.
const TELLING: Duration = Duration::from_millis(100);

fn telling_ratio(report: &PipeReport) -> Option<f64> {
    report.rate_ratio().filter(|_| report.busy_described >= TELLING)
}

/// The 99th percentile; of fewer than 100 packets, of which that would be the latest, the latest but one.
fn judged_lateness(lateness: &Distribution) -> Option<Duration> {
    match lateness.count() {
        count @ 2..100 => lateness.quantile((count as f64 - 1.5) / count as f64),
        _ => lateness.quantile(0.99),
    }
}

/// Collects the evidence about every pipe for the verdict.
pub fn pipe_evidence(names: &[LinkName], states: &[PipeState], last: &Snapshot) -> Vec<PipeEvidence> {
    let each = last.pipes.iter().zip(states);
    each.map(|(report, state)| {
        let place = &state.place;
        let ns = |duration: Option<Duration>| duration.map_or(0, Duration::as_nanos);
        PipeEvidence {
            name: format!("{} {}{}", names[place.link].name, place.direction, place.suffix()),
            carried: report.lateness.count() > 0,
            lateness_p99_ns: ns(judged_lateness(&report.lateness)),
            lateness_max_ns: ns(report.lateness.max()),
            joined_in_kernel: names[place.link].joined,
            delay_ns: state.steady_delay().map(Duration::as_nanos),
            measured_delay_ns: ns(report.delay.mean()),
            busy: state.config.rate.nominal().map(|rate| Busy {
                described_ns: report.busy_described.as_nanos(),
                measured_ns: report.busy_measured.as_nanos(),
                bits_per_second: rate.as_bits_per_second() as f64,
            }),
        }
    })
    .collect()
}

/// Collects the evidence about the engine for the verdict. Its processor time is compared with wall time.
pub fn engine_evidence(last: &Snapshot, spent: &Spent, losses: &[PortLoss]) -> EngineEvidence {
    let engine = &last.engine;
    // Ports of neither kind pass packets from one thread to another and receive none; in virtual time there are no ports.
    let serves_kernels = engine.ports.iter().any(|port| !port.is_interface && port.received > 0);
    let leaving: u64 = losses.iter().map(|loss| loss.lost_leaving_packets).sum();
    EngineEvidence {
        lost_arriving: engine.lost_receiving,
        // A full queue behind the engine's interfaces drops packets that the kernel had taken.
        lost_leaving: engine.lost_sending.max(leaving),
        lab_ns: last.at.as_nanos(),
        behind_ns: engine.behind.as_nanos(),
        worst_port: losses.first().cloned(),
        was_out_of_memory: engine.was_out_of_memory,
        refusal: engine.last_send_error.clone(),
        elapsed_ns: spent.elapsed_ns,
        waited_ns: spent.engine.iter().map(|thread| thread.waited_ns).collect(),
        gave_way_ns: spent.engine.iter().map(|thread| thread.gave_way_ns).max().unwrap_or_default(),
        serves_kernels,
    }
}

/// Describes the nodes that took packets more slowly than these came, because they have only the share of a processor that is described.
pub fn slow_receivers(names: &[LinkName], engine: &EngineReport) -> Vec<String> {
    // Ports are numbered as the ends of links.
    let ends: Vec<_> = names.iter().flat_map(|link| link.ends.iter().map(|node| (&link.name, node))).collect();
    let described = |slow: &SlowReceiver| {
        let (link, node) = ends[slow.port.0 as usize];
        let packets = counted(slow.packets as usize, "packet");
        let longest = span(slow.longest.as_nanos());
        format!(
            "how long {packets} of link {link} waited for node {node}, which has a share of a processor (`cpus`) and took \
             them more slowly than they came: {longest} at most"
        )
    };
    engine.slow_receivers.iter().map(described).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 59 packets arrived, 58 were copied, and 100 found no room: the copies are dropped as the others are.
    #[test]
    fn copies_count_among_what_can_be_lost() {
        let effects = Effects { duplicated_packets: 58, ..Effects::default() };
        let flow = Flow { arrived_packets: 59, dropped_queue: 100, effects, ..Flow::default() };
        assert_eq!(flow.loss(), Some(100.0 / 117.0));
        // What waited was lost when the link was cut.
        let cut = Flow { arrived_packets: 1, dropped_down: 50, ..Flow::default() };
        assert_eq!((cut.loss(), Flow::default().loss()), (Some(1.0), None));
    }
    use crate::ThreadSpent;

    #[test]
    fn a_flow_is_the_difference_of_two_marks() {
        let mut from =
            Mark { at: Instant::from_nanos(1_000_000_000), delays: 10, delay_sum_ns: 100.0, ..Mark::default() };
        from.counters.departed.bytes = 1_000;
        let mut to = Mark { at: Instant::from_nanos(3_000_000_000), delays: 14, delay_sum_ns: 180.0, ..from };
        to.counters.departed.bytes = 251_000;
        to.counters.dropped.down.packets = 3;
        let flow = Flow::between(&from, &to);
        assert_eq!(flow.throughput(), 1e6);
        assert_eq!(flow.delay_ns, Some(20.0));
        assert_eq!(flow.drops(), 3);
        assert_eq!(flow.offered(), 0.0);
    }

    /// Ten seconds of a lab at 10 are a hundred of wall time.
    #[test]
    fn the_engines_wait_is_judged_in_our_own_time() {
        let at = Instant::from_nanos(10_000_000_000);
        let last = Snapshot {
            at,
            pipes: Vec::new(),
            routers: Vec::new(),
            switches: Vec::new(),
            engine: EngineReport::default(),
        };
        let threads = [Some(7), None].map(|waited_ns| ThreadSpent { waited_ns, ..ThreadSpent::default() });
        let spent = Spent { elapsed_ns: 100_000_000_000, engine: threads.to_vec(), ..Spent::default() };
        let evidence = engine_evidence(&last, &spent, &[]);
        assert_eq!((evidence.elapsed_ns, evidence.waited_ns), (100_000_000_000, vec![Some(7), None]));
    }

    #[test]
    fn no_time_and_no_packets_give_no_figures() {
        let flow = Flow::between(&Mark::default(), &Mark::default());
        assert_eq!((flow.throughput(), flow.delay_ns), (0.0, None));
    }

    /// The judged lateness in microseconds; the distribution tells it to 1 %.
    fn judged(late_us: &[u64]) -> Option<u64> {
        let mut lateness = Distribution::default();
        late_us.iter().for_each(|us| lateness.record(Duration::from_micros(*us), 1));
        judged_lateness(&lateness).map(|span| (span.as_micros_f64() / 100.0).round() as u64 * 100)
    }

    #[test]
    fn of_a_few_packets_the_latest_is_forgiven() {
        assert_eq!(judged(&[]), None);
        assert_eq!(judged(&[5_000]), Some(5_000));
        assert_eq!(judged(&[100, 5_000]), Some(100));
        assert_eq!(judged(&[100, 100, 4_000, 5_000]), Some(4_000));
        assert_eq!(judged(&[[100; 98].as_slice(), &[4_000, 5_000]].concat()), Some(4_000));
    }

    #[test]
    fn a_slow_receiver_is_named_by_its_port() {
        let link = |name: &str, ends: [&str; 2]| LinkName {
            name: name.into(),
            ends: ends.map(String::from).to_vec(),
            joined: false,
        };
        let slow = SlowReceiver { port: netloom_fabric::PortId(2), packets: 1, longest: Duration::from_millis(3) };
        let engine = EngineReport { slow_receivers: vec![slow], ..EngineReport::default() };
        let notes = slow_receivers(&[link("first", ["a", "b"]), link("second", ["b", "c"])], &engine);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].starts_with("how long 1 packet of link second waited for node b,"), "{}", notes[0]);
        assert!(notes[0].ends_with(": 3 ms at most"), "{}", notes[0]);
    }
}
