//! Folders of kernels that were built: this user's, and those of all users.
//!
//! `$XDG_CACHE_HOME/netloom/kernels`, or `~/.cache/netloom/kernels`, holds one folder per kernel, named after its version
//! and its configuration, with `linux`, `config` and `kernel.json`. A folder with a `kernel.json` is complete: it was
//! renamed to its place as a whole. Beside them: `lock`, `build.log` of the last build, `download`, and `work` while a
//! build runs. The [shared](super::shared) folders look alike.

use super::shared::{BUILT, Shared, Untrusted};
use super::{Facts, Version};
use nix::fcntl::{Flock, FlockArg};
use nix::sys::stat::{Mode, umask};
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The contents of `kernel.json` of an own build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The facts that the binary reported when it was built.
    #[serde(flatten)]
    pub facts: Facts,
    /// The version of the source, without the suffix of our configuration.
    pub source_version: String,
    /// Where the source came from: a package and its version, a folder or an archive.
    pub source: String,
    /// Stands for the configuration and the way of building; another one makes another kernel.
    pub config_hash: String,
    /// The compiler, as it names itself.
    pub compiler: String,
    /// When the build ended, in the form of RFC 3339, UTC.
    pub built: String,
    /// How long the build took, downloads included, in seconds.
    pub build_seconds: u64,
    /// Size of the binary in bytes.
    pub size_bytes: u64,
}

/// A kernel in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnBuild {
    /// The kernel's binary.
    pub path: PathBuf,
    /// The record of the build, from `kernel.json`.
    pub record: Record,
    /// Whether it is there for all users of this machine.
    pub shared: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    /// Whether the kernels in `root` are for all users.
    for_all: bool,
    /// Folders that are searched after `root`.
    shared: Vec<Shared>,
}

impl Cache {
    /// The cache of this user, before the folders of all users.
    ///
    /// # Errors
    /// A sentence when neither `XDG_CACHE_HOME` nor `HOME` says where it is.
    pub fn of_user() -> Result<Self, String> {
        let cache =
            netloom_regular::cache_folder().ok_or("neither XDG_CACHE_HOME nor HOME names a folder: set one of them")?;
        let shared = Shared::of_machine().to_vec();
        Ok(Self { root: cache.join("kernels"), for_all: false, shared })
    }

    /// The folder in which root builds kernels for all users. Nobody else can write there.
    pub fn of_all_users() -> Self {
        Self { root: BUILT.into(), for_all: true, shared: Shared::of_machine().to_vec() }
    }

    /// The folder of all users, for a process that puts kernels there. From now on, all users can read what the process makes.
    ///
    /// # Errors
    /// A sentence when the process is not root's.
    pub fn to_fill_for_all_users() -> Result<Self, String> {
        if !geteuid().is_root() {
            return Err(format!("--system puts the kernel into {BUILT}, where only root may write: run it with sudo"));
        }
        umask(Mode::S_IWGRP | Mode::S_IWOTH);
        Ok(Self::of_all_users())
    }

    /// A cache in another folder, which has no kernels of all users beside it.
    pub fn at(root: PathBuf) -> Self {
        Self { root, for_all: false, shared: Vec::new() }
    }

    /// The folder of the cache, which may not exist yet.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the log of the last build is.
    pub fn log(&self) -> PathBuf {
        self.root.join("build.log")
    }

    /// Where a build works; nothing there outlives it.
    pub(crate) fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Where downloads wait for a build that succeeds.
    pub(crate) fn download(&self) -> PathBuf {
        self.root.join("download")
    }

    /// Where a kernel has or will have its place.
    pub(crate) fn place(&self, version: &Version, config_hash: &str) -> PathBuf {
        self.root.join(format!("{version}-{config_hash}"))
    }

    /// All kernels: this cache's before those of all users, and in each folder the newest first, by version and then by the
    /// time of the build. Other files are skipped.
    pub fn builds(&self) -> Vec<OwnBuild> {
        self.trusted_and_not().0
    }

    /// The kernels of all users that are not used, because somebody else than root can change them.
    pub fn untrusted(&self) -> Vec<Untrusted> {
        self.trusted_and_not().1
    }

    fn trusted_and_not(&self) -> (Vec<OwnBuild>, Vec<Untrusted>) {
        // The folder in which root builds for all users is one of the shared ones.
        let mut builds = if self.for_all { Vec::new() } else { in_folder(&self.root, false) };
        let mut untrusted = Vec::new();
        for shared in &self.shared {
            for build in in_folder(shared.folder(), true) {
                match shared.trust(&build.path) {
                    Ok(path) => builds.push(OwnBuild { path, ..build }),
                    Err(why) => untrusted.push(why),
                }
            }
        }
        (builds, untrusted)
    }

    /// The complete kernel in a folder of this cache.
    pub(crate) fn read(&self, place: &Path) -> Option<OwnBuild> {
        read(place, self.for_all)
    }

    /// Keeps other builds away as long as the answer lives, or `None` when one is running.
    pub(crate) fn lock(&self) -> io::Result<Option<Flock<File>>> {
        fs::create_dir_all(&self.root)?;
        let file = File::options().write(true).create(true).truncate(false).open(self.root.join("lock"))?;
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => Ok(Some(lock)),
            Err((_, nix::Error::EWOULDBLOCK)) => Ok(None),
            Err((_, error)) => Err(error.into()),
        }
    }
}

/// The kernels in a folder of kernels, the newest first.
fn in_folder(folder: &Path, shared: bool) -> Vec<OwnBuild> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut builds: Vec<OwnBuild> = entries.filter_map(|entry| read(&entry.path(), shared)).collect();
    builds
        .sort_by_cached_key(|build| (build.record.source_version.parse::<Version>().ok(), build.record.built.clone()));
    builds.reverse();
    builds
}

/// The kernel in its folder, if there is a complete one.
fn read(folder: &Path, shared: bool) -> Option<OwnBuild> {
    let record = serde_json::from_slice(&fs::read(folder.join("kernel.json")).ok()?).ok()?;
    let path = folder.join("linux");
    path.is_file().then_some(OwnBuild { path, record, shared })
}

#[cfg(test)]
mod tests {
    use super::super::shared::tests::shared;
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn put(cache: &Cache, version: &str, built: &str) {
        let version: Version = version.parse().unwrap();
        let folder = cache.place(&version, "00ff00ff00ff00ff");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("linux"), "").unwrap();
        let record = Record {
            facts: Facts {
                version: format!("{version}-netloom"),
                time_travel: true,
                seccomp: true,
                hz: 1000,
                modules_needed: Vec::new(),
                day: None,
            },
            source_version: version.to_string(),
            source: "a test".to_owned(),
            config_hash: "00ff00ff00ff00ff".to_owned(),
            compiler: "gcc 12".to_owned(),
            built: built.to_owned(),
            build_seconds: 240,
            size_bytes: 0,
        };
        fs::write(folder.join("kernel.json"), serde_json::to_vec(&record).unwrap()).unwrap();
    }

    #[test]
    fn kernels_are_listed_from_the_newest_and_anything_else_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().join("kernels"));
        assert_eq!(cache.builds(), []);
        put(&cache, "6.12.9", "2026-03-01T00:00:00Z");
        put(&cache, "7.10.1", "2026-01-01T00:00:00Z");
        put(&cache, "7.9", "2026-02-01T00:00:00Z");
        // A folder without a record, a record that is damaged, one without its kernel, and a file.
        fs::create_dir_all(cache.work()).unwrap();
        for broken in ["7.11-a", "7.12-b"] {
            fs::create_dir_all(cache.root().join(broken)).unwrap();
        }
        fs::write(cache.root().join("7.11-a/kernel.json"), "{").unwrap();
        fs::copy(cache.root().join("7.9-00ff00ff00ff00ff/kernel.json"), cache.root().join("7.12-b/kernel.json"))
            .unwrap();
        fs::write(cache.log(), "").unwrap();
        let versions: Vec<String> = cache.builds().into_iter().map(|build| build.record.source_version).collect();
        assert_eq!(versions, ["7.10.1", "7.9", "6.12.9"]);
    }

    #[test]
    fn kernels_of_all_users_come_after_the_users_own() {
        let top = tempfile::tempdir().unwrap();
        let shared = shared(top.path());
        let all = Cache::at(shared.folder().to_owned());
        let user = Cache { shared: vec![shared], ..Cache::at(top.path().canonicalize().unwrap().join("own")) };
        put(&all, "7.9", "2026-02-01T00:00:00Z");
        put(&all, "7.10.1", "2026-01-01T00:00:00Z");
        put(&user, "7.8", "2026-01-01T00:00:00Z");
        let found = |builds: Vec<OwnBuild>| {
            builds.into_iter().map(|build| (build.record.source_version, build.shared)).collect::<Vec<_>>()
        };
        let named =
            |names: &[(&str, bool)]| names.iter().map(|(name, is)| ((*name).to_owned(), *is)).collect::<Vec<_>>();
        for folder in [top.path().join("shared"), all.root().to_owned(), all.root().join("7.9-00ff00ff00ff00ff")] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::set_permissions(all.root().join("7.9-00ff00ff00ff00ff/linux"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(all.root().join("7.9-00ff00ff00ff00ff/kernel.json"), fs::Permissions::from_mode(0o644))
            .unwrap();
        // Another user can put anything into the place of this one's record.
        fs::set_permissions(all.root().join("7.10.1-00ff00ff00ff00ff"), fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(found(user.builds()), named(&[("7.8", false), ("7.9", true)]));
        let untrusted = user.untrusted();
        assert_eq!(untrusted.len(), 1);
        assert_eq!(untrusted[0].path, all.root().join("7.10.1-00ff00ff00ff00ff/linux"));
        assert!(untrusted[0].why.starts_with("others than its owner may write"), "{untrusted:?}");
    }

    #[test]
    fn only_one_build_has_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().to_owned());
        let lock = cache.lock().unwrap();
        assert!(lock.is_some());
        assert!(cache.lock().unwrap().is_none());
        drop(lock);
        assert!(cache.lock().unwrap().is_some());
    }
}
