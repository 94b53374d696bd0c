//! The lab's side of the control socket: connections and their messages. What is asked is answered elsewhere.
//!
//! A client takes from the lab what it pays for itself: of one that does not read its answers nothing more is read, its
//! descriptors are closed unless a request takes them, and where the lab may open no more, clients wait for a while.

mod outbox;

use crate::protocol::{Answer, Event, Id, Message, Notice, Refused, Reply, Request, read};
use netloom_host::fds::{MAX_FDS, Received, try_receive_with_fds};
use netloom_host::jsonl::{Lines, to_line};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use outbox::Outbox;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// A request longer than this is no request of ours.
const LONGEST_REQUEST: usize = 4 * 1024 * 1024;
/// Read of a client at once: others have their turn between.
const AT_ONCE: usize = 4 * 1024;
/// Where the lab may open no more descriptors, it looks for new clients this often.
const PAUSE: Duration = Duration::from_secs(1);

/// The number of a client's connection.
pub type ClientId = u64;

/// The lab's side of the control socket; see the module.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    connections: BTreeMap<ClientId, Connection>,
    next: ClientId,
    /// No client is accepted before.
    paused_until: Option<Instant>,
}

#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    lines: Lines,
    fds: VecDeque<OwnedFd>,
    unsent: Outbox,
    end: Option<End>,
    /// The identifier of the request that is answered next.
    asked: Option<Id>,
    /// The word that came with that request.
    word: Option<String>,
    /// Whether that request is to start a program.
    asks_for_program: bool,
    /// The identifier of the request that has started one.
    started: Option<Id>,
    /// Whether the request is answered later.
    is_postponed: bool,
}

/// The event that a connection is to be polled for, beside its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// Requests of the client.
    Requests,
    /// Room for what waits to be sent to the client.
    Room,
    /// No event: the client's request is still to be answered.
    Nothing,
}

/// Why nothing more comes from a connection.
#[derive(Debug)]
enum End {
    /// The client went away.
    Closed,
    /// It sent what nobody can want.
    Absurd(&'static str),
}

/// A request of a client, or the end of its connection.
#[derive(Debug)]
pub enum Incoming {
    /// A request, with the descriptors that came along.
    Request(Request, Vec<OwnedFd>),
    /// The client went away, or was sent away.
    Gone,
}

impl Server {
    /// Listens at `path`. A socket that is seen there already takes connections: it is made beside it, as
    /// `path` with the extension `new`, and moved when it listens.
    pub fn listen(path: &Path) -> io::Result<Self> {
        let unfinished = path.with_extension("new");
        let listener = UnixListener::bind(&unfinished)?;
        listener.set_nonblocking(true)?;
        fs::rename(&unfinished, path)?;
        Ok(Self { listener, connections: BTreeMap::new(), next: 0, paused_until: None })
    }

    /// Returns the socket to poll for new connections; none for a while after [`Server::accept`] has failed.
    pub fn listener(&self) -> Option<BorrowedFd<'_>> {
        let is_paused = self.paused_until.is_some_and(|until| Instant::now() < until);
        (!is_paused).then(|| self.listener.as_fd())
    }

    /// Returns the connections to poll, each with the event to poll it for.
    pub fn connections(&self) -> impl Iterator<Item = (ClientId, BorrowedFd<'_>, Awaited)> {
        self.connections.iter().map(|(id, this)| (*id, this.stream.as_fd(), this.awaited()))
    }

    /// Accepts the connections that wait. One that goes away meanwhile is no loss.
    ///
    /// # Errors
    /// The first time in a row that the kernel refuses: mostly, there are too many descriptors.
    pub fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    self.paused_until = None;
                    self.admit(stream);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                // The connection goes on waiting, and polled, it would be ready again at once.
                Err(error) => {
                    let is_news = self.paused_until.replace(Instant::now() + PAUSE).is_none();
                    return if is_news { Err(error) } else { Ok(()) };
                }
            }
        }
    }

    fn admit(&mut self, stream: UnixStream) {
        if stream.set_nonblocking(true).is_ok() {
            self.connections.insert(self.next, Connection::new(stream));
            self.next += 1;
        }
    }

    /// Sends what waits for a client, and takes in some of what it has sent.
    pub fn serve(&mut self, id: ClientId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.flush();
            let awaited = connection.awaited();
            if awaited == Awaited::Requests || (awaited == Awaited::Nothing && connection.has_hung_up()) {
                connection.read();
            }
        }
    }

    /// Returns the next request of a client, or its end; none while it does not take the answer to what it asked
    /// before. What is no request is refused here, and the connection goes on.
    pub fn next(&mut self, id: ClientId) -> Option<Incoming> {
        let connection = self.connections.get_mut(&id)?;
        let is_closed = matches!(connection.end, Some(End::Closed));
        if connection.awaited() != Awaited::Requests && !is_closed {
            return None;
        }
        if connection.is_postponed {
            // It has gone without waiting for the answer, and what it asked behind that was to follow it.
            connection.lines = Lines::default();
        }
        if let Some(incoming) = connection.parse() {
            return Some(incoming);
        }
        if let Some(End::Absurd(what)) = connection.end {
            connection.refuse(None, Refused::usage(format!("{what}: this is no client of netloom")));
        }
        connection.end.is_some().then(|| {
            self.connections.remove(&id);
            Incoming::Gone
        })
    }

    /// Sends the reply to the request that [`Server::next`] gave last, as far as the client takes it now; the rest when it
    /// does. [`Reply::Exited`] belongs to the request that started the program.
    pub fn reply(&mut self, id: ClientId, reply: &Reply) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.reply(reply);
        }
    }

    /// Postpones the reply to the request that [`Server::next`] gave last. No other request is read before it.
    pub fn postpone(&mut self, id: ClientId) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.is_postponed = true;
        }
    }

    /// Sends the reply to the request that [`Server::next`] gave last together with a descriptor, which comes with the
    /// first byte of the reply.
    pub fn reply_with(&mut self, id: ClientId, reply: &Reply, fd: OwnedFd) {
        if let Some(connection) = self.connections.get_mut(&id) {
            let asked = connection.asked.take();
            connection.unsent.push_with(&to_line(&Answer { id: asked.as_ref(), reply }), fd);
            connection.flush();
        }
    }

    /// Returns the identifier of the request that [`Server::next`] gave last, if that has one.
    pub fn asked(&self, id: ClientId) -> Option<Id> {
        self.connections.get(&id)?.asked.clone()
    }

    /// Returns the word that the request that [`Server::next`] gave last came with: that of whoever keeps all parts of a lab over several machines.
    pub fn word(&self, id: ClientId) -> Option<&str> {
        self.connections.get(&id)?.word.as_deref()
    }

    /// Whether a client has taken all that was sent to it, so that more may be sent.
    pub fn is_clear(&self, id: ClientId) -> bool {
        self.connections.get(&id).is_some_and(|connection| connection.unsent.is_empty() && connection.end.is_none())
    }

    /// Sends a client an event that it has subscribed to, as far as it takes it now. To be called where it [is
    /// clear](Self::is_clear): what it does not take is kept.
    pub fn report(&mut self, id: ClientId, subscription: Option<&Id>, event: &Event) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.unsent.push(&to_line(&Notice { id: subscription, event }));
            connection.flush();
        }
    }
}

impl Connection {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            lines: Lines::default(),
            fds: VecDeque::new(),
            unsent: Outbox::default(),
            end: None,
            asked: None,
            word: None,
            asks_for_program: false,
            started: None,
            is_postponed: false,
        }
    }

    fn awaited(&self) -> Awaited {
        match (self.unsent.is_empty(), self.is_postponed) {
            (false, _) => Awaited::Room,
            (true, true) => Awaited::Nothing,
            (true, false) => Awaited::Requests,
        }
    }

    /// Whether the client has closed the connection in both directions.
    fn has_hung_up(&self) -> bool {
        let mut polled = [PollFd::new(self.stream.as_fd(), PollFlags::empty())];
        poll(&mut polled, PollTimeout::ZERO).is_ok() && polled[0].any() == Some(true)
    }

    fn read(&mut self) {
        let mut buffer = [0; AT_ONCE];
        match try_receive_with_fds(&self.stream, &mut buffer) {
            Ok(Received { length: 0, .. }) => self.end = Some(End::Closed),
            Ok(Received { length, fds }) => {
                self.fds.extend(fds);
                self.lines.feed(&buffer[..length]);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.end = Some(End::Closed),
        }
        if self.lines.pending() > LONGEST_REQUEST {
            self.end = Some(End::Absurd("a request of more than 4 MiB"));
        } else if self.fds.len() > MAX_FDS {
            self.end = Some(End::Absurd("more descriptors than any request takes"));
        }
    }

    /// The next request, unless the client has to take an answer first.
    fn parse(&mut self) -> Option<Incoming> {
        loop {
            let line = self.lines.pop_line()?;
            let incoming = match read(&line) {
                Ok(Message { id, of_all, request }) => {
                    let there = self.fds.len().min(descriptors(&request));
                    (self.asked, self.word) = (id, of_all);
                    self.asks_for_program = matches!(request, Request::Exec(_));
                    Some(Incoming::Request(request, self.fds.drain(..there).collect()))
                }
                Err((id, refused)) => {
                    self.refuse(id.as_ref(), refused);
                    None
                }
            };
            if self.lines.pending() == 0 {
                // Descriptors come with a byte of the request that takes them, and no other request has begun.
                self.fds.clear();
            }
            let has_to_take = !self.unsent.is_empty() && !matches!(self.end, Some(End::Closed));
            if incoming.is_some() || has_to_take {
                return incoming;
            }
        }
    }

    fn reply(&mut self, reply: &Reply) {
        match reply {
            Reply::Started if self.asks_for_program => self.started.clone_from(&self.asked),
            Reply::Exited { .. } => {
                let id = self.started.take();
                return self.send(id.as_ref(), reply);
            }
            _ => {}
        }
        let id = self.asked.take();
        self.is_postponed = false;
        self.send(id.as_ref(), reply);
    }

    fn refuse(&mut self, id: Option<&Id>, refused: Refused) {
        self.send(id, &Reply::Refused(refused));
    }

    fn send(&mut self, id: Option<&Id>, reply: &Reply) {
        self.unsent.push(&to_line(&Answer { id, reply }));
        self.flush();
    }

    fn flush(&mut self) {
        if self.unsent.flush(&self.stream).is_err() {
            self.end = Some(End::Closed);
        }
    }
}

/// How many descriptors a request takes.
fn descriptors(request: &Request) -> usize {
    match request {
        Request::Exec(_) => 3,
        Request::Capture(_) => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
