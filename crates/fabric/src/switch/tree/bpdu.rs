//! What bridges tell one another: BPDUs, as IEEE 802.1D-2004, section 9.3, lays them out, in frames of IEEE 802.2.

use super::vector::{BridgeId, Times, Vector};
use alloc::vec::Vec;

/// The address that all bridges listen to (table 7-10).
pub(crate) const GROUP: [u8; 6] = [0x01, 0x80, 0xc2, 0, 0, 0];

/// Source and destination service access points of the spanning tree, and an unnumbered frame of information (section 9.1).
const LLC: [u8; 3] = [0x42, 0x42, 0x03];
/// Length of an Ethernet header; behind the addresses stands the length of what follows.
const ETHERNET: usize = 14;
const CONFIGURATION: usize = 35;
const RAPID: usize = 36;
const NOTIFICATION: usize = 4;

/// A BPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bpdu {
    /// Of bridges that know nothing faster: what the sender would have others believe.
    Configuration(Message),
    /// The same, of bridges with the rapid spanning tree.
    Rapid(Message),
    /// The tree has changed, says a bridge that knows nothing faster.
    Notification,
}

/// What a BPDU says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) vector: Vector,
    pub(super) times: Times,
    pub(super) flags: Flags,
}

/// Whose word a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
    Designated,
    Root,
    /// An alternate or a backup port.
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flags {
    pub(super) sender: Sender,
    pub(super) topology_change: bool,
    pub(super) proposal: bool,
    pub(super) learning: bool,
    pub(super) forwarding: bool,
    pub(super) agreement: bool,
    pub(super) acknowledgement: bool,
}

impl Flags {
    /// Those of a configuration BPDU, all of which come from designated ports (section 9.2.9).
    pub(super) fn plain(topology_change: bool, acknowledgement: bool) -> Self {
        Self {
            sender: Sender::Designated,
            topology_change,
            proposal: false,
            learning: false,
            forwarding: false,
            agreement: false,
            acknowledgement,
        }
    }

    /// A role that is none makes it a configuration BPDU (section 9.2.9): then this is none.
    fn read(byte: u8) -> Option<Self> {
        let sender = match byte >> 2 & 3 {
            1 => Sender::Other,
            2 => Sender::Root,
            3 => Sender::Designated,
            _ => return None,
        };
        let is_set = |bit: u8| byte >> bit & 1 == 1;
        Some(Self {
            sender,
            topology_change: is_set(0),
            proposal: is_set(1),
            learning: is_set(4),
            forwarding: is_set(5),
            agreement: is_set(6),
            acknowledgement: is_set(7),
        })
    }

    fn byte(self) -> u8 {
        let role = match self.sender {
            Sender::Other => 1,
            Sender::Root => 2,
            Sender::Designated => 3,
        };
        u8::from(self.topology_change)
            | u8::from(self.proposal) << 1
            | role << 2
            | u8::from(self.learning) << 4
            | u8::from(self.forwarding) << 5
            | u8::from(self.agreement) << 6
            | u8::from(self.acknowledgement) << 7
    }
}

impl Bpdu {
    /// What stands in a frame; none if that is no BPDU that counts (section 9.3.4).
    pub(super) fn read(frame: &[u8]) -> Option<Self> {
        let length = usize::from(word(frame, ETHERNET - 2)?);
        let body = frame.get(ETHERNET..ETHERNET + length)?.strip_prefix(&LLC)?;
        let [0, 0, version, kind, ..] = *body else { return None };
        match kind {
            0x00 => Self::configuration(body).map(Self::Configuration),
            0x02 if version >= 2 && body.len() >= RAPID => match Flags::read(body[4]) {
                Some(flags) => Message::read(body, flags).map(Self::Rapid),
                None => Self::configuration(body).map(Self::Configuration),
            },
            0x80 => Some(Self::Notification),
            _ => None,
        }
    }

    fn configuration(body: &[u8]) -> Option<Message> {
        let flags = *body.get(4)?;
        let message = Message::read(body, Flags::plain(flags & 0x01 > 0, flags & 0x80 > 0))?;
        (message.times.age < message.times.max_age).then_some(message)
    }

    /// The frame that carries it from a port with this address.
    pub(super) fn frame(&self, source: [u8; 6]) -> Vec<u8> {
        let (version, kind, len) = match self {
            Self::Configuration(_) => (0, 0x00, CONFIGURATION),
            Self::Rapid(_) => (2, 0x02, RAPID),
            Self::Notification => (0, 0x80, NOTIFICATION),
        };
        let mut frame = Vec::with_capacity(ETHERNET + LLC.len() + len);
        frame.extend(GROUP);
        frame.extend(source);
        frame.extend(u16::try_from(LLC.len() + len).unwrap_or_default().to_be_bytes());
        frame.extend(LLC);
        frame.extend([0, 0, version, kind]);
        if let Self::Configuration(message) | Self::Rapid(message) = self {
            let flags = message.flags.byte();
            // A configuration BPDU has two flags and no role.
            frame.push(if version == 0 { flags & 0x81 } else { flags });
            message.write(&mut frame);
        }
        if version == 2 {
            // The length of what version 1 would add.
            frame.push(0);
        }
        frame
    }
}

impl Message {
    /// Behind the flags, which configuration and rapid BPDUs have in common.
    fn read(body: &[u8], flags: Flags) -> Option<Self> {
        let long = |at: usize| Some(BridgeId(u64::from_be_bytes(*body.get(at..)?.first_chunk()?)));
        let cost = u32::from_be_bytes(*body.get(13..)?.first_chunk()?);
        let vector = Vector { root: long(5)?, cost, bridge: long(17)?, port: word(body, 25)? };
        let times = Times {
            age: word(body, 27)?,
            max_age: word(body, 29)?,
            hello: word(body, 31)?,
            forward_delay: word(body, 33)?,
        };
        Some(Self { vector, times, flags })
    }

    fn write(&self, frame: &mut Vec<u8>) {
        let Self { vector, times, .. } = self;
        frame.extend(vector.root.0.to_be_bytes());
        frame.extend(vector.cost.to_be_bytes());
        frame.extend(vector.bridge.0.to_be_bytes());
        for word in [vector.port, times.age, times.max_age, times.hello, times.forward_delay] {
            frame.extend(word.to_be_bytes());
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: Message = Message {
        vector: Vector {
            root: BridgeId(0x1000_0200_0000_0001),
            cost: 20_000,
            bridge: BridgeId(0x8000_0200_0000_0002),
            port: 0x8003,
        },
        times: Times { age: 0x0100, max_age: 0x1400, hello: 0x0200, forward_delay: 0x0f00 },
        flags: Flags {
            sender: Sender::Designated,
            topology_change: true,
            proposal: true,
            learning: true,
            forwarding: false,
            agreement: true,
            acknowledgement: false,
        },
    };
    const SOURCE: [u8; 6] = [2, 0, 0, 0, 0, 9];

    /// Sections 9.3.1 to 9.3.3, octet by octet.
    #[test]
    fn they_are_laid_out_as_the_standard_has_it() {
        let head: &[u8] = &[0x01, 0x80, 0xc2, 0, 0, 0, 2, 0, 0, 0, 0, 9];
        let fields: &[u8] = &[
            0x10, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0x4e, 0x20, 0x80, 0, 2, 0, 0, 0, 0, 2, 0x80, 3, 1, 0, 0x14, 0, 2, 0, 0x0f,
            0,
        ];
        let rapid = [head, &[0, 39, 0x42, 0x42, 3, 0, 0, 2, 2, 0b0101_1111], fields, &[0]].concat();
        assert_eq!(Bpdu::Rapid(MESSAGE).frame(SOURCE), rapid);
        let plain = [head, &[0, 38, 0x42, 0x42, 3, 0, 0, 0, 0, 0b0000_0001], fields].concat();
        assert_eq!(Bpdu::Configuration(MESSAGE).frame(SOURCE), plain);
        let notification = [head, &[0, 7, 0x42, 0x42, 3, 0, 0, 0, 0x80]].concat();
        assert_eq!(Bpdu::Notification.frame(SOURCE), notification);
    }

    #[test]
    fn what_was_written_is_read_whatever_follows() {
        let flags = Flags::plain(true, true);
        let plain = Message { flags, ..MESSAGE };
        for bpdu in [Bpdu::Rapid(MESSAGE), Bpdu::Configuration(plain), Bpdu::Notification] {
            let mut frame = bpdu.frame(SOURCE);
            assert_eq!(Bpdu::read(&frame), Some(bpdu));
            frame.resize(60, 0xaa);
            assert_eq!(Bpdu::read(&frame), Some(bpdu));
        }
    }

    /// Section 9.3.4; a role of zero makes a configuration BPDU of it (section 9.2.9).
    #[test]
    fn what_does_not_count_is_none() {
        let right = Bpdu::Rapid(MESSAGE).frame(SOURCE);
        let changed = |at: usize, to: u8| {
            let mut frame = right.clone();
            frame[at] = to;
            Bpdu::read(&frame)
        };
        assert!((0..right.len()).all(|len| Bpdu::read(&right[..len]).is_none()));
        for (at, to) in [(13, 38), (13, 40), (14, 0x43), (16, 0), (17, 1), (19, 1), (20, 1), (20, 3)] {
            assert_eq!(changed(at, to), None, "{at}: {to}");
        }
        assert!(matches!(changed(19, 9), Some(Bpdu::Rapid(_))), "later versions say at least as much");
        assert!(matches!(changed(21, 0b0001_0010), Some(Bpdu::Configuration(_))));
        let mut old =
            Bpdu::Configuration(Message { times: Times { age: 0x1400, ..MESSAGE.times }, ..MESSAGE }).frame(SOURCE);
        assert_eq!(Bpdu::read(&old), None);
        old[44] = 0x13;
        assert!(Bpdu::read(&old).is_some());
    }
}
