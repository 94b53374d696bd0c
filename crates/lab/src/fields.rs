//! A map whose keys are those of a table.

use crate::diagnostics::{Diagnostic, Spanned, nearest};
use crate::errors::{Errors, keep};
use crate::scalar::{self, word};
use crate::section::{Form, Kind, Section};
use crate::yaml::{Content, Entry, Node};
use netloom_link::ConfigError;

/// The entries of a map, all of them known to its section.
pub(crate) struct Fields<'a> {
    node: &'a Node,
    section: &'static Section,
    entries: &'a [Entry],
}

/// What other tools call our keys.
const SYNONYMS: [(&str, &str); 26] = [
    ("bandwidth", "rate"),
    ("bw", "rate"),
    ("capacity", "rate"),
    ("speed", "rate"),
    ("latency", "delay"),
    ("buffer", "queue"),
    ("up", "forward` or `backward"),
    ("down", "forward` or `backward"),
    ("mem", "memory"),
    ("ram", "memory"),
    ("congestion_control", "congestion"),
    ("dilation", "clock"),
    ("tdf", "dilation"),
    ("sysctls", "sysctl"),
    ("environment", "env"),
    ("endpoints", "ends"),
    ("cmd", "run"),
    ("node", "on"),
    // What programs of YAML 1.1 write for it.
    ("true", "on"),
    ("ip", "address"),
    ("assert", "expect"),
    ("filter", "match"),
    ("volumes", "files"),
    ("mounts", "files"),
    ("cwd", "folder"),
    ("workdir", "folder"),
];

impl<'a> Fields<'a> {
    /// The entries of `node`; unknown and missing keys are noted. None if it is not a map.
    pub(crate) fn open(node: &'a Node, section: &'static Section, errors: &mut Errors) -> Option<Self> {
        let Content::Map(entries) = &node.content else {
            return errors.reject(node.expected(&format!("a map of keys ({})", known(section))));
        };
        let is_known = |entry: &&Entry| section.keys().any(|key| key.name == entry.name);
        errors.extend(entries.iter().filter(|entry| !is_known(entry)).map(|entry| unknown(entry, section)));
        let fields = Self { node, section, entries };
        let missing = section.keys().filter(|key| key.required && fields.get(key.name).is_none());
        errors.extend(missing.map(|key| node.lacks(key.name, key.example)));
        Some(fields)
    }

    /// The entries of `node`, whose key `kind` says which section they belong to, and which kind that is.
    pub(crate) fn open_kind(
        node: &'a Node,
        kinds: &[&'static Section],
        errors: &mut Errors,
    ) -> Option<(&'static str, Self)> {
        map(node, "a map of keys, `kind` among them", errors)?;
        let Some(value) = node.value("kind") else {
            return errors.reject(node.lacks("kind", kinds.first()?.kind()));
        };
        let words: Vec<(&str, &'static Section)> = kinds.iter().map(|section| (section.kind(), *section)).collect();
        let section = keep(word(value, &words), errors)?;
        Self::open(node, section, errors).map(|fields| (section.kind(), fields))
    }

    /// Returns the place of the map.
    pub(crate) fn whole(&self) -> Spanned<()> {
        self.node.spanned(())
    }

    /// The value of a key.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Node> {
        debug_assert!(self.section.keys().any(|key| key.name == name), "{name} is in the table");
        self.entries.iter().find(|entry| entry.name == name).map(|entry| &entry.value)
    }

    /// The value of a key as `read` understands it; none if it is not there or wrong, which is noted.
    pub(crate) fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Node) -> Result<T, Diagnostic>,
        errors: &mut Errors,
    ) -> Option<T> {
        self.get(name).and_then(|node| keep(read(node), errors))
    }

    /// The value of a key that has a form; none if it is not there or wrong, which is noted.
    pub(crate) fn form<F: Form>(&self, name: &str, errors: &mut Errors) -> Option<F::Value> {
        self.get(name).and_then(|node| F::read(node, errors))
    }

    /// Errors about those of these keys that are there, each with why it cannot be.
    pub(crate) fn refuse<'k, M: Into<String>>(
        &self,
        keys: impl IntoIterator<Item = (&'k str, M)>,
        errors: &mut Errors,
    ) {
        errors.extend(keys.into_iter().filter_map(|(key, why)| Some(self.get(key)?.error(why))));
    }

    /// The whole number under a key, within the bounds of its kind.
    pub(crate) fn integer(&self, name: &str, errors: &mut Errors) -> Option<u64> {
        let Kind::Integer { least, most } = self.section.keys().find(|key| key.name == name)?.kind else { return None };
        self.read(name, |node| scalar::integer(node, least, most), errors)
    }

    /// What a model says of itself; none after its error was noted at the key that it names.
    pub(crate) fn checked<T>(&self, result: Result<T, ConfigError>, errors: &mut Errors) -> Option<T> {
        result.map_err(|ConfigError { key, message }| errors.push(self.place(key).error(message))).ok()
    }

    /// The value of a key if it is there, or the whole map.
    fn place(&self, name: &str) -> &'a Node {
        self.entries.iter().find(|entry| entry.name == name).map_or(self.node, |entry| &entry.value)
    }
}

/// The entries of what has to be a map; none after it was noted that it is not what is wanted.
pub(crate) fn map<'a>(node: &'a Node, wanted: &str, errors: &mut Errors) -> Option<&'a [Entry]> {
    if let Content::Map(entries) = &node.content {
        return Some(entries);
    }
    errors.reject(node.expected(wanted))
}

/// The items of a list; none after an error was noted.
pub(crate) fn list<'a>(node: &'a Node, errors: &mut Errors) -> &'a [Node] {
    match &node.content {
        Content::List(items) => items,
        Content::Empty => &[],
        _ => {
            errors.push(node.expected("a list: begin each entry with `- `"));
            &[]
        }
    }
}

fn known(section: &Section) -> String {
    section.keys().map(|key| key.name).collect::<Vec<_>>().join(", ")
}

fn unknown(entry: &Entry, section: &Section) -> Diagnostic {
    let names = || section.keys().map(|key| key.name);
    let synonym = SYNONYMS.iter().find(|(other, ours)| {
        *other == entry.name && ours.split("` or `").all(|word| names().any(|name| name == word))
    });
    let meant = synonym.map(|(_, ours)| *ours).or_else(|| nearest(&entry.name, names()));
    let hint = meant.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    let message = format!("unknown key `{}`: {hint}known here: {}", entry.name, known(section));
    Diagnostic::new(entry.span, &entry.value.key, message)
}
