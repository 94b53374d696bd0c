//! What faults are drawn from: the nodes and links of a lab, and how many nodes may be faulty at once.

use super::nodes::NodeGround;
use crate::choices::Choices;
use crate::error::HuntError;
use netloom_lab::{Action, Direction, FaultPlan, NodeFaults, PacketFaults, Plan, SinglePackets, settings_of};
use netloom_units::Duration;
use serde::{Deserialize, Serialize};

/// A node whose programs start again counts as faulty for so much longer.
pub(super) const RECOVERY: u64 = 1_000_000_000;

/// A fault: what it is for people, and the entries of the timeline that are it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The kind of the fault, by its name in lab files.
    pub kind: String,
    /// The place of the kind among all kinds, from the simplest on.
    pub rank: usize,
    /// When the fault begins, after time zero.
    pub at_ns: u64,
    /// How long the fault lasts.
    pub for_ns: u64,
    /// The nodes that are faulty meanwhile.
    pub nodes: Vec<String>,
    /// Entries of the timeline, each on one line.
    pub entries: Vec<String>,
}

/// A time in which a fault lasts, in nanoseconds after time zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) at: u64,
    pub(super) length: u64,
}

impl Window {
    /// The instant at which the fault begins, as a lab file has it.
    pub(super) fn at(self) -> Duration {
        Duration::from_nanos(self.at)
    }

    /// How long it lasts.
    pub(super) fn length(self) -> Duration {
        Duration::from_nanos(self.length)
    }

    /// The instant at which it is over.
    pub(super) fn to(self) -> Duration {
        Duration::from_nanos(self.at + self.length)
    }
}

/// The nodes, links and kinds that faults of a lab are drawn from.
#[derive(Clone, Debug)]
pub struct Ground {
    /// The names of all nodes, by their places in the plan.
    pub(super) nodes: Vec<String>,
    /// The rest that faults have to know of each.
    pub(super) node_grounds: Vec<NodeGround>,
    pub(super) links: Vec<LinkGround>,
    pub(super) kinds: Vec<FaultPlan>,
    /// How many nodes are faulty at once, at most.
    pub(super) most_faulty: usize,
    /// The instant at which all faults are over.
    pub(super) end: u64,
}

impl Ground {
    /// Finds out what the hunt of a plan draws from.
    ///
    /// # Errors
    /// That the lab says nothing of a hunt, or that its runs would have no end.
    pub fn of(plan: &Plan) -> Result<Self, HuntError> {
        let Some(hunt) = &plan.hunt else {
            let message = "this lab file has no `hunt`: write for example `hunt: {always: [...]}`, or `hunt: {}` for the usual faults";
            return Err(HuntError::Unfit(message.into()));
        };
        let Some(duration) = plan.duration else {
            let message = "a hunt needs a `duration` of the lab: with faults, a run might have no end";
            return Err(HuntError::Unfit(message.into()));
        };
        let links = LinkGround::all(plan);
        let most_faulty = hunt.tolerate.of(hunt.nodes.len());
        let node_grounds = NodeGround::all(plan);
        let usable = |kind| usable(kind, &links, &node_grounds);
        let mut kinds: Vec<FaultPlan> = hunt.faults.iter().filter_map(usable).collect();
        kinds.retain(|kind| most_faulty > 0 || !matches!(kind, FaultPlan::Node(_)));
        kinds.sort_by_key(FaultPlan::place);
        let nodes = plan.nodes.iter().map(|node| node.name.clone()).collect();
        let end = duration.as_nanos().saturating_sub(hunt.quiet.as_nanos()).max(1);
        Ok(Self { nodes, node_grounds, links, kinds, most_faulty, end })
    }

    /// Returns the names of the kinds of faults that are drawn, from the simplest on.
    pub fn kinds(&self) -> Vec<&'static str> {
        self.kinds.iter().map(FaultPlan::name).collect()
    }

    /// Entries of the timeline with all filters of packets that the lab file has for faults.
    pub(crate) fn filter_entries(&self) -> Vec<String> {
        let filters = self.kinds.iter().filter_map(|kind| match kind {
            FaultPlan::Packet(SinglePackets { links, matching: Some(filter), .. })
            | FaultPlan::Packets(PacketFaults { links, matching: Some(filter), .. }) => Some((links.first()?, filter)),
            _ => None,
        });
        let entry = |(link, filter): (&usize, &String)| {
            format!("{{link: {}, packet: {{match: {filter}}}, do: drop}}", self.links[*link].name)
        };
        filters.map(entry).collect()
    }

    /// Returns the instant at which all faults are over, in nanoseconds after time zero.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns the names of all links.
    pub(crate) fn link_names(&self) -> impl Iterator<Item = &str> {
        self.links.iter().map(|link| link.name.as_str())
    }

    /// Names of nodes as a list of YAML, or one name.
    pub(super) fn names(&self, nodes: &[usize]) -> String {
        let names: Vec<&str> = nodes.iter().map(|node| self.nodes[*node].as_str()).collect();
        if let [only] = names[..] { only.to_owned() } else { format!("[{}]", names.join(", ")) }
    }

    /// As many of these nodes, in their order, as may be faulty at once beside those that are in `faults`; of the nodes with this kind of fault at
    /// most `most`.
    pub(super) fn tolerated(
        &self,
        faults: &[Fault],
        window: Window,
        nodes: &[usize],
        (kind, most): (&str, usize),
    ) -> Vec<usize> {
        let same: Vec<Fault> = faults.iter().filter(|fault| fault.kind == kind).cloned().collect();
        let mut taken: Vec<usize> = Vec::new();
        for node in nodes {
            taken.push(*node);
            let is_one_too_many =
                self.faulty(faults, window, &taken) > self.most_faulty || self.faulty(&same, window, &taken) > most;
            if is_one_too_many {
                taken.pop();
            }
        }
        taken
    }

    /// How many nodes are faulty at once in a window, at most, if these are for all of it.
    fn faulty(&self, faults: &[Fault], window: Window, nodes: &[usize]) -> usize {
        let over = |fault: &Fault| fault.at_ns + fault.for_ns + RECOVERY;
        let end = window.at + window.length + RECOVERY;
        let beside: Vec<&Fault> = faults.iter().filter(|fault| fault.at_ns < end && over(fault) > window.at).collect();
        let begins = beside.iter().map(|fault| fault.at_ns.max(window.at)).chain([window.at]);
        let at = |instant: u64| {
            let others = beside.iter().filter(|fault| fault.at_ns <= instant && over(fault) > instant);
            let mut names: Vec<&str> = others.flat_map(|fault| fault.nodes.iter().map(String::as_str)).collect();
            names.extend(nodes.iter().map(|node| self.nodes[*node].as_str()));
            names.sort_unstable();
            names.dedup();
            names.len()
        };
        begins.map(at).max().unwrap_or(0)
    }
}

/// A link, with what faults change and restore of it.
#[derive(Clone, Debug)]
pub(super) struct LinkGround {
    pub(super) name: String,
    /// Its directions, each with its settings as the lab file would have them; one without a name is that of a shared medium.
    pub(super) directions: Vec<(Option<&'static str>, serde_json::Map<String, serde_json::Value>)>,
    /// Whether the timeline of the lab file changes it: its settings are not for us to restore.
    is_changed: bool,
}

impl LinkGround {
    /// All links of a plan, by their places.
    fn all(plan: &Plan) -> Vec<Self> {
        let changed = |place: usize| {
            plan.timeline.iter().any(|event| matches!(&event.action, Action::Set { link, .. } if *link == place))
        };
        let links = plan.links.iter().enumerate();
        let ground = links.map(|(place, link)| Self {
            name: link.name.clone(),
            directions: link
                .directions()
                .iter()
                .map(|direction| {
                    let name = (*direction != Direction::Shared).then(|| direction.name());
                    (name, settings_of(&link.pipes[direction.index()]))
                })
                .collect(),
            is_changed: changed(place),
        });
        ground.collect()
    }
}

/// A kind of fault without the links and nodes that it cannot be about; none if there are no others.
fn usable(kind: &FaultPlan, links: &[LinkGround], nodes: &[NodeGround]) -> Option<FaultPlan> {
    match kind {
        // Entries for packets that match change no settings.
        FaultPlan::Packets(packets) if packets.matching.is_none() => {
            let own: Vec<usize> = packets.links.iter().copied().filter(|link| !links[*link].is_changed).collect();
            (!own.is_empty()).then(|| FaultPlan::Packets(PacketFaults { links: own, ..packets.clone() }))
        }
        FaultPlan::Node(faults) => {
            let is_able = |node: &usize| nodes[*node].can_have(&faults.fault);
            let own: Vec<usize> = faults.nodes.iter().copied().filter(is_able).collect();
            (!own.is_empty()).then(|| FaultPlan::Node(NodeFaults { nodes: own, ..faults.clone() }))
        }
        _ => Some(kind.clone()),
    }
}

/// The nodes that are faulty, and the entries that make them so.
pub(super) type Drawn = (Vec<String>, Vec<String>);

/// Chooses so many of these, one after the other; then come the rest, in their order.
pub(super) fn pick(choices: &mut Choices, items: &[usize], count: usize) -> (Vec<usize>, Vec<usize>) {
    let mut taken: Vec<usize> = Vec::new();
    for _ in 0..count.min(items.len()) {
        // A number means the same item whatever was chosen before, or the next one that is free: so one can be left out of a choice.
        let first = choices.place(items.len());
        let (before, behind) = items.split_at(first);
        taken.extend(behind.iter().chain(before).find(|item| !taken.contains(item)));
    }
    let rest = items.iter().copied().filter(|item| !taken.contains(item)).collect();
    (taken, rest)
}

/// The values of a table that are between the least and the most, and these two.
pub(super) fn steps(least: u64, most: u64, table: &[u64]) -> Vec<u64> {
    let mut steps = vec![least];
    steps.extend(table.iter().copied().filter(|value| (least + 1..most).contains(value)));
    if most > least {
        steps.push(most);
    }
    steps
}
