//! Where the programs of nodes are found.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The folders of programs in nodes, unless a lab file says otherwise: what Debian gives root.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Whether a program of this name, or at this path, is found where `path` says.
pub fn exists(program: &str, path: &OsStr) -> bool {
    find(program, path).is_some()
}

/// The program of this name, or at this path, that is found where `path` says.
pub fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|own| is_executable(own));
    }
    env::split_paths(path).map(|folder| folder.join(program)).find(|own| is_executable(own))
}

/// Whether there is an executable file.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        let path = OsStr::new(PATH);
        assert!(find("sh", path).is_some_and(|found| found.is_absolute() && found.ends_with("sh")));
        assert!(exists("/bin/sh", path));
        assert!(!exists("no-such-program", path));
        assert!(!exists("/etc/passwd", path));
    }
}
