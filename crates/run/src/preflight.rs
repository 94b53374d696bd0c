//! What can be known before anything is set up: whether the programs of the timeline exist.

use crate::{MissingProgram, RunError};
use netloom_lab::{Plan, Program};
use std::env;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Refuses a plan whose programs are not on this machine, all of them at once.
pub(crate) fn programs_exist(plan: &Plan, lab_file: &Path) -> Result<(), RunError> {
    let path = search_path();
    let absent = plan.programs().into_iter().filter(|program| !exists(&program.name, &path));
    let missing: Vec<MissingProgram> = absent
        .map(|Program { line, name, .. }| MissingProgram { file: lab_file.to_owned(), line, program: name })
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(RunError::MissingPrograms(missing)) }
}

/// Whether nodes would find `program`.
pub(crate) fn is_here(program: &str) -> bool {
    exists(program, &search_path())
}

/// The user's path and the folders of system programs, as nodes search them.
fn search_path() -> OsString {
    let mut path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    path.push(":/usr/sbin:/sbin");
    path
}

fn exists(program: &str, path: &OsString) -> bool {
    if program.contains('/') {
        return is_executable(Path::new(program));
    }
    env::split_paths(path).any(|folder| is_executable(&folder.join(program)))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_by_name_and_by_path() {
        let path = search_path();
        assert!(exists("sh", &path));
        assert!(exists("/bin/sh", &path));
        assert!(!exists("no-such-program", &path));
        assert!(!exists("/etc/passwd", &path));
    }
}
