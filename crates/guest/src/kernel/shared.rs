//! Kernels that all users of a machine share.
//!
//! Root builds them (`netloom kernel build --system`), or a package installs them. Whoever can change such a kernel runs programs as
//! everybody who uses it. So a kernel counts only if nobody but root can change it: root owns its files and all folders above them,
//! and no group and no other user may write to any of them.

use nix::unistd::Uid;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folder of kernels that root builds for all users.
pub(super) const BUILT: &str = "/var/cache/netloom/kernels";

/// The folder of the kernel that the package `netloom-kernel` installs.
const PACKAGED: &str = "/usr/lib/netloom/kernels";

/// Permissions by which a group or other users may write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A folder of kernels that somebody else keeps, and the user who alone may change them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    folder: PathBuf,
    /// Root, but in tests.
    owner: Uid,
    /// Folders above this one are not looked at: `/`, but in tests.
    top: PathBuf,
}

/// A kernel for all users that is not used, because others than root can change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untrusted {
    /// The kernel's binary.
    pub path: PathBuf,
    /// The reason.
    pub why: String,
}

impl Shared {
    /// The folders of this machine, in the order in which they are searched.
    pub(super) fn of_machine() -> [Self; 2] {
        [BUILT, PACKAGED].map(|folder| Self { folder: folder.into(), owner: Uid::from_raw(0), top: "/".into() })
    }

    /// The folder of kernels.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The real path of a kernel's binary, if nobody but the owner can change it, its record, or what is found in their places.
    ///
    /// # Errors
    /// With the reason when somebody else can.
    pub(super) fn trust(&self, binary: &Path) -> Result<PathBuf, Untrusted> {
        let untrusted = |why: String| Untrusted { path: binary.to_owned(), why };
        let real = |path: &Path| path.canonicalize().map_err(|error| untrusted(format!("{}: {error}", path.display())));
        let path = real(binary)?;
        let files = [path.clone(), real(&binary.with_file_name("kernel.json"))?];
        for file in &files {
            let below = file.ancestors().take_while(|place| *place != self.top);
            below.chain([self.top.as_path()]).try_for_each(|place| self.check(place)).map_err(untrusted)?;
        }
        Ok(path)
    }

    fn check(&self, place: &Path) -> Result<(), String> {
        let found = fs::symlink_metadata(place).map_err(|error| format!("{}: {error}", place.display()))?;
        if found.uid() != self.owner.as_raw() {
            let (is, should) = (found.uid(), self.owner);
            return Err(format!("{} belongs to user {is}, not to user {should}", place.display()));
        }
        if found.mode() & WRITABLE_BY_OTHERS != 0 {
            return Err(format!("others than its owner may write to {}", place.display()));
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    /// A folder below `top` whose kernels belong to this test's user.
    pub(in crate::kernel) fn shared(top: &Path) -> Shared {
        let top = top.canonicalize().unwrap();
        Shared { folder: top.join("shared/kernels"), owner: Uid::effective(), top }
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// A kernel that nobody else can change.
    fn kernel(shared: &Shared) -> PathBuf {
        let folder = shared.folder.join("7.9-00ff00ff00ff00ff");
        fs::create_dir_all(&folder).unwrap();
        for (name, mode) in [("linux", 0o755), ("kernel.json", 0o644)] {
            fs::write(folder.join(name), "").unwrap();
            set_mode(&folder.join(name), mode);
        }
        for place in folder.ancestors().take(3).chain([shared.top.as_path()]) {
            set_mode(place, 0o755);
        }
        folder.join("linux")
    }

    #[test]
    fn a_kernel_is_trusted_if_nobody_else_can_change_it() {
        let top = tempfile::tempdir().unwrap();
        let shared = shared(top.path());
        let binary = kernel(&shared);
        assert_eq!(shared.trust(&binary), Ok(binary.clone()));
        for place in [&binary, &binary.with_file_name("kernel.json"), &shared.folder, &shared.top] {
            let before = fs::metadata(place).unwrap().mode();
            for added in [0o020, 0o002] {
                set_mode(place, before | added);
                let why = shared.trust(&binary).unwrap_err().why;
                assert_eq!(why, format!("others than its owner may write to {}", place.display()));
            }
            set_mode(place, before);
        }
        assert_eq!(shared.trust(&binary), Ok(binary));
    }

    #[test]
    fn a_kernel_of_another_user_is_not_trusted() {
        let top = tempfile::tempdir().unwrap();
        let mut shared = shared(top.path());
        let binary = kernel(&shared);
        shared.owner = Uid::from_raw(shared.owner.as_raw() + 1);
        let Untrusted { path, why } = shared.trust(&binary).unwrap_err();
        assert_eq!(path, binary);
        assert!(why.contains("belongs to user"), "{why}");
    }

    #[test]
    fn a_symbolic_link_counts_as_what_it_leads_to() {
        let top = tempfile::tempdir().unwrap();
        let shared = shared(top.path());
        let binary = kernel(&shared);
        let open = shared.top.join("open");
        fs::write(&open, "").unwrap();
        set_mode(&open, 0o777);
        fs::remove_file(&binary).unwrap();
        symlink(&open, &binary).unwrap();
        assert!(shared.trust(&binary).unwrap_err().why.ends_with("/open"));
        set_mode(&open, 0o755);
        assert_eq!(shared.trust(&binary), Ok(open));
    }
}
