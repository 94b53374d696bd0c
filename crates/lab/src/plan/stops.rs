//! Which nodes can be stopped and started again while their lab is up.

use super::{Disturbance, NodeKind, NodePlan, Plan};

/// What matters of a node to whoever wants to stop it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stoppable<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: NodeKind,
    pub(crate) is_vm: bool,
    pub(crate) is_container: bool,
    /// A shared medium that it is at.
    pub(crate) medium: Option<&'a str>,
}

impl Stoppable<'_> {
    /// Why it cannot be stopped so and started again, if so, and what to do instead.
    pub(crate) fn refusal(&self, how: Disturbance) -> Option<String> {
        let Self { name, kind, is_vm, is_container, medium } = *self;
        let instead = "cut its links (`down`)";
        if matches!(kind, NodeKind::External | NodeKind::Internet | NodeKind::Tunnel | NodeKind::Outside) {
            return Some(format!("`{name}` is {}, which no lab can stop: {instead}", kind.titled()));
        }
        if is_vm && !matches!(how, Disturbance::Crash(_)) {
            return Some(format!(
                "`{name}` is a virtual machine, whose system Netloom does not shut down: let it lose its power (`crash`), {instead}, or end its programs (`kill`)"
            ));
        }
        if is_container {
            return Some(format!(
                "`{name}` is a container that ran before the lab, and ends the lab with it: {instead}"
            ));
        }
        medium.map(|medium| {
            format!("`{name}` is at the shared medium `{medium}`, which is cut for all or for none: end its programs (`kill`)")
        })
    }
}

impl Plan {
    /// Why a node cannot be stopped so and started again while the lab is up, if so.
    pub fn never_stops(&self, node: usize, how: Disturbance) -> Option<String> {
        let own: &NodePlan = &self.nodes[node];
        // Whoever draws a lab asks this of each node: only its own links are looked at.
        let medium = own.interfaces.iter().map(|port| &self.links[port.end.link()]).find(|link| link.is_shared);
        let stoppable = Stoppable {
            name: &own.name,
            kind: own.kind,
            is_vm: own.vm.is_some(),
            is_container: own.container.is_some(),
            medium: medium.map(|link| link.name.as_str()),
        };
        let of_kernel = || {
            let name = &own.name;
            self.is_bridge(own).then(|| {
                format!(
                    "`{name}` is a bridge of this machine's kernel: write `bypass: false` for its links in the lab file"
                )
            })
        };
        stoppable.refusal(how).or_else(of_kernel)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_no_machine_of_the_lab_is_never_stopped() {
        let text = "nodes: {a: , b: , c: , s: {kind: switch}, t: {kind: transit}}\nlinks:\n  air: {ends: [a, b, c], medium: shared}\n  \
                    l: {ends: [s, t]}\n";
        let plan = crate::parse(text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
        let why = |name: &str| {
            plan.never_stops(plan.nodes.iter().position(|node| node.name == name).unwrap(), super::Disturbance::Stop)
        };
        assert!(why("a").is_some_and(|why| why.contains("the shared medium `air`")), "{:?}", why("a"));
        assert_eq!((why("s"), why("t")), (None, None));
    }
}
