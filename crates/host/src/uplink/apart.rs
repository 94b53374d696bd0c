//! Processes of netloom's that nobody is to notice: no terminal, no signal of the user's and no folder concern them.

use std::ffi::CStr;
use std::fs::File;

use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout, setsid};

use crate::error::{Attempted, KernelError};

/// Leaves the user's terminal, signals and streams. `ps` shows the process under `name`.
pub(crate) fn stand_apart(name: &CStr) -> Result<(), KernelError> {
    // Only what `ps` shows depends on it.
    let _ = nix::sys::prctl::set_name(name);
    setsid().attempted(|| "start a session")?;
    for ignored in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT] {
        // SAFETY: to ignore a signal runs no code of this process.
        unsafe { signal(ignored, SigHandler::SigIgn) }.attempted(|| format!("ignore {ignored}"))?;
    }
    let null = File::options().read(true).write(true).open("/dev/null").attempted(|| "open /dev/null")?;
    dup2_stdin(&null)
        .and_then(|()| dup2_stdout(&null))
        .and_then(|()| dup2_stderr(&null))
        .attempted(|| "close streams")?;
    // No folder of the user's is kept busy.
    std::env::set_current_dir("/").attempted(|| "change to /")
}
