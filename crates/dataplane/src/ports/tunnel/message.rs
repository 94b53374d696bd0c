//! What the two ends of a tunnel send one another: datagrams of UDP that begin with a header of 40 bytes, all numbers in
//! network order.
//!
//! ```text
//!  0      4         5      6       7       8       16       24      32       40
//!  | NLTN | version | kind | piece | count | token | number | stamp | second | body
//! ```
//!
//! Piece and count are zero but in pieces of frames (see `pieces`), whose body begins with the length of the whole frame, in 4 bytes, of which
//! the highest bit says that it is a train. Where the tunnel has a key, datagrams are sealed (see `seal`).
//!
//! The token is the receiver's: it chose it at random and sent it in its greeting, so that nobody who does not see the path
//! can speak for the far end. Stamps are nanoseconds of a sender's or receiver's `CLOCK_MONOTONIC`.

use super::day::Day;
use super::pieces::{Content, Piece};
use netloom_units::Duration;

/// What this program speaks. Another version is refused.
pub(super) const VERSION: u8 = 4;
/// Bytes before a frame.
pub(super) const HEADER: usize = 40;
/// Bytes before a piece of a frame, beside the header: the length of the frame.
pub(super) const PIECE: usize = 4;
/// The bit of that length which says that the frame is a train.
const TRAIN: u32 = 1 << 31;
pub(super) const MAGIC: [u8; 4] = *b"NLTN";
/// The kind of greetings, which come before both ends know one another.
pub(super) const HELLO: u8 = 1;
/// Session, clock, tunnel's number, longest frame, mode, longest datagram, salt.
pub(super) const GREETING: usize = 8 + 8 + 4 + 4 + 4 + 4 + SALT;
pub(super) const SALT: usize = 16;
/// The place of the tunnel's number in a greeting.
const VNI_AT: usize = HEADER + 16;
/// The place of the mode in a greeting.
pub(super) const MODE_AT: usize = HEADER + 24;
/// The modes: frames are wrapped as they are, or sealed with a key.
pub(super) const PLAIN: u32 = 0;
pub(super) const SEALED: u32 = 1;
/// When it was sent, and the time of day there: its offset, and by how much it is off at most.
const ANSWER: usize = 24;
/// Nobody says by how much the time of day is off.
const UNBOUNDED: u64 = u64::MAX;

/// What one end tells the other of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    /// The token that its datagrams must bear from now on.
    pub(super) session: u64,
    /// What identifies the clock of its stamps: the same number is the same clock.
    pub(super) clock: u64,
    /// The tunnel's number, which both ends must have.
    pub(super) vni: u32,
    /// The longest IP packet that it takes, in bytes.
    pub(super) mtu: u32,
    /// The way in which frames are wrapped: `PLAIN` or `SEALED`.
    pub(super) mode: u32,
    /// The longest datagram that it sends, in bytes.
    pub(super) longest: u32,
    /// The random bytes that its keys follow from, beside the tunnel's key.
    pub(super) salt: [u8; SALT],
}

/// A datagram, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message<'a> {
    /// How the far end introduces itself; `len`: of the whole datagram, as filled up to see what the path carries; `knows`: whether it
    /// has heard a greeting in full length that bore its token, and needs none any more.
    Hello { greeting: Greeting, len: usize, knows: bool },
    /// A frame: its number, the instant at which it is due at this end, and when it was sent; by the sender's clock.
    Frame { number: u64, due: u64, sent: u64, bytes: &'a [u8] },
    /// A piece of a frame.
    Piece { number: u64, due: u64, sent: u64, piece: Piece<'a> },
    /// A question for the time: when it was sent, and how many frames were sent before it.
    Probe { number: u64, sent: u64, frames: u64 },
    /// The answer: what was asked, when that came and when this left, and the time of day there.
    Echo { number: u64, asked: u64, came: u64, sent: u64, day: Option<Day> },
    /// The far end leaves.
    Bye { frames: u64 },
    /// A request for frames that have not come (see `repair`): the first number, and a bit for each from it on.
    Again { first: u64, bits: u64 },
}

/// Why a datagram is none of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stray {
    /// The far end speaks another version.
    Version(u8),
    /// It does not know our token: it was meant for an earlier end, or comes from somebody else.
    Token,
    /// It is nothing that the other end of a tunnel sends.
    Other,
}

impl<'a> Message<'a> {
    /// Takes a datagram apart. `token`: what it must bear; greetings may also bear none, zero, and say then that the far end has not
    /// heard of us.
    pub(super) fn parse(bytes: &'a [u8], token: u64) -> Result<(Self, u64), Stray> {
        let (head, body) = bytes.split_at_checked(HEADER).ok_or(Stray::Other)?;
        if head[..4] != MAGIC {
            return Err(Stray::Other);
        }
        if head[4] != VERSION {
            return Err(Stray::Version(head[4]));
        }
        let number = |at: usize| word(head, at);
        let (borne, is_hello) = (number(8), head[5] == HELLO);
        if borne != token && !is_hello {
            return Err(Stray::Token);
        }
        let message = match head[5] {
            HELLO => {
                let greeting = Greeting::parse(body).ok_or(Stray::Other)?;
                Self::Hello { greeting, len: bytes.len(), knows: number(16) == 1 }
            }
            2 => Self::Frame { number: number(16), due: number(24), sent: number(32), bytes: body },
            3 => Self::Probe { number: number(16), sent: number(24), frames: number(32) },
            4 if body.len() >= ANSWER => {
                let (offset, bound) = (word(body, 8).cast_signed(), word(body, 16));
                let day = (bound != UNBOUNDED).then_some(Day { offset, bound });
                Self::Echo { number: number(16), asked: number(24), came: number(32), sent: word(body, 0), day }
            }
            5 => Self::Bye { frames: number(16) },
            6 => {
                let (whole, part) = body.split_first_chunk::<PIECE>().ok_or(Stray::Other)?;
                let whole = u32::from_be_bytes(*whole);
                let content = if whole & TRAIN == 0 { Content::Packet } else { Content::Train };
                let piece = Piece { index: head[6], count: head[7], whole: whole & !TRAIN, content, bytes: part };
                Self::Piece { number: number(16), due: number(24), sent: number(32), piece }
            }
            7 => Self::Again { first: number(16), bits: number(24) },
            _ => return Err(Stray::Other),
        };
        Ok((message, borne))
    }

    /// Adds it to `out`, for the end with this token.
    pub(super) fn write(&self, token: u64, out: &mut Vec<u8>) {
        match *self {
            Self::Hello { greeting, len, knows } => {
                let begin = out.len();
                head(out, HELLO, [token, u64::from(knows), 0, 0]);
                greeting.write(out);
                out.resize(begin + len.max(HEADER + GREETING), 0);
            }
            Self::Frame { number, due, sent, bytes } => {
                head(out, 2, [token, number, due, sent]);
                out.extend_from_slice(bytes);
            }
            Self::Probe { number, sent, frames } => head(out, 3, [token, number, sent, frames]),
            Self::Echo { number, asked, came, sent, day } => {
                head(out, 4, [token, number, asked, came]);
                let Day { offset, bound } = day.unwrap_or(Day { offset: 0, bound: UNBOUNDED });
                [sent, offset.cast_unsigned(), bound]
                    .iter()
                    .for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
            }
            Self::Bye { frames } => head(out, 5, [token, frames, 0, 0]),
            Self::Again { first, bits } => head(out, 7, [token, first, bits, 0]),
            Self::Piece { number, due, sent, piece } => {
                let begin = out.len();
                head(out, 6, [token, number, due, sent]);
                (out[begin + 6], out[begin + 7]) = (piece.index, piece.count);
                let kind = if piece.content == Content::Train { TRAIN } else { 0 };
                out.extend_from_slice(&(piece.whole | kind).to_be_bytes());
                out.extend_from_slice(piece.bytes);
            }
        }
    }
}

impl Greeting {
    fn parse(body: &[u8]) -> Option<Self> {
        let body = body.get(..GREETING)?;
        let half = |at: usize| u32::from_be_bytes(body[at..at + 4].try_into().expect("four bytes"));
        let salt = body[32..].try_into().expect("the rest is the salt");
        let (session, clock) = (word(body, 0), word(body, 8));
        Some(Self { session, clock, vni: half(16), mtu: half(20), mode: half(24), longest: half(28), salt })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.session.to_be_bytes());
        out.extend_from_slice(&self.clock.to_be_bytes());
        for half in [self.vni, self.mtu, self.mode, self.longest] {
            out.extend_from_slice(&half.to_be_bytes());
        }
        out.extend_from_slice(&self.salt);
    }
}

/// Whom a datagram is for, sealed or not: the token that it bears and, of a greeting, the number of the tunnel; none if it is none of ours.
pub(super) fn addressee(datagram: &[u8]) -> Option<(u64, Option<u32>)> {
    let head = datagram.get(..16).filter(|head| head[..4] == MAGIC)?;
    let vni = || datagram.get(VNI_AT..VNI_AT + 4).map(|vni| u32::from_be_bytes(vni.try_into().expect("four bytes")));
    Some((word(head, 8), if head[5] == HELLO { Some(vni()?) } else { None }))
}

fn head(out: &mut Vec<u8>, kind: u8, words: [u64; 4]) {
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[VERSION, kind, 0, 0]);
    words.iter().for_each(|word| out.extend_from_slice(&word.to_be_bytes()));
}

pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// The span between two stamps of one clock, zero if they are the wrong way round.
pub(super) fn between(earlier: u64, later: u64) -> Duration {
    Duration::from_nanos(later.saturating_sub(earlier))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GREETING: Greeting =
        Greeting { session: 7, clock: 8, vni: 9, mtu: 1_400, mode: SEALED, longest: 1_454, salt: [3; SALT] };

    fn piece(content: Content) -> Message<'static> {
        let piece = Piece { index: 1, count: 2, whole: 60, content, bytes: &[4; 30] };
        Message::Piece { number: 1, due: 2, sent: 3, piece }
    }

    #[test]
    fn every_message_is_read_as_it_was_written() {
        let all = [
            Message::Hello { greeting: GREETING, len: 1_454, knows: true },
            Message::Hello { greeting: GREETING, len: 88, knows: false },
            Message::Frame { number: 1, due: 2, sent: 3, bytes: &[4; 60] },
            Message::Probe { number: 1, sent: 2, frames: 3 },
            Message::Echo { number: 1, asked: 2, came: 3, sent: 4, day: None },
            Message::Echo { number: 1, asked: 2, came: 3, sent: 4, day: Some(Day { offset: -5, bound: 6 }) },
            Message::Bye { frames: 5 },
            Message::Again { first: 6, bits: 9 },
            piece(Content::Packet),
            piece(Content::Train),
        ];
        for message in all {
            let mut bytes = Vec::new();
            message.write(11, &mut bytes);
            assert_eq!(Message::parse(&bytes, 11), Ok((message, 11)));
            let is_greeting = matches!(message, Message::Hello { .. });
            assert_eq!(addressee(&bytes), Some((11, is_greeting.then_some(9))));
            if let Message::Hello { len, .. } = message {
                assert_eq!(bytes.len(), len);
            } else {
                assert_eq!(Message::parse(&bytes, 12), Err(Stray::Token));
            }
            bytes[4] = VERSION + 1;
            assert_eq!(Message::parse(&bytes, 11), Err(Stray::Version(VERSION + 1)));
            bytes[0] = 0;
            assert_eq!(Message::parse(&bytes, 11), Err(Stray::Other));
        }
    }

    proptest! {
        #[test]
        fn no_datagram_is_too_strange(
            bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in 0_u8..9, token in 0_u64..2,
        ) {
            let _ = (Message::parse(&bytes, token), addressee(&bytes));
            let mut headed = Vec::new();
            head(&mut headed, kind, [0; 4]);
            headed.extend(bytes);
            for len in 0..=headed.len() {
                let _ = (Message::parse(&headed[..len], token), addressee(&headed[..len]));
            }
        }
    }
}
