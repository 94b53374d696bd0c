//! The standard streams of a program: one end for the program, the other for the agent.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::pipe2;

use super::input::Input;
use super::message::Stream;
use super::output::Output;
use crate::error::{Attempted, KernelError};
use crate::node::protocol::Standard;
use crate::terminal::{Pty, WindowSize, open_pty, set_window_size};

/// Both ends.
pub(super) struct Made {
    pub(super) theirs: [OwnedFd; 3],
    pub(super) input: Option<Input>,
    pub(super) outputs: Vec<(Stream, Output)>,
}

/// A terminal of the guest's own.
pub(super) fn terminal(window: Option<(u16, u16)>) -> Result<Made, KernelError> {
    let Pty { master, slave } = open_pty()?;
    if let Some(window) = window {
        set_window_size(&slave, size(window))?;
    }
    unblock(&master)?;
    let input = Input::new(copy(&master)?, true);
    Ok(Made {
        theirs: [copy(&slave)?, copy(&slave)?, slave],
        input: Some(input),
        outputs: vec![(Stream::Output, Output::new(master, true))],
    })
}

/// Pipes where streams are joined to the lab.
pub(super) fn pipes([stdin, stdout, stderr]: [Standard; 3]) -> Result<Made, KernelError> {
    let mut outputs = Vec::new();
    let (input, their_input) = match stdin {
        Standard::Null | Standard::Same => (None, null()?),
        Standard::Joined => {
            let (reader, writer) = pipe()?;
            unblock(&writer)?;
            (Some(Input::new(writer, false)), reader)
        }
    };
    let mut output = |kind: Standard, stream: Stream| match kind {
        Standard::Null | Standard::Same => null(),
        Standard::Joined => {
            let (reader, writer) = pipe()?;
            unblock(&reader)?;
            outputs.push((stream, Output::new(reader, false)));
            Ok(writer)
        }
    };
    let their_output = output(stdout, Stream::Output)?;
    let their_error = if stderr == Standard::Same { copy(&their_output)? } else { output(stderr, Stream::Error)? };
    Ok(Made { theirs: [their_input, their_output, their_error], input, outputs })
}

/// From rows and columns.
pub(super) fn size((rows, columns): (u16, u16)) -> WindowSize {
    WindowSize { rows, columns }
}

fn pipe() -> Result<(OwnedFd, OwnedFd), KernelError> {
    pipe2(OFlag::O_CLOEXEC).attempted(|| "make a pipe")
}

fn null() -> Result<OwnedFd, KernelError> {
    let file = File::options().read(true).write(true).open("/dev/null").attempted(|| "open /dev/null")?;
    Ok(file.into())
}

fn copy(fd: &OwnedFd) -> Result<OwnedFd, KernelError> {
    fd.try_clone().attempted(|| "copy a descriptor")
}

/// The program's own end keeps waiting as programs expect: the two ends of pipes and terminals differ in this.
fn unblock(fd: &OwnedFd) -> Result<(), KernelError> {
    let attempted = || format!("keep descriptor {} from waiting", fd.as_raw_fd());
    fcntl(fd.as_fd(), FcntlArg::F_SETFL(OFlag::O_RDWR | OFlag::O_NONBLOCK)).attempted(attempted).map(drop)
}
