//! Opens files whose names come from users, or that strangers made: regular files, and nothing that might never end or that
//! waits for somebody. Replaces files in one step, and remembers what others found out about files. A crate of its own, since `lab` and `host` may not use one another, and both
//! open and replace such files.
//!
//! This crate must not know what is in files.
#![forbid(unsafe_code)]

mod cache_folder;
mod locked;
mod remembered;
mod replace;

pub use cache_folder::cache_folder;
pub use locked::lock_alone;
pub use remembered::Remembered;
pub use replace::{ORDINARY, PRIVATE, is_left_over, replace, replace_durably};

use rustix::fs::OFlags;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// Opens the regular file at `path`.
///
/// # Errors
/// The kernel's, or that it is something else ([`is_refused`]).
pub fn open(path: &Path) -> io::Result<File> {
    opened(path, Metadata::is_file)
}

/// Opens the regular file or the block device at `path`, as a disk is one.
///
/// # Errors
/// As for [`open`].
pub fn open_disk(path: &Path) -> io::Result<File> {
    opened(path, |about| about.is_file() || about.file_type().is_block_device())
}

/// Reads the bytes of the regular file at `path`, at most so many.
///
/// # Errors
/// As for [`open`], or that it is longer.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {} MiB", most >> 20));
    let file = open(path)?;
    if file.metadata()?.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // Files of /proc say that they are empty, and others may grow.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// Reads the text of the regular file at `path`, at most so many bytes.
///
/// # Errors
/// As for [`read`], or that it is no UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is no UTF-8"))
}

/// Copies the regular file at `from`, with its permissions.
///
/// # Errors
/// As for [`open`], and what keeps the copy from being written.
pub fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = open(from)?;
    let mut target = File::create(to)?;
    io::copy(&mut source, &mut target)?;
    target.set_permissions(source.metadata()?.permissions())
}

/// Whether an error says that something is there and is no regular file.
pub fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::IsADirectory) && error.raw_os_error().is_none()
}

fn opened(path: &Path, is_wanted: impl Fn(&Metadata) -> bool) -> io::Result<File> {
    // To open some devices already does something.
    wanted(&fs::metadata(path)?, &is_wanted)?;
    open_without_waiting(path, is_wanted)
}

/// Opens what may have become a pipe since somebody looked: to open one waits for whoever writes to it.
fn open_without_waiting(path: &Path, is_wanted: impl Fn(&Metadata) -> bool) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    wanted(&file.metadata()?, &is_wanted)?;
    Ok(file)
}

fn wanted(about: &Metadata, is_wanted: impl Fn(&Metadata) -> bool) -> io::Result<()> {
    if is_wanted(about) {
        return Ok(());
    }
    if about.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "a folder, not a regular file"));
    }
    let what = "not a regular file: devices and pipes are not read, since they may never end";
    Err(io::Error::new(ErrorKind::InvalidInput, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::os::unix::net::UnixListener;

    #[test]
    fn what_waits_or_never_ends_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, socket) = (folder.path().join("pipe"), folder.path().join("socket"));
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        for path in [&pipe, &socket, Path::new("/dev/zero"), Path::new("/dev/full"), Path::new("/")] {
            for found in [open(path), open_disk(path), read(path, 10).and_then(|_| open(path))] {
                let error = found.unwrap_err();
                assert!(
                    is_refused(&error) && error.to_string().contains("regular file"),
                    "{}: {error}",
                    path.display()
                );
            }
            assert!(copy(path, &folder.path().join("copy")).is_err());
        }
        // Somebody looked before, and it was a file.
        assert!(is_refused(&open_without_waiting(&pipe, Metadata::is_file).unwrap_err()));
        assert!(open_without_waiting(&socket, Metadata::is_file).is_err());
        let absent = open(&folder.path().join("absent")).unwrap_err();
        assert!(absent.kind() == ErrorKind::NotFound && !is_refused(&absent));
    }

    #[test]
    fn files_are_read_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let [file, copied] = ["file", "copy"].map(|name| folder.path().join(name));
        fs::write(&file, "abc\u{e9}").unwrap();
        assert_eq!(read_text(&file, 5).unwrap(), "abcé");
        assert_eq!(read(&file, 4).unwrap_err().kind(), ErrorKind::FileTooLarge);
        copy(&file, &copied).unwrap();
        assert_eq!(fs::read(&copied).unwrap(), fs::read(&file).unwrap());
        fs::write(&file, [0xe9]).unwrap();
        assert_eq!(read_text(&file, 4).unwrap_err().kind(), ErrorKind::InvalidData);
        // It says that it has no bytes, and has some.
        assert_eq!(read(Path::new("/proc/self/status"), 10).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
