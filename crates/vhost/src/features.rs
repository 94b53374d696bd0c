//! What the device can do.

use netloom_packet::Segmentation;

const fn bit(number: u32) -> u64 {
    1 << number
}

// Virtual I/O Device (VIRTIO) Version 1.2, section 5.1.3; the segmentation of UDP is of version 1.3.
const CSUM: u64 = bit(0);
const GUEST_CSUM: u64 = bit(1);
const GUEST_TSO4: u64 = bit(7);
const GUEST_TSO6: u64 = bit(8);
const GUEST_ECN: u64 = bit(9);
const HOST_TSO4: u64 = bit(11);
const HOST_TSO6: u64 = bit(12);
const HOST_ECN: u64 = bit(13);
const MRG_RXBUF: u64 = bit(15);
const STATUS: u64 = bit(16);
const GUEST_USO4: u64 = bit(54);
const GUEST_USO6: u64 = bit(55);
const HOST_USO: u64 = bit(56);
// Section 6.
const INDIRECT_DESC: u64 = bit(28);
const VERSION_1: u64 = bit(32);
// The vhost-user protocol's own.
const PROTOCOL_FEATURES: u64 = bit(30);

/// Returns what is offered to a guest. `has_status`: whether it is told whether its link has a carrier.
pub(crate) fn offered(has_status: bool) -> u64 {
    if has_status { OFFERED | STATUS } else { OFFERED }
}

/// Returns the features of the protocol that are offered.
pub(crate) fn protocol_offered(has_status: bool) -> u64 {
    if has_status { PROTOCOL_OFFERED | PROTOCOL_CONFIG } else { PROTOCOL_OFFERED }
}

/// What every guest is offered. Not offered on purpose: EVENT_IDX, as one flag per direction does what we need.
const OFFERED: u64 = VERSION_1
    | MRG_RXBUF
    | CSUM
    | GUEST_CSUM
    | HOST_TSO4
    | HOST_TSO6
    | HOST_ECN
    | HOST_USO
    | GUEST_TSO4
    | GUEST_TSO6
    | GUEST_ECN
    | GUEST_USO4
    | GUEST_USO6
    | INDIRECT_DESC
    | PROTOCOL_FEATURES;

/// The features of the protocol: answers to messages that ask for one, and a back channel, on which this device says
/// nothing but that its configuration has changed. User-Mode Linux 6.1 finds an interrupt for its queues only if it has one.
const PROTOCOL_OFFERED: u64 = PROTOCOL_REPLY_ACK | PROTOCOL_BACK_CHANNEL;
const PROTOCOL_BACK_CHANNEL: u64 = bit(5);
pub(crate) const PROTOCOL_REPLY_ACK: u64 = bit(3);
/// The guest asks the device for its configuration.
pub(crate) const PROTOCOL_CONFIG: u64 = bit(9);

/// Without these there is one fixed form of frame less to support, and no guest of today lacks them.
const NEEDED: [(u64, &str); 3] = [(VERSION_1, "VERSION_1"), (MRG_RXBUF, "MRG_RXBUF"), (GUEST_CSUM, "GUEST_CSUM")];

/// What both sides have agreed on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features(u64);

impl Features {
    /// Takes the guest's choice of what was offered, if it is one that we can work with.
    pub(crate) fn choose(chosen: u64, offered: u64) -> Result<Self, String> {
        if chosen & !offered != 0 {
            return Err(format!("it accepts features that were not offered: {:#x}", chosen & !offered));
        }
        let missing = NEEDED.iter().find(|(feature, _)| chosen & feature == 0);
        // A front-end that resets the device clears all of them first.
        match missing {
            Some((_, name)) if chosen & !PROTOCOL_FEATURES != 0 => {
                Err(format!("it does not accept the feature {name}, which this device needs"))
            }
            _ => Ok(Self(chosen)),
        }
    }

    /// Whether queues wait to be enabled by a message of their own.
    pub(crate) fn protocol(self) -> bool {
        self.0 & PROTOCOL_FEATURES != 0
    }

    /// Whether the guest takes trains of this kind whole.
    pub(crate) fn takes(self, segmentation: Segmentation, ecn: bool) -> bool {
        let needed = match segmentation {
            Segmentation::None => return true,
            Segmentation::Tcp4 => GUEST_TSO4,
            Segmentation::Tcp6 => GUEST_TSO6,
            Segmentation::Udp => GUEST_USO4 | GUEST_USO6,
            Segmentation::Other(_) => return false,
        };
        let ecn = if ecn { GUEST_ECN } else { 0 };
        self.0 & (needed | ecn) == needed | ecn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_must_be_complete_and_offered() {
        let choose = |chosen| Features::choose(chosen, OFFERED);
        assert!(choose(OFFERED).is_ok());
        assert!(choose(0).is_ok());
        assert!(choose(OFFERED | bit(29)).expect_err("EVENT_IDX is not offered").contains("0x20000000"));
        assert!(choose(OFFERED | STATUS).expect_err("not offered to all").contains("0x10000"));
        assert!(Features::choose(OFFERED | STATUS, offered(true)).is_ok());
        assert!(choose(OFFERED & !MRG_RXBUF).expect_err("needed").contains("MRG_RXBUF"));
    }

    #[test]
    fn trains_are_taken_as_agreed() {
        let old = Features::choose(OFFERED & !(GUEST_USO4 | GUEST_ECN), OFFERED).expect("a choice");
        assert!(old.takes(Segmentation::Tcp4, false) && !old.takes(Segmentation::Tcp4, true));
        assert!(!old.takes(Segmentation::Udp, false) && old.takes(Segmentation::None, false));
    }
}
