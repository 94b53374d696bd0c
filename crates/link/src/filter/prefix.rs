//! Address prefixes (RFC 4632, section 3.1; RFC 4291, section 2.3).

use crate::ConfigError;
use alloc::format;
use core::fmt;
use core::net::IpAddr;

/// All addresses that share their first bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// The addresses that share their first `length` bits with `address`.
    ///
    /// # Errors
    /// A length above 32 (IPv4) or 128 (IPv6), and bits of the address that are set behind the prefix.
    pub fn new(address: IpAddr, length: u8) -> Result<Self, ConfigError> {
        let most = bits(address).1;
        if length > most {
            return Err(ConfigError::new("", format!("the prefix of {address} has at most {most} bits")));
        }
        let whole = Self { address, length };
        let first = whole.first();
        if first != address {
            let message = format!("{address}/{length} has bits set after its prefix: write {first}/{length}");
            return Err(ConfigError::new("", message));
        }
        Ok(whole)
    }

    /// One address and no other.
    pub fn host(address: IpAddr) -> Self {
        Self { address, length: bits(address).1 }
    }

    /// The first of its addresses.
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// How many first bits they share.
    pub fn length(&self) -> u8 {
        self.length
    }

    /// Whether it is one of IPv6.
    pub fn is_ipv6(&self) -> bool {
        self.address.is_ipv6()
    }

    /// Whether `address` is among them.
    pub fn contains(&self, address: IpAddr) -> bool {
        let ((own, most), (other, others)) = (bits(self.address), bits(address));
        let differing = own ^ other;
        most == others && differing.checked_shr(u32::from(most - self.length)).unwrap_or(0) == 0
    }

    /// Whether all addresses of `other` are among them.
    pub fn covers(&self, other: &Self) -> bool {
        self.length <= other.length && self.contains(other.address)
    }

    /// The first of the addresses: no bit is set behind the prefix.
    fn first(&self) -> IpAddr {
        let (address, most) = bits(self.address);
        let behind = u32::from(most - self.length);
        let kept = address.checked_shr(behind).and_then(|prefix| prefix.checked_shl(behind)).unwrap_or(0);
        match self.address {
            IpAddr::V4(_) => IpAddr::V4(u32::try_from(kept).expect("an IPv4 address has 32 bits").into()),
            IpAddr::V6(_) => IpAddr::V6(kept.into()),
        }
    }
}

/// An address as a number, and how many bits it has.
fn bits(address: IpAddr) -> (u128, u8) {
    match address {
        IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}
