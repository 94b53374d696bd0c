//! The runs of a hunt: a lab file with explicit faults in its timeline.

use crate::diagnostics::Severity;
use crate::sweep::{entry, file_of, leave_out, set};
use crate::yaml::{self, Content, Entry, Node};
use crate::{Diagnostics, Lab, parse};
use netloom_units::Seed;

pub use crate::resolve::matches_name;

/// A lab file in which faults are searched.
#[derive(Clone, Debug)]
pub struct HuntLab {
    file: String,
    text: String,
    root: Node,
}

/// The additions of a run of a hunt to the lab file.
#[derive(Clone, Debug, Default)]
pub struct HuntedRun<'a> {
    /// The name of the lab.
    pub name: &'a str,
    /// Entries of the timeline, each as a lab file would have it, on one line.
    pub entries: &'a [String],
    /// Further expectations.
    pub expect: &'a [String],
    /// Whether every packet is recorded.
    pub has_journal: bool,
    /// Whether what the lab file wants to have captured and recorded is left out.
    pub is_bare: bool,
}

impl HuntLab {
    /// Reads the lab file `text`, and checks it; errors name it `file`.
    ///
    /// # Errors
    /// All errors in it.
    pub fn read(text: &str, file: &str) -> Result<(Self, Lab), Diagnostics> {
        let lab = parse(text, file)?;
        let failed = |entries| Diagnostics::new(file, text, Severity::Error, entries);
        let root = yaml::parse(text).map_err(failed)?;
        Ok((Self { file: file.to_owned(), text: text.to_owned(), root }, lab))
    }

    /// Returns the text of the lab file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text of a lab file that is this one with another seed.
    pub fn seeded(&self, seed: Seed) -> String {
        let mut root = self.root.clone();
        set(&mut root, "seed", &seed.get().to_string());
        file_of(&root)
    }

    /// Whether the file describes many runs, of which a hunt could only play the first.
    pub fn varies(&self) -> bool {
        ["vary", "repeat"].iter().any(|key| entry(&self.root, key).is_some())
    }

    /// Returns the text of a lab file that is this one with what the run has beside it. Its `hunt` draws no faults: a hunt of it plays
    /// it once, and judges all but what need not hold in every run.
    ///
    /// # Errors
    /// What is wrong with the text, which names the entries that the lab does not take.
    pub fn play(&self, run: &HuntedRun<'_>) -> Result<(Lab, String), Diagnostics> {
        let failed = |text: &str, entries| Diagnostics::new(&self.file, text, Severity::Error, entries);
        let mut root = self.root.clone();
        set(&mut root, "name", run.name);
        if run.is_bare {
            leave_out(&mut root, &["capture", "journal"]);
        }
        if run.has_journal {
            leave_out(&mut root, &["journal"]);
            set(&mut root, "journal", "all");
            note_disks(&mut root);
        }
        for entry in run.entries {
            let item = yaml::parse(entry).map_err(|errors| failed(entry, errors))?;
            append(&mut root, "timeline", item);
        }
        for text in run.expect {
            let content = Content::Text { text: text.clone(), plain: false, block: None };
            append(&mut root, "expect", Node { content, ..Node::empty() });
        }
        if let Content::Map(entries) = &mut root.content
            && let Some(hunt) = entries.iter_mut().find(|entry| entry.name == "hunt")
        {
            leave_out(&mut hunt.value, &["runs", "for", "faults", "sometimes"]);
            set(&mut hunt.value, "faults", "none");
        }
        let text = file_of(&root);
        // Read anew: what was put together has places of several texts.
        let lab = parse(&text, &self.file)?;
        Ok((lab, text))
    }
}

/// Returns the text of the lab file `text` with another entry in its timeline, which is written as a lab file would have it, on one line.
///
/// # Errors
/// That the text or the entry is no YAML; whether the lab takes the entry is seen when it is read.
pub fn with_entry(text: &str, file: &str, entry: &str) -> Result<String, Diagnostics> {
    let parsed = |part: &str| yaml::parse(part).map_err(|errors| Diagnostics::new(file, part, Severity::Error, errors));
    let mut root = parsed(text)?;
    append(&mut root, "timeline", parsed(entry)?);
    Ok(file_of(&root))
}

/// Lets all requests to disks of nodes be noted.
fn note_disks(root: &mut Node) {
    for disk in named(root, "nodes").flat_map(entries_of).flat_map(|node| named(&mut node.value, "disk")) {
        set(disk, "journal", "true");
    }
}

/// The value of this name in a map, if it has one.
fn named<'a>(map: &'a mut Node, name: &'a str) -> impl Iterator<Item = &'a mut Node> {
    entries_of(map).filter(move |entry| entry.name == name).map(|entry| &mut entry.value)
}

/// The entries of a map; none of anything else.
fn entries_of(map: &mut Node) -> impl Iterator<Item = &mut Entry> {
    let entries = if let Content::Map(entries) = &mut map.content { Some(entries) } else { None };
    entries.into_iter().flatten()
}

/// Adds an item to a list of the file, which is made if there is none.
fn append(root: &mut Node, name: &str, item: Node) {
    let Content::Map(entries) = &mut root.content else { return };
    let place = entries.iter().position(|entry| entry.name == name).unwrap_or_else(|| {
        let value = Node { key: name.to_owned(), content: Content::List(Vec::new()), ..Node::empty() };
        entries.push(Entry { name: name.to_owned(), span: value.span, value });
        entries.len() - 1
    });
    let value = &mut entries[place].value;
    match &mut value.content {
        Content::List(items) => items.push(item),
        content => *content = Content::List(vec![item]),
    }
}

#[cfg(test)]
mod tests;
