//! The ends of links.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{Placed, forms};
use crate::keyed::{Keyed, sections};
use crate::kinds::{ADDRESS, MAC, NODE_REFERENCE};
use crate::scalar::{address, filled, mac, text};
use crate::section::Kind;
use crate::spec::EndSpec;
use crate::yaml::{Content, Node};
use ipnet::IpNet;

forms! {
    pub(crate) struct Interface = String, Kind::Text("^[a-zA-Z0-9_.-]{1,15}$"), interface;
    pub(crate) struct Mac = [u8; 6], Kind::Text(MAC), mac;
    /// The ends of a link, two or more.
    pub(crate) struct Ends = Vec<EndSpec>, Kind::list(&Kind::OneOf(&[NODE_REFERENCE, End::KIND]), 2), noting ends;
}

const END_ADDRESS: Kind = Kind::OneOf(&[Kind::Text(ADDRESS), Kind::Word(&["dhcp"])]);

sections! {
    /// An end of a link, with settings that are otherwise chosen automatically.
    pub(crate) struct End = "end" {
        /// The node.
        node = NODE_REFERENCE, required "r1";
        /// The interface's name in the node, at most 15 characters. Default: eth0, eth1 and so on.
        interface: Placed<Interface>, "wan0";
        /// Its address with the prefix length, or several; dhcp, if it comes from a server. Replaces the automatic address of that family.
        address = Kind::OneOf(&[END_ADDRESS, Kind::list(&END_ADDRESS, 1)]), "[10.0.0.1/24, \"fd00::1/64\"]";
        /// Its hardware address.
        mac: Placed<Mac>, "\"02:00:00:00:00:01\"";
    }
}

fn ends(node: &Node, errors: &mut Errors) -> Option<Vec<EndSpec>> {
    match &node.content {
        Content::List(items) if items.len() >= 2 => {
            let ends: Vec<Option<EndSpec>> = items.iter().map(|item| end(item, errors)).collect();
            ends.into_iter().collect()
        }
        Content::List(items) => errors.reject(node.error(format!(
            "a link has two ends or more, found {}: write for example `ends: [client, r1]`",
            items.len()
        ))),
        _ => errors.reject(node.expected("a list of two nodes or more, for example `ends: [client, r1]`")),
    }
}

fn end(node: &Node, errors: &mut Errors) -> Option<EndSpec> {
    if !matches!(node.content, Content::Map(_)) {
        let name = keep(filled(node), errors)?;
        return Some(EndSpec { node: node.spanned(name), interface: None, addresses: vec![], asks: None, mac: None });
    }
    let fields = Fields::open(node, &End::SECTION, errors)?;
    let End { interface, mac } = End::read_keys(&fields, errors)?;
    let (addresses, asks) = fields.get("address").map_or_else(Default::default, |value| addresses(value, errors));
    let name = fields.get("node")?;
    Some(EndSpec { node: name.spanned(keep(filled(name), errors)?), interface, addresses, asks, mac })
}

fn interface(node: &Node) -> Result<String, Diagnostic> {
    let name = text(node)?;
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
    // The kernel's own names: the loopback device, and two folders of /proc/sys/net/ipv4/conf.
    let taken = ["lo", "all", "default", ".", ".."].contains(&name.as_str());
    if plain && !taken && (1..=15).contains(&name.len()) {
        return Ok(name);
    }
    Err(node.error(format!(
        "\"{name}\" cannot name an interface: use 1 to 15 letters, digits, _, . and -, but not lo, all or default"
    )))
}

/// The addresses of an end, and where it says that a DHCP server gives it one.
fn addresses(node: &Node, errors: &mut Errors) -> (Vec<Spanned<IpNet>>, Option<Spanned<()>>) {
    let (asking, given): (Vec<&Node>, Vec<&Node>) = node.items().iter().partition(|item| item.text() == Some("dhcp"));
    let given = given.into_iter().filter_map(|item| keep(address(item).map(|net| item.spanned(net)), errors)).collect();
    (given, asking.first().map(|item| item.spanned(())))
}
