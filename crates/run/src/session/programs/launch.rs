//! What a program is started with.

use netloom_host::node::Spawn;
use netloom_judge::RunError;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// What a program is started with.
pub(crate) struct Launch {
    pub(crate) node: usize,
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: PathBuf,
    pub(crate) stdio: [OwnedFd; 3],
    pub(crate) terminal: bool,
    pub(crate) user: Option<String>,
}

impl From<Launch> for Spawn {
    fn from(launch: Launch) -> Self {
        let Launch { argv, env, cwd, stdio: [stdin, stdout, stderr], terminal, user, .. } = launch;
        Self { argv, env, clear_env: true, cwd: Some(cwd), stdin, stdout, stderr, tty: terminal, user }
    }
}

/// Programs of the timeline read from nowhere.
pub(super) fn null() -> Result<OwnedFd, RunError> {
    let null = File::options().read(true).write(true).open("/dev/null");
    null.map(OwnedFd::from).map_err(|error| RunError::Machine(format!("opening /dev/null: {error}")))
}
