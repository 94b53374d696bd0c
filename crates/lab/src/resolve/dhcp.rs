//! DHCP and DNS: who asks whom for addresses and for names, and what servers and clients read.
//!
//! A node that asks has an address in the plan as all others have: that is what routes, names and neighbours are made of, and
//! what its server reserves for its hardware address. What the plan says of it in its kernel is left to its client.
//!
//! The interface is marked as leased: its address or route in the plan is left to the client. Servers and clients are
//! services of the timeline and files of their nodes, as routing daemons are. A script finds out in the node which
//! client there is (`client.sh`), and another applies leases (`lease.sh`). Where a router advertises itself,
//! addresses of IPv6 are computed as the clients' kernels will compute them (`addressing::slaac`). The watch over the
//! node's network reports lost addresses. `dns` runs the same dnsmasq without ranges, and all nodes reach it by
//! `/etc/resolv.conf` (`names`).

mod configuration;
mod names;
mod programs;
mod scene;
#[cfg(test)]
mod tests;

pub(super) use programs::entries;

use super::daemons::Neighborhood;
use crate::addressing::made_of;
use crate::decode::dhcp::{DhcpSpec, DnsSpec};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, LeftOut};
use crate::plan::{
    Action, Argv, End, EndPlan, FileContents, FilePlan, InterfacePlan, NodeKey, NodePlan, Plan, ReadyWhen,
};
use crate::spec::{LinkSpec, Spec};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use programs::{ASK, CLIENT, CONFIGURATION, DHCLIENT, LEASE, STATE};
use scene::Scene;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

/// The name servers of a node.
const RESOLVER: &str = "/etc/resolv.conf";

/// What the lab file says of DHCP.
pub(super) struct Dhcp {
    /// By node.
    servers: Vec<Option<DhcpSpec>>,
    /// Name servers, by node.
    names: Vec<Option<DnsSpec>>,
    clients: BTreeMap<End, Spanned<()>>,
}

/// What a server does on one of its links.
struct Served {
    /// Its own end.
    at: EndPlan,
    /// Its own address of IPv4, from whose subnet it lends others; without one it only advertises.
    net: Option<Ipv4Net>,
    /// What of IPv6 it advertises.
    prefix: Option<Ipv6Net>,
    /// From the first to the last address for those who have none reserved.
    pools: Vec<[Ipv4Addr; 2]>,
    clients: Vec<Client>,
    router: Option<Option<Ipv4Addr>>,
    dns: Option<IpAddr>,
}

/// Somebody who asks.
struct Client {
    at: EndPlan,
    /// The address that is reserved.
    address: Option<Ipv4Addr>,
}

/// What servers do.
pub(super) struct Lending {
    dhcp: Dhcp,
    /// By server, in the order of its links.
    served: BTreeMap<usize, Vec<Served>>,
}

/// What the lab file says, taken from it.
pub(super) fn take(spec: &mut Spec) -> Dhcp {
    let clients = programs::asking(spec);
    let (servers, names) = spec.nodes.iter_mut().map(|node| (node.dhcp.take(), node.dns.take())).unzip();
    Dhcp { servers, names, clients }
}

/// Finds who serves whom in a plan with interfaces and routes. Addresses that servers choose are in the plan no more.
pub(super) fn settle(
    plan: &mut Plan,
    dhcp: Dhcp,
    (around, links): (&[Neighborhood], &[LinkSpec]),
    left_out: &LeftOut,
    errors: &mut Errors,
) -> Lending {
    let mut served: BTreeMap<usize, Vec<Served>> = BTreeMap::new();
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for hood in around {
        let scene = Scene { plan, dhcp: &dhcp, links, hood, left_out };
        let own = scene.look(&mut known, &mut found);
        if let Some(own) = own {
            served.entry(own.at.node).or_default().push(own);
        }
    }
    if found.is_empty() && errors.is_empty() {
        found.extend(idle(plan, &dhcp, &known));
    }
    found.extend(served.iter().filter_map(|(server, own)| about_nothing(plan, &dhcp, *server, own)));
    errors.extend(found);
    for (own, client) in served.values().flatten().flat_map(|own| own.clients.iter().map(move |client| (own, client))) {
        let prefix = own.prefix.filter(|prefix| makes_address(plan, client, *prefix));
        let InterfacePlan { leased, lender, .. } = &mut plan.nodes[client.at.node].interfaces[client.at.interface];
        *lender = Some(own.at.end);
        leased.extend(own.net.map(|net| IpNet::from(net.trunc())));
        leased.extend(prefix.map(IpNet::from));
    }
    for own in served.values().flatten().filter(|own| !is_reserving(&dhcp, own)) {
        let hood = around.iter().find(|hood| hood.ends().any(|end| end.end == own.at.end));
        forget(plan, own, hood.into_iter().flat_map(Neighborhood::ends));
    }
    Lending { dhcp, served }
}

/// Whether a client makes its address of this prefix: one that the file gives is set as everywhere.
fn makes_address(plan: &Plan, client: &Client, prefix: Ipv6Net) -> bool {
    let own = &plan.nodes[client.at.node].interfaces[client.at.interface];
    own.addresses.iter().any(|net| net.addr() == made_of(prefix, own.mac))
}

fn is_reserving(dhcp: &Dhcp, served: &Served) -> bool {
    dhcp.servers[served.at.node].as_ref().is_none_or(|server| server.reserve)
}

/// What is wrong, in a lab in which nothing else is, with servers of nobody, and with links that they are to serve and do not have.
fn idle(plan: &Plan, dhcp: &Dhcp, known: &BTreeSet<(usize, String)>) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for (node, spec) in dhcp.servers.iter().enumerate().filter_map(|(node, spec)| Some((node, spec.as_ref()?))) {
        let name = &plan.nodes[node].name;
        for link in spec.links.iter().filter(|link| !known.contains(&(node, link.value.clone()))) {
            wrong.push(link.error(format!("`{name}` has no link `{}` on which it could serve", link.value)));
        }
        if spec.links.is_empty() && !known.iter().any(|(own, _)| *own == node) {
            wrong.push(spec.place.error(format!(
                "nobody asks `{name}` for an address: write `addresses: dhcp` at a node on one of its links, or name `links`"
            )));
        }
    }
    wrong
}

/// What is wrong with a server that has only IPv6 where it serves, and settings of IPv4.
fn about_nothing(plan: &Plan, dhcp: &Dhcp, server: usize, served: &[Served]) -> Option<Diagnostic> {
    let spec = dhcp.servers[server].as_ref().filter(|_| served.iter().all(|own| own.net.is_none()))?;
    let is_said = !spec.reserve || spec.range.is_some() || spec.router.is_some();
    let message = format!(
        "`reserve`, `range` and `router` are about IPv4, which `{}` does not have where it serves: leave them out",
        plan.nodes[server].name
    );
    is_said.then(|| spec.place.error(message))
}

/// Takes the addresses that a server chooses from the plan.
fn forget<'a>(plan: &mut Plan, served: &Served, ends: impl Iterator<Item = &'a EndPlan>) {
    let mut gone = BTreeSet::new();
    for client in &served.clients {
        let own = &mut plan.nodes[client.at.node].interfaces[client.at.interface];
        gone.extend(own.addresses.extract_if(.., |net| net.addr().is_ipv4()).map(|net| net.addr()));
    }
    for end in ends {
        let own = &mut plan.nodes[end.node].interfaces[end.interface];
        own.neighbors.retain(|(address, _)| !gone.contains(address));
    }
}

/// Gives servers and clients their files, and clients their interfaces.
pub(super) fn configure(plan: &mut Plan, lending: &Lending, errors: &mut Errors) {
    for node in 0..plan.nodes.len() {
        let served = lending.served.get(&node).map_or(&[][..], Vec::as_slice);
        let spec = lending.dhcp.servers[node].as_ref().filter(|_| !served.is_empty());
        let names = lending.dhcp.names[node].as_ref();
        let places = [spec.map(|spec| ("dhcp", &spec.place)), names.map(|names| ("dns", &names.place))];
        let Some((key, place)) = places.into_iter().flatten().next() else { continue };
        if plan.nodes[node]
            .files
            .iter()
            .any(|file| file.target == Path::new(CONFIGURATION) || file.target.starts_with(STATE))
        {
            errors.push(place.error(format!(
                "`files` has {CONFIGURATION} or {STATE}, which belong to `{key}`: leave them out there"
            )));
        }
        let text = configuration::text(plan, node, (spec, served), names);
        let file = |target, contents| file(place.span.line, target, contents);
        add(plan, node, [file(STATE, FileContents::Empty), file(CONFIGURATION, FileContents::Text(text))]);
    }
    // By node, in the order of their interfaces.
    let mut asking: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    names::tell(plan, &lending.dhcp);
    let clients = lending.served.iter().flat_map(|(server, own)| own.iter().map(move |own| (*server, own)));
    for (server, client) in clients.flat_map(|(server, own)| own.clients.iter().map(move |client| (server, client))) {
        asking.entry(client.at.node).or_default().push((client.at.interface, server));
    }
    // A machine that nobody gets into asks by itself.
    asking.retain(|node, _| plan.nodes[*node].takes_commands());
    asking.values_mut().for_each(|own| own.sort_unstable());
    for (node, interfaces) in &asking {
        let place = interfaces.first().map(|(interface, _)| plan.nodes[*node].interfaces[*interface].end);
        let line = place.and_then(|end| lending.dhcp.clients.get(&end)).map_or(0, |place| place.span.line);
        let text = |target: &str, text: &str| file(line, target, FileContents::Text(text.to_owned()));
        let mut own = vec![
            file(line, CLIENT, FileContents::Empty),
            text(&format!("{CLIENT}/ask"), ASK),
            FilePlan { mode: Some(0o755), ..text(&format!("{CLIENT}/lease"), LEASE) },
            text(&format!("{CLIENT}/dhclient.conf"), DHCLIENT),
        ];
        let (made, settings) = listening(&plan.nodes[*node]);
        own.extend(made.into_iter().map(|(target, contents)| text(&target, &contents)));
        own.extend(advised(plan, lending, *node).into_iter().map(|(target, contents)| text(&target, &contents)));
        plan.nodes[*node].sysctls.extend(settings);
        if !plan.nodes[*node].files.iter().any(|file| file.target == Path::new(RESOLVER)) {
            own.extend([text(RESOLVER, ""), text(&format!("{CLIENT}/resolver"), "")]);
        }
        add(plan, *node, own);
    }
    start(plan, &asking);
}

/// The name servers of interfaces that have only IPv6, as resolv.conf has them: no lease tells them.
fn advised(plan: &Plan, lending: &Lending, node: usize) -> Pairs {
    let served = lending.served.iter().flat_map(|(server, own)| own.iter().map(move |own| (*server, own)));
    let of_node = served.filter(|(_, own)| own.net.is_none()).flat_map(|(server, own)| {
        own.clients
            .iter()
            .filter(move |client| client.at.node == node)
            .map(move |client| (server, own, client.at.interface))
    });
    let file = |(server, own, interface): (usize, &Served, usize)| {
        let domain = lending.dhcp.servers[server].as_ref().and_then(|spec| spec.domain.as_deref());
        let name = &plan.nodes[node].interfaces[interface].name;
        (format!("{CLIENT}/{name}.names"), names::resolver(own.dns, domain))
    };
    of_node.map(file).collect()
}

/// Names with what they stand for.
type Pairs = Vec<(String, String)>;

/// What a node has to know to make addresses of IPv6: for each interface that does, a file with the address as /proc/net/if_inet6
/// has it, and kernel settings as far as the lab file does not say otherwise. It asks for an advertisement each second until one comes.
fn listening(node: &NodePlan) -> (Pairs, Pairs) {
    let made = |own: &InterfacePlan| {
        let mut leased = own.addresses.iter().filter(|net| own.is_leased(net.addr()));
        leased.find_map(|net| if let IpAddr::V6(address) = net.addr() { Some(address) } else { None })
    };
    let listening: Vec<(&InterfacePlan, Ipv6Addr)> =
        node.interfaces.iter().filter_map(|own| Some((own, made(own)?))).collect();
    let file = |(own, address): &(&InterfacePlan, Ipv6Addr)| {
        (format!("{CLIENT}/{}.made", own.name), format!("{:032x}\n", address.to_bits()))
    };
    // A router listens only if it is told so twice.
    let accept = if node.kind.forwards() { "2" } else { "1" };
    let values = [
        ("accept_ra", accept),
        ("autoconf", "1"),
        ("addr_gen_mode", "0"),
        ("use_tempaddr", "0"),
        ("router_solicitations", "-1"),
        ("router_solicitation_interval", "1"),
        ("router_solicitation_max_interval", "1"),
    ];
    let setting = |(own, _): &(&InterfacePlan, Ipv6Addr)| {
        // In the names of settings a slash stands for a dot.
        let name = own.name.replace('.', "/");
        values.map(|(key, value)| (format!("net.ipv6.conf.{name}.{key}"), value.to_owned()))
    };
    let is_said = |key: &String| node.sysctls.iter().any(|(said, _)| said == key);
    let settings = listening.iter().flat_map(setting).filter(|(key, _)| !is_said(key)).collect();
    (listening.iter().map(file).collect(), settings)
}

fn file(line: usize, target: &str, contents: FileContents) -> FilePlan {
    FilePlan { line, target: PathBuf::from(target), contents, keep: false, mode: None, owner: None }
}

fn add(plan: &mut Plan, node: usize, files: impl IntoIterator<Item = FilePlan>) {
    let node = &mut plan.nodes[node];
    node.overlay = true;
    node.files.extend(files);
    node.files.sort_by(|one, other| one.target.cmp(&other.target));
}

/// Says for which interface each client asks, and after which server. Other services of its node wait for it.
fn start(plan: &mut Plan, asking: &BTreeMap<usize, Vec<(usize, usize)>>) {
    let down: BTreeSet<usize> = plan
        .timeline
        .iter()
        .filter(|event| event.at.is_none())
        .filter_map(|event| match &event.action {
            Action::Down { part, .. } if part.direction.is_none() && part.pipe.is_none() => Some(part.link),
            _ => None,
        })
        .collect();
    let mut servers = BTreeMap::new();
    let mut waiting: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, event) in plan.timeline.iter().enumerate() {
        let Action::Run(run) = &event.action else { continue };
        match run.key {
            Some(NodeKey::Dhcp) => drop(servers.insert(run.node, place)),
            Some(NodeKey::Addresses) => waiting.entry(run.node).or_default().push(place),
            _ => {}
        }
    }
    for (place, event) in plan.timeline.iter_mut().enumerate() {
        let Action::Run(run) = &mut event.action else { continue };
        let Some(own) = waiting.get(&run.node) else { continue };
        if run.key == Some(NodeKey::Addresses) {
            let number = own.iter().position(|other| *other == place);
            let found = number.and_then(|number| asking.get(&run.node)?.get(number));
            let Some((interface, server)) = found else { continue };
            let interface = &plan.nodes[run.node].interfaces[*interface];
            let path = format!("{CLIENT}/ask");
            let mut words = ["sh", &path, &interface.name].map(str::to_owned).to_vec();
            words.extend(interface.leased.iter().all(|net| net.addr().is_ipv6()).then(|| "advertised".to_owned()));
            run.command = Argv::Exec(words);
            run.after.extend(servers.get(server));
            match &mut run.ready {
                // It asks until it is joined.
                _ if down.contains(&interface.end.link()) => run.ready = None,
                Some(ready) => ready.when = ReadyWhen::Lease(format!("{CLIENT}/{}.lease", interface.name)),
                None => {}
            }
        } else if run.service && run.key != Some(NodeKey::Dhcp) {
            run.after.extend(own);
        }
    }
}
