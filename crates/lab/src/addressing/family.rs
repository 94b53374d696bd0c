//! Both families as numbers.

use crate::diagnostics::Spanned;
use crate::spec::{AddressingSpec, PoolSpec};
use ipnet::IpNet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

/// Where automatic subnets come from.
pub(super) struct Pool {
    pub(super) first: u128,
    pub(super) last: u128,
    /// Addresses in the smallest subnet.
    pub(super) step: u128,
    /// How long its prefix is.
    longest: u8,
    /// In the subnet of two nodes, the first one's address, and the length of the prefix, if they are special.
    pub(super) pair: Option<(u128, u8)>,
    /// As the lab file has it.
    pub(super) given: Option<Spanned<IpNet>>,
}

impl Pool {
    /// How many of its subnets there are, side by side, in one with room for so many ends, its own address and that of
    /// broadcasts.
    pub(super) fn parts(&self, ends: usize) -> u128 {
        (ends as u128 + 2).div_ceil(self.step).next_power_of_two()
    }

    /// How many subnets of the smallest size there are.
    pub(super) fn room(&self) -> u128 {
        (self.last - self.first) / self.step + 1
    }

    /// How long the prefix of a subnet of so many parts is.
    pub(super) fn prefix(&self, parts: u128) -> u8 {
        self.longest - u8::try_from(parts.ilog2()).unwrap_or(u8::MAX)
    }

    /// The automatic subnet of so many parts, of which the first has this number.
    pub(super) fn subnet(&self, number: u128, parts: u128) -> Range {
        let first = self.first + number * self.step;
        Range { first, last: first + parts * self.step - 1 }
    }
}

/// Addresses from `first` to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u128,
    pub(super) last: u128,
}

impl Range {
    pub(super) fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

impl Family {
    pub(crate) fn of(net: &IpNet) -> Self {
        match net {
            IpNet::V4(_) => Self::V4,
            IpNet::V6(_) => Self::V6,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }

    /// Where its automatic subnets come from; none if there are none. 10.0.0.0/8 is private (RFC 1918); fd00:6e6c::/32 is
    /// locally assigned (RFC 4193) and begins with `nl` in ASCII.
    pub(super) fn pool(self, spec: &AddressingSpec) -> Option<Pool> {
        let wanted = if self == Self::V4 { &spec.v4 } else { &spec.v6 };
        let Range { first, last } = match (wanted, self) {
            (PoolSpec::Nowhere, _) => return None,
            (PoolSpec::Within(net), _) => range(&net.value),
            (PoolSpec::Usual, Self::V4) => Range { first: 10 << 24, last: (11 << 24) - 1 },
            (PoolSpec::Usual, Self::V6) => Range { first: 0xfd00_6e6c << 96, last: (0xfd00_6e6d << 96) - 1 },
        };
        let given = if let PoolSpec::Within(net) = wanted { Some(net.clone()) } else { None };
        let (step, longest) = match self {
            Self::V4 if spec.point_to_point => (2, 31),
            Self::V4 => (4, 30),
            Self::V6 => (1 << 64, 64),
        };
        let pair = match self {
            // RFC 3021: both addresses of a /31 are those of nodes.
            Self::V4 => (0, 31),
            // RFC 6164 keeps those free whose last 64 bits are zero; the rest of the /64 stays unused.
            Self::V6 => (2, 127),
        };
        Some(Pool { first, last, step, longest, pair: spec.point_to_point.then_some(pair), given })
    }

    /// Bits of an address.
    pub(crate) fn bits(self) -> u8 {
        match self {
            Self::V4 => 32,
            Self::V6 => 128,
        }
    }

    /// Everything: the destination of a default route.
    pub(crate) fn everything(self) -> IpNet {
        net(self, 0, 0)
    }
}

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

/// The address of a net as a number.
pub(crate) fn first(net: &IpNet) -> u128 {
    number(net.addr())
}

/// All addresses of a net's subnet.
pub(super) fn range(net: &IpNet) -> Range {
    Range { first: number(net.network()), last: number(net.broadcast()) }
}

/// Those that an interface can have: not the subnet's own (in IPv6 that of its routers), nor the broadcast address.
pub(super) fn hosts(net: &IpNet) -> Range {
    let Range { first, last } = range(net);
    match net {
        IpNet::V4(v4) if v4.prefix_len() < 31 => Range { first: first + 1, last: last - 1 },
        IpNet::V6(v6) if v6.prefix_len() < 127 => Range { first: first + 1, last },
        _ => Range { first, last },
    }
}

/// The net with this address.
pub(crate) fn net(family: Family, address: u128, prefix: u8) -> IpNet {
    let address = match family {
        Family::V4 => IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(address).expect("an IPv4 address has 32 bits"))),
        Family::V6 => IpAddr::V6(Ipv6Addr::from_bits(address)),
    };
    IpNet::new(address, prefix).expect("prefix lengths come from nets of the same family")
}
