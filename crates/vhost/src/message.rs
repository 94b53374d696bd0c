//! The messages of a front-end, decoded (vhost-user.rst, "Message Specification").

use crate::memory::RegionSpec;

/// Length of a message's header: request, flags, size of the payload.
pub(crate) const HEADER: usize = 12;
/// The longest payload that a message we know may have.
pub(crate) const LONGEST: usize = 512;
/// The most files that a message may carry: one per memory region.
pub(crate) const MOST_FILES: usize = 8;

const VERSION: u32 = 1;
const VERSION_MASK: u32 = 3;
const REPLY: u32 = 1 << 2;
const NEED_REPLY: u32 = 1 << 3;
/// A request of the device: its configuration is to be read anew.
const CONFIG_CHANGED: u32 = 2;
/// In the payload of messages that pass a descriptor for a queue: there is none.
const NO_FILE: u64 = 1 << 8;
const QUEUE_MASK: u64 = 0xff;

/// What comes before a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) request: u32,
    /// Whether it asks for a confirmation.
    pub(crate) needs_reply: bool,
    /// Length of the payload in bytes.
    pub(crate) size: usize,
}

impl Header {
    pub(crate) fn parse(bytes: &[u8; HEADER]) -> Result<Self, String> {
        let [request, flags, size] = [0, 4, 8].map(|at| word(bytes, at));
        let size = size as usize;
        if flags & VERSION_MASK != VERSION || flags & REPLY != 0 {
            return Err(format!("a message with the flags {flags:#x}"));
        }
        if size > LONGEST {
            return Err(format!("a message of {size} bytes; none that was asked for has more than {LONGEST}"));
        }
        Ok(Self { request, needs_reply: flags & NEED_REPLY != 0, size })
    }
}

/// An answer that is one number.
pub(crate) fn reply(request: u32, value: u64) -> [u8; HEADER + 8] {
    reply_with(request, &value.to_ne_bytes())
}

/// The answer to the question for a part of the configuration.
pub(crate) fn reply_config(request: u32, offset: u32, bytes: &[u8]) -> Vec<u8> {
    let size = u32::try_from(bytes.len()).expect("a configuration is short");
    let words = [request, VERSION | REPLY, 12 + size, offset, size, 0];
    words.into_iter().flat_map(u32::to_ne_bytes).chain(bytes.iter().copied()).collect()
}

/// What the device says on its back channel when its configuration has changed.
pub(crate) fn config_changed() -> Vec<u8> {
    [CONFIG_CHANGED, VERSION, 0].into_iter().flat_map(u32::to_ne_bytes).collect()
}

/// The answer to the question where a queue stands.
pub(crate) fn reply_state(request: u32, queue: u32, number: u32) -> [u8; HEADER + 8] {
    let mut payload = [0; 8];
    payload[..4].copy_from_slice(&queue.to_ne_bytes());
    payload[4..].copy_from_slice(&number.to_ne_bytes());
    reply_with(request, &payload)
}

fn reply_with(request: u32, payload: &[u8; 8]) -> [u8; HEADER + 8] {
    let mut bytes = [0; HEADER + 8];
    bytes[..4].copy_from_slice(&request.to_ne_bytes());
    bytes[4..8].copy_from_slice(&(VERSION | REPLY).to_ne_bytes());
    bytes[8..12].copy_from_slice(&8_u32.to_ne_bytes());
    bytes[12..].copy_from_slice(payload);
    bytes
}

/// Where a queue's three parts are, as addresses of the front-end's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) descriptors: u64,
    pub(crate) used: u64,
    pub(crate) available: u64,
}

/// A message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    GetFeatures,
    SetFeatures(u64),
    GetProtocolFeatures,
    SetProtocolFeatures(u64),
    SetOwner,
    /// Not used any more; all queues stop.
    ResetOwner,
    SetMemory(Vec<RegionSpec>),
    SetSize {
        queue: usize,
        size: u32,
    },
    SetBase {
        queue: usize,
        base: u32,
    },
    SetAddresses {
        queue: usize,
        addresses: Addresses,
    },
    /// Stops the queue and asks where it stands.
    GetBase {
        queue: usize,
    },
    SetKick {
        queue: usize,
        file: bool,
    },
    SetCall {
        queue: usize,
        file: bool,
    },
    SetError {
        queue: usize,
        file: bool,
    },
    Enable {
        queue: usize,
        on: bool,
    },
    /// A socket on which the device may speak first.
    SetBackChannel,
    /// A part of the configuration is asked for.
    GetConfig {
        offset: u32,
        size: u32,
    },
    /// A request that no feature that was offered allows.
    Unknown(u32),
}

impl Message {
    pub(crate) fn parse(request: u32, payload: &[u8]) -> Result<Self, String> {
        Self::decode(request, payload).ok_or_else(|| format!("request {request} with {} bytes", payload.len()))
    }

    fn decode(request: u32, payload: &[u8]) -> Option<Self> {
        let number = || Some(u64::from_ne_bytes(payload.try_into().ok()?));
        let state = || (payload.len() == 8).then(|| (word(payload, 0) as usize, word(payload, 4)));
        let file = || {
            let number = number()?;
            Some((usize::try_from(number & QUEUE_MASK).ok()?, number & NO_FILE == 0))
        };
        Some(match request {
            1 => Self::GetFeatures,
            2 => Self::SetFeatures(number()?),
            3 => Self::SetOwner,
            4 => Self::ResetOwner,
            5 => Self::SetMemory(regions(payload)?),
            8 => state().map(|(queue, size)| Self::SetSize { queue, size })?,
            9 => Self::SetAddresses { queue: word(payload.get(..40)?, 0) as usize, addresses: addresses(payload)? },
            10 => state().map(|(queue, base)| Self::SetBase { queue, base })?,
            11 => state().map(|(queue, _)| Self::GetBase { queue })?,
            12 => file().map(|(queue, file)| Self::SetKick { queue, file })?,
            13 => file().map(|(queue, file)| Self::SetCall { queue, file })?,
            14 => file().map(|(queue, file)| Self::SetError { queue, file })?,
            15 => Self::GetProtocolFeatures,
            16 => Self::SetProtocolFeatures(number()?),
            18 => state().map(|(queue, on)| Self::Enable { queue, on: on != 0 })?,
            21 => Self::SetBackChannel,
            24 => config(payload).map(|(offset, size)| Self::GetConfig { offset, size })?,
            other => Self::Unknown(other),
        })
    }
}

/// Offset, size and flags, and as much room for the answer.
fn config(payload: &[u8]) -> Option<(u32, u32)> {
    let size = word(payload.get(..12)?, 4);
    (payload.len() == 12 + size as usize).then(|| (word(payload, 0), size))
}

fn addresses(payload: &[u8]) -> Option<Addresses> {
    // Flag 0 asks for a log of what is written to guest memory, which was not offered. The log's address comes last.
    let logged = word(payload.get(..40)?, 4) & 1 != 0;
    let [descriptors, used, available] = [8, 16, 24].map(|at| long(payload, at));
    (!logged && payload.len() == 40).then_some(Addresses { descriptors, used, available })
}

fn regions(payload: &[u8]) -> Option<Vec<RegionSpec>> {
    let count = word(payload.get(..8)?, 0) as usize;
    if count > MOST_FILES {
        return None;
    }
    // Older kernels send room for two regions, whatever they say.
    let body = payload[8..].get(..count * 32)?;
    let region = |bytes: &[u8]| {
        let [guest, size, user, offset] = [0, 8, 16, 24].map(|at| long(bytes, at));
        RegionSpec { guest, size, user, offset }
    };
    Some(body.chunks_exact(32).map(region).collect())
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn headers_must_be_of_version_one_and_no_reply() {
        let header = |flags: u32, size: u32| {
            let bytes = [1_u32.to_ne_bytes(), flags.to_ne_bytes(), size.to_ne_bytes()].concat();
            Header::parse(&bytes.try_into().expect("twelve bytes"))
        };
        assert_eq!(header(9, 8), Ok(Header { request: 1, needs_reply: true, size: 8 }));
        assert!(header(0, 8).is_err() && header(5, 8).is_err() && header(1, 513).is_err());
    }

    #[test]
    fn a_question_for_the_configuration_has_room_for_the_answer() {
        let asked = |size: u32, room: usize| {
            let words = [6_u32, size, 0].map(u32::to_ne_bytes).concat();
            Message::parse(24, &[words, vec![0; room]].concat())
        };
        assert_eq!(asked(2, 2), Ok(Message::GetConfig { offset: 6, size: 2 }));
        assert!(asked(2, 3).is_err() && asked(u32::MAX, 2).is_err() && Message::parse(24, &[0; 8]).is_err());
        let reply = reply_config(24, 6, &[1, 0]);
        assert_eq!((reply.len(), &reply[24..]), (26, &[1, 0][..]));
        assert_eq!([word(&reply, 0), word(&reply, 4), word(&reply, 8), word(&reply, 16)], [24, 5, 14, 2]);
    }

    #[test]
    fn a_memory_table_has_as_many_regions_as_it_says() {
        let mut payload = vec![0; 8 + 32];
        payload[0] = 1;
        payload[8..16].copy_from_slice(&7_u64.to_ne_bytes());
        let spec = RegionSpec { guest: 7, size: 0, user: 0, offset: 0 };
        assert_eq!(Message::parse(5, &payload), Ok(Message::SetMemory(vec![spec])));
        let padded = [&payload[..], &[0; 32]].concat();
        assert_eq!(Message::parse(5, &padded), Message::parse(5, &payload));
        payload[0] = 2;
        assert!(Message::parse(5, &payload).is_err());
        payload[3] = 255;
        assert!(Message::parse(5, &payload).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(request in 0_u32..50, payload in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Message::parse(request, &payload);
        }
    }
}
