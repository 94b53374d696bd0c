//! `bundle.json`: what is in a bundle.

use netloom_image::Digest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Component, Path};

/// The name of the manifest in the bundle, below the folder that is named after the lab.
pub(crate) const MANIFEST: &str = "bundle.json";
/// The folder of all other files.
pub(crate) const RESULTS: &str = "results";
/// The folder of the image with a root, among the results.
pub(crate) const ROOT: &str = "root-image";

/// The form of bundles that this program writes and reads.
const FORMAT: u32 = 1;
/// The longest manifest: that of a sweep of 10,000 runs with 25 files each has 40 MB.
pub(crate) const LONGEST: u64 = 64 << 20;
/// The longest path of a file (PATH_MAX of Linux), and the most folders inside one another.
const LONGEST_PATH: usize = 4096;
const DEEPEST: usize = 100;

/// The manifest of a bundle: its files, and whose results they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the bundle's format.
    pub format: u32,
    /// The kind of the results in the bundle.
    pub kind: Kind,
    /// The lab's name.
    pub lab: String,
    /// Whether the run or sweep came to its end.
    pub complete: bool,
    /// The files of the bundle, in their order there, which is that of their paths.
    pub files: Vec<FileEntry>,
    /// The entries of the results folder that are no part of the bundle.
    pub left_out: Vec<LeftOut>,
}

/// The kind of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The results of `netloom run`.
    Run,
    /// The results of `netloom sim`.
    Simulation,
    /// The results of a lab that was up.
    Up,
    /// The results of `netloom sweep`.
    Sweep,
}

impl Kind {
    /// Returns the kind in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Simulation => "simulation",
            Self::Up => "lab that was up",
            Self::Sweep => "sweep",
        }
    }
}

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// The file's path relative to the results folder.
    pub path: String,
    /// The file's length.
    pub bytes: u64,
    /// The digest of the file's contents.
    pub digest: Digest,
}

/// An entry of a results folder that is no part of its bundle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    /// The path relative to the results folder.
    pub path: String,
    /// The reason why it is left out.
    pub why: String,
}

impl Manifest {
    pub(crate) fn new(kind: Kind, lab: String, complete: bool) -> Self {
        Self { format: FORMAT, kind, lab, complete, files: Vec::new(), left_out: Vec::new() }
    }

    /// Returns the length of all files together.
    pub fn bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.bytes))
    }

    /// Where a file is in the archive.
    pub(crate) fn place(&self, file: &FileEntry) -> String {
        format!("{}/{RESULTS}/{}", self.lab, file.path)
    }

    /// Reads a manifest, which may be a stranger's.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        /// Looked at first, so that a later form gets a better message than that of its first difference.
        #[derive(Deserialize)]
        struct Form {
            format: u32,
        }
        let wrong = |error: serde_json::Error| format!("{MANIFEST}: {error}");
        let form: Form = serde_json::from_slice(text).map_err(wrong)?;
        if form.format != FORMAT {
            return Err(format!(
                "it has the format {}, and this version of netloom reads {FORMAT}: take the one that wrote it",
                form.format
            ));
        }
        let manifest: Self = serde_json::from_slice(text).map_err(wrong)?;
        netloom_lab::check_name(&manifest.lab).map_err(|why| format!("{MANIFEST}: `lab`: {why}"))?;
        manifest.files.iter().try_for_each(|file| check_path(&file.path))?;
        manifest.in_order()?;
        Ok(manifest)
    }

    /// Files in rising order are each there once. A file has no others below it.
    fn in_order(&self) -> Result<(), String> {
        let mut folders = BTreeSet::new();
        let mut last: Option<&str> = None;
        for file in &self.files {
            if last.is_some_and(|last| last >= file.path.as_str()) {
                return Err(format!("{MANIFEST} names {:?} twice, or not in its order", file.path));
            }
            last = Some(&file.path);
            folders.extend(Path::new(&file.path).ancestors().skip(1).map(Path::to_owned));
        }
        match self.files.iter().find(|file| folders.contains(Path::new(&file.path))) {
            Some(both) => Err(format!("{MANIFEST} names {:?} both as a file and as a folder", both.path)),
            None => Ok(()),
        }
    }
}

/// That a path stays inside the folder to which it is unpacked.
pub(crate) fn check_path(path: &str) -> Result<(), String> {
    let parts: Vec<&str> = path.split('/').collect();
    let is_plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    let why = match () {
        () if path.is_empty() || path.contains('\0') => "is no path",
        () if !is_plain || parts.iter().any(|part| part.is_empty() || *part == ".") => {
            "leads out of the folder, or is written in a roundabout way"
        }
        () if path.len() >= LONGEST_PATH || parts.len() > DEEPEST => "is too long",
        () => return Ok(()),
    };
    let shown: String = path.chars().take(200).collect();
    Err(format!("the path {shown:?} {why}"))
}
