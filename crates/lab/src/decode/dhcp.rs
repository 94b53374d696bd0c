//! DHCP servers and who asks them, and name servers.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{DHCP, DNS};
use crate::names::{link_name, wrong_node_name};
use crate::scalar::{duration, filled, flag, word};
use crate::spec::{DhcpSpec, DnsSpec, TargetSpec};
use crate::yaml::{Content, Node};
use netloom_units::Duration;
use std::net::Ipv4Addr;

const USUAL_LEASE: Duration = Duration::from_secs(3_600);
/// dnsmasq lends addresses for no shorter time (dnsmasq(8), `--dhcp-range`).
const LEAST_LEASE: Duration = Duration::from_secs(120);
/// A longer one does not fit into 32 bits, where the highest number means for ever (RFC 2132, section 9.2).
const MOST_LEASE: Duration = Duration::from_secs(u32::MAX as u64 - 1);

/// Where a node's addresses come from.
pub(super) fn asks(node: &Node) -> Result<Spanned<()>, Diagnostic> {
    word(node, &[("dhcp", ())]).map(|()| node.spanned(()))
}

/// The name server of a node; none if it has none, or after an error was noted.
pub(super) fn dns(node: &Node, errors: &mut Errors) -> Option<DnsSpec> {
    let place = node.spanned(());
    if !matches!(node.content, Content::Map(_)) {
        return keep(flag(node), errors)?.then_some(DnsSpec { place, domain: None });
    }
    let fields = Fields::open(node, &DNS, errors)?;
    Some(DnsSpec { place, domain: fields.read("domain", domain, errors) })
}

/// The DHCP server of a node; none if it has none, or after an error was noted.
pub(super) fn dhcp(node: &Node, errors: &mut Errors) -> Option<DhcpSpec> {
    let usual = DhcpSpec {
        place: node.spanned(()),
        links: Vec::new(),
        reserve: true,
        range: None,
        lease: USUAL_LEASE,
        advertise: None,
        router: None,
        dns: None,
        domain: None,
    };
    if !matches!(node.content, Content::Map(_)) {
        return keep(flag(node), errors)?.then_some(usual);
    }
    let fields = Fields::open(node, &DHCP, errors)?;
    let links = fields.get("links").map_or(&[][..], |value| match &value.content {
        Content::List(items) => &items[..],
        _ => std::slice::from_ref(value),
    });
    Some(DhcpSpec {
        links: links.iter().filter_map(|link| keep(link_name(link), errors)).collect(),
        reserve: fields.read("reserve", flag, errors).unwrap_or(true),
        range: fields.get("range").and_then(|value| range(value, errors)),
        lease: fields.read("lease", lease, errors).unwrap_or(USUAL_LEASE),
        advertise: fields
            .read("advertise", |value| flag(value).map(|is| is.then(|| value.spanned(()))), errors)
            .flatten(),
        router: fields.read("router", target, errors),
        dns: fields.read("dns", target, errors),
        domain: fields.read("domain", domain, errors),
        ..usual
    })
}

fn lease(node: &Node) -> Result<Duration, Diagnostic> {
    let lease = duration(node)?;
    if lease.as_nanos() % 1_000_000_000 != 0 {
        return Err(node.error("DHCP counts in seconds: write whole ones"));
    }
    if lease < LEAST_LEASE || lease > MOST_LEASE {
        return Err(node.error(format!("dnsmasq lends addresses for {LEAST_LEASE} or more: write for example 1 h")));
    }
    Ok(lease)
}

fn range(node: &Node, errors: &mut Errors) -> Option<Spanned<[Ipv4Addr; 2]>> {
    let Content::List(items) = &node.content else {
        errors.push(node.expected("the first and the last address, for example [10.0.0.100, 10.0.0.199]"));
        return None;
    };
    let ends: Vec<Option<Ipv4Addr>> = items.iter().map(|item| keep(address(item), errors)).collect();
    let ends: Vec<Ipv4Addr> = ends.into_iter().collect::<Option<_>>()?;
    let Ok([first, last]) = <[Ipv4Addr; 2]>::try_from(ends) else {
        errors.push(
            node.error("a range has two addresses, its first and its last: for example [10.0.0.100, 10.0.0.199]"),
        );
        return None;
    };
    if first > last {
        errors.push(node.error(format!("the first address comes first: write [{last}, {first}]")));
        return None;
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
