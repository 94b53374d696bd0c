//! Requests of ethtool(8) to network devices.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;

use crate::error::{Attempted, KernelError};

/// Any socket does.
pub(crate) fn socket() -> Result<UnixDatagram, KernelError> {
    UnixDatagram::unbound().attempted(|| "open a socket for ethtool requests")
}

/// One request of ethtool(8); the answer is in its place afterwards.
pub(crate) fn ask(socket: &UnixDatagram, interface: &str, request: &mut [u32]) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid `ifreq`: an empty name and a null pointer.
    let mut packed: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte of the name stays zero.
    for (place, byte) in packed.ifr_name.iter_mut().zip(interface.bytes()).take(libc::IFNAMSIZ - 1) {
        *place = libc::c_char::from_ne_bytes([byte]);
    }
    packed.ifr_ifru.ifru_data = request.as_mut_ptr().cast();
    // SAFETY: `ifru_data` points to a request that lives through the call, with room for the answer that its own fields
    // announce.
    let answer = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut packed) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

// linux/ethtool.h
const SET_SETTINGS: u32 = 2;
const FULL_DUPLEX: u8 = 1;
const PORT_OTHER: u8 = 0xff;

/// What the interfaces of veth pairs say of themselves, in Mbit/s (`veth_get_link_ksettings` of drivers/net/veth.c).
const SPEED: u16 = 10_000;

/// Has the device of a virtual network card say that it has the speed of a veth pair, full duplex: those who ask, as bonds with
/// LACP do, find the same on all stacks. The speed of the link is the pipe's business. Devices that cannot say it do not.
pub(crate) fn announce_speed(interface: &str) -> Result<(), KernelError> {
    match ask(&socket()?, interface, &mut settings()) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EINVAL)) => Ok(()),
        other => other.attempted(|| format!("say which speed interface {interface} has")),
    }
}

/// `struct ethtool_cmd`: 44 bytes, of which virtual network cards take the speed, the duplex and an unknown port.
fn settings() -> [u32; 11] {
    let [low, high] = SPEED.to_ne_bytes();
    let mut request = [0; 11];
    request[0] = SET_SETTINGS;
    request[3] = u32::from_ne_bytes([low, high, FULL_DUPLEX, PORT_OTHER]);
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_knows_no_speed_says_none() {
        // The loopback interface.
        assert_eq!(announce_speed("lo"), Ok(()));
        assert!(announce_speed("none").unwrap_err().to_string().starts_with("say which speed interface none has"));
    }
}
