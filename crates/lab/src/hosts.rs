//! The names of nodes inside nodes.

use crate::plan::{FarInterface, InterfacePlan, NamePlan, NodePlan, Plan};
use ipnet::IpNet;
use std::collections::BTreeSet;
use std::fmt::Write;

impl Plan {
    /// The text of `/etc/hosts` in nodes that see these [names](crate::NodePlan::names): each node's name leads to the addresses
    /// of the interface that it means, and `<node>-<interface>` to those of each interface.
    pub fn hosts(&self, seen: &[NamePlan]) -> String {
        self.hosts_without(seen, &[])
    }

    /// The text of `/etc/hosts` in a node: without the addresses that are [hidden](NodePlan::hidden) from it.
    pub fn hosts_of(&self, node: &NodePlan) -> String {
        self.hosts_without(&node.names, &node.hidden)
    }

    fn hosts_without(&self, seen: &[NamePlan], hidden: &[IpNet]) -> String {
        let own = self.nodes.iter().map(|node| (&node.name, node.interfaces.iter().map(of_plan).collect::<Vec<_>>()));
        let far = self.elsewhere.iter().map(|node| (&node.name, node.interfaces.iter().map(of_far).collect()));
        let all: Vec<(&String, Vec<Named<'_>>)> = own.chain(far).collect();
        let nodes: BTreeSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
        let mut text = String::from("127.0.0.1 localhost\n::1 localhost\n");
        for (place, (node, interfaces)) in all.iter().enumerate() {
            let named = named(seen, place);
            for (index, (interface, addresses)) in interfaces.iter().enumerate() {
                let alias = format!("{node}-{interface}");
                let node_name = (index == named).then_some(node.as_str());
                // A node may be called as another's interface: it is the node that is meant then.
                let alias = Some(alias.as_str()).filter(|alias| !nodes.contains(alias));
                let words: Vec<&str> = node_name.into_iter().chain(alias).collect();
                let is_seen = |net: &&IpNet| !words.is_empty() && !hidden.contains(&net.trunc());
                for net in addresses.iter().filter(is_seen) {
                    writeln!(text, "{} {}", net.addr(), words.join(" ")).expect("writing to a text cannot fail");
                }
            }
        }
        text
    }

    /// The node and the interface that a name means, and its addresses.
    pub(crate) fn meant(&self, name: NamePlan) -> Option<(&str, &str, &[IpNet])> {
        let (node, (interface, addresses)) = match self.nodes.get(name.node) {
            Some(own) => (&own.name, of_plan(own.interfaces.get(name.interface)?)),
            None => {
                let far = self.elsewhere.get(name.node - self.nodes.len())?;
                (&far.name, of_far(far.interfaces.get(name.interface)?))
            }
        };
        Some((node, interface, addresses))
    }

    /// The interface that the name of the node at place `to` means inside the node at place `from`; none if it has none.
    pub fn named(&self, from: usize, to: usize) -> Option<&InterfacePlan> {
        self.nodes[to].interfaces.get(named(&self.nodes[from].names, to))
    }
}

/// An interface's name and addresses.
type Named<'a> = (&'a str, &'a [IpNet]);

fn of_plan(interface: &InterfacePlan) -> Named<'_> {
    (&interface.name, &interface.addresses)
}

fn of_far(interface: &FarInterface) -> Named<'_> {
    (&interface.name, &interface.addresses)
}

/// The place of the interface that the name of the node at place `of` means to those who see these.
fn named(seen: &[NamePlan], of: usize) -> usize {
    let known = seen.binary_search_by_key(&of, |name| name.node);
    known.map_or(0, |place| seen[place].interface)
}

impl NodePlan {
    /// Whether names mean something else in it than in the lab.
    pub fn has_own_names(&self) -> bool {
        !self.names.is_empty() || !self.hidden.is_empty()
    }
}
