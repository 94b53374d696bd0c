//! What root of a node may do to the whole machine.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::list;
use crate::forms::forms;
use crate::kinds::WITHHELD;
use crate::scalar::{text, word};
use crate::section::Kind;
use crate::yaml::Node;

/// Capabilities (capabilities(7)) that people ask for in containers, and that root of every node has.
const USUAL: [&str; 14] = [
    "bpf",
    "chown",
    "dac_override",
    "ipc_lock",
    "net_admin",
    "net_bind_service",
    "net_raw",
    "perfmon",
    "setuid",
    "sys_admin",
    "sys_chroot",
    "sys_nice",
    "sys_ptrace",
    "sys_resource",
];

forms! {
    /// Names of capabilities, each once.
    pub(crate) struct Capabilities = Vec<&'static str>, Kind::list(&Kind::Word(&WITHHELD), 1), noting capabilities;
}

fn capabilities(node: &Node, errors: &mut Errors) -> Option<Vec<&'static str>> {
    let mut all = Vec::new();
    for name in list(node, errors).iter().filter_map(|item| keep(capability(item), errors)) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    Some(all)
}

fn capability(node: &Node) -> Result<&'static str, Diagnostic> {
    if let Ok(said) = text(node) {
        let plain = said.to_ascii_lowercase();
        let plain = plain.strip_prefix("cap_").unwrap_or(&plain);
        if USUAL.contains(&plain) {
            return Err(node.error(format!("root of every node has `{plain}` anyway: leave it out")));
        }
        if plain != said && WITHHELD.contains(&plain) {
            return Err(node.error(format!("write `{plain}`, without `CAP_` and in lower case")));
        }
    }
    word(node, &WITHHELD.map(|name| (name, name)))
}
