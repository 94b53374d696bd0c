//! Messages of a queue of netfilter (linux/netfilter/nfnetlink_queue.h): written to the kernel, and read from it.
//!
//! What is read is not trusted: a length that leads beyond its message ends it.

/// How many bytes of a packet fit into a message.
pub(super) const MOST_BYTES: u32 = 0xffff - ATTRIBUTE as u32;
/// The longest head of a message with a packet: what stands before the packet's bytes.
pub(super) const MOST_HEAD: usize = 1_024;
/// Where packets come from (linux/netfilter.h): the packets that this machine makes itself.
pub(super) const LOCAL_OUT: u8 = 3;

// linux/netlink.h, linux/netfilter/nfnetlink.h
const HEADER: usize = 16;
const GENERIC: usize = 4;
const ATTRIBUTE: usize = 4;
const ERROR: u16 = 2;
const SUBSYSTEM: u16 = 3 << 8;
const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
/// The bits of an attribute's type that are flags.
const TYPE: u16 = 0x3fff;

// linux/netfilter/nfnetlink_queue.h: messages
const PACKET: u16 = SUBSYSTEM;
const VERDICT: u16 = SUBSYSTEM | 1;
const CONFIG: u16 = SUBSYSTEM | 2;
const VERDICT_ON_ALL: u16 = SUBSYSTEM | 3;
// Attributes of a packet and of a verdict.
const PACKET_HEADER: u16 = 1;
const VERDICT_HEADER: u16 = 2;
const TIMESTAMP: u16 = 4;
const OUT_INTERFACE: u16 = 6;
const PAYLOAD: u16 = 10;
const WHOLE_LENGTH: u16 = 13;
const SKB_INFO: u16 = 14;
const USER: u16 = 16;
const GROUP: u16 = 17;
/// Its checksum is not there yet.
const NO_CHECKSUM: u32 = 1;
/// It stands for several packets.
const SUPER_PACKET: u32 = 1 << 1;
// Attributes of a configuration.
const COMMAND: u16 = 1;
const PARAMETERS: u16 = 2;
const LENGTH_LIMIT: u16 = 3;
const MASK: u16 = 4;
const FLAGS: u16 = 5;
const BIND: u8 = 1;
const COPY_PACKET: u8 = 2;
const SUPER_PACKETS: u32 = 1 << 2;
/// The message names the owner of the socket that made it, too.
const OWNERS: u32 = 1 << 3;

/// What is to become of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Drop = 0,
    Accept = 1,
}

/// A packet that the kernel holds until it gets a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Queued<'a> {
    pub(super) id: u32,
    /// By EtherType: IPv4 or IPv6.
    pub(super) protocol: u16,
    pub(super) hook: u8,
    /// The interface by which it is to leave; 0 if there is none.
    pub(super) out_interface: u32,
    /// The user and the group that opened the socket that made it; none if there is no such socket, or if it was not asked for.
    pub(super) user: Option<u32>,
    pub(super) group: Option<u32>,
    /// When an interface received it, time of day in seconds and microseconds.
    pub(super) stamp: Option<(u32, u32)>,
    /// Whether somebody later cuts it into several packets, or writes its checksum.
    pub(super) is_unfinished: bool,
    /// How long it is, from the IP header on.
    pub(super) len: usize,
    /// Its first bytes, or all.
    pub(super) bytes: &'a [u8],
}

/// What the kernel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    Packet(Queued<'a>),
    /// The answer to what was written: 0, or the error's number.
    Answer(i32),
    /// It is of no interest, or cannot be read.
    Other,
}

/// The messages in what was received at once.
pub(super) fn messages(mut bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    std::iter::from_fn(move || {
        let len = usize::try_from(native_u32(bytes, 0)?).ok()?;
        let message = bytes.get(..len).filter(|message| message.len() >= HEADER)?;
        bytes = bytes.get(aligned(len)..).unwrap_or_default();
        Some(match native_u16(message, 4)? {
            PACKET => packet(message).map_or(Message::Other, Message::Packet),
            ERROR => native_u32(message, HEADER).map_or(Message::Other, |code| {
                // The kernel gives the error's number negated.
                Message::Answer(code.cast_signed().saturating_neg())
            }),
            _ => Message::Other,
        })
    })
}

fn packet(message: &[u8]) -> Option<Queued<'_>> {
    let mut found: Option<(u32, u16, u8)> = None;
    let (mut user, mut group) = (None, None);
    let (mut out_interface, mut info, mut whole, mut bytes, mut stamp) = (0, 0, None, None, None);
    for (kind, value) in attributes(message.get(HEADER + GENERIC..)?) {
        match kind {
            PACKET_HEADER => found = Some((big_u32(value, 0)?, big_u16(value, 4)?, *value.get(6)?)),
            TIMESTAMP => stamp = Some(time_of_day(value)?),
            OUT_INTERFACE => out_interface = big_u32(value, 0)?,
            SKB_INFO => info = big_u32(value, 0)?,
            WHOLE_LENGTH => whole = Some(big_u32(value, 0)?),
            USER => user = Some(big_u32(value, 0)?),
            GROUP => group = Some(big_u32(value, 0)?),
            PAYLOAD => bytes = Some(value),
            _ => {}
        }
    }
    let ((id, protocol, hook), bytes) = (found?, bytes.unwrap_or_default());
    let len = whole.and_then(|whole| usize::try_from(whole).ok()).unwrap_or(0).max(bytes.len());
    let is_unfinished = info & (NO_CHECKSUM | SUPER_PACKET) != 0;
    Some(Queued { id, protocol, hook, out_interface, user, group, stamp, is_unfinished, len, bytes })
}

/// `struct nfqnl_msg_packet_timestamp`: seconds and microseconds, in 64 bits each.
fn time_of_day(value: &[u8]) -> Option<(u32, u32)> {
    let (high, seconds) = (big_u32(value, 0)?, big_u32(value, 4)?);
    let (none, microseconds) = (big_u32(value, 8)?, big_u32(value, 12)?);
    (high == 0 && none == 0 && microseconds < 1_000_000).then_some((seconds, microseconds))
}

/// Attributes until one is too long or too short to be one.
fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let len = usize::from(native_u16(bytes, 0)?);
        let kind = native_u16(bytes, 2)? & TYPE;
        let value = bytes.get(ATTRIBUTE..len)?;
        bytes = bytes.get(aligned(len)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// Asks for the packets of a queue, up to `most` at a time; the kernel answers.
pub(super) fn bind(queue: u16, most: u32) -> Vec<u8> {
    let mut message = Vec::new();
    // The family of the packets has no meaning to kernels since Linux 3.8.
    write(&mut message, CONFIG, REQUEST | ACKNOWLEDGE, queue, |message| {
        attribute(message, COMMAND, &[&[BIND, 0, 0, 0]]);
        attribute(message, LENGTH_LIMIT, &[&most.to_be_bytes()]);
    });
    message
}

/// Says how many bytes of each packet are wanted, whether super-packets are to stay whole, and whether to tell who made them; the
/// kernel answers.
pub(super) fn configure(queue: u16, most_bytes: u32, super_packets: bool, owners: bool) -> Vec<u8> {
    let mut message = Vec::new();
    let flags = if super_packets { SUPER_PACKETS } else { 0 } | if owners { OWNERS } else { 0 };
    write(&mut message, CONFIG, REQUEST | ACKNOWLEDGE, queue, |message| {
        attribute(message, PARAMETERS, &[&most_bytes.to_be_bytes(), &[COPY_PACKET]]);
        attribute(message, FLAGS, &[&flags.to_be_bytes()]);
        attribute(message, MASK, &[&(SUPER_PACKETS | if owners { OWNERS } else { 0 }).to_be_bytes()]);
    });
    message
}

/// Adds a verdict on a packet to `messages`; `altered`: the bytes that it has from now on, in parts, if they are not the same. A
/// packet that is too long for a message stays as it is.
pub(super) fn verdict(messages: &mut Vec<u8>, queue: u16, id: u32, verdict: Verdict, altered: &[&[u8]]) {
    write(messages, VERDICT, REQUEST, queue, |message| {
        attribute(message, VERDICT_HEADER, &[&(verdict as u32).to_be_bytes(), &id.to_be_bytes()]);
        let len: usize = altered.iter().map(|part| part.len()).sum();
        if len > 0 && len <= MOST_BYTES as usize {
            attribute(message, PAYLOAD, altered);
        }
    });
}

/// Adds a verdict on all packets that the kernel holds up to one to `messages` (`NFQNL_MSG_VERDICT_BATCH`).
pub(super) fn verdict_on_all(messages: &mut Vec<u8>, queue: u16, last: u32, verdict: Verdict) {
    write(messages, VERDICT_ON_ALL, REQUEST, queue, |message| {
        attribute(message, VERDICT_HEADER, &[&(verdict as u32).to_be_bytes(), &last.to_be_bytes()]);
    });
}

fn write(messages: &mut Vec<u8>, kind: u16, flags: u16, queue: u16, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = messages.len();
    messages.extend_from_slice(&[0; 4]);
    messages.extend_from_slice(&kind.to_ne_bytes());
    messages.extend_from_slice(&flags.to_ne_bytes());
    // Neither sequence number nor port: the kernel knows whose message it is.
    messages.extend_from_slice(&[0; 8]);
    // No family, version 0.
    messages.extend_from_slice(&[0; 2]);
    messages.extend_from_slice(&queue.to_be_bytes());
    body(messages);
    let len = u32::try_from(messages.len() - begin).expect("a message is shorter than 4 GiB");
    messages[begin..begin + 4].copy_from_slice(&len.to_ne_bytes());
}

fn attribute(message: &mut Vec<u8>, kind: u16, value: &[&[u8]]) {
    let len = ATTRIBUTE + value.iter().map(|part| part.len()).sum::<usize>();
    message.extend_from_slice(&u16::try_from(len).expect("a packet is shorter than 64 KiB").to_ne_bytes());
    message.extend_from_slice(&kind.to_ne_bytes());
    value.iter().for_each(|part| message.extend_from_slice(part));
    message.resize(message.len() + aligned(len) - len, 0);
}

fn aligned(len: usize) -> usize {
    len.saturating_add(3) & !3
}

fn native_u16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn native_u32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn big_u16(bytes: &[u8], at: usize) -> Option<u16> {
    native_u16(bytes, at).map(u16::from_be)
}

fn big_u32(bytes: &[u8], at: usize) -> Option<u32> {
    native_u32(bytes, at).map(u32::from_be)
}

#[cfg(test)]
mod tests;
