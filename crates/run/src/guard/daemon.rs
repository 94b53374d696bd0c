//! A guard that outlives the command that started it.

use netloom_host::jsonl::Lines;
use netloom_host::{KernelError, shortage};
use netloom_judge::{ExitCode, RunError};
use netloom_provision::Event;
use netloom_provision::progress_writer::ProgressWriter;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, dup2_stderr, dup2_stdin, dup2_stdout, fork, setsid};
use std::fs::File;
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

/// Runs `body` in a process of its own, which belongs to no terminal, and passes on what it tells until the lab is
/// ready. The body's first argument reports hang-up when this process goes away.
pub(super) fn detach(
    sink: &mut dyn FnMut(&Event),
    body: impl FnOnce(OwnedFd, &mut dyn FnMut(&Event)) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let (ours, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
    // SAFETY: this process has one thread, as the callers of this crate promise, so the child may do anything.
    match unsafe { fork() }.map_err(|errno| failed(&errno.into()))? {
        ForkResult::Parent { child } => {
            drop(theirs);
            // The intermediate process exits at once; its exit code says nothing.
            let _ = waitpid(child, None);
            follow(ours, sink)
        }
        ForkResult::Child => {
            drop(ours);
            become_guard(theirs, body);
            std::process::exit(0);
        }
    }
}

/// Why there is no guard, with the limit on processes that was reached, if it is that.
fn failed(error: &io::Error) -> RunError {
    let error = KernelError::from_io("start the guard process", error);
    RunError::Machine(shortage::of_processes(error).to_string())
}

/// In the intermediate process, whose exit code says nothing: the guard is its child.
fn become_guard(stream: UnixStream, body: impl FnOnce(OwnedFd, &mut dyn FnMut(&Event)) -> Result<(), RunError>) {
    let is_guard = leave();
    let watcher = is_guard.and_then(|is_guard| if is_guard { stream.try_clone().map(Some) } else { Ok(None) });
    let Ok(progress_writer) = ProgressWriter::new(stream) else { return };
    match watcher {
        Ok(Some(watcher)) => guard(&progress_writer, watcher.into(), body),
        Ok(None) => {}
        Err(error) => say_failed(&progress_writer, &failed(&error)),
    }
}

/// Leaves the terminal's session, and forks once more so that the guard can never get a terminal again. Whether this is the guard now.
fn leave() -> io::Result<bool> {
    setsid()?;
    // SAFETY: as above, this process has one thread.
    if let ForkResult::Parent { .. } = unsafe { fork() }? {
        return Ok(false);
    }
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(true)
}

fn say_failed(progress_writer: &ProgressWriter, error: &RunError) {
    progress_writer.report_last(&Event::Failed { code: error.exit_code().number(), message: error.to_string() });
}

/// In the guard: tells the command that started it, unless that is gone.
fn guard(
    progress_writer: &ProgressWriter,
    watcher: OwnedFd,
    body: impl FnOnce(OwnedFd, &mut dyn FnMut(&Event)) -> Result<(), RunError>,
) {
    // The command that waits may have been stopped, and must not block the lab.
    let mut report = |event: &Event| match event {
        Event::Ready => {
            progress_writer.report(event);
            let _ = progress_writer.stream().shutdown(Shutdown::Both);
        }
        // Of what is in it, the error alone matters here, which comes as the last words.
        Event::Finished { .. } => {}
        _ => progress_writer.report_if_ready(event),
    };
    if let Err(error) = body(watcher, &mut report) {
        say_failed(progress_writer, &error);
    }
}

/// In the process that the user started: until the lab is ready, or is not going to be.
fn follow(mut stream: UnixStream, sink: &mut dyn FnMut(&Event)) -> Result<(), RunError> {
    let mut lines = Lines::default();
    let mut buffer = [0; 16 * 1024];
    let mut failure = None;
    loop {
        while let Some(line) = lines.pop::<Event>() {
            let event = line
                .map_err(|error| RunError::Died(format!("a message of the guard process cannot be read: {error}")))?;
            sink(&event);
            match event {
                Event::Ready => return Ok(()),
                Event::Failed { code, message } => failure = Some((code, message)),
                _ => {}
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => lines.feed(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(RunError::Died(format!("listening to the guard process: {error}"))),
        }
    }
    let (code, message) =
        failure.unwrap_or_else(|| (ExitCode::Died.number(), "the guard process died before the lab was ready".into()));
    Err(RunError::Reported { code: ExitCode::from_number(code).unwrap_or(ExitCode::Died), message })
}
