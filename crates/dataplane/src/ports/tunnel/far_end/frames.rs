//! Frames to the far end and from there: wrapped, joined, and repaired where the path loses some.

use super::super::message::{Message, PIECE, between};
use super::super::pieces::{Content, Piece, cut};
use super::super::repair::{SAID_AFTER, named};
use super::FarEnd;

/// For so long after frames had to be sent again, trains go packet by packet.
const LOSES_FOR: u64 = 1_000_000_000;

/// A frame that has come.
pub(in super::super) struct Come<'a> {
    /// The instant of this end's clock at which it is to leave.
    pub(in super::super) due: u64,
    pub(in super::super) content: Content,
    pub(in super::super) bytes: &'a [u8],
}

impl FarEnd {
    /// Wraps a frame, which leaves when the socket is flushed; in pieces, if it does not fit into a datagram, or is a train. Returns false if
    /// it takes too many pieces. Otherwise the frame is kept, to be sent again, and other memory takes its place.
    pub(in super::super) fn send(&mut self, due: u64, content: Content, frame: &mut Vec<u8>) -> bool {
        if std::mem::take(&mut self.socket.is_narrower) {
            self.room.ask(&self.socket);
        }
        let number = self.frames;
        let Some(is_cut) = self.wrap(number, due, content, frame) else { return false };
        self.kept.keep(number, due, content, frame);
        self.heard_of.cut += u64::from(is_cut);
        (self.frames, self.heard_of.sent) = (self.frames + 1, self.heard_of.sent + 1);
        self.says_at = self.socket.now() + SAID_AFTER;
        true
    }

    /// Whether the path has lost something lately. Then a train would be sent again for each of its pieces that is lost, with all others.
    pub(in super::super) fn loses(&self) -> bool {
        self.socket.now() < self.loses_until
    }

    /// Puts a frame into datagrams, and returns whether it was cut; none if it would take too many.
    fn wrap(&mut self, number: u64, due: u64, content: Content, frame: &[u8]) -> Option<bool> {
        let (token, sent) = (self.token(), self.socket.now());
        let room = self.room.datagram() - self.overhead();
        if content == Content::Packet && frame.len() <= room {
            self.say(&Message::Frame { number, due, sent, bytes: frame }, token);
            return Some(false);
        }
        cut(frame, content, room - PIECE)?
            .for_each(|piece| self.say(&Message::Piece { number, due, sent, piece }, token));
        Some(true)
    }

    /// Sends frames once more that the far end asks for.
    pub(in super::super) fn send_again(&mut self, first: u64, bits: u64) {
        let mut kept = std::mem::take(&mut self.kept);
        for number in named(first, bits) {
            if let Some((due, content, frame)) = kept.again(number) {
                self.wrap(number, due, content, frame);
            }
        }
        self.loses_until = self.socket.now() + LOSES_FOR;
        self.kept = kept;
        self.socket.flush();
    }

    /// Asks the far end for frames that have not come.
    pub(super) fn ask_again(&mut self, now: u64) {
        let (token, round_trip) = (self.token(), self.path.three_ways().saturating_sub(self.path.most()));
        while let Some((first, bits)) = self.missing.ask(now, round_trip) {
            self.say(&Message::Again { first, bits }, token);
        }
        self.socket.flush();
    }

    /// Takes a frame that came in one datagram; none if it came before.
    pub(super) fn frame<'a>(
        &mut self,
        number: u64,
        due: u64,
        sent: u64,
        bytes: &'a [u8],
        came: u64,
    ) -> Option<Come<'a>> {
        if !self.takes_frames || !self.numbers.take(number) {
            return None;
        }
        self.missing.came(number, came);
        self.heard_of.took.record(between(0, self.path.took(sent, came)), 1);
        Some(Come { due: self.path.here(due, came), content: Content::Packet, bytes })
    }

    /// Takes a piece of a frame: the last of them brings the frame.
    pub(super) fn piece(&mut self, number: u64, due: u64, sent: u64, piece: Piece<'_>, came: u64) -> Option<Come<'_>> {
        if !self.takes_frames {
            return None;
        }
        let lengths = self.lengths();
        let Self { joining, numbers, missing, path, heard_of, .. } = self;
        missing.sent(number, came);
        let (bytes, content) = joining.take((number, due), piece, came, &lengths, numbers)?;
        missing.came(number, came);
        heard_of.took.record(between(0, path.took(sent, came)), 1);
        Some(Come { due: path.here(due, came), content, bytes })
    }
}
