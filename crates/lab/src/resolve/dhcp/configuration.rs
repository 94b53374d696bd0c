//! What dnsmasq reads.

use super::programs::STATE;
use super::{Client, Served};
use crate::addressing::Family;
use crate::decode::dhcp::{DhcpSpec, DnsSpec};
use crate::plan::{InterfacePlan, Plan};
use ipnet::IpNet;
use netloom_units::Duration;
use std::fmt::Write;
use std::net::IpAddr;

/// Options of DHCP: a list of routes, which clients take in place of the one router (RFC 3442).
const ROUTES: u8 = 121;
/// More do not fit into an option of 255 bytes: each takes nine at most.
const MOST_ROUTES: usize = 28;
/// Leases beside those of the lab's own nodes.
const OTHER_LEASES: usize = 1_000;

/// The configuration of the dnsmasq of a node, which serves these links if it is a DHCP server, and is a name server of the lab if there
/// is something about that.
pub(super) fn text(
    plan: &Plan,
    node: usize,
    (spec, served): (Option<&DhcpSpec>, &[Served]),
    names: Option<&DnsSpec>,
) -> String {
    let own = &plan.nodes[node];
    let mut lines = vec![
        "# Netloom made this from the lab file.".to_owned(),
        "# It stays the node's root: in an ordinary user's lab there may be no other user.\nuser=\ngroup=".to_owned(),
        format!("pid-file={STATE}/dnsmasq.pid"),
        "log-facility=-".to_owned(),
    ];
    // The whole lab asks a name server, and those on its links a DHCP server.
    let listening = if names.is_some() { &[] } else { served };
    lines.extend(listening.iter().map(|link| format!("interface={}", own.interfaces[link.at.interface].name)));
    lines.push("# Names are those of /etc/hosts, and of clients that say one.".to_owned());
    lines.push("local=//".to_owned());
    if !own.interfaces.iter().any(|interface| !interface.leased.is_empty()) {
        lines.push(match &plan.internet {
            Some(internet) => {
                format!("# Names of the world are asked at the way out.\nno-resolv\nserver={}", internet.resolver)
            }
            None => "no-resolv\nlocal=/#/".to_owned(),
        });
    }
    let domain = names.and_then(|names| names.domain.as_ref()).or_else(|| spec?.domain.as_ref());
    if let Some(domain) = domain {
        lines.push(format!("domain={domain}\nlocal=/{domain}/\nexpand-hosts"));
    }
    let Some(spec) = spec else { return lines.join("\n") + "\n" };
    lines.push(format!("dhcp-leasefile={STATE}/leases"));
    // A server that knows that it is the only one answers at once, and asks nobody else who has an address.
    if served.iter().any(|served| served.prefix.is_some()) {
        lines.push("enable-ra".to_owned());
    }
    lines.push("dhcp-authoritative\nno-ping".to_owned());
    let clients: usize = served.iter().map(|served| served.clients.len()).sum();
    lines.push(format!("dhcp-lease-max={}", clients + OTHER_LEASES));
    let mut number = 0;
    for link in served {
        of_link(plan, spec, link, &mut number, &mut lines);
    }
    lines.join("\n") + "\n"
}

fn of_link(plan: &Plan, spec: &DhcpSpec, served: &Served, number: &mut usize, lines: &mut Vec<String>) {
    let at = &plan.nodes[served.at.node].interfaces[served.at.interface];
    let lease = spec.lease.as_nanos() / 1_000_000_000;
    if let Some(net) = served.net {
        let mask = net.netmask();
        lines.push(format!("# {} of {}", net.trunc(), at.name));
        if served.pools.is_empty() {
            lines.push(format!("dhcp-range={},static,{mask},{lease}", net.network()));
        }
        lines.extend(served.pools.iter().map(|[first, last]| format!("dhcp-range={first},{last},{mask},{lease}")));
    }
    lines.extend(
        served.prefix.map(|prefix| format!("dhcp-range={},ra-only,{},{lease}", prefix.network(), prefix.prefix_len())),
    );
    if let Some(interval) = served.prefix.and(interval(spec.lease)) {
        lines.push(format!("ra-param={},{interval},{lease}", at.name));
    }
    let Some(net) = served.net else { return lines.extend(advised(at, served)) };
    let told = |code: &str, address: Option<IpAddr>| {
        let value = address.map_or_else(String::new, |address| format!(",{address}"));
        format!("dhcp-option=tag:{},option:{code}{value}", at.name)
    };
    lines.push(told("dns-server", served.dns));
    let is_router = plan.nodes[served.at.node].kind.forwards();
    if let Some(router) = served.router {
        lines.push(told("router", router.map(IpAddr::from)));
    } else {
        let other = told("router", is_router.then_some(net.addr().into()));
        lines.push(other.replacen("tag:", "tag:!known,tag:", 1));
    }
    for client in &served.clients {
        *number += 1;
        let tag = format!("client{number}");
        lines.push(host(plan, client, &tag));
        if served.router.is_none() {
            lines.push(routes(plan, client, &tag));
        }
    }
}

/// How often a router advertises what is to be believed for a time, in seconds, if that is more often than dnsmasq does it by itself.
fn interval(lease: Duration) -> Option<u64> {
    const USUAL: u64 = 600;
    let third = lease.as_nanos() / 3_000_000_000;
    (third < USUAL).then_some(third)
}

/// What an advertisement says of name servers (RFC 8106).
fn advised(at: &InterfacePlan, served: &Served) -> Option<String> {
    Some(format!("dhcp-option=tag:{},option6:dns-server,[{}]", at.name, served.dns?))
}

/// Who gets which address. A node has its name by its first interface.
fn host(plan: &Plan, client: &Client, tag: &str) -> String {
    let node = &plan.nodes[client.at.node];
    let own = &node.interfaces[client.at.interface];
    let mac = own.mac.map(|byte| format!("{byte:02x}")).join(":");
    let mut line = format!("dhcp-host={mac},set:{tag}");
    if let Some(address) = client.address {
        write!(line, ",{address}").expect("writing to a text cannot fail");
    }
    let first = node.interfaces.iter().position(|interface| !interface.leased.is_empty());
    if first == Some(client.at.interface) {
        write!(line, ",{}", node.name).expect("writing to a text cannot fail");
    }
    line
}

/// The routes of IPv4 that the plan leads out of the client's interface.
fn routes(plan: &Plan, client: &Client, tag: &str) -> String {
    let node = &plan.nodes[client.at.node];
    let everything = Family::V4.everything();
    let v4 = || node.routes.iter().filter(|route| route.via.is_ipv4());
    let mut own: Vec<(IpNet, IpAddr)> = Vec::new();
    for route in v4().filter(|route| route.interface == client.at.interface) {
        // A client takes one way to each destination.
        if own.last().is_none_or(|(last, _)| *last != route.destination) {
            own.push((route.destination, route.via));
        }
    }
    let Some((_, via)) = own.first().copied() else { return format!("dhcp-option=tag:{tag},option:router") };
    let is_elsewhere = v4().any(|route| route.interface != client.at.interface && route.destination == everything);
    let is_shared = own.iter().all(|(_, other)| *other == via) && !is_elsewhere;
    if is_shared || own.len() > MOST_ROUTES {
        return format!("dhcp-option=tag:{tag},option:router,{via}");
    }
    let routes: Vec<String> = own.iter().map(|(destination, next)| format!("{destination},{next}")).collect();
    format!("dhcp-option=tag:{tag},{ROUTES},{}", routes.join(","))
}
