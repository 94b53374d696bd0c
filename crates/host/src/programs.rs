//! Where the programs of nodes are found.

use std::env;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The folders of programs in nodes, unless a lab file says otherwise: what Debian gives root.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Whether a program of this name, or at this path, is found where `path` says.
pub fn exists(program: &str, path: &OsStr) -> bool {
    if program.contains('/') {
        return is_executable(Path::new(program));
    }
    env::split_paths(path).any(|folder| is_executable(&folder.join(program)))
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
        assert!(exists("sh", path));
        assert!(exists("/bin/sh", path));
        assert!(!exists("no-such-program", path));
        assert!(!exists("/etc/passwd", path));
    }
}
