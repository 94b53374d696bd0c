//! What is kept of a job, as files in its folder.
//!
//! ```text
//! order.json      what is to be done; the folder gets its number when this is in it
//! lab.yaml        the lab file as it was when the job was added
//! lock            empty, and locked for as long as somebody sees to the job, or its command goes on
//! attempts.json   one entry for each start, written before it
//! cancel          there, if the user wants no more of it
//! output.txt      what its commands wrote
//! end.json        how it ended, written once
//! ```
//!
//! The state of a job is which files are in its folder. A *keeper* holds the lock, and so does the command that it
//! starts, whose standard input is the locked file, which is empty. So no process has to be found by its number, and
//! a command that outlives its keeper keeps others away. The *worker* starts the keepers, one at a time until each
//! has had its turn; when it is killed, nothing else is.

use crate::QueueError;
use netloom_regular::PRIVATE;
use nix::sys::stat::{Mode, umask};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(crate) const ORDER: &str = "order.json";
pub(crate) const LOCK: &str = "lock";
pub(crate) const ATTEMPTS: &str = "attempts.json";
pub(crate) const CANCEL: &str = "cancel";
pub(crate) const OUTPUT: &str = "output.txt";
pub(crate) const END: &str = "end.json";
pub(crate) const LAB: &str = "lab.yaml";

/// A command to be run as a job, and the environment to run it in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The name that people know the job by: the lab's name.
    pub name: String,
    /// The lab file, to be shown.
    pub file: PathBuf,
    /// The program and its arguments.
    pub command: Vec<OsString>,
    /// Further arguments when the command is started again, after it was lost.
    pub again: Vec<OsString>,
    /// The option behind which the place of the lab file's text goes.
    pub text_option: String,
    /// The folder in which the command is started.
    pub folder: PathBuf,
    /// The environment of the command.
    pub environment: Vec<(OsString, OsString)>,
    /// The umask of the command (umask(2)).
    pub umask: u32,
    /// How many processors the command needs; none: all.
    pub processors: Option<usize>,
    /// Whether the command stays on the processors that it gets.
    pub stays: bool,
    /// When the job was added.
    pub added: SystemTime,
}

/// A start of a job's command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attempt {
    pub(crate) started: SystemTime,
    /// Which start of the machine this was.
    pub(crate) boot: String,
    /// Why nobody knows how it ended; none: it goes on, or `end.json` says how.
    pub(crate) lost: Option<String>,
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// When the job ended.
    pub at: SystemTime,
    /// The exit code of the job's command; none if it had none.
    pub exit_code: Option<u8>,
    /// Whether a user had the job cancelled.
    pub cancelled: bool,
    /// Why the job ended, if there is more to be said.
    pub why: Option<String>,
}

/// Variables that mean something in a terminal or a shell alone; those that at(1) leaves out, too.
const OF_TERMINALS: [&str; 12] = [
    "BASHOPTS",
    "BASH_VERSINFO",
    "DISPLAY",
    "EUID",
    "GROUPS",
    "OLDPWD",
    "SHELLOPTS",
    "SHLVL",
    "TERM",
    "UID",
    "WINDOWID",
    "_",
];

impl Order {
    /// Creates an order to run `command` in the folder and with the environment of this process, which has one thread.
    ///
    /// # Errors
    /// If this process has no folder any more.
    pub fn from_here(name: String, file: PathBuf, command: Vec<OsString>) -> Result<Self, QueueError> {
        let folder = std::env::current_dir().map_err(QueueError::file(Path::new(".")))?;
        let before = umask(Mode::empty());
        umask(before);
        let is_kept = |variable: &OsString| !OF_TERMINALS.iter().any(|other| variable == other);
        Ok(Self {
            name,
            file,
            command,
            again: Vec::new(),
            text_option: String::new(),
            folder,
            environment: std::env::vars_os().filter(|(variable, _)| is_kept(variable)).collect(),
            umask: before.bits(),
            processors: None,
            stays: false,
            added: SystemTime::now(),
        })
    }
}

impl End {
    pub(crate) fn now(exit_code: Option<u8>, why: Option<String>) -> Self {
        Self { at: SystemTime::now(), exit_code, cancelled: false, why }
    }

    pub(crate) fn cancelled(exit_code: Option<u8>) -> Self {
        Self { cancelled: true, ..Self::now(exit_code, None) }
    }
}

/// The starts of the job in the folder `home` so far.
pub(crate) fn attempts(home: &Path) -> Result<Vec<Attempt>, QueueError> {
    Ok(read(&home.join(ATTEMPTS))?.unwrap_or_default())
}

/// The value of a file of ours; none if there is no such file.
///
/// # Errors
/// If it is there and cannot be read.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, QueueError> {
    match fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| QueueError::file(path)(error.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(QueueError::file(path)(error)),
    }
}

/// Writes a file in one go: after a crash there is the old one or the new one.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<(), QueueError> {
    let mut bytes = serde_json::to_vec_pretty(value).map_err(|error| QueueError::file(path)(error.into()))?;
    bytes.push(b'\n');
    write_bytes(path, &bytes)
}

pub(crate) fn write_bytes(path: &Path, bytes: &[u8]) -> Result<(), QueueError> {
    netloom_regular::replace_durably(path, PRIVATE, |file| file.write_all(bytes)).map_err(QueueError::file(path))
}
