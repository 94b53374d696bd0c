//! What only external interfaces have.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{Placed, Whole, Word};
use crate::plan::{ExternalMode, NodeKind};
use crate::scalar::filled;
use crate::spec::ExternalSpec;
use crate::yaml::Node;

/// What only external interfaces have.
pub(super) const KEYS: [&str; 5] = ["interface", "mode", "vlan", "promiscuous", "force"];

/// The longest name that an interface has (`IFNAMSIZ`), in bytes.
const LONGEST: usize = 15;

/// The settings of an external interface among the keys of a node; none of other kinds, or if it does not say which it is.
pub(super) fn external(kind: NodeKind, node: &Node, fields: &Fields<'_>, errors: &mut Errors) -> Option<ExternalSpec> {
    if kind != NodeKind::External {
        // What is said of it all the same is noted with all that is misplaced.
        return None;
    }
    let vlan = fields.form::<Placed<Whole<u16, 1, 4_094>>>("vlan", errors);
    let mode = fields.form::<Placed<Word<ExternalMode>>>("mode", errors);
    let promiscuous = fields.form::<Placed<bool>>("promiscuous", errors);
    let force = fields.form::<bool>("force", errors).unwrap_or_default();
    let Some(said) = fields.get("interface") else {
        errors.push(node.lacks("interface", "eth1"));
        return None;
    };
    let interface = said.spanned(keep(name(said), errors)?);
    Some(ExternalSpec { interface, mode, vlan, promiscuous, force })
}

/// What the kernel takes as the name of an interface (`dev_valid_name`).
fn name(node: &Node) -> Result<String, Diagnostic> {
    let name = filled(node)?;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/' && byte != b':');
    if name.len() <= LONGEST && is_plain && name != "." && name != ".." {
        return Ok(name);
    }
    Err(node.error(format!("\"{name}\" is no interface's name: write one that `ip link` shows, for example eth1")))
}
