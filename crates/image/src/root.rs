//! A look into an unpacked image, in which absolute links lead to places inside.

use crate::ImageError;
use crate::error::Attempted;
use crate::tree::{FOLDER, names, open_inside};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A root file system, open.
#[derive(Debug)]
pub struct Root(OwnedFd);

/// The kind of file that a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A folder.
    Folder,
    /// A file that may be executed.
    Program,
    /// Another file.
    File,
}

impl Root {
    /// Opens the root file system in this folder.
    ///
    /// # Errors
    /// The system's refusal.
    pub fn open(folder: &Path) -> Result<Self, ImageError> {
        rustix::fs::open(folder, FOLDER, Mode::empty()).at("open", folder).map(Self)
    }

    /// Returns the kind of file that an absolute path leads to; none if it leads to nothing.
    pub fn find(&self, path: &str) -> Option<Found> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let open = open_inside(self.0.as_fd(), path.as_bytes(), flags, ResolveFlags::empty()).ok()?;
        let about = fstat(&open).ok()?;
        Some(match FileType::from_raw_mode(about.st_mode) {
            FileType::Directory => Found::Folder,
            FileType::RegularFile if about.st_mode & 0o111 != 0 => Found::Program,
            _ => Found::File,
        })
    }

    /// Where a program is: at its path, which counts from `folder` unless it is absolute, or by its name in one of the folders of `path`.
    pub fn program(&self, name: &str, path: &str, folder: &str) -> Option<String> {
        let is_program = |file: &String| self.find(file) == Some(Found::Program);
        if name.contains('/') {
            return Some(if name.starts_with('/') { name.to_owned() } else { format!("{folder}/{name}") })
                .filter(is_program);
        }
        path.split(':').map(|part| format!("{}/{name}", part.trim_end_matches('/'))).find(is_program)
    }

    /// The programs in the folders of `path`, each by its name, sorted.
    pub fn programs(&self, path: &str) -> Vec<String> {
        let in_folder = |folder: &str| -> Vec<String> {
            let opened = open_inside(self.0.as_fd(), folder.as_bytes(), FOLDER, ResolveFlags::empty());
            let all = opened.ok().and_then(|open| names(open.as_fd()).ok()).unwrap_or_default();
            all.into_iter().filter_map(|name| String::from_utf8(name).ok()).collect()
        };
        let mut all: Vec<String> = path.split(':').flat_map(in_folder).filter(|name| name != "[").collect();
        all.sort();
        all.dedup();
        all
    }

    /// The first bytes of a file, at most `most`; none if it does not exist.
    ///
    /// # Errors
    /// The system's refusal.
    pub fn read(&self, path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match open_inside(self.0.as_fd(), path.as_os_str().as_bytes(), flags, ResolveFlags::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }
}
