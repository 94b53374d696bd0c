//! An image of the cache as one file, for the cache of another machine of the same user: its record, and what was unpacked.
//!
//! The cache keeps no layers, so nothing in the file confirms the image's digests: whoever takes it trusts the one who packed it, and compares the
//! digest of the file. It is a tar archive that is packed with gzip. Its first entry is the file [`HEAD`]; all others are those of one layer.

use crate::config::architecture;
use crate::entries::Entries;
use crate::error::{Attempted, open_file};
use crate::record::Record;
use crate::whole::is_copied;
use crate::{ImageError, LONGEST_DOCUMENT, compression};
use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{lgetxattr, llistxattr};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// The first entry.
const HEAD: &str = "netloom-image.json";
/// The form of the file; another one is refused.
const VERSION: u32 = 1;
/// How much is read and written at a time, in bytes.
const PIECE: usize = 1 << 17;
/// The longest list of attributes, and the longest attribute, in bytes (xattr(7)).
const LONGEST_ATTRIBUTE: usize = 1 << 16;

/// The first entry says this.
#[derive(Debug, Serialize, Deserialize)]
struct Head<R> {
    version: u32,
    architecture: String,
    record: R,
}

/// An image in a file: its record, and its tree as a layer.
pub(crate) struct Packed {
    pub(crate) record: Record,
    /// The size of the file, in bytes.
    pub(crate) size: u64,
    pub(crate) layer: Box<dyn Read>,
}

impl Packed {
    /// Opens a file and reads its head.
    pub(crate) fn open(path: &Path) -> Result<Self, ImageError> {
        let what = path.display().to_string();
        let file = open_file(path)?;
        let size = file.metadata().at("look at", path)?.len();
        let unpacked = compression::unpack(BufReader::with_capacity(PIECE, file), &what)?;
        let mut entries = Entries::new(unpacked, &what);
        let first = entries.next()?.filter(|entry| entry.path == HEAD.as_bytes() && entry.size <= LONGEST_DOCUMENT);
        if first.is_none() {
            return Err(ImageError::damaged(
                &what,
                format!("it does not begin with {HEAD}, and no netloom has packed it"),
            ));
        }
        let mut text = Vec::new();
        entries.read_to_end(&mut text).at("read", path)?;
        let wrong = |why: String| ImageError::damaged(&what, format!("{HEAD}: {why}"));
        let head: Head<Record> = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
        if (head.version, head.architecture.as_str()) != (VERSION, architecture()) {
            return Err(ImageError::Unsuitable(format!(
                "{what} is of version {} for {}, and this machine takes version {VERSION} for {}",
                head.version,
                head.architecture,
                architecture()
            )));
        }
        head.record.config.check().map_err(wrong)?;
        Ok(Self { record: head.record, size, layer: Box::new(entries.rest()?) })
    }
}

/// Writes an image whose tree is in `folder`.
pub(crate) fn write(record: &Record, folder: &Path, output: &mut dyn Write) -> Result<(), ImageError> {
    let packer = GzEncoder::new(BufWriter::with_capacity(PIECE, output), Compression::fast());
    let mut archive = Builder::new(packer);
    let head = Head { version: VERSION, architecture: architecture().to_owned(), record };
    let written = serde_json::to_vec(&head).map_err(io::Error::from).and_then(|text| {
        let mut header = empty_header(0o600);
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, HEAD, &text[..])
    });
    written.attempted(|| format!("write {HEAD}"))?;
    write_tree(folder, &mut archive)?;
    let finished = archive.into_inner().and_then(GzEncoder::finish).and_then(|mut behind| behind.flush());
    finished.attempted(|| "write the image")
}

/// Writes what is in a folder as a layer that is not packed.
pub(crate) fn write_layer(folder: &Path, output: impl Write) -> Result<(), ImageError> {
    let mut archive = Builder::new(BufWriter::with_capacity(PIECE, output));
    write_tree(folder, &mut archive)?;
    archive.into_inner().and_then(|mut behind| behind.flush()).at("read", folder)
}

fn write_tree(folder: &Path, archive: &mut Builder<impl Write>) -> Result<(), ImageError> {
    let is_root = rustix::process::geteuid().is_root();
    let mut tree = TreeWriter { archive, root: folder, is_root, links: HashMap::new() };
    tree.entry(Path::new("./"), &fs::metadata(folder).at("look at", folder)?)?;
    tree.folder(Path::new(""))
}

/// Writes the entries of a tree, in the order of their names.
struct TreeWriter<'a, W: Write> {
    archive: &'a mut Builder<W>,
    root: &'a Path,
    /// Whether owners are those of the image: all files of an ordinary user's trees are that user's.
    is_root: bool,
    /// The first names of files that have several.
    links: HashMap<(u64, u64), PathBuf>,
}

impl<W: Write> TreeWriter<'_, W> {
    fn folder(&mut self, folder: &Path) -> Result<(), ImageError> {
        let path = self.root.join(folder);
        let entries = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>).at("read", &path)?;
        let mut names: Vec<_> = entries.into_iter().map(|entry| folder.join(entry.file_name())).collect();
        names.sort();
        for name in names {
            let place = self.root.join(&name);
            let about = fs::symlink_metadata(&place).at("look at", &place)?;
            if !is_copied(&about) {
                continue;
            }
            self.entry(&name, &about)?;
            if about.is_dir() {
                self.folder(&name)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, name: &Path, about: &Metadata) -> Result<(), ImageError> {
        let path = self.root.join(name);
        let mut more = vec![("mtime".to_owned(), format!("{}.{:09}", about.mtime(), about.mtime_nsec()).into_bytes())];
        let mut header = self.header(about);
        let known =
            if about.nlink() > 1 && !about.is_dir() { self.links.get(&(about.dev(), about.ino())) } else { None };
        let (kind, target) = match known {
            Some(first) => (EntryType::Link, Some(first.clone())),
            None if about.is_symlink() => (EntryType::Symlink, Some(fs::read_link(&path).at("read", &path)?)),
            None if about.is_dir() => (EntryType::Directory, None),
            None if about.is_file() => (EntryType::Regular, None),
            None => (EntryType::Fifo, None),
        };
        if known.is_none() && about.nlink() > 1 {
            self.links.insert((about.dev(), about.ino()), name.to_owned());
        }
        header.set_entry_type(kind);
        // As it is: a header has room for short ones only, and none for a blank at their end.
        more.extend(target.map(|target| ("linkpath".to_owned(), target.as_os_str().as_bytes().to_vec())));
        if matches!(kind, EntryType::Directory | EntryType::Regular) {
            more.extend(attributes(&path).at("read the attributes of", &path)?);
        }
        let pairs = more.iter().map(|(key, value)| (key.as_str(), &value[..]));
        self.archive.append_pax_extensions(pairs).attempted(|| "write the image")?;
        if kind == EntryType::Regular {
            header.set_size(about.len());
            let file = File::open(&path).at("open", &path)?;
            return self.archive.append_data(&mut header, name, file.take(about.len())).at("pack", &path);
        }
        self.archive.append_data(&mut header, name, io::empty()).at("pack", &path)
    }

    fn header(&self, about: &Metadata) -> Header {
        let mut header = empty_header(about.mode() & 0o7777);
        if self.is_root {
            header.set_uid(about.uid().into());
            header.set_gid(about.gid().into());
        }
        header.set_mtime(u64::try_from(about.mtime()).unwrap_or(0));
        header
    }
}

/// A header of something of root without contents.
fn empty_header(mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(0);
    header
}

/// The extended attributes of a file or folder, by the keys that archives have for them.
fn attributes(path: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut names = vec![0; LONGEST_ATTRIBUTE];
    let length = match llistxattr(path, &mut names) {
        Err(rustix::io::Errno::NOTSUP) => 0,
        other => other?,
    };
    let mut found = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        // The system's own, as of security modules, are of this machine.
        let Some(name) =
            std::str::from_utf8(name).ok().filter(|name| name.starts_with("user.") || *name == "security.capability")
        else {
            continue;
        };
        let mut value = vec![0; LONGEST_ATTRIBUTE];
        let size = lgetxattr(path, name, &mut value)?;
        value.truncate(size);
        found.push((format!("SCHILY.xattr.{name}"), value));
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests;
