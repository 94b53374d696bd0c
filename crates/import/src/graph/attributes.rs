//! Which attributes of a graph mean something, and which are left over.

use super::Attribute;
use crate::notes::Notes;
use crate::source::Place;
use std::collections::{BTreeMap, BTreeSet};

/// Names that are noted of one kind of elements.
const MOST_TOLD: usize = 30;
/// Further ones that are counted.
const MOST_COUNTED: usize = 10_000;
/// What only tells elements apart.
const IDENTITY: [&str; 2] = ["id", "key"];

/// What nobody asked for.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// Of each kind of elements: names, and the first place.
    unused: BTreeMap<&'static str, (BTreeSet<String>, Place)>,
    /// The number of names that are not noted, since there are too many.
    left_out: BTreeMap<&'static str, BTreeSet<String>>,
}

/// The attributes of one element.
#[derive(Debug)]
pub(super) struct Known<'a, 'u> {
    what: &'static str,
    attributes: &'a [Attribute],
    asked: Vec<bool>,
    used: &'u mut Used,
}

impl Used {
    /// The attributes of an element, which is one of these.
    pub(super) fn of<'a>(&mut self, what: &'static str, attributes: &'a [Attribute]) -> Known<'a, '_> {
        Known { what, attributes, asked: vec![false; attributes.len()], used: self }
    }

    /// Attributes without a meaning.
    pub(super) fn unused(&mut self, what: &'static str, attributes: &[Attribute]) {
        for attribute in attributes {
            self.leave(what, attribute);
        }
    }

    fn leave(&mut self, what: &'static str, attribute: &Attribute) {
        if IDENTITY.contains(&attribute.name.as_str()) || attribute.value.trim().is_empty() {
            return;
        }
        let (names, _) = self.unused.entry(what).or_insert_with(|| (BTreeSet::new(), attribute.place));
        let name = format!("`{}`", attribute.name);
        if names.len() < MOST_TOLD || names.contains(&name) {
            names.insert(name);
            return;
        }
        let others = self.left_out.entry(what).or_default();
        if others.len() < MOST_COUNTED {
            others.insert(name);
        }
    }

    /// Notes what was left over.
    pub(super) fn note(self, notes: &mut Notes) {
        for (what, (names, place)) in self.unused {
            let mut names: Vec<String> = names.into_iter().collect();
            names.extend(self.left_out.get(what).map(|others| format!("and {} more", others.len())));
            notes.add(place, format!("attributes of {what} without a meaning here: {}", names.join(", ")));
        }
    }
}

impl<'a> Known<'a, '_> {
    /// The first attribute of one of these names, which are written small.
    pub(super) fn first(&mut self, names: &[&str]) -> Option<&'a Attribute> {
        let attributes = self.attributes;
        let mut found = None;
        for name in names {
            for (place, attribute) in attributes.iter().enumerate() {
                if attribute.name.eq_ignore_ascii_case(name) && !attribute.value.trim().is_empty() {
                    self.asked[place] |= found.is_none();
                    found = found.or(Some(attribute));
                }
            }
        }
        found
    }

    /// Takes all attributes for which `take` finds a use.
    pub(super) fn each(&mut self, mut take: impl FnMut(&'a Attribute) -> bool) {
        for (attribute, asked) in self.attributes.iter().zip(&mut self.asked) {
            if !*asked && take(attribute) {
                *asked = true;
            }
        }
    }

    /// Nothing more is asked.
    pub(super) fn settle(self) {
        let left = self.attributes.iter().zip(&self.asked).filter(|(_, asked)| !**asked);
        for (attribute, _) in left {
            self.used.leave(self.what, attribute);
        }
    }
}
