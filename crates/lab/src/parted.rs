//! Partitions that are made while a lab runs, beside those whose members its timeline knows.

use crate::plan::Plan;
use crate::resolve::RequestedPartition;
use netloom_link::{NodeIndex, PartitionSet};
use netloom_units::Instant;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The origin of a partition that is made while a lab runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parter {
    /// A client has asked for it.
    Client,
    /// A command of the timeline has named a leader.
    Timeline,
}

impl Parter {
    /// Returns the name in events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Timeline => "timeline",
        }
    }
}

/// The partitions that are in force, but for those whose members the timeline knows.
#[derive(Debug, Default)]
pub struct Parted {
    in_force: Vec<InForce>,
    /// By what packets tell their nodes; none until there is a partition.
    nodes: Option<Arc<NodeIndex>>,
}

#[derive(Debug)]
struct InForce {
    partition: RequestedPartition,
    /// When it ends by itself.
    end: Option<Instant>,
    parter: Parter,
}

impl Parted {
    /// Returns when one of them ends by itself next.
    pub fn next(&self) -> Option<Instant> {
        self.in_force.iter().filter_map(|one| one.end).min()
    }

    /// Whether this one has parted anybody.
    pub fn is_parted_by(&self, parter: Parter) -> bool {
        self.in_force.iter().any(|one| one.parter == parter)
    }

    /// Begins a partition now; returns the links that it concerns.
    pub fn begin(&mut self, partition: RequestedPartition, parter: Parter, now: Instant) -> Vec<usize> {
        let links = partition.links.clone();
        let end = partition.duration.map(|duration| now + duration);
        self.in_force.push(InForce { partition, end, parter });
        links
    }

    /// Ends all that this one has made; returns the links that they concern.
    pub fn heal(&mut self, parter: Parter) -> Vec<usize> {
        self.end(|one| one.parter == parter)
    }

    /// Ends those whose time has passed; returns who has made the first of them, and the links that they concern.
    pub fn end_due(&mut self, now: Instant) -> Option<(Parter, Vec<usize>)> {
        let is_over = |one: &InForce| one.end.is_some_and(|end| end <= now);
        let first = self.in_force.iter().find(|one| is_over(one))?.parter;
        Some((first, self.end(is_over)))
    }

    fn end(&mut self, is_meant: impl Fn(&InForce) -> bool) -> Vec<usize> {
        let meant = self.in_force.iter().filter(|one| is_meant(one));
        let links: BTreeSet<usize> = meant.flat_map(|one| &one.partition.links).copied().collect();
        self.in_force.retain(|one| !is_meant(one));
        links.into_iter().collect()
    }

    /// Returns those that are in force, in the order in which they began.
    pub fn in_force(&mut self, plan: &Plan) -> PartitionSet {
        let nodes = self.nodes.get_or_insert_with(|| Arc::new(plan.node_index()));
        PartitionSet::new(Arc::clone(nodes), self.in_force.iter().map(|one| Arc::clone(&one.partition.nodes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_end_with_their_time_or_their_maker() {
        let text = "nodes: [a, b, c]\nlinks: {l: {ends: [a, b]}, m: {ends: [b, c]}}\n";
        let plan = crate::parse(text, "test.yaml").map_err(|error| error.to_string()).expect("a lab").plan;
        let of = |entry: &str| crate::parse_partition(entry, &plan, 1).expect("a partition");
        let (mut parted, at) = (Parted::default(), |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000));
        assert_eq!(parted.begin(of("{partition: [[a], [b]], for: 2 s}"), Parter::Client, at(1)), [0, 1]);
        parted.begin(of("{partition: [[c], [b]]}"), Parter::Timeline, at(2));
        assert_eq!((parted.next(), parted.end_due(at(2))), (Some(at(3)), None));
        assert_eq!(parted.in_force(&plan).to_string(), "a | b, and c | b");
        assert!(parted.is_parted_by(Parter::Client) && parted.is_parted_by(Parter::Timeline));
        assert_eq!(parted.end_due(at(3)), Some((Parter::Client, vec![0, 1])));
        assert_eq!((parted.heal(Parter::Client), parted.heal(Parter::Timeline)), (vec![], vec![0, 1]));
        assert!(parted.in_force(&plan).is_empty() && parted.next().is_none());
    }
}
