//! The faults of a hunt: which nodes and links they are about. What a node or clock cannot have is not drawn, and refused where it is named.

use super::faults::{keeps_nothing, never};
use super::hunt_ground::Ground;
use super::patterns::is_pattern;
use super::stops::never_stops;
use crate::decode::hunt::HuntSpec;
use crate::diagnostics::Spanned;
use crate::errors::Errors;
use crate::plan::{
    Action, Ceiling, ClockChange, Disturbance, Event, FaultPlan, FaultShape, Keep, LimitChange, LimitFaults,
    NameFaults, NodeFault, NodeFaults, PacketFaults, SinglePackets, Standstill,
};
use crate::spec::{FaultSpec, NodesSpec};
use crate::words::Words;

/// The kinds of faults of a hunt, from the simplest on.
pub(super) fn resolve(hunt: &HuntSpec, ground: &Ground<'_>, nodes: &[usize], errors: &mut Errors) -> Vec<FaultPlan> {
    if let Some(named) = &hunt.faults {
        let may_be_faulty = hunt.tolerate.of(nodes.len()) > 0 || nodes.is_empty();
        let about_nodes =
            named.iter().find_map(|fault| if let FaultSpec::Node(own, _) = fault { Some(own) } else { None });
        if let Some(own) = about_nodes.filter(|_| !may_be_faulty) {
            errors.push(own.place.error(format!(
                "no node of {} may be faulty with `tolerate: {}`, so this would never be drawn: write `tolerate: all`, or a number",
                nodes.len(),
                hunt.tolerate.word(),
            )));
        }
        return named.iter().filter_map(|fault| ground.fault(fault, nodes, errors)).collect();
    }
    let mut usual = Vec::from(usual_links());
    // Where no node is a name server, hardly a message of DNS crosses a link.
    let has_names = ground.spec.nodes.iter().any(|node| node.dns.is_some());
    usual.extend(has_names.then(FaultSpec::usual_names));
    let mut all: Vec<FaultPlan> = usual.iter().filter_map(|fault| ground.fault(fault, nodes, errors)).collect();
    all.sort_by_key(FaultPlan::place);
    let about_nodes = [
        NodeFault::Pause,
        NodeFault::Freeze,
        NodeFault::Kill,
        NodeFault::Crash(vec![Keep::Flushed, Keep::All, Keep::Some, Keep::Torn]),
    ];
    all.extend(about_nodes.into_iter().filter_map(|fault| {
        // A node without a disk loses all in a crash, which no protocol survives whose nodes have to remember something.
        let has_disk = |node: &usize| ground.spec.nodes[*node].disk.is_some();
        let is_crash = matches!(fault, NodeFault::Crash(_));
        let able = nodes.iter().copied().filter(|node| ground.never(&fault, *node).is_none());
        let able: Vec<usize> = able.filter(|node| !is_crash || has_disk(node)).collect();
        (!able.is_empty()).then_some(FaultPlan::Node(NodeFaults { nodes: able, most: None, lasts: None, fault }))
    }));
    all
}

/// The kinds of faults of links of a hunt that names none.
fn usual_links() -> [FaultSpec; 4] {
    use crate::plan::FaultTreatment::{Drop, Jam, Slow};
    [
        FaultSpec::Packet(SinglePackets::usual()),
        FaultSpec::Packets(PacketFaults::usual()),
        FaultSpec::Cut(None),
        FaultSpec::Partition { nodes: None, shapes: Vec::new(), treatments: vec![Drop, Slow, Jam] },
    ]
}

impl Ground<'_> {
    fn fault(&self, fault: &FaultSpec, nodes: &[usize], errors: &mut Errors) -> Option<FaultPlan> {
        match fault {
            FaultSpec::Packet(own) => {
                let links = self.links_among(&own.links, nodes, errors);
                let SinglePackets { matching, treatments, hold, .. } = own.clone();
                (!links.is_empty()).then_some(FaultPlan::Packet(SinglePackets { links, matching, treatments, hold }))
            }
            FaultSpec::Packets(own) => {
                let links = self.links_among(&own.links, nodes, errors);
                let PacketFaults { matching, loss, delay, reorder, duplicate, corrupt, .. } = own.clone();
                let is_empty = links.is_empty();
                let treated = PacketFaults { links, matching, loss, delay, reorder, duplicate, corrupt };
                (!is_empty).then_some(FaultPlan::Packets(treated))
            }
            FaultSpec::Dns(own) => {
                let links = self.answered_among(&own.links, nodes, errors);
                let NameFaults { questions, ways, .. } = own.clone();
                (!links.is_empty()).then_some(FaultPlan::Dns(NameFaults { links, questions, ways }))
            }
            FaultSpec::Cut(links) => {
                let links = self.links_among(links, nodes, errors);
                (!links.is_empty()).then_some(FaultPlan::Cut { links })
            }
            FaultSpec::Reset(links) => {
                let links = self.answered_among(links, nodes, errors);
                (!links.is_empty()).then_some(FaultPlan::Reset { links })
            }
            FaultSpec::Partition { nodes: own, shapes, treatments } => {
                let parted = self.nodes_among(own, nodes, errors);
                let shapes = possible(shapes, parted.len(), errors);
                let treatments = treatments.clone();
                (!shapes.is_empty()).then_some(FaultPlan::Partition { nodes: parted, shapes, treatments })
            }
            FaultSpec::Node(own, fault) => self.node_fault(own, fault, nodes, errors),
        }
    }

    /// A fault of nodes, without those that cannot have it. It is an error to name one of these, or if there are no others.
    fn node_fault(
        &self,
        own: &NodesSpec,
        fault: &NodeFault,
        usual: &[usize],
        errors: &mut Errors,
    ) -> Option<FaultPlan> {
        let NodesSpec { place, nodes, most, lasts, keep } = own;
        let among = self.nodes_among(nodes, usual, errors);
        let never = |node: usize| {
            self.never(fault, node).map(|why| (None, why)).or_else(|| {
                let keep = keep.as_ref().filter(|_| self.spec.nodes[node].disk.is_none())?;
                Some((Some(keep), keeps_nothing(&self.spec.nodes[node].name.value)))
            })
        };
        let able: Vec<usize> = among.iter().copied().filter(|node| never(*node).is_none()).collect();
        let unable = among.iter().filter_map(|node| Some((*node, never(*node)?)));
        for (node, (key, why)) in unable {
            let name = &self.spec.nodes[node].name.value;
            let named = nodes.iter().flatten().find(|one| !is_pattern(&one.value) && one.value == *name);
            if let Some(named) = named {
                errors.push(key.map_or_else(|| named.error(&why), |key| key.error(&why)));
            } else if able.is_empty() {
                errors.push(key.unwrap_or(place).error(why));
                break;
            }
        }
        let (most, lasts) = (*most, *lasts);
        (!able.is_empty()).then(|| FaultPlan::Node(NodeFaults { nodes: able, most, lasts, fault: fault.clone() }))
    }

    /// Why a node cannot have a fault, if so.
    fn never(&self, fault: &NodeFault, node: usize) -> Option<String> {
        let own = &self.spec.nodes[node];
        let disturbed = |how: Disturbance| never(how, own, *self.stacks.get(node)?, self.spec.clock);
        if let Some(why) = self.mistaken(fault, &own.name.value) {
            return Some(why);
        }
        match fault {
            NodeFault::Pause | NodeFault::Signal(_) | NodeFault::Kill => None,
            NodeFault::Freeze => disturbed(Disturbance::Freeze(Standstill::default())),
            NodeFault::Clock(_) => disturbed(Disturbance::Clock(ClockChange::default())),
            NodeFault::Limit(LimitFaults { memory, pids, .. }) => {
                let memory = memory.map(|[least, _]| Ceiling::At(least));
                let pids = pids.map(|[least, _]| Ceiling::At(least));
                disturbed(Disturbance::Limit(LimitChange { memory, pids, fds: None }))
            }
            NodeFault::Disk(_) if own.disk.is_none() => Some(format!(
                "`{}` has no disk: write for example `disk: {{at: /var/lib/data}}` for the node",
                own.name.value
            )),
            NodeFault::Disk(_) => None,
            NodeFault::Reboot => never_stops(self.spec, node, Disturbance::Stop),
            NodeFault::Crash(_) => {
                let how = Disturbance::Crash(Keep::default());
                never_stops(self.spec, node, how).or_else(|| disturbed(how))
            }
        }
    }

    /// Why the entry of a fault would not say that it is about the node of this name, if so.
    fn mistaken(&self, fault: &NodeFault, name: &str) -> Option<String> {
        use NodeFault::{Freeze, Kill, Limit, Pause, Signal};
        let is_about_commands = matches!(fault, Pause | Freeze | Kill | Limit(_) | Signal(_));
        let is_called = |event: &Event| matches!(&event.action, Action::Run(run) if run.name == name);
        (is_about_commands && self.timeline.iter().any(is_called)).then(|| {
            format!(
                "`{name}` is a node and a command, too, and `{}` takes both: give the command another name by `as`",
                fault.name()
            )
        })
    }
}

/// The shapes for which there are enough nodes; all of them if none are named.
fn possible(named: &[Spanned<FaultShape>], nodes: usize, errors: &mut Errors) -> Vec<FaultShape> {
    use FaultShape::{Bridge, Halves, Isolate, Minority, Ring};
    let too_many = named.iter().filter(|shape| shape.value.least() > nodes);
    errors.extend(too_many.map(|shape| {
        let (name, least) = (shape.value.name(), shape.value.least());
        shape.error(format!("`{name}` needs {least} nodes or more, and {nodes} are under test: name others by `nodes`"))
    }));
    let all = || [Isolate, Minority, Halves, Bridge, Ring].into_iter().filter(|shape| shape.least() <= nodes).collect();
    if named.is_empty() { all() } else { named.iter().map(|shape| shape.value).collect() }
}
