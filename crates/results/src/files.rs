//! `files/`: the traces, tables and captures that the lab file names, and the lab file beside them, so that the run can
//! be repeated from its results.

use crate::Folder;
use crate::WriteError;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A file that the lab file names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedFile {
    /// As the lab file names it.
    pub name: PathBuf,
    /// Its copy, relative to the results folder.
    pub copy: PathBuf,
    /// Its length.
    pub bytes: u64,
}

impl NamedFile {
    /// The files called `names` in a lab file that stands in the folder `home`.
    ///
    /// A file below that folder keeps its place relative to the lab file, so that `netloom run RESULTS/files/LAB.yaml`
    /// finds it; one from elsewhere is copied for the record.
    pub fn find(home: &Path, names: &[PathBuf]) -> Result<Vec<Self>, WriteError> {
        let find = |(number, name): (usize, &PathBuf)| {
            let path = home.join(name);
            let about = fs::metadata(&path).map_err(WriteError::file(&path))?;
            let copy = Path::new("files").join(place(number, name));
            Ok(Self { name: name.clone(), copy, bytes: about.len() })
        };
        names.iter().enumerate().map(find).collect()
    }
}

impl Folder {
    /// Copies `files` and the text of `lab_file`, which names them.
    pub fn keep(&self, lab_file: &Path, lab_text: &str, files: &[NamedFile]) -> Result<(), WriteError> {
        keep_files(self.path(), lab_file, lab_text, files)
    }
}

/// Copies `files` and the text of `lab_file`, which names them, into the folder `root` of a run or sweep.
///
/// # Errors
/// What the kernel says.
pub fn keep_files(root: &Path, lab_file: &Path, lab_text: &str, files: &[NamedFile]) -> Result<(), WriteError> {
    let Some(lab_name) = lab_file.file_name().filter(|_| !files.is_empty()) else { return Ok(()) };
    let home = lab_file.parent().unwrap_or(Path::new(""));
    for file in files {
        let path = root.join(&file.copy);
        let folder = path.parent().unwrap_or(root);
        fs::create_dir_all(folder).map_err(WriteError::file(folder))?;
        netloom_regular::copy(&home.join(&file.name), &path).map_err(WriteError::file(&path))?;
    }
    let path = root.join("files").join(lab_name);
    fs::write(&path, lab_text).map_err(WriteError::file(&path))
}

/// Where below `files` the copy of `name` stands. A number tells files from elsewhere apart.
fn place(number: usize, name: &Path) -> PathBuf {
    let is_below = name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_below {
        return name.components().filter(|part| *part != Component::CurDir).collect();
    }
    let last = name.file_name().unwrap_or_default().to_string_lossy();
    Path::new("elsewhere").join(format!("{number:02}-{last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_with_files_can_be_run_from_its_results() {
        let root = tempfile::tempdir().unwrap();
        let (home, results) = (root.path().join("home"), root.path().join("results"));
        fs::create_dir_all(home.join("traces")).unwrap();
        fs::create_dir_all(&results).unwrap();
        for name in ["traces/up.pcap", "down.pcap", "../away.pcap"] {
            fs::write(home.join(name), name).unwrap();
        }
        let folder = Folder::existing(results.clone()).unwrap();
        let names = ["traces/up.pcap", "./down.pcap", "../away.pcap"].map(PathBuf::from);
        let kept = NamedFile::find(&home, &names).unwrap();
        folder.keep(&home.join("my-lab.yaml"), "nodes: [a, b]\n", &kept).unwrap();
        let copies: Vec<_> = kept.iter().map(|file| file.copy.to_str().unwrap()).collect();
        assert_eq!(copies, ["files/traces/up.pcap", "files/down.pcap", "files/elsewhere/02-away.pcap"]);
        assert_eq!(kept[0].bytes, 14);
        for file in &kept {
            assert_eq!(fs::read(home.join(&file.name)).unwrap(), fs::read(results.join(&file.copy)).unwrap());
        }
        assert!(NamedFile::find(&home, &["gone.pcap".into()]).unwrap_err().to_string().contains("gone.pcap"));
        assert_eq!(fs::read_to_string(results.join("files/my-lab.yaml")).unwrap(), "nodes: [a, b]\n");
    }

    #[test]
    fn a_lab_without_files_leaves_no_folder() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::existing(root.path().to_owned()).unwrap();
        folder.keep(Path::new("lab.yaml"), "", &[]).unwrap();
        assert!(!root.path().join("files").exists());
    }
}
