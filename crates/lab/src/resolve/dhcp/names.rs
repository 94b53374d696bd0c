//! Name servers: who asks which.

use super::{Dhcp, RESOLVER, add, file};
use crate::plan::{Action, FileContents, NodeKey, Plan};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

/// The C library asks no more (resolv.conf(5), MAXNS).
const MOST_ASKED: usize = 3;

/// Leads all nodes of the lab to its name servers, but those that are told of one by DHCP or have a file that names one. Services of the
/// file wait for them.
pub(super) fn tell(plan: &mut Plan, dhcp: &Dhcp) {
    let servers: Vec<usize> = (0..plan.nodes.len()).filter(|node| dhcp.names[*node].is_some()).collect();
    let mut running = BTreeMap::new();
    for (place, event) in plan.timeline.iter().enumerate() {
        let Action::Run(run) = &event.action else { continue };
        let is_server = matches!(run.key, Some(NodeKey::Dns | NodeKey::Dhcp)) && servers.contains(&run.node);
        running.extend(is_server.then_some((run.node, place)));
    }
    let mut awaited: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for node in 0..plan.nodes.len() {
        let known = asked(plan, dhcp, &servers, node);
        let Some((first, _)) = known.first() else { continue };
        let spec = dhcp.names[*first].as_ref();
        let domain = spec.and_then(|spec| spec.domain.as_deref());
        let text = resolver(known.iter().map(|(_, address)| *address), domain);
        let line = spec.map_or(0, |spec| spec.place.span.line);
        add(plan, node, [file(line, RESOLVER, FileContents::Text(text))]);
        awaited.insert(node, known.iter().filter_map(|(server, _)| running.get(server).copied()).collect());
    }
    for event in &mut plan.timeline {
        let Action::Run(run) = &mut event.action else { continue };
        if run.service && run.key.is_none() {
            run.after.extend(awaited.get(&run.node).into_iter().flatten());
        }
    }
}

/// The name servers that a node asks, each with the address that it is known by there: itself first.
fn asked(plan: &Plan, dhcp: &Dhcp, servers: &[usize], node: usize) -> Vec<(usize, IpAddr)> {
    let own = &plan.nodes[node];
    let is_asking = own.interfaces.iter().any(|interface| dhcp.clients.contains_key(&interface.end));
    let is_told = own.files.iter().any(|file| file.target == Path::new(RESOLVER));
    // A container that runs already keeps its files.
    let is_machine = own.kind.runs_programs() && own.kind.has_addresses() && own.container.is_none();
    if is_asking || is_told || !is_machine {
        return Vec::new();
    }
    let itself = servers.contains(&node).then_some((node, IpAddr::from(Ipv4Addr::LOCALHOST)));
    let others = servers.iter().filter(|server| **server != node).filter_map(|server| {
        let addresses = &plan.named(node, *server)?.addresses;
        let seen = addresses.iter().find(|net| !own.hidden.contains(&net.trunc()))?;
        Some((*server, seen.addr()))
    });
    itself.into_iter().chain(others).take(MOST_ASKED).collect()
}

/// What resolv.conf says.
pub(super) fn resolver(servers: impl IntoIterator<Item = IpAddr>, domain: Option<&str>) -> String {
    let mut text = String::new();
    for server in servers {
        writeln!(text, "nameserver {server}").expect("writing to a text cannot fail");
    }
    if let Some(domain) = domain {
        writeln!(text, "search {domain}").expect("writing to a text cannot fail");
    }
    text
}
