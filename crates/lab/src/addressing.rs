//! Addresses: those that the lab file gives, and automatic ones for all other ends.
//!
//! The link at place `i` gets the `i`-th /30 of 10.0.0.0/8 and the `i`-th /64 of fd00:6e6c::/32; its ends get the first
//! two addresses. The same file therefore always gives the same addresses. A subnet that overlaps one that the file
//! gives is skipped, for this link and so for all behind it. In a large lab the numbers are those of `order`; those
//! that are skipped there are replaced by numbers behind the last of them.

mod family;
mod order;

pub(crate) use family::{Family, first, net};

use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::{Errors, Findings};
use crate::spec::LinkSpec;
use family::{Range, range};
use ipnet::IpNet;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};

/// IPv6 links carry packets of 1280 bytes at least (RFC 8200, section 5).
const LEAST_MTU_V6: u32 = 1_280;

/// The addresses at both ends of a link; IPv4 before IPv6.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LinkAddresses {
    pub(crate) ends: [Vec<IpNet>; 2],
}

impl LinkAddresses {
    /// The addresses of `end` with its hardware address, for the permanent neighbour entries of the other end.
    pub(crate) fn neighbors(&self, end: usize, mac: [u8; 6]) -> Vec<(IpAddr, [u8; 6])> {
        let has_v6 = self.ends[end].iter().any(|net| matches!(net, IpNet::V6(_)));
        let link_local = has_v6.then(|| IpAddr::V6(link_local(mac)));
        self.ends[end].iter().map(IpNet::addr).chain(link_local).map(|address| (address, mac)).collect()
    }

    /// The addresses of both ends in their first common subnet of a family.
    pub(crate) fn pair(&self, family: Family) -> Option<[IpNet; 2]> {
        let [first, second] = &self.ends;
        let of_family = |net: &&IpNet| Family::of(net) == family;
        first.iter().filter(of_family).find_map(|a| second.iter().find(|b| a.trunc() == b.trunc()).map(|b| [*a, *b]))
    }
}

/// The address that Linux derives from a hardware address (RFC 4291, appendix A).
fn link_local(mac: [u8; 6]) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac.map(u16::from);
    Ipv6Addr::new(0xfe80, 0, 0, 0, ((a ^ 2) << 8) | b, (c << 8) | 0xff, 0xfe00 | d, (e << 8) | f)
}

/// The addresses at the ends of these links, each with the name of its node.
pub(crate) fn addresses(links: &[LinkSpec]) -> Vec<(String, IpAddr)> {
    // What is wrong with them is noted when the plan is made.
    let assigned = assign(links, &mut Findings::default());
    let ends = links.iter().zip(assigned).flat_map(|(link, own)| link.ends.iter().zip(own.ends));
    ends.flat_map(|(end, nets)| nets.into_iter().map(|net| (end.node.value.clone(), net.addr()))).collect()
}

/// The addresses of all links.
pub(crate) fn assign(links: &[LinkSpec], found: &mut Findings) -> Vec<LinkAddresses> {
    let mut addresses = vec![LinkAddresses::default(); links.len()];
    let numbers = order::numbers(links);
    let behind = numbers.iter().flatten().max().map_or(0, |last| u128::from(*last) + 1);
    for family in [Family::V4, Family::V6] {
        let mut taken = explicit_addresses(links, family, &mut found.errors);
        let reserved = explicit_subnets(links, family, &mut found.errors);
        let mut next = behind;
        for (place, (link, own)) in links.iter().zip(&mut addresses).enumerate() {
            let given = link.ends.each_ref().map(|end| nets_of(&end.addresses, family));
            let pair = match (given[0].is_empty(), given[1].is_empty()) {
                _ if family == Family::V6 && link.mtu < LEAST_MTU_V6 => {
                    without_v6(link, found);
                    given
                }
                _ if link.addresses == Some(false) => given,
                (true, true) => {
                    let number = numbers.as_ref().map(|numbers| u128::from(numbers[place]));
                    automatic(link, family, number, &mut next, &reserved, &mut found.errors)
                }
                (false, false) => given,
                (is_missing, _) => completed(link, given, usize::from(!is_missing), &mut taken, &mut found.errors),
            };
            // In the order of the file, a link has its number whether it needs it or not.
            next += u128::from(numbers.is_none());
            for (end, nets) in own.ends.iter_mut().zip(pair) {
                end.extend(nets);
            }
        }
    }
    addresses
}

fn nets_of(addresses: &[Spanned<IpNet>], family: Family) -> Vec<IpNet> {
    addresses.iter().map(|address| address.value).filter(|net| Family::of(net) == family).collect()
}

fn without_v6(link: &LinkSpec, found: &mut Findings) {
    let given = link.ends.iter().flat_map(|end| &end.addresses).filter(|net| Family::of(&net.value) == Family::V6);
    let before = found.errors.len();
    found.errors.extend(
        given.map(|net| net.error(format!("IPv6 needs an mtu of {LEAST_MTU_V6} or more, this link has {}", link.mtu))),
    );
    if found.errors.len() == before && link.addresses != Some(false) {
        let message = format!("no IPv6 on this link: it needs an mtu of {LEAST_MTU_V6} or more");
        found.warnings.push(link.name.error(message));
    }
}

/// The addresses of a family that the file gives; one that is given twice is noted, and so are ends that do not meet.
fn explicit_addresses(links: &[LinkSpec], family: Family, errors: &mut Errors) -> BTreeSet<IpAddr> {
    let mut seen: BTreeMap<IpAddr, (Span, String)> = BTreeMap::new();
    for link in links {
        let given = link.ends.each_ref().map(|end| (of_family(&end.addresses, family), &end.node.value));
        for (nets, node) in &given {
            for net in nets {
                let owner = format!("`{node}` on link `{}`", link.name.value);
                if let Some((first, taken_by)) = seen.insert(net.value.addr(), (net.span, owner)) {
                    let message = format!("the address {} is that of {taken_by}, too", net.value.addr());
                    errors.push(net.error(message).and(first, "first here"));
                }
            }
        }
        let [(first, _), (second, _)] = given;
        errors.extend(apart(&first, &second));
    }
    seen.into_keys().collect()
}

fn of_family(addresses: &[Spanned<IpNet>], family: Family) -> Vec<&Spanned<IpNet>> {
    addresses.iter().filter(|net| Family::of(&net.value) == family).collect()
}

/// The error of two ends that both have addresses, but no subnet in common.
fn apart(first: &[&Spanned<IpNet>], second: &[&Spanned<IpNet>]) -> Option<Diagnostic> {
    let (a, b) = (first.first()?, second.first()?);
    let meets = |one: &&Spanned<IpNet>| second.iter().any(|other| one.value.trunc() == other.value.trunc());
    if first.iter().any(meets) {
        return None;
    }
    let message = format!("{} and {} of the other end are not in the same subnet", b.value, a.value);
    Some(b.error(message).and(a.span, "the other end"))
}

/// The subnets that the file gives, in order; each link has its own, and overlaps are noted.
fn explicit_subnets(links: &[LinkSpec], family: Family, errors: &mut Errors) -> Vec<Range> {
    let mut subnets: Vec<(Range, usize, &Spanned<IpNet>)> = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let given = link.ends.iter().flat_map(|end| &end.addresses).filter(|net| Family::of(&net.value) == family);
        subnets.extend(given.map(|net| (range(&net.value), index, net)));
    }
    // Subnets nest or are apart: in this order each follows what it lies in.
    subnets.sort_by_key(|(range, index, net)| (range.first, std::cmp::Reverse(range.last), *index, net.span));
    let mut widest: Option<(Range, usize, &Spanned<IpNet>)> = None;
    for (range, index, net) in &subnets {
        match widest {
            Some((outer, owner, other)) if range.last <= outer.last => {
                // The same address twice has an error of its own.
                if owner != *index && other.value.addr() != net.value.addr() {
                    let message = format!(
                        "{} overlaps {}, the subnet of link `{}`: each link has a subnet of its own",
                        net.value.trunc(),
                        other.value.trunc(),
                        links[owner].name.value
                    );
                    errors.push(net.error(message).and(other.span, "the other link"));
                }
            }
            _ => widest = Some((*range, *index, net)),
        }
    }
    subnets.into_iter().map(|(range, ..)| range).collect()
}

/// The automatic subnet of this number; if there is none, or it overlaps a given one, the next that overlaps none.
fn automatic(
    link: &LinkSpec,
    family: Family,
    number: Option<u128>,
    next: &mut u128,
    reserved: &[Range],
    errors: &mut Errors,
) -> [Vec<IpNet>; 2] {
    let pool = family.pool();
    let ends = |subnet: Range| [1, 2].map(|host| vec![net(family, subnet.first + host, pool.prefix)]);
    let overlapped = |subnet: Range| reserved.iter().find(|other| other.overlaps(subnet));
    if let Some(subnet) = number.map(|number| pool.subnet(number))
        && overlapped(subnet).is_none()
    {
        return ends(subnet);
    }
    loop {
        let subnet = pool.subnet(*next);
        if subnet.last > pool.last {
            errors.push(
                link.name.error(format!("no automatic {} subnet is left: give the ends an `address`", family.name())),
            );
            return [Vec::new(), Vec::new()];
        }
        match overlapped(subnet) {
            Some(other) => {
                let behind = other.last.min(pool.last) + 1;
                *next = (behind - pool.first).div_ceil(pool.step).max(*next + 1);
            }
            None => {
                *next += u128::from(number.is_some());
                return ends(subnet);
            }
        }
    }
}

/// An address for the end that has none, in the subnet of the other: the next free one above, else the lowest.
fn completed(
    link: &LinkSpec,
    mut given: [Vec<IpNet>; 2],
    missing: usize,
    taken: &mut BTreeSet<IpAddr>,
    errors: &mut Errors,
) -> [Vec<IpNet>; 2] {
    let other = given[1 - missing][0];
    let hosts = family::hosts(&other);
    let family = Family::of(&other);
    let at = |number: u128| net(family, number, other.prefix_len());
    let candidates = (first(&other)..=hosts.last).skip(1).chain(hosts.first..first(&other));
    let free = candidates.map(at).find(|net| !taken.contains(&net.addr()));
    match free {
        Some(net) => {
            taken.insert(net.addr());
            given[missing] = vec![net];
        }
        None => {
            let message =
                format!("{} leaves no address for the other end: give both, or a larger subnet", other.trunc());
            errors.push(link.name.error(message));
        }
    }
    given
}
