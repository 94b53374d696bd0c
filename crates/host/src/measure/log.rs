//! Samples of TCP connections that a node's kernel takes itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

use super::connections::Connections;
use super::sampler::CHUNK;

/// Writes samples into a file as a [stream](super::SampleStream), as they are handed over. Its owners are sessions.
#[derive(Debug)]
pub struct TcpLog {
    connections: Connections,
    /// Who has sockets, by their inodes: what the present sample found.
    owners: BTreeMap<u32, u64>,
    written: Vec<u8>,
    file: File,
    is_open: bool,
    failure: Option<String>,
}

impl TcpLog {
    /// A log into this file.
    #[must_use]
    pub fn new(file: File) -> Self {
        let (owners, written) = (BTreeMap::new(), Vec::new());
        Self { connections: Connections::default(), owners, written, file, is_open: false, failure: None }
    }

    /// A sample was taken at this instant; what follows is in it.
    pub fn begin(&mut self, time_ns: u64) {
        self.end_sample();
        self.is_open = self.connections.has_room();
        self.connections.begin(time_ns);
    }

    /// A connection: `inet_diag_msg` and attributes (linux/inet_diag.h). What is no such message is left out.
    pub fn connection(&mut self, message: &[u8]) {
        if self.is_open {
            self.connections.see(message, &mut self.written);
        }
    }

    /// A process of this session has the socket with this inode.
    pub fn owner(&mut self, inode: u32, session: u32) {
        // More than there may be connections would not be told apart anyway.
        if self.is_open && self.owners.len() < 1 << 16 {
            self.owners.entry(inode).or_insert(session.into());
        }
    }

    fn end_sample(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.connections.report_owners(&std::mem::take(&mut self.owners), &mut self.written);
            self.connections.end(&mut self.written);
        }
        if self.written.len() >= CHUNK {
            self.write();
        }
    }

    /// The first that the disk does not take are the last: what is behind a gap cannot be read.
    fn write(&mut self) {
        if self.failure.is_none() {
            self.failure = self.file.write_all(&self.written).err().map(|error| format!("writing samples: {error}"));
        }
        self.written.clear();
    }

    /// Ends the samples: all are in the file. Why not, if something went wrong.
    #[must_use]
    pub fn end(mut self) -> Option<String> {
        self.end_sample();
        self.write();
        self.failure
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp::tests::message;
    use super::super::{Finding, SampleStream};
    use super::*;
    use std::io::{BufReader, Seek};

    #[test]
    fn what_changes_is_written_and_whose_it_is() {
        let mut file = tempfile::tempfile().unwrap();
        let mut log = TcpLog::new(file.try_clone().unwrap());
        log.connection(&message(7, 1));
        for (time_ns, cwnd) in [(10, 2), (20, 2), (30, 5)] {
            log.begin(time_ns);
            log.connection(&message(7, cwnd));
            log.connection(b"no message");
            log.owner(super::super::tcp::read(&message(7, 1)).unwrap().0.inode, 43);
        }
        assert_eq!(log.end(), None);
        file.rewind().unwrap();
        let mut stream = SampleStream::new(BufReader::new(file));
        let (mut seen, mut owners) = (Vec::new(), Vec::new());
        while let Some(found) = stream.read().unwrap() {
            match found {
                Finding::Sample(sample) => seen.push((sample.time_ns, sample.value("cwnd_packets"))),
                Finding::Owner { number, owner } => owners.push((number, owner)),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((seen, owners), (vec![(10, Some(2)), (30, Some(5))], vec![(0, 43)]));
    }

    #[test]
    fn that_there_is_no_room_for_more_is_written_once() {
        let mut file = tempfile::tempfile().unwrap();
        let mut log = TcpLog::new(file.try_clone().unwrap());
        log.connections.fill_but_one();
        for cwnd in 1..5 {
            log.begin(cwnd);
            log.connection(&message(7, u32::try_from(cwnd).unwrap()));
        }
        assert_eq!(log.end(), None);
        file.rewind().unwrap();
        let mut stream = SampleStream::new(BufReader::new(file));
        let (mut rows, mut full) = (0, 0);
        while let Some(found) = stream.read().unwrap() {
            rows += u64::from(matches!(found, Finding::Sample(_)));
            full += u64::from(found == Finding::Full);
        }
        assert_eq!((rows, full), (1, 1));
    }
}
