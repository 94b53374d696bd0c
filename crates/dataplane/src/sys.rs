//! The few system calls that every part needs, with errors that say what was attempted.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The last system call's error, if its result says that there was one.
pub(crate) fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Opens a raw packet socket; `protocol` in host byte order, 0 receives nothing.
pub(crate) fn packet_socket(protocol: libc::c_int) -> io::Result<OwnedFd> {
    let network_order = i32::from(u16::try_from(protocol).expect("an EtherType has 16 bits").to_be());
    // SAFETY: socket() takes no pointers.
    let fd = check(unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, network_order) })?;
    // SAFETY: the descriptor was just opened, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sets a socket option to a plain value.
pub(crate) fn set_option<T: Copy>(fd: &impl AsRawFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let len = libc::socklen_t::try_from(size_of::<T>()).expect("options are small");
    // SAFETY: the pointer and the length describe `value`, which lives through the call.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), len) })?;
    Ok(())
}

/// Sets a buffer size beyond the system's maximum where the privileges allow it, else up to the maximum.
pub(crate) fn set_buffer(fd: &impl AsRawFd, forced: i32, plain: i32, bytes: i32) -> io::Result<()> {
    set_option(fd, libc::SOL_SOCKET, forced, &bytes).or_else(|_| set_option(fd, libc::SOL_SOCKET, plain, &bytes))
}
