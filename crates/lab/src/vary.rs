//! `vary` and `repeat`: one file that describes many runs.
//!
//! A *parameter* has values; a *point* is one value of each. What a point changes is changed in the tree of the file, before
//! anything of it is decoded: by a path (`links.bottleneck.rate`), or by `${name}` in any text. So all of a lab can be
//! varied, and an error is shown where the wrong value is written, with the point that it belongs to. Points are
//! computed from their numbers and never kept.
//!
//! A sweep reads and plans all points before it starts the first run, and gives each run the text of its point
//! (`--as-played`).

mod csv;
mod path;
mod placeholder;
mod read;
mod values;

pub(crate) use read::{VARIED, read};

use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::expect::{Groups, Points};
use crate::yaml::{self, Content, Node};
use std::path::PathBuf;
use std::sync::Arc;

/// The keys that are about many runs, and not about one.
const KEYS: [&str; 3] = ["vary", "repeat", "sweep"];

/// What varies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Varied {
    /// In the order of the file, in which the last one changes first.
    groups: Vec<Group>,
    /// How often each point is run.
    pub(crate) repetitions: u64,
    pub(crate) settings: SweepSettings,
    /// The tables that the values come from.
    pub(crate) files: Vec<PathBuf>,
}

/// Parameters that change together.
#[derive(Clone, Debug)]
struct Group {
    parameters: Vec<Parameter>,
    /// How many values each of them has.
    len: usize,
}

/// Something that varies.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Where errors about it are shown.
    node: Node,
    /// What it replaces; empty: `${name}` in texts.
    paths: Vec<Node>,
    values: Vec<Node>,
}

/// How runs are counted and packed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepSettings {
    /// Whether runs whose network was not as described count, too.
    pub counts_all: bool,
    /// The processors that each run takes; none: as many as the clock asks for.
    pub processors: Option<Processors>,
}

/// How many processors a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Processors {
    /// All that there are.
    All,
    /// So many.
    Count(u32),
}

impl Varied {
    pub(crate) fn count(&self) -> u64 {
        self.groups.iter().map(|group| group.len as u64).product()
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.groups.iter().flat_map(|group| &group.parameters)
    }

    /// Each parameter with its value at a point.
    pub(crate) fn at(&self, point: u64) -> impl Iterator<Item = (&Parameter, &Node)> {
        let mut stride = self.count();
        self.groups.iter().flat_map(move |group| {
            stride /= group.len as u64;
            let place = usize::try_from(point / stride % group.len as u64).expect("below the number of values");
            group.parameters.iter().map(move |parameter| (parameter, &parameter.values[place]))
        })
    }

    /// `cc=cubic, rate=10 Mbit/s`
    pub(crate) fn describe(&self, point: u64) -> String {
        self.at(point)
            .map(|(parameter, value)| format!("{}={}", parameter.name, shown(value)))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The values of all parameters, as tables show them.
    pub(crate) fn known(&self) -> Groups {
        let values = |parameter: &Parameter| parameter.values.iter().map(shown).collect();
        let group = |group: &Group| {
            group.parameters.iter().map(|parameter| (parameter.name.clone(), values(parameter))).collect()
        };
        self.groups.iter().map(group).collect()
    }

    /// What expectations may name at a point, given what is `known`.
    pub(crate) fn points(&self, known: &Arc<Groups>, point: u64) -> Points {
        let here = self.at(point).map(|(parameter, value)| (parameter.name.clone(), shown(value))).collect();
        Points { groups: Arc::clone(known), here }
    }

    /// The file at a point, without the keys about many runs.
    pub(crate) fn apply(&self, root: &Node, point: u64) -> Result<Node, Vec<Diagnostic>> {
        let mut root = root.clone();
        if let Content::Map(entries) = &mut root.content {
            entries.retain(|entry| !KEYS.contains(&entry.name.as_str()));
        }
        let mut errors = Vec::new();
        for (parameter, value) in self.at(point) {
            for path in &parameter.paths {
                errors.extend(path::put(&mut root, path, value).err());
            }
        }
        let words: Vec<(&str, &Node)> =
            self.at(point).map(|(parameter, value)| (parameter.name.as_str(), value)).collect();
        errors.extend(placeholder::fill(&mut root, &words));
        if errors.is_empty() { Ok(root) } else { Err(errors) }
    }
}

/// The lab file `root` at its first point, and what is to be said of that; none if nothing varies in it.
///
/// # Errors
/// What is wrong with `vary`, `repeat` and `sweep`, or with the first point, which is named.
pub(crate) fn first(root: &Node, errors: &mut Errors) -> Result<Option<First>, (Vec<Diagnostic>, String)> {
    let before = errors.len();
    let Some(varied) = read(root, errors) else { return Ok(None) };
    if errors.len() > before {
        return Ok(None);
    }
    let (point, known) = (varied.describe(0), varied.points(&Arc::new(varied.known()), 0));
    let first = varied.apply(root, 0).map_err(|found| (found, point.clone()))?;
    let (points, runs) = (varied.count(), varied.count() * varied.repetitions.max(1));
    let of = if points == 1 { String::new() } else { format!(", the first of {points} points ({point})") };
    let note = format!("this file describes {runs} runs: `netloom sweep` runs all of them, and this is one{of}");
    Ok(Some(First { root: first, point, points: known, note: (runs > 1).then_some(note) }))
}

/// The first point.
pub(crate) struct First {
    /// The lab file there.
    pub(crate) root: Node,
    /// Its values; empty if nothing varies.
    pub(crate) point: String,
    /// What varies.
    pub(crate) points: Points,
    /// That there are others, if so.
    pub(crate) note: Option<String>,
}

/// A value as tables show it.
pub(crate) fn shown(value: &Node) -> String {
    value.text().map_or_else(|| yaml::flow(value), str::to_owned)
}
