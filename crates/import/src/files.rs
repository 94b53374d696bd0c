//! The file that is read, and others that it names.

use crate::source::Source;
use std::path::{Component, Path, PathBuf};

/// How deep folders are looked through.
const MOST_LEVELS: usize = 16;
/// Bytes of all files together.
const MOST_BYTES: usize = 64 << 20;

/// What a reader has: the file, and the way to others that it names.
#[derive(Debug)]
pub(crate) struct Input<'a> {
    sources: &'a mut Vec<Source>,
    /// The file's name without its ending, or that of its folder.
    pub(crate) stem: String,
    folder: PathBuf,
}

impl<'a> Input<'a> {
    /// The first of the sources, which lies in `folder`.
    pub(crate) fn new(sources: &'a mut Vec<Source>, stem: String, folder: PathBuf) -> Self {
        let is_conf = stem == "lab" && sources[0].name.ends_with("lab.conf");
        let called = folder.file_name().filter(|_| is_conf).map(|name| name.to_string_lossy().into_owned());
        Self { sources, stem: called.unwrap_or(stem), folder }
    }

    /// The text of the file itself.
    pub(crate) fn text(&self) -> &str {
        self.source(0)
    }

    /// The text of a file by its number.
    pub(crate) fn source(&self, file: usize) -> &str {
        &self.sources[file].text
    }

    /// Reads a file beside this one and returns its number; none if there is no such file, or it is no text.
    pub(crate) fn open(&mut self, name: &str) -> Option<usize> {
        let path = Path::new(name);
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let read: usize = self.sources.iter().map(|source| source.text.len()).sum();
        if !is_below || read > MOST_BYTES {
            return None;
        }
        let text = netloom_lab::read(&self.folder.join(path)).ok()?;
        self.sources.push(Source { name: name.to_owned(), text });
        Some(self.sources.len() - 1)
    }

    /// Adds a text that is in no file of its own, and returns its number.
    pub(crate) fn add(&mut self, name: &str, text: String) -> usize {
        self.sources.push(Source { name: name.to_owned(), text });
        self.sources.len() - 1
    }

    /// Whether there is a folder of this name beside this file.
    pub(crate) fn has_folder(&self, name: &str) -> bool {
        std::fs::symlink_metadata(self.folder.join(name)).is_ok_and(|about| about.is_dir())
    }

    /// The names of the files beside this one that end so, in their order.
    pub(crate) fn beside(&self, ending: &str, most: usize) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().take(most);
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut found: Vec<String> = names.filter(|name| name.ends_with(ending)).collect();
        found.sort();
        found
    }

    /// The regular files and symbolic links below a folder beside this file, by their paths from there, at most so many; with
    /// where the links lead.
    pub(crate) fn list(&self, name: &str, most: usize) -> Vec<(String, Option<String>)> {
        let root = self.folder.join(name);
        let mut found = Vec::new();
        let mut left = vec![(PathBuf::new(), 0)];
        while let Some((path, level)) = left.pop() {
            let Ok(about) = std::fs::symlink_metadata(root.join(&path)) else { continue };
            if about.is_dir() && level < MOST_LEVELS {
                let entries = std::fs::read_dir(root.join(&path)).into_iter().flatten().flatten();
                left.extend(entries.take(most + 1).map(|entry| (path.join(entry.file_name()), level + 1)));
            } else if about.is_file() && level > 0 {
                found.extend(path.to_str().map(|path| (path.to_owned(), None)));
            } else if about.is_symlink() && level > 0 {
                let target = std::fs::read_link(root.join(&path)).unwrap_or_default();
                let target = target.to_string_lossy().into_owned();
                found.extend(path.to_str().map(|path| (path.to_owned(), Some(target))));
            }
            if found.len() + left.len() > 4 * most || found.len() >= most {
                break;
            }
        }
        found.sort();
        found
    }
}
