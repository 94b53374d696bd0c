//! Addresses: those that the lab file gives, and automatic ones for all other ends.
//!
//! The segment at place `i` gets the `i`-th /30 of 10.0.0.0/8 and the `i`-th /64 of fd00:6e6c::/32, or of the prefixes that the
//! file gives; its ends get the first addresses. The same file therefore always gives the same addresses. A subnet that overlaps one that the file
//! gives is skipped, for this segment and so for all behind it. In a large lab the numbers are those of `order`; those
//! that are skipped there are replaced by numbers behind the last of them. Where a /30 is too small, a larger subnet
//! takes the place of several.

mod family;
mod order;
mod slaac;

pub(crate) use family::{Family, first, net};
pub(crate) use slaac::made_of;

use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::{Errors, Findings};
use crate::segments::{Segment, ends, segments};
use crate::spec::{AddressingSpec, LinkSpec, NodeSpec};
use family::{Pool, Range, range};
use ipnet::IpNet;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv6Addr};

/// IPv6 links carry packets of 1280 bytes at least (RFC 8200, section 5).
const LEAST_MTU_V6: u32 = 1_280;

/// Each address at an end with its hardware address, for the permanent neighbour entries of the ends that it is reached from.
pub(crate) fn neighbors(nets: &[IpNet], mac: [u8; 6]) -> impl Iterator<Item = (IpAddr, [u8; 6])> {
    let has_v6 = nets.iter().any(|net| matches!(net, IpNet::V6(_)));
    let link_local = has_v6.then(|| IpAddr::V6(link_local(mac)));
    nets.iter().map(IpNet::addr).chain(link_local).map(move |address| (address, mac))
}

/// The address that Linux derives from a hardware address (RFC 4291, appendix A).
pub(crate) fn link_local(mac: [u8; 6]) -> Ipv6Addr {
    slaac::address(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), mac)
}

/// The addresses at the ends of these links, each with the name of its node.
pub(crate) fn addresses(links: &[LinkSpec], nodes: &[NodeSpec], spec: &AddressingSpec) -> Vec<(String, IpAddr)> {
    // What is wrong with them is noted when the plan is made.
    let assigned = assign(&segments(links, nodes), ends(links).count(), spec, &mut Findings::default());
    let names = links.iter().flat_map(|link| &link.ends).map(|end| &end.node.value);
    let of_end = |(node, nets): (&String, Vec<IpNet>)| nets.into_iter().map(|net| (node.clone(), net.addr())).collect();
    names.zip(assigned).flat_map(|end| -> Vec<_> { of_end(end) }).collect()
}

/// The addresses at all of so many ends, by their numbers; IPv4 before IPv6.
pub(crate) fn assign(
    segments: &[Segment<'_>],
    count: usize,
    spec: &AddressingSpec,
    found: &mut Findings,
) -> Vec<Vec<IpNet>> {
    let mut addresses = vec![Vec::new(); count];
    let ordered = order::numbers(segments);
    let end = ordered.iter().flatten().max().map_or(0, |last| u128::from(*last) + 1);
    for family in [Family::V4, Family::V6] {
        let mut taken = explicit_addresses(segments, family, &mut found.errors);
        let reserved = explicit_subnets(segments, family, &mut found.errors);
        let pool = family.pool(spec);
        // Numbers by place leave gaps: in a pool that is too small for these, the order of the file does.
        let numbers = ordered.as_ref().filter(|_| pool.as_ref().is_some_and(|pool| end <= pool.room()));
        let mut next = if numbers.is_some() { end } else { 0 };
        for (place, segment) in segments.iter().enumerate() {
            let mut nets: Vec<Vec<IpNet>> =
                segment.ends.iter().map(|own| nets_of(&own.spec.addresses, family)).collect();
            let Some(pool) = &pool else {
                for (at, own) in segment.ends.iter().zip(nets) {
                    addresses[at.end.index()].extend(own);
                }
                continue;
            };
            if family == Family::V6 && segment.mtu < LEAST_MTU_V6 {
                without_v6(segment, found);
            } else if !segment.ends.iter().any(|own| own.is_addressed) {
            } else if nets.iter().all(Vec::is_empty) {
                let number = numbers.map(|numbers| u128::from(numbers[place]));
                nets = automatic(segment, (family, pool), number, &mut next, &reserved, &mut found.errors);
            } else {
                complete(segment, &mut nets, &mut taken, &mut found.errors);
            }
            // In the order of the file, a link has its number whether it needs it or not.
            next += u128::from(numbers.is_none());
            for (at, own) in segment.ends.iter().zip(nets) {
                addresses[at.end.index()].extend(own);
            }
        }
    }
    slaac::settle(segments, &mut addresses);
    addresses
}

fn nets_of(addresses: &[Spanned<IpNet>], family: Family) -> Vec<IpNet> {
    addresses.iter().map(|address| address.value).filter(|net| Family::of(net) == family).collect()
}

fn without_v6(segment: &Segment<'_>, found: &mut Findings) {
    let given = segment.ends.iter().flat_map(|own| of_family(&own.spec.addresses, Family::V6));
    let before = found.errors.len();
    let (mtu, what) = (segment.mtu, if segment.is_lan { "LAN" } else { "link" });
    found.errors.extend(
        given.map(|net| net.error(format!("IPv6 needs an mtu of {LEAST_MTU_V6} or more, this {what} has {mtu}"))),
    );
    if found.errors.len() == before && segment.ends.iter().any(|own| own.is_addressed) {
        let message = format!("no IPv6 on this {what}: it needs an mtu of {LEAST_MTU_V6} or more");
        found.warnings.push(segment.name.error(message));
    }
}

/// The addresses of a family that the file gives; one that is given twice is noted, and so are ends that do not meet.
fn explicit_addresses(segments: &[Segment<'_>], family: Family, errors: &mut Errors) -> BTreeSet<IpAddr> {
    let mut seen: BTreeMap<IpAddr, (Span, String)> = BTreeMap::new();
    for segment in segments {
        let mut first_given: Option<Vec<&Spanned<IpNet>>> = None;
        let mut errors_of_ends = Vec::new();
        for end in segment.ends.iter().map(|own| own.spec) {
            let given = of_family(&end.addresses, family);
            for net in &given {
                let owner = format!("`{}` on {segment}", end.node.value);
                if let Some((first, taken_by)) = seen.insert(net.value.addr(), (net.span, owner)) {
                    let message = format!("the address {} is that of {taken_by}, too", net.value.addr());
                    errors.push(net.error(message).and(first, "first here"));
                }
            }
            match &first_given {
                None if given.is_empty() => {}
                None => first_given = Some(given),
                Some(first) => errors_of_ends.extend(apart(segment, first, &given)),
            }
        }
        errors.extend(errors_of_ends);
    }
    seen.into_keys().collect()
}

fn of_family(addresses: &[Spanned<IpNet>], family: Family) -> Vec<&Spanned<IpNet>> {
    addresses.iter().filter(|net| Family::of(&net.value) == family).collect()
}

/// The error of two ends of a segment that both have addresses, but no subnet in common.
fn apart(segment: &Segment<'_>, first: &[&Spanned<IpNet>], second: &[&Spanned<IpNet>]) -> Option<Diagnostic> {
    let (a, b) = (first.first()?, second.first()?);
    let meets = |one: &&Spanned<IpNet>| second.iter().any(|other| one.value.trunc() == other.value.trunc());
    if first.iter().any(meets) {
        return None;
    }
    let other = if segment.ends.len() > 2 { "another end" } else { "the other end" };
    let message = format!("{} and {} of {other} are not in the same subnet", b.value, a.value);
    Some(b.error(message).and(a.span, other))
}

/// The subnets that the file gives, in order; each segment has its own, and overlaps are noted.
fn explicit_subnets(segments: &[Segment<'_>], family: Family, errors: &mut Errors) -> Vec<Range> {
    let mut subnets: Vec<(Range, usize, &Spanned<IpNet>)> = Vec::new();
    for (index, segment) in segments.iter().enumerate() {
        let given = segment.ends.iter().flat_map(|own| of_family(&own.spec.addresses, family));
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
                        "{} overlaps {}, the subnet of {}: each has a subnet of its own",
                        net.value.trunc(),
                        other.value.trunc(),
                        segments[owner]
                    );
                    errors.push(net.error(message).and(other.span, "the other subnet"));
                }
            }
            _ => widest = Some((*range, *index, net)),
        }
    }
    subnets.into_iter().map(|(range, ..)| range).collect()
}

/// The addresses in the automatic subnet of this number; if there is none, or it is too small or overlaps a given one, in the
/// next that overlaps none.
fn automatic(
    segment: &Segment<'_>,
    (family, pool): (Family, &Pool),
    number: Option<u128>,
    next: &mut u128,
    reserved: &[Range],
    errors: &mut Errors,
) -> Vec<Vec<IpNet>> {
    let pair = pool.pair.filter(|_| segment.ends.len() == 2 && !segment.is_lan);
    let parts = if pair.is_some() { 1 } else { pool.parts(segment.ends.len()) };
    let (lowest, prefix) = pair.unwrap_or_else(|| (1, pool.prefix(parts)));
    let ends = |subnet: Range| {
        let each = segment.ends.iter().zip(lowest..);
        let nets =
            each.map(|(own, host): (_, u128)| own.is_addressed.then(|| net(family, subnet.first + host, prefix)));
        nets.map(|net| net.into_iter().collect()).collect()
    };
    let overlapped = |subnet: Range| reserved.iter().find(|other| other.overlaps(subnet));
    if let Some(subnet) = number.filter(|_| parts == 1).map(|number| pool.subnet(number, parts))
        && overlapped(subnet).is_none()
    {
        return ends(subnet);
    }
    loop {
        *next = next.next_multiple_of(parts);
        let subnet = pool.subnet(*next, parts);
        if subnet.last > pool.last {
            errors.push(full(segment, family, pool, parts));
            return vec![Vec::new(); segment.ends.len()];
        }
        match overlapped(subnet) {
            Some(other) => {
                let behind = other.last.min(pool.last) + 1;
                *next = (behind - pool.first).div_ceil(pool.step).max(*next + 1);
            }
            None => {
                *next += parts - u128::from(number.is_none());
                return ends(subnet);
            }
        }
    }
}

/// The error about a segment for which no subnet is left, where the prefix is written if it is.
fn full(segment: &Segment<'_>, family: Family, pool: &Pool, parts: u128) -> Diagnostic {
    let Some(given) = &pool.given else {
        let message = format!("no automatic {} subnet is left: give the ends an `address`", family.name());
        return segment.name.error(message);
    };
    let (prefix, ends) = (given.value, segment.ends.len());
    let message = if parts > pool.room() {
        format!("{segment} has {ends} ends, too many for {prefix}: write a larger prefix")
    } else {
        format!("{prefix} is too small for the subnets of all links: write a larger prefix, or give ends an `address`")
    };
    given.error(message).and(segment.name.span, "no subnet is left for this one")
}

/// Gives addresses to the ends that have none, in the subnet of the first that has one: the next free one above, else the
/// lowest.
fn complete(segment: &Segment<'_>, nets: &mut [Vec<IpNet>], taken: &mut BTreeSet<IpAddr>, errors: &mut Errors) {
    let Some(other) = nets.iter().flatten().next().copied() else { return };
    let hosts = family::hosts(&other);
    let family = Family::of(&other);
    let at = |number: u128| net(family, number, other.prefix_len());
    let mut candidates = (first(&other)..=hosts.last).skip(1).chain(hosts.first..first(&other)).map(at);
    let missing = nets.iter_mut().zip(&segment.ends).filter(|(own, end)| own.is_empty() && end.is_addressed);
    for (own, _) in missing {
        let Some(free) = candidates.find(|net| !taken.contains(&net.addr())) else {
            errors.push(segment.name.error(crowded(segment, &other)));
            return;
        };
        taken.insert(free.addr());
        own.push(free);
    }
}

/// What is wrong with a subnet in which not all ends find an address.
fn crowded(segment: &Segment<'_>, subnet: &IpNet) -> String {
    let subnet = subnet.trunc();
    if segment.ends.len() == 2 {
        return format!("{subnet} leaves no address for the other end: give both, or a larger subnet");
    }
    let hosts = family::hosts(&subnet);
    let (room, ends) = (hosts.last - hosts.first + 1, segment.ends.len());
    format!(
        "{subnet} has {room} addresses for the {ends} ends of {segment}: give one of them an address in a larger subnet"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::tests::link;

    fn shown(links: &[LinkSpec], family: Family) -> Vec<String> {
        let mut found = Findings::default();
        let nets = assign(&segments(links, &[]), ends(links).count(), &AddressingSpec::default(), &mut found);
        assert!(found.errors.is_empty(), "{:?}", found.errors);
        nets.iter().flatten().filter(|net| Family::of(net) == family).map(ToString::to_string).collect()
    }

    #[test]
    fn all_ends_of_a_segment_share_a_subnet_that_has_room_for_them() {
        let links = [
            link("before", &[("a", ""), ("b", "")]),
            link("lan", &[("a", ""), ("b", ""), ("c", ""), ("d", ""), ("e", "")]),
            link("behind", &[("d", ""), ("e", "")]),
        ];
        let lan = ["10.0.0.9/29", "10.0.0.10/29", "10.0.0.11/29", "10.0.0.12/29", "10.0.0.13/29"];
        let all = [&["10.0.0.1/30", "10.0.0.2/30"][..], &lan, &["10.0.0.17/30", "10.0.0.18/30"]].concat();
        assert_eq!(shown(&links, Family::V4), all);
        assert_eq!(
            shown(&links, Family::V6)[5..8],
            ["fd00:6e6c:0:1::4/64", "fd00:6e6c:0:1::5/64", "fd00:6e6c:0:2::1/64"]
        );
    }

    #[test]
    fn ends_without_an_address_get_one_beside_the_first_that_is_given() {
        let given = [("a", ""), ("b", "192.168.1.253/24"), ("c", "192.168.1.1/24"), ("d", "")];
        let all = ["192.168.1.254/24", "192.168.1.253/24", "192.168.1.1/24", "192.168.1.2/24"];
        assert_eq!(shown(&[link("lan", &given)], Family::V4), all);
    }
}
