//! The TCP connections of nodes.

use super::pace::Pace;
use super::{Requests, wrong};
use crate::driver::Driver;
use crate::session::context::Context;
use crate::session::programs::Programs;
use crate::session::requests::find_node;
use netloom_control::{ClientId, Event, Id, NodeConnections, Refused, Subscribe, TcpConnection, TcpSample};
use netloom_host::measure::{self, TcpState};
use netloom_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

/// Samples come no more often than this,
const SHORTEST_STEP: Duration = Duration::from_millis(50);
/// and not more often than this for each node: to ask one takes about a thirtieth of it.
const STEP_PER_NODE: Duration = Duration::from_millis(2);

/// See the module.
#[derive(Debug)]
pub(super) struct TcpFeed {
    pub(super) id: Option<Id>,
    pub(super) pace: Pace,
    /// Their places, in the order of the lab file.
    nodes: BTreeSet<usize>,
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

impl Requests {
    /// Kernels in virtual time are told how often somebody wants to know of their connections.
    pub(super) fn watch_connections(&mut self, context: &Context<'_>) {
        let Driver::Virtual(time) = context.links.driver() else { return };
        let mut wanted: BTreeMap<usize, Duration> = BTreeMap::new();
        for feed in self.subscriptions.clients.values().filter_map(|feeds| feeds.tcp.as_ref()) {
            for node in &feed.nodes {
                let step = wanted.entry(*node).or_insert(feed.pace.every());
                *step = (*step).min(feed.pace.every());
            }
        }
        let before = std::mem::replace(&mut self.subscriptions.watched, wanted);
        let now = &self.subscriptions.watched;
        for node in before.keys().chain(now.keys()).filter(|node| before.get(node) != now.get(node)) {
            time.watch_tcp(&context.job.plan.nodes[*node].name, now.get(node).copied());
        }
    }

    /// Tells those clients of connections for whom a sample is due.
    pub(super) fn sample_connections(&mut self, context: &Context<'_>, programs: &mut Programs) {
        let now = context.links.now();
        let mut due: Vec<(ClientId, u64)> = Vec::new();
        let mut asked = BTreeSet::new();
        for (client, feeds) in &mut self.subscriptions.clients {
            let Some(feed) = feeds.tcp.as_mut().filter(|feed| feed.pace.is_due(now)) else { continue };
            if let Some(lost) = feed.pace.step(now, self.server.is_clear(*client)) {
                due.push((*client, lost));
                asked.extend(&feed.nodes);
            }
        }
        if due.is_empty() {
            return;
        }
        let known: BTreeMap<usize, NodeConnections> =
            asked.into_iter().filter_map(|place| Some((place, of_node(place, now, context, programs)?))).collect();
        let since_zero_ns = context.zero().map(|zero| now.since(zero).as_nanos());
        for (client, lost) in due {
            let Some(feed) = self.subscriptions.clients.get(&client).and_then(|feeds| feeds.tcp.as_ref()) else {
                continue;
            };
            let nodes = feed.nodes.iter().filter_map(|place| known.get(place).cloned()).collect();
            let sample = TcpSample { at_ns: now.as_nanos(), since_zero_ns, lost, nodes };
            self.server.tell(client, feed.id.as_ref(), &Event::Tcp(sample));
        }
    }
}

/// What is known of a node; none if it is nothing.
fn of_node(place: usize, now: Instant, context: &Context<'_>, programs: &mut Programs) -> Option<NodeConnections> {
    if programs.gone.contains(&place) {
        return None;
    }
    let node = context.job.plan.nodes[place].name.clone();
    let (at, state) = match context.links.driver() {
        Driver::Virtual(time) => time.connections(&node)?,
        Driver::Engine(_) => match programs.nodes[place].connections() {
            Ok(found) => {
                let (state, ago) = found?;
                (now - context.job.plan.clock.dilation().unwrap_or_default().to_lab(ago), state)
            }
            // If the node has died, that is noticed where its events are read.
            Err(error) => {
                let failure = Some(error.to_string());
                return Some(NodeConnections {
                    node,
                    at_ns: now.as_nanos(),
                    connections: Vec::new(),
                    left_out: 0,
                    failure,
                });
            }
        },
    };
    let TcpState { connections, left_out } = state;
    let connections = connections.iter().map(told).collect();
    Some(NodeConnections { node, at_ns: at.as_nanos(), connections, left_out, failure: None })
}

fn told(connection: &measure::TcpConnection) -> TcpConnection {
    TcpConnection {
        connection: connection.number(),
        local: connection.local().to_string(),
        remote: connection.remote().to_string(),
        congestion: connection.congestion().to_owned(),
        state: connection.state().to_owned(),
        ca_state: connection.ca_state().to_owned(),
        app_limited: connection.app_limited(),
        figures: connection.figures().map(|(name, value)| (name.to_owned(), value.into())).collect(),
    }
}
