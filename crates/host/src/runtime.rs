//! The folder of each running lab, and what tells a running lab from the leftovers of a killed one.
//!
//! `<root>/<lab>/lock` is held locked by all processes of a lab that clean up: the lock goes with the last of them,
//! however they end. A folder whose lock is free is stale, and the next netloom command removes it together with the
//! cgroups that its `lab.json` names, and the rules of the firewall that it tells of. It gives back interfaces, too, which
//! killed labs had taken.

use std::fmt;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Deserialize, Serialize};

use crate::cgroup;
use crate::error::{Attempted, KernelError};
use crate::firewall::Firewall;
use crate::locked::is_at;
use crate::neighbors;
use crate::runtime_folder;
use crate::wires::give_back_stale;

/// The record of a running lab, in `lab.json` of its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabState {
    /// The lab process, as seen from outside; `None` before it exists.
    pub lab_pid: Option<i32>,
    /// The process that forked it and cleans up after it.
    pub guard_pid: i32,
    /// When it was started, in seconds since 1970.
    pub started_unix_s: u64,
    /// The absolute path of the lab file.
    pub lab_file: PathBuf,
    /// Control groups that belong to the lab and are removed with it.
    pub cgroups: Vec<PathBuf>,
    /// Where its results and logs go.
    #[serde(default)]
    pub results: Option<PathBuf>,
    /// Whether it stays until a user takes it down.
    #[serde(default)]
    pub stays_up: bool,
    /// Whether rules of the firewall divert traffic to it, which bear its name and are removed with it.
    #[serde(default)]
    pub diverts: bool,
    /// Whether it is a part of a lab over several machines, which is worked with as a whole.
    #[serde(default)]
    pub is_part: bool,
}

/// The folder of a lab that this process has locked.
///
/// A forked process shares the lock. Dropping the value leaves the folder alone, since the process on the other side
/// of a fork still uses it: see [`RuntimeDir::remove`].
#[derive(Debug)]
pub struct RuntimeDir {
    path: PathBuf,
    /// Locked as long as any process has it open.
    lock: File,
}

/// Why a lab could not have its folder.
#[derive(Debug)]
pub enum RuntimeError {
    /// A lab of this name is running.
    AlreadyUp {
        /// Its name.
        name: String,
        /// The record of the lab, if that has been written already.
        state: Option<LabState>,
    },
    /// The folder that holds the labs' folders belongs to another user, who could tamper with them.
    Foreign {
        /// The folder.
        path: PathBuf,
    },
    /// The kernel refused something.
    Refused(KernelError),
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyUp { name, state: Some(state) } => {
                write!(
                    f,
                    "a lab named {name} is already up (process {}, {})",
                    state.guard_pid,
                    state.lab_file.display()
                )
            }
            Self::AlreadyUp { name, state: None } => write!(f, "a lab named {name} is already up"),
            Self::Foreign { path } => write!(
                f,
                "{} is not a directory of this user alone: remove it, or set XDG_RUNTIME_DIR to a directory that is",
                path.display()
            ),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RuntimeError {}

impl From<KernelError> for RuntimeError {
    fn from(error: KernelError) -> Self {
        Self::Refused(error)
    }
}

/// A lab that [`list`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningLab {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// The record of the lab, if that has been written already.
    pub state: Option<LabState>,
}

/// How long the lock of a folder is waited for, and how often it is tried: a lab that is being removed, or looked at by [`list`], holds it for a moment. Where a lab
/// has noted nothing down, it begins or ends, or another process sweeps; on a busy machine that takes a while.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);
const LONG_LOCK_PATIENCE: Duration = Duration::from_secs(5);
const LOCK_PAUSE: Duration = Duration::from_millis(4);

impl RuntimeDir {
    /// Makes and locks the folder of the lab `name`, after removing what a killed lab of that name has left.
    ///
    /// # Errors
    /// See [`RuntimeError`].
    ///
    /// # Panics
    /// If `name` is not a plain file name.
    pub fn acquire(name: &str) -> Result<Self, RuntimeError> {
        Self::acquire_in(&root()?, name)
    }

    fn acquire_in(root: &Path, name: &str) -> Result<Self, RuntimeError> {
        let path = root.join(name);
        assert_eq!(path.file_name(), Some(name.as_ref()), "the name of a lab is a plain file name");
        let begun = Instant::now();
        loop {
            make_private(&path)?;
            if let Some(lock) = try_lock(&path, File::try_lock)? {
                let dir = Self { path, lock };
                dir.clear()?;
                return Ok(dir);
            }
            let state = read_state(&path);
            if begun.elapsed() >= if state.is_some() { LOCK_PATIENCE } else { LONG_LOCK_PATIENCE } {
                return Err(RuntimeError::AlreadyUp { name: name.to_owned(), state });
            }
            std::thread::sleep(LOCK_PAUSE);
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that holds the folders of all labs of this user.
    pub fn folder_of_labs(&self) -> &Path {
        self.path.parent().expect("it is in another one")
    }

    /// Hands the folder over to the program that this process becomes: returns its path, and the number of the descriptor that holds the lock
    /// and stays open.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn hand_over(self) -> Result<(PathBuf, i32), KernelError> {
        fcntl_setfd(&self.lock, FdFlags::empty()).attempted(|| format!("keep the lock of {}", self.path.display()))?;
        Ok((self.path, self.lock.into_raw_fd()))
    }

    /// Where the lab's control socket belongs.
    pub fn control_socket(&self) -> PathBuf {
        control_socket(&self.path)
    }

    /// Where the hosts file of the lab's nodes belongs.
    pub fn hosts(&self) -> PathBuf {
        self.path.join("hosts")
    }

    /// Where the file belongs that says which name servers the lab's nodes ask.
    pub fn resolver(&self) -> PathBuf {
        self.path.join("resolv.conf")
    }

    /// Notes down what is known about the lab. Control groups must be noted down before they are made, or a kill at
    /// the wrong moment leaves them behind.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn write_state(&self, state: &LabState) -> Result<(), KernelError> {
        let file = self.path.join(STATE);
        let attempted = || format!("write {}", file.display());
        let text = serde_json::to_vec_pretty(state).map_err(io::Error::from).attempted(attempted)?;
        netloom_regular::replace(&file, |new| new.write_all(&text)).attempted(attempted)
    }

    /// Removes the lab's control groups, killing what runs in them, its rules in this process's network namespace, and its
    /// folder.
    ///
    /// # Errors
    /// The first refusal; everything else is still removed.
    pub fn remove(self) -> Result<(), KernelError> {
        let groups = self.clear();
        // The lock goes last: until then the folder is known to be in use.
        let lock =
            fs::remove_file(self.path.join(LOCK)).attempted(|| format!("remove the lock of {}", self.path.display()));
        let folder = match fs::remove_dir(&self.path) {
            // Since the lock is gone, another process may have taken the folder, for a lab of this name or to remove it.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => Ok(()),
            other => other.attempted(|| format!("remove {}", self.path.display())),
        };
        groups.and(lock).and(folder)
    }

    /// Removes everything but the lock.
    fn clear(&self) -> Result<(), KernelError> {
        let mut outcome = Ok(());
        let state = read_state(&self.path);
        if state.as_ref().is_some_and(|state| state.diverts) {
            let name = self.path.file_name().unwrap_or_default().to_string_lossy();
            outcome = Firewall::here(&name).and_then(|firewall| firewall.remove());
        }
        for group in state.map(|state| state.cgroups).unwrap_or_default() {
            outcome = outcome.and(cgroup::remove(&group));
        }
        let entries = fs::read_dir(&self.path).attempted(|| format!("list {}", self.path.display()))?;
        for entry in entries.flatten().filter(|entry| entry.file_name() != LOCK) {
            let gone = match entry.file_type() {
                Ok(kind) if kind.is_dir() => fs::remove_dir_all(entry.path()),
                _ => fs::remove_file(entry.path()),
            };
            outcome = outcome.and(gone.attempted(|| format!("remove {}", entry.path().display())));
        }
        outcome
    }
}

impl std::os::fd::AsFd for RuntimeDir {
    /// The lock, held by every process that has a copy of this descriptor.
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.lock.as_fd()
    }
}

/// The labs of this user that are running, by name.
///
/// # Errors
/// See [`RuntimeError`].
pub fn list() -> Result<Vec<RunningLab>, RuntimeError> {
    list_in(&root()?)
}

fn list_in(root: &Path) -> Result<Vec<RunningLab>, RuntimeError> {
    let mut labs = Vec::new();
    for (name, path) in folders(root)? {
        if path.join(LOCK).exists() && try_lock(&path, File::try_lock_shared)?.is_none() {
            labs.push(RunningLab { name, state: read_state(&path), path });
        }
    }
    Ok(labs)
}

/// The folder of a running lab.
///
/// # Errors
/// See [`RuntimeError`].
pub fn find(name: &str) -> Result<Option<RunningLab>, RuntimeError> {
    Ok(list()?.into_iter().find(|lab| lab.name == name))
}

/// The control socket in the folder of a lab.
pub fn control_socket(lab: &Path) -> PathBuf {
    lab.join("control.sock")
}

/// Notes down that the lab with this folder begins to end.
pub fn note_ending(lab: &Path) {
    // It only tells others why the lab does not answer; the folder may be gone already.
    let _ = fs::write(lab.join(ENDING), "");
}

/// Whether the lab with this folder has begun to end.
pub fn is_ending(lab: &Path) -> bool {
    lab.join(ENDING).exists()
}

/// Removes what killed labs have left, and tells their names.
///
/// # Errors
/// See [`RuntimeError`]; the others are removed even if one cannot be.
pub fn sweep_stale() -> Result<Vec<String>, RuntimeError> {
    sweep_in(&root()?)
}

/// Whether the lab `name` has a folder, of which perhaps nobody is left who removes it.
pub(crate) fn has_folder(name: &str) -> bool {
    root().is_ok_and(|root| root.join(name).exists())
}

fn sweep_in(root: &Path) -> Result<Vec<String>, RuntimeError> {
    let mut swept = Vec::new();
    let mut outcome = give_back_stale(root).map_err(RuntimeError::Refused);
    outcome = outcome.and(neighbors::sweep().map_err(RuntimeError::Refused));
    for (name, path) in folders(root)? {
        match try_lock(&path, File::try_lock) {
            Ok(Some(lock)) => {
                outcome = outcome.and(RuntimeDir { path, lock }.remove().map_err(RuntimeError::Refused));
                swept.push(name);
            }
            Ok(None) => (),
            Err(error) => outcome = outcome.and(Err(error.into())),
        }
    }
    outcome.map(|()| swept)
}

const LOCK: &str = "lock";
const ENDING: &str = "ending";
const STATE: &str = "lab.json";

/// The folder that holds the labs' folders. It must be this user's alone: what is in it is trusted.
pub(crate) fn root() -> Result<PathBuf, RuntimeError> {
    among(&runtime_folder::places())
}

/// The first of these that is this user's, or else the first that can be made so: another user may have taken a name.
fn among(places: &[PathBuf]) -> Result<PathBuf, RuntimeError> {
    if let Some(own) = places.iter().find(|place| runtime_folder::is_own(place)) {
        return Ok(own.clone());
    }
    let usual = places.first().expect("there is a usual place");
    let mut refused = None;
    for place in places {
        match make_private(place) {
            Ok(()) if runtime_folder::is_own(place) => return Ok(place.clone()),
            Ok(()) => {}
            // Of a file system or a folder that this process cannot write to; the next may be in another.
            Err(error) if matches!(error.errno(), libc::EROFS | libc::EACCES | libc::ENOENT) => {
                refused.get_or_insert(error);
            }
            Err(error) => return Err(error.into()),
        }
    }
    match refused {
        Some(error) => {
            Err(error.with_detail("set XDG_RUNTIME_DIR to a directory of this user that can be written to").into())
        }
        None => Err(RuntimeError::Foreign { path: usual.clone() }),
    }
}

fn make_private(path: &Path) -> Result<(), KernelError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.attempted(|| format!("make the directory {}", path.display())),
    }
}

fn folders(root: &Path) -> Result<Vec<(String, PathBuf)>, KernelError> {
    let entries = fs::read_dir(root).attempted(|| format!("list {}", root.display()))?.flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<_> =
        folders.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path()))).collect();
    folders.sort();
    Ok(folders)
}

/// The lock of the folder at `path`, or `None` when another process has it, or when the folder is just being removed.
fn try_lock(path: &Path, kind: impl FnOnce(&File) -> Result<(), TryLockError>) -> Result<Option<File>, KernelError> {
    let file = path.join(LOCK);
    let attempted = || format!("lock {}", file.display());
    let lock = match File::options().read(true).write(true).create(true).truncate(false).open(&file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.attempted(attempted)?,
    };
    match kind(&lock) {
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error).attempted(attempted),
        Ok(()) => (),
    }
    // Between the opening and the locking another process may have removed the folder: then this locked a deleted file.
    Ok(is_at(&lock, &file).then_some(lock))
}

fn read_state(path: &Path) -> Option<LabState> {
    serde_json::from_slice(&fs::read(path.join(STATE)).ok()?).ok()
}

#[cfg(test)]
mod tests;
