//! What every part needs of the system.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The last system call's error, if its result says that there was one.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Takes a descriptor that a system call has just returned.
///
/// # Safety
/// Nobody else owns it.
pub(crate) unsafe fn own(fd: RawFd) -> OwnedFd {
    // SAFETY: the caller says so.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Makes calls on a descriptor return instead of wait.
pub(crate) fn never_wait(fd: &impl AsRawFd) -> io::Result<()> {
    // SAFETY: fcntl() with these commands takes no pointers.
    unsafe {
        let flags = check(libc::fcntl(fd.as_raw_fd(), libc::F_GETFL))?;
        check(libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK))?;
    }
    Ok(())
}

/// What a descriptor refers to.
pub(crate) fn status(fd: &impl AsRawFd) -> io::Result<libc::stat> {
    // SAFETY: a status is plain numbers, for which zero is a value.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `status` is writable and lives through the call.
    check(unsafe { libc::fstat(fd.as_raw_fd(), &raw mut status) })?;
    Ok(status)
}
