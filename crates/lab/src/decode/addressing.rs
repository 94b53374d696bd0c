//! Where automatic addresses come from.

use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::{ADDRESSING, Addressed};
use crate::scalar::{flag, text};
use crate::section::Form;
use crate::spec::{AddressingSpec, PoolSpec};
use crate::yaml::{Content, Node};
use ipnet::IpNet;

/// What nodes cannot have: this network, loopback, link-local, multicast and reserved addresses (RFC 6890; RFC 4291).
const NEVER: [&str; 8] =
    ["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/8", "fe80::/10", "ff00::/8"];

pub(super) fn decode(node: &Node, errors: &mut Errors) -> AddressingSpec {
    if matches!(node.content, Content::Text { .. }) {
        return AddressingSpec { automatic: Addressed::read(node, errors), ..AddressingSpec::default() };
    }
    let Some(fields) = Fields::open(node, &ADDRESSING, errors) else { return AddressingSpec::default() };
    let point_to_point = fields.read("point_to_point", flag, errors).unwrap_or(false);
    let longest_v4 = if point_to_point { 31 } else { 30 };
    AddressingSpec {
        automatic: None,
        v4: fields.read("ipv4", |value| pool(value, "10.0.0.0/8", longest_v4), errors).unwrap_or_default(),
        v6: fields.read("ipv6", |value| pool(value, "fd00::/48", 64), errors).unwrap_or_default(),
        point_to_point,
    }
}

/// `none`, or a prefix that is at most so long, of the family of the example.
fn pool(node: &Node, example: &str, longest: u8) -> Result<PoolSpec, Diagnostic> {
    let found = text(node)?;
    if found == "none" {
        return Ok(PoolSpec::Nowhere);
    }
    let wrong = |what: &str| node.error(format!("\"{found}\" {what}: write for example {example}, or none"));
    let family = if example.contains(':') { "IPv6" } else { "IPv4" };
    let net: IpNet = found.parse().map_err(|_| wrong(&format!("is not an {family} prefix")))?;
    if matches!(net, IpNet::V6(_)) != example.contains(':') {
        return Err(wrong(&format!("is not an {family} prefix")));
    }
    if net.trunc() != net {
        return Err(node.error(format!("{net} is an address of a subnet: write its prefix, {}", net.trunc())));
    }
    if net.prefix_len() > longest {
        return Err(wrong(&format!("is too small: a link needs a /{longest}")));
    }
    let taken = NEVER.iter().filter_map(|never| never.parse::<IpNet>().ok());
    match taken.into_iter().find(|never| never.contains(&net) || net.contains(never)) {
        Some(never) => Err(wrong(&format!("overlaps {never}, which interfaces cannot have"))),
        None => Ok(PoolSpec::Within(node.spanned(net))),
    }
}
