//! How a node's init starts programs.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{Pid, setsid};

use super::config::NodeConfig;
use super::limits::Limits;
use super::own::Own;
use super::protocol::{Program, Reply};
use crate::error::KernelError;
use crate::shortage;
use crate::users::User;

/// Where tools such as `tcpdump` are, which not every user's PATH contains.
const SYSTEM_FOLDERS: [&str; 2] = ["/usr/sbin", "/sbin"];

/// The PATH of a program whose caller has none: what login(1) gives an ordinary user.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Most descriptors that a program may open unless it asks for more, when the lab process was started without a
/// limit of its own. Programs that use select(2) break beyond.
const USUAL_DESCRIPTORS: rlim_t = 1024;

/// Starts `program` in a session and process group of its own; in a container, with its limits. `group`: the file of the members of its
/// control group, if it has one.
pub(crate) fn start(
    node: &NodeConfig,
    program: &Program,
    streams: Vec<OwnedFd>,
    limits: Option<Limits>,
    group: Option<File>,
) -> Result<Pid, Reply> {
    let attempted = || format!("start {}", program.argv[0].to_string_lossy());
    let Ok([stdin, stdout, stderr]) = <[OwnedFd; 3]>::try_from(streams) else {
        let error = KernelError::new(attempted(), libc::EBADF);
        return Err(Reply::Refused(error.with_detail("a program needs three standard streams")));
    };
    // The slave end of the terminal stays open here until the child has made it its own.
    let terminal = program.tty.then(|| stdin.as_fd().as_raw_fd());
    let path = path_for(program);
    let user = program.user.as_deref().map(user).transpose()?;
    let mut command = command(node, program, user.as_ref());
    command.env("PATH", &path);
    command.stdin(stdin).stdout(Stdio::from(stdout)).stderr(Stdio::from(stderr));
    let own = Own::of(&program.argv).map(|own| (own, program.argv[2..].to_vec()));
    let become_it = move || {
        group.as_ref().map_or(Ok(()), |mut members| members.write_all(b"0"))?;
        become_program(terminal.is_some(), user.as_ref(), limits)?;
        own.as_ref().map_or(Ok(()), |(own, words)| own.become_it(words))
    };
    // SAFETY: this process has one thread, so that all is sound between fork and exec that needs no other one.
    unsafe { command.pre_exec(become_it) };
    match command.spawn() {
        Ok(child) => Ok(Pid::from_raw(child.id().cast_signed())),
        Err(error) => Err(explain(program, &path, &error, attempted())),
    }
}

/// The user of this name, if the node's programs can be that user.
fn user(name: &str) -> Result<User, Reply> {
    let refused = |error: io::Error| Reply::Refused(KernelError::from_io(format!("look up user {name}"), &error));
    let user = User::find(name).map_err(refused)?.ok_or(Reply::NoUser)?;
    match user.unmapped().map_err(refused)? {
        None => Ok(user),
        Some(unmapped) => {
            let error = KernelError::new(format!("become user {name}"), 0);
            Err(Reply::Refused(
                error.with_detail(format!("{unmapped} is not in this lab's user namespace: {NOT_MAPPED}")),
            ))
        }
    }
}

/// What to do about it.
const NOT_MAPPED: &str = "an ordinary user's lab has other users than root only if a command of the lab file has `user`, \
    and newuidmap and newgidmap (package uidmap) are installed";

fn command(node: &NodeConfig, program: &Program, user: Option<&User>) -> Command {
    let mut command = Command::new(&program.argv[0]);
    command.args(&program.argv[1..]);
    if program.clear_env {
        command.env_clear();
    }
    if let Some(user) = user {
        // As login(1) does.
        command.env("HOME", &user.home).env("SHELL", &user.shell).env("USER", &user.name).env("LOGNAME", &user.name);
    }
    command.envs(program.env.iter().map(|(key, value)| (key, value)));
    command.env("NETLOOM_LAB", &node.lab).env("NETLOOM_NODE", &node.name);
    if let Some(folder) = &program.cwd {
        command.current_dir(folder);
    }
    command
}

fn path_for(program: &Program) -> OsString {
    let given = program.env.iter().rfind(|(key, _)| key == "PATH").map(|(_, value)| value.clone());
    let inherited = if program.clear_env { None } else { std::env::var_os("PATH") };
    path(given.or(inherited))
}

/// The caller's PATH with the system's folders behind it.
fn path(given: Option<OsString>) -> OsString {
    let mut path = given.filter(|path| !path.is_empty()).unwrap_or_else(|| USUAL_PATH.into());
    let known: Vec<_> = std::env::split_paths(&path).collect();
    for folder in SYSTEM_FOLDERS {
        if !known.iter().any(|known| known.as_os_str() == OsStr::new(folder)) {
            path.push(":");
            path.push(folder);
        }
    }
    path
}

/// Runs in the child: undoes what netloom has set up for its own processes.
fn become_program(terminal: bool, user: Option<&User>, limits: Option<Limits>) -> io::Result<()> {
    setsid()?;
    if terminal {
        // SAFETY: standard input is the slave end of the terminal; the call takes a plain number.
        if unsafe { libc::ioctl(libc::STDIN_FILENO, libc::TIOCSCTTY, 0) } == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    default_signals()?;
    SigSet::empty().thread_set_mask()?;
    umask(Mode::from_bits_truncate(0o022));
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, USUAL_DESCRIPTORS.min(hard), hard)?;
    limits.map_or(Ok(()), Limits::apply)?;
    user.map_or(Ok(()), User::become_it)
}

/// Resets every signal to its default action, except SIGKILL and SIGSTOP, which have no other.
pub(crate) fn default_signals() -> nix::Result<()> {
    for number in Signal::iterator().filter(|number| !matches!(number, Signal::SIGKILL | Signal::SIGSTOP)) {
        // SAFETY: the default action runs no code of this process.
        unsafe { signal(number, SigHandler::SigDfl) }?;
    }
    Ok(())
}

/// A missing program and a missing folder look alike to the kernel. And a program that is nowhere is "denied" when
/// the PATH has a folder that this user may not search.
fn explain(program: &Program, path: &OsStr, error: &io::Error, attempted: String) -> Reply {
    let folder_is_missing = program.cwd.as_ref().is_some_and(|folder| !folder.is_dir());
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENOTDIR) if folder_is_missing => Reply::NoFolder,
        Some(libc::ENOENT) => Reply::NoProgram,
        Some(libc::EACCES) if !exists(&program.argv[0], path) => Reply::NoProgram,
        _ => Reply::Refused(shortage::of_processes(KernelError::from_io(attempted, error))),
    }
}

fn exists(program: &OsStr, path: &OsStr) -> bool {
    program.as_bytes().contains(&b'/') || std::env::split_paths(path).any(|folder| folder.join(program).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_gains_the_system_folders_once() {
        let cases = [
            (None, "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"),
            (Some(""), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"),
            (Some("/opt/bin:/sbin"), "/opt/bin:/sbin:/usr/sbin"),
        ];
        for (given, expected) in cases {
            assert_eq!(path(given.map(OsString::from)), OsString::from(expected));
        }
    }
}
