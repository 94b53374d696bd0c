//! The names of nodes inside nodes.

use crate::plan::Plan;
use std::collections::BTreeSet;
use std::fmt::Write;

impl Plan {
    /// The text of `/etc/hosts` in all nodes: each node's name leads to the addresses of its first interface, and
    /// `<node>-<interface>` to those of each interface.
    pub fn hosts(&self) -> String {
        let names: BTreeSet<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        let mut text = String::from("127.0.0.1 localhost\n::1 localhost\n");
        for node in &self.nodes {
            for (index, interface) in node.interfaces.iter().enumerate() {
                let alias = format!("{}-{}", node.name, interface.name);
                let own = (index == 0).then_some(node.name.as_str());
                // A node may be called as another's interface: it is the node that is meant then.
                let alias = Some(alias.as_str()).filter(|alias| !names.contains(alias));
                let words: Vec<&str> = own.into_iter().chain(alias).collect();
                for net in interface.addresses.iter().filter(|_| !words.is_empty()) {
                    writeln!(text, "{} {}", net.addr(), words.join(" ")).expect("writing to a text cannot fail");
                }
            }
        }
        text
    }
}
