//! `match`: filters, for everything that treats only some of the traffic.

use crate::diagnostics::{Diagnostic, nearest};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::{Key, Kind, Section};
use crate::scalar::{integer, text, word};
use crate::yaml::{Content, Node};
use ipnet::IpNet;
use netloom_link::{ConfigError, Filter, Ports, Prefix};
use std::fmt::Display;
use std::net::IpAddr;

/// An address, a prefix with its length, or the name of a node.
const ADDRESS: Kind = Kind::Text("^([0-9a-fA-F.:]+(/[0-9]{1,3})?|[a-zA-Z][a-zA-Z0-9-]{0,30})$");
const ADDRESSES: Kind = Kind::OneOf(&[ADDRESS, Kind::List { items: &ADDRESS, least: 1, most: None }]);
const PORT: Kind =
    Kind::OneOf(&[Kind::Integer { least: 1, most: 65_535 }, Kind::Text("^\\s*[0-9]{1,5}\\s*-\\s*[0-9]{1,5}\\s*$")]);
const PORTS: Kind = Kind::OneOf(&[PORT, Kind::List { items: &PORT, least: 1, most: None }]);
const PROTOCOL: Kind = Kind::OneOf(&[
    Kind::Word(&["icmp", "igmp", "tcp", "udp", "dccp", "gre", "esp", "icmpv6", "ospf", "sctp", "udplite"]),
    Kind::Integer { least: 0, most: 255 },
]);
const PROTOCOLS: Kind = Kind::OneOf(&[PROTOCOL, Kind::List { items: &PROTOCOL, least: 1, most: None }]);
const DSCP: Kind = Kind::Integer { least: 0, most: 63 };
const DSCPS: Kind = Kind::OneOf(&[DSCP, Kind::List { items: &DSCP, least: 1, most: None }]);

/// The protocols that have a name here, with their numbers at IANA.
const NAMES: [(&str, u8); 11] = [
    ("icmp", 1),
    ("igmp", 2),
    ("tcp", 6),
    ("udp", 17),
    ("dccp", 33),
    ("gre", 47),
    ("esp", 50),
    ("icmpv6", 58),
    ("ospf", 89),
    ("sctp", 132),
    ("udplite", 136),
];

/// A filter.
pub(crate) const SECTION: Section = Section {
    name: "match",
    doc: "A filter of packets: every key that is given must match, and of a list one entry.",
    groups: &[KEYS],
};

/// What packets themselves say.
pub(crate) const KEYS: &[Key] = &[
    Key::new(
        "from",
        ADDRESSES,
        "10.0.1.0/24",
        "Where it comes from: a node, which stands for all its addresses, an address or a prefix, or several.",
    ),
    Key::new("to", ADDRESSES, "[10.0.9.0/24, \"fd00::/64\"]", "Where it goes, in the same notation."),
    Key::new("protocol", PROTOCOLS, "udp", "The protocol above IP by name or by number, 0 to 255, or several."),
    Key::new("port", PORTS, "5000-6000", "One of its ports: a port from 1 to 65535 or a range, or several."),
    Key::new("from_port", PORTS, "53", "Its source port, in the same notation."),
    Key::new("to_port", PORTS, "[80, 443]", "Its destination port, in the same notation."),
    Key::new("dscp", DSCPS, "46", "Its differentiated services code point, 0 to 63, or several."),
];

/// Every form that it can take.
#[cfg(test)]
pub(crate) const EXAMPLES: &[&str] = &[
    "{from: 10.0.1.0/24, to: [10.0.9.0/24, \"fd00::/64\"], protocol: udp, port: 5000-6000, dscp: 46}",
    "{to: 10.0.9.1}",
    "{from: [\"fd00::1\", \"::/0\"], protocol: [tcp, 253], from_port: 53, to_port: [80, 443, 8000-8080], dscp: [0, 10]}",
];

/// The filter that `node` describes; none if it is wrong, or if it can never match.
pub(crate) fn decode(node: &Node, errors: &mut Errors) -> Option<Filter> {
    let fields = Fields::open(node, &SECTION, errors)?;
    if node.content == Content::Map(Vec::new()) {
        errors.push(node.error("an empty filter matches everything: write for example `{to: 10.0.9.0/24}`"));
        return None;
    }
    read(&fields, node, errors)
}

/// What the keys of a filter say; `node` is the map that they are in.
pub(crate) fn read(fields: &Fields<'_>, node: &Node, errors: &mut Errors) -> Option<Filter> {
    let before = errors.len();
    let (from, to) = (prefixes(fields, "from", errors), prefixes(fields, "to", errors));
    let filter = Filter {
        from: from?,
        to: to?,
        protocol: list(fields, "protocol", protocol, errors),
        from_port: list(fields, "from_port", ports, errors),
        to_port: list(fields, "to_port", ports, errors),
        port: list(fields, "port", ports, errors),
        dscp: list(fields, "dscp", dscp, errors),
    };
    if errors.len() > before {
        return None;
    }
    let wrong = |ConfigError { key, message }| fields.get(key).unwrap_or(node).error(message);
    keep(filter.check().map_err(wrong), errors)?;
    Some(filter)
}

/// The filter as a lab file would have it.
pub(crate) fn write(filter: &Filter) -> String {
    format!("{{{}}}", written_keys(filter).join(", "))
}

/// A protocol above IP as `match` has it: its name, or else its number.
pub fn write_protocol(number: u8) -> String {
    match NAMES.iter().find(|(_, known)| *known == number) {
        Some((name, _)) => (*name).to_owned(),
        None => number.to_string(),
    }
}

/// Each of its keys with its value.
pub(crate) fn written_keys(filter: &Filter) -> Vec<String> {
    let protocol = |number: &u8| write_protocol(*number);
    let ports =
        |Ports { first, last }: &Ports| if first == last { first.to_string() } else { format!("{first}-{last}") };
    // A colon means something else to YAML.
    let prefix = |prefix: &Prefix| if prefix.is_ipv6() { format!("\"{prefix}\"") } else { prefix.to_string() };
    let keys = [
        written("from", &filter.from, prefix),
        written("to", &filter.to, prefix),
        written("protocol", &filter.protocol, protocol),
        written("port", &filter.port, ports),
        written("from_port", &filter.from_port, ports),
        written("to_port", &filter.to_port, ports),
        written("dscp", &filter.dscp, u8::to_string),
    ];
    keys.into_iter().flatten().collect()
}

fn written<T, D: Display>(key: &str, list: &Option<Vec<T>>, one: impl Fn(&T) -> D) -> Option<String> {
    let words: Vec<String> = list.as_ref()?.iter().map(|entry| one(entry).to_string()).collect();
    Some(if let [only] = &words[..] { format!("{key}: {only}") } else { format!("{key}: [{}]", words.join(", ")) })
}

/// The entries of a list, or the one that stands there without a list.
pub(crate) fn list<T>(
    fields: &Fields<'_>,
    key: &str,
    read: fn(&Node) -> Result<T, Diagnostic>,
    errors: &mut Errors,
) -> Option<Vec<T>> {
    Some(items(fields.get(key)?).iter().filter_map(|item| keep(read(item), errors)).collect())
}

fn items(node: &Node) -> &[Node] {
    match &node.content {
        Content::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

/// What `from` or `to` says, if it says anything; none if that cannot be known.
#[expect(clippy::option_option, reason = "what is not said and what is not known are different")]
fn prefixes(fields: &Fields<'_>, key: &str, errors: &mut Errors) -> Option<Option<Vec<Prefix>>> {
    let Some(node) = fields.get(key) else { return Some(None) };
    let each: Vec<Option<Vec<Prefix>>> = items(node).iter().map(|item| place(item, errors)).collect();
    let all: Option<Vec<Vec<Prefix>>> = each.into_iter().collect();
    all.map(|all| Some(all.concat()))
}

/// The prefixes that an address, a prefix or the name of a node stands for; none if they cannot be known.
fn place(node: &Node, errors: &mut Errors) -> Option<Vec<Prefix>> {
    let name = node.text().filter(|text| text.starts_with(char::is_alphabetic) && !text.contains(['.', ':', '/']));
    let Some(name) = name else { return keep(prefix(node), errors).map(|prefix| vec![prefix]) };
    let Some(nodes) = errors.nodes() else {
        let message = format!("`{name}`: the names of nodes are known in lab files only: write an address");
        errors.push(node.error(message));
        return None;
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
    errors.push(node.error(wrong));
    None
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
        Some(number) if number.starts_with(|c: char| c.is_ascii_digit()) => byte(node, 255),
        _ => word(node, &NAMES),
    }
}

fn dscp(node: &Node) -> Result<u8, Diagnostic> {
    byte(node, 63)
}

fn byte(node: &Node, most: u8) -> Result<u8, Diagnostic> {
    integer(node, 0, u64::from(most)).map(|number| u8::try_from(number).unwrap_or(u8::MAX))
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
            assert_eq!(read_text(&write(&filter)), Ok(filter), "{example}");
        }
    }

    #[test]
    fn names_and_short_forms_are_written() {
        let filter = read_text("{to: 10.0.0.7, protocol: [17, icmpv6, 253], port: 7-7}").map(|filter| write(&filter));
        assert_eq!(filter, Ok("{to: 10.0.0.7/32, protocol: [udp, icmpv6, 253], port: 7}".into()));
    }
}
