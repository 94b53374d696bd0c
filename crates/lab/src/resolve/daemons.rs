//! Routing daemons: what runs on which router, and the configuration that follows from the plan.
//!
//! `daemons` becomes what a node has already: services of the timeline, and files with FRR's configuration. The paths
//! decide which routes stay static (`routing::dynamic`). The daemons run as the node's root, so they need no user
//! that an ordinary user's node lacks; FRR wants its group, which the node's `/etc/group` gets. `ready: converged` is
//! a condition of the service that loads the configuration: the node's agent reads its kernel's tables.

mod frr;
mod learning;
mod services;
#[cfg(test)]
mod tests;

pub(super) use learning::{Learned, Speakers};
pub(super) use services::entries;

use super::interfaces::Interface;
use crate::plan::{Action, Daemon, EndPlan, FileContents, FilePlan, NodeKind, NodePlan, Plan, ReadyWhen};
use crate::segments::Segment;
use crate::spec::{LinkSpec, RoutingSpec, Spec};
use frr::{Port, Router};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

/// All labels that 20 bits can say (RFC 3032).
const MOST_LABELS: &str = "1048575";

/// The ends of a segment, by their places in the plan.
pub(super) struct Neighborhood {
    cost: u32,
    pub(super) ends: Vec<EndPlan>,
}

impl Neighborhood {
    /// Its ends.
    pub(super) fn ends(&self) -> impl Iterator<Item = &EndPlan> {
        self.ends.iter()
    }
}

/// Who is beside whom, while segments are known.
pub(super) fn neighborhoods(segments: &[Segment<'_>], interfaces: &[Interface]) -> Vec<Neighborhood> {
    let one = |segment: &Segment<'_>| Neighborhood {
        cost: segment.cost,
        ends: segment.ends.iter().map(|station| interfaces[station.end.index()].at).collect(),
    };
    segments.iter().map(one).collect()
}

/// What the lab file says of the daemons of all nodes.
pub(super) fn take(spec: &mut Spec) -> Vec<RoutingSpec> {
    spec.nodes.iter_mut().map(|node| std::mem::take(&mut node.routing)).collect()
}

/// Gives the routers of a plan with interfaces and routes the files of their daemons.
pub(super) fn configure(
    plan: &mut Plan,
    routing: &[RoutingSpec],
    around: &[Neighborhood],
    links: &[LinkSpec],
    learned: &[Learned],
) {
    let speaks = |node: usize, daemon: Daemon| routing[node].daemons.contains(&daemon);
    let ids: Vec<Ipv4Addr> = (0..plan.nodes.len()).map(|node| id(plan, node)).collect();
    let rendezvous = (0..plan.nodes.len()).find(|node| speaks(*node, Daemon::Pim)).map(|node| ids[node]);
    let mut files: Vec<(usize, Vec<FilePlan>)> = Vec::new();
    for (node, own) in routing.iter().enumerate().filter(|(_, own)| !own.daemons.is_empty()) {
        let contents = own.configuration.clone().unwrap_or_else(|| {
            let router = Router {
                plan,
                routing,
                node,
                ids: &ids,
                rendezvous,
                learned: &learned[node],
                ports: ports(plan, node, around, links),
            };
            FileContents::Text(router.configuration())
        });
        files.push((node, files_of(own, contents)));
    }
    for (node, own) in files {
        let this = &mut plan.nodes[node];
        this.daemons.clone_from(&routing[node].daemons);
        this.overlay = true;
        if routing[node].daemons.contains(&Daemon::Ldp) {
            let settings = labels(this);
            this.sysctls.extend(settings);
        }
        if routing[node].daemons.contains(&Daemon::Static) {
            // It makes them.
            this.routes.clear();
        }
        this.files.extend(own);
        this.files.sort_by(|one, other| one.target.cmp(&other.target));
    }
    await_routes(plan, learned);
}

/// The kernel settings by which a router takes packets with labels, as far as the lab file does not say otherwise.
fn labels(node: &NodePlan) -> Vec<(String, String)> {
    let inputs = node.interfaces.iter().map(|own| (format!("net.mpls.conf.{}.input", own.name), "1"));
    let all = [("net.mpls.platform_labels".to_owned(), MOST_LABELS)].into_iter().chain(inputs);
    let is_said = |key: &String| node.sysctls.iter().any(|(said, _)| said == key);
    all.filter(|(key, _)| !is_said(key)).map(|(key, value)| (key, value.to_owned())).collect()
}

/// Says which routes are waited for; without any, nothing is.
fn await_routes(plan: &mut Plan, learned: &[Learned]) {
    for event in &mut plan.timeline {
        let Action::Run(run) = &mut event.action else { continue };
        if !run.ready.as_ref().is_some_and(|ready| matches!(ready.when, ReadyWhen::Routes(_))) {
            continue;
        }
        let prefixes = &learned[run.node].prefixes;
        if prefixes.is_empty() {
            run.ready = None;
        } else if let Some(ready) = &mut run.ready {
            ready.when = ReadyWhen::Routes(prefixes.clone());
        }
    }
}

/// What the router's daemons read, and where they put their sockets and state.
fn files_of(routing: &RoutingSpec, configuration: FileContents) -> Vec<FilePlan> {
    let file = |target: &str, contents: FileContents| FilePlan {
        line: routing.place.span.line,
        target: PathBuf::from(target),
        contents,
        keep: false,
        mode: None,
        owner: None,
    };
    if routing.is_bird {
        let folders = ["/etc/bird", "/run/bird"].map(|folder| file(folder, FileContents::Empty));
        return folders.into_iter().chain([file(services::BIRD_CONFIGURATION, configuration)]).collect();
    }
    let folders = ["/etc/frr", "/run/frr", "/var/tmp/frr"].map(|folder| file(folder, FileContents::Empty));
    let shell = FileContents::Text("service integrated-vtysh-config\n".to_owned());
    let files = [file("/etc/frr/frr.conf", configuration), file("/etc/frr/vtysh.conf", shell)];
    folders.into_iter().chain(files).collect()
}

/// A number that no other router of the lab has: its first IPv4 address, or one made of its place.
fn id(plan: &Plan, node: usize) -> Ipv4Addr {
    let mut addresses = plan.nodes[node].interfaces.iter().flat_map(|interface| &interface.addresses);
    let first = addresses.find_map(|net| if let IpAddr::V4(address) = net.addr() { Some(address) } else { None });
    first.unwrap_or_else(|| Ipv4Addr::from(u32::try_from(node + 1).unwrap_or(u32::MAX)))
}

/// The interfaces of a router as its daemons see them.
fn ports(plan: &Plan, node: usize, around: &[Neighborhood], links: &[LinkSpec]) -> Vec<Port> {
    let mut ports = Vec::new();
    for hood in around {
        let own = hood.ends.iter().filter(|end| end.node == node);
        ports.extend(own.map(|own| {
            let others: Vec<EndPlan> = hood.ends.iter().filter(|end| end.end != own.end).copied().collect();
            Port {
                place: own.interface,
                cost: hood.cost,
                area: links[own.end.link()].area,
                has_hosts: others.iter().any(|end| plan.nodes[end.node].kind == NodeKind::Host),
                others,
            }
        }));
    }
    ports.sort_by_key(|port| port.place);
    ports
}
