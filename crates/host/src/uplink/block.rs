//! The subnets of links: `100.64.0.0/10`, which RFC 6598 sets aside for translated addresses, in pieces of four.

use std::net::Ipv4Addr;

use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Serialize};

use crate::error::KernelError;

/// `100.64.0.0`.
const FIRST: u32 = 0x6440_0000;
/// The bits of an address within it that name a subnet.
const SUBNETS: u32 = 1 << 20;
/// Subnets of one level: links that begin in the same network. A link inside another one is of the next level, so that no
/// two on the way out have the same addresses.
const PER_LEVEL: u32 = 1 << 12;
/// How many links can be one inside the other.
const LEVELS: u32 = SUBNETS / PER_LEVEL;

/// A subnet with an address for each end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Block(u32);

impl Block {
    /// The length of the subnet's prefix.
    pub(super) const PREFIX: u8 = 30;

    /// The address of the end in the caller's network.
    pub(super) fn outside(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(FIRST + 4 * self.0 + 1)
    }

    /// The address of the end where the command is.
    pub(super) fn inside(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(FIRST + 4 * self.0 + 2)
    }

    /// The name of the interface in the caller's network. As names are unique there, it also reserves the subnet.
    pub(super) fn interface(self) -> String {
        format!("netloom{:x}", self.0)
    }

    /// The subnets that a link can have whose outer end is in a network with these addresses and routes; none at the last
    /// level.
    pub(super) fn free(taken: &[IpNet]) -> impl Iterator<Item = Self> {
        let taken: Vec<Ipv4Net> = taken.iter().filter_map(v4).filter(|net| net.prefix_len() > 0).collect();
        let level = taken.iter().filter_map(|net| level_behind(*net)).max().unwrap_or(0);
        let of_level = if level < LEVELS { level * PER_LEVEL..(level + 1) * PER_LEVEL } else { 0..0 };
        of_level.map(Self).filter(move |block| {
            let own = Ipv4Net::new_assert(block.outside(), Self::PREFIX);
            !taken.iter().any(|net| net.contains(&own.network()) || own.contains(&net.addr()))
        })
    }
}

/// The error when none is free.
pub(super) fn none_free() -> KernelError {
    let error = KernelError::new("find addresses for the link in 100.64.0.0/10", libc::EADDRNOTAVAIL);
    error.with_detail(format!("{LEVELS} links one inside the other, and {PER_LEVEL} side by side, are the most"))
}

fn v4(net: &IpNet) -> Option<Ipv4Net> {
    match net {
        IpNet::V4(net) => Some(*net),
        IpNet::V6(_) => None,
    }
}

/// If this is the address of the inner end of a link: the level of links that begin there.
fn level_behind(net: Ipv4Net) -> Option<u32> {
    let number = net.addr().to_bits().checked_sub(FIRST).filter(|number| *number < 4 * SUBNETS)?;
    (net.prefix_len() == Block::PREFIX && number % 4 == 2).then_some(number / 4 / PER_LEVEL + 1)
}

/// A hardware address for the end with this address.
pub(super) fn mac(address: Ipv4Addr) -> [u8; 6] {
    let [a, b, c, d] = address.octets();
    [0x02, 0x6e, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(taken: &[&str]) -> Option<Block> {
        let taken: Vec<IpNet> = taken.iter().map(|net| net.parse().unwrap()).collect();
        Block::free(&taken).next()
    }

    #[test]
    fn the_first_link_has_the_first_subnet() {
        let block = first(&["192.168.1.5/24", "0.0.0.0/0", "fd00::1/64"]).unwrap();
        assert_eq!(
            (block.outside().to_string(), block.inside().to_string()),
            ("100.64.0.1".into(), "100.64.0.2".into())
        );
        assert_eq!(block.interface(), "netloom0");
        assert_eq!(mac(block.inside()), [2, 0x6e, 100, 64, 0, 2]);
    }

    #[test]
    fn links_side_by_side_take_the_next_subnet_and_leave_others_networks_alone() {
        assert_eq!(first(&["100.64.0.1/30"]).unwrap().outside(), Ipv4Addr::new(100, 64, 0, 5));
        // A provider's network, and a single address of it.
        assert_eq!(first(&["100.64.3.7/22"]).unwrap().outside(), Ipv4Addr::new(100, 64, 4, 1));
        assert_eq!(first(&["100.64.0.6/32", "100.64.0.1/30"]).unwrap().outside(), Ipv4Addr::new(100, 64, 0, 9));
        assert_eq!(first(&["100.64.0.0/10"]), None);
    }

    #[test]
    fn links_inside_links_are_of_the_next_level() {
        assert_eq!(first(&["100.64.0.2/30"]).unwrap().inside(), Ipv4Addr::new(100, 64, 64, 2));
        assert_eq!(first(&["100.64.64.6/30", "100.64.128.1/30"]).unwrap().inside(), Ipv4Addr::new(100, 64, 128, 6));
        assert_eq!(first(&["100.127.192.2/30"]), None);
        assert!(Block(SUBNETS - 1).interface().len() < libc::IFNAMSIZ);
    }
}
