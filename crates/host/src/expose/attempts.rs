//! A UDP port of a node, at whichever of its addresses a program has opened it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

/// The largest datagram.
pub(super) const LONGEST: usize = 65_535;

/// A socket that sends to a port of the node in whose network it is. UDP knows no connections: that nothing listens at an
/// address is only learned when a datagram there is refused, which then goes to the next address.
#[derive(Debug)]
pub(super) struct Attempts {
    addresses: Vec<IpAddr>,
    port: u16,
    /// The place of the address that is in use.
    at: usize,
    socket: UdpSocket,
    /// What was sent last; none once the address is known to be right.
    unanswered: Option<Vec<u8>>,
}

impl Attempts {
    /// To `port` at the first of these addresses that the node has.
    pub(super) fn new(addresses: &[IpAddr], port: u16) -> io::Result<Self> {
        let (at, socket) = connect(addresses, 0, port).ok_or(io::ErrorKind::ConnectionRefused)?;
        Ok(Self { addresses: addresses.to_vec(), port, at, socket, unanswered: Some(Vec::new()) })
    }

    /// Sends a datagram. One that is refused everywhere is lost.
    pub(super) fn send(&mut self, datagram: &[u8]) {
        if let Some(last) = &mut self.unanswered {
            datagram.clone_into(last);
        }
        // An earlier refusal shows first; that of this datagram shows at once, or when the socket is read.
        let mut is_again = false;
        for _ in 0..=2 * self.addresses.len() {
            let outcome = self.socket.send(datagram).and_then(|_| self.socket.take_error()?.map_or(Ok(()), Err));
            match outcome {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    let goes_on = if self.unanswered.is_some() { self.advance() } else { !is_again };
                    if !goes_on {
                        return;
                    }
                    is_again = true;
                }
                // Whatever else happens to a datagram, it is lost as datagrams are.
                _ => return,
            }
        }
    }

    /// The next datagram from the node, without waiting; none if there is none.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> Option<usize> {
        loop {
            match self.socket.recv(buffer) {
                Ok(length) => {
                    self.unanswered = None;
                    return Some(length);
                }
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    let Some(last) = self.unanswered.clone() else { continue };
                    if !self.advance() {
                        return None;
                    }
                    self.send(&last);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }

    /// Turns to the next address; false if all have been tried. Then it begins anew, since programs may come yet.
    fn advance(&mut self) -> bool {
        let next = connect(&self.addresses, self.at + 1, self.port);
        let is_there = next.is_some();
        if let Some((at, socket)) = next.or_else(|| connect(&self.addresses, 0, self.port)) {
            (self.at, self.socket) = (at, socket);
        }
        is_there
    }
}

impl AsFd for Attempts {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A socket to the first of the addresses from `first` on that the node has, and the place of the address.
fn connect(addresses: &[IpAddr], first: usize, port: u16) -> Option<(usize, UdpSocket)> {
    let open = |address: IpAddr| -> io::Result<UdpSocket> {
        let any = if address.is_ipv4() { IpAddr::from(Ipv4Addr::UNSPECIFIED) } else { Ipv6Addr::UNSPECIFIED.into() };
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(SocketAddr::new(address, port))?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    let from = addresses.iter().enumerate().skip(first);
    from.filter_map(|(at, address)| Some((at, open(*address).ok()?))).next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::time::{Duration, Instant};

    fn addresses() -> [IpAddr; 3] {
        [2, 3, 4].map(|last| IpAddr::from(Ipv4Addr::new(127, 0, 0, last)))
    }

    fn received(attempts: &mut Attempts) -> Vec<u8> {
        let (mut buffer, begun) = ([0; 16], Instant::now());
        while begun.elapsed() < Duration::from_secs(50) {
            if let Some(length) = attempts.receive(&mut buffer) {
                return buffer[..length].to_vec();
            }
        }
        panic!("nothing has come for 50 s");
    }

    #[test]
    fn datagrams_find_the_address_at_which_a_program_listens() {
        let server = UdpSocket::bind((addresses()[2], 0)).unwrap();
        server.set_read_timeout(Some(Duration::from_secs(50))).unwrap();
        let mut attempts = Attempts::new(&addresses(), server.local_addr().unwrap().port()).unwrap();
        let mut buffer = [0; 16];
        attempts.send(b"ask");
        // If the refusals did not show at once.
        assert_eq!(attempts.receive(&mut buffer), None);
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"ask");
        server.send_to(b"answer", from).unwrap();
        assert_eq!(received(&mut attempts), b"answer");
    }

    #[test]
    fn a_program_that_comes_late_is_found() {
        let port = UdpSocket::bind((addresses()[0], 0)).unwrap().local_addr().unwrap().port();
        let mut attempts = Attempts::new(&addresses(), port).unwrap();
        attempts.send(b"lost");
        assert_eq!(attempts.receive(&mut [0; 16]), None);
        let server = UdpSocket::bind((addresses()[1], port)).unwrap();
        server.set_read_timeout(Some(Duration::from_secs(50))).unwrap();
        attempts.send(b"found");
        let mut buffer = [0; 16];
        attempts.receive(&mut buffer);
        let (length, from) = server.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"found");
        server.send_to(b"yes", from).unwrap();
        assert_eq!(received(&mut attempts), b"yes");
        // It goes, and another one comes: its datagrams are sent where the first was.
        drop(server);
        attempts.send(b"lost");
        let second = UdpSocket::bind((addresses()[1], port)).unwrap();
        second.set_read_timeout(Some(Duration::from_secs(50))).unwrap();
        attempts.send(b"again");
        let again = second.recv(&mut buffer).unwrap();
        assert_eq!(&buffer[..again], b"again");
    }
}
