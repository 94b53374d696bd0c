//! What the names in a hunt stand for: nodes and links of its lab.

use super::names::{Index, index_of};
use super::patterns::{Candidates, is_pattern};
use crate::diagnostics::Spanned;
use crate::errors::{Errors, LeftOut};
use crate::plan::{Action, Event, NodeKey, RunCommand, Stack};
use crate::spec::{Among, Spec};

/// The lab that a hunt refers to.
pub(super) struct Ground<'a> {
    pub(super) spec: &'a Spec,
    pub(super) nodes: &'a Index<'a>,
    pub(super) links: &'a Index<'a>,
    pub(super) stacks: &'a [Stack],
    pub(super) timeline: &'a [Event],
    pub(super) left_out: &'a LeftOut,
}

impl Ground<'_> {
    /// The nodes with services, or else all that run programs.
    pub(super) fn usual_nodes(&self) -> Vec<usize> {
        let serves = |run: &RunCommand| run.service && !run.setup && matches!(run.key, None | Some(NodeKey::Image));
        let mut nodes: Vec<usize> = self
            .timeline
            .iter()
            .filter_map(|event| match &event.action {
                Action::Run(run) if serves(run) => Some(run.node),
                _ => None,
            })
            // A node that is not there is an error of its own.
            .filter(|node| *node < self.spec.nodes.len())
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        if nodes.is_empty() {
            let all = self.spec.nodes.iter().enumerate();
            nodes = all
                .filter(|(_, node)| node.kind.runs_programs() && !node.is_closed())
                .map(|(place, _)| place)
                .collect();
        }
        nodes
    }

    /// The nodes of these names and patterns, each once, in the order of the file.
    pub(super) fn nodes_of(&self, names: &[Spanned<String>], errors: &mut Errors) -> Vec<usize> {
        let mut found = Vec::new();
        for name in names {
            if is_pattern(&name.value) {
                match Candidates::of_programs(self.spec).like(&name.value) {
                    Ok(like) => found.extend(like),
                    Err(why) => errors.extend((!self.left_out.nodes).then(|| name.error(why))),
                }
                continue;
            }
            match index_of(self.nodes, name) {
                Ok(Some(place)) => {
                    errors.extend(super::names::runs_nothing(name, self.spec.nodes[place].kind));
                    found.push(place);
                }
                Ok(None) => {}
                Err(error) => errors.push(error),
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The nodes that a fault is about.
    pub(super) fn nodes_among(&self, among: &Among, usual: &[usize], errors: &mut Errors) -> Vec<usize> {
        among.as_ref().map_or_else(|| usual.to_vec(), |names| self.nodes_of(names, errors))
    }

    /// The links that a fault is about which answers packets to their senders, for which there is no way on a shared medium: it is an error to name
    /// one, or if there are no others.
    pub(super) fn answered_among(&self, among: &Among, nodes: &[usize], errors: &mut Errors) -> Vec<usize> {
        let all = self.links_among(among, nodes, errors);
        let is_shared = |link: &usize| self.spec.links[*link].shared.is_some();
        let refused = among.iter().flatten().filter(|name| {
            all.iter().filter(|link| is_shared(link)).any(|link| self.spec.links[*link].name.value == name.value)
        });
        errors.extend(refused.map(|name| {
            name.error(format!(
                "`{}` is a shared medium, on which nothing can be answered to who sent it: name other links",
                name.value
            ))
        }));
        all.into_iter().filter(|link| !is_shared(link)).collect()
    }

    /// The links that a fault is about: those at the nodes under test, unless others are named.
    pub(super) fn links_among(&self, among: &Among, nodes: &[usize], errors: &mut Errors) -> Vec<usize> {
        let Some(names) = among else {
            let is_tested = |name: &str| nodes.iter().any(|node| self.spec.nodes[*node].name.value == name);
            let links = self.spec.links.iter().enumerate();
            let at = links.filter(|(_, link)| link.ends.iter().any(|end| is_tested(&end.node.value)));
            return at.map(|(place, _)| place).collect();
        };
        let mut found = Vec::new();
        for name in names {
            match index_of(self.links, name) {
                Ok(place) => found.extend(place),
                Err(error) => errors.push(error),
            }
        }
        found
    }
}
