//! The configuration of machines that a shell sets up: addresses, routes, and what leaves by which interface.

use crate::quantity::{spelled_duration, spelled_rate};
use netloom_lab::{LinkPlan, NodeKind, NodePlan, Plan, settings_of};
use netloom_units::Duration;
use serde_json::Value;
use std::collections::BTreeSet;

/// What other tools call a machine or a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Device {
    Host,
    Router,
    Switch,
}

/// The device that a node is.
pub(super) fn device(node: &NodePlan) -> Device {
    match node.kind {
        NodeKind::Host | NodeKind::External | NodeKind::Tunnel | NodeKind::Outside => Device::Host,
        NodeKind::Router | NodeKind::Transit | NodeKind::Internet => Device::Router,
        NodeKind::Switch | NodeKind::Hub | NodeKind::OpenFlow => Device::Switch,
    }
}

/// An end of a link: the number of its node, and which of the node's interfaces it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Port {
    pub(super) node: usize,
    pub(super) interface: usize,
}

/// The ports of each link, in its order of ends.
pub(super) fn ports(plan: &Plan) -> Vec<Vec<Port>> {
    let mut next = vec![0; plan.nodes.len()];
    let mut ports = Vec::new();
    for link in &plan.links {
        let of_link = link.ends.iter().map(|end| {
            let interface = next[end.node];
            next[end.node] += 1;
            Port { node: end.node, interface }
        });
        ports.push(of_link.collect());
    }
    ports
}

/// The commands that give a node its addresses and routes; `name` tells what its interfaces are called.
pub(super) fn commands(node: &NodePlan, name: impl Fn(usize) -> String) -> Vec<String> {
    let mut commands = Vec::new();
    if device(node) == Device::Router {
        commands.push("sysctl -w net.ipv4.ip_forward=1".to_owned());
        commands.push("sysctl -w net.ipv6.conf.all.forwarding=1".to_owned());
    }
    for (number, interface) in node.interfaces.iter().enumerate() {
        if interface.mtu != 1_500 {
            commands.push(format!("ip link set dev {} mtu {}", name(number), interface.mtu));
        }
        commands.push(format!("ip link set dev {} up", name(number)));
        for address in &interface.addresses {
            commands.push(format!("ip addr add {address} dev {}", name(number)));
        }
    }
    for (number, route) in node.routes.iter().enumerate() {
        // Of several next hops, the first.
        if number > 0 && node.routes[number - 1].destination == route.destination {
            continue;
        }
        commands.push(format!("ip route add {} via {} dev {}", route.destination, route.via, name(route.interface)));
    }
    commands
}

/// What a direction of a link does, as far as netem has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) bits_per_second: Option<u64>,
    /// The mean delay.
    pub(super) delay: Option<Duration>,
    /// How far it is spread, and whether as a normal distribution.
    pub(super) spread: Option<(Duration, bool)>,
    /// In percent.
    pub(super) loss: Option<String>,
    /// In packets.
    pub(super) limit: Option<u64>,
}

/// What the direction with this number does. The keys that netem has in another way or not at all are added to `left`.
pub(super) fn shape(link: &LinkPlan, direction: usize, left: &mut BTreeSet<String>) -> Shape {
    let mut shape = Shape::default();
    for (key, value) in settings_of(&link.pipes[direction]) {
        let text = value.as_str().unwrap_or_default();
        let is_read = match key.as_str() {
            "rate" => {
                shape.bits_per_second = spelled_rate(text).map(|rate| rate.value.as_bits_per_second());
                shape.bits_per_second.is_some()
            }
            "delay" => {
                (shape.delay, shape.spread) = delay(&value);
                shape.delay.is_some()
            }
            "loss" => {
                shape.loss = text.strip_suffix('%').map(|share| share.trim().to_owned());
                shape.loss.is_some()
            }
            "queue" => {
                shape.limit = text.strip_suffix("packets").and_then(|count| count.trim().parse().ok());
                shape.limit.is_some()
            }
            _ => false,
        };
        if !is_read {
            left.insert(if text.is_empty() { format!("{key}: {}", kind(&value)) } else { format!("{key}: {text}") });
        }
    }
    shape
}

/// A constant delay, or one of the two distributions that netem knows without a table of one's own.
fn delay(value: &Value) -> (Option<Duration>, Option<(Duration, bool)>) {
    let time = |key: &str| {
        let said = value.get(key)?;
        let text = said.as_str().map_or_else(|| said.to_string(), str::to_owned);
        if text == "0" { Some(Duration::ZERO) } else { spelled_duration(&text).map(|span| span.value) }
    };
    if let Some(text) = value.as_str() {
        return (spelled_duration(text).map(|span| span.value), None);
    }
    let is_plain = value.as_object().is_some_and(|keys| keys.len() == 3);
    match kind(value) {
        "normal" if is_plain => (time("mean"), time("deviation").map(|deviation| (deviation, true))),
        "uniform" if is_plain => match (time("from"), time("to")) {
            (Some(from), Some(to)) => {
                let half = (to - from).as_nanos() / 2;
                (Some(from + Duration::from_nanos(half)), Some((Duration::from_nanos(half), false)))
            }
            _ => (None, None),
        },
        _ => (None, None),
    }
}

fn kind(value: &Value) -> &str {
    value.get("kind").and_then(Value::as_str).unwrap_or("a kind of its own")
}

/// A time as tc reads it, to the nanosecond.
pub(super) fn microseconds(span: Duration) -> String {
    let (whole, rest) = (span.as_nanos() / 1_000, span.as_nanos() % 1_000);
    let digits = format!("{whole}.{rest:03}");
    format!("{}us", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// What both tools leave out, or have in another way.
pub(super) fn left_out(plan: &Plan, shapes: &BTreeSet<String>) -> Vec<String> {
    let mut found: Vec<String> = shapes.iter().map(|one| format!("left out: of links, {one}")).collect();
    let any = |kind: NodeKind| plan.nodes.iter().any(|node| node.kind == kind);
    let are = [
        (any(NodeKind::Transit), "transit routers are ordinary routers, which take time of their own"),
        (any(NodeKind::Internet), "the way out into this machine's network is an ordinary router, and leads nowhere"),
        (any(NodeKind::Hub), "hubs are switches"),
        (
            any(NodeKind::OpenFlow),
            "OpenFlow switches are ordinary ones, and the links to their controllers are ports, too",
        ),
        (any(NodeKind::External), "external interfaces are hosts"),
        (any(NodeKind::Tunnel), "tunnels are hosts"),
        (plan.nodes.iter().any(|node| node.ecmp), "of several next hops, nodes take the first"),
        (plan.links.iter().any(|link| link.is_shared), "shared media are switches, with a link for each end"),
        (plan.nodes.iter().any(|node| !node.daemons.is_empty()), "routing daemons are not started: routes are static"),
    ];
    found.extend(are.into_iter().filter(|(is, _)| *is).map(|(_, what)| format!("otherwise: {what}")));
    found.push("otherwise: neighbours are learned, and queues of netem count packets on their way, too".to_owned());
    found.push("left out: hardware addresses, settings and files of nodes".to_owned());
    found
}
