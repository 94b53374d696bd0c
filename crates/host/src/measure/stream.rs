//! The stream of samples: entries, each of which begins with a byte that says what it is. Numbers have seven bits per byte, the lowest
//! first, as in LEB128.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};
use std::net::{IpAddr, SocketAddr};

use super::system::{FIGURES, Figures, SystemSample};
use super::tcp::{Connection, FIGURES_OF_ROW, Row, TcpSample, figures_of};

/// A connection gets a number: number, local and remote address (length in bytes, bytes, port), length and text of the algorithm's name.
const CONNECTION: u8 = 1;
/// What follows was sampled at this instant: nanoseconds of the node's clock.
const TIME: u8 = 2;
/// A row: number of its connection, and what [`Row`] has.
const ROW: u8 = 3;
/// In this sample so many connections are left out.
const LEFT_OUT: u8 = 4;
/// There are as many rows as there may be: samples of connections end here.
const FULL: u8 = 5;
/// What the node uses: its figures, each as the next number, and a zero for none.
const SYSTEM: u8 = 6;
/// The same of these samples.
const SYSTEM_FULL: u8 = 7;
/// Whose a connection is: its number, and that of the program or session.
const OWNER: u8 = 8;

pub(super) fn push_connection(to: &mut Vec<u8>, number: u64, connection: &Connection) {
    to.push(CONNECTION);
    push(to, number);
    for address in [connection.local, connection.remote] {
        match address.ip() {
            IpAddr::V4(ip) => push_bytes(to, &ip.octets()),
            IpAddr::V6(ip) => push_bytes(to, &ip.octets()),
        }
        push(to, address.port().into());
    }
    push_bytes(to, connection.congestion.as_bytes());
}

pub(super) fn push_time(to: &mut Vec<u8>, time_ns: u64) {
    to.push(TIME);
    push(to, time_ns);
}

pub(super) fn push_row(to: &mut Vec<u8>, number: u64, row: &[u8]) {
    to.push(ROW);
    push(to, number);
    to.extend_from_slice(row);
}

/// A row as it stands behind its number.
pub(super) fn packed(row: &Row) -> Vec<u8> {
    let mut to = vec![row.state, row.ca_state, row.app_limited.into()];
    row.figures.iter().for_each(|figure| push(&mut to, *figure));
    to.push(row.algorithm);
    row.own.iter().for_each(|figure| push(&mut to, *figure));
    to
}

pub(super) fn push_left_out(to: &mut Vec<u8>, count: u64) {
    to.push(LEFT_OUT);
    push(to, count);
}

pub(super) fn push_full(to: &mut Vec<u8>) {
    to.push(FULL);
}

pub(super) fn push_system(to: &mut Vec<u8>, figures: &Figures) {
    to.push(SYSTEM);
    figures.values().iter().for_each(|value| push(to, value.map_or(0, |value| value.saturating_add(1))));
}

pub(super) fn push_system_full(to: &mut Vec<u8>) {
    to.push(SYSTEM_FULL);
}

pub(super) fn push_owner(to: &mut Vec<u8>, number: u64, owner: u64) {
    to.push(OWNER);
    push(to, number);
    push(to, owner);
}

fn push(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

fn push_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    push(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

/// An entry of a stream of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding<'a> {
    /// A sample of a connection.
    Sample(TcpSample<'a>),
    /// The number of connections that are left out of a sample.
    LeftOut(u64),
    /// The end of the samples of connections, since there are as many rows as there may be.
    Full,
    /// A sample of what the node uses.
    System(SystemSample),
    /// The end of the samples of what the node uses, since there are as many as there may be.
    SystemFull,
    /// The program that has a connection.
    Owner {
        /// The connection's number.
        number: u64,
        /// The number with which its program was started; in a [log](super::TcpLog) the session of its program.
        owner: u64,
    },
}

/// Reads samples.
#[derive(Debug)]
pub struct SampleStream<R> {
    from: R,
    time_ns: u64,
    connections: BTreeMap<u64, Connection>,
    row: Row,
}

impl<R: BufRead> SampleStream<R> {
    /// Returns a stream that is read from its beginning.
    pub fn new(from: R) -> Self {
        Self { from, time_ns: 0, connections: BTreeMap::new(), row: Row::default() }
    }

    /// Reads the next entry; returns none at the end, also of a stream that ends within an entry.
    ///
    /// # Errors
    /// When it cannot be read, or is no such stream.
    pub fn read(&mut self) -> io::Result<Option<Finding<'_>>> {
        let found = match self.entry() {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            found => found?,
        };
        Ok(Some(match found {
            Entry::Row(number) => {
                let connection = self.connections.get(&number).ok_or_else(|| wrong("a row of no connection"))?;
                Finding::Sample(TcpSample { time_ns: self.time_ns, number, connection, row: &self.row })
            }
            Entry::LeftOut(count) => Finding::LeftOut(count),
            Entry::Full => Finding::Full,
            Entry::System(values) => Finding::System(SystemSample { time_ns: self.time_ns, values }),
            Entry::SystemFull => Finding::SystemFull,
            Entry::Owner(number, owner) => Finding::Owner { number, owner },
        }))
    }

    fn entry(&mut self) -> io::Result<Entry> {
        loop {
            match self.byte()? {
                CONNECTION => {
                    let number = self.number()?;
                    let [local, remote] = [self.address()?, self.address()?];
                    let congestion = String::from_utf8_lossy(&self.bytes(16)?).into_owned();
                    self.connections.insert(number, Connection { local, remote, congestion });
                }
                TIME => self.time_ns = self.number()?,
                ROW => {
                    let number = self.number()?;
                    self.read_row()?;
                    return Ok(Entry::Row(number));
                }
                LEFT_OUT => return Ok(Entry::LeftOut(self.number()?)),
                FULL => return Ok(Entry::Full),
                SYSTEM => {
                    let mut values = [None; FIGURES];
                    for value in &mut values {
                        *value = self.number()?.checked_sub(1);
                    }
                    return Ok(Entry::System(values));
                }
                SYSTEM_FULL => return Ok(Entry::SystemFull),
                OWNER => return Ok(Entry::Owner(self.number()?, self.number()?)),
                _ => return Err(wrong("an entry of no known kind")),
            }
        }
    }

    fn read_row(&mut self) -> io::Result<()> {
        let [state, ca_state, app_limited] = [self.byte()?, self.byte()?, self.byte()?];
        let figures = (0..FIGURES_OF_ROW).map(|_| self.number()).collect::<io::Result<_>>()?;
        let algorithm = self.byte()?;
        let count = figures_of(algorithm).ok_or_else(|| wrong("an algorithm of no known kind"))?;
        let own = (0..count).map(|_| self.number()).collect::<io::Result<_>>()?;
        self.row = Row { state, ca_state, app_limited: app_limited == 1, figures, algorithm, own };
        Ok(())
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.from.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(wrong("a number of more than 64 bits"))
    }

    fn bytes(&mut self, most: u64) -> io::Result<Vec<u8>> {
        let length = self.number()?;
        if length > most {
            return Err(wrong("a text that is too long"));
        }
        let mut bytes = Vec::new();
        if self.from.by_ref().take(length).read_to_end(&mut bytes)? as u64 == length {
            Ok(bytes)
        } else {
            Err(io::ErrorKind::UnexpectedEof.into())
        }
    }

    fn address(&mut self) -> io::Result<SocketAddr> {
        let bytes = self.bytes(16)?;
        let ip: IpAddr = match (<[u8; 4]>::try_from(&bytes[..]), <[u8; 16]>::try_from(&bytes[..])) {
            (Ok(v4), _) => v4.into(),
            (_, Ok(v6)) => v6.into(),
            _ => return Err(wrong("an address of no known kind")),
        };
        let port = self.number()?.try_into().map_err(|_| wrong("a port of more than 16 bits"))?;
        Ok(SocketAddr::new(ip, port))
    }
}

enum Entry {
    Row(u64),
    LeftOut(u64),
    Full,
    System([Option<u64>; FIGURES]),
    SystemFull,
    Owner(u64, u64),
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("this is not a stream of samples: {what}"))
}

#[cfg(test)]
mod tests {
    use super::super::tcp::{read, tests::message};
    use super::*;

    fn figures() -> Figures {
        Figures { user_ns: 300, processes: 2, softnet_squeezed: Some(0), ..Figures::default() }
    }

    fn stream() -> Vec<u8> {
        let (_, connection, row) = read(&message(7, 300)).unwrap();
        let mut bytes = Vec::new();
        push_time(&mut bytes, 1 << 40);
        push_connection(&mut bytes, 3, &connection);
        push_row(&mut bytes, 3, &packed(&row));
        push_owner(&mut bytes, 3, 300);
        push_left_out(&mut bytes, 200);
        push_full(&mut bytes);
        push_system(&mut bytes, &figures());
        push_system_full(&mut bytes);
        bytes
    }

    #[test]
    fn a_stream_comes_back() {
        let (_, connection, row) = read(&message(7, 300)).unwrap();
        let bytes = stream();
        let mut read = SampleStream::new(&bytes[..]);
        let sample = TcpSample { time_ns: 1 << 40, number: 3, connection: &connection, row: &row };
        assert_eq!(read.read().unwrap(), Some(Finding::Sample(sample)));
        assert_eq!(read.read().unwrap(), Some(Finding::Owner { number: 3, owner: 300 }));
        assert_eq!(read.read().unwrap(), Some(Finding::LeftOut(200)));
        assert_eq!(read.read().unwrap(), Some(Finding::Full));
        let Some(Finding::System(system)) = read.read().unwrap() else { panic!("no sample of the node") };
        let mut text = String::new();
        system.write(&mut text);
        assert_eq!((system.time_ns, text.as_str()), (1 << 40, "300,0,2,0,0,0,,,0"));
        assert_eq!(text.split(',').count(), super::super::system_columns().split(',').count());
        assert_eq!(read.read().unwrap(), Some(Finding::SystemFull));
        assert_eq!(read.read().unwrap(), None);
    }

    #[test]
    fn a_stream_that_ends_or_is_damaged_is_read_to_there() {
        let bytes = stream();
        for length in 0..bytes.len() {
            let mut read = SampleStream::new(&bytes[..length]);
            while read.read().unwrap().is_some() {}
        }
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0xff;
            let mut read = SampleStream::new(&damaged[..]);
            while let Ok(Some(_)) = read.read() {}
        }
    }
}
