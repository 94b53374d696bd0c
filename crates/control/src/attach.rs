//! A program in a node, attached to the user's terminal or to whatever the user's command was given.

use crate::client::Client;
use crate::error::ControlError;
use crate::protocol::Exec;
use crate::terminal::Relay;
use netloom_host::signals::Signals;
use netloom_host::terminal::{Pty, RawMode, open_pty};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// The standard input, output and error of a program in a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdio {
    /// The standard input, output and error of this process.
    Passed,
    /// A terminal of its own, joined to the one of this process.
    Terminal,
}

/// Runs a program in a node of the lab `lab` until it ends, and returns its exit code as a shell would give it.
///
/// # Errors
/// When there is no such lab, node or program, or the lab goes away.
pub fn attach(lab: &str, exec: Exec, stdio: Stdio) -> Result<i32, ControlError> {
    let client = Client::connect(lab)?;
    match stdio {
        Stdio::Passed => passed(lab, client, exec),
        Stdio::Terminal => on_terminal(client, exec),
    }
}

fn passed(lab: &str, mut client: Client, exec: Exec) -> Result<i32, ControlError> {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    // Until it has started, which takes lab time, a signal ends this process, and with it the program.
    client.exec(exec, [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()])?;
    let signals = Signals::hold(&[Signal::SIGQUIT]).map_err(ControlError::Join)?;
    let mut answered = false;
    loop {
        if let Some(code) = client.exit_code(answered)? {
            return Ok(code);
        }
        let signalled;
        [answered, signalled] = readable([client.as_fd(), signals.as_fd()])?;
        if signalled && let Some(signal) = signals.next() {
            client.signal(signal as i32)?;
            // A program whose time stands still cannot end. It is killed because this connection closes.
            if Client::connect(lab)?.info()?.paused {
                return Ok(128 + signal as i32);
            }
        }
    }
}

fn on_terminal(mut client: Client, exec: Exec) -> Result<i32, ControlError> {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let Pty { master, slave } = open_pty().map_err(ControlError::Terminal)?;
    fcntl(&master, FcntlArg::F_SETFL(OFlag::O_RDWR | OFlag::O_NONBLOCK))
        .map_err(|errno| ControlError::Join(errno.into()))?;
    let mut relay = Relay::new(&master, stdin.as_fd(), stdout.as_fd());
    relay.copy_window_size()?;
    client.exec(exec, [slave.as_fd(); 3])?;
    drop(slave);
    let signals = Signals::hold(&[Signal::SIGWINCH]).map_err(ControlError::Join)?;
    let raw = RawMode::enter(stdin.as_fd()).map_err(ControlError::Terminal)?;
    let code = relay.until_exit(&mut client, &signals);
    relay.drain();
    drop(raw);
    code
}

/// Waits until one of these can be read, and says which.
fn readable<const N: usize>(fds: [BorrowedFd<'_>; N]) -> Result<[bool; N], ControlError> {
    let mut polled = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    match poll(&mut polled, PollTimeout::NONE) {
        Ok(_) => Ok(polled.map(|fd| fd.any() == Some(true))),
        Err(Errno::EINTR) => Ok([false; N]),
        Err(errno) => Err(ControlError::Join(errno.into())),
    }
}
