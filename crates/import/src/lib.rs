//! Files of other network tools, read as lab files.
//!
//! A reader per format makes a topology of nodes, links and events, whose values know where they come from; one writer makes
//! a lab file of it, with comments that say so, and with a list of what the file says and a lab does not have. The lab is
//! then read from that text by `netloom_lab`, like any other; what is wrong with it is reported at the line of the foreign file.
//!
//! This crate opens no file but the one it is asked for and those that this one names, and touches nothing else of the
//! system. What it reads may be anything: sizes, depths and steps are bounded.
//!
//! The writer keeps the origin of every line. So a reader decides nothing that a lab file could not say. Readers of
//! trees ask for keys by `seen`, which notes in the end the keys that nobody looked at.
#![forbid(unsafe_code)]

mod commands;
mod containers;
mod daemons;
mod files;
mod formats;
mod geography;
mod graph;
mod inits;
mod loops;
mod machine;
mod names;
mod notes;
mod overlaps;
mod places;
mod quantity;
mod scripts;
mod seen;
mod shell;
mod source;
mod tcl;
mod toml;
mod topology;
mod tree;
mod value;
mod writers;
mod xml;
mod yaml;

pub use formats::Format;
pub use writers::Target;

/// The words of a text as a list of Tcl has them: `10 {a b}` are two.
pub fn words(text: &str) -> Vec<String> {
    tcl::split_list(text)
}

use files::Input;
use netloom_lab::{Clock, Diagnostic, Diagnostics, Lab, Span};
use notes::Note;
use source::{Place, Source};
use std::collections::BTreeMap;
use std::path::Path;
use yaml::Written;

/// The kind of nodes of which a file only says that they exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Transit routers: they forward, and run no programs.
    #[default]
    Transit,
    /// Routers, on which programs run.
    Router,
    /// Hosts, which do not forward.
    Host,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::Transit, Self::Router, Self::Host];

    /// Returns the kind of node in a lab file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transit => "transit",
            Self::Router => "router",
            Self::Host => "host",
        }
    }

    /// The kind of node of a lab file that `name` is.
    fn kind(name: &str) -> Option<&'static str> {
        ["host", "router", "transit", "switch", "hub"].into_iter().find(|kind| *kind == name)
    }
}

/// The options for reading a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The kind of nodes of which a graph only says that they exist.
    pub role: Role,
    /// The environment variables that a file may ask for.
    pub environment: BTreeMap<String, String>,
    /// Whether nodes have this machine's files where a file names a container image.
    pub no_images: bool,
    /// The arguments of a script.
    pub arguments: Vec<String>,
}

/// A file of another tool as a lab file.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    format: Format,
    sources: Vec<Source>,
    written: Written,
    notes: Vec<Note>,
    left_out: usize,
}

/// Reads the text of a file of another tool; messages call it `file`.
///
/// # Errors
/// What is wrong with it, at its line and column.
pub fn read(format: Format, file: &str, text: String, options: &Options) -> Result<Imported, Diagnostics> {
    let mut sources = vec![Source { name: file.to_owned(), text }];
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let folder = Path::new(file).parent().map(Path::to_owned).unwrap_or_default();
    let read = format.read(&mut Input::new(&mut sources, stem, folder), options);
    let mut topology = read.map_err(|wrong| wrong.shown(&sources))?;
    loops::settle(&mut topology);
    let (notes, left_out) = std::mem::take(&mut topology.notes).sorted();
    let told = Imported { format, sources, written: Written::default(), notes, left_out };
    let shown: Vec<String> = told.notes_from("").collect();
    Ok(Imported { written: yaml::write(&topology, &shown, &told.sources, format.title()), ..told })
}

impl Imported {
    /// Returns the format of the file.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the text of the lab file.
    pub fn yaml(&self) -> &str {
        &self.written.text
    }

    /// Lists what the file says and the lab does not have, or has otherwise: a line each, with its place.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.notes_from(self.name())
    }

    /// Returns the lab, as if its clock were this one if one is given.
    ///
    /// # Errors
    /// What is wrong with it, at the lines of the foreign file that it comes from.
    pub fn parse(&self, clock: Option<Clock>) -> Result<Lab, Diagnostics> {
        let parsed = match clock {
            Some(clock) => netloom_lab::parse_with_clock(self.yaml(), self.name(), clock),
            None => netloom_lab::parse(self.yaml(), self.name()),
        };
        let mut lab = parsed.map_err(|errors| Diagnostics::of_errors(self.name(), self.text(), self.moved(&errors)))?;
        lab.warnings = Diagnostics::of_warnings(self.name(), self.text(), self.moved(&lab.warnings));
        for event in &mut lab.plan.timeline {
            event.line = self.line(event.line);
        }
        for source in &mut lab.plan.traffic {
            source.line = self.line(source.line);
        }
        for image in lab.plan.nodes.iter_mut().filter_map(|node| node.image.as_mut()) {
            image.line = self.line(image.line);
            image.volumes.iter_mut().for_each(|volume| volume.line = self.line(volume.line));
        }
        Ok(lab)
    }

    fn name(&self) -> &str {
        &self.sources[0].name
    }

    fn text(&self) -> &str {
        &self.sources[0].text
    }

    /// The notes; the file itself is called `name`.
    fn notes_from<'a>(&'a self, name: &'a str) -> impl Iterator<Item = String> + 'a {
        let notes = self.notes.iter().map(move |note| {
            let times = if note.count > 1 { format!(" ({} times)", note.count) } else { String::new() };
            format!("{}{}{times}", self.shown(note.place, name), note.message)
        });
        notes.chain((self.left_out > 0).then(|| format!("and {} more", self.left_out)))
    }

    /// A place as the beginning of a line.
    fn shown(&self, place: Place, name: &str) -> String {
        match (place.file, place.span.line) {
            (0, 0) if name.is_empty() => String::new(),
            (0, 0) => format!("{name}: "),
            (0, line) if name.is_empty() => format!("line {line}: "),
            (0, line) => format!("{name}:{line}: "),
            (file, line) => format!("{}:{line}: ", self.sources.get(file).map_or("", |source| source.name.as_str())),
        }
    }

    /// Where a line of the lab file comes from.
    fn place(&self, line: usize) -> Option<Place> {
        self.written.places.get(line.checked_sub(1)?).copied().flatten()
    }

    /// The line of the foreign file that a line of the lab file comes from.
    fn line(&self, line: usize) -> usize {
        self.place(line).filter(|place| place.file == 0).map_or(0, |place| place.span.line)
    }

    /// What is found in the lab file, at the places that it comes from.
    fn moved(&self, found: &Diagnostics) -> Vec<Diagnostic> {
        let moved = found.iter().map(|one| match self.place(one.line()) {
            Some(place) if place.file == 0 => Diagnostic::new(place.span, one.key(), one.message()),
            Some(place) => {
                Diagnostic::new(Span::default(), one.key(), format!("{}{}", self.shown(place, ""), one.message()))
            }
            None => Diagnostic::new(Span::default(), one.key(), one.message()),
        });
        moved.collect()
    }
}
