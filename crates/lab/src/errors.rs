//! What is found to be wrong while a lab file is read and resolved, and the files that it names.

use crate::diagnostics::Diagnostic;
use crate::input_files::{self, LONGEST_FILE, MOST_READ};
use crate::limits::Limits;
use crate::scalar;
use crate::yaml::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

/// The addresses of the nodes by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    pub(crate) addresses: BTreeMap<String, Vec<IpAddr>>,
    /// Those whose addresses of IPv4 a DHCP server chooses.
    pub(crate) lent: BTreeSet<String>,
    /// Whether parts of the network could not be read, so that nothing can be said about what is missing.
    pub(crate) has_gaps: bool,
}

/// Errors so far, where the files that a lab file names are found, and the nodes if something may name them.
#[derive(Debug, Default)]
pub(crate) struct Errors {
    entries: Vec<Diagnostic>,
    folder: PathBuf,
    files: Vec<PathBuf>,
    /// How many bytes of files were read.
    read: u64,
    limits: Limits,
    nodes: Option<Nodes>,
}

impl Errors {
    /// No errors; files are named relative to `folder`.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..Self::default() }
    }

    /// The same for a lab that may be so large.
    pub(crate) fn within(self, limits: &Limits) -> Self {
        Self { limits: *limits, ..self }
    }

    /// Notes an error in the place of a value.
    pub(crate) fn reject<T>(&mut self, error: Diagnostic) -> Option<T> {
        self.push(error);
        None
    }

    /// How large the lab may be.
    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// The text of the file that `node` names.
    pub(crate) fn read_text(&mut self, node: &Node) -> Result<String, Diagnostic> {
        let bytes = self.read_bytes(node)?;
        String::from_utf8(bytes).map_err(|_| node.error("this file is not a UTF-8 text"))
    }

    /// The bytes of the file that `node` names.
    pub(crate) fn read_bytes(&mut self, node: &Node) -> Result<Vec<u8>, Diagnostic> {
        let name = PathBuf::from(scalar::filled(node)?);
        let path = self.folder.join(&name);
        let bytes =
            input_files::read(&path, LONGEST_FILE.min(MOST_READ - self.read)).map_err(|error| node.error(error))?;
        self.read += bytes.len() as u64;
        if !self.files.contains(&name) {
            self.files.push(name);
        }
        Ok(bytes)
    }

    /// Where the file would be that `node` names. Whether it is there is looked at when it is needed.
    pub(crate) fn path(&self, node: &Node) -> Result<PathBuf, Diagnostic> {
        Ok(self.folder.join(scalar::filled(node)?))
    }

    /// Where the file or folder is that `node` names, and whether it is a folder. Small ones are kept with the results.
    pub(crate) fn source(&mut self, node: &Node) -> Result<(PathBuf, bool), Diagnostic> {
        let name = PathBuf::from(scalar::filled(node)?);
        let path = self.folder.join(&name);
        let about =
            std::fs::metadata(&path).map_err(|error| node.error(format!("looking at {}: {error}", path.display())))?;
        if !about.is_dir() && !about.is_file() {
            return Err(node.error(format!("{} is neither a file nor a folder", path.display())));
        }
        let small = input_files::small_files(&self.folder, &name).into_iter().filter(|file| !self.files.contains(file));
        self.files.extend(small.collect::<Vec<_>>());
        Ok((path, about.is_dir()))
    }

    /// The folder from which relative paths count.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// From now on these are the nodes of the lab.
    pub(crate) fn set_nodes(&mut self, nodes: Nodes) {
        self.nodes = Some(nodes);
    }

    /// The nodes of the lab; none outside a lab file.
    pub(crate) fn nodes(&self) -> Option<&Nodes> {
        self.nodes.as_ref()
    }

    /// The files that were read, as the lab file names them.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// All of them; what is wrong with a link that stands for several is reported once.
    pub(crate) fn into_entries(mut self) -> Vec<Diagnostic> {
        self.entries.dedup();
        self.entries
    }
}

impl Deref for Errors {
    type Target = Vec<Diagnostic>;
    fn deref(&self) -> &Vec<Diagnostic> {
        &self.entries
    }
}

impl DerefMut for Errors {
    fn deref_mut(&mut self) -> &mut Vec<Diagnostic> {
        &mut self.entries
    }
}

/// What was left out because it could not be read: references to it are not errors of their own.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    pub(crate) nodes: bool,
    pub(crate) links: bool,
    pub(crate) commands: bool,
}

/// Errors that end the resolving, and warnings that do not.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) errors: Errors,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// The value, or none after its error was noted.
pub(crate) fn keep<T>(result: Result<T, Diagnostic>, errors: &mut Errors) -> Option<T> {
    result.map_err(|error| errors.push(error)).ok()
}
