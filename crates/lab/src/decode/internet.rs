//! What a node cannot have that is the way out into this machine's network.

use crate::diagnostics::Spanned;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::plan::{NodeKind, Stack};
use crate::scalar::word;

/// The keys that make no sense there, and why.
const REFUSED: [(&str, &str); 8] = [
    ("nat", "it translates already, for all that leaves by it: leave this out"),
    ("firewall", "its rules are those that translate addresses: give the firewall to a router behind it"),
    ("dhcp", "it answers for names, and cannot serve beside that: let another node serve"),
    (
        "dns",
        "it leads questions for names to the servers that this machine asks: let another node serve, or leave this out",
    ),
    ("addresses", "it has the addresses of its links, and one towards this machine: leave this out"),
    ("routes", "what it gets goes to the lab's subnets or out: leave this out"),
    ("rules", "what it gets goes to the lab's subnets or out: give the rules to a router behind it"),
    ("multihomed", "what it gets goes to the lab's subnets or out: leave this out"),
];

/// Where a node says that it is the way out. What it cannot have is noted.
pub(super) fn internet(kind: NodeKind, fields: &Fields<'_>, errors: &mut Errors) -> Option<Spanned<()>> {
    let place = fields.get("kind").filter(|_| kind == NodeKind::Internet)?;
    fields.refuse(REFUSED.map(|(key, why)| (key, format!("a node of `kind: internet` has no `{key}`: {why}"))), errors);
    let is_kernel = |value: &&crate::yaml::Node| word(value, &[("kernel", Stack::Kernel)]).is_ok();
    errors.extend(fields.get("stack").filter(is_kernel).map(|value| {
        value.error(
            "the way out leads from a namespace of this machine's kernel, and not from a kernel of the node's own: leave this out, \
             or write `stack: namespace`",
        )
    }));
    Some(place.spanned(()))
}
