//! A folder out of which no path leads: neither `..` nor an absolute path, nor a symbolic link. The kernel sees to that, at each step of a path
//! (`openat2` with `RESOLVE_BENEATH`), so that nothing can be exchanged between a look and an access.

use crate::answer::Refusal;
use axum::http::StatusCode;
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, fchmod, fstat, openat2, renameat, unlinkat};
use rustix::io::Errno;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// The longest lab file that is read or written here.
pub(crate) const LONGEST_TEXT: u64 = 4 << 20;
/// Lab files that are listed, levels of folders that are looked into, and entries that are looked at.
const MOST_FILES: usize = 1_000;
const MOST_LEVELS: usize = 4;
const MOST_ENTRIES: usize = 50_000;
/// The endings of lab files, and those of other tools with their formats.
const FORMATS: [(&str, &str); 13] = [
    ("yaml", "lab"),
    ("yml", "lab"),
    ("json", "lab"),
    ("graphml", "graphml"),
    ("gml", "gml"),
    ("tcl", "ns2"),
    ("ns", "ns2"),
    ("imn", "imunes"),
    ("xml", "core"),
    ("mn", "miniedit"),
    ("conf", "kathara"),
    ("toml", "rattan"),
    ("clab", "containerlab"),
];

/// See the module.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    root: OwnedFd,
    /// Held while a file is compared and replaced.
    writing: Mutex<()>,
}

/// A lab file as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) etag: String,
}

/// A lab file in the folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Listed {
    pub(crate) path: String,
    pub(crate) size_bytes: u64,
    pub(crate) modified_ns: i64,
    pub(crate) format: &'static str,
}

/// On what a text that is to be written is based.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// On the text with this tag.
    On(String),
    /// On nothing: the file is new.
    New,
}

impl Folder {
    /// # Errors
    /// What the kernel says.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let root = File::open(&path)?;
        if !root.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { path, root: root.into(), writing: Mutex::new(()) })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it, as seen from the folder; none if it is elsewhere.
    pub(crate) fn inside(&self, file: &Path) -> Option<String> {
        let file = file.canonicalize().ok()?;
        file.strip_prefix(&self.path).ok()?.to_str().filter(|inside| !inside.is_empty()).map(str::to_owned)
    }

    /// The path of a file in it, for those who read what it names.
    pub(crate) fn named(&self, path: &str) -> Result<PathBuf, Refusal> {
        Ok(self.path.join(checked(path)?))
    }

    /// A regular file, of which nothing is read yet.
    pub(crate) fn file(&self, path: &str) -> Result<File, Refusal> {
        let path = checked(path)?;
        // To open a pipe would wait, and a device may do anything.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.beneath(path, flags).map(File::from).map_err(|errno| refused(path, errno))?;
        match file.metadata() {
            Ok(about) if about.is_file() => Ok(file),
            _ => Err(Refusal::missing(format!("{} is not a file", path.display()))),
        }
    }

    fn beneath(&self, path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        openat2(&self.root, path, flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS)
    }

    /// The text of a file.
    pub(crate) fn read(&self, path: &str) -> Result<Text, Refusal> {
        let file = self.file(path)?;
        let mut bytes = Vec::new();
        file.take(LONGEST_TEXT + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| Refusal::failed(format!("reading {path}: {error}")))?;
        if bytes.len() as u64 > LONGEST_TEXT {
            return Err(Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("{path} is longer than 4 MiB: no page edits it"),
            ));
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{path} is not text in UTF-8")))?;
        Ok(Text { etag: etag(&text), text })
    }

    /// Writes a file in one go, if what is there is what the new text is based on; its tag then.
    pub(crate) fn write(&self, path: &str, text: &str, base: &Base) -> Result<String, Refusal> {
        let _turn = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let there = match self.read(path) {
            Ok(there) => Some(there),
            Err(refusal) if refusal.is_missing() => None,
            Err(refusal) => return Err(refusal),
        };
        match (base, &there) {
            (Base::On(tag), Some(there)) if *tag == there.etag => {}
            (Base::New, None) => {}
            _ => return Err(changed(path, there)),
        }
        let path = checked(path)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = self
            .beneath(parent, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY)
            .map_err(|errno| refused(parent, errno))?;
        let name = path.file_name().ok_or_else(|| outside(path))?;
        replace(&folder, Path::new(name), text)
            .map_err(|error| Refusal::failed(format!("writing {}: {error}", path.display())))?;
        Ok(etag(text))
    }

    /// The lab files in it, and how many were left out. What lies in `results` is none.
    pub(crate) fn list(&self, results: &Path) -> (Vec<Listed>, usize) {
        let (mut found, mut left_out, mut looked_at) = (Vec::new(), 0, 0);
        let mut waiting = vec![(self.path.clone(), 0)];
        while let Some((folder, level)) = waiting.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                looked_at += 1;
                let name = entry.file_name();
                let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else { continue };
                if looked_at > MOST_ENTRIES || name.starts_with('.') {
                    continue;
                }
                if kind.is_dir()
                    && level + 1 < MOST_LEVELS
                    && entry.path() != results
                    && name != "node_modules"
                    && name != "target"
                {
                    waiting.push((entry.path(), level + 1));
                }
                let Some(format) = format_of(name).filter(|_| kind.is_file()) else { continue };
                if found.len() >= MOST_FILES {
                    left_out += 1;
                } else {
                    found.extend(listed(&entry, &self.path, format));
                }
            }
        }
        found.sort_by(|one, other| one.path.cmp(&other.path));
        (found, left_out)
    }
}

fn listed(entry: &std::fs::DirEntry, root: &Path, format: &'static str) -> Option<Listed> {
    let about = entry.metadata().ok()?;
    let path = entry.path().strip_prefix(root).ok()?.to_str()?.to_owned();
    let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Some(Listed {
        path,
        size_bytes: about.size(),
        modified_ns: i64::try_from(modified.as_nanos()).unwrap_or(i64::MAX),
        format,
    })
}

fn format_of(name: &str) -> Option<&'static str> {
    let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
    FORMATS.iter().find(|(own, _)| *own == ending).map(|(_, format)| *format)
}

/// What tells one text from another, with the quotes that a header has.
pub(crate) fn etag(text: &str) -> String {
    let digest = Sha256::digest(text);
    let digits: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}

/// A path that stays inside; the kernel sees to what links make of it.
fn checked(path: &str) -> Result<&Path, Refusal> {
    let given = Path::new(path);
    let is_inside = given.components().all(|part| matches!(part, Component::Normal(_))) && !path.is_empty();
    if !is_inside || path.contains('\0') || path.len() > 4_000 {
        return Err(outside(given));
    }
    Ok(given)
}

fn outside(path: &Path) -> Refusal {
    Refusal::forbidden(format!("{} leads out of the folder that is served", path.display()))
}

fn refused(path: &Path, errno: Errno) -> Refusal {
    match errno {
        Errno::XDEV | Errno::LOOP => outside(path),
        Errno::NOENT | Errno::NOTDIR => Refusal::missing(format!("there is no {}", path.display())),
        Errno::ACCESS => Refusal::forbidden(format!("reading {}: {errno}", path.display())),
        errno => Refusal::failed(format!("opening {}: {errno}", path.display())),
    }
}

/// That the file is not what somebody thought.
fn changed(path: &str, there: Option<Text>) -> Refusal {
    let message = match &there {
        Some(_) => format!("{path} has changed on disk since it was read: put both together, and write it again"),
        None => format!("{path} is not on disk any more: write it as a new file, or leave it"),
    };
    let (etag, text) = there.map(|there| (there.etag, there.text)).unzip();
    Refusal::new(StatusCode::PRECONDITION_FAILED, message).with("etag", etag).with("text", text)
}

/// Puts a file in the place of another in one step: a reader finds one or the other, and a crash leaves one of them.
fn replace(folder: &OwnedFd, name: &Path, text: &str) -> io::Result<()> {
    let here = |file: &Path, flags, mode| {
        openat2(folder, file, flags, mode, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
    };
    let mode = match here(name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(there) => Mode::from_raw_mode(fstat(&there)?.st_mode & 0o777),
        Err(Errno::NOENT) => Mode::from_raw_mode(0o644),
        Err(Errno::LOOP) => return Err(io::Error::other("it is a symbolic link: open the file that it leads to")),
        Err(errno) => return Err(errno.into()),
    };
    let fresh = PathBuf::from(format!(".{}.{}.new", name.to_string_lossy(), std::process::id()));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
    let mut file = File::from(here(&fresh, flags, Mode::from_raw_mode(0o600))?);
    let written =
        file.write_all(text.as_bytes()).and_then(|()| Ok(fchmod(&file, mode)?)).and_then(|()| file.sync_all());
    let done = written.and_then(|()| Ok(renameat(folder, &fresh, folder, name)?));
    if done.is_err() {
        let _ = unlinkat(folder, &fresh, AtFlags::empty());
    }
    done
}

#[cfg(test)]
mod tests;
