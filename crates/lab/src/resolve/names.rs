//! Names and their places, and errors about nodes that are named where they cannot be.

use crate::diagnostics::{Diagnostic, Spanned, nearest};
use crate::plan::{NodeKind, Plan, Stack};
use crate::spec::{LinkSpec, NodeSpec, Spec};
use std::collections::{BTreeMap, BTreeSet};

/// The names of all nodes, or of all links.
pub(super) struct Index<'a> {
    what: &'static str,
    places: BTreeMap<&'a str, usize>,
    /// In the order of the file, so that of two names that are equally near the first is proposed.
    names: Vec<&'a str>,
    /// Whether others could not be read, so that an unknown name may be one of them.
    has_gaps: bool,
}

impl<'a> Index<'a> {
    pub(super) fn new(what: &'static str, names: impl Iterator<Item = &'a Spanned<String>>, has_gaps: bool) -> Self {
        let names: Vec<&str> = names.map(|name| name.value.as_str()).collect();
        let places = names.iter().enumerate().map(|(place, name)| (*name, place)).collect();
        Self { what, places, names, has_gaps }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.places.contains_key(name)
    }

    /// Whether there may be others, which could not be read.
    pub(super) fn has_gaps(&self) -> bool {
        self.has_gaps
    }

    /// In the order of the file.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().copied()
    }
}

/// The place of `name`; none if it may be one that could not be read.
pub(super) fn index_of(index: &Index<'_>, name: &Spanned<String>) -> Result<Option<usize>, Diagnostic> {
    match index.places.get(name.value.as_str()) {
        Some(place) => Ok(Some(*place)),
        None if index.has_gaps => Ok(None),
        None => Err(name.error(unknown(index, &name.value))),
    }
}

/// The link at an interface of a node, as the lab file calls it: one with more than two ends is a switch, and links to it.
pub(super) fn link_at(plan: &Plan, links: &[LinkSpec], node: usize, interface: usize) -> String {
    let own = &plan.nodes[node];
    let name = &links[own.interfaces[interface].end.link()].name.value;
    let lan = name.strip_suffix(&format!("-{}", own.name));
    let lan = lan.filter(|lan| plan.nodes.iter().any(|other| other.is_lan && other.name == *lan));
    lan.unwrap_or(name).to_owned()
}

/// Names that are given, and a free one for whoever has none.
#[derive(Default)]
pub(super) struct FreeNames {
    taken: BTreeSet<String>,
    /// The least number behind each name that was not found to be taken; 1 stands for the name alone.
    next: BTreeMap<String, usize>,
}

impl FreeNames {
    /// Those that are given.
    pub(super) fn without(taken: impl Iterator<Item = String>) -> Self {
        Self { taken: taken.collect(), next: BTreeMap::new() }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.taken.contains(name)
    }

    pub(super) fn take(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    /// `base`, or with a number behind it if that is taken here or not free elsewhere. It is not taken by that.
    pub(super) fn find(&mut self, base: &str, is_free: impl Fn(&str) -> bool) -> String {
        let next = self.next.entry(base.to_owned()).or_insert(1);
        loop {
            let name = if *next == 1 { base.to_owned() } else { format!("{base}-{next}") };
            if !self.taken.contains(&name) && is_free(&name) {
                return name;
            }
            *next += 1;
        }
    }
}

/// What the timeline refers to.
pub(super) struct Places<'a> {
    pub(super) nodes: &'a Index<'a>,
    pub(super) links: &'a Index<'a>,
    pub(super) spec: &'a Spec,
    pub(super) stacks: &'a [Stack],
    /// Whether all commands could be read.
    pub(super) is_complete: bool,
}

/// So many names are listed when none is near.
const MOST_LISTED: usize = 8;

fn unknown(index: &Index<'_>, name: &str) -> String {
    let what = index.what;
    // A link with more than two ends is several.
    let prefix = format!("{name}-");
    let behind = index.places.range(prefix.as_str()..).take_while(|(other, _)| other.starts_with(&prefix));
    let mut parts: Vec<(usize, &str)> = behind.map(|(other, place)| (*place, *other)).collect();
    parts.sort_unstable();
    if parts.len() > 2 {
        let parts = parts.iter().take(MOST_LISTED).map(|(_, part)| format!("`{part}`")).collect::<Vec<_>>().join(", ");
        return format!("there is no {what} `{name}` but its parts: write one of {parts}");
    }
    if let Some(near) = nearest(name, index.names.iter().copied()) {
        return format!("there is no {what} `{name}`: did you mean `{near}`?");
    }
    match index.names.as_slice() {
        [] => format!("there is no {what} `{name}`: the lab has none"),
        names if names.len() <= MOST_LISTED => format!("there is no {what} `{name}`: there are {}", names.join(", ")),
        _ => format!("there is no {what} `{name}`"),
    }
}

/// The error of something that is to run on a transit router.
pub(super) fn runs_nothing(node: &Spanned<String>, kind: NodeKind) -> Option<Diagnostic> {
    let (name, what) = (&node.value, kind.titled());
    let instead = if kind.has_addresses() { format!(", or write `{name}: {{kind: router}}`") } else { String::new() };
    let message = format!("`{name}` is {what} and runs no programs: choose another node{instead}");
    (!kind.runs_programs()).then(|| node.error(message))
}

/// The error of something that is to run in a machine that the lab does not get into.
pub(super) fn closed(place: &Spanned<String>, node: &NodeSpec) -> Option<Diagnostic> {
    node.is_closed().then(|| {
        place.error(format!(
            "`{}` is a virtual machine that netloom does not get into (`access: none`): choose another node, or write `access: agent`",
            place.value
        ))
    })
}
