//! What is packed of a file, link or folder of the machine, and how it is written into a layer.

use super::secrets;
use crate::ArchiveError;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// Folders of which nothing but the folder is packed: what is in them belongs to a kernel's process, or is made in each node.
const EMPTY: [&str; 3] = ["/proc", "/sys", "/dev"];

/// An entry of the image.
#[derive(Debug)]
pub(super) struct Entry {
    about: Metadata,
    what: What,
    /// Its last modification, in nanoseconds of Unix time: of a folder that has changed since, the end of the run.
    modified_ns: u64,
}

#[derive(Debug)]
enum What {
    Folder,
    Link(PathBuf),
    /// With what is in it.
    File,
    /// Nobody has looked at more than its name.
    Name,
}

impl Entry {
    /// Looks at what programs of a run looked at, which is as it was when the run ended, at that nanosecond of Unix time; or says why it is left out.
    /// `is_provided`: what is in it they did not see.
    ///
    /// # Errors
    /// If it has changed since, or cannot be looked at.
    pub(super) fn of(
        path: &Path,
        is_provided: bool,
        ended_ns: u64,
    ) -> Result<Result<Self, &'static str>, ArchiveError> {
        let about = match path.symlink_metadata() {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Err("it is not there any more")),
            Err(error) => return Err(ArchiveError::file(path)(error)),
        };
        if leads_elsewhere(path) {
            return Ok(Err("its name leads through a link, and what that leads to is packed"));
        }
        let what = match () {
            () if about.is_dir() => What::Folder,
            () if about.is_symlink() => What::Link(fs::read_link(path).map_err(ArchiveError::file(path))?),
            () if EMPTY.iter().any(|folder| path.starts_with(folder)) => return Ok(Err("it is a part of the kernel")),
            () if is_provided => What::Name,
            () if !about.is_file() => return Ok(Err("it is neither a file nor a folder nor a link")),
            () => What::File,
        };
        if matches!(what, What::File) {
            let changed = i128::from(about.ctime()) * 1_000_000_000 + i128::from(about.ctime_nsec());
            if changed > i128::from(ended_ns) {
                return Err(ArchiveError::Unsuitable(format!(
                    "--with-root: {} has changed since the run: run the lab again, and make the bundle then",
                    path.display()
                )));
            }
            if let Some(why) = secrets::reason(path, &about).map_err(ArchiveError::file(path))? {
                return Ok(Err(why));
            }
        }
        let modified_ns = modified_ns(&about, ended_ns);
        Ok(Ok(Self { about, what, modified_ns }))
    }

    /// Looks at what programs saw in a list only; none if it is not there, or nothing that an image has.
    pub(super) fn name_of(path: &Path, ended_ns: u64) -> Option<Self> {
        let about = path.symlink_metadata().ok()?;
        let what = match () {
            () if about.is_dir() => What::Folder,
            () if about.is_symlink() => What::Link(fs::read_link(path).ok()?),
            () => What::Name,
        };
        let modified_ns = modified_ns(&about, ended_ns);
        Some(Self { about, what, modified_ns })
    }

    fn write(&self, path: &Path, archive: &mut Builder<&mut dyn Write>) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_mode(self.about.mode() & 0o7777);
        header.set_uid(self.about.uid().into());
        header.set_gid(self.about.gid().into());
        header.set_mtime(self.modified_ns / 1_000_000_000);
        header.set_size(0);
        let whole = format!("{}.{:09}", self.modified_ns / 1_000_000_000, self.modified_ns % 1_000_000_000);
        archive.append_pax_extensions([("mtime", whole.as_bytes())])?;
        let name = path.strip_prefix("/").unwrap_or(path);
        let name = if name.as_os_str().is_empty() { Path::new("./") } else { name };
        match &self.what {
            What::Folder => {
                header.set_entry_type(EntryType::Directory);
                archive.append_data(&mut header, name, io::empty())
            }
            What::Link(target) => {
                header.set_entry_type(EntryType::Symlink);
                archive.append_link(&mut header, name, target)
            }
            What::Name => {
                header.set_entry_type(EntryType::Regular);
                archive.append_data(&mut header, name, io::empty())
            }
            What::File => {
                header.set_entry_type(EntryType::Regular);
                header.set_size(self.about.len());
                let file = netloom_regular::open(path)?;
                let mut contents = Whole { file: file.take(self.about.len()), left: self.about.len() };
                archive.append_data(&mut header, name, &mut contents)
            }
        }
    }
}

/// Returns when something was modified, before the end of a run at that nanosecond of Unix time.
fn modified_ns(about: &Metadata, ended_ns: u64) -> u64 {
    let modified = i128::from(about.mtime()) * 1_000_000_000 + i128::from(about.mtime_nsec());
    u64::try_from(modified).unwrap_or(0).min(ended_ns)
}

/// Whether a folder above is a link: nothing in an image can be below one.
fn leads_elsewhere(path: &Path) -> bool {
    path.ancestors().skip(1).any(Path::is_symlink)
}

/// A file that has to have as many bytes as it had.
struct Whole<R> {
    file: R,
    left: u64,
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.left -= count as u64;
        if count == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::Error::other("it changed while it was packed"));
        }
        Ok(count)
    }
}

/// Writes all entries as a layer, in the order of their paths.
pub(super) fn write(all: &BTreeMap<PathBuf, Entry>, output: &mut dyn Write) -> io::Result<()> {
    let mut archive = Builder::new(output);
    for (path, entry) in all {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        // What would be read as a mark of a layer (layer.md of the OCI image specification, "Whiteouts") cannot be packed.
        if path.file_name().and_then(OsStr::to_str).is_none_or(|name| !name.starts_with(".wh.")) {
            entry.write(path, &mut archive).map_err(named)?;
        }
    }
    archive.finish()
}
