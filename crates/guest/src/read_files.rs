//! Which of the machine's files kernels read: the names that the shim writes down (`shim/names.c`).
//!
//! All kernels of a lab append to one file in memory, whose descriptor they inherit. Its size has a bound, so that programs that walk through all
//! files again and again do not fill the memory: a record that is full says so.

use rustix::fs::{MemfdFlags, OFlags, fcntl_setfl, memfd_create};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Bytes beyond which a record does not grow (`MOST_RECORDED` of `shim/names.c`): some hundred thousand names.
const ROOM: u64 = 32 << 20;

/// A record of names that grows while kernels run.
#[derive(Debug)]
pub struct ReadFiles(File);

/// The names of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The files, links and folders that kernels looked at or opened.
    pub looked_at: BTreeSet<PathBuf>,
    /// The folders whose names kernels listed.
    pub listed: BTreeSet<PathBuf>,
    /// Whether all names are there.
    pub is_complete: bool,
}

impl ReadFiles {
    /// Makes an empty record.
    ///
    /// # Errors
    /// What the system says.
    pub fn begin() -> io::Result<Self> {
        let file = memfd_create(c"netloom-read", MemfdFlags::CLOEXEC)?;
        // The place of the next name in an open file in memory is not guarded by a lock; its end is.
        fcntl_setfl(&file, OFlags::APPEND)?;
        Ok(Self(file.into()))
    }

    /// Reads the names that were written until now.
    ///
    /// # Errors
    /// What the system says.
    pub fn names(&self) -> io::Result<Names> {
        let length = self.0.metadata()?.len();
        let mut text = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        self.0.read_exact_at(&mut text, 0)?;
        let mut names = Names { is_complete: length <= ROOM, ..Names::default() };
        for line in text.split_inclusive(|byte| *byte == 0) {
            let Some([how, name @ ..]) = line.strip_suffix(&[0]) else { continue };
            let name = PathBuf::from(OsStr::from_bytes(name));
            if *how == b'd' {
                names.listed.insert(name)
            } else {
                names.looked_at.insert(name)
            };
        }
        Ok(names)
    }
}

impl AsFd for ReadFiles {
    /// The descriptor that kernels write to.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn names_are_read_as_they_were_written_and_a_full_record_says_so() {
        let record = ReadFiles::begin().unwrap();
        let mut writer = record.0.try_clone().unwrap();
        writer.write_all(b"r/bin/sh\0d/etc\0r/bin/sh\0r/a\nb\0").unwrap();
        let names = record.names().unwrap();
        assert_eq!(names.looked_at, ["/a\nb", "/bin/sh"].map(PathBuf::from).into());
        assert_eq!(names.listed, ["/etc"].map(PathBuf::from).into());
        assert!(names.is_complete);
        writer.write_all(&vec![0; 32 << 20]).unwrap();
        assert!(!record.names().unwrap().is_complete);
    }
}
