//! A capture of a running lab: from the lab through a pipe to the user's file or standard output.

use crate::client::Client;
use crate::protocol::Capture;
use netloom_host::signals::Signals;
use netloom_judge::RunError;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{pipe, read};
use std::io::{self, Write};
use std::os::fd::AsFd;

const BUFFER: usize = 64 * 1_024;

/// Writes what passes the link to `out` until the user interrupts it or the lab ends. All that had passed by then is
/// written. It also ends when the reader closes the output.
///
/// # Errors
/// When there is no such lab or link, or when `out` cannot be written.
pub fn capture(lab: &str, wanted: Capture, out: &mut dyn Write) -> Result<(), RunError> {
    let signals = Signals::hold(&[]).map_err(broken)?;
    let (packets, lab_end) = pipe().map_err(|errno| broken(errno.into()))?;
    let mut client = Some(Client::connect(lab)?);
    if let Some(connected) = &mut client {
        connected.capture(wanted, lab_end.as_fd())?;
    }
    drop(lab_end);
    let mut buffer = vec![0; BUFFER];
    loop {
        let mut polled = [&packets.as_fd(), &signals.as_fd()].map(|fd| PollFd::new(*fd, PollFlags::POLLIN));
        match poll(&mut polled, PollTimeout::NONE) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(broken(errno.into())),
        }
        let [readable, signalled] = polled.map(|fd| fd.any() == Some(true));
        // This tells the lab to stop the capture; it closes the pipe when it has written the rest. A second
        // signal does not wait for that.
        if signalled && signals.next().is_some() && client.take().is_none() {
            return Ok(());
        }
        if !readable {
            continue;
        }
        match read(&packets, &mut buffer) {
            Ok(0) => return Ok(()),
            Ok(length) => match out.write_all(&buffer[..length]).and_then(|()| out.flush()) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                outcome => outcome.map_err(|error| RunError::Results { path: "the capture".into(), source: error })?,
            },
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(broken(errno.into())),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn broken(error: io::Error) -> RunError {
    RunError::Machine(format!("reading packets from the lab: {error}"))
}
