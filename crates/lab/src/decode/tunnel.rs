//! What only tunnels have.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{AboveZero, Placed, Whole};
use crate::plan::NodeKind;
use crate::scalar::filled;
use crate::spec::TunnelSpec;
use crate::yaml::Node;
use netloom_units::Duration;

/// What only tunnels have.
pub(super) const KEYS: [&str; 4] = ["remote", "port", "vni", "wait"];

/// The longest name of a machine (RFC 1035, section 2.3.4).
const LONGEST: usize = 253;

/// The settings of a tunnel among the keys of a node; none of other kinds, or if it does not say where it leads.
pub(super) fn tunnel(kind: NodeKind, node: &Node, fields: &Fields<'_>, errors: &mut Errors) -> Option<TunnelSpec> {
    if kind != NodeKind::Tunnel {
        // What is said of it all the same is noted with all that is misplaced.
        return None;
    }
    let port = fields.form::<Placed<Whole<u16, 1, 65_535>>>("port", errors);
    let vni = fields.form::<Whole<u32, 1, 0xff_ffff>>("vni", errors);
    let wait = fields.form::<AboveZero<Duration>>("wait", errors);
    let Some(said) = fields.get("remote") else {
        errors.push(node.lacks("remote", "192.0.2.7"));
        return None;
    };
    let remote = said.spanned(keep(machine(said), errors)?);
    Some(TunnelSpec { remote, port, vni, wait })
}

/// The address or name of a machine.
fn machine(node: &Node) -> Result<String, Diagnostic> {
    let name = filled(node)?;
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-_%".contains(&byte));
    if name.len() <= LONGEST && is_plain {
        return Ok(name);
    }
    Err(node.error(format!(
        "\"{name}\" is no machine's address or name: write for example 192.0.2.7, 2001:db8::7 or lab2.example.org; the port is a key \
         of its own"
    )))
}
