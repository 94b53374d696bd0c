//! A capture of a running lab: from the lab through a pipe to the user's file or standard output.

use crate::client::Client;
use crate::error::ControlError;
use crate::protocol::Capture;
use netloom_host::signals::Signals;
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
pub fn capture(lab: &str, wanted: Capture, out: &mut dyn Write) -> Result<(), ControlError> {
    let signals = Signals::hold(&[]).map_err(ControlError::Packets)?;
    let (packets, lab_end) = pipe().map_err(|errno| ControlError::Packets(errno.into()))?;
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
            Err(errno) => return Err(ControlError::Packets(errno.into())),
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
                outcome => outcome.map_err(ControlError::Capture)?,
            },
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(ControlError::Packets(errno.into())),
        }
    }
}
