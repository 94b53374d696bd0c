//! A small lab of its own, in namespaces of its own, through which packets are pushed for two seconds.
//!
//! This is the side of the process that the user started. It only listens. If it is killed, the lab notices and ends; if
//! the user interrupts it, or the lab takes too long, it ends the lab. Either way the kernel removes what was made.

mod lab;
mod memory;

use netloom_host::facts::Facts;
use netloom_host::jsonl::Lines;
use netloom_host::lab::{LabError, LabOptions, LabProcess, LabSide, Namespaces, spawn_lab};
use netloom_host::signals::Signals;
use netloom_judge::examination::Forwarding;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// A lab that has not reported its figures by then never will. It takes three seconds on a machine that has nothing else to do.
const LONGEST: Duration = Duration::from_secs(30);
/// How often signals and the time are looked at.
const GLANCE_MS: u16 = 100;

/// What the lab process tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Told {
    /// What is being done now.
    Step { text: String },
    /// What it carried, and what came of booting a kernel in it. The last line.
    Carried { forwarding: Forwarding, booted: Booted },
    /// The outcome of booting a kernel in a lab without namespaces. The last line.
    Bare { booted: Result<f64, String> },
    /// Why it carries nothing. The last line.
    Failed { message: String, errno: Option<i32> },
}

/// What came of booting a kernel: how long it took, in milliseconds, or what failed. None if there is no kernel, or no lab.
pub(super) type Booted = Option<Result<f64, String>>;

/// The user asked for the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interrupted;

/// How it went.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// Packets went through.
    Carried(Forwarding, Booted),
    /// There is no lab on this machine.
    Refused {
        /// What was attempted, and the kernel's answer.
        what: String,
        /// What to change, if that is known.
        advice: Option<String>,
        /// The outcome of booting a kernel without namespaces.
        bare: Booted,
    },
}

/// Makes the lab and listens to its end. The calling process must have one thread only. `processors`: those that this
/// process may use. `kernel`: what its kernel nodes would boot.
pub(super) fn run(
    processors: &[usize],
    kernel: Option<&Path>,
    signals: &Signals,
    sink: &mut dyn FnMut(&str),
) -> Result<Outcome, Interrupted> {
    // The lab has memory of its own there, which goes with it.
    let folder = std::env::temp_dir().join(format!("netloom-doctor-{}", std::process::id()));
    let is_made = kernel.is_some() && std::fs::create_dir(&folder).is_ok();
    let memory = is_made.then(|| folder.clone());
    let options = LabOptions {
        name: "doctor".to_owned(),
        hosts_file: None,
        resolver_file: None,
        memory,
        users: None,
        namespaces: Namespaces::Needed,
    };
    let ends = [processors.first().copied(), processors.last().copied()];
    let kernel = kernel.filter(|_| is_made).map(|program| Kernel { program, folder: &folder });
    let outcome = match spawn_lab(&options, |side: LabSide| lab::main(side.channel, ends, kernel.as_ref())) {
        Ok((process, channel)) => listen(process, channel, signals, sink),
        Err(LabError::Refused { error, advice }) => {
            let bare = kernel.as_ref().map(|kernel| without_namespaces(kernel, options, signals, sink)).transpose()?;
            Ok(Outcome::Refused { what: error.to_string(), advice, bare: bare.flatten() })
        }
        Err(error) => Ok(failed(&error.to_string())),
    };
    if is_made {
        // An empty folder; if somebody has put something into it, it stays.
        let _ = std::fs::remove_dir(&folder);
    }
    outcome
}

/// Boots a kernel in a lab without namespaces, which kernel nodes need none of.
fn without_namespaces(
    kernel: &Kernel<'_>,
    options: LabOptions,
    signals: &Signals,
    sink: &mut dyn FnMut(&str),
) -> Result<Booted, Interrupted> {
    let folder = kernel.folder.join("bare");
    if let Err(error) = std::fs::create_dir(&folder) {
        return Ok(Some(Err(format!("make {}: {error}", folder.display()))));
    }
    let inside = Kernel { folder: &folder, ..*kernel };
    let options = LabOptions { namespaces: Namespaces::Unwanted, memory: None, ..options };
    let outcome = match spawn_lab(&options, |side: LabSide| lab::main_bare(&side.channel, &inside)) {
        Ok((process, channel)) => listen(process, channel, signals, sink),
        Err(error) => Ok(failed(&error.to_string())),
    };
    // It is this process's own, and was empty.
    let _ = std::fs::remove_dir_all(&folder);
    Ok(match outcome? {
        Outcome::Refused { bare: Some(booted), .. } => Some(booted),
        Outcome::Refused { what, .. } => Some(Err(what)),
        Outcome::Carried(..) => None,
    })
}

/// A kernel that is to be booted.
#[derive(Clone, Copy)]
struct Kernel<'a> {
    program: &'a Path,
    /// An empty folder in memory.
    folder: &'a Path,
}

fn listen(
    mut process: LabProcess,
    mut channel: UnixStream,
    signals: &Signals,
    sink: &mut dyn FnMut(&str),
) -> Result<Outcome, Interrupted> {
    let begun = Instant::now();
    let mut lines = Lines::default();
    let mut outcome = Ok(failed("the lab ended without a message"));
    'lab: loop {
        if signals.next().is_some() {
            outcome = Err(Interrupted);
            break;
        }
        if begun.elapsed() > LONGEST {
            outcome = Ok(failed("the lab took too long: this machine is busy with other things"));
            break;
        }
        match receive(&mut channel, &mut lines) {
            Received::Nothing => {}
            Received::End => break,
            Received::Bytes => {
                while let Some(told) = lines.pop::<Told>() {
                    let Ok(told) = told else {
                        outcome = Ok(failed("a message of the lab cannot be read"));
                        break 'lab;
                    };
                    match told {
                        Told::Step { text } => sink(&text),
                        Told::Carried { forwarding, booted } => {
                            outcome = Ok(Outcome::Carried(forwarding, booted));
                            break 'lab;
                        }
                        Told::Bare { booted } => {
                            outcome = Ok(Outcome::Refused { what: String::new(), advice: None, bare: Some(booted) });
                            break 'lab;
                        }
                        Told::Failed { message, errno } => {
                            let advice = errno.and_then(|errno| Facts::gather().advice(errno));
                            outcome = Ok(Outcome::Refused { what: message, advice, bare: None });
                            break 'lab;
                        }
                    }
                }
            }
        }
    }
    // Its work is done, and whatever it still has to remove the kernel removes faster. It cannot refuse to be killed, and
    // it is this process's child, so that waiting for it cannot fail either.
    let _ = process.kill();
    let _ = process.wait();
    outcome
}

fn failed(what: &str) -> Outcome {
    Outcome::Refused { what: what.to_owned(), advice: None, bare: None }
}

enum Received {
    Nothing,
    Bytes,
    End,
}

/// Waits for a moment for what the lab says.
fn receive(channel: &mut UnixStream, lines: &mut Lines) -> Received {
    let mut fds = [PollFd::new(channel.as_fd(), PollFlags::POLLIN)];
    match poll(&mut fds, PollTimeout::from(GLANCE_MS)) {
        Ok(0) | Err(nix::errno::Errno::EINTR) => return Received::Nothing,
        Ok(_) => {}
        Err(_) => return Received::End,
    }
    let mut buffer = [0; 4_096];
    match channel.read(&mut buffer) {
        Ok(0) | Err(_) => Received::End,
        Ok(length) => {
            lines.feed(&buffer[..length]);
            Received::Bytes
        }
    }
}
