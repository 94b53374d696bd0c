//! Trees of multicast.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::forms;
use crate::keyed::sections;
use crate::kinds::NODE_REFERENCE;
use crate::scalar::{filled, text};
use crate::section::Kind;
use crate::spec::MulticastSpec;
use crate::yaml::{Content, Node};
use std::net::IpAddr;

forms! {
    struct GroupAddress = Spanned<IpAddr>, Kind::Text("^[0-9a-fA-F.:]+$"), group;
    /// The name of a node.
    struct Name = Spanned<String>, NODE_REFERENCE, name;
}

sections! {
    /// A group, who sends to it, and who receives.
    pub(crate) const MULTICAST = "multicast" {
        /// The address of the group: of IPv4 from 224.0.1.0 to 239.255.255.255, of IPv6 with a scope beyond the link, as ff3e::1.
        group: GroupAddress, required "239.1.2.3";
        /// The host or router that sends to the group.
        from: Name, required "server";
        /// The hosts and routers that receive: a shortest path leads to each, along which transit routers pass packets on.
        to = Kind::list(&NODE_REFERENCE, 1), required "[a, b]";
    }
}

/// An entry of the list; none after an error was noted.
pub(super) fn decode(node: &Node, errors: &mut Errors) -> Option<MulticastSpec> {
    let fields = Fields::open(node, &MULTICAST, errors)?;
    let (group, from) = (fields.form::<GroupAddress>("group", errors), fields.form::<Name>("from", errors));
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

fn name(node: &Node) -> Result<Spanned<String>, Diagnostic> {
    filled(node).map(|name| node.spanned(name))
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
