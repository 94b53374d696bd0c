//! Partitions: nodes that do not reach each other for a while.

use super::ground::{Drawn, Ground, Window, pick};
use crate::choices::Choices;
use netloom_lab::{FaultShape, FaultTreatment};
use netloom_units::Duration;

/// How long packets are held, in milliseconds.
const HELD: [u64; 8] = [10, 20, 50, 100, 200, 500, 1_000, 2_000];

/// Parts nodes. The groups are written out, so that nothing is drawn by the run itself.
pub(super) fn partition(
    ground: &Ground,
    choices: &mut Choices,
    window: Window,
    (nodes, shapes, treatments): (&[usize], &[FaultShape], &[FaultTreatment]),
) -> Drawn {
    let count = nodes.len();
    let shape = shapes[choices.place(shapes.len())];
    let (what, has_first) = match shape {
        FaultShape::Isolate => (groups(ground, choices, nodes, 1), true),
        FaultShape::Minority => {
            let size = 1 + choices.place((count - 1) / 2);
            (groups(ground, choices, nodes, size), true)
        }
        FaultShape::Halves => (groups(ground, choices, nodes, count / 2), true),
        FaultShape::Bridge | FaultShape::Ring => {
            let (mut order, last) = pick(choices, nodes, count - 1);
            order.extend(last);
            (format!("{{{}: {}}}", shape.name(), ground.names(&order)), false)
        }
    };
    let treatment = match treatments[choices.place(treatments.len())] {
        FaultTreatment::Drop => String::new(),
        FaultTreatment::Slow => {
            let held = Duration::from_millis(HELD[choices.place(HELD.len())]);
            format!(", slow: {held}")
        }
        FaultTreatment::Jam => ", jam: true".to_owned(),
    };
    let direction = if has_first { ["", ", direction: to", ", direction: from"][choices.place(3)] } else { "" };
    let (at, length) = (window.at(), window.length());
    (Vec::new(), vec![format!("{{at: {at}, partition: {what}, for: {length}{treatment}{direction}}}")])
}

/// So many nodes, and the rest of them.
fn groups(ground: &Ground, choices: &mut Choices, nodes: &[usize], size: usize) -> String {
    let (first, rest) = pick(choices, nodes, size);
    let list = |group: &[usize]| group.iter().map(|node| ground.nodes[*node].as_str()).collect::<Vec<_>>().join(", ");
    format!("[[{}], [{}]]", list(&first), list(&rest))
}
