//! The TCP connections of a node, from sample to sample.

use std::collections::BTreeMap;

use super::{owners, stream, tcp};

/// Samples of a kind end when there are so many rows in a node; those of connections take half a gigabyte as text.
pub(super) const MOST_ROWS: u64 = 2_000_000;
/// Of more connections at one instant the rest is left out.
const MOST_CONNECTIONS: usize = 1_000;

/// Writes down what has changed since the sample before.
#[derive(Debug, Default)]
pub(super) struct Connections {
    /// Those of the last sample, by their cookies.
    known: BTreeMap<u64, Known>,
    /// How many there have been.
    count: u64,
    rows: u64,
    samples: u64,
    sample: Sample,
}

/// The sample that is being taken.
#[derive(Debug, Default)]
struct Sample {
    time_ns: u64,
    has_time: bool,
    count: usize,
}

/// A connection that was there at the last sample.
#[derive(Debug)]
struct Known {
    number: u64,
    connection: tcp::Connection,
    /// Its last row.
    row: Vec<u8>,
    /// The last sample that it was in.
    seen: u64,
    /// Its socket's inode; 0 of a connection that no program has.
    inode: u32,
    /// How often it was looked for its program; [`ATTEMPTS`](owners::ATTEMPTS) if that is known.
    looked_for: u8,
}

impl Connections {
    /// Whether there may be more rows.
    pub(super) fn has_room(&self) -> bool {
        self.rows < MOST_ROWS
    }

    #[cfg(test)]
    pub(super) fn fill_but_one(&mut self) {
        self.rows = MOST_ROWS - 1;
    }

    /// Begins a sample.
    pub(super) fn begin(&mut self, time_ns: u64) {
        self.samples += 1;
        self.sample = Sample { time_ns, has_time: false, count: 0 };
    }

    /// A connection of this sample: `inet_diag_msg` and attributes.
    pub(super) fn see(&mut self, message: &[u8], written: &mut Vec<u8>) {
        let Some((tcp::Socket { cookie, inode }, connection, row)) = tcp::read(message) else { return };
        self.sample.count += 1;
        if self.sample.count > MOST_CONNECTIONS || !self.has_room() {
            return;
        }
        let row = stream::packed(&row);
        let samples = self.samples;
        let is_same = self.known.get_mut(&cookie).is_some_and(|before| {
            before.seen = samples;
            before.connection == connection && before.row == row
        });
        if is_same {
            return;
        }
        if !std::mem::replace(&mut self.sample.has_time, true) {
            stream::push_time(written, self.sample.time_ns);
        }
        let before = self.known.get(&cookie);
        let number = before.map_or(self.count, |before| before.number);
        if before.is_none_or(|before| before.connection != connection) {
            stream::push_connection(written, number, &connection);
        }
        self.count += u64::from(before.is_none());
        stream::push_row(written, number, &row);
        self.rows += 1;
        let looked_for = before.map_or(0, |before| before.looked_for);
        self.known.insert(cookie, Known { number, connection, row, seen: samples, inode, looked_for });
    }

    /// Ends the sample.
    pub(super) fn end(&mut self, written: &mut Vec<u8>) {
        if self.sample.count > MOST_CONNECTIONS {
            stream::push_left_out(written, (self.sample.count - MOST_CONNECTIONS) as u64);
        }
        if !self.has_room() {
            stream::push_full(written);
        }
        let samples = self.samples;
        self.known.retain(|_, connection| connection.seen == samples);
    }

    /// The inodes of sockets of which it is not known, and may still be found, who has them.
    pub(super) fn without_owner(&self) -> Vec<u32> {
        let unknown = self.known.values().filter(|known| known.looked_for < owners::ATTEMPTS);
        unknown.map(|known| known.inode).collect()
    }

    /// It was looked who has sockets, by their inodes.
    pub(super) fn report_owners(&mut self, found: &BTreeMap<u32, u64>, written: &mut Vec<u8>) {
        for known in self.known.values_mut().filter(|known| known.looked_for < owners::ATTEMPTS) {
            known.looked_for += 1;
            if let Some(owner) = found.get(&known.inode) {
                stream::push_owner(written, known.number, *owner);
                known.looked_for = owners::ATTEMPTS;
            }
        }
    }
}
