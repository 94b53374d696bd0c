//! The delays that packets had in pipes, beside the distributions from which they were to be drawn.

use netloom_figures::Snapshot;
use netloom_judge::{PipePlace, PipeState};
use netloom_lab::Plan;
use netloom_link::{DelayConfig, Order, PipeConfig, ReorderConfig};
use netloom_results::delays::{PipeDelays, Reference, write};
use netloom_results::{Folder, WriteError};
use netloom_sim::{PipeOutcome, model_plot};
use netloom_units::{Duration, Seed};

/// How many packets a described distribution is drawn from.
const DRAWN: u32 = 20_000;
/// For how many pipes one is drawn.
const MOST_DRAWN: usize = 64;

/// Writes the delays that the engine of a lab has measured in each pipe.
///
/// # Errors
/// When a file of the results folder cannot be written.
pub fn write_measured(folder: &Folder, plan: &Plan, states: &[PipeState], last: &Snapshot) -> Result<(), WriteError> {
    let mut room = MOST_DRAWN;
    let rows = states.iter().zip(&last.pipes).filter_map(|(state, report)| {
        let (delay, place) = (&report.delay, &state.place);
        let reference = reference(&state.config, state.delay_changed, report.counters.departed.packets, &mut room);
        PipeDelays::new(&plan.links[place.link].name, place, delay.count(), |parts| delay.cut(parts), reference)
    });
    write(folder, &rows.collect::<Vec<_>>())
}

/// Writes what a simulation has measured.
pub(crate) fn write_simulated(folder: &Folder, plan: &Plan, pipes: &[PipeOutcome]) -> Result<(), WriteError> {
    let mut room = MOST_DRAWN;
    let rows = plan.pipes().zip(pipes).filter_map(|(planned, pipe)| {
        let (delays, place) = (&pipe.meter.delays, PipePlace::of(&planned));
        let is_changed = planned.config.delay != pipe.config.delay || planned.config.reorder != pipe.config.reorder;
        let reference = reference(&pipe.config, is_changed, pipe.counters.departed.packets, &mut room);
        PipeDelays::new(planned.link_name, &place, delays.count(), |parts| delays.cut(parts), reference)
    });
    write(folder, &rows.collect::<Vec<_>>())
}

/// What the delays of a pipe are compared with: the distribution alone, in which no packet waits for one before it.
fn reference(config: &PipeConfig, is_changed: bool, packets: u64, room: &mut usize) -> Reference {
    if config.delay.is_constant().is_some() {
        return Reference::None("the described delay is constant");
    }
    if is_changed || config.schedule.changes_delay() {
        return Reference::None("the described delay was changed");
    }
    if config.reorder != ReorderConfig::default() {
        return Reference::None("some packets overtake others");
    }
    if packets == 0 || *room == 0 {
        return Reference::None("distributions of other pipes were drawn");
    }
    *room -= 1;
    let delay = DelayConfig { order: Order::Free, ..config.delay.clone() };
    let only = PipeConfig { delay, ..PipeConfig::default() };
    Reference::Drawn(model_plot(&only, Seed::new(1), DRAWN, Duration::ZERO).delays)
}
