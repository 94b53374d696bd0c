//! The place of the folder that holds the folders of a user's labs.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use nix::unistd::geteuid;

/// Whether it is there, and this user's alone, is still to be looked at.
pub(crate) fn place() -> PathBuf {
    let user = geteuid();
    let given = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    // Under sudo the variable may still name the folder of the user who called it.
    let given = given.filter(|path| fs::metadata(path).is_ok_and(|folder| folder.uid() == user.as_raw()));
    match given {
        Some(folder) => folder.join("netloom"),
        None if user.is_root() => "/run/netloom".into(),
        None => format!("/tmp/netloom-{user}").into(),
    }
}
