//! The place of the folder that holds the folders of a user's labs.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, geteuid};

/// A user's folder may have other names than the first, which another user may have taken: everybody can make folders in `/tmp`.
const NAMES: u32 = 10;

/// The places where it may be, the usual one first. Whether one is there, and this user's alone, is still to be looked at.
pub(crate) fn places() -> Vec<PathBuf> {
    let user = geteuid();
    let given = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
    // Under sudo the variable may still name the folder of the user who called it.
    let given = given.filter(|path| fs::metadata(path).is_ok_and(|folder| folder.uid() == user.as_raw()));
    match given {
        Some(folder) => vec![folder.join("netloom")],
        // In a container with a read-only root, `/run` cannot be written to.
        None if user.is_root() => std::iter::once("/run/netloom".into()).chain(in_shared_folders(user)).collect(),
        None => in_shared_folders(user).collect(),
    }
}

/// Where it is, or would be.
pub(crate) fn place() -> PathBuf {
    let mut places = places();
    let own = places.iter().position(|place| is_own(place)).unwrap_or(0);
    places.swap_remove(own)
}

/// The names in folders that all users share: the second is there, too, where the first cannot be written to.
fn in_shared_folders(user: Uid) -> impl Iterator<Item = PathBuf> {
    ["/tmp", "/dev/shm"].into_iter().flat_map(move |folder| shared(Path::new(folder), user))
}

/// The names in a folder that all users share.
fn shared(folder: &Path, user: Uid) -> Vec<PathBuf> {
    let name = |number: u32| if number == 0 { format!("netloom-{user}") } else { format!("netloom-{user}-{number}") };
    (0..NAMES).map(|number| folder.join(name(number))).collect()
}

/// Whether the folder is this user's, no other user looks into it, and its file system can be written to.
pub(crate) fn is_own(folder: &Path) -> bool {
    let is_private =
        |about: fs::Metadata| about.is_dir() && about.uid() == geteuid().as_raw() && about.mode() & 0o077 == 0;
    fs::symlink_metadata(folder).is_ok_and(is_private)
        && rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_come_behind_the_usual_one() {
        let names = shared(Path::new("/tmp"), Uid::from_raw(1000));
        assert_eq!(names[..2], [Path::new("/tmp/netloom-1000"), Path::new("/tmp/netloom-1000-1")]);
        assert_eq!(names.len(), 10);
    }
}
