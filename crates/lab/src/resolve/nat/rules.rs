//! The rules of nftables by which a router translates addresses.
//!
//! Linux by itself chooses a port for each connection: it keeps the sender's where it can, and two senders may have the same
//! port as long as they speak to different destinations. For endpoint-independent mapping (RFC 4787, section 4.1), the first
//! packet of a sender fixes its port: behind the translation, `mappings` notes which port it was given, and all of its later
//! connections get the same. A port that one sender has (`owners`) is not given to another. For filtering (section 5), what comes
//! in at such a port is passed on to its owner, if that has sent something to the address that it comes from (`met`), or in any case.

use crate::spec::Dependence;
use std::fmt::Write;
use std::net::Ipv4Addr;

/// What the rules are made of.
pub(super) struct Rules<'a> {
    /// The interfaces that lead outside.
    pub(super) outside: Vec<&'a str>,
    /// The router's addresses there; not empty.
    pub(super) addresses: Vec<Ipv4Addr>,
    pub(super) mapping: Dependence,
    pub(super) filtering: Dependence,
    pub(super) forwards: Vec<Forward>,
}

/// A port that leads to a node behind the router.
pub(super) struct Forward {
    pub(super) is_udp: bool,
    pub(super) port: u16,
    pub(super) address: Ipv4Addr,
    pub(super) to_port: u16,
}

/// As RFC 4787 recommends: a mapping that nobody uses is forgotten after five minutes (section 4.3).
const TIMEOUT: &str = "5m";
const PROTOCOLS: [&str; 2] = ["udp", "tcp"];

impl Rules<'_> {
    /// The text for `nft`.
    pub(super) fn text(&self) -> String {
        let names: Vec<String> = self.outside.iter().map(|name| format!("\"{name}\"")).collect();
        let addresses: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        let head = [("outside", names), ("addresses", addresses)];
        let mut text: String =
            head.iter().map(|(name, all)| format!("define {name} = {{ {} }}\n", all.join(", "))).collect();
        text += "table ip netloom {\n";
        if self.mapping == Dependence::Nothing {
            text += &PROTOCOLS.map(|protocol| self.tables(protocol)).concat();
        }
        text += &chain("prerouting", "nat hook prerouting priority dstnat", &self.arriving());
        text += &chain("postrouting", "nat hook postrouting priority srcnat", &self.leaving());
        if self.mapping == Dependence::Nothing {
            text += &chain("learning", "filter hook postrouting priority srcnat + 10", &self.learning());
            // The router would refuse it, and remember the connection, whose port its owner could then not use.
            let refused = PROTOCOLS
                .map(|protocol| format!("iifname $outside {protocol} dport @{protocol}-owners ct state new drop"));
            text += &chain("input", "filter hook input priority filter", &refused);
        }
        let passing = [
            "iifname $outside oifname != $outside ct state new ct status dnat accept",
            "iifname $outside oifname != $outside ct state new reject with icmp type net-unreachable",
            "oifname $outside ct state invalid drop",
        ];
        text += &chain("forward", "filter hook forward priority filter", &passing.map(str::to_owned));
        text + "}\n"
    }

    fn tables(&self, protocol: &str) -> String {
        let table = |what: &str, name: &str, kind: &str| {
            format!(
                "  {what} {protocol}-{name} {{ type {kind}; flags dynamic,timeout; timeout {TIMEOUT}; size 65535; }}\n"
            )
        };
        let mappings = table("map", "mappings", "ipv4_addr . inet_service : inet_service");
        let owners = table("map", "owners", "inet_service : ipv4_addr . inet_service");
        let met = if self.filtering == Dependence::Address {
            table("set", "met", "inet_service . ipv4_addr")
        } else {
            String::new()
        };
        mappings + &owners + &met
    }

    fn arriving(&self) -> Vec<String> {
        let forward = |forward: &Forward| {
            let Forward { is_udp, port, address, to_port } = forward;
            let protocol = if *is_udp { "udp" } else { "tcp" };
            format!("ip daddr $addresses {protocol} dport {port} dnat to {address}:{to_port}")
        };
        let mut rules: Vec<String> = self.forwards.iter().map(forward).collect();
        for protocol in PROTOCOLS {
            let condition = match self.filtering {
                Dependence::Nothing => format!("meta l4proto {protocol}"),
                Dependence::Address => format!("{protocol} dport . ip saddr @{protocol}-met"),
                // Connections that were begun inside need no rule.
                Dependence::AddressAndPort => continue,
            };
            rules.push(format!("iifname $outside {condition} dnat ip to {protocol} dport map @{protocol}-owners"));
        }
        rules
    }

    fn leaving(&self) -> Vec<String> {
        // Who uses a forwarded port from inside is answered by way of the router, from which the packets seem to come.
        let mut rules =
            vec![format!("iifname != $outside oifname != $outside ct status dnat snat to {}", self.addresses[0])];
        const INSIDE: &str = "iifname != $outside oifname $outside";
        if self.mapping == Dependence::Nothing {
            let known = |protocol| {
                format!("meta l4proto {protocol} masquerade to :ip saddr . {protocol} sport map @{protocol}-mappings")
            };
            let taken = |protocol| format!("{protocol} sport @{protocol}-owners masquerade fully-random");
            let both = PROTOCOLS.iter().flat_map(|protocol| [known(protocol), taken(protocol)]);
            rules.extend(both.map(|rule| format!("{INSIDE} {rule}")));
            rules.push(format!("{INSIDE} masquerade"));
        } else {
            rules.push(format!("{INSIDE} masquerade fully-random"));
        }
        rules
    }

    fn learning(&self) -> Vec<String> {
        let rule = |protocol: &str| {
            let own = "ct original ip saddr . ct original proto-src";
            let mut rule = format!(
                "oifname $outside meta l4proto {protocol} ct direction original ct original ip saddr != $addresses \
                 update @{protocol}-mappings {{ {own} : {protocol} sport }} update @{protocol}-owners {{ {protocol} sport : {own} }}"
            );
            if self.filtering == Dependence::Address {
                let _ = write!(rule, " update @{protocol}-met {{ {protocol} sport . ip daddr }}");
            }
            rule
        };
        PROTOCOLS.map(rule).to_vec()
    }
}

fn chain(name: &str, kind: &str, rules: &[String]) -> String {
    let rules: String = rules.iter().map(|rule| format!("    {rule}\n")).collect();
    format!("  chain {name} {{\n    type {kind};\n{rules}  }}\n")
}
