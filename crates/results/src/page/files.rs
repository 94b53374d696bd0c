//! What else is in the results folder.

use serde::Serialize;
use std::fs;
use std::path::Path;

/// How many files are listed at most.
const MOST: usize = 300;
/// How many entries are looked at.
const LOOKED_AT: usize = 5_000;

/// A file.
#[derive(Debug, Serialize)]
pub(super) struct Entry {
    /// Its name, from the folder on.
    name: String,
    bytes: u64,
}

/// The files of the folder and of the folders in it, by name; links are not followed.
pub(super) fn gather(folder: &Path) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut looked_at = 0;
    let mut waiting = vec![folder.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            looked_at += 1;
            if looked_at > LOOKED_AT {
                break;
            }
            let Ok(about) = entry.metadata() else { continue };
            let path = entry.path();
            if about.is_dir() {
                waiting.push(path);
            } else if about.is_file()
                && let Ok(name) = path.strip_prefix(folder)
                && name != Path::new(super::FILE)
            {
                entries.push(Entry { name: name.to_string_lossy().into_owned(), bytes: about.len() });
            }
        }
    }
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries.truncate(MOST);
    entries
}
