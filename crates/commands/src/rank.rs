//! In what order commands are asked to end.

use crate::Command;
use netloom_lab::Plan;
use netloom_units::Duration;
use std::collections::BTreeMap;

/// The place of a command in the order of ends, which later ones begin: when it was due to start, none before time zero, and how many wait for
/// one another before it.
pub type Rank = (Option<Duration>, usize);

/// Returns the rank of each command.
pub fn ranks(commands: &[Command], plan: &Plan) -> Vec<Rank> {
    let numbers: BTreeMap<usize, usize> =
        (0..).zip(commands).map(|(number, command)| (command.event, number)).collect();
    let mut depths = vec![None; commands.len()];
    let rank = |number: usize| match &commands[number] {
        // What is no service is there for nobody.
        command if !command.described.service => (Some(Duration::MAX), 0),
        command if plan.starts_before_zero(command.event) => (None, depth(number, commands, &numbers, &mut depths)),
        command => {
            let at = plan.timeline[command.event].at.unwrap_or_default();
            (Some(at), depth(number, commands, &numbers, &mut depths))
        }
    };
    (0..commands.len()).map(rank).collect()
}

/// How many commands wait for one another before this one. They form no circle.
fn depth(number: usize, commands: &[Command], numbers: &BTreeMap<usize, usize>, depths: &mut [Option<usize>]) -> usize {
    let mut open = vec![number];
    while let Some(&top) = open.last() {
        let before: Vec<usize> =
            commands[top].described.after.iter().filter_map(|event| numbers.get(event).copied()).collect();
        match before.iter().find(|other| depths[**other].is_none()) {
            Some(unknown) => open.push(*unknown),
            None => {
                depths[top] = Some(before.iter().filter_map(|other| depths[*other]).max().map_or(0, |most| most + 1));
                open.pop();
            }
        }
    }
    depths[number].unwrap_or_default()
}
