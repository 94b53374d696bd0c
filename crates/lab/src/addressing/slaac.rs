//! The addresses that clients of an advertising router make of its prefix (SLAAC, RFC 4862).

use super::family::Family;
use crate::plan::End;
use crate::segments::{Segment, Station};
use ipnet::{IpNet, Ipv6Net};
use std::net::Ipv6Addr;

/// How long a prefix is that leaves room for what is made of a hardware address.
const LENGTH: u8 = 64;

/// The address in a subnet that Linux makes of a hardware address (RFC 4291, appendix A).
pub(super) fn address(prefix: Ipv6Addr, mac: [u8; 6]) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac.map(u16::from);
    let [one, two, three, four, ..] = prefix.segments();
    Ipv6Addr::new(one, two, three, four, ((a ^ 2) << 8) | b, (c << 8) | 0xff, 0xfe00 | d, (e << 8) | f)
}

/// The same in a prefix that a router advertises.
pub(crate) fn made_of(prefix: Ipv6Net, mac: [u8; 6]) -> Ipv6Addr {
    address(prefix.network(), mac)
}

/// Puts these addresses in the place of automatic ones. Those that the file gives stay.
pub(super) fn settle(segments: &[Segment<'_>], addresses: &mut [Vec<IpNet>]) {
    for segment in segments {
        let router = segment.ends.iter().find(|own| own.server.is_some_and(|server| server.advertise.is_some()));
        let Some(prefix) = router.and_then(|own| prefix(addresses, own.end)) else { continue };
        let is_given = |own: &&Station<'_>| own.spec.addresses.iter().any(|net| Family::of(&net.value) == Family::V6);
        for own in segment.ends.iter().filter(|own| own.asks && !is_given(own)) {
            let made = made_of(prefix, own.spec.mac_at(own.end));
            let nets = &mut addresses[own.end.index()];
            nets.retain(|net| Family::of(net) != Family::V6);
            nets.extend(IpNet::new(made.into(), LENGTH));
        }
    }
}

/// The prefix that the router at this end advertises.
fn prefix(addresses: &[Vec<IpNet>], end: End) -> Option<Ipv6Net> {
    let mut nets = addresses[end.index()].iter();
    let first = nets.find_map(|net| if let IpNet::V6(net) = net { Some(net) } else { None });
    first.filter(|net| net.prefix_len() == LENGTH).map(Ipv6Net::trunc)
}
