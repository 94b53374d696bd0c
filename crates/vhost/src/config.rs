//! What a device says of itself: its configuration, and that this has changed.

use crate::error::PortError;
use crate::message::config_changed;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::os::fd::OwnedFd;

/// Bytes of a configuration, at least those of `struct virtio_net_config` (VIRTIO 1.2, section 5.1.4).
const SIZE: usize = 64;
/// Where the status is, in two bytes, and its bit for a link with a carrier. All else is for features that are not offered.
const STATUS: usize = 6;
const LINK_UP: u8 = 1;

/// A part of the configuration of a device whose link has a carrier, or none.
pub(crate) fn part(offset: u32, size: u32, has_carrier: bool) -> Result<Vec<u8>, PortError> {
    let mut config = [0; SIZE];
    config[STATUS] = if has_carrier { LINK_UP } else { 0 };
    let range = offset as usize..offset as usize + size as usize;
    let part = config.get(range).map(<[u8]>::to_vec);
    part.ok_or_else(|| PortError::Message(format!("it asks for {size} bytes of the configuration from {offset} on")))
}

/// Tells the guest on its back channel that the configuration has changed, and never waits.
pub(crate) fn announce(back_channel: &OwnedFd) -> Result<(), PortError> {
    let message = config_changed();
    match send(back_channel, &message, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(sent) if sent == message.len() => Ok(()),
        // That the guest has gone is told by its socket.
        Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
        Ok(_) | Err(Errno::AGAIN) => Err(PortError::Message("it does not read what its device says".into())),
        Err(errno) => Err(PortError::system("speaking on the back channel of a kernel")(errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_says_whether_there_is_a_carrier() {
        assert_eq!(part(6, 2, true).expect("there is that part"), [1, 0]);
        assert_eq!(part(0, 8, false).expect("there is that part"), [0; 8]);
        assert!(part(60, 5, true).is_err() && part(u32::MAX, u32::MAX, true).is_err());
    }
}
