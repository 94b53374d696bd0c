//! Addresses as MiniEdit and Mininet give them.

use std::net::Ipv4Addr;

/// The network of hosts that say no address (`ipBase`).
#[derive(Debug)]
pub(super) struct Base {
    network: u32,
    length: u32,
    /// How many nodes Mininet has given addresses to: hosts, and then routers, which say none.
    count: u32,
}

impl Default for Base {
    fn default() -> Self {
        Self { network: 10 << 24, length: 8, count: 0 }
    }
}

impl Base {
    /// The network `A.B.C.D/LENGTH`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (address, length) = text.split_once('/')?;
        let length: u32 = length.parse().ok().filter(|length| *length <= 32)?;
        let address = u32::from(address.parse::<Ipv4Addr>().ok()?);
        let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
        Some(Self { network: address & mask, length, count: 0 })
    }

    /// The address of a node that says `ip`, and has this number in the editor. Without a prefix length an address has that of
    /// Mininet's `Node.setIP`, 8. A router's address is the next one of those that Mininet gives by itself (`Mininet.addHost`).
    pub(super) fn address(&mut self, ip: Option<&str>, number: &str, is_router: bool) -> Option<String> {
        self.count = self.count.saturating_add(1);
        if let Some(ip) = ip {
            return crate::shell::address(&if ip.contains('/') { ip.to_owned() } else { format!("{ip}/8") });
        }
        let (offset, length) = if is_router { (self.count, self.length) } else { (number.parse().ok()?, 8) };
        let most = u32::MAX.checked_shr(self.length).unwrap_or(0);
        (offset <= most).then(|| format!("{}/{length}", Ipv4Addr::from(self.network | offset)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_mininet() {
        let mut base = Base::read("10.1.2.3/16").expect("a network");
        assert_eq!(base.address(None, "8", false).as_deref(), Some("10.1.0.8/8"));
        assert_eq!(base.address(Some("192.168.0.1"), "9", false).as_deref(), Some("192.168.0.1/8"));
        assert_eq!(base.address(Some("192.168.0.1/24"), "9", false).as_deref(), Some("192.168.0.1/24"));
        assert_eq!(base.address(None, "1", true).as_deref(), Some("10.1.0.4/16"));
        assert_eq!(base.address(None, "70000", false), None);
        for wrong in ["10.0.0.0", "10.0.0.0/33", "x/8"] {
            assert!(Base::read(wrong).is_none(), "{wrong}");
        }
    }
}
