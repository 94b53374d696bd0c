//! A generated network as the text of a lab file, for those who want to go on by hand.

use super::expand;
use super::keys::{SECTIONS, SETTINGS_OF_ALL};
use crate::diagnostics::{Diagnostics, Severity};
use crate::errors::Errors;
use crate::section::Key;
use crate::yaml::{self, Content, Entry, Node};
use std::fmt::Write;
use std::path::Path;

/// The names of all kinds of networks.
pub fn generator_kinds() -> impl Iterator<Item = &'static str> {
    SECTIONS.iter().map(|section| section.kind())
}

/// Each kind of network with what it is, and its own keys with whether they are required, an example and what they mean; last
/// come, without a name, the keys of all kinds.
pub fn generator_keys() -> impl Iterator<Item = (&'static str, &'static str, Vec<GeneratorKey>)> {
    let shown = |keys: Vec<&'static Key>| -> Vec<GeneratorKey> {
        let described =
            |key: &Key| GeneratorKey { name: key.name, is_required: key.required, example: key.example, doc: key.doc };
        keys.into_iter().filter(|key| key.name != "kind").map(described).collect()
    };
    let is_shared = |key: &&Key| SETTINGS_OF_ALL.keys().any(|shared| shared.name == key.name);
    let own = SECTIONS.iter().map(move |section| {
        (section.kind(), section.doc, shown(section.keys().filter(|key| !is_shared(key)).collect()))
    });
    own.chain([("", "", shown(SETTINGS_OF_ALL.keys().collect()))])
}

/// A key of a kind of network.
#[derive(Clone, Copy, Debug)]
pub struct GeneratorKey {
    /// The name of the key.
    pub name: &'static str,
    /// Whether the kind of network needs the key.
    pub is_required: bool,
    /// An example of a value of the key.
    pub example: &'static str,
    /// The meaning of the key.
    pub doc: &'static str,
}

/// The text of a lab file called `name` with the network of this kind and these keys, each with its value as a lab file has it.
///
/// # Errors
/// What is wrong with them.
pub fn generate(name: &str, kind: &str, keys: &[(String, String)]) -> Result<String, Diagnostics> {
    crate::diagnostics::allow_suggestions();
    let mut asked = format!("kind: {kind}\n");
    for (key, value) in keys {
        let _ = writeln!(asked, "{key}: {value}");
    }
    let failed = |errors| Diagnostics::new("generate", &asked, Severity::Error, errors);
    let wanted = yaml::parse(&asked).map_err(failed)?;
    let place = |value: Node| Entry { name: "generate".into(), span: value.span, value };
    let root = Node { content: Content::Map(vec![place(wanted)]), ..Node::empty() };
    let mut errors = Errors::in_folder(Path::new(""));
    let made = expand(&root, &mut errors);
    let made = made.filter(|_| errors.is_empty()).ok_or_else(|| failed(errors.into_entries()))?;
    let mut text = format!("# {}\nname: {name}\n", asked.trim_end().replace('\n', ", "));
    let Content::Map(sections) = &made.root.content else { return Ok(text) };
    for section in sections.iter().filter(|section| section.name != "generate") {
        let Content::Map(entries) = &section.value.content else { continue };
        let _ = writeln!(text, "{}:", section.name);
        for entry in entries {
            let _ = writeln!(text, "  {}: {}", entry.name, yaml::flow(&entry.value));
        }
    }
    // What its settings mean is found out as for every other file.
    crate::parse(&text, "generate").map(|_| text)
}
