//! The records of a lab over several machines, which its parts have made: their captures and journals, put together by instant.
//!
//! Each part has its results in `parts/MACHINE`. Beside the nodes of its machine it has the far ends of tunnels: what passed there is recorded in
//! another part, too, and is left out. All instants are lab time, which begins for all parts at one instant.

mod captures;
mod journals;

use crate::ReadError;
use crate::regular;
use netloom_judge::JournalRow;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// The folder of the parts, and the file that says which there are.
const PARTS: &str = "parts";
const MACHINES: &str = "machines.json";
/// The file that says in which part packets enter a pipe.
const REPORT: &str = "report.json";

/// The part of a machine.
#[derive(Debug, Deserialize)]
struct Part {
    machine: String,
    /// The nodes of the lab that it has.
    nodes: Vec<String>,
}

impl Part {
    /// Returns the folder of its results.
    fn folder(&self, of_all: &Path) -> PathBuf {
        of_all.join(PARTS).join(&self.machine)
    }
}

/// A pipe, and the part that describes it.
#[derive(Clone, Debug, Deserialize)]
struct OwnPipe {
    link: String,
    direction: String,
    pipe: Option<String>,
    machine: String,
}

/// The part of a report that matters here.
#[derive(Debug, Deserialize)]
struct Known {
    lab: String,
    pipes: Vec<OwnPipe>,
    journal: Option<JournalRow>,
}

/// Puts the captures and the journals of all parts together in the joined results folder, and returns what became of the journal, if there is one.
///
/// # Errors
/// When `machines.json` or `report.json` cannot be read, a part has recorded what is none, or the folder cannot be written.
pub fn join(folder: &Path) -> Result<Option<JournalRow>, ReadError> {
    let parts: Vec<Part> = document(&folder.join(MACHINES))?;
    let known: Known = document(&folder.join(REPORT))?;
    captures::join(folder, &parts)?;
    journals::join(folder, &parts, &known)
}

fn document<T: DeserializeOwned>(path: &Path) -> Result<T, ReadError> {
    let bytes = regular::read(path).map_err(|error| wrong(path, &error))?;
    serde_json::from_slice(&bytes).map_err(|error| wrong(path, &error))
}

/// Says what is wrong with a file.
fn wrong(path: &Path, why: &dyn std::fmt::Display) -> ReadError {
    ReadError::File { path: path.to_owned(), why: why.to_string() }
}

#[cfg(test)]
mod tests;
