//! Notes on what a file says that a lab does not have: each kind once, and nothing is left out in silence.

use crate::source::Place;
use std::collections::BTreeMap;

/// Kinds that are kept; further ones are counted.
const MOST: usize = 200;
/// Letters of a note.
const LONGEST: usize = 1_000;

/// Something that is not as the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// Where it is said first.
    pub(crate) place: Place,
    pub(crate) message: String,
    /// How often it is said.
    pub(crate) count: usize,
}

/// What was found so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    found: BTreeMap<String, Note>,
    left_out: usize,
}

impl Notes {
    /// Notes something; the same words at several places are one note.
    pub(crate) fn add(&mut self, place: Place, said: impl Into<String>) {
        // It is one line, whatever it quotes.
        let said: String = said.into();
        let letters = said.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(LONGEST);
        let message: String = letters.collect();
        if let Some(note) = self.found.get_mut(&message) {
            note.count += 1;
            note.place = note.place.min(place);
        } else if self.found.len() < MOST {
            self.found.insert(message.clone(), Note { place, message, count: 1 });
        } else {
            self.left_out += 1;
        }
    }

    /// How many were added.
    pub(crate) fn count(&self) -> usize {
        self.found.values().map(|note| note.count).sum::<usize>() + self.left_out
    }

    /// Adds all of another list.
    pub(crate) fn extend(&mut self, others: Self) {
        for note in others.found.into_values() {
            for _ in 0..note.count {
                self.add(note.place, note.message.clone());
            }
        }
        self.left_out += others.left_out;
    }

    /// All of them by their places, and how many more there are.
    pub(crate) fn sorted(self) -> (Vec<Note>, usize) {
        let mut notes: Vec<Note> = self.found.into_values().collect();
        notes.sort_by(|a, b| (a.place, &a.message).cmp(&(b.place, &b.message)));
        (notes, self.left_out)
    }
}
