//! chrony's client, which says again and again how exact the time of day of this machine is, for tunnels to other machines.
//!
//! It runs beside the lab, where the daemon can be reached, and ends when nobody reads what it says, whoever was killed.

use netloom_host::programs;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Asks once a second, as long as there are answers and somebody reads them; $0 is the client.
const ASKS: &str = "while \"$0\" -c tracking; do sleep 1; done";

/// The client of chrony, which is asked again and again as long as this lives.
#[derive(Debug)]
pub(crate) struct Chrony {
    child: Child,
    /// The process that ends it; others that have a copy of this do not.
    owner: u32,
}

impl Chrony {
    /// Starts the client, if it is in these folders, and returns where it writes a line for each answer (`chronyc -c tracking`).
    ///
    /// # Errors
    /// The system's refusal.
    pub(crate) fn start(path: &OsStr) -> io::Result<Option<(Self, OwnedFd)>> {
        programs::find("chronyc", path).map(|client| Self::start_with(&client)).transpose()
    }

    fn start_with(client: &Path) -> io::Result<(Self, OwnedFd)> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(ASKS).arg(client).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.process_group(0).spawn()?;
        let said = child.stdout.take().map(OwnedFd::from).ok_or(io::ErrorKind::BrokenPipe)?;
        Ok((Self { child, owner: std::process::id() }, said))
    }
}

impl Drop for Chrony {
    fn drop(&mut self) {
        if self.owner == std::process::id() {
            // It may have ended by itself, where there is no daemon.
            let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::time::{Duration, Instant};

    #[test]
    fn the_client_ends_with_who_has_started_it() {
        assert!(Chrony::start(OsStr::new("/nowhere")).unwrap().is_none());
        let folder = tempfile::tempdir().unwrap();
        let client = folder.path().join("chronyc");
        fs::write(&client, format!("#!/bin/sh\necho \"$@\"\necho $$ >>{}/asked\n", folder.path().display())).unwrap();
        netloom_testing::programs::make_executable(&client);
        let (chrony, said) = Chrony::start(folder.path().as_os_str()).unwrap().expect("it is there");
        let end = Instant::now() + Duration::from_secs(20);
        while !folder.path().join("asked").exists() {
            assert!(Instant::now() < end, "it was not asked");
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(chrony);
        // Whoever could still write is gone.
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::spawn(move || send.send(io::read_to_string(fs::File::from(said))));
        let told = receive.recv_timeout(Duration::from_secs(20)).expect("it has ended").unwrap();
        assert!(told.starts_with("-c tracking\n"), "{told}");
    }
}
