//! Which traffic of this machine a shape takes: by what packets say, and by who made them, which no packet says.

use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::{OneOrMore, forms, one_or_more};
use crate::keyed::{Keyed, WrittenKeys, sections};
use crate::models::filter;
use crate::section::Kind;
use crate::yaml::{Content, Node};
use netloom_link::Filter;
use std::fmt;

/// A match of the packets that go forward. All that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// The filter on what the packets say.
    pub filter: Filter,
    /// The users and groups that made the packets.
    pub owners: Owners,
}

/// Users and groups of this machine by whose sockets packets are made; of a list that is not empty, one entry must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// The user with whose rights the socket was opened.
    pub users: Vec<Owner>,
    /// The first group of who opened the socket.
    pub groups: Vec<Owner>,
}

/// A user or a group, or several of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The name of a user or group.
    Name(String),
    /// The numbers of users or groups, from the first to the last.
    Ids {
        /// The first number.
        first: u32,
        /// The last number.
        last: u32,
    },
}

impl Owners {
    /// Whether nobody is named: packets of everybody are meant.
    pub fn is_anybody(&self) -> bool {
        self.users.is_empty() && self.groups.is_empty()
    }

    /// Whether packets of root may be meant.
    pub fn may_be_root(&self) -> bool {
        let is_root = |owner: &Owner| match owner {
            Owner::Name(name) => name == "root",
            Owner::Ids { first, .. } => *first == 0,
        };
        [&self.users, &self.groups].into_iter().all(|list| list.is_empty() || list.iter().any(is_root))
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => out.write_str(name),
            Self::Ids { first, last } if first == last => write!(out, "{first}"),
            Self::Ids { first, last } => write!(out, "{first}-{last}"),
        }
    }
}

/// The last number that a user or group can have: the one behind it means none (chown(2)).
const LAST_ID: u32 = u32::MAX - 1;
/// As useradd(8) takes them, and with capital letters and dots.
const NAME: &str = "^[a-zA-Z_][a-zA-Z0-9_.-]{0,31}$";

forms! {
    Owner = Self, Kind::OneOf(&[
        Kind::Integer { least: 0, most: LAST_ID as u64 },
        Kind::Text("^\\s*[0-9]{1,10}\\s*-\\s*[0-9]{1,10}\\s*$"),
        Kind::Text(NAME),
    ]), owner;
}

sections! {
    /// Traffic of this machine: every key that is given must match, and of a list one entry.
    pub(super) struct Matching = "match" {
        ..Filter::SECTION;
        /// Whose socket made it: a user by name, by number, or several.
        user: OneOrMore<Owner>, "alice";
        /// The first group of who opened the socket, in the same notation.
        group: OneOrMore<Owner>, "1000-1999";
    }
}

/// What `node` describes; none if it is wrong, or if it can never match.
pub(super) fn decode(node: &Node, errors: &mut Errors) -> Option<Match> {
    let fields = Fields::open(node, &Matching::SECTION, errors)?;
    if node.content == Content::Map(Vec::new()) {
        return errors.reject(node.error("an empty filter matches everything: write for example `{to: 10.0.9.0/24}`"));
    }
    let before = errors.len();
    let Matching { user: users, group: groups } = Matching::read_keys(&fields, errors)?;
    for (key, list) in [("user", &users), ("group", &groups)] {
        if let (Some([]), Some(list)) = (list.as_deref(), fields.get(key))
            && errors.len() == before
        {
            errors.push(list.error("an empty list matches nothing: leave the key out, or name somebody"));
        }
    }
    let filter = filter::read(&fields, node, errors)?;
    let owners = Owners { users: users.unwrap_or_default(), groups: groups.unwrap_or_default() };
    (errors.len() == before).then_some(Match { filter, owners })
}

/// The match as a file of a shape has it.
pub fn write_match(matching: &Match) -> String {
    let mut keys = vec![matching.filter.write_keys()];
    keys.retain(|key| !key.is_empty());
    for (key, owners) in [("user", &matching.owners.users), ("group", &matching.owners.groups)] {
        if !owners.is_empty() {
            keys.push(format!("{key}: {}", one_or_more(owners.iter().map(Owner::to_string))));
        }
    }
    format!("{{{}}}", keys.join(", "))
}

fn owner(node: &Node) -> Result<Owner, Diagnostic> {
    let Some(text) = node.text().map(str::trim) else {
        return Err(node.expected("a name, a number or a range like 1000-1999"));
    };
    let id = |number: &str| number.trim().parse::<u32>().ok().filter(|id| *id <= LAST_ID);
    let ids = match text.split_once('-') {
        Some((first, last)) => id(first).zip(id(last)),
        None => id(text).map(|id| (id, id)),
    };
    match ids {
        Some((first, last)) if first > last => {
            Err(node.error(format!("the range {first}-{last} ends before it begins: write {last}-{first}")))
        }
        Some((first, last)) => Ok(Owner::Ids { first, last }),
        None if is_name(text) => Ok(Owner::Name(text.to_owned())),
        None => Err(node.error(format!(
            "\"{text}\" is neither a name nor a number from 0 to {LAST_ID} nor a range of them: write for example alice or 1000-1999"
        ))),
    }
}

fn is_name(text: &str) -> bool {
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    begins && text.len() <= 32 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}
