//! `match`: filters, for everything that treats only some of the traffic.

use crate::diagnostics::{Diagnostic, nearest};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{Maybe, OneOrMore, Whole, forms, one_or_more};
use crate::keyed::{Keyed, sections};
use crate::scalar::{integer, quantity, text, word};
use crate::section::{Form, Kind, Written};
use crate::yaml::{Content, Node};
use ipnet::IpNet;
use netloom_link::{ConfigError, Filter, Ports, Prefix, Share};
use netloom_units::{Probability, Seed};
use std::net::IpAddr;

/// An address, a prefix with its length, or the name of a node.
const ADDRESS: Kind = Kind::Text("^([0-9a-fA-F.:]+(/[0-9]{1,3})?|[a-zA-Z][a-zA-Z0-9-]{0,30})$");

/// A filter that can match.
pub(crate) struct Matching;
/// A filter that can match, and may pick a share of connections.
pub(crate) struct Sharing;
/// The prefixes of one or several of them.
struct Addresses;
type Dscp = Whole<u8, 0, 63>;

forms! {
    /// A port, or a range of them.
    struct PortRange = Ports,
        Kind::OneOf(&[Kind::Integer { least: 1, most: 65_535 }, Kind::Text("^\\s*[0-9]{1,5}\\s*-\\s*[0-9]{1,5}\\s*$")]), ports;
    /// A share of connections.
    struct Picked = Share, Probability::KIND, |node| quantity(node).map(unseeded);
    /// A protocol above IP, by name or number.
    struct Protocol = u8, Kind::OneOf(&[Kind::Word(&NAMES), Kind::Integer { least: 0, most: 255 }]), protocol;
}

/// The protocols that have a name here.
const NAMES: [&str; 11] = ["icmp", "igmp", "tcp", "udp", "dccp", "gre", "esp", "icmpv6", "ospf", "sctp", "udplite"];
/// The numbers of these protocols at IANA.
const NUMBERS: [u8; 11] = [1, 2, 6, 17, 33, 47, 50, 58, 89, 132, 136];

sections! {
    /// A filter of packets: every key that is given must match, and of a list one entry.
    for Filter = "match" {
        /// Where it comes from: a node, which stands for all its addresses, an address or a prefix, or several.
        from: Maybe<Addresses>, "10.0.1.0/24" else None;
        /// Where it goes, in the same notation.
        to: Maybe<Addresses>, "[10.0.9.0/24, \"fd00::/64\"]" else None;
        /// The protocol above IP by name or by number, 0 to 255, or several.
        protocol: Maybe<OneOrMore<Protocol>>, "udp" else None;
        /// One of its ports: a port from 1 to 65535 or a range, or several.
        port: Maybe<OneOrMore<PortRange>>, "5000-6000" else None;
        /// Its source port, in the same notation.
        from_port: Maybe<OneOrMore<PortRange>>, "53" else None;
        /// Its destination port, in the same notation.
        to_port: Maybe<OneOrMore<PortRange>>, "[80, 443]" else None;
        /// Its differentiated services code point, 0 to 63, or several.
        dscp: Maybe<OneOrMore<Dscp>>, "46" else None;
        /// The share of connections that match, picked from the seed by addresses, protocol and ports: the same ones in both directions and
        /// on all links. In `pipes`, `packet` and `reset` only.
        share: Maybe<Picked>, "30 %" else None;
    }
}

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &[
    "{from: 10.0.1.0/24, to: [10.0.9.0/24, \"fd00::/64\"], protocol: udp, port: 5000-6000, dscp: 46}",
    "{to: 10.0.9.1}",
    "{from: [\"fd00::1\", \"::/0\"], protocol: [tcp, 253], from_port: 53, to_port: [80, 443, 8000-8080], dscp: [0, 10]}",
];

/// The filter that `node` describes; none if it is wrong, or if it can never match.
pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<Filter> {
    read(&open(node, errors)?, node, errors)
}

/// The keys of a filter, of which there is one at least.
fn open<'a>(node: &'a Node, errors: &mut Errors) -> Option<Fields<'a>> {
    let fields = Fields::open(node, &Filter::SECTION, errors)?;
    if node.content == Content::Map(Vec::new()) {
        return errors.reject(node.error("an empty filter matches everything: write for example `{to: 10.0.9.0/24}`"));
    }
    Some(fields)
}

/// A share before the seed of the lab is known.
fn unseeded(probability: Probability) -> Share {
    Share { probability, seed: Seed::new(0) }
}

/// What the keys of a filter say; `node` is the map that they are in.
pub(crate) fn read(fields: &Fields<'_>, node: &Node, errors: &mut Errors) -> Option<Filter> {
    if let Some(share) = fields.get("share") {
        return errors.reject(
            share.error("a share of connections can be picked in `pipes`, `packet` and `reset` only: leave this out"),
        );
    }
    read_all(fields, node, errors)
}

fn read_all(fields: &Fields<'_>, node: &Node, errors: &mut Errors) -> Option<Filter> {
    let before = errors.len();
    let filter = Filter::read_keys(fields, errors)?;
    let is_unknown = |key, said: &Option<_>| fields.get(key).is_some() && said.is_none();
    if errors.len() > before || is_unknown("from", &filter.from) || is_unknown("to", &filter.to) {
        return None;
    }
    let wrong = |ConfigError { key, message }| fields.get(key).unwrap_or(node).error(message);
    keep(filter.check().map_err(wrong), errors)?;
    Some(filter)
}

/// A protocol above IP as `match` has it: its name, or else its number.
pub fn write_protocol(number: u8) -> String {
    let name = NUMBERS.iter().position(|known| *known == number).map(|place| NAMES[place]);
    name.map_or_else(|| number.to_string(), str::to_owned)
}

impl Form for Matching {
    type Value = Filter;
    const KIND: Kind = Filter::KIND;
    fn read(node: &Node, errors: &mut Errors) -> Option<Filter> {
        decode(node, errors)
    }
}

impl Form for Sharing {
    type Value = Filter;
    const KIND: Kind = Filter::KIND;
    fn read(node: &Node, errors: &mut Errors) -> Option<Filter> {
        read_all(&open(node, errors)?, node, errors)
    }
}

impl Form for Addresses {
    type Value = Vec<Prefix>;
    const KIND: Kind = Kind::OneOf(&[ADDRESS, Kind::list(&ADDRESS, 1)]);
    /// None, too, if what a name stands for cannot be known.
    fn read(node: &Node, errors: &mut Errors) -> Option<Vec<Prefix>> {
        let each: Vec<Option<Vec<Prefix>>> = node.items().iter().map(|item| place(item, errors)).collect();
        let all: Option<Vec<Vec<Prefix>>> = each.into_iter().collect();
        all.map(|all| all.concat())
    }
}

impl Written for Addresses {
    fn write(prefixes: &Vec<Prefix>) -> String {
        // A colon means something else to YAML.
        let prefix = |prefix: &Prefix| if prefix.is_ipv6() { format!("\"{prefix}\"") } else { prefix.to_string() };
        one_or_more(prefixes.iter().map(prefix))
    }
}

impl Written for PortRange {
    fn write(Ports { first, last }: &Ports) -> String {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    }
}

impl Written for Picked {
    fn write(share: &Share) -> String {
        share.probability.to_string()
    }
}

impl Written for Protocol {
    fn write(number: &u8) -> String {
        write_protocol(*number)
    }
}

/// The prefixes that an address, a prefix or the name of a node stands for; none if they cannot be known.
fn place(node: &Node, errors: &mut Errors) -> Option<Vec<Prefix>> {
    let name = node.text().filter(|text| text.starts_with(char::is_alphabetic) && !text.contains(['.', ':', '/']));
    let Some(name) = name else { return keep(prefix(node), errors).map(|prefix| vec![prefix]) };
    let Some(nodes) = errors.nodes() else {
        let message = format!("`{name}`: the names of nodes are known in lab files only: write an address");
        return errors.reject(node.error(message));
    };
    let known = || nodes.addresses.keys().map(String::as_str);
    let wrong = match nodes.addresses.get(name) {
        Some(_) if nodes.lent.contains(name) => {
            format!(
                "node `{name}` gets any address of its DHCP server (`reserve: false`): write an address or a prefix"
            )
        }
        Some(addresses) if !addresses.is_empty() => return Some(addresses.iter().copied().map(Prefix::host).collect()),
        _ if nodes.has_gaps => return None,
        Some(_) => format!("node `{name}` has no address: no link leads to it"),
        None => match nearest(name, known()) {
            Some(near) => format!("there is no node `{name}`: did you mean `{near}`?"),
            None => format!("there is no node `{name}`: write a node, an address or a prefix"),
        },
    };
    errors.reject(node.error(wrong))
}

fn prefix(node: &Node) -> Result<Prefix, Diagnostic> {
    let text = text(node)?;
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(Prefix::host(address));
    }
    let wrong =
        || node.error(format!("\"{text}\" is not an address or prefix: write for example 10.0.9.1 or 10.0.9.0/24"));
    let net: IpNet = text.parse().map_err(|_| wrong())?;
    Prefix::new(net.addr(), net.prefix_len()).map_err(|error| node.error(error.message))
}

fn protocol(node: &Node) -> Result<u8, Diagnostic> {
    match node.plain() {
        Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => {
            integer(node, 0, 255).map(|value| u8::try_from(value).unwrap_or(u8::MAX))
        }
        _ => word(node, &std::array::from_fn::<_, 11, _>(|place| (NAMES[place], NUMBERS[place]))),
    }
}

fn ports(node: &Node) -> Result<Ports, Diagnostic> {
    let one = |text: &str| text.trim().parse::<u16>().ok();
    let text = node.text().unwrap_or_default();
    let range = match text.split_once('-') {
        Some((first, last)) => one(first).zip(one(last)).map(|(first, last)| Ports { first, last }),
        None => one(text).map(Ports::one),
    };
    range.ok_or_else(|| match node.text() {
        Some(found) => {
            node.error(format!("\"{found}\" is neither a port nor a range: write for example 443 or 5000-6000"))
        }
        None => node.expected("a port like 443 or a range like 5000-6000"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyed::WrittenKeys;
    use crate::yaml;

    fn read_text(text: &str) -> Result<Filter, String> {
        let mut errors = Errors::default();
        let filter = decode(&yaml::parse(text).expect("it is YAML"), &mut errors);
        filter.ok_or_else(|| errors.iter().map(Diagnostic::message).collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn every_form_comes_back_from_what_is_written() {
        for example in EXAMPLES {
            let filter = read_text(example).unwrap_or_else(|error| panic!("{example}: {error}"));
            assert_eq!(read_text(&filter.write_map()), Ok(filter), "{example}");
        }
    }

    #[test]
    fn names_and_short_forms_are_written() {
        let filter =
            read_text("{to: 10.0.0.7, protocol: [17, icmpv6, 253], port: 7-7}").map(|filter| filter.write_map());
        assert_eq!(filter, Ok("{to: 10.0.0.7/32, protocol: [udp, icmpv6, 253], port: 7}".into()));
    }
}
