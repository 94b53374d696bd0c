//! The user's terminal, joined to the serial console of a virtual machine.
//!
//! What the console shows is read from its log, which goes on being written whether anybody reads it or not; what is typed goes to the
//! machine. So any number of terminals can be joined to it, and none of them holds the machine up.

use crate::client::Client;
use crate::error::ControlError;
use netloom_host::terminal::RawMode;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::unistd::{read, write};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What leaves the console: Ctrl-], as in telnet. No program asks for it.
const LEAVE: u8 = 0x1d;

/// How often to look whether the log has grown, in milliseconds: nobody sees a shorter time.
const LOOK: u16 = 50;

/// As much of what was shown before as is shown again, in bytes: a screenful.
const BEFORE: u64 = 2048;

/// Joins this process's terminal to the console of a node of the lab `lab`, until its user leaves or the lab ends.
///
/// # Errors
/// When there is no such lab or node, or it has no console.
pub fn console(lab: &str, node: &str) -> Result<(), ControlError> {
    let mut client = Client::connect(lab)?;
    let (log, input) = client.console(node)?;
    let mut log = File::open(&log).map_err(ControlError::Join)?;
    let length = log.metadata().map_err(ControlError::Join)?.len();
    log.seek(SeekFrom::Start(length.saturating_sub(BEFORE))).map_err(ControlError::Join)?;
    let stdin = io::stdin();
    let raw = RawMode::enter(stdin.as_fd()).map_err(ControlError::Terminal)?;
    let left = join(&client, &mut log, &input, stdin.as_fd());
    drop(raw);
    left
}

/// Until the user leaves, or the lab ends.
fn join(client: &Client, log: &mut File, input: &OwnedFd, stdin: BorrowedFd<'_>) -> Result<(), ControlError> {
    loop {
        show(log).map_err(ControlError::Join)?;
        let mut fds = [PollFd::new(stdin, PollFlags::POLLIN), PollFd::new(client.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, LOOK) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(ControlError::Join(errno.into())),
        }
        // The lab says nothing more but by its end.
        if fds[1].any() == Some(true) {
            return show(log).map_err(ControlError::Join);
        }
        if fds[0].any() == Some(true) && !pass_on(stdin, input).map_err(ControlError::Join)? {
            return Ok(());
        }
    }
}

/// Shows what the log has got.
fn show(log: &mut File) -> io::Result<()> {
    let mut buffer = [0; 16 * 1024];
    let mut stdout = io::stdout().lock();
    loop {
        let length = log.read(&mut buffer)?;
        if length == 0 {
            return stdout.flush();
        }
        stdout.write_all(&buffer[..length])?;
    }
}

/// Passes on what was typed; false if that was to leave, or the terminal has gone.
fn pass_on(stdin: BorrowedFd<'_>, input: &OwnedFd) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    let typed = match read(stdin, &mut buffer) {
        Ok(0) => return Ok(false),
        Ok(length) => &buffer[..length],
        Err(Errno::EINTR | Errno::EAGAIN) => return Ok(true),
        Err(errno) => return Err(errno.into()),
    };
    let (rest, goes_on) = until_left(typed);
    match write(input, rest) {
        // A machine that reads nothing has 64 KiB waiting already: the rest is lost, as with any serial line.
        Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => Ok(goes_on),
        // The machine has gone, and its lab is about to.
        Err(Errno::EPIPE) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// What comes before the key that leaves, and whether that is not there.
fn until_left(typed: &[u8]) -> (&[u8], bool) {
    match typed.iter().position(|byte| *byte == LEAVE) {
        Some(end) => (&typed[..end], false),
        None => (typed, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_before_leaving_is_passed_on() {
        assert_eq!(until_left(b"ls\r"), (&b"ls\r"[..], true));
        assert_eq!(until_left(b"ls\r\x1dmore"), (&b"ls\r"[..], false));
        let (from, to) = nix::unistd::pipe().unwrap();
        let (typed, types) = nix::unistd::pipe().unwrap();
        write(&types, b"halt\r\x1d").unwrap();
        assert!(!pass_on(typed.as_fd(), &to).unwrap());
        let mut passed = [0; 16];
        assert_eq!(read(&from, &mut passed), Ok(5));
        drop(types);
        assert!(!pass_on(typed.as_fd(), &to).unwrap(), "the terminal has gone");
    }
}
