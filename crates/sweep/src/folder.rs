//! The folder of a sweep, which is all of its state.
//!
//! ```text
//! FOLDER/lab.yaml               the lab file as it was given
//! FOLDER/files/                 copies of the files that it names, if there are any
//! FOLDER/origin.json            which sweep this is; written last of what is there before the first run
//! FOLDER/runs/LAB-0001/lab.yaml the lab file as it is run
//! FOLDER/runs/LAB-0001/run.json what is kept of the run, written in one go when it has ended
//! FOLDER/runs/LAB-0001/TIME-ID/ its results
//! ```

use crate::{Checked, RunRecord, SweepError};
use netloom_lab::{Clock, Sweep};
use netloom_regular::{ORDINARY, is_left_over};
use netloom_results::{NamedFile, WriteError, keep_files};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The longest name of a lab.
const LONGEST_NAME: usize = 32;
/// Documents of a sweep's folder, in bytes.
const LONGEST: u64 = 64 << 20;

/// The folder of a sweep, which this process has locked.
#[derive(Debug)]
pub struct SweepFolder {
    path: PathBuf,
    lab: String,
    digits: usize,
    origin: Origin,
    _lock: File,
}

/// Which sweep it is.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    version: String,
    lab_file: PathBuf,
    lab: String,
    points: u64,
    repetitions: u64,
    clock: String,
    /// The folder that kernel nodes see as the machine's root, if it is not that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root: Option<PathBuf>,
    /// The SHA-256 of what is run.
    played: String,
    files: BTreeMap<PathBuf, String>,
    /// Where their copies are.
    #[serde(default)]
    copies: Vec<NamedFile>,
}

/// The options of the command line for how each run is played.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// The clock, if it is not that of the lab file.
    pub clock: Option<Clock>,
    /// The folder that kernel nodes see as the machine's root, if it is not that.
    pub root: Option<PathBuf>,
}

impl SweepFolder {
    /// Makes the folder of a new sweep at `path`, or opens it to go on with the sweep in it.
    ///
    /// # Errors
    /// If another process runs it, if it is that of another sweep, or what the kernel says.
    pub fn open(
        path: &Path,
        (sweep, text, lab_file): (&Sweep, &str, &Path),
        checked: &Checked,
        played: Played,
        resume: bool,
    ) -> Result<Self, SweepError> {
        let has_sweep = path.join("origin.json").exists();
        if resume && !has_sweep && path.exists() && !is_unfinished(path) {
            return Err(SweepError::Folder(format!("there is no sweep in {} to go on with", path.display())));
        }
        if !resume && has_sweep {
            let message = "holds a sweep already: --resume goes on with it, and -o takes another folder";
            return Err(SweepError::Folder(format!("{} {message}", path.display())));
        }
        if !has_sweep && path.is_dir() && !is_unfinished(path) {
            let message = "is there already, and is no sweep: name another folder with -o";
            return Err(SweepError::Folder(format!("{} {message}", path.display())));
        }
        fs::create_dir_all(path.join("runs")).map_err(SweepError::file(path))?;
        let path = path.canonicalize().map_err(SweepError::file(path))?;
        let lock = lock(&path)?;
        let total = sweep.points() * sweep.repetitions();
        let digits = total.to_string().len().max(4);
        let origin = Origin {
            version: env!("CARGO_PKG_VERSION").into(),
            lab_file: lab_file.canonicalize().unwrap_or_else(|_| lab_file.to_owned()),
            lab: checked.lab.clone(),
            points: sweep.points(),
            repetitions: sweep.repetitions(),
            clock: played.clock.map_or_else(|| "of the lab file".into(), |clock| format!("{clock:?}")),
            root: played.root,
            played: checked.points.clone(),
            files: checked.files.clone(),
            copies: Vec::new(),
        };
        let mut folder = Self { path, lab: checked.lab.clone(), digits, origin, _lock: lock };
        if has_sweep {
            folder.compare(&folder.path, sweep)?;
        } else {
            folder.write("lab.yaml", text.as_bytes())?;
            folder.origin.copies = folder.keep_lab(lab_file, text, checked)?;
            folder.write_json(&folder.path.join("origin.json"), &folder.origin)?;
        }
        Ok(folder)
    }

    /// Copies the files that the lab file names, and the lab file beside them.
    fn keep_lab(&self, lab_file: &Path, text: &str, checked: &Checked) -> Result<Vec<NamedFile>, SweepError> {
        let names: Vec<PathBuf> = checked.files.keys().cloned().collect();
        let files = NamedFile::find(lab_file.parent().unwrap_or(Path::new("")), &names);
        let kept = files.and_then(|files| keep_files(&self.path, lab_file, text, &files).map(|()| files));
        kept.map_err(|error| match error {
            WriteError::File { path, source } => SweepError::File { path, source },
            other => SweepError::Machine(other.to_string()),
        })
    }

    /// Returns the path of the sweep's folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how many runs the sweep has.
    pub(crate) fn total(&self) -> u64 {
        self.origin.points * self.origin.repetitions
    }

    /// Returns the lab's name.
    pub fn lab(&self) -> &str {
        &self.lab
    }

    /// Returns the name of a run, by its number from 0.
    pub fn name_of(&self, number: u64) -> String {
        let room = LONGEST_NAME - 1 - self.digits;
        let lab: String = self.lab.chars().take(room).collect();
        format!("{}-{:0digits$}", lab.trim_end_matches('-'), number + 1, digits = self.digits)
    }

    /// The folder of a run.
    pub(crate) fn run(&self, number: u64) -> PathBuf {
        self.path.join("runs").join(self.name_of(number))
    }

    /// Reads the record of a run; none if the run has not ended.
    ///
    /// # Errors
    /// If the record is there and cannot be read.
    pub fn record(&self, number: u64) -> Result<Option<RunRecord>, SweepError> {
        let path = self.run(number).join("run.json");
        let text = match netloom_regular::read_text(&path, LONGEST) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(SweepError::file(&path)(error)),
        };
        let record = serde_json::from_str(&text);
        record.map(Some).map_err(|error| {
            SweepError::file(&path)(io::Error::other(format!("{error}: remove it, and the run is repeated")))
        })
    }

    /// Keeps what is known of a run: from now on, it has ended.
    pub(crate) fn keep(&self, number: u64, record: &RunRecord) -> Result<(), SweepError> {
        self.write_json(&self.run(number).join("run.json"), record)
    }

    /// A run is repeated.
    pub(crate) fn forget(&self, number: u64) -> Result<(), SweepError> {
        let path = self.run(number).join("run.json");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SweepError::file(&path)(error)),
            _ => Ok(()),
        }
    }

    /// Writes a file in one go: a reader finds the old one until the new is complete, and so does whoever comes after a crash.
    pub(crate) fn write_with(
        &self,
        path: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), SweepError> {
        netloom_regular::replace_durably(path, ORDINARY, write).map_err(SweepError::file(path))
    }

    /// Writes a file of this folder.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), SweepError> {
        self.write_with(&self.path.join(name), |file| file.write_all(bytes))
    }

    pub(crate) fn write_json(&self, path: &Path, value: &impl Serialize) -> Result<(), SweepError> {
        self.write_with(path, |file| {
            serde_json::to_writer_pretty(&mut *file, value)?;
            writeln!(file)
        })
    }

    /// Checks that the sweep in `other`, this folder or another, is the one that is asked for.
    pub(crate) fn compare(&self, other: &Path, sweep: &Sweep) -> Result<(), SweepError> {
        let wanted = &self.origin;
        let path = other.join("origin.json");
        let text = netloom_regular::read_text(&path, LONGEST).map_err(SweepError::file(&path))?;
        let found: Origin = serde_json::from_str(&text).map_err(|error| SweepError::file(&path)(error.into()))?;
        let lab = other.join("lab.yaml");
        let before = netloom_regular::read_text(&lab, LONGEST).map_err(SweepError::file(&lab))?;
        let mut differs: Vec<String> = sweep.differences(&before).into_iter().map(|key| format!("`{key}`")).collect();
        let names = found.files.keys().chain(wanted.files.keys().filter(|name| !found.files.contains_key(*name)));
        let changed = names.filter(|name| found.files.get(*name) != wanted.files.get(*name));
        differs.extend(changed.map(|name| name.display().to_string()));
        if found.clock != wanted.clock {
            differs.push("the clock of the command line".into());
        }
        if found.root != wanted.root {
            differs.push("--root of the command line".into());
        }
        if differs.is_empty() && found.played != wanted.played {
            differs.push(format!("how netloom {} reads it (it was begun by {})", wanted.version, found.version));
        }
        if differs.is_empty() {
            return Ok(());
        }
        Err(SweepError::Folder(format!(
            "{} is of another sweep than this lab file describes; what differs: {}: change it back (as {} has it), or begin \
             another with -o",
            other.display(),
            differs.join(", "),
            lab.display()
        )))
    }
}

/// Whether a sweep was killed in this folder before it had begun.
fn is_unfinished(path: &Path) -> bool {
    let is_known = |name: &str| ["runs", "files", "lock", "lab.yaml"].contains(&name) || is_left_over(name);
    fs::read_dir(path)
        .is_ok_and(|mut all| all.all(|one| one.is_ok_and(|one| one.file_name().to_str().is_some_and(is_known))))
}

fn lock(folder: &Path) -> Result<File, SweepError> {
    let path = folder.join("lock");
    let file = File::options().create(true).append(true).open(&path).map_err(SweepError::file(&path))?;
    let is_ours = netloom_regular::lock_alone(&file).map_err(SweepError::file(&path))?;
    if is_ours { Ok(file) } else { Err(SweepError::Busy(folder.to_owned())) }
}

#[cfg(test)]
mod tests;
