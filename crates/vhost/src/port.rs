//! A port from the moment it is opened to its end.

use crate::error::PortError;
use crate::frames::{Scratch, Sent};
use crate::listener::Listener;
use crate::poller::{Poller, Watched};
use crate::queue::Queue;
use crate::session::{FROM_GUEST, Session};
use netloom_packet::{Packet, Pool};
use std::io;
use std::sync::Arc;

/// One network device of a guest; see the crate's documentation.
#[derive(Debug)]
pub struct Port {
    poller: Arc<Poller>,
    token: u32,
    state: State,
    scratch: Scratch,
    /// Whether the guest is sent no trains, and no unfinished checksums.
    whole: bool,
    has_carrier: bool,
}

#[derive(Debug)]
enum State {
    /// No guest has come yet.
    Listening { listener: Listener, _watched: Watched },
    /// A guest is there. Its socket's file is kept until the end: it goes with the listener.
    Connected { session: Box<Session>, listener: Listener },
    /// It has gone, and no other guest will come.
    Ended(PortError),
}

impl Port {
    /// Serves the guest that connects there; the poller tells of it with this token.
    ///
    /// # Errors
    /// When the kernel refuses to watch the socket.
    pub fn new(listener: Listener, poller: &Arc<Poller>, token: u32) -> io::Result<Self> {
        let watched = poller.watch_socket(listener.descriptor()?, token)?;
        Ok(Self {
            whole: listener.has_whole_frames(),
            poller: Arc::clone(poller),
            token,
            state: State::Listening { listener, _watched: watched },
            scratch: Scratch::default(),
            has_carrier: true,
        })
    }

    /// Answers the guest's messages, the first of which is that it comes. To be called for every
    /// [`Event::Message`](crate::Event::Message); does not wait.
    pub fn service(&mut self) {
        if let State::Listening { listener, .. } = &self.state {
            match listener.accept().map_err(PortError::system("accepting a kernel's connection")) {
                Ok(None) => return,
                Ok(Some(socket)) => match Session::new(socket, &self.poller, self.token, listener, self.has_carrier) {
                    Ok(session) => self.connect(session),
                    Err(error) => self.end(PortError::system("watching a kernel's connection")(error)),
                },
                Err(error) => self.end(error),
            }
        }
        if let State::Connected { session, .. } = &mut self.state
            && let Err(error) = session.service()
        {
            match error {
                PortError::Closed => self.leave(),
                other => self.end(other),
            }
        }
    }

    /// The guest has gone. Of a machine that hung or crashed, another boot may follow.
    fn leave(&mut self) {
        match std::mem::replace(&mut self.state, State::Ended(PortError::Closed)) {
            State::Connected { session, listener } if listener.may_come_again() => {
                drop(session);
                let watched = listener.descriptor().and_then(|socket| self.poller.watch_socket(socket, self.token));
                self.state = match watched {
                    Ok(watched) => State::Listening { listener, _watched: watched },
                    Err(error) => State::Ended(PortError::system("watching for a kernel that comes again")(error)),
                };
            }
            _ => {}
        }
    }

    fn connect(&mut self, session: Session) {
        let before = std::mem::replace(&mut self.state, State::Ended(PortError::Closed));
        if let State::Listening { listener, .. } = before {
            self.state = State::Connected { session: Box::new(session), listener };
        }
    }

    fn end(&mut self, error: PortError) {
        self.state = State::Ended(error);
    }

    /// The guest's link has a carrier from now on, or none; it has one at first. A guest that cannot be told is not.
    pub fn set_carrier(&mut self, on: bool) {
        self.has_carrier = on;
        if let State::Connected { session, .. } = &mut self.state
            && let Err(error) = session.set_carrier(on)
        {
            self.end(error);
        }
    }

    /// Why the port has ended; none while it serves or waits for its guest.
    pub fn error(&self) -> Option<&PortError> {
        if let State::Ended(error) = &self.state { Some(error) } else { None }
    }

    /// Whether the guest's driver has started both queues.
    pub fn is_ready(&self) -> bool {
        matches!(&self.state, State::Connected { session, .. } if session.queues.iter().all(Queue::is_running))
    }

    fn session(&mut self) -> Option<(&mut Session, &mut Scratch)> {
        match &mut self.state {
            State::Connected { session, .. } => Some((session, &mut self.scratch)),
            _ => None,
        }
    }

    /// Takes up to `limit` frames that the guest has sent, trains whole, and returns how many these were. Their buffers
    /// are the guest's again when this returns; [`Port::flush`] tells it so. It does not ring again before
    /// [`Port::listen`].
    #[inline]
    pub fn receive(&mut self, pool: &mut Pool, limit: usize, sink: impl FnMut(Packet)) -> usize {
        let Some((session, scratch)) = self.session() else { return 0 };
        let result = session.receive(scratch, pool, limit, sink);
        result.unwrap_or_else(|error| {
            self.end(error);
            0
        })
    }

    /// Whether the guest takes this packet as it is. If not, it is to be cut into segments first.
    pub fn takes_whole(&self, packet: &Packet) -> bool {
        match &self.state {
            State::Connected { session, .. } if packet.segments() > 1 => !self.whole && session.takes_whole(packet),
            _ => true,
        }
    }

    /// Copies a packet into the guest's buffers. [`Port::flush`] tells the guest.
    pub fn send(&mut self, packet: &Packet) -> Sent {
        let completed = self.whole.then(|| packet.completed());
        let Some((session, scratch)) = self.session() else { return Sent::Down };
        let result = session.send(scratch, completed.as_ref().unwrap_or(packet));
        result.unwrap_or_else(|error| {
            self.end(error);
            Sent::Down
        })
    }

    /// Tells the guest of all that has changed in its queues since the last call, if it wants to know.
    pub fn flush(&mut self) {
        if let Some((session, _)) = self.session() {
            session.queues.iter_mut().for_each(Queue::notify);
        }
    }

    /// To be called before a wait: asks the guest to ring for its next frame. True if there is one already.
    pub fn listen(&mut self) -> bool {
        let Some((session, _)) = self.session() else { return false };
        session.queues[FROM_GUEST].ask(true);
        match session.pending(FROM_GUEST) {
            Ok(pending) => pending > 0,
            Err(error) => {
                self.end(error);
                false
            }
        }
    }
}
