//! Connections: whose they are, how many each may have, and which of them are closed when there is no room for another.
//!
//! A connection is a stranger's until a request on it has said who asks. Of strangers there are few at a time, and when another comes, the one that has said
//! nothing for longest goes. So nobody who only connects keeps anybody else out.

use crate::answer::Refusal;
use crate::shares::{Limits, Share, Shares, place};
use crate::visitors::Visitor;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// Connections of those who are known. A browser opens six, and one for each WebSocket.
const KNOWN: Limits = Limits { all: 1_024, role: 384, address: 256, one: 96 };
/// Of those who have not said who they are, and of these from one address.
const MOST_STRANGERS: usize = 128;
const STRANGERS_OF_ADDRESS: usize = 64;

/// See the module.
#[derive(Debug)]
pub(crate) struct Connections {
    all: Mutex<All>,
    shares: Arc<Shares>,
}

#[derive(Debug, Default)]
struct All {
    held: BTreeMap<u64, Held>,
    next: u64,
}

#[derive(Debug)]
struct Held {
    address: IpAddr,
    /// None: a stranger's.
    whose: Option<(u64, Share)>,
    end: watch::Sender<bool>,
}

/// A connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    connections: Arc<Connections>,
    number: u64,
    /// From where it comes.
    pub(crate) address: IpAddr,
    /// True when it is to be closed.
    pub(crate) end: watch::Receiver<bool>,
}

impl Connections {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { all: Mutex::default(), shares: Shares::new("connections", KNOWN) })
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new connection from this address. It may cost another stranger theirs.
    pub(crate) fn begin(self: &Arc<Self>, address: IpAddr) -> Connection {
        let mut all = self.all();
        let own = place(address);
        let strangers = || all.held.values().filter(|held| held.whose.is_none() && !*held.end.borrow());
        let of_address = strangers().filter(|held| place(held.address) == own).count();
        let is_full = strangers().count() >= MOST_STRANGERS;
        if of_address >= STRANGERS_OF_ADDRESS || is_full {
            let is_next = |held: &&Held| held.whose.is_none() && !*held.end.borrow();
            let own_first = all.held.values().filter(is_next).find(|held| place(held.address) == own);
            // Who has none yet takes the place of the one that has waited longest.
            let oldest = if of_address > 0 { own_first } else { all.held.values().find(is_next) };
            if let Some(oldest) = oldest {
                oldest.end.send_replace(true);
            }
        }
        all.next += 1;
        let number = all.next;
        let (sender, end) = watch::channel(false);
        all.held.insert(number, Held { address, whose: None, end: sender });
        Connection { connections: Arc::clone(self), number, address, end }
    }

    /// Closes all connections of a visitor who was sent away.
    pub(crate) fn end_all(&self, visitor: u64) {
        let all = self.all();
        let theirs = all.held.values().filter(|held| held.whose.as_ref().is_some_and(|(whose, _)| *whose == visitor));
        for held in theirs {
            held.end.send_replace(true);
        }
    }

    /// How many a visitor has.
    pub(crate) fn of(&self, visitor: u64) -> usize {
        self.shares.of(visitor)
    }
}

impl Connection {
    /// A request on it has said who asks.
    pub(crate) fn belongs_to(&self, visitor: &Visitor) -> Result<(), Refusal> {
        let mut all = self.connections.all();
        let Some(held) = all.held.get_mut(&self.number) else { return Ok(()) };
        if held.whose.as_ref().is_some_and(|(whose, _)| *whose == visitor.id) {
            return Ok(());
        }
        held.whose = None;
        held.whose = Some((visitor.id, self.connections.shares.take(visitor, self.address)?));
        Ok(())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.all().held.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::Role;

    fn ended(connection: &Connection) -> bool {
        *connection.end.borrow()
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn strangers_keep_nobody_out() {
        let connections = Connections::new();
        let mut silent: Vec<Connection> = (0..500).map(|_| connections.begin(address(1))).collect();
        let open = |all: &[Connection]| all.iter().filter(|connection| !ended(connection)).count();
        assert_eq!(open(&silent), STRANGERS_OF_ADDRESS);
        assert!(!ended(silent.last().unwrap()), "the one that has just come stays");
        silent.extend((2..=255).map(|last| connections.begin(address(last))));
        assert_eq!(open(&silent), MOST_STRANGERS);
        // Whoever says who they are stays, however many come after.
        let teacher = silent.pop().unwrap();
        teacher.belongs_to(&Visitor::new(1, Role::Edit, None, address(255))).unwrap();
        silent.extend((0..500).map(|last| connections.begin(address((last % 250) as u8))));
        assert!(!ended(&teacher));
    }

    #[test]
    fn one_visitor_has_so_many_and_loses_them_when_sent_away() {
        let connections = Connections::new();
        let student = Visitor::new(2, Role::Look, None, address(1));
        let teacher = Visitor::new(1, Role::Edit, None, address(1));
        let held: Vec<Connection> = (0..1_024).map(|_| connections.begin(address(1))).collect();
        let taken = held.iter().filter(|connection| connection.belongs_to(&student).is_ok()).count();
        assert_eq!((taken, connections.of(student.id)), (KNOWN.one, KNOWN.one));
        assert!(held[0].belongs_to(&student).is_ok(), "it is theirs already");
        for _ in 0..100 {
            connections.begin(address(1)).belongs_to(&teacher).unwrap();
        }
        connections.end_all(2);
        assert!(held[..KNOWN.one].iter().all(ended));
        drop(held);
        assert_eq!(connections.of(student.id), 0);
    }
}
