//! What only OpenFlow switches have.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::{forms, word_form};
use crate::keyed::{Keyed, sections};
use crate::plan::{FilePlan, NodeKind};
use crate::scalar::filled;
use crate::section::Kind;
use crate::yaml::Node;

/// Where controllers listen (IANA).
const PORT: u16 = 6653;

/// The folders that belong to Open vSwitch.
const FOLDERS: [&str; 2] = ["/etc/openvswitch", "/run/openvswitch"];

word_form! {
    /// Whether a switch forwards nothing by itself.
    pub(crate) struct FailMode = bool { "standalone" = false, "secure" = true }
}

forms! {
    /// The node that runs a controller, and its port.
    pub(crate) struct Controller = ControllerSpec, Kind::Text("^tcp:[^:]+(:[0-9]+)?$"), controller;
}

sections! {
    /// The settings of an OpenFlow switch.
    #[derive(Debug, Default)]
    pub(crate) struct OpenFlowSpec = "" {
        /// The controller of an OpenFlow switch: the node that runs it, and the port at which it listens, 6653 if none is given. Default:
        /// none.
        controller: Controller, "tcp:c0:6653";
        /// What an OpenFlow switch does without its controller: standalone learns addresses as an ordinary switch does, secure forwards
        /// only what its flows say. Default: standalone.
        fail_mode: FailMode, "secure" else false;
    }
}

/// The node that runs a controller, and the port at which that listens.
#[derive(Debug)]
pub(crate) struct ControllerSpec {
    pub(crate) node: Spanned<String>,
    pub(crate) port: u16,
}

/// The settings of an OpenFlow switch among the keys of a node with these files.
pub(super) fn openflow(kind: NodeKind, fields: &Fields<'_>, files: &[FilePlan], errors: &mut Errors) -> OpenFlowSpec {
    if kind != NodeKind::OpenFlow {
        // What is said of it all the same is noted with all that is misplaced.
        return OpenFlowSpec::default();
    }
    let is_own = |file: &&FilePlan| FOLDERS.iter().any(|own| file.target.starts_with(own));
    if let Some((file, said)) = files.iter().find(is_own).zip(fields.get("files")) {
        errors.push(said.error(format!("{} belongs to Open vSwitch: leave it out", file.target.display())));
    }
    OpenFlowSpec::read_keys(fields, errors).unwrap_or_default()
}

fn controller(node: &Node) -> Result<ControllerSpec, Diagnostic> {
    let text = filled(node)?;
    let wrong =
        || node.error(format!("\"{text}\" is not a controller: write tcp:NODE:PORT with the node that runs it"));
    let target = text.strip_prefix("tcp:").ok_or_else(wrong)?;
    let (name, port) = match target.split_once(':') {
        Some((name, port)) => (name, port.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)?),
        None => (target, PORT),
    };
    if name.is_empty() {
        return Err(wrong());
    }
    Ok(ControllerSpec { node: node.spanned(name.to_owned()), port })
}
