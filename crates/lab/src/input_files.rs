//! Reads the files of a lab, with limits: a lab file from a stranger may name any file, and checking it must do no
//! harm.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The longest lab file: one of 10,000 links takes less than 2 MiB.
pub(crate) const LONGEST_LAB: u64 = 16 << 20;

/// The longest file that a lab file names, a trace for example.
pub(crate) const LONGEST_FILE: u64 = 256 << 20;

/// The limit of all files that a lab file names together, each counted as often as it is named.
pub(crate) const MOST_READ: u64 = 2 << 30;

/// The limits of what is copied into the results of every run: files of one source, and bytes.
const MOST_KEPT: usize = 1_000;
const MOST_KEPT_BYTES: u64 = 16_000_000;

/// The bytes of the file at `path`.
///
/// # Errors
/// The kernel's error, or why the file is not read: a device or a pipe might never end.
pub(crate) fn read(path: &Path, longest: u64) -> Result<Vec<u8>, String> {
    let name = path.display();
    netloom_regular::read(path, longest).map_err(|error| match error.kind() {
        ErrorKind::IsADirectory => format!("{name} is a folder, not a file"),
        ErrorKind::FileTooLarge => format!("{name} has more than {} MiB, the limit for such a file", longest >> 20),
        _ if netloom_regular::is_refused(&error) => format!("{name} is {error}"),
        _ => format!("reading {name}: {error}"),
    })
}

/// The text of the lab file at `path`.
///
/// # Errors
/// As for [`read`], or where it is not text.
pub(crate) fn read_lab(path: &Path) -> Result<String, String> {
    String::from_utf8(read(path, LONGEST_LAB)?).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let line = 1 + bytes[..valid].iter().filter(|byte| **byte == b'\n').count();
        let byte = bytes[valid];
        format!("{}:{line}: the byte {byte:#04x} is not UTF-8: save the file as a UTF-8 text", path.display())
    })
}

/// The files of the source `name`, which counts from `home`, by names like it; none if there are too many for a copy.
pub(crate) fn small_files(home: &Path, name: &Path) -> Vec<PathBuf> {
    let (mut found, mut bytes) = (Vec::new(), 0);
    let mut left = vec![name.to_owned()];
    while let Some(path) = left.pop() {
        let Ok(about) = std::fs::symlink_metadata(home.join(&path)) else { continue };
        if about.is_dir() {
            let entries = std::fs::read_dir(home.join(&path)).into_iter().flatten().flatten();
            left.extend(entries.map(|entry| path.join(entry.file_name())));
        } else if about.is_file() && path.to_str().is_some() && netloom_regular::open(&home.join(&path)).is_ok() {
            bytes += about.len();
            found.push(path);
        }
        if found.len() + left.len() > MOST_KEPT || bytes > MOST_KEPT_BYTES {
            return Vec::new();
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_of_a_sensible_length_are_read() {
        assert!(read(Path::new("/dev/zero"), 10).unwrap_err().contains("is not a regular file"));
        assert!(read(Path::new("/"), 10).unwrap_err().contains("is a folder"));
        assert!(read(Path::new("/no/such/file"), 10).unwrap_err().contains("No such file"));
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert!(read(&own, 1 << 20).is_ok());
        assert!(read(&own, 10).unwrap_err().contains("has more than 0 MiB"));
        // It says that it has no bytes, and has some.
        assert!(read(Path::new("/proc/self/status"), 10).unwrap_err().contains("has more than"));
    }

    #[test]
    fn the_line_of_what_is_no_text_is_told() {
        let path = std::env::temp_dir().join(format!("netloom-no-text-{}", std::process::id()));
        std::fs::write(&path, b"nodes: [a]\nname: caf\xe9\n").unwrap();
        let said = read_lab(&path).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert!(said.ends_with(":2: the byte 0xe9 is not UTF-8: save the file as a UTF-8 text"), "{said}");
    }
}
