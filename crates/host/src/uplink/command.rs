//! The command behind a link: a child of this process with the user's terminal, folder and identity, in another network.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use crate::capabilities::give_up_all;
use crate::kernel_views::protect_machine_from_command;
use crate::users::is_of_the_machine;
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl;
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::unistd::geteuid;
use rustix::io::Errno;
use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

/// CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN of linux/capability.h: over the namespaces that belong to this user alone, so that
/// links can begin there, too.
const KEPT: [u32; 3] = [12, 13, 21];

/// A command that was started.
#[derive(Debug)]
pub struct Started {
    child: Child,
    pidfd: OwnedFd,
}

impl Started {
    /// How it ended, if it has.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Passes a signal on to it. Nothing happens if it has ended.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let Some(signal) = rustix::process::Signal::from_named_raw(signal as i32) else { return Ok(()) };
        match pidfd_send_signal(&self.pidfd, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for Started {
    /// Readable when it has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

/// Starts `argv` in the network namespace `inside` with `env` beside this process's own environment.
pub(super) fn start(inside: BorrowedFd<'_>, argv: &[OsString], env: &[(String, String)]) -> io::Result<Started> {
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).envs(env.iter().map(|(key, value)| (key, value)));
    let (inside, ordinary) = (inside.as_raw_fd(), !geteuid().is_root());
    // Elsewhere the kernel itself refuses to write to what is the machine's.
    let is_of_the_machine = is_of_the_machine().map_err(io::Error::other)?;
    // SAFETY: between fork and exec the closure only makes system calls on plain numbers, constants and the stack.
    unsafe {
        command.pre_exec(move || {
            // SAFETY: the descriptor stays open in the parent for as long as the command is started.
            setns(BorrowedFd::borrow_raw(inside), CloneFlags::CLONE_NEWNET)?;
            if is_of_the_machine {
                protect_machine_from_command()?;
            }
            // The link's own process holds some back.
            SigSet::empty().thread_set_mask()?;
            for ignored in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGXFSZ] {
                signal(ignored, SigHandler::SigDfl)?;
            }
            // If the link is killed, it is as if the terminal had gone.
            prctl::set_pdeathsig(Signal::SIGHUP)?;
            if ordinary { keep_capabilities() } else { give_up_all() }
        });
    }
    let child = command.spawn()?;
    let pid = rustix::process::Pid::from_child(&child);
    Ok(Started { pidfd: pidfd_open(pid, PidfdFlags::empty())?, child })
}

/// Lets the program that this process becomes keep what it may do in its own namespaces, though it is not root.
pub(super) fn keep_capabilities() -> io::Result<()> {
    // linux/capability.h: version 3 has two words of each set.
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    struct Data {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = Header { version: VERSION_3, pid: 0 };
    let mut data = [Data::default(); 2];
    // SAFETY: both structures are those of version 3, and live through the call.
    if unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) } == -1 {
        return Err(io::Error::last_os_error());
    }
    for capability in KEPT {
        data[0].inheritable |= data[0].permitted & 1 << capability;
    }
    // SAFETY: as above.
    if unsafe { libc::syscall(libc::SYS_capset, &raw mut header, data.as_ptr()) } == -1 {
        return Err(io::Error::last_os_error());
    }
    for capability in KEPT.into_iter().filter(|capability| data[0].inheritable & 1 << capability != 0) {
        // SAFETY: this call takes plain numbers.
        let raised = unsafe {
            libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, libc::c_ulong::from(capability), 0, 0)
        };
        if raised == -1 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
