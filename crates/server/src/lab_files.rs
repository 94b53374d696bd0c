//! The lab files of the folder that is served. Each of them is reached here and nowhere else, and only as what the rule (`rule`) says is a lab file.

use crate::answer::Refusal;
use crate::folder::{Folder, Links, checked, outside, refused};
use crate::rule;
use axum::http::StatusCode;
use rustix::fs::{
    AtFlags, Mode, OFlags, RenameFlags, ResolveFlags, fchmod, fstat, linkat, openat2, renameat_with, unlinkat,
};
use rustix::io::Errno;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// The longest lab file that is read or written here.
pub(crate) const LONGEST_TEXT: u64 = 4 << 20;
/// Lab files that are listed, and entries that are looked at.
const MOST_FILES: usize = 1_000;
const MOST_ENTRIES: usize = 50_000;

/// See the module.
#[derive(Debug)]
pub(crate) struct LabFiles {
    folder: Folder,
    /// What lies in here is no lab file, but a copy of one among results.
    results: PathBuf,
    /// Held while a file is compared and replaced.
    writing: Mutex<()>,
    /// What the files that were listed last are, so that each is looked into once.
    known: Mutex<BTreeMap<String, Known>>,
}

/// What a file is, as long as nothing else says that it has changed.
#[derive(Clone, Debug)]
struct Known {
    identity: [u64; 5],
    format: Option<&'static str>,
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

impl LabFiles {
    /// Those in the folder at `path`, but for what lies in `results`.
    ///
    /// # Errors
    /// What the kernel says.
    pub(crate) fn open(path: &Path, results: &Path) -> io::Result<Self> {
        let folder = Folder::open(path)?;
        Ok(Self { folder, results: results.to_owned(), writing: Mutex::default(), known: Mutex::default() })
    }

    /// Where the folder is.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file as seen from the folder; none if it is elsewhere, or no lab file by its name.
    pub(crate) fn inside(&self, file: &Path) -> Option<String> {
        let file = file.canonicalize().ok()?;
        let inside = file.strip_prefix(self.path()).ok()?.to_str().filter(|inside| !inside.is_empty())?;
        self.named(inside).ok().map(|_| inside.to_owned())
    }

    /// The whole path of a lab file, for those who read what it names. It need not exist.
    pub(crate) fn named(&self, path: &str) -> Result<PathBuf, Refusal> {
        let whole = self.path().join(checked(path)?);
        let why = rule::against_name(Path::new(path));
        let in_results = whole.starts_with(&self.results).then_some("it is among the results");
        match why.or(in_results) {
            Some(why) => Err(no_lab_file(path, why)),
            None => Ok(whole),
        }
    }

    /// The text of a lab file.
    pub(crate) fn read(&self, path: &str) -> Result<Text, Refusal> {
        let text = self.text(path)?;
        match rule::format(Path::new(path), &text) {
            Some(_) => Ok(Text { etag: etag(&text), text }),
            None => Err(no_lab_file(path, STRANGE)),
        }
    }

    fn text(&self, path: &str) -> Result<String, Refusal> {
        self.named(path)?;
        let file = self.folder.file(path, Links::Refused)?;
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
        String::from_utf8(bytes)
            .map_err(|_| Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{path} is not text in UTF-8")))
    }

    /// Writes a lab file in one go, if what is there is what the new text is based on; its tag then.
    pub(crate) fn write(&self, path: &str, text: &str, base: &Base) -> Result<String, Refusal> {
        self.named(path)?;
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
        if rule::format(Path::new(path), text).is_none() {
            let message = format!("what is to be written to {path} is no lab file: {STRANGE}");
            return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message));
        }
        let (path, given) = (checked(path)?, path);
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let folder = self.folder.beneath(parent, flags, Links::Refused).map_err(|errno| refused(parent, errno))?;
        let name = path.file_name().ok_or_else(|| outside(path))?;
        match replace_below(&folder, Path::new(name), text, base) {
            Ok(()) => Ok(etag(text)),
            // Somebody else has just made it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(changed(given, self.read(given).ok())),
            Err(error) => Err(Refusal::failed(format!("writing {given}: {error}"))),
        }
    }

    /// The lab files of the folder, and how many were left out.
    pub(crate) fn list(&self) -> (Vec<Listed>, usize) {
        let (mut found, mut left_out, mut looked_at) = (Vec::new(), 0, 0);
        let mut seen = BTreeMap::new();
        let mut waiting = vec![String::new()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(self.path().join(&folder)).into_iter().flatten().flatten() {
                looked_at += 1;
                let name = entry.file_name();
                let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else { continue };
                if looked_at > MOST_ENTRIES {
                    break;
                }
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                if kind.is_dir() {
                    let levels = path.split('/').count();
                    if levels <= rule::MOST_FOLDERS && !rule::is_skipped(name) && entry.path() != self.results {
                        waiting.push(path);
                    }
                    continue;
                }
                if !kind.is_file() || self.named(&path).is_err() {
                    continue;
                }
                let Ok(about) = entry.metadata() else { continue };
                let Some(format) = self.known_format(&path, &about, &mut seen) else { continue };
                if found.len() >= MOST_FILES {
                    left_out += 1;
                } else {
                    found.push(listed(path, &about, format));
                }
            }
        }
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = seen;
        found.sort_by(|one, other| one.path.cmp(&other.path));
        (found, left_out)
    }

    /// What a file is. It is looked into if it is not the one that was looked into last.
    fn known_format(&self, path: &str, about: &Metadata, seen: &mut BTreeMap<String, Known>) -> Option<&'static str> {
        let identity =
            [about.dev(), about.ino(), about.len(), about.mtime().cast_unsigned(), about.mtime_nsec().cast_unsigned()];
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        let known = known.filter(|known| known.identity == identity).unwrap_or_else(|| Known {
            identity,
            format: self.beginning(path).and_then(|text| rule::format(Path::new(path), &text)),
        });
        let format = known.format;
        seen.insert(path.to_owned(), known);
        format
    }

    /// As much of a text as the rule looks at.
    fn beginning(&self, path: &str) -> Option<String> {
        let file = self.folder.file(path, Links::Refused).ok()?;
        let mut bytes = Vec::new();
        file.take(rule::LOOKED_AT as u64).read_to_end(&mut bytes).ok()?;
        let valid = match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.len(),
            // A letter that the end has cut.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => return None,
        };
        bytes.truncate(valid);
        String::from_utf8(bytes).ok()
    }
}

const STRANGE: &str =
    "it has no key of a lab, such as `nodes` or `generate`, nor what files of other network tools have";

fn no_lab_file(path: &str, why: &str) -> Refusal {
    Refusal::forbidden(format!("{} is no lab file: {why}", path.escape_debug()))
}

fn listed(path: String, about: &Metadata, format: &'static str) -> Listed {
    let modified = about.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Listed {
        path,
        size_bytes: about.size(),
        modified_ns: i64::try_from(modified.as_nanos()).unwrap_or(i64::MAX),
        format,
    }
}

/// What tells one text from another, with the quotes that a header has.
fn etag(text: &str) -> String {
    let digest = Sha256::digest(text);
    let digits: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
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

/// Puts a file in the place of another in one step: a reader finds one or the other, and a crash leaves one of them. A new one replaces
/// nothing. Visitors name it, so all names are resolved below the folder's descriptor, which `netloom_regular::replace` has none of.
fn replace_below(folder: &OwnedFd, name: &Path, text: &str, base: &Base) -> io::Result<()> {
    let here = |file: &Path, flags, mode| {
        openat2(folder, file, flags, mode, ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS)
    };
    let mode = match here(name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
        Ok(there) => Mode::from_raw_mode(fstat(&there)?.st_mode & 0o777),
        Err(Errno::NOENT) => Mode::from_raw_mode(0o644),
        Err(errno) => return Err(errno.into()),
    };
    let flags = match base {
        Base::On(_) => RenameFlags::empty(),
        Base::New => RenameFlags::NOREPLACE,
    };
    let fresh = PathBuf::from(format!(".{}.{}.new", name.to_string_lossy(), std::process::id()));
    let create = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let mut file = File::from(here(&fresh, create, Mode::from_raw_mode(0o600))?);
    let written =
        file.write_all(text.as_bytes()).and_then(|()| Ok(fchmod(&file, mode)?)).and_then(|()| file.sync_all());
    let renamed = || match renameat_with(folder, &fresh, folder, name, flags) {
        // Some file systems of the network know no such flag.
        Err(Errno::INVAL | Errno::NOSYS) if *base == Base::New => {
            linkat(folder, &fresh, folder, name, AtFlags::empty())
                .and_then(|()| unlinkat(folder, &fresh, AtFlags::empty()))
        }
        done => done,
    };
    let done = written.and_then(|()| Ok(renamed()?));
    if done.is_err() {
        let _ = unlinkat(folder, &fresh, AtFlags::empty());
    }
    done
}

#[cfg(test)]
mod tests;
