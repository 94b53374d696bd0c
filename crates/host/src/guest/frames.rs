//! Messages as Ethernet frames, and back.
//!
//! Behind the Ethernet header follow, as little-endian numbers, the frame's number within its direction (32 bits) and
//! the length of the whole message (32 bits), then as much of the message as fits. Frames arrive in order and none may
//! be lost: a gap in their numbers is an error. Bytes behind the end of the message are padding.

use std::fmt;
use std::net::Ipv4Addr;

/// "Local Experimental EtherType 1" of IEEE 802, for protocols that leave no machine.
pub const ETHERTYPE: u16 = 0x88B5;

/// The MTU that the agent requests for its device, in bytes: the largest that leaves room for any header in 64 KiB.
pub const CONTROL_MTU: u32 = 61_440;

/// The longest frame that goes to an agent, in bytes: any device has room for it, whatever it has negotiated.
pub const LONGEST_TO_GUEST: usize = ETHERNET + 1500;

/// The longest frame that comes from an agent, in bytes.
pub const LONGEST_FROM_GUEST: usize = ETHERNET + CONTROL_MTU as usize;

/// Bytes of an Ethernet header.
pub(super) const ETHERNET: usize = 14;

/// Bytes of all headers.
const HEADERS: usize = ETHERNET + 8;

/// No frame is shorter, whatever the device (IEEE 802.3, without the checksum).
const SHORTEST: usize = 60;

/// The longest message that either side sends.
const LONGEST_MESSAGE: usize = 1 << 28;

/// The broadcast address: there are only two stations.
const DESTINATION: [u8; 6] = [0xff; 6];

/// The hardware address of the agent's device, locally administered. A virtual machine knows the device by it.
pub const STATION: [u8; 6] = [0x0e, 0x6e, 0x6c, 0, 0, 1];

/// The address at which a kernel's control device answers heartbeats: ARP requests, which the kernel itself answers. Link-local
/// (RFC 3927), in a network namespace of the agent alone.
pub const HEARTBEAT: Ipv4Addr = Ipv4Addr::new(169, 254, 110, 2);

/// The address from which it is asked.
pub const LISTENER: Ipv4Addr = Ipv4Addr::new(169, 254, 110, 1);

/// The other side broke the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameError {
    /// Frames between these two numbers did not arrive.
    Lost {
        /// The one that should have come.
        expected: u32,
        /// The one that came.
        came: u32,
    },
    /// A frame and those before it disagree on the length of their message, or the length is impossible.
    Length(u32),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { expected, came } => write!(f, "control frame {came} came instead of {expected}"),
            Self::Length(length) => write!(f, "a control message of {length} bytes was cut in its middle"),
        }
    }
}

impl std::error::Error for FrameError {}

/// Cuts messages into frames.
#[derive(Debug)]
pub struct Fragmenter {
    next: u32,
    /// Of a frame, in bytes.
    longest: usize,
}

impl Fragmenter {
    /// For a direction whose frames are at most `longest` bytes.
    pub fn new(longest: usize) -> Self {
        Self { next: 0, longest }
    }

    /// The frames of `message`, in order.
    ///
    /// # Panics
    /// If the message is empty or longer than 256 MiB.
    pub fn cut<'a>(&'a mut self, message: &'a [u8]) -> impl Iterator<Item = Vec<u8>> + 'a {
        assert!(!message.is_empty() && message.len() <= LONGEST_MESSAGE, "a message has a sensible length");
        let total = u32::try_from(message.len()).expect("the longest message fits");
        message.chunks(self.longest - HEADERS).map(move |chunk| {
            let mut frame = Vec::with_capacity((HEADERS + chunk.len()).max(SHORTEST));
            frame.extend_from_slice(&DESTINATION);
            frame.extend_from_slice(&STATION);
            frame.extend_from_slice(&ETHERTYPE.to_be_bytes());
            frame.extend_from_slice(&self.next.to_le_bytes());
            frame.extend_from_slice(&total.to_le_bytes());
            frame.extend_from_slice(chunk);
            frame.resize(frame.len().max(SHORTEST), 0);
            self.next = self.next.wrapping_add(1);
            frame
        })
    }
}

/// Joins frames to messages.
#[derive(Debug, Default)]
pub struct Reassembler {
    next: u32,
    /// The message so far; empty between messages.
    message: Vec<u8>,
}

impl Reassembler {
    /// Takes a frame; the message, when that was its last one. Frames of other EtherTypes are passed over.
    ///
    /// # Errors
    /// When frames were lost or are malformed.
    pub fn take(&mut self, frame: &[u8]) -> Result<Option<Vec<u8>>, FrameError> {
        let Some((header, payload)) = frame.split_at_checked(HEADERS) else { return Ok(None) };
        if header[12..14] != ETHERTYPE.to_be_bytes() {
            return Ok(None);
        }
        let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (came, total) = (number(ETHERNET), number(ETHERNET + 4));
        if came != self.next {
            return Err(FrameError::Lost { expected: self.next, came });
        }
        self.next = self.next.wrapping_add(1);
        let length = total as usize;
        if length == 0 || length > LONGEST_MESSAGE || length <= self.message.len() {
            return Err(FrameError::Length(total));
        }
        let missing = length - self.message.len();
        self.message.extend_from_slice(&payload[..missing.min(payload.len())]);
        Ok((self.message.len() == length).then(|| std::mem::take(&mut self.message)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(length: usize) -> Vec<u8> {
        (0..length).map(|index| u8::try_from(index % 251).unwrap()).collect()
    }

    #[test]
    fn messages_of_all_lengths_come_back() {
        let mut fragmenter = Fragmenter::new(LONGEST_TO_GUEST);
        let mut reassembler = Reassembler::default();
        for length in [1, 2, 37, 38, 39, 1491, 1492, 1493, 2984, 2985, 100_000] {
            let sent = message(length);
            let frames: Vec<_> = fragmenter.cut(&sent).collect();
            assert_eq!(frames.len(), length.div_ceil(LONGEST_TO_GUEST - HEADERS));
            assert!(frames.iter().all(|frame| (SHORTEST..=LONGEST_TO_GUEST).contains(&frame.len())));
            let mut joined: Vec<_> = frames.iter().map(|frame| reassembler.take(frame).unwrap()).collect();
            assert_eq!(joined.pop().unwrap(), Some(sent));
            assert!(joined.iter().all(Option::is_none));
        }
    }

    #[test]
    fn losses_and_nonsense_are_errors_and_strangers_are_none() {
        let mut fragmenter = Fragmenter::new(LONGEST_TO_GUEST);
        let frames: Vec<_> = fragmenter.cut(&message(4000)).collect();
        let mut reassembler = Reassembler::default();
        assert_eq!(reassembler.take(&[0; 60]), Ok(None));
        assert_eq!(reassembler.take(&frames[0][..10]), Ok(None));
        assert_eq!(reassembler.take(&frames[0]), Ok(None));
        assert_eq!(reassembler.take(&frames[2]), Err(FrameError::Lost { expected: 1, came: 2 }));
        let mut endless = frames[0].clone();
        endless[18..22].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(Reassembler::default().take(&endless), Err(FrameError::Length(u32::MAX)));
    }
}
