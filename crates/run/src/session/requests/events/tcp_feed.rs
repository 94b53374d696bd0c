//! A subscription to the TCP connections of nodes.

use super::pace::Pace;
use crate::session::context::Context;
use crate::session::programs::Programs;
use crate::session::requests::refusals::{find_node, wrong};
use netloom_control::{Id, Refused, Subscribe};
use netloom_provision::driver::Driver;
use netloom_units::Duration;
use std::collections::BTreeSet;

/// Samples come no more often than this,
const SHORTEST_STEP: Duration = Duration::from_millis(50);
/// and not more often than this for each node: to ask one takes about a thirtieth of it.
const STEP_PER_NODE: Duration = Duration::from_millis(2);

/// The connections of some nodes, for one client.
#[derive(Debug)]
pub(super) struct TcpFeed {
    pub(super) id: Option<Id>,
    pub(super) pace: Pace,
    /// Their places, in the order of the lab file.
    pub(super) nodes: BTreeSet<usize>,
}

impl TcpFeed {
    pub(super) fn new(
        id: Option<Id>,
        wanted: &Subscribe,
        context: &Context<'_>,
        programs: &Programs,
    ) -> Result<Self, Refused> {
        let plan = &context.job.plan;
        if matches!(context.links.driver(), Driver::Virtual(_)) && !context.job.kernel_samples {
            let message = "the lab's kernels are of an older build or somebody else's, and do not hand over their TCP connections in virtual time";
            return Err(wrong("events", message.to_owned()));
        }
        let runs_programs = |place: &usize| plan.nodes[*place].kind.runs_programs();
        let mut nodes = BTreeSet::new();
        match &wanted.nodes {
            None => nodes.extend((0..plan.nodes.len()).filter(runs_programs)),
            Some(names) => {
                for (number, name) in names.iter().enumerate() {
                    let key = format!("nodes[{number}]");
                    let place = find_node(plan, name).map_err(|(code, message)| Refused {
                        code: code.number(),
                        message,
                        key: Some(key.clone()),
                    })?;
                    if !runs_programs(&place) || !programs.nodes[place].has_connections() {
                        return Err(wrong(&key, format!("`{name}` has no TCP connections that could be asked for")));
                    }
                    nodes.insert(place);
                }
            }
        }
        nodes.retain(|place| programs.nodes[*place].has_connections());
        let every = Duration::from_nanos(wanted.every_ns.unwrap_or_default());
        let shortest = SHORTEST_STEP.max(STEP_PER_NODE * nodes.len() as u64);
        if every < shortest {
            let count = nodes.len();
            let message = format!(
                "`every_ns`: {every} is too short a step: of {count} nodes, the lab takes {shortest} and above"
            );
            return Err(wrong("every_ns", message));
        }
        Ok(Self { id, pace: Pace::new(every, context.links.now()), nodes })
    }
}
