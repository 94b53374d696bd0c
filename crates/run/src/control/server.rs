//! The lab's side of the control socket: connections and their messages. What is asked is answered elsewhere.

use super::protocol::{Reply, Request};
use crate::jsonl::{Lines, to_line};
use netloom_host::fds::{Received, try_receive_with_fds};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// A request longer than this is no request of ours.
const LONGEST_REQUEST: usize = 4 * 1024 * 1024;

/// A connection.
pub(crate) type ClientId = u64;

/// See the module.
#[derive(Debug)]
pub(crate) struct Server {
    listener: UnixListener,
    connections: BTreeMap<ClientId, Connection>,
    next: ClientId,
}

#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    lines: Lines,
    fds: VecDeque<OwnedFd>,
    unsent: Vec<u8>,
}

/// What a connection brought.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A request, with the descriptors that came along.
    Request(Request, Vec<OwnedFd>),
    /// Something that is no request.
    Nonsense(String),
    /// The client went away.
    Gone,
}

impl Server {
    /// Listens at `path`.
    pub(crate) fn listen(path: &Path) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, connections: BTreeMap::new(), next: 0 })
    }

    /// What to poll for new connections.
    pub(crate) fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// What to poll for requests; the flag says whether an answer waits to be sent.
    pub(crate) fn connections(&self) -> impl Iterator<Item = (ClientId, BorrowedFd<'_>, bool)> {
        self.connections.iter().map(|(id, this)| (*id, this.stream.as_fd(), !this.unsent.is_empty()))
    }

    /// Accepts the connections that wait. One that goes away meanwhile is no loss.
    pub(crate) fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_ok() {
                let connection =
                    Connection { stream, lines: Lines::default(), fds: VecDeque::new(), unsent: Vec::new() };
                self.connections.insert(self.next, connection);
                self.next += 1;
            }
        }
    }

    /// Reads what a connection has.
    pub(crate) fn read(&mut self, id: ClientId) -> Vec<Incoming> {
        let Some(connection) = self.connections.get_mut(&id) else { return Vec::new() };
        let (mut incoming, open) = connection.read();
        if !open {
            self.connections.remove(&id);
            incoming.push(Incoming::Gone);
        }
        incoming
    }

    /// Sends a reply, as far as the client takes it now; the rest when it does.
    pub(crate) fn reply(&mut self, id: ClientId, reply: &Reply) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.unsent.extend(to_line(reply));
            connection.flush();
        }
    }

    /// A client takes more now.
    pub(crate) fn flush(&mut self, id: ClientId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.flush();
        }
    }
}

impl Connection {
    fn read(&mut self) -> (Vec<Incoming>, bool) {
        let mut buffer = [0; 16 * 1024];
        let mut incoming = Vec::new();
        loop {
            match try_receive_with_fds(&self.stream, &mut buffer) {
                Ok(Received { length: 0, .. }) => return (incoming, false),
                Ok(Received { length, fds }) => {
                    self.fds.extend(fds);
                    self.lines.feed(&buffer[..length]);
                    self.parse(&mut incoming);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return (incoming, true),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return (incoming, false),
            }
            if self.lines.pending() > LONGEST_REQUEST {
                return (incoming, false);
            }
        }
    }

    fn parse(&mut self, incoming: &mut Vec<Incoming>) {
        while let Some(line) = self.lines.next::<Request>() {
            incoming.push(match line {
                Ok(request) => {
                    let wanted = match request {
                        Request::Exec(_) => 3,
                        Request::Capture(_) => 1,
                        _ => 0,
                    };
                    let there = self.fds.len().min(wanted);
                    Incoming::Request(request, self.fds.drain(..there).collect())
                }
                Err(error) => Incoming::Nonsense(error.to_string()),
            });
        }
    }

    /// A client that went away is noticed when it is read next.
    fn flush(&mut self) {
        while !self.unsent.is_empty() {
            match self.stream.write(&self.unsent) {
                Ok(0) | Err(_) => return,
                Ok(length) => drop(self.unsent.drain(..length)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_host::fds::send_with_fds;
    use std::io::{BufRead, BufReader};

    fn connected() -> (Server, UnixStream, ClientId) {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::listen(&folder.path().join("socket")).unwrap();
        let client = UnixStream::connect(folder.path().join("socket")).unwrap();
        server.accept();
        let (id, _, _) = server.connections().next().unwrap();
        (server, client, id)
    }

    #[test]
    fn requests_nonsense_and_the_end_come_in_order() {
        let (mut server, mut client, id) = connected();
        client.write_all(b"{\"request\":\"info\"}\nnonsense\n").unwrap();
        drop(client);
        let incoming = server.read(id);
        assert!(matches!(&incoming[..], [Incoming::Request(Request::Info, _), Incoming::Nonsense(_), Incoming::Gone]));
        assert_eq!(server.connections().count(), 0);
    }

    #[test]
    fn descriptors_go_with_the_request_that_wants_them() {
        let (mut server, client, id) = connected();
        let exec = super::super::protocol::Exec {
            node: "a".into(),
            argv: vec!["true".into()],
            env: Vec::new(),
            cwd: "/".into(),
            terminal: false,
            user: None,
        };
        let line = [to_line(&Request::Info), to_line(&Request::Exec(exec))].concat();
        send_with_fds(&client, &line, &[client.as_fd(); 3]).unwrap();
        let counts: Vec<usize> = server
            .read(id)
            .iter()
            .map(|incoming| if let Incoming::Request(_, fds) = incoming { fds.len() } else { usize::MAX })
            .collect();
        assert_eq!(counts, [0, 3]);
    }

    #[test]
    fn a_reply_that_the_client_does_not_take_waits() {
        let (mut server, client, id) = connected();
        let reply = Reply::Refused { code: 1, message: "x".repeat(1_000_000) };
        server.reply(id, &reply);
        assert!(server.connections().next().unwrap().2, "something waits");
        let reader = std::thread::spawn(move || BufReader::new(client).lines().next().unwrap().unwrap().len());
        while server.connections().next().unwrap().2 {
            server.flush(id);
        }
        assert!(reader.join().unwrap() > 1_000_000);
    }
}
