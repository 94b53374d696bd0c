//! The examination that later verdicts quote: `doctor.json` in the user's cache folder.

use crate::machine::machine;
use netloom_judge::examination::{Examination, Machine};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Where it is kept: `$XDG_CACHE_HOME/netloom/doctor.json`, or below `~/.cache`; none if neither names a folder.
fn place() -> Option<PathBuf> {
    Some(netloom_regular::cache_folder()?.join("doctor.json"))
}

/// Keeps an examination, and says where.
///
/// # Errors
/// A sentence that says why it is not kept.
pub(super) fn keep(examination: &Examination) -> Result<PathBuf, String> {
    let path = place().ok_or("the result is not kept: neither XDG_CACHE_HOME nor HOME names a folder")?;
    write(&path, examination)
        .map_err(|error| format!("the result is not kept: writing {}: {error}", path.display()))?;
    Ok(path)
}

/// Replaces the file, of which a reader never sees half.
fn write(path: &Path, examination: &Examination) -> io::Result<()> {
    let folder = path.parent().expect("a file is in a folder");
    fs::create_dir_all(folder)?;
    let text = serde_json::to_vec_pretty(examination).expect("an examination has string keys only");
    netloom_regular::replace(path, |file| file.write_all(&text))
}

/// The latest examination of this machine, if there is one.
pub fn of_this_machine() -> Option<Examination> {
    read(&place()?, &machine())
}

/// Home folders are shared and moved: what was measured on another machine, or with another kernel, says nothing here.
fn read(path: &Path, here: &Machine) -> Option<Examination> {
    let examination: Examination = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    (examination.machine == *here).then_some(examination)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_examination_is_found_again_on_its_own_machine_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("netloom/doctor.json");
        let here = Machine { host_name: "here".into(), processors: 2, ..Machine::default() };
        assert_eq!(read(&path, &here), None);
        let examination = Examination { machine: here.clone(), date_utc: "today".into(), ..Examination::default() };
        write(&path, &examination).unwrap();
        assert_eq!(read(&path, &here), Some(examination));
        assert_eq!(read(&path, &Machine { processors: 4, ..here.clone() }), None);
        fs::write(&path, "{").unwrap();
        assert_eq!(read(&path, &here), None);
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("netloom");
        fs::write(&file, "").unwrap();
        assert!(write(&file.join("doctor.json"), &Examination::default()).is_err());
    }
}
