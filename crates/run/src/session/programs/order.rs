//! In what order programs are asked to end: what is no service first, then the service that was started last, and what others wait for after
//! these.

use super::processes::Purpose;
use super::state::Programs;
use crate::session::context::Context;
use crate::session::stage::Stage;
use netloom_commands::Rank;
use netloom_units::Duration;
use std::collections::BTreeMap;

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
