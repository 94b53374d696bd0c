//! Policy routes.

use super::list;
use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::keys::RULE;
use crate::scalar::{filled, integer, text};
use crate::spec::{RuleSpec, WaySpec};
use crate::yaml::Node;
use ipnet::IpNet;
use std::net::IpAddr;

/// The rules of a node.
pub(super) fn rules(node: &Node, errors: &mut Errors) -> Vec<RuleSpec> {
    list(node, errors).iter().filter_map(|item| rule(item, errors)).collect()
}

fn rule(node: &Node, errors: &mut Errors) -> Option<RuleSpec> {
    let fields = Fields::open(node, &RULE, errors)?;
    let before = errors.len();
    let number =
        |value: &Node| integer(value, 1, u32::MAX.into()).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let name = |value: &Node| filled(value).map(|name| value.spanned(name));
    let from = fields.read("from", prefix, errors);
    let to = fields.read("to", prefix, errors);
    let iif = fields.read("iif", name, errors);
    let mark = fields.read("fwmark", number, errors);
    let via = fields.read("via", gateway, errors).map(WaySpec::Via);
    let link = fields.read("link", name, errors).map(WaySpec::Link);
    let table = fields.read("table", number, errors).map(WaySpec::Table);
    if errors.len() > before {
        return None;
    }
    if from.is_none() && to.is_none() && iif.is_none() && mark.is_none() {
        errors.push(node.error("this rule holds for all packets: write `from`, `to`, `iif` or `fwmark`"));
        return None;
    }
    let mut ways = [via, link, table].into_iter().flatten();
    let (Some(way), None) = (ways.next(), ways.next()) else {
        errors.push(node.error("a rule has one way: write `via`, `link` or `table`"));
        return None;
    };
    let families = [from, to].into_iter().flatten().map(|net| net.addr().is_ipv6());
    let of_way = if let WaySpec::Via(next) = &way { Some(next.value.is_ipv6()) } else { None };
    let mut families = families.chain(of_way);
    let is_v6 = families.next();
    if families.any(|other| Some(other) != is_v6) {
        errors.push(node.error("the addresses of a rule are of one family: write one for IPv4, and one for IPv6"));
        return None;
    }
    Some(RuleSpec { place: node.spanned(()), from, to, iif, mark, is_v6, way })
}

/// A prefix, or an address as the longest one.
fn prefix(node: &Node) -> Result<IpNet, Diagnostic> {
    let written = text(node)?;
    let wrong =
        || node.error(format!("\"{written}\" is no address or prefix: write for example 10.0.0.1 or 10.9.0.0/16"));
    let net = written.parse::<IpAddr>().map(IpNet::from).or_else(|_| written.parse::<IpNet>()).map_err(|_| wrong())?;
    if net.trunc() != net {
        return Err(node.error(format!(
            "{net} is an address of a subnet: write its prefix, {}, or {}",
            net.trunc(),
            net.addr()
        )));
    }
    Ok(net)
}

fn gateway(node: &Node) -> Result<crate::diagnostics::Spanned<IpAddr>, Diagnostic> {
    let written = text(node)?;
    let parsed = written.parse().map(|address| node.spanned(address));
    parsed.map_err(|_| node.error(format!("\"{written}\" is no address: write for example 10.0.0.2 or fd00::2")))
}
