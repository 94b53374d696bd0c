//! The TCP connections of nodes.

use crate::session::context::Context;
use crate::session::programs::Programs;
use crate::session::requests::state::Requests;
use netloom_control::{ClientId, Event, NodeConnections, TcpConnection, TcpSample};
use netloom_host::measure::{self, TcpState};
use netloom_provision::driver::Driver;
use netloom_units::{Duration, Instant};
use std::collections::{BTreeMap, BTreeSet};

impl Requests {
    /// Kernels in virtual time learn how often somebody wants to know of their connections.
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
            self.server.report(client, feed.id.as_ref(), &Event::Tcp(sample));
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
