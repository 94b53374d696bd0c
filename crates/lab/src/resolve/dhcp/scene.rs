//! Who serves whom in a segment, and what is wrong with it.

use super::programs::CLIENT;
use super::{Client, Dhcp, Served};
use crate::addressing::Family;
use crate::decode::dhcp::{DhcpSpec, TargetSpec};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::LeftOut;
use crate::plan::{EndPlan, FilePlan, NodeKind, Plan};
use crate::resolve::daemons::Neighborhood;
use crate::resolve::names::link_at;
use crate::spec::LinkSpec;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

/// A segment, and what is said of it.
pub(super) struct Scene<'a> {
    pub(super) plan: &'a Plan,
    pub(super) dhcp: &'a Dhcp,
    pub(super) links: &'a [LinkSpec],
    pub(super) hood: &'a Neighborhood,
    pub(super) left_out: &'a LeftOut,
}

impl Scene<'_> {
    /// What the segment's server does, if it has one. `known`: the links that servers know they serve.
    pub(super) fn look(&self, known: &mut BTreeSet<(usize, String)>, wrong: &mut Vec<Diagnostic>) -> Option<Served> {
        let asking: Vec<(&EndPlan, &Spanned<()>)> =
            self.hood.ends().filter_map(|end| Some((end, self.dhcp.clients.get(&end.end)?))).collect();
        let servers = self.servers(!asking.is_empty());
        known.extend(servers.iter().map(|(end, _)| (end.node, self.link(end))));
        let Some((at, spec)) = servers.first() else {
            wrong.extend(asking.iter().take(1).filter_map(|(end, place)| self.unserved(end, place)));
            return None;
        };
        wrong.extend(servers[1..].iter().map(|(other, its)| self.twice(at, other, its)));
        let before = wrong.len();
        let net = match self.subnet(at, spec) {
            Ok(net) => net,
            Err(error) => {
                wrong.push(error);
                return None;
            }
        };
        wrong.extend(asking.iter().filter_map(|(end, place)| self.unfit(end, place, net, spec)));
        let prefix = self.prefix(at, spec, wrong);
        let pools = self.pools(at, spec, net, asking.len(), wrong);
        let router = self.target(at, spec.router.as_ref(), Family::V4, wrong);
        let family = if net.is_some() { Family::V4 } else { Family::V6 };
        let dns = self.target(at, spec.dns.as_ref(), family, wrong);
        let client = |(end, _): &(&EndPlan, &Spanned<()>)| {
            let address = self.v4(end).filter(|_| spec.reserve).map(|own| own.addr());
            Client { at: **end, address }
        };
        let clients = asking.iter().map(client).collect();
        let router =
            router.map(|told| told.and_then(|told| if let IpAddr::V4(told) = told { Some(told) } else { None }));
        let dns = dns.unwrap_or_else(|| address(self.plan, at.node, at.interface, family).map(|own| own.addr()));
        (wrong.len() == before).then_some(Served { at: **at, net, prefix, pools, clients, router, dns })
    }

    /// Those who serve here.
    fn servers(&self, is_asked: bool) -> Vec<(&EndPlan, &DhcpSpec)> {
        let is_meant = |end: &EndPlan, spec: &DhcpSpec| {
            let link = self.link(end);
            if spec.links.is_empty() {
                // Where it asks itself, it knows no address to serve from.
                let is_client = self.dhcp.clients.contains_key(&end.end);
                !is_client && (is_asked || self.is_of(end, spec))
            } else {
                spec.links.iter().any(|own| own.value == link)
            }
        };
        let ends = self.hood.ends().filter_map(|end| Some((end, self.dhcp.servers[end.node].as_ref()?)));
        ends.filter(|(end, spec)| is_meant(end, spec)).collect()
    }

    /// The subnet whose addresses a server lends, with its own address; none if it only advertises its prefix of IPv6.
    fn subnet(&self, at: &EndPlan, spec: &DhcpSpec) -> Result<Option<Ipv4Net>, Diagnostic> {
        let (name, link) = (&self.plan.nodes[at.node].name, self.link(at));
        if let Some(place) = self.dhcp.clients.get(&at.end) {
            return Err(
                place.error(format!("`{name}` serves addresses on `{link}` and cannot ask there: give it an address"))
            );
        }
        let Some(net) = self.v4(at) else {
            if spec.advertise.is_some() && address(self.plan, at.node, at.interface, Family::V6).is_some() {
                return Ok(None);
            }
            let more = if spec.advertise.is_some() { "" } else { "; of IPv6 alone, `advertise: true` serves a prefix" };
            let message = format!("`{name}` has no IPv4 address on `{link}` from whose subnet it could serve{more}");
            return Err(spec.place.error(message));
        };
        if net.prefix_len() > 30 {
            let message = format!("{} has no room for DHCP: it needs a subnet of four addresses or more", net.trunc());
            return Err(spec.place.error(message));
        }
        Ok(Some(net))
    }

    fn link(&self, end: &EndPlan) -> String {
        link_at(self.plan, self.links, end.node, end.interface)
    }

    fn v4(&self, end: &EndPlan) -> Option<Ipv4Net> {
        v4(self.plan, end.node, end.interface)
    }

    /// Whether the range of the server is of the subnet here.
    fn is_of(&self, end: &EndPlan, spec: &DhcpSpec) -> bool {
        let net = self.v4(end);
        spec.range.as_ref().is_some_and(|range| net.is_some_and(|net| net.contains(&range.value[0])))
    }

    /// The error of somebody who asks where nobody answers.
    fn unserved(&self, end: &EndPlan, place: &Spanned<()>) -> Option<Diagnostic> {
        let runs_programs = self.plan.nodes[end.node].kind.runs_programs();
        if self.left_out.links || self.left_out.nodes || !runs_programs {
            return None;
        }
        let is_able = |other: &&EndPlan| {
            let node = &self.plan.nodes[other.node];
            node.kind.has_addresses() && node.kind.runs_programs() && !self.dhcp.clients.contains_key(&other.end)
        };
        let routers = self.hood.ends().filter(is_able).min_by_key(|other| !self.plan.nodes[other.node].kind.forwards());
        let hint = match routers {
            Some(other) => format!("write `dhcp: true` at `{}`", self.plan.nodes[other.node].name),
            None => "it takes a host or router there with `dhcp: true`".to_owned(),
        };
        let name = &self.plan.nodes[end.node].name;
        Some(
            place.error(format!(
                "`{name}` asks for an address on `{}`, where no node serves any: {hint}",
                self.link(end)
            )),
        )
    }

    fn twice(&self, first: &EndPlan, other: &EndPlan, spec: &DhcpSpec) -> Diagnostic {
        let [one, two] = [first, other].map(|end| &self.plan.nodes[end.node].name);
        let message = format!(
            "`{one}` and `{two}` both serve addresses on `{}`: leave one out, or say with `links` who serves which",
            self.link(other)
        );
        let error = spec.place.error(message);
        match &self.dhcp.servers[first.node] {
            Some(first) => error.and(first.place.span, "the other one"),
            None => error,
        }
    }

    /// The prefix of IPv6 that the server advertises, if it does.
    fn prefix(&self, at: &EndPlan, spec: &DhcpSpec, wrong: &mut Vec<Diagnostic>) -> Option<Ipv6Net> {
        let place = spec.advertise.as_ref()?;
        let node = &self.plan.nodes[at.node];
        let (name, link) = (&node.name, self.link(at));
        if !node.kind.forwards() {
            let what = node.kind.titled();
            wrong.push(
                place.error(format!("only routers advertise themselves, and `{name}` is {what}: write `kind: router`")),
            );
            return None;
        }
        let mut addresses = node.interfaces[at.interface].addresses.iter();
        let first = addresses.find_map(|net| if let IpNet::V6(net) = net { Some(net) } else { None });
        let message = match first {
            Some(net) if net.prefix_len() == 64 => return Some(net.trunc()),
            Some(net) => format!(
                "addresses are made of a /64, and `{link}` has {}: give `{name}` an address there in a /64",
                net.trunc()
            ),
            None => format!("`{name}` has no IPv6 on `{link}` that it could advertise: leave this out"),
        };
        wrong.push(place.error(message));
        None
    }

    /// Why somebody who asks cannot get an address of this subnet.
    fn unfit(&self, end: &EndPlan, place: &Spanned<()>, net: Option<Ipv4Net>, spec: &DhcpSpec) -> Option<Diagnostic> {
        let node = &self.plan.nodes[end.node];
        let (name, link) = (&node.name, self.link(end));
        if !(node.kind.has_addresses() && node.kind.runs_programs()) {
            return Some(place.error(format!("{} runs no DHCP client: leave this out", node.kind.titled())));
        }
        if !node.tables.is_empty() {
            let message = "policy routes need addresses that are there before any program runs: leave out `rules` and \
                           `multihomed`, or this";
            return Some(place.error(message));
        }
        let own_files = |file: &FilePlan| file.target.starts_with(CLIENT);
        if node.files.iter().any(own_files) {
            return Some(
                place
                    .error(format!("`files` of `{name}` has {CLIENT}, which belongs to its DHCP client: leave it out")),
            );
        }
        let Some(net) = net else {
            let message = |own| {
                format!(
                    "{own} of `{name}` is of IPv4, which is not served on `{link}`: give its server an address of IPv4 there"
                )
            };
            return self.v4(end).map(|own| place.error(message(own)));
        };
        match self.v4(end) {
            None => {
                Some(place.error(format!(
                    "`{name}` has no IPv4 on `{link}`: leave this out, or the link's `addresses: none`"
                )))
            }
            Some(own) if own.trunc() != net.trunc() => Some(place.error(format!(
                "{own} of `{name}` is not in {}, the subnet in which addresses are served on `{link}`",
                net.trunc()
            ))),
            Some(_) => self
                .hood
                .ends()
                .find(|other| self.plan.nodes[other.node].kind == NodeKind::Transit)
                .filter(|_| !spec.reserve)
                .map(|other| {
                    let other = &self.plan.nodes[other.node].name;
                    place.error(format!(
                        "the transit router `{other}` has to know all addresses on `{link}`: leave out `reserve: false`"
                    ))
                }),
        }
    }

    /// The addresses for those who have none reserved.
    fn pools(
        &self,
        at: &EndPlan,
        spec: &DhcpSpec,
        net: Option<Ipv4Net>,
        clients: usize,
        wrong: &mut Vec<Diagnostic>,
    ) -> Vec<[Ipv4Addr; 2]> {
        let Some(net) = net else { return Vec::new() };
        let is_free = |end: &&EndPlan| self.dhcp.clients.contains_key(&end.end) && !spec.reserve;
        let taken: BTreeMap<Ipv4Addr, &EndPlan> =
            self.hood.ends().filter(|end| !is_free(end)).filter_map(|end| Some((self.v4(end)?.addr(), end))).collect();
        let hosts = [u32::from(net.network()) + 1, u32::from(net.broadcast()).saturating_sub(1)].map(Ipv4Addr::from);
        // Of several links, it is the range of one.
        let range = spec.range.as_ref().filter(|range| net.contains(&range.value[0]) || self.only_serves(at, spec));
        let pools = match range {
            None if spec.reserve => Vec::new(),
            None => gaps(hosts, taken.keys()),
            Some(range) => {
                let [first, last] = range.value;
                if first < hosts[0] || last > hosts[1] {
                    let message = format!(
                        "not all of this is in {}, the subnet of `{}`: its addresses are {} to {}",
                        net.trunc(),
                        self.link(at),
                        hosts[0],
                        hosts[1]
                    );
                    wrong.push(range.error(message));
                    return Vec::new();
                }
                // dnsmasq lends what is reserved for one to nobody else.
                let is_fixed = |end: &EndPlan| !self.dhcp.clients.contains_key(&end.end);
                if let Some((address, end)) = taken.range(first..=last).find(|(_, end)| is_fixed(end)) {
                    let name = &self.plan.nodes[end.node].name;
                    wrong.push(range.error(format!("{address} is the address of `{name}`: leave it out of the range")));
                }
                vec![range.value]
            }
        };
        let room: u64 = pools.iter().map(|[first, last]| u64::from(u32::from(*last) - u32::from(*first)) + 1).sum();
        if !spec.reserve && room < clients as u64 {
            let message = format!(
                "there is room for {room} of the {clients} nodes that ask on `{}`: write a larger `range`",
                self.link(at)
            );
            wrong.push(spec.range.as_ref().map_or_else(|| spec.place.error(&message), |said| said.error(&message)));
        }
        pools
    }

    /// Whether this is the only link on which the node serves.
    fn only_serves(&self, at: &EndPlan, spec: &DhcpSpec) -> bool {
        let is_one = |link: &String| spec.links.is_empty() || spec.links.iter().any(|own| own.value == *link);
        let own = &self.plan.nodes[at.node];
        let mut others = (0..own.interfaces.len()).filter(|place| *place != at.interface);
        let range = |place: usize| {
            let net = v4(self.plan, at.node, place);
            spec.range.as_ref().is_some_and(|range| net.is_some_and(|net| net.contains(&range.value[0])))
        };
        !others.any(|place| is_one(&link_at(self.plan, self.links, at.node, place)) && range(place))
    }

    /// Whom clients are told of; none if nothing is said.
    fn target(
        &self,
        at: &EndPlan,
        said: Option<&Spanned<TargetSpec>>,
        family: Family,
        wrong: &mut Vec<Diagnostic>,
    ) -> Option<Option<IpAddr>> {
        let said = said?;
        match &said.value {
            TargetSpec::Nobody => Some(None),
            TargetSpec::Address(address) => Some(Some((*address).into())),
            TargetSpec::Node(name) => {
                let is_meant = |end: &&EndPlan| self.plan.nodes[end.node].name == *name;
                let near =
                    self.hood.ends().find(is_meant).and_then(|end| address(self.plan, end.node, end.interface, family));
                let place = self.plan.nodes.iter().position(|node| node.name == *name);
                let far = || {
                    let interface = self.plan.named(at.node, place?)?;
                    interface.addresses.iter().find(|net| Family::of(net) == family).copied()
                };
                let found = near.or_else(far).map(|net| net.addr());
                if found.is_none() && !self.left_out.nodes {
                    let what = match family {
                        _ if place.is_none() => "is no node of this lab",
                        Family::V4 => "has no IPv4 address",
                        Family::V6 => "has no IPv6 address",
                    };
                    wrong.push(said.error(format!("`{name}` {what}")));
                }
                found.map(Some)
            }
        }
    }
}

/// The first address of a family of an interface.
fn address(plan: &Plan, node: usize, interface: usize, family: Family) -> Option<IpNet> {
    let addresses = &plan.nodes[node].interfaces[interface].addresses;
    addresses.iter().find(|net| Family::of(net) == family).copied()
}

fn v4(plan: &Plan, node: usize, interface: usize) -> Option<Ipv4Net> {
    let net = address(plan, node, interface, Family::V4)?;
    if let IpNet::V4(net) = net { Some(net) } else { None }
}

/// What is left from `first` to `last`.
pub(super) fn gaps<'a>([first, last]: [Ipv4Addr; 2], taken: impl Iterator<Item = &'a Ipv4Addr>) -> Vec<[Ipv4Addr; 2]> {
    let (mut next, last) = (u32::from(first), u32::from(last));
    let mut found = Vec::new();
    for one in taken.map(|address| u32::from(*address)) {
        if !(next..=last).contains(&one) {
            continue;
        }
        if one > next {
            found.push([next, one - 1]);
        }
        next = one + 1;
    }
    found.extend((next <= last).then_some([next, last]));
    found.into_iter().map(|ends| ends.map(Ipv4Addr::from)).collect()
}
