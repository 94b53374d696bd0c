//! The counters of a lab's pipes, switches and stations, as clients get them.

use netloom_control::{LabStats, PipeStats};
use netloom_judge::{Effects, LinkName, PipePlace, PipeState, RunError, StationRow, SwitchRow};
use netloom_lab::{NodeKind, Plan};
use netloom_link::PipeCounters;
use netloom_provision::links::Links;
use netloom_units::Rate;

/// Returns what every pipe, every port of a switch and every station of a radio medium of this plan has counted.
pub(super) fn stats(links: &mut Links, plan: &Plan) -> Result<LabStats, RunError> {
    let (at, counters) = links.counters()?;
    let states = links.pipes().iter().zip(&counters);
    let pipes = states.map(|(state, counted)| pipe_stats(links.names(), state, counted)).collect();
    let has_switches = plan.nodes.iter().any(|node| node.kind == NodeKind::Switch);
    let counted = if has_switches { links.driver_mut().switch_states()? } else { Vec::new() };
    let switches = SwitchRow::of_plan(plan, at, &counted);
    let has_stations = plan.links.iter().any(|link| link.pipes.iter().any(|pipe| pipe.air.is_some()));
    let on_air = if has_stations { links.driver_mut().stations()? } else { Vec::new() };
    let stations = StationRow::of_plan(plan, on_air.iter().map(Vec::as_slice));
    Ok(LabStats { at_ns: at.as_nanos(), pipes, switches, stations })
}

fn pipe_stats(names: &[LinkName], state: &PipeState, counted: &PipeCounters) -> PipeStats {
    let PipePlace { link, direction, pipe: further } = &state.place;
    let (link, direction) = (&names[*link], *direction);
    let (from, to) = link.path(direction);
    PipeStats {
        link: link.name.clone(),
        direction: direction.to_string(),
        pipe: further.clone(),
        from: from.to_owned(),
        to: to.to_owned(),
        joined_in_kernel: link.joined,
        rate_bits_per_second: state.config.rate.nominal().map(Rate::as_bits_per_second),
        delay_ns: state.config.delay.mean().as_nanos(),
        up: state.is_up(),
        in_flight_at_start_packets: counted.initial.packets,
        in_flight_packets: counted.in_flight(),
        arrived_packets: counted.arrived.packets,
        arrived_bytes: counted.arrived.bytes,
        departed_packets: counted.departed.packets,
        departed_bytes: counted.departed.bytes,
        queued_packets: counted.queued.packets,
        queued_bytes: counted.queued.bytes,
        dropped_queue_packets: counted.dropped.queue.packets,
        dropped_loss_packets: counted.dropped.loss.packets,
        dropped_early_packets: counted.dropped.early.packets,
        dropped_down_packets: counted.dropped.down.packets,
        dropped_partition_packets: counted.dropped.partition.packets,
        dropped_fault_packets: counted.dropped.fault.packets,
        dropped_air_packets: counted.dropped.air.packets,
        effects: Effects::since(&PipeCounters::default(), counted),
    }
}
