//! What is known of nodes before faults are drawn: their disks, and what the lab's own timeline does to them.

use netloom_lab::{Action, Disturbance, NodeFault, Plan, Whose};

/// A node, as far as faults have to know it.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeGround {
    /// The folder of its disk.
    pub(super) disk: Option<String>,
    /// Whether its clock is wrong or changed by the lab file: it is not for us to set it right.
    has_own_clock: bool,
    /// Whether the lab file limits its programs: these limits are not for us to lift.
    has_own_limits: bool,
    /// When the lab's own timeline has something for it to do, in nanoseconds after time zero.
    orders: Vec<u64>,
    /// When it is away by the lab's own timeline.
    away: Vec<[u64; 2]>,
}

impl NodeGround {
    /// All nodes of a plan, by their places.
    pub(super) fn all(plan: &Plan) -> Vec<Self> {
        let own = |node: &netloom_lab::NodePlan| Self {
            disk: node.disk.as_ref().map(|disk| disk.at.to_string_lossy().into_owned()),
            has_own_clock: !node.clock.is_right(),
            ..Self::default()
        };
        let mut all: Vec<Self> = plan.nodes.iter().map(own).collect();
        for event in &plan.timeline {
            let at = event.at.map_or(0, netloom_units::Duration::as_nanos);
            let to = |span: Option<netloom_units::Duration>| span.map(|span| at + span.as_nanos());
            match &event.action {
                Action::Run(run) => {
                    all[run.node].orders.extend([at].into_iter().chain(to(run.stop_after)));
                }
                Action::Disturb { how, whose, duration, .. } => {
                    let Some(node) = node_of(*whose, plan) else { continue };
                    let disturbed = &mut all[node];
                    disturbed.orders.extend([at].into_iter().chain(to(*duration)));
                    match how {
                        Disturbance::Clock(_) => disturbed.has_own_clock = true,
                        Disturbance::Limit(_) => disturbed.has_own_limits = true,
                        Disturbance::Freeze(_) | Disturbance::Stop | Disturbance::Crash(_) => {
                            disturbed.away.push([at, to(*duration).unwrap_or(u64::MAX)]);
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        all
    }

    /// Whether the lab's disturbed timeline leaves room for this kind of fault at all.
    pub(super) fn can_have(&self, fault: &NodeFault) -> bool {
        match fault {
            NodeFault::Clock(_) => !self.has_own_clock,
            NodeFault::Limit(_) => !self.has_own_limits,
            _ => true,
        }
    }

    /// Whether the lab's own timeline leaves room for a fault from one instant to another.
    pub(super) fn is_free(&self, fault: &NodeFault, [from, to]: [u64; 2]) -> bool {
        let is_away = self.away.iter().any(|[gone, back]| *gone <= to && *back >= from);
        match fault {
            // A node that stands still takes no orders.
            NodeFault::Freeze => !is_away && !self.orders.iter().any(|at| (from..=to).contains(at)),
            _ => !is_away,
        }
    }
}

fn node_of(whose: Whose, plan: &Plan) -> Option<usize> {
    match whose {
        Whose::Node(node) => Some(node),
        Whose::Command(event) => match &plan.timeline.get(event)?.action {
            Action::Run(run) => Some(run.node),
            _ => None,
        },
    }
}

/// Whether a node can have faults of both of these kinds at once, by their names.
pub(super) fn go_together(one: &str, other: &str) -> bool {
    /// Faults that need the node's kernel as it is, or take all else with it.
    const ALONE: [&str; 3] = ["freeze", "reboot", "crash"];
    // What is set right in the end is set right for all of its kind.
    const RESTORED: [&str; 3] = ["clock", "limit", "disk"];
    let is_alone = ALONE.contains(&one) || ALONE.contains(&other);
    !(is_alone || one == other && RESTORED.contains(&one))
}
