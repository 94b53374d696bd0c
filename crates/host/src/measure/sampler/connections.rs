//! Samples of TCP connections.

use std::collections::BTreeMap;

use nix::unistd::Pid;

use super::MOST_ROWS;
use crate::error::KernelError;
use crate::measure::{owners, stream, tcp};
use crate::netlink::TcpDiag;
use crate::node::ProcessId;

/// Of more connections at one instant the rest is left out.
const MOST_CONNECTIONS: usize = 1_000;

#[derive(Debug)]
pub(super) struct Connections {
    diag: TcpDiag,
    /// Those of the last sample, by their cookies.
    known: BTreeMap<u64, Known>,
    /// How many there have been.
    count: u64,
    rows: u64,
    samples: u64,
    /// Whether it is told which program has a connection.
    owners: bool,
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
    /// Those of the current network namespace.
    pub(super) fn begin(owners: bool) -> Result<Self, KernelError> {
        Ok(Self { diag: TcpDiag::open()?, known: BTreeMap::new(), count: 0, rows: 0, samples: 0, owners })
    }

    /// Whether there may be more rows.
    pub(super) fn has_room(&self) -> bool {
        self.rows < MOST_ROWS
    }

    /// Takes a sample, and notes which of the programs of these sessions have connections of which that is not known.
    pub(super) fn sample(
        &mut self,
        time_ns: u64,
        sessions: &BTreeMap<Pid, ProcessId>,
        written: &mut Vec<u8>,
    ) -> Result<(), KernelError> {
        self.look(time_ns, written)?;
        if self.owners {
            self.look_for_owners(sessions, written);
        }
        Ok(())
    }

    fn look_for_owners(&mut self, sessions: &BTreeMap<Pid, ProcessId>, written: &mut Vec<u8>) {
        let unknown = || |known: &&mut Known| known.looked_for < owners::ATTEMPTS;
        let inodes: Vec<u32> = self.known.values_mut().filter(unknown()).map(|known| known.inode).collect();
        if inodes.is_empty() {
            return;
        }
        let found = owners::owners(&inodes, sessions);
        for known in self.known.values_mut().filter(unknown()) {
            known.looked_for += 1;
            if let Some(owner) = found.get(&known.inode) {
                stream::push_owner(written, known.number, *owner);
                known.looked_for = owners::ATTEMPTS;
            }
        }
    }

    fn look(&mut self, time_ns: u64, written: &mut Vec<u8>) -> Result<(), KernelError> {
        let Self { diag, known, count: connections, rows, samples, .. } = self;
        *samples += 1;
        let (mut count, mut has_time) = (0, false);
        diag.connections(|message| {
            let Some((tcp::Socket { cookie, inode }, connection, row)) = tcp::read(message) else { return };
            count += 1;
            if count > MOST_CONNECTIONS || *rows >= MOST_ROWS {
                return;
            }
            let row = stream::packed(&row);
            let is_same = known.get_mut(&cookie).is_some_and(|before| {
                before.seen = *samples;
                before.connection == connection && before.row == row
            });
            if is_same {
                return;
            }
            if !std::mem::replace(&mut has_time, true) {
                stream::push_time(written, time_ns);
            }
            let before = known.get(&cookie);
            let number = before.map_or(*connections, |before| before.number);
            if before.is_none_or(|before| before.connection != connection) {
                stream::push_connection(written, number, &connection);
            }
            *connections += u64::from(before.is_none());
            stream::push_row(written, number, &row);
            *rows += 1;
            let looked_for = before.map_or(0, |before| before.looked_for);
            known.insert(cookie, Known { number, connection, row, seen: *samples, inode, looked_for });
        })?;
        if count > MOST_CONNECTIONS {
            stream::push_left_out(written, (count - MOST_CONNECTIONS) as u64);
        }
        if *rows >= MOST_ROWS {
            stream::push_full(written);
        }
        known.retain(|_, connection| connection.seen == *samples);
        Ok(())
    }
}
