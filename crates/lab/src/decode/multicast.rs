//! Trees of multicast.

use super::list;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::keys::MULTICAST;
use crate::scalar::{filled, text};
use crate::spec::MulticastSpec;
use crate::yaml::{Content, Node};
use std::net::IpAddr;

/// An entry of the list; none after an error was noted.
pub(super) fn decode(node: &Node, errors: &mut Errors) -> Option<MulticastSpec> {
    let fields = Fields::open(node, &MULTICAST, errors)?;
    let group = fields.read("group", group, errors);
    let name = |value: &Node| filled(value).map(|name| value.spanned(name));
    let from = fields.read("from", name, errors);
    let members = fields.get("to")?;
    if matches!(&members.content, Content::List(items) if items.is_empty()) || members.content == Content::Empty {
        errors.push(members.expected("the nodes that receive, for example [a, b]"));
    }
    let mut to: Vec<Spanned<String>> = Vec::new();
    for item in list(members, errors) {
        let Some(member) = keep(name(item), errors) else { continue };
        if from.as_ref().is_some_and(|from| from.value == member.value) {
            errors.push(
                member.error(format!("`{}` sends to the group: what it sends does not come back to it", member.value)),
            );
        } else if let Some(first) = to.iter().find(|other| other.value == member.value) {
            errors.push(
                member.error(format!("`{}` is here twice: leave one out", member.value)).and(first.span, "first here"),
            );
        } else {
            to.push(member);
        }
    }
    Some(MulticastSpec { group: group?, from: from?, to })
}

fn group(node: &Node) -> Result<Spanned<IpAddr>, Diagnostic> {
    const RIGHT: &str = "write for example 239.1.2.3 or ff3e::1";
    let written = text(node)?;
    let address: IpAddr =
        written.parse().map_err(|_| node.error(format!("\"{written}\" is no address of a group: {RIGHT}")))?;
    if !address.is_multicast() {
        return Err(node.error(format!("{address} is no address of a group: {RIGHT}")));
    }
    let is_bound_to_link = match address {
        // RFC 5771, section 4; RFC 4291, section 2.7.
        IpAddr::V4(v4) => v4.octets()[..3] == [224, 0, 0],
        IpAddr::V6(v6) => v6.octets()[1] & 0x0f < 3,
    };
    if is_bound_to_link {
        return Err(node.error(format!("no router passes on what is for {address}: {RIGHT}")));
    }
    Ok(node.spanned(address))
}
