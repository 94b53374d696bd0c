//! A program in a node, attached to the user's terminal or to whatever the user's command was given.

use super::client::Client;
use super::protocol::Exec;
use crate::RunError;
use crate::signals::Signals;
use netloom_host::KernelError;
use netloom_host::terminal::{Pty, RawMode, open_pty, set_window_size, window_size};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::{read, write};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What a program's standard input, output and error are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdio {
    /// Those of this process.
    Passed,
    /// A terminal of its own, joined to the one of this process.
    Terminal,
}

/// Runs a program in a node of the lab `lab` until it ends; its exit code as a shell would give it.
///
/// # Errors
/// When there is no such lab, node or program, or the lab goes away.
pub fn attach(lab: &str, exec: Exec, stdio: Stdio) -> Result<i32, RunError> {
    let client = Client::connect(lab)?;
    match stdio {
        Stdio::Passed => passed(client, exec),
        Stdio::Terminal => on_terminal(client, exec),
    }
}

fn passed(mut client: Client, exec: Exec) -> Result<i32, RunError> {
    let signals = Signals::hold(&[Signal::SIGQUIT]).map_err(broken)?;
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    client.exec(exec, [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()])?;
    let mut answered = false;
    loop {
        if let Some(code) = client.exit_code(answered)? {
            return Ok(code);
        }
        let signalled;
        [answered, signalled] = readable([client.as_fd(), signals.as_fd()])?;
        if signalled && let Some(signal) = signals.next() {
            client.signal(signal as i32)?;
        }
    }
}

fn on_terminal(mut client: Client, exec: Exec) -> Result<i32, RunError> {
    let signals = Signals::hold(&[Signal::SIGWINCH]).map_err(broken)?;
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let Pty { master, slave } = open_pty().map_err(refused)?;
    copy_window_size(stdin.as_fd(), &master)?;
    client.exec(exec, [slave.as_fd(); 3])?;
    drop(slave);
    let raw = RawMode::enter(stdin.as_fd()).map_err(refused)?;
    let code = relay(&mut client, &signals, &master, stdin.as_fd(), stdout.as_fd());
    drain(&master, stdout.as_fd());
    drop(raw);
    code
}

fn relay(
    client: &mut Client,
    signals: &Signals,
    master: &OwnedFd,
    stdin: BorrowedFd<'_>,
    stdout: BorrowedFd<'_>,
) -> Result<i32, RunError> {
    let mut input_open = true;
    let mut output_open = true;
    let mut answered = false;
    loop {
        if let Some(code) = client.exit_code(answered)? {
            return Ok(code);
        }
        // A source that is at its end would always be ready; the client stands in for it.
        let input = if input_open { stdin } else { client.as_fd() };
        let output = if output_open { master.as_fd() } else { client.as_fd() };
        let [signalled, typed, shown];
        [answered, signalled, typed, shown] = readable([client.as_fd(), signals.as_fd(), input, output])?;
        if signalled {
            match signals.next() {
                Some(Signal::SIGWINCH) => copy_window_size(stdin, master)?,
                Some(signal) => client.signal(signal as i32)?,
                None => {}
            }
        }
        if typed && input_open {
            input_open = copy(stdin, master.as_fd());
        }
        if shown && output_open {
            output_open = copy(master.as_fd(), stdout);
        }
    }
}

fn copy_window_size(from: BorrowedFd<'_>, to: &OwnedFd) -> Result<(), RunError> {
    window_size(from).map_or(Ok(()), |size| set_window_size(to, size)).map_err(refused)
}

/// What the program wrote just before it ended.
fn drain(master: &OwnedFd, stdout: BorrowedFd<'_>) {
    while readable_now(master.as_fd()) && copy(master.as_fd(), stdout) {}
}

fn readable_now(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

/// Copies what is there; false at the end. The end of a terminal whose program has gone is an error of the kernel's.
fn copy(from: BorrowedFd<'_>, to: BorrowedFd<'_>) -> bool {
    let mut buffer = [0; 4096];
    match read(from, &mut buffer) {
        Ok(0) => false,
        Ok(length) => write_all(to, &buffer[..length]),
        Err(errno) => errno == Errno::EINTR || errno == Errno::EAGAIN,
    }
}

fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        match write(to, bytes) {
            Ok(length) => bytes = &bytes[length..],
            Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
    true
}

/// Waits until one of these can be read, and says which.
fn readable<const N: usize>(fds: [BorrowedFd<'_>; N]) -> Result<[bool; N], RunError> {
    let mut polled = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    match poll(&mut polled, PollTimeout::NONE) {
        Ok(_) => Ok(polled.map(|fd| fd.any() == Some(true))),
        Err(Errno::EINTR) => Ok([false; N]),
        Err(errno) => Err(broken(errno.into())),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn broken(error: io::Error) -> RunError {
    RunError::Machine(format!("joining the terminal to the node: {error}"))
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn refused(error: KernelError) -> RunError {
    RunError::Machine(error.to_string())
}
