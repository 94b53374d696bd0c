//! Terminals that outlive the connection of their page: who they belong to, how a page comes back to them, and when they end without one.
//!
//! Each is a task (`terminal`) that has the program's terminal and the share that it takes of all. A page that loses its connection leaves it as it is; it
//! reads on meanwhile, and remembers what was written last.

use crate::answer::Refusal;
use crate::outbox::{Close, Outbox, Said};
use crate::shares::{Share, Shares};
use crate::token::{Role, random};
use crate::visitors::Visitor;
use netloom_host::terminal::WindowSize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};

/// How long a program waits for a page to come back. Then its terminal is closed.
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(15 * 60);
/// How much of what was written is remembered of each terminal.
const SCROLLBACK: usize = 192 << 10;
/// How long the end of a terminal that makes room for another one may take.
const ENDED_WITHIN: Duration = Duration::from_secs(2);

/// A page at a terminal.
pub(crate) struct Page {
    pub(crate) outbox: Outbox,
    /// What it says, until it has gone.
    pub(crate) said: mpsc::Receiver<Said>,
    pub(crate) size: WindowSize,
    /// Why its connection is to end.
    pub(crate) close: oneshot::Sender<Close>,
}

/// A terminal, as pages find it.
#[derive(Debug)]
pub(crate) struct Shell {
    /// The visitor whose it is.
    owner: u64,
    lab: String,
    node: String,
    /// Whether it waits for a page that has lost its connection.
    pub(crate) stays: bool,
    pages: mpsc::Sender<Page>,
    /// Since when no page is there; none while one is.
    alone_since: Mutex<Option<Instant>>,
    is_to_end: watch::Sender<bool>,
}

/// All of them, by names that nobody guesses.
#[derive(Debug, Default)]
pub(crate) struct Shells(Mutex<BTreeMap<String, Arc<Shell>>>);

/// A terminal in the list, until it is dropped.
pub(crate) struct Listed {
    shells: Arc<Shells>,
    pub(crate) id: String,
    pub(crate) shell: Arc<Shell>,
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.shells.all().remove(&self.id);
    }
}

impl Shell {
    /// Where pages come to it.
    pub(crate) fn pages(&self) -> mpsc::Sender<Page> {
        self.pages.clone()
    }

    /// A page has come, or gone.
    pub(crate) fn is_with_page(&self, is_so: bool) {
        *self.alone() = (!is_so).then(Instant::now);
    }

    fn alone(&self) -> MutexGuard<'_, Option<Instant>> {
        self.alone_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns when it is to make room.
    pub(crate) async fn makes_room(&self) {
        // The sender lives as long as the shell.
        let _ = self.is_to_end.subscribe().wait_for(|is_so| *is_so).await;
    }
}

/// Whether a visitor's terminals wait for them. All who use the token of a link itself are one visitor, and are not to find each other's.
fn may_come_back(visitor: &Visitor) -> bool {
    visitor.role == Role::Edit || visitor.name.is_some()
}

impl Shells {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Shell>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a terminal of a visitor, and where its pages come from. `stays`: whether it is to wait for pages that have lost their connection.
    pub(crate) fn add(
        self: &Arc<Self>,
        owner: &Visitor,
        lab: &str,
        node: &str,
        stays: bool,
    ) -> Result<(Listed, mpsc::Receiver<Page>), Refusal> {
        let id = random().map_err(|error| Refusal::failed(format!("taking random numbers: {error}")))?;
        let (pages, coming) = mpsc::channel(1);
        let shell = Arc::new(Shell {
            owner: owner.id,
            lab: lab.to_owned(),
            node: node.to_owned(),
            stays: stays && may_come_back(owner),
            pages,
            alone_since: Mutex::new(None),
            is_to_end: watch::Sender::new(false),
        });
        self.all().insert(id.clone(), Arc::clone(&shell));
        Ok((Listed { shells: Arc::clone(self), id, shell }, coming))
    }

    /// Where a page of this visitor comes to a terminal of theirs.
    pub(crate) fn find(
        &self,
        id: &str,
        visitor: &Visitor,
        lab: &str,
        node: &str,
    ) -> Result<mpsc::Sender<Page>, Refusal> {
        let all = self.all();
        let own = all.get(id).filter(|shell| shell.stays && shell.owner == visitor.id);
        let found = own.filter(|shell| shell.lab == lab && shell.node == node);
        found.map(|shell| shell.pages.clone()).ok_or_else(Self::ended)
    }

    /// The answer to a page that comes to a terminal that is not there any more.
    pub(crate) fn ended() -> Refusal {
        Refusal::missing(format!(
            "this shell has ended: by itself, with its lab or with netloom ui, or as nobody came back to it for {} minutes",
            KEPT_FOR.as_secs() / 60
        ))
    }

    /// The terminals of a visitor in a lab, for a page of theirs that comes back.
    pub(crate) fn of(&self, visitor: &Visitor, lab: &str) -> Vec<Value> {
        let all = self.all();
        let own = all.iter().filter(|(_, shell)| shell.stays && shell.owner == visitor.id && shell.lab == lab);
        own.map(|(id, shell)| json!({ "shell": id, "node": shell.node, "attached": shell.alone().is_none() })).collect()
    }

    /// Those that a visitor has left and may come back to, as the owner of the page sees them.
    pub(crate) fn kept_of(&self, visitor: u64) -> Vec<Value> {
        let all = self.all();
        let own = all.values().filter(|shell| shell.owner == visitor && shell.alone().is_some());
        own.map(|shell| json!({ "lab": shell.lab, "node": shell.node })).collect()
    }

    /// A share of all terminals for a new one. Where the visitor has as many as they may, the one of theirs that was left first makes room.
    pub(crate) async fn share(
        &self,
        shares: &Arc<Shares>,
        visitor: &Visitor,
        address: IpAddr,
    ) -> Result<Share, Refusal> {
        let refusal = match shares.take(visitor, address) {
            Ok(share) => return Ok(share),
            Err(refusal) => refusal,
        };
        let Some(left) = self.left_first(visitor) else { return Err(refusal) };
        left.is_to_end.send_replace(true);
        // Its task holds what receives pages, and lets go of its share before.
        let _ = tokio::time::timeout(ENDED_WITHIN, left.pages.closed()).await;
        shares.take(visitor, address)
    }

    fn left_first(&self, visitor: &Visitor) -> Option<Arc<Shell>> {
        let all = self.all();
        let own = all.values().filter(|shell| shell.owner == visitor.id);
        let left = own.filter_map(|shell| Some(((*shell.alone())?, shell)));
        left.min_by_key(|(since, _)| *since).map(|(_, shell)| Arc::clone(shell))
    }
}

/// What a terminal has shown last.
#[derive(Debug, Default)]
pub(crate) struct Scrollback {
    bytes: VecDeque<u8>,
    is_cut: bool,
}

impl Scrollback {
    pub(crate) fn add(&mut self, written: &[u8]) {
        self.bytes.extend(written);
        let surplus = self.bytes.len().saturating_sub(SCROLLBACK);
        self.is_cut |= surplus > 0;
        self.bytes.drain(..surplus);
    }

    /// All of it, from the beginning of a line on where there was more.
    pub(crate) fn whole(&self) -> Vec<u8> {
        let all: Vec<u8> = self.bytes.iter().copied().collect();
        let first = if self.is_cut { all.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1) } else { 0 };
        all[first..].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shares::Limits;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn visitor(id: u64, role: Role, name: Option<&str>) -> Visitor {
        Visitor::new(id, role, name.map(str::to_owned), HERE)
    }

    #[test]
    fn a_scrollback_is_bounded_and_begins_with_a_line() {
        let mut scrollback = Scrollback::default();
        scrollback.add(b"one\r\ntwo");
        assert_eq!(scrollback.whole(), b"one\r\ntwo");
        for number in 0..100_000 {
            scrollback.add(format!("line {number}\r\n").as_bytes());
        }
        let whole = String::from_utf8(scrollback.whole()).unwrap();
        assert!(whole.len() <= SCROLLBACK && whole.len() > SCROLLBACK - 100);
        assert!(whole.starts_with("line ") && whole.ends_with("line 99999\r\n"), "{:?}", &whole[..40]);
        scrollback.add(&vec![b'x'; 10 * SCROLLBACK]);
        assert_eq!(scrollback.whole().len(), SCROLLBACK, "a line without an end");
    }

    #[test]
    fn nobody_finds_a_terminal_of_somebody_else() {
        let shells = Arc::new(Shells::default());
        let (ada, bob) = (visitor(7, Role::Use, Some("Ada")), visitor(8, Role::Use, Some("Bob")));
        let (listed, _pages) = shells.add(&ada, "star", "h1", true).unwrap();
        assert!(shells.find(&listed.id, &ada, "star", "h1").is_ok());
        assert_eq!(shells.of(&ada, "star")[0]["attached"], true);
        let teacher = visitor(1, Role::Edit, None);
        for other in [&bob, &teacher] {
            let refusal = shells.find(&listed.id, other, "star", "h1").unwrap_err();
            assert!(refusal.is_missing() && refusal.message().contains("has ended"));
            assert!(shells.of(other, "star").is_empty());
        }
        // Nor one of another lab or node, by whose name it was asked for.
        assert!(
            shells.find(&listed.id, &ada, "ring", "h1").is_err()
                && shells.find(&listed.id, &ada, "star", "h2").is_err()
        );
        assert!(shells.of(&ada, "ring").is_empty());
        // Those who share the token of a link are not told apart.
        let link = visitor(9, Role::Use, None);
        let (of_link, _page) = shells.add(&link, "star", "h1", true).unwrap();
        assert!(!of_link.shell.stays && shells.of(&link, "star").is_empty());
        assert!(shells.find(&of_link.id, &link, "star", "h1").is_err());
        drop(listed);
        assert!(shells.find("", &ada, "star", "h1").is_err() && shells.of(&ada, "star").is_empty());
    }

    #[tokio::test]
    async fn who_has_as_many_as_they_may_loses_the_one_that_was_left_first() {
        let shares = Shares::new("terminals", Limits { all: 10, role: 10, address: 10, one: 2 });
        let shells = Arc::new(Shells::default());
        let ada = visitor(7, Role::Use, Some("Ada"));
        let mut ids = Vec::new();
        for _ in 0..2 {
            let share = shells.share(&shares, &ada, HERE).await.unwrap();
            let (listed, pages) = shells.add(&ada, "star", "h1", true).unwrap();
            ids.push(listed.id.clone());
            tokio::spawn(async move {
                listed.shell.makes_room().await;
                drop((listed, share));
                drop(pages);
            });
        }
        assert!(shells.share(&shares, &ada, HERE).await.unwrap_err().message().contains("by you"), "both have a page");
        for id in ids.iter().rev() {
            shells.all()[id].is_with_page(false);
        }
        assert_eq!(shells.kept_of(7).len(), 2);
        let _share = shells.share(&shares, &ada, HERE).await.unwrap();
        assert!(!shells.all().contains_key(&ids[1]) && shells.all().contains_key(&ids[0]));
    }
}
