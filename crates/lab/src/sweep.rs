//! A lab file as many runs: its points, and the lab of each.

mod over_runs;
mod write;

use crate::diagnostics::{Diagnostics, Severity};
use crate::errors::Errors;
use crate::expect::Groups;
use crate::vary::{self, SweepSettings, Varied, shown};
use crate::yaml::{self, Content, Entry, Node};
use crate::{Clock, Lab, Limits, Source, finish, scalar};
use netloom_units::Seed;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A lab file that describes many runs.
#[derive(Clone, Debug)]
pub struct Sweep {
    file: String,
    text: String,
    root: Node,
    varied: Varied,
    /// The values of all parameters.
    known: Arc<Groups>,
    /// The clock in place of the file's.
    clock: Option<Clock>,
}

/// One run of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The number of its point, from 0.
    pub point: u64,
    /// The number of the repetition of the point, from 0.
    pub repetition: u64,
}

/// A run of a sweep that is ready to start.
#[derive(Clone, Debug)]
pub struct PreparedRun {
    /// The lab that is to be built and run.
    pub lab: Lab,
    /// The text of a lab file that describes the same lab without `vary`, `repeat` and `sweep`.
    pub text: String,
}

impl Sweep {
    /// Reads what varies in the lab file `text`. A file in which nothing varies has one point.
    ///
    /// # Errors
    /// What is wrong with `vary`, `repeat` and `sweep`; the rest is looked at point by point.
    pub fn read(text: &str, file: &str) -> Result<Self, Diagnostics> {
        crate::diagnostics::allow_suggestions();
        let failed = |entries| Diagnostics::new(file, text, Severity::Error, entries);
        let root = yaml::parse(text).map_err(failed)?;
        let mut errors = Errors::in_folder(Path::new(file).parent().unwrap_or(Path::new("")));
        let varied = vary::read(&root, &mut errors).unwrap_or_default();
        if !errors.is_empty() {
            return Err(failed(errors.into_entries()));
        }
        let known = Arc::new(varied.known());
        Ok(Self { file: file.to_owned(), text: text.to_owned(), root, varied, known, clock: None })
    }

    /// Returns the sweep as if the file's `clock` were this one.
    #[must_use]
    pub fn with_clock(self, clock: Option<Clock>) -> Self {
        Self { clock, ..self }
    }

    /// Counts the points, at least one.
    pub fn points(&self) -> u64 {
        self.varied.count()
    }

    /// Returns how often each point is run.
    pub fn repetitions(&self) -> u64 {
        self.varied.repetitions.max(1)
    }

    /// Returns how runs are counted and packed.
    pub fn settings(&self) -> SweepSettings {
        self.varied.settings
    }

    /// Returns the names of the parameters, in the order of the file.
    pub fn parameters(&self) -> Vec<&str> {
        self.varied.parameters().map(|parameter| parameter.name.as_str()).collect()
    }

    /// Returns the values of the parameters at a point, in the order of [`Sweep::parameters`].
    pub fn values(&self, point: u64) -> Vec<String> {
        self.varied.at(point).map(|(_, value)| shown(value)).collect()
    }

    /// Returns the tables that values come from, as the file names them.
    pub fn tables(&self) -> &[PathBuf] {
        &self.varied.files
    }

    /// Returns the lab of a run, under this name.
    ///
    /// # Errors
    /// What is wrong with the lab at this point, which is named.
    pub fn run(&self, run: Run, name: &str) -> Result<PreparedRun, Diagnostics> {
        let failed = |entries| {
            let found = Diagnostics::new(&self.file, &self.text, Severity::Error, entries);
            found.at_point(self.varied.describe(run.point))
        };
        let mut root = self.varied.apply(&self.root, run.point).map_err(failed)?;
        set(&mut root, "name", name);
        let seed = seed_of(&root, run.repetition);
        set(&mut root, "seed", &seed.get().to_string());
        let points = self.varied.points(&self.known, run.point);
        let source = Source { text: &self.text, file: &self.file, limits: &Limits::LARGEST };
        let lab = finish(&root, &source, self.clock, points);
        let lab = lab.map_err(|found| found.at_point(self.varied.describe(run.point)))?;
        over_runs::leave_to_sweep(&mut root, &lab.plan.over_runs);
        Ok(PreparedRun { text: write::file(&root), lab })
    }

    /// Returns the expectations of all runs together, as the file has them: their places in its list, and their texts.
    pub fn over_runs(&self) -> Vec<(usize, String)> {
        over_runs::texts(&self.root)
    }

    /// Returns the name that the file gives its lab, if it does.
    pub fn name(&self) -> Option<&str> {
        entry(&self.root, "name").and_then(|entry| entry.value.text())
    }

    /// Returns the keys under which the lab file `text` differs from this one, at most ten; none: they say the same.
    pub fn differences(&self, text: &str) -> Vec<String> {
        let Ok(other) = yaml::parse(text) else { return vec!["all of it, which is no YAML".into()] };
        let mut found = Vec::new();
        differ(&self.root, &other, &mut found);
        found
    }
}

/// The seed of a repetition: the first has the file's own, the others one that is derived from it (`repetition 2`, and so on).
fn seed_of(root: &Node, repetition: u64) -> Seed {
    // What is wrong with it is noted when the file is read in earnest.
    let own = entry(root, "seed").and_then(|entry| scalar::seed(&entry.value).ok()).unwrap_or(Seed::new(1));
    if repetition == 0 { own } else { own.derive(&format!("repetition {}", repetition + 1)) }
}

pub(crate) fn entry<'a>(root: &'a Node, name: &str) -> Option<&'a Entry> {
    match &root.content {
        Content::Map(entries) => entries.iter().find(|entry| entry.name == name),
        _ => None,
    }
}

/// Gives a key of the file a value, unless its own is wrong, which is to be seen.
pub(crate) fn set(root: &mut Node, name: &str, text: &str) {
    let Content::Map(entries) = &mut root.content else { return };
    let content = Content::Text { text: text.to_owned(), plain: true, block: None };
    match entries.iter_mut().find(|entry| entry.name == name) {
        Some(entry) if name == "seed" && scalar::seed(&entry.value).is_err() => {}
        Some(entry) => entry.value.content = content,
        None => {
            let value = Node { key: name.to_owned(), content, ..Node::empty() };
            entries.insert(0, Entry { name: name.to_owned(), span: value.span, value });
        }
    }
}

/// Takes keys of a map out of it.
pub(crate) fn leave_out(root: &mut Node, names: &[&str]) {
    if let Content::Map(entries) = &mut root.content {
        entries.retain(|entry| !names.contains(&entry.name.as_str()));
    }
}

/// The text of a lab file with this tree.
pub(crate) fn file_of(root: &Node) -> String {
    write::file(root)
}

fn differ(one: &Node, other: &Node, found: &mut Vec<String>) {
    const MOST: usize = 10;
    let is_same = match (&one.content, &other.content) {
        (Content::Map(ours), Content::Map(theirs)) => {
            for entry in ours {
                match theirs.iter().find(|its| its.name == entry.name) {
                    Some(its) => differ(&entry.value, &its.value, found),
                    None => found.push(entry.value.key.clone()),
                }
            }
            let is_new = |its: &&Entry| !ours.iter().any(|entry| entry.name == its.name);
            found.extend(theirs.iter().filter(is_new).map(|its| its.value.key.clone()));
            found.truncate(MOST);
            return;
        }
        (Content::List(ours), Content::List(theirs)) if ours.len() == theirs.len() => {
            ours.iter().zip(theirs).for_each(|(own, its)| differ(own, its, found));
            found.truncate(MOST);
            return;
        }
        (Content::Text { text, plain, .. }, Content::Text { text: its, plain: its_plain, .. }) => {
            (text, plain) == (its, its_plain)
        }
        (ours, theirs) => ours == theirs,
    };
    if !is_same && found.len() < MOST {
        found.push(one.key.clone());
    }
}
