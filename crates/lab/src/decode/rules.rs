//! Policy routes.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::{Whole, forms};
use crate::keyed::{Keyed, sections};
use crate::kinds::LINK_REFERENCE;
use crate::scalar::{filled, text};
use crate::section::{Form, Kind};
use crate::spec::{RuleSpec, WaySpec};
use crate::yaml::Node;
use ipnet::IpNet;
use std::net::IpAddr;

type Number = Whole<u32, 1, { u32::MAX as u64 }>;

forms! {
    pub(crate) struct Net = IpNet, Kind::Text("^[0-9a-fA-F.:]+(/[0-9]{1,3})?$"), prefix;
    pub(crate) struct Gateway = Spanned<IpAddr>, Kind::Text("^[0-9a-fA-F.:]+$"), gateway;
    /// The name of a link.
    pub(crate) struct LinkName = Spanned<String>, LINK_REFERENCE, |node: &Node| filled(node).map(|name| node.spanned(name));
}

sections! {
    /// Which packets take which way, before the node's other routes are looked at.
    pub(crate) struct Keys = "rule" {
        /// The source of the packets: an address, or a prefix. Default: any.
        from: Net, "10.0.0.1";
        /// Their destination: an address, or a prefix. Default: any.
        to: Net, "10.9.0.0/16";
        /// The link by which they come to the node. Default: any, or its own programs.
        iif: LinkName, "lan";
        /// The mark that a firewall or a program (SO_MARK) has put on them, 1 to 4294967295. Default: any.
        fwmark: Number, "7";
        /// The address of the neighbour to which they go.
        via: Gateway, "10.0.0.2";
        /// Instead: the link by which they go, to the router there.
        link: LinkName, "uplink";
        /// Instead: the number of a table that you fill, with `ip route add ... table 200` in `setup` for example.
        table: Number, "200";
    }
}

/// A policy route.
pub(crate) struct Rule;

impl Form for Rule {
    type Value = RuleSpec;
    const KIND: Kind = Keys::KIND;
    fn read(node: &Node, errors: &mut Errors) -> Option<RuleSpec> {
        rule(node, errors)
    }
}

fn rule(node: &Node, errors: &mut Errors) -> Option<RuleSpec> {
    let fields = Fields::open(node, &Keys::SECTION, errors)?;
    let before = errors.len();
    let Keys { from, to, iif, fwmark: mark, via, link, table } = Keys::read_keys(&fields, errors)?;
    if errors.len() > before {
        return None;
    }
    if from.is_none() && to.is_none() && iif.is_none() && mark.is_none() {
        return errors.reject(node.error("this rule holds for all packets: write `from`, `to`, `iif` or `fwmark`"));
    }
    let mut ways = [via.map(WaySpec::Via), link.map(WaySpec::Link), table.map(WaySpec::Table)].into_iter().flatten();
    let (Some(way), None) = (ways.next(), ways.next()) else {
        return errors.reject(node.error("a rule has one way: write `via`, `link` or `table`"));
    };
    let families = [from, to].into_iter().flatten().map(|net| net.addr().is_ipv6());
    let of_way = if let WaySpec::Via(next) = &way { Some(next.value.is_ipv6()) } else { None };
    let mut families = families.chain(of_way);
    let is_v6 = families.next();
    if families.any(|other| Some(other) != is_v6) {
        return errors
            .reject(node.error("the addresses of a rule are of one family: write one for IPv4, and one for IPv6"));
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

fn gateway(node: &Node) -> Result<Spanned<IpAddr>, Diagnostic> {
    let written = text(node)?;
    let parsed = written.parse().map(|address| node.spanned(address));
    parsed.map_err(|_| node.error(format!("\"{written}\" is no address: write for example 10.0.0.2 or fd00::2")))
}
