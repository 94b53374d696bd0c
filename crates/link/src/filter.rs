//! Filters: traffic told apart by its addresses, protocol, ports and traffic class (dummynet: Carbone and Rizzo 2010), and shares of
//! its connections (Toxiproxy's toxicity).

mod prefix;

pub use prefix::Prefix;

use crate::{ConfigError, FlowHash};
use alloc::{format, vec::Vec};
use netloom_packet::Flow;
use netloom_units::{Probability, Seed};

/// A set of conditions that a packet must meet. All that are given must hold; of a list, one entry must. The filter without
/// conditions matches every packet, and no other filter matches what is not IP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The prefixes of which one must contain the source address.
    pub from: Option<Vec<Prefix>>,
    /// The prefixes of which one must contain the destination address.
    pub to: Option<Vec<Prefix>>,
    /// The protocols above IP that match, by their IANA numbers.
    pub protocol: Option<Vec<u8>>,
    /// The ranges of which one must contain the source port.
    pub from_port: Option<Vec<Ports>>,
    /// The ranges of which one must contain the destination port.
    pub to_port: Option<Vec<Ports>>,
    /// The ranges of which one must contain the source or the destination port.
    pub port: Option<Vec<Ports>>,
    /// The differentiated services code points that match, 0 to 63 (RFC 2474, section 3).
    pub dscp: Option<Vec<u8>>,
    /// The share of connections that match.
    pub share: Option<Share>,
}

/// A share of connections, the same in both directions and wherever the seed is the same; a larger share has those of a smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The probability with which a connection is of it.
    pub probability: Probability,
    /// The seed of the hash that picks them by addresses, protocol and ports.
    pub seed: Seed,
}

impl Share {
    fn has(&self, flow: &Flow) -> bool {
        let is_forward = (flow.source, flow.source_port) <= (flow.destination, flow.destination_port);
        let flow = if is_forward { *flow } else { flow.reversed() };
        self.probability == Probability::ONE || self.probability.happens(FlowHash::new(self.seed).of(&flow))
    }
}

/// Ports from the first to the last, both included; 1 to 65535. A packet without ports is in no such range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The first.
    pub first: u16,
    /// The last.
    pub last: u16,
}

impl Ports {
    /// One port only.
    pub fn one(port: u16) -> Self {
        Self { first: port, last: port }
    }

    fn contains(self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }

    fn covers(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }
}

// IANA protocol numbers.
const ICMP: u8 = 1;
const ICMPV6: u8 = 58;
/// TCP, UDP, DCCP, SCTP and UDP-Lite: those whose ports a [`Flow`] has.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];
/// The code point has six bits.
const MOST_DSCP: u8 = 63;

impl Filter {
    /// Returns the filter of the opposite direction, which matches the answers to what this one matches.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let Self { from, to, from_port, to_port, .. } = self.clone();
        Self { from: to, to: from, from_port: to_port, to_port: from_port, ..self.clone() }
    }

    /// Whether the filter matches a packet of this flow; none: a packet that is not IP.
    pub fn matches(&self, flow: Option<&Flow>) -> bool {
        let Some(flow) = flow else { return *self == Self::default() };
        let (source, destination) = (flow.source_port, flow.destination_port);
        any(&self.from, |prefix| prefix.contains(flow.source))
            && any(&self.to, |prefix| prefix.contains(flow.destination))
            && any(&self.protocol, |protocol| *protocol == flow.protocol)
            && any(&self.from_port, |ports| ports.contains(source))
            && any(&self.to_port, |ports| ports.contains(destination))
            && any(&self.port, |ports| ports.contains(source) || ports.contains(destination))
            && any(&self.dscp, |dscp| *dscp == flow.dscp)
            && self.share.is_none_or(|share| share.has(flow))
    }

    /// Whether this filter is known to match all that `other` matches; a filter behind this one would never match.
    ///
    /// A `true` is always right. A `false` may be wrong where only several entries of a list together cover one.
    pub fn covers(&self, other: &Self) -> bool {
        let ports = |own: Ports, others: Ports| own.covers(others);
        let either = [&other.port, &other.from_port, &other.to_port];
        covers(&self.from, &other.from, |own, others| own.covers(&others))
            && covers(&self.to, &other.to, |own, others| own.covers(&others))
            && covers(&self.protocol, &other.protocol, |own, others| own == others)
            && covers(&self.from_port, &other.from_port, ports)
            && covers(&self.to_port, &other.to_port, ports)
            && either.into_iter().any(|others| covers(&self.port, others, ports))
            && covers(&self.dscp, &other.dscp, |own, others| own == others)
            && self.share.is_none_or(|own| {
                other.share.is_some_and(|others| own.seed == others.seed && others.probability <= own.probability)
            })
    }

    /// Whether there are packets that it matches.
    ///
    /// # Errors
    /// A list without entries, a share of nothing, a port 0, a range that ends before it begins, a code point above 63, ports with protocols
    /// that have none, source and destination of different families, ICMP of the other family.
    pub fn check(&self) -> Result<(), ConfigError> {
        let lists = [
            ("from", self.from.as_ref().map(Vec::len)),
            ("to", self.to.as_ref().map(Vec::len)),
            ("protocol", self.protocol.as_ref().map(Vec::len)),
            ("from_port", self.from_port.as_ref().map(Vec::len)),
            ("to_port", self.to_port.as_ref().map(Vec::len)),
            ("port", self.port.as_ref().map(Vec::len)),
            ("dscp", self.dscp.as_ref().map(Vec::len)),
        ];
        if let Some((key, _)) = lists.into_iter().find(|(_, length)| *length == Some(0)) {
            return Err(ConfigError::new(key, "an empty list matches nothing: leave the key out, or name something"));
        }
        if self.share.is_some_and(|share| share.probability.is_zero()) {
            return Err(ConfigError::new(
                "share",
                "a share of 0 % has no connections: write more, or leave the key out",
            ));
        }
        self.check_ports()?;
        self.check_families()?;
        let wrong = self.dscp.iter().flatten().find(|dscp| **dscp > MOST_DSCP);
        wrong.map_or(Ok(()), |dscp| {
            Err(ConfigError::new("dscp", format!("{dscp} is not a code point: they go from 0 to {MOST_DSCP}")))
        })
    }

    fn check_ports(&self) -> Result<(), ConfigError> {
        for (key, ranges) in [("from_port", &self.from_port), ("to_port", &self.to_port), ("port", &self.port)] {
            for Ports { first, last } in ranges.iter().flatten() {
                if *first == 0 {
                    return Err(ConfigError::new(key, "0 is not a port: they go from 1 to 65535"));
                }
                if first > last {
                    let message = format!("the range {first}-{last} ends before it begins: write {last}-{first}");
                    return Err(ConfigError::new(key, message));
                }
            }
            let has_none = |protocols: &Vec<u8>| !protocols.iter().any(|protocol| WITH_PORTS.contains(protocol));
            if ranges.is_some() && self.protocol.as_ref().is_some_and(has_none) {
                let message = "these protocols have no ports: only TCP, UDP, DCCP, SCTP and UDP-Lite have";
                return Err(ConfigError::new(key, message));
            }
        }
        Ok(())
    }

    /// A packet is of one family: there must be one of which everything that is given can be.
    fn check_families(&self) -> Result<(), ConfigError> {
        let has = |list: &Option<Vec<Prefix>>, ipv6| any(list, |prefix: &Prefix| prefix.is_ipv6() == ipv6);
        let family = |ipv6| has(&self.from, ipv6) && has(&self.to, ipv6);
        let is_icmp_of = |protocol: u8, ipv6| any(&self.protocol, |own| *own != protocol) || family(ipv6);
        if !family(false) && !family(true) {
            return Err(ConfigError::new("to", "`from` and `to` must both be IPv4 or both be IPv6"));
        }
        // RFC 792 and RFC 4443: each family has an ICMP of its own.
        if !is_icmp_of(ICMP, false) {
            return Err(ConfigError::new("protocol", "icmp belongs to IPv4: write icmpv6 for IPv6 addresses"));
        }
        if !is_icmp_of(ICMPV6, true) {
            return Err(ConfigError::new("protocol", "icmpv6 belongs to IPv6: write icmp for IPv4 addresses"));
        }
        Ok(())
    }
}

/// Whether one of the list is right, or nothing was asked for.
fn any<T>(list: &Option<Vec<T>>, right: impl FnMut(&T) -> bool) -> bool {
    list.as_ref().is_none_or(|list| list.iter().any(right))
}

/// Whether every entry of the second list is covered by one of the first.
fn covers<T: Copy>(own: &Option<Vec<T>>, others: &Option<Vec<T>>, covered: impl Fn(T, T) -> bool) -> bool {
    let Some(own) = own else { return true };
    let is_covered = |other: &T| own.iter().any(|entry| covered(*entry, *other));
    others.as_ref().is_some_and(|others| others.iter().all(is_covered))
}
