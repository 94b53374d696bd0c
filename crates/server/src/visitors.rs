//! Who is here: the links by which people come in, one for each role, and those who came, each with a name and a token that can be taken back.
//!
//! The link of the role `edit` is for whoever has started the server, and is a token itself. Who comes by another link says a name and gets a token of their
//! own, so that one of them can be sent away without the others.

use crate::answer::Refusal;
use crate::token::{Role, random};
use axum::http::StatusCode;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Those who are remembered: more forget those who left first.
const MOST_GUESTS: usize = 1_000;
/// Of one address of the network.
const MOST_OF_ADDRESS: usize = 200;
/// Letters of a name.
const LONGEST_NAME: usize = 40;

/// Somebody who may ask.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub(crate) id: u64,
    pub(crate) role: Role,
    /// The name that was said; none of who uses the token of a link itself.
    pub(crate) name: Option<String>,
    /// From where they came first.
    address: IpAddr,
    since_unix_s: u64,
    /// What of labs is open, by number.
    open: Mutex<BTreeMap<u64, Value>>,
    sent_away: watch::Sender<bool>,
}

impl Visitor {
    pub(crate) fn new(id: u64, role: Role, name: Option<String>, address: IpAddr) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (open, sent_away) = (Mutex::default(), watch::Sender::new(false));
        Self { id, role, name, address, since_unix_s: since.as_secs(), open, sent_away }
    }

    /// Returns when the visitor was sent away.
    pub(crate) async fn is_sent_away(&self) {
        let mut sent_away = self.sent_away.subscribe();
        // The sender lives as long as the visitor.
        let _ = sent_away.wait_for(|is_so| *is_so).await;
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<u64, Value>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_here(&self) -> bool {
        !self.open().is_empty()
    }
}

/// What a visitor has open, until it is dropped.
pub(crate) struct Open {
    visitors: Arc<Visitors>,
    visitor: Arc<Visitor>,
    number: u64,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.visitor.open().remove(&self.number);
        self.visitors.report();
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Visitors {
    inner: Mutex<Inner>,
    changed: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Inner {
    links: Vec<Link>,
    guests: Vec<Guest>,
    next: u64,
}

#[derive(Debug)]
struct Link {
    token: String,
    visitor: Arc<Visitor>,
}

#[derive(Debug)]
struct Guest {
    /// Of the token, which nobody else needs to know.
    digest: [u8; 32],
    visitor: Arc<Visitor>,
}

/// Who brings a token.
#[derive(Debug)]
pub(crate) enum Bearer {
    /// A token that opens everything that its role may.
    Known(Arc<Visitor>),
    /// The token of a link, which belongs to nobody in particular.
    Link(Arc<Visitor>),
}

impl Visitors {
    /// With a link for each of these roles, whose tokens nobody can guess.
    ///
    /// # Errors
    /// When the kernel has no random numbers.
    pub(crate) fn new(roles: &[Role]) -> io::Result<Self> {
        let mut inner = Inner::default();
        for role in roles {
            let link = inner.link(*role)?;
            inner.links.push(link);
        }
        Ok(Self { inner: Mutex::new(inner), changed: watch::Sender::new(0) })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn report(&self) {
        self.changed.send_modify(|version| *version += 1);
    }

    /// Tells of every change from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The links, with their tokens.
    pub(crate) fn links(&self) -> Vec<(Role, String)> {
        self.inner().links.iter().map(|link| (link.visitor.role, link.token.clone())).collect()
    }

    /// Who brings this token. How long that takes tells nothing of the tokens: digests are compared.
    pub(crate) fn of(&self, token: &str) -> Option<Bearer> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let inner = self.inner();
        if let Some(guest) = inner.guests.iter().find(|guest| guest.digest == digest) {
            return Some(Bearer::Known(Arc::clone(&guest.visitor)));
        }
        let is_it = |link: &&Link| <[u8; 32]>::from(Sha256::digest(&link.token)) == digest;
        let visitor = Arc::clone(&inner.links.iter().find(is_it)?.visitor);
        Some(if visitor.role == Role::Edit { Bearer::Known(visitor) } else { Bearer::Link(visitor) })
    }

    /// Lets somebody in who came by the link of a role and says this name; a token of their own.
    pub(crate) fn enter(&self, role: Role, name: &str, address: IpAddr) -> Result<String, Refusal> {
        let name = named(name)?;
        let token = random().map_err(|error| Refusal::failed(format!("taking random numbers: {error}")))?;
        let mut inner = self.inner();
        let is_same = |guest: &Guest| guest.visitor.name.as_deref().is_some_and(|own| own.eq_ignore_ascii_case(&name));
        if inner.guests.iter().any(|guest| is_same(guest) && guest.visitor.is_here()) {
            let message = format!("{name} is here already: say another name, or close the other page first");
            return Err(Refusal::new(StatusCode::CONFLICT, message).with("key", "name"));
        }
        // Who has left and comes again takes their own place.
        inner.forget(|guest| is_same(guest) && guest.visitor.role == role);
        inner.make_room(address)?;
        let visitor = Arc::new(Visitor::new(inner.next(), role, Some(name), address));
        inner.guests.push(Guest { digest: Sha256::digest(&token).into(), visitor });
        drop(inner);
        self.report();
        Ok(token)
    }

    /// Takes the token of one visitor back, and says who that was.
    pub(crate) fn send_away(&self, id: u64) -> Result<Arc<Visitor>, Refusal> {
        let mut inner = self.inner();
        let place = inner.guests.iter().position(|guest| guest.visitor.id == id);
        let place = place.ok_or_else(|| Refusal::missing(format!("nobody here has the number {id}")))?;
        let visitor = inner.guests.remove(place).visitor;
        drop(inner);
        visitor.sent_away.send_replace(true);
        self.report();
        Ok(visitor)
    }

    /// Makes a new link for a role in the place of the old one, whose token opens nothing any more. Who came by it stays.
    pub(crate) fn renew(&self, role: Role) -> Result<(Arc<Visitor>, String), Refusal> {
        let mut inner = self.inner();
        let missing = || Refusal::missing(format!("this page is not shared by a link of the role `{}`", role.name()));
        let place = inner.links.iter().position(|link| link.visitor.role == role).ok_or_else(missing)?;
        let link = inner.link(role).map_err(|error| Refusal::failed(format!("taking random numbers: {error}")))?;
        let token = link.token.clone();
        let old = std::mem::replace(&mut inner.links[place], link).visitor;
        drop(inner);
        old.sent_away.send_replace(true);
        self.report();
        Ok((old, token))
    }

    /// Notes what a visitor has opened.
    pub(crate) fn opened(self: &Arc<Self>, visitor: &Arc<Visitor>, what: Value) -> Open {
        let number = self.inner().next();
        visitor.open().insert(number, what);
        self.report();
        Open { visitors: Arc::clone(self), visitor: Arc::clone(visitor), number }
    }

    /// Those who are here or were, as pages of the role `edit` see them.
    pub(crate) fn described(&self) -> Vec<Value> {
        let inner = self.inner();
        let links = inner.links.iter().map(|link| &link.visitor).filter(|visitor| visitor.is_here());
        let all = links.chain(inner.guests.iter().map(|guest| &guest.visitor));
        all.map(|visitor| {
            json!({
                "id": visitor.id,
                "name": visitor.name,
                "role": visitor.role,
                "address": visitor.address.to_string(),
                "since_unix_s": visitor.since_unix_s,
                "here": visitor.is_here(),
                "open": visitor.open().values().collect::<Vec<_>>(),
            })
        })
        .collect()
    }
}

impl Inner {
    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn link(&mut self, role: Role) -> io::Result<Link> {
        let nowhere = IpAddr::from([0, 0, 0, 0]);
        Ok(Link { token: random()?, visitor: Arc::new(Visitor::new(self.next(), role, None, nowhere)) })
    }

    /// Forgets some who have left. What of theirs goes on without them ends: nobody can come back to it.
    fn forget(&mut self, who: impl Fn(&Guest) -> bool) {
        self.guests.retain(|guest| {
            let goes = who(guest);
            if goes {
                guest.visitor.sent_away.send_replace(true);
            }
            !goes
        });
    }

    /// Forgets who left first, where too many are remembered.
    fn make_room(&mut self, address: IpAddr) -> Result<(), Refusal> {
        let of_address = |guest: &Guest| guest.visitor.address == address;
        let too_many = self.guests.iter().filter(|guest| of_address(guest)).count() >= MOST_OF_ADDRESS;
        if !too_many && self.guests.len() < MOST_GUESTS {
            return Ok(());
        }
        let may_go = |guest: &Guest| !guest.visitor.is_here() && (!too_many || of_address(guest));
        let place = self.guests.iter().position(may_go).ok_or_else(|| {
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many people are here: ask the owner of this page")
        })?;
        let id = self.guests[place].visitor.id;
        self.forget(|guest| guest.visitor.id == id);
        Ok(())
    }
}

/// A name that can be shown on one line.
fn named(text: &str) -> Result<String, Refusal> {
    let name = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let length = name.chars().count();
    // Marks that turn the direction of a text would let one name look like another.
    let is_odd = |letter: char| {
        letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    if length == 0 || length > LONGEST_NAME || name.contains(is_odd) {
        return Err(Refusal::bad(format!("a name has 1 to {LONGEST_NAME} letters")).with("key", "name"));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    fn visitors() -> Arc<Visitors> {
        Arc::new(Visitors::new(&Role::ALL).unwrap())
    }

    fn known(visitors: &Visitors, token: &str) -> Arc<Visitor> {
        match visitors.of(token) {
            Some(Bearer::Known(visitor)) => visitor,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_link_has_its_role_and_no_other_text_has_one() {
        let visitors = visitors();
        for (role, token) in visitors.links() {
            assert_eq!(token.len(), 40);
            match visitors.of(&token) {
                Some(Bearer::Known(visitor)) => assert_eq!((visitor.role, role), (Role::Edit, Role::Edit)),
                Some(Bearer::Link(visitor)) => assert_eq!(visitor.role, role),
                None => panic!("{role:?}"),
            }
        }
        assert!(visitors.of("").is_none() && visitors.of(&"0".repeat(40)).is_none());
    }

    #[tokio::test]
    async fn each_visitor_is_sent_away_alone() {
        let visitors = visitors();
        let (ada, bob) =
            (visitors.enter(Role::Use, " Ada  L. ", HERE).unwrap(), visitors.enter(Role::Use, "Bob", HERE).unwrap());
        let (first, second) = (known(&visitors, &ada), known(&visitors, &bob));
        assert_eq!((first.name.as_deref(), first.role), (Some("Ada L."), Role::Use));
        let away = visitors.send_away(first.id).unwrap();
        away.is_sent_away().await;
        assert!(visitors.of(&ada).is_none() && visitors.of(&bob).is_some());
        assert!(visitors.send_away(first.id).is_err());
        // A link that is renewed lets nobody in any more, and sends nobody away.
        let links = visitors.links();
        let (_, old) = links.iter().find(|(role, _)| *role == Role::Use).unwrap();
        let (_, new) = visitors.renew(Role::Use).unwrap();
        assert!(visitors.of(old).is_none() && visitors.of(&new).is_some());
        assert_eq!(known(&visitors, &bob).id, second.id);
    }

    #[test]
    fn a_name_belongs_to_one_at_a_time() {
        let visitors = visitors();
        let first = visitors.enter(Role::Look, "Ada", HERE).unwrap();
        let ada = known(&visitors, &first);
        let open = visitors.opened(&ada, json!({ "kind": "events" }));
        assert!(visitors.enter(Role::Look, "ada", HERE).unwrap_err().message().contains("is here already"));
        assert_eq!(visitors.described()[0]["open"][0]["kind"], "events");
        drop(open);
        // The place of somebody who has left is taken again.
        let second = visitors.enter(Role::Look, "ada", HERE).unwrap();
        assert!(visitors.of(&first).is_none() && visitors.of(&second).is_some());
        assert_eq!(visitors.described().len(), 1);
        for wrong in ["", "  ", "a\u{202e}b", "a\u{7}b", &"x".repeat(41)] {
            assert!(visitors.enter(Role::Look, wrong, HERE).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn one_address_does_not_fill_the_list() {
        let visitors = visitors();
        let mut held = Vec::new();
        for number in 0..MOST_OF_ADDRESS {
            let token = visitors.enter(Role::Look, &format!("n{number}"), HERE).unwrap();
            held.push(visitors.opened(&known(&visitors, &token), Value::Null));
        }
        assert!(visitors.enter(Role::Look, "one more", HERE).is_err());
        let elsewhere = IpAddr::from([192, 0, 2, 2]);
        visitors.enter(Role::Look, "one more", elsewhere).unwrap();
        held.pop();
        visitors.enter(Role::Look, "another", HERE).unwrap();
        assert_eq!(visitors.described().len(), MOST_OF_ADDRESS + 1);
    }
}
