//! Where packets go: the longest prefix that fits.

use alloc::vec::Vec;
use core::net::IpAddr;
use netloom_link::Prefix;

/// All addresses in order, cut where what is to be done with them changes: no prefix is compared when a packet comes.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    /// Where each stretch begins; the first at zero.
    starts: Vec<u128>,
    /// What is to be done with the addresses of each stretch.
    targets: Vec<T>,
    /// The last answer: most packets go where the one before them went.
    latest: (u128, T),
}

impl<T: Copy + PartialEq> Table<T> {
    /// A table of these prefixes; of equal ones the first holds. `nowhere`: what is to be done where none fits.
    pub(super) fn new(prefixes: impl IntoIterator<Item = (Prefix, T)>, nowhere: T) -> Self {
        // A prefix of IPv6 that holds for all addresses does not hold for those of IPv4.
        let versions = (V4, V4 | u128::from(u32::MAX), nowhere);
        let mut ranges: Vec<(u128, u128, T)> =
            prefixes.into_iter().map(|(prefix, target)| range(&prefix, target)).collect();
        ranges.push(versions);
        // Prefixes nest or are apart: in this order each follows what it lies in.
        ranges.sort_by_key(|(first, last, _)| (*first, u128::MAX - *last));
        ranges.dedup_by_key(|(first, last, _)| (*first, *last));
        let mut this = Self { starts: Vec::new(), targets: Vec::new(), latest: (0, nowhere) };
        this.begin(0, nowhere);
        let mut around: Vec<(u128, T)> = Vec::new();
        for (first, last, target) in ranges {
            this.leave(&mut around, Some(first), nowhere);
            this.begin(first, target);
            around.push((last, target));
        }
        this.leave(&mut around, None, nowhere);
        this.latest = (0, this.targets[0]);
        this
    }

    /// Ends the stretches `around` that lie before `next`.
    fn leave(&mut self, around: &mut Vec<(u128, T)>, next: Option<u128>, nowhere: T) {
        while let Some((last, _)) = around.last().copied().filter(|(last, _)| next.is_none_or(|next| *last < next)) {
            around.pop();
            if let Some(start) = last.checked_add(1) {
                self.begin(start, around.last().map_or(nowhere, |(_, target)| *target));
            }
        }
    }

    fn begin(&mut self, start: u128, target: T) {
        if self.starts.last() == Some(&start) {
            self.starts.pop();
            self.targets.pop();
        }
        if self.targets.last() != Some(&target) {
            self.starts.push(start);
            self.targets.push(target);
        }
    }

    /// Where each stretch of addresses begins, in order, and what is to be done with them.
    pub(super) fn stretches(&self) -> impl Iterator<Item = (u128, T)> + '_ {
        self.starts.iter().copied().zip(self.targets.iter().copied())
    }

    /// What is to be done with packets for `address`.
    #[inline]
    pub(super) fn find(&mut self, address: u128) -> T {
        if self.latest.0 != address {
            let place = self.starts.partition_point(|start| *start <= address) - 1;
            self.latest = (address, self.targets[place]);
        }
        self.latest.1
    }
}

/// Addresses of IPv4 are those that IPv6 has for them (RFC 4291, section 2.5.5.2).
const V4: u128 = 0xffff << 32;

/// The number of an address in the table.
pub(super) fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => V4 | u128::from(v4.to_bits()),
        IpAddr::V6(v6) => v6.to_bits(),
    }
}

fn range<T>(prefix: &Prefix, target: T) -> (u128, u128, T) {
    let (bits, address) = (if prefix.is_ipv6() { 128 } else { 32 }, number(prefix.address()));
    let hosts = u128::MAX.checked_shr(u32::from(128 - bits + prefix.length())).unwrap_or(0);
    (address & !hosts, address | hosts, target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;

    fn prefix(text: &str) -> Prefix {
        let (address, length) = text.split_once('/').expect("a prefix");
        Prefix::new(address.parse().expect("an address"), length.parse().expect("a length")).expect("no bits behind it")
    }

    #[test]
    fn the_longest_prefix_that_fits_decides() {
        let texts = [
            "10.0.0.0/8",
            "10.0.0.0/30",
            "10.0.0.1/32",
            "10.0.0.4/30",
            "0.0.0.0/0",
            "::/0",
            "fd00::/16",
            "fd00::1/128",
            "255.255.255.255/32",
            "ffff::/16",
        ];
        let prefixes: Vec<Prefix> = texts.iter().map(|text| prefix(text)).collect();
        let mut table = Table::new(prefixes.iter().copied().zip(1..), 0);
        let addresses = [
            "10.0.0.0",
            "10.0.0.1",
            "10.0.0.2",
            "10.0.0.3",
            "10.0.0.4",
            "10.0.0.8",
            "10.255.255.255",
            "11.0.0.0",
            "9.9.9.9",
            "0.0.0.0",
            "255.255.255.254",
            "255.255.255.255",
            "::",
            "::1",
            "fd00::",
            "fd00::1",
            "fd00::2",
            "fd01::",
            "ffff::",
            "fe00::",
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        ];
        for text in addresses {
            let address: IpAddr = text.parse().expect("an address");
            let fitting = prefixes.iter().zip(1..).filter(|(prefix, _)| prefix.contains(address));
            let wanted = fitting.max_by_key(|(prefix, _)| prefix.length()).map_or(0, |(_, place)| place);
            assert_eq!(table.find(number(address)), wanted, "{text}");
            assert_eq!(table.find(number(address)), wanted, "{text} again");
        }
    }

    #[test]
    fn without_a_default_route_most_addresses_lead_nowhere() {
        let mut table = Table::new([(prefix("::/0"), 1), (prefix("10.0.0.0/8"), 2), (prefix("10.0.0.0/8"), 3)], 0);
        let mut found = |text: &str| table.find(number(text.parse().expect("an address")));
        assert_eq!(["10.1.2.3", "11.0.0.1", "fd00::1"].map(&mut found), [2, 0, 1]);
    }

    #[test]
    fn neighbours_that_lead_the_same_way_are_one_stretch() {
        let subnets = (0..64).map(|number| (prefix(&["10.0.0.", &(number * 4).to_string(), "/30"].concat()), 7));
        let table = Table::new(subnets, 0);
        assert_eq!(table.targets, vec![0, 7, 0]);
    }
}
