//! Labs without namespaces, where the machine refuses them: those whose nodes all have kernels of their own.
//!
//! Such a node is a process that is a kernel: its network, its users, its mounts and its processes are inside. Links, switches and
//! transit routers are in the engine. So nothing is left that a namespace would have to hold.

use netloom_host::lab::Namespaces;
use netloom_lab::{NodePlan, Plan, Stack};

/// If this variable is `none`, labs that can be without namespaces are. What nodes compute is the same: a test compares.
const VARIABLE: &str = "NETLOOM_NAMESPACES";

/// Whether a lab is to have namespaces.
pub fn namespaces(plan: &Plan) -> Namespaces {
    match can_be_without(plan) {
        false => Namespaces::Needed,
        true if std::env::var_os(VARIABLE).is_some_and(|value| value == "none") => Namespaces::Unwanted,
        true => Namespaces::IfAllowed,
    }
}

/// Whether a lab needs none: its nodes are kernels and parts of the engine, and nothing leads out of it.
pub(crate) fn can_be_without(plan: &Plan) -> bool {
    plan.nodes.iter().all(|node| matches!(node.stack, Stack::Kernel | Stack::Engine)) && !leads_out(plan)
}

/// Whether something of this machine's network is a part of a lab.
fn leads_out(plan: &Plan) -> bool {
    let is_joined = |node: &NodePlan| {
        node.container.is_some() || node.external.is_some() || node.tunnel.is_some() || !node.expose.is_empty()
    };
    plan.internet.is_some() || plan.diversion.is_some() || plan.nodes.iter().any(is_joined)
}

/// Describes for the verdict a lab that has none. `why`: what the machine refused.
pub(crate) fn note(why: &str) -> String {
    format!(
        "the lab ran without namespaces ({why}): each node was confined by its own kernel alone. The results are those of a lab \
         with them; the kernels' processes are among this user's others, share their network and their limits, and see the real owners of \
         files"
    )
}

/// Says what to do where a lab that needs namespaces cannot have them.
pub(crate) fn way_out(plan: &Plan) -> String {
    let inside = if leads_out(plan) { "; but what leads out of a lab needs them" } else { "" };
    format!("this machine refuses namespaces; `--clock virtual` works without any, on kernel nodes{inside}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> Plan {
        netloom_lab::parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
    }

    #[test]
    fn a_lab_of_kernels_needs_no_namespaces() {
        let labs = |more: &str, stack: &str| {
            plan(&format!(
                "{more}\nnodes: {{a: {{{stack}}}, r: {{kind: router}}, b: {{{stack}}}}}\nlinks: {{l: {{ends: [a, r]}}, m: {{ends: [r, b]}}}}\n"
            ))
        };
        assert!(can_be_without(&labs("clock: virtual", "")));
        assert!(!can_be_without(&labs("", "")));
        assert!(!can_be_without(&labs("", "stack: kernel")), "the router is a namespace");
    }
}
