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
const SPEED: u32 = 10_000;

/// Has the device of a virtual network card say that it has this speed in Mbit/s, or that of a veth pair, full duplex, to those who ask, as
/// bonds with LACP, bridges with a spanning tree and routing daemons do. Devices that cannot say it do not.
pub(crate) fn announce_speed(interface: &str, speed_mbit: Option<u32>) -> Result<(), KernelError> {
    match ask(&socket()?, interface, &mut settings(speed_mbit.unwrap_or(SPEED))) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EINVAL)) => Ok(()),
        other => other.attempted(|| format!("say which speed interface {interface} has")),
    }
}

/// `struct ethtool_cmd`: 44 bytes, of which virtual network cards take the speed in two halves, the duplex and an unknown port.
fn settings(speed_mbit: u32) -> [u32; 11] {
    let half = |shift: u32| u16::try_from(speed_mbit >> shift & 0xffff).expect("16 bits").to_ne_bytes();
    let ([low, high], [upper_low, upper_high]) = (half(0), half(16));
    let mut request = [0; 11];
    request[0] = SET_SETTINGS;
    request[3] = u32::from_ne_bytes([low, high, FULL_DUPLEX, PORT_OTHER]);
    request[7] = u32::from_ne_bytes([upper_low, upper_high, 0, 0]);
    request
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_has_two_halves() {
        let halves = |speed_mbit| {
            let request = settings(speed_mbit);
            let lower_half = |word: u32| {
                let [low, high, ..] = word.to_ne_bytes();
                u16::from_ne_bytes([low, high])
            };
            (lower_half(request[3]), lower_half(request[7]))
        };
        // 1 and 400 Gbit/s.
        assert_eq!((halves(1_000), halves(400_000)), ((1_000, 0), (6_784, 6)));
    }

    #[test]
    fn a_device_that_knows_no_speed_says_none() {
        // The loopback interface.
        assert_eq!(announce_speed("lo", None), Ok(()));
        assert!(
            announce_speed("none", Some(100))
                .unwrap_err()
                .to_string()
                .starts_with("say which speed interface none has")
        );
    }
}
