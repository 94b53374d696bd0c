//! Classes: what a script sets on them holds for the objects that are made afterwards, and what ns-2 sets on them itself.

use super::arguments::shortened;
use super::defaults::{OF_EMULAB, built_in, line_of, underlined};
use super::network::Network;
use super::objects::Attributes;
use crate::source::Place;

/// Classes of which a script may set values; an ending after a `/` is one of a class below.
const KNOWN: [&str; 17] = [
    "Agent",
    "Application",
    "CBQClass",
    "Classifier",
    "Connector",
    "DelayLink",
    "ErrorModel",
    "Link",
    "Mac",
    "Node",
    "Phy",
    "Queue",
    "QueueMonitor",
    "Simulator",
    "SimpleLink",
    "Trace",
    "DuplexNetInterface",
];

/// Whether a word names a class rather than a command.
pub(super) fn is_class(word: &str) -> bool {
    let first = line_of(word).last().unwrap_or_default();
    KNOWN.contains(&first) || (word.contains('/') && word.starts_with(|letter: char| letter.is_ascii_uppercase()))
}

impl Network<'_, '_> {
    /// What an object of a class has when it is made.
    pub(super) fn inherited(&self, class: &str) -> Attributes {
        let mut attributes = Attributes::default();
        for above in line_of(class) {
            if let Some(said) = self.classes.get(above) {
                attributes.inherit(said);
            }
        }
        attributes
    }

    /// What a queue of a class has when it is made: that of an Emulab file is Emulab's.
    pub(super) fn inherited_by_queue(&self, class: &str) -> Attributes {
        let mut attributes = self.inherited(class);
        if self.is_emulab {
            let mut usual = Attributes::default();
            for (_, name, value) in OF_EMULAB.iter().filter(|(of, ..)| *of == class) {
                usual.set(name, value, Place::default());
                usual.get(name);
            }
            attributes.inherit(&usual);
        }
        attributes
    }

    /// `CLASS set NAME VALUE`, and what else is said to a class.
    pub(super) fn of_class(&mut self, class: &str, words: &[String], place: Place) -> String {
        match words {
            [_, set, name, value] if set == "set" => {
                self.classes.entry(class.to_owned()).or_default().set(&underlined(name), value, place);
                value.clone()
            }
            [_, set, name] if set == "set" => {
                let said = line_of(class).find_map(|above| self.classes.get(above)?.get(name));
                said.or_else(|| built_in(class, name)).unwrap_or("0").to_owned()
            }
            [_, rest @ ..] if !rest.is_empty() => {
                let said =
                    format!("`{class} {}`: classes have no counterpart in a lab beyond their values", shortened(rest));
                self.notes.add(place, said);
                String::new()
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_told_from_commands() {
        assert!(is_class("Queue") && is_class("Queue/RED") && is_class("Mac/802_11"));
        assert!(!is_class("puts") && !is_class("./a/b"));
    }
}
