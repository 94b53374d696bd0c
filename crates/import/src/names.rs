//! Names that a lab accepts, made of those that a file has.

use std::collections::{BTreeMap, BTreeSet};

/// Letters of names of nodes and links.
const LONGEST: usize = 31;
/// Letters of the name of a lab.
const LONGEST_LAB: usize = 32;

/// Letters with marks, and what is written for them: those of the Latin alphabets of Europe.
const FOLDED: [(&str, &str); 39] = [
    ("ÀÁÂÃÅĀĂĄ", "A"),
    ("àáâãåāăą", "a"),
    ("ÄÆ", "Ae"),
    ("äæ", "ae"),
    ("ÇĆČ", "C"),
    ("çćč", "c"),
    ("ĎĐÐ", "D"),
    ("ďđð", "d"),
    ("ÈÉÊËĒĖĘĚ", "E"),
    ("èéêëēėęě", "e"),
    ("ĞĢ", "G"),
    ("ğģ", "g"),
    ("ÌÍÎÏĪĮİ", "I"),
    ("ìíîïīįı", "i"),
    ("Ķ", "K"),
    ("ķ", "k"),
    ("ĹĻĽŁ", "L"),
    ("ĺļľł", "l"),
    ("ÑŃŅŇ", "N"),
    ("ñńņň", "n"),
    ("ÒÓÔÕŌŐ", "O"),
    ("òóôõōő", "o"),
    ("ÖØŒ", "Oe"),
    ("öøœ", "oe"),
    ("ŔŘ", "R"),
    ("ŕř", "r"),
    ("ŚŞŠȘ", "S"),
    ("śşšș", "s"),
    ("ŢŤȚ", "T"),
    ("ţťț", "t"),
    ("ÙÚÛŪŮŰŲ", "U"),
    ("ùúûūůűų", "u"),
    ("Ü", "Ue"),
    ("ü", "ue"),
    ("Ý", "Y"),
    ("ýÿ", "y"),
    ("ŹŻŽ", "Z"),
    ("źżž", "z"),
    ("ß", "ss"),
];

/// What names are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Upper and lower case mean the same; no underscores.
    Node,
    Link,
}

/// Names that are taken.
#[derive(Debug)]
pub(crate) struct Names {
    kind: Kind,
    taken: BTreeSet<String>,
    /// The last number that was put behind a name.
    numbers: BTreeMap<String, usize>,
}

impl Names {
    pub(crate) fn of(kind: Kind) -> Self {
        // Every node's name for itself.
        let taken = if kind == Kind::Node { [String::from("localhost")].into() } else { BTreeSet::new() };
        Self { kind, taken, numbers: BTreeMap::new() }
    }

    /// A name for what the file calls `label`, or `otherwise` if nothing of that can be in a name.
    pub(crate) fn make(&mut self, label: &str, otherwise: &str) -> String {
        let is_link = self.kind != Kind::Node;
        let mut base = plain(label, is_link);
        if base.is_empty() {
            base = plain(otherwise, is_link);
        }
        if !base.starts_with(|first: char| first.is_ascii_alphabetic()) {
            base.insert(0, if is_link { 'l' } else { 'n' });
        }
        base = cut(&base, LONGEST);
        if self.take(&base) {
            return base;
        }
        loop {
            let number = self.numbers.entry(base.to_lowercase()).or_insert(1);
            *number += 1;
            let ending = format!("-{number}");
            let name = format!("{}{ending}", cut(&base, LONGEST - ending.len()));
            if self.take(&name) {
                return name;
            }
        }
    }

    fn take(&mut self, name: &str) -> bool {
        self.taken.insert(if self.kind == Kind::Node { name.to_lowercase() } else { name.to_owned() })
    }
}

/// The name of a link between nodes of these names, neither of which is cut more than needed.
pub(crate) fn between(a: &str, b: &str) -> String {
    let half = (LONGEST - 1) / 2;
    let (first, second) = match (a.len() > half, b.len() > half) {
        (true, true) => (half, half),
        (true, false) => (LONGEST - 1 - b.len(), b.len()),
        (false, true) => (a.len(), LONGEST - 1 - a.len()),
        (false, false) => (a.len(), b.len()),
    };
    format!("{}_{}", cut(a, first), cut(b, second))
}

/// A name for the lab.
pub(crate) fn of_lab(label: &str) -> String {
    let name = cut(&plain(label, false).to_lowercase(), LONGEST_LAB);
    if name.is_empty() { "lab".to_owned() } else { name }
}

fn cut(name: &str, longest: usize) -> String {
    name.chars().take(longest).collect::<String>().trim_end_matches(['-', '_']).to_owned()
}

/// Letters and digits, with one hyphen for all between them.
fn plain(label: &str, underscores: bool) -> String {
    let mut name = String::new();
    for letter in label.chars().take(4 * LONGEST) {
        if letter.is_ascii_alphanumeric() || (letter == '_' && underscores) {
            name.push(letter);
        } else if let Some((_, folded)) = FOLDED.iter().find(|(letters, _)| letters.contains(letter)) {
            name.push_str(folded);
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    name.trim_end_matches(['-', '_']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_file_as_far_as_a_lab_has_such() {
        let mut names = Names::of(Kind::Node);
        let mut made = |label: &str| names.make(label, "n7");
        assert_eq!(made("New York"), "New-York");
        assert_eq!(made("new york"), "new-york-2");
        assert_eq!(made("New York"), "New-York-3");
        assert_eq!(made("São Paulo (SP)"), "Sao-Paulo-SP");
        assert_eq!(made("?"), "n7");
        assert_eq!(made("10.0.0.1"), "n10-0-0-1");
        assert_eq!(made("a_b"), "a-b");
        assert_eq!(made("localhost"), "localhost-2");
        assert_eq!(made("Łódź"), "Lodz");
        assert_eq!(made("a very long name that nobody can remember"), "a-very-long-name-that-nobody-ca");
        assert_eq!(made("a very long name that nobody can forget"), "a-very-long-name-that-nobody-2");
    }

    #[test]
    fn links_are_called_after_both_ends() {
        assert_eq!(between("a", "b"), "a_b");
        assert_eq!(between("Chicago", "a-very-long-name-that-nobody-ca"), "Chicago_a-very-long-name-that-n");
        assert!(between(&"x".repeat(31), &"y".repeat(31)).len() <= 31);
    }

    #[test]
    fn a_lab_has_a_name_in_any_case() {
        assert_eq!(of_lab("Abilene"), "abilene");
        assert_eq!(of_lab("???"), "lab");
        assert_eq!(of_lab("Bell South_2"), "bell-south-2");
    }
}
