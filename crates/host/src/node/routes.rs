//! The prefixes to which a node has routes, as its kernel shows them to any program.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use crate::error::KernelError;

/// Those of `prefixes` that no route leads to: none to the prefix, nor to one that contains it.
pub(crate) fn lacking(mut prefixes: Vec<IpNet>) -> Result<Vec<IpNet>, KernelError> {
    let routes = here()?;
    prefixes.retain(|prefix| !routes.iter().any(|route| route.contains(prefix)));
    Ok(prefixes)
}

/// The prefixes to which this process's network namespace has routes in its main table.
pub(crate) fn here() -> Result<Vec<IpNet>, KernelError> {
    let mut routes = Vec::new();
    for (table, read) in [("/proc/net/route", v4 as fn(&str) -> Option<IpNet>), ("/proc/net/ipv6_route", v6)] {
        match fs::read_to_string(table) {
            Ok(text) => routes.extend(text.lines().filter_map(read)),
            // A kernel without IPv6 has no second table.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (),
            Err(error) => return Err(KernelError::from_io(format!("read {table}"), &error)),
        }
    }
    Ok(routes)
}

/// RTF_UP and RTF_REJECT of linux/route.h.
const UP: u32 = 0x1;
const REJECT: u32 = 0x200;

fn leads(flags: &str) -> bool {
    u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & UP != 0 && flags & REJECT == 0)
}

/// A line reads "Iface Destination Gateway Flags RefCnt Use Metric Mask …", with addresses as the machine stores them.
fn v4(line: &str) -> Option<IpNet> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let address = |text: &str| u32::from_str_radix(text, 16).ok().map(|raw| Ipv4Addr::from(raw.to_ne_bytes()));
    let destination = address(fields.next()?)?;
    fields.nth(1).filter(|flags| leads(flags))?;
    let mask = address(fields.nth(3)?)?;
    Ipv4Net::with_netmask(destination, mask).ok().map(IpNet::from)
}

/// A line reads "destination length source length gateway metric references use flags interface".
fn v6(line: &str) -> Option<IpNet> {
    let mut fields = line.split_ascii_whitespace();
    let destination = u128::from_str_radix(fields.next()?, 16).ok().map(Ipv6Addr::from)?;
    let length = u8::from_str_radix(fields.next()?, 16).ok()?;
    fields.nth(6).filter(|flags| leads(flags))?;
    Ipv6Net::new(destination, length).ok().map(IpNet::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn routes_of_ipv4_are_read_and_dead_ones_are_not() {
        let line = "eth0\t0400000A\t0200000A\t0003\t0\t0\t20\tFCFFFFFF\t0\t0\t0";
        assert_eq!(v4(line), Some("10.0.0.4/30".parse().unwrap()));
        assert_eq!(v4(&line.replace("0003", "0201")), None);
        assert_eq!(v4("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"), None);
    }

    #[test]
    fn routes_of_ipv6_are_read_and_dead_ones_are_not() {
        let (address, none) = ("fd006e6c000000010000000000000000", "0".repeat(32));
        let line = |flags: &str| format!("{address} 40 {none} 00 {none} 00000014 00000001 00000000 {flags}     eth0");
        assert_eq!(v6(&line("00000003")), Some("fd00:6e6c:0:1::/64".parse().unwrap()));
        assert_eq!(v6(&line("00200200")), None);
        assert_eq!(v6(""), None);
    }
}
