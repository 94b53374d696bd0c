//! Frames to the far end and from there: wrapped, joined, and repaired where the path loses some.

use super::super::message::{Message, PIECE, between};
use super::super::pieces::{Piece, cut};
use super::super::repair::{SAID_AFTER, named};
use super::{Come, FarEnd};

impl FarEnd {
    /// Wraps a frame, which leaves when the socket is flushed; in pieces, if it does not fit into a datagram. Returns false if even those
    /// are too many.
    pub(in super::super) fn send(&mut self, due: u64, frame: &[u8]) -> bool {
        if std::mem::take(&mut self.socket.is_narrower) {
            self.room.ask(&self.socket);
        }
        let number = self.frames;
        let Some(is_cut) = self.wrap(number, due, frame) else { return false };
        self.kept.keep(number, due, frame);
        self.heard_of.cut += u64::from(is_cut);
        (self.frames, self.heard_of.sent) = (self.frames + 1, self.heard_of.sent + 1);
        self.says_at = self.socket.now() + SAID_AFTER;
        true
    }

    /// Puts a frame into datagrams, and returns whether it was cut; none if it would take too many.
    fn wrap(&mut self, number: u64, due: u64, frame: &[u8]) -> Option<bool> {
        let (token, sent) = (self.token(), self.socket.now());
        let room = self.room.datagram() - self.overhead();
        if frame.len() <= room {
            self.say(&Message::Frame { number, due, sent, bytes: frame }, token);
            return Some(false);
        }
        cut(frame, room - PIECE)?.for_each(|piece| self.say(&Message::Piece { number, due, sent, piece }, token));
        Some(true)
    }

    /// Sends frames once more that the far end asks for.
    pub(super) fn send_again(&mut self, first: u64, bits: u64) {
        let mut kept = std::mem::take(&mut self.kept);
        for number in named(first, bits) {
            if let Some((due, frame)) = kept.again(number) {
                self.wrap(number, due, frame);
            }
        }
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
        Some(Come { due: self.path.here(due, came), bytes })
    }

    /// Takes a piece of a frame: the last of them brings the frame.
    pub(super) fn piece(&mut self, number: u64, due: u64, sent: u64, piece: Piece<'_>, came: u64) -> Option<Come<'_>> {
        if !self.takes_frames {
            return None;
        }
        let lengths = self.lengths();
        let Self { joining, numbers, missing, path, heard_of, .. } = self;
        missing.sent(number, came);
        let bytes = joining.take((number, due), piece, came, &lengths, numbers)?;
        missing.came(number, came);
        heard_of.took.record(between(0, path.took(sent, came)), 1);
        Some(Come { due: path.here(due, came), bytes })
    }
}
