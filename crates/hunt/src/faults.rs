//! Faults: each kind has a generator, which turns choices into entries of the timeline.
//!
//! A generator makes its choices by [`Choices`] alone and gives 0 the simplest meaning; shrinking needs nothing else. What it returns are ordinary
//! entries, so that a fault means the same in any later version.

mod ground;
mod links;
mod nodes;
mod packet;
mod partition;
mod programs;

use crate::choices::{Choices, Role};
use crate::instants::place;
use crate::swarm::Swarm;
pub use ground::{Fault, Ground};
use ground::{Window, steps};
use netloom_lab::{FaultPlan, NodeFaults};

/// A run has so many faults at most, whatever its choices are.
const MOST_FAULTS: usize = 64;
/// How long faults last, in milliseconds.
const LENGTHS: [u64; 15] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000];

/// Makes the faults of a run: by these choices, and if they are drawn, by this swarm.
pub fn draw_faults(ground: &Ground, choices: &mut Choices, swarm: &Swarm<'_>) -> Vec<Fault> {
    let (mut faults, mut count) = (Vec::new(), 0);
    while count < MOST_FAULTS && !ground.kinds.is_empty() {
        let goes_on = choices.span(|own| {
            let goes_on = own.choose(2, Role::Plain, |_| u64::from(swarm.goes_on(count))) == 1;
            if goes_on {
                let fault = draw_fault(ground, own, swarm, &faults);
                faults.extend(fault);
            }
            goes_on
        });
        if !goes_on {
            break;
        }
        count += 1;
    }
    faults
}

/// Makes a fault beside those that there are; none if it would be one too many, or nothing at all.
fn draw_fault(ground: &Ground, choices: &mut Choices, swarm: &Swarm<'_>, beside: &[Fault]) -> Option<Fault> {
    let count = ground.kinds.len() as u64;
    let kind = choices.choose(count, Role::Plain, |random| swarm.kind(random));
    let kind = &ground.kinds[usize::try_from(kind).unwrap_or(0)];
    let at = choices.choose(ground.end, Role::Instant, |random| swarm.instant(random, ground.end));
    let lengths = lengths(kind, ground.end);
    let length = choices.choose(lengths.len() as u64, Role::Plain, |random| place(random, lengths.len()) as u64);
    let length = lengths[usize::try_from(length).unwrap_or(0)];
    let window = Window { at, length: length.min(ground.end - at).max(1) };
    let drawn = match kind {
        FaultPlan::Packet(packets) => packet::single(ground, choices, window, packets),
        FaultPlan::Packets(packets) => links::packets(ground, choices, window, packets),
        FaultPlan::Dns(names) => packet::names(ground, choices, window, names),
        FaultPlan::Reset { links } => packet::reset(ground, choices, window, links),
        FaultPlan::Cut { links } => links::cut(ground, choices, window, links),
        FaultPlan::Partition { nodes, shapes, treatments } => {
            partition::partition(ground, choices, window, (nodes, shapes, treatments))
        }
        FaultPlan::Node(faults) => return programs::disturb(ground, choices, window, (kind, faults), beside),
    };
    let (nodes, entries) = drawn;
    Some(Fault { kind: kind.name().into(), rank: kind.place(), at_ns: at, for_ns: window.length, nodes, entries })
}

/// The lengths that a kind of fault can have, in nanoseconds: those that fit in a run, and that the lab file wants.
fn lengths(kind: &FaultPlan, end: u64) -> Vec<u64> {
    let all = LENGTHS.map(|length| length * 1_000_000);
    if let FaultPlan::Node(NodeFaults { lasts: Some([least, longest]), .. }) = kind {
        return steps(least.as_nanos(), longest.as_nanos(), &all);
    }
    let fitting: Vec<u64> = all.into_iter().filter(|length| *length <= end).collect();
    if fitting.is_empty() { vec![end] } else { fitting }
}

#[cfg(test)]
mod tests;
