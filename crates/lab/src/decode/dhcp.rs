//! DHCP servers and who asks them, and name servers.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::forms::{LinkName, OneOrMore, OrFlag, Said, forms};
use crate::keyed::sections;
use crate::names::wrong_node_name;
use crate::scalar::{duration, filled};
use crate::section::{Form, Kind};
use crate::yaml::{Content, Node};
use netloom_units::Duration;
use std::net::Ipv4Addr;

/// A DHCP server, or none.
pub(crate) type DhcpServer = OrFlag<DhcpSpec>;
/// A name server, or none.
pub(crate) type NameServer = OrFlag<DnsSpec>;

forms! {
    pub(crate) struct Lease = Duration, Duration::KIND, lease;
    pub(crate) struct Domain = String, Kind::Text("^[a-zA-Z0-9][a-zA-Z0-9.-]{0,62}$"), domain;
    /// A node, an address, or nobody.
    pub(crate) struct Target = Spanned<TargetSpec>, Kind::Text("^[a-zA-Z0-9.-]{1,31}$"), target;
    /// The first and the last address of several.
    pub(crate) struct Range = Spanned<[Ipv4Addr; 2]>, Kind::pair(&Ipv4Addr::KIND), noting range;
    Ipv4Addr = Self, Kind::Text("^[0-9]{1,3}(\\.[0-9]{1,3}){3}$"), address;
}

sections! {
    /// A node's name server, which knows the names of the lab.
    #[derive(Debug)]
    pub(crate) struct DnsSpec = "dns" {
        at place;
        /// The domain of the lab's names, in which those who ask look for names without a dot. Default: none.
        domain: Domain, "home";
    }

    /// A node's DHCP server, which answers questions for names, too.
    #[derive(Clone, Debug)]
    pub(crate) struct DhcpSpec = "dhcp" {
        at place;
        /// The link, or those, that it serves. Default: those of its links where somebody asks.
        links: OneOrMore<LinkName>, "lan" else Vec::new();
        /// Whether each node of the lab that asks gets the address that the plan has for it. Default: true; else it gets any of the range,
        /// and has no name in /etc/hosts.
        reserve: bool, "false" else true;
        /// The first and the last address for those who have none reserved. Default: none; without `reserve` all addresses of the subnet
        /// that no other node has.
        range: Range, "[10.0.0.4, 10.0.0.6]";
        /// For how long an address is lent: 2 min or more. Default: 1 h.
        lease: Lease, "10 min" else USUAL_LEASE;
        /// Whether a router advertises itself and its prefix of IPv6, too, so that its clients get their addresses and their default route
        /// of IPv6 from that (SLAAC, RFC 4862). Default: false.
        advertise: Said, "true" else None;
        /// The router that clients get: a node, an address, or none. Default: the routes that the plan has for each.
        router: Target, "r1";
        /// The name server that clients get: a node, an address, or none. Default: this node.
        dns: Target, "none";
        /// The domain of the lab's names, in which those who ask look for names without a dot. Default: none.
        domain: Domain, "home";
    }
}

const USUAL_LEASE: Duration = Duration::from_secs(3_600);
/// dnsmasq assigns addresses for no shorter time (dnsmasq(8), `--dhcp-range`).
const LEAST_LEASE: Duration = Duration::from_secs(120);
/// A longer one does not fit into 32 bits, where the highest number means for ever (RFC 2132, section 9.2).
const MOST_LEASE: Duration = Duration::from_secs(u32::MAX as u64 - 1);

/// Whom a DHCP server names to its clients.
#[derive(Clone, Debug)]
pub(crate) enum TargetSpec {
    Nobody,
    Address(Ipv4Addr),
    Node(String),
}

fn lease(node: &Node) -> Result<Duration, Diagnostic> {
    let lease = duration(node)?;
    if lease.as_nanos() % 1_000_000_000 != 0 {
        return Err(node.error("DHCP counts in seconds: write whole ones"));
    }
    if lease < LEAST_LEASE || lease > MOST_LEASE {
        return Err(node.error(format!("dnsmasq assigns addresses for {LEAST_LEASE} or more: write for example 1 h")));
    }
    Ok(lease)
}

fn range(node: &Node, errors: &mut Errors) -> Option<Spanned<[Ipv4Addr; 2]>> {
    let Content::List(items) = &node.content else {
        return errors.reject(node.expected("the first and the last address, for example [10.0.0.100, 10.0.0.199]"));
    };
    let ends: Vec<Option<Ipv4Addr>> = items.iter().map(|item| Ipv4Addr::read(item, errors)).collect();
    let ends: Vec<Ipv4Addr> = ends.into_iter().collect::<Option<_>>()?;
    let Ok([first, last]) = <[Ipv4Addr; 2]>::try_from(ends) else {
        return errors.reject(
            node.error("a range has two addresses, its first and its last: for example [10.0.0.100, 10.0.0.199]"),
        );
    };
    if first > last {
        return errors.reject(node.error(format!("the first address comes first: write [{last}, {first}]")));
    }
    Some(node.spanned([first, last]))
}

fn address(node: &Node) -> Result<Ipv4Addr, Diagnostic> {
    let text = filled(node)?;
    text.parse().map_err(|_| node.error(format!("\"{text}\" is not an IPv4 address: write for example 10.0.0.100")))
}

/// A node, an address, or nobody.
fn target(node: &Node) -> Result<Spanned<TargetSpec>, Diagnostic> {
    let text = filled(node)?;
    let target = match text.parse() {
        _ if text == "none" => TargetSpec::Nobody,
        Ok(address) => TargetSpec::Address(address),
        Err(_) if wrong_node_name(&text).is_some() => {
            return Err(node.error(format!("\"{text}\" is neither a node, nor an IPv4 address, nor none")));
        }
        Err(_) => TargetSpec::Node(text),
    };
    Ok(node.spanned(target))
}

fn domain(node: &Node) -> Result<String, Diagnostic> {
    let text = filled(node)?;
    let is_label = |label: &str| {
        let plain = label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        plain && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    if text.len() <= 63 && text.split('.').all(is_label) {
        return Ok(text);
    }
    Err(node.error(format!("\"{text}\" is not a domain: write for example home, or lab.example")))
}
