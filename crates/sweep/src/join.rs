//! Joins the folders of one sweep whose runs were played apart, as array jobs of Slurm, Kubernetes or continuous integration do.

use crate::{SweepError, SweepFolder};
use netloom_lab::Sweep;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The outcome of joining folders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// How many runs came from other folders.
    pub taken: u64,
    /// How many runs of other folders were there already, from this folder or one named before.
    pub repeated: u64,
}

impl SweepFolder {
    /// Takes the runs that have ended from other folders of the same sweep. A run that is there already stays as it is.
    ///
    /// Files are linked where both folders are on one file system, and copied otherwise; the other folders stay as they are.
    ///
    /// # Errors
    /// [`SweepError::Folder`] if one of them is no folder of this sweep; nothing is taken then. [`SweepError::File`] if a
    /// file cannot be taken; the run that it belongs to does not count then.
    pub fn join(&self, sweep: &Sweep, others: &[PathBuf]) -> Result<Joined, SweepError> {
        for other in others {
            if !other.join("origin.json").exists() {
                return Err(SweepError::Folder(format!("there is no sweep in {}", other.display())));
            }
            self.compare(other, sweep)?;
        }
        let mut joined = Joined::default();
        for (other, number) in others.iter().flat_map(|other| (0..self.total()).map(move |number| (other, number))) {
            let name = self.name_of(number);
            let from = other.join("runs").join(&name);
            if !from.join(RECORD).exists() {
                continue;
            }
            let to = self.run(number);
            if to.join(RECORD).exists() {
                joined.repeated += 1;
                continue;
            }
            take(&from, &to)?;
            joined.taken += 1;
        }
        Ok(joined)
    }
}

/// The file whose presence says that a run has ended.
const RECORD: &str = "run.json";

/// Takes the folder of a run, its record last: a run that was taken in part does not count.
fn take(from: &Path, to: &Path) -> Result<(), SweepError> {
    match fs::remove_dir_all(to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(SweepError::file(to)(error)),
        _ => {}
    }
    take_folder(from, to, &|name| name != RECORD)?;
    take_file(&from.join(RECORD), &to.join(RECORD))
}

fn take_folder(from: &Path, to: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<(), SweepError> {
    fs::create_dir_all(to).map_err(SweepError::file(to))?;
    for entry in fs::read_dir(from).map_err(SweepError::file(from))? {
        let entry = entry.map_err(SweepError::file(from))?;
        if !is_wanted(&entry.file_name().to_string_lossy()) {
            continue;
        }
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(SweepError::file(&source))?;
        if kind.is_dir() {
            take_folder(&source, &target, &|_| true)?;
        } else if kind.is_symlink() {
            let leads = fs::read_link(&source).map_err(SweepError::file(&source))?;
            std::os::unix::fs::symlink(leads, &target).map_err(SweepError::file(&target))?;
        } else if kind.is_file() {
            take_file(&source, &target)?;
        }
    }
    Ok(())
}

fn take_file(from: &Path, to: &Path) -> Result<(), SweepError> {
    if fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to).map(drop).map_err(SweepError::file(from))
}
