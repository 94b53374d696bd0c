//! The folder of kernels that this user built.
//!
//! `$XDG_CACHE_HOME/netloom/kernels`, or `~/.cache/netloom/kernels`, holds one folder per kernel, named after its version
//! and its configuration, with `linux`, `config` and `kernel.json`. A folder with a `kernel.json` is complete: it was
//! renamed to its place as a whole. Beside them: `lock`, `build.log` of the last build, `download`, and `work` while a
//! build runs.

use super::{Facts, Version};
use nix::fcntl::{Flock, FlockArg};
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
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache of this user.
    ///
    /// # Errors
    /// A sentence when neither `XDG_CACHE_HOME` nor `HOME` says where it is.
    pub fn of_user() -> Result<Self, String> {
        let folder = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
        let cache = cache.ok_or("neither XDG_CACHE_HOME nor HOME names a folder: set one of them")?;
        Ok(Self::at(cache.join("netloom/kernels")))
    }

    /// A cache in another folder.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
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

    /// All kernels, the newest first: by version, then by the time of the build. Other files are skipped.
    pub fn builds(&self) -> Vec<OwnBuild> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let mut builds: Vec<OwnBuild> = entries.filter_map(|entry| read(&entry.path())).collect();
        builds.sort_by_cached_key(|build| {
            (build.record.source_version.parse::<Version>().ok(), build.record.built.clone())
        });
        builds.reverse();
        builds
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

/// The kernel in a folder of the cache, if there is a complete one.
pub(crate) fn read(folder: &Path) -> Option<OwnBuild> {
    let record = serde_json::from_slice(&fs::read(folder.join("kernel.json")).ok()?).ok()?;
    let path = folder.join("linux");
    path.is_file().then_some(OwnBuild { path, record })
}

#[cfg(test)]
mod tests {
    use super::*;

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
