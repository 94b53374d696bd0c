//! What is there and what is in force in a lab, for clients that draw it.

use crate::session::context::Context;
use crate::session::programs::Programs;
use netloom_control::{End, ExposedPort, Interface, Link, Node, NodeState, Now, Pipe, Topology};
use netloom_lab::{InterfacePlan, LinkPlan, NodePlan, Plan, fault_refusals, mac_text, settings_of};
use netloom_provision::driver::Driver;
use netloom_units::{Dilation, Duration};

/// The network as it is now.
pub(super) fn topology(context: &Context<'_>, programs: &Programs) -> Topology {
    let plan = &context.job.plan;
    let now = context.links.now();
    let mut links: Vec<Link> = plan.links.iter().map(|link| bare(plan, link)).collect();
    for state in context.links.pipes() {
        links[state.place.link].pipes.push(Pipe {
            direction: state.place.direction.to_string(),
            pipe: state.place.pipe.clone(),
            up: state.is_up(),
            settings: settings_of(&state.config),
        });
    }
    let exposed = |node: &NodePlan| -> Vec<ExposedPort> {
        let port = |one: &netloom_lab::ExposePlan| ExposedPort {
            port: one.port,
            udp: one.udp,
            node: node.name.clone(),
            to: one.to,
        };
        node.expose.iter().map(port).collect()
    };
    Topology {
        nodes: (0..plan.nodes.len()).map(|number| node(plan, number, programs.shown_state(number))).collect(),
        links,
        exposed: plan.nodes.iter().flat_map(exposed).collect(),
        services: programs.commands.iter().filter_map(|command| command.service(now)).collect(),
    }
}

/// What time it is.
pub(super) fn now(context: &Context<'_>, paused: bool) -> Now {
    let at = context.links.now();
    let clock = context.job.plan.clock;
    Now {
        at_ns: at.as_nanos(),
        since_zero_ns: context.zero().map(|zero| at.since(zero)).map(Duration::as_nanos),
        clock: clock.name().into(),
        paused,
        dilation: clock.dilation().map(Dilation::as_f64),
        stalled: match context.links.driver() {
            Driver::Virtual(time) => time.stall(),
            Driver::Engine(_) => None,
        },
    }
}

fn node(plan: &Plan, number: usize, state: NodeState) -> Node {
    let node = &plan.nodes[number];
    let interface = |one: &InterfacePlan| Interface {
        name: one.name.clone(),
        link: plan.links[one.end.link()].name.clone(),
        mac: mac_text(one.mac),
        mtu_bytes: one.mtu,
        addresses: one.addresses.iter().map(ToString::to_string).collect(),
    };
    Node {
        name: node.name.clone(),
        kind: node.kind.name().into(),
        stack: node.stack.name().into(),
        state,
        faults: fault_refusals(plan, number).map(|(kind, why)| (kind.to_owned(), why)).collect(),
        interfaces: node.interfaces.iter().map(interface).collect(),
    }
}

/// A link without its pipes.
fn bare(plan: &Plan, link: &LinkPlan) -> Link {
    let end = |end: &netloom_lab::EndPlan| {
        let node = &plan.nodes[end.node];
        End { node: node.name.clone(), interface: node.interfaces[end.interface].name.clone() }
    };
    Link {
        name: link.name.clone(),
        ends: link.ends.iter().map(end).collect(),
        mtu_bytes: link.mtu,
        joined_in_kernel: link.bypass.is_joined(),
        pipes: Vec::new(),
    }
}
