//! In what order programs are asked to end: what is no service first, then the service that was started last, and what others wait for after
//! these.

use super::processes::Purpose;
use super::state::Programs;
use crate::session::context::Context;
use crate::session::stage::Stage;
use netloom_commands::Command;
use netloom_lab::Plan;
use netloom_units::Duration;
use std::collections::BTreeMap;

/// Later ones end first: when a command was due to start, none before time zero, and how many wait for one another before it.
type Rank = (Option<Duration>, usize);

impl Programs {
    /// At the end, asks those to end whose turn it is, and everything that is no command.
    pub(crate) fn stop_in_turn(&mut self, context: &Context<'_>) {
        if !matches!(context.stage, Stage::Stopping(_)) || self.processes.is_empty() {
            return;
        }
        let mut running = Vec::new();
        for (purpose, _) in self.processes.graces() {
            running.extend(if let Purpose::Command(number) = purpose { Some(self.ranks[number]) } else { None });
        }
        let last = running.into_iter().max();
        let ranks = &self.ranks;
        self.processes.stop(context.links.now(), |purpose| match purpose {
            Purpose::Command(number) => Some(ranks[number]) == last,
            // What nodes pack is the last of all, and comes to its end.
            Purpose::Pack(_) => false,
            Purpose::Probe(_) | Purpose::PortForward | Purpose::Client(_) => true,
        });
    }

    /// How long all programs may take to end, one after the other as they do.
    pub(crate) fn longest_stop(&self) -> Duration {
        let mut longest: BTreeMap<Option<Rank>, Duration> = BTreeMap::new();
        for (purpose, grace) in self.processes.graces() {
            let rank = if let Purpose::Command(number) = purpose { Some(self.ranks[number]) } else { None };
            let known = longest.entry(rank).or_default();
            *known = grace.max(*known);
        }
        longest.into_values().fold(Duration::ZERO, |sum, grace| sum + grace)
    }
}

/// The rank of each command.
pub(super) fn ranks(commands: &[Command], plan: &Plan) -> Vec<Rank> {
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
