//! Files that are replaced in one step: whoever opens one finds all of the old contents or all of the new.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// The permissions of a file that anybody may read; the process's umask is taken from them.
pub const ORDINARY: u32 = 0o666;
/// The permissions of a file that only its owner may read.
pub const PRIVATE: u32 = 0o600;

/// How the name of a file begins that is not in its place yet.
const PREFIX: &str = ".netloom-";
/// How such a name ends.
const SUFFIX: &str = ".new";

/// Replaces the file at `path`, or makes it. The new contents are visible at once, and may be lost if the machine crashes soon.
///
/// # Errors
/// Those of `write`, and the kernel's. Then the old file is there as before, and nothing of the new one.
pub fn replace(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>) -> io::Result<()> {
    put(path, ORDINARY, write, |_| Ok(()))
}

/// Replaces the file at `path`, or makes it with these permissions. When this returns, the new contents survive a crash of the
/// machine; a crash before leaves the old ones or the new ones.
///
/// # Errors
/// As for [`replace`], and that the folder cannot be written to the disk; then the new file is in its place.
pub fn replace_durably(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    put(path, mode, write, File::sync_all)?;
    File::open(folder_of(path))?.sync_all()
}

/// Whether a file of this name was to replace another, and whoever wrote it was killed.
pub fn is_left_over(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

fn put(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    settle: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let (fresh, file) = create_beside(path, mode)?;
    let mut file = BufWriter::new(file);
    let written = write(&mut file).and_then(|()| file.flush()).and_then(|()| settle(file.get_ref()));
    written.and_then(|()| fs::rename(&fresh, path)).inspect_err(|_| {
        // On a full disk, it would take what others need.
        let _ = fs::remove_file(&fresh);
    })
}

/// Makes a file beside `path` that nobody else has: two who replace the same file at the same time must not write into one.
fn create_beside(path: &Path, mode: u32) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let fresh = folder_of(path).join(format!("{PREFIX}{}-{number}{SUFFIX}", process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&fresh) {
            // Left over, or of a process that has this number in another namespace.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return Ok((fresh, made?)),
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|one| one.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for text in ["first", "2nd"] {
            replace(&path, |file| file.write_all(text.as_bytes())).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        replace_durably(&path, PRIVATE, |file| {
            assert_eq!(fs::read_to_string(&path).unwrap(), "2nd");
            file.write_all(b"third")
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "third");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, PRIVATE);
        assert_eq!(names(folder.path()), ["file"]);
    }

    #[test]
    fn what_cannot_be_written_leaves_the_old_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        let full = |file: &mut BufWriter<File>| -> io::Result<()> {
            file.write_all(b"half")?;
            Err(ErrorKind::StorageFull.into())
        };
        assert_eq!(replace(&path, full).unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(replace_durably(&path, ORDINARY, full).unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(
            (fs::read_to_string(&path).unwrap().as_str(), names(folder.path())),
            ("old", vec!["file".to_owned()])
        );
        assert!(replace(&folder.path().join("absent/file"), |_| Ok(())).is_err());
    }

    /// Each writes into a file of its own, whichever is in its place last.
    #[test]
    fn two_who_replace_a_file_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, |outer| {
            outer.write_all(b"outer, which is long")?;
            outer.flush()?;
            replace(&path, |inner| inner.write_all(b"inner"))?;
            assert!(names(folder.path()).iter().any(|name| is_left_over(name)));
            assert_eq!(fs::read_to_string(&path).unwrap(), "inner");
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "outer, which is long");
        assert!(!is_left_over("file.new") && !is_left_over(".netloom-1"));
    }
}
