//! Removes the rules of iptables that name an interface, where nftables carries them, and the tables that they were in if nothing else is there.
//!
//! `iptables-restore` and `nft` do the same. But those are three programs to start, and closing the socket of one that has removed something takes
//! until no processor uses it any more: together they took longer than all that makes a link.

use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, OwnedFd};

use netlink_packet_core::NlasIterator;
use nix::sys::socket::{MsgFlags, recv, send};

use super::netfilter::{BEGIN, END, ERROR, HEADER, NFTABLES, REQUEST, family, message, open};
use crate::fds::next_packet;

/// Messages of linux/netfilter/nf_tables.h.
const DELETE_TABLE: u16 = NFTABLES << 8 | 2;
const NEW_CHAIN: u16 = NFTABLES << 8 | 3;
const GET_CHAIN: u16 = NFTABLES << 8 | 4;
const DELETE_CHAIN: u16 = NFTABLES << 8 | 5;
const NEW_RULE: u16 = NFTABLES << 8 | 6;
const GET_RULE: u16 = NFTABLES << 8 | 7;
const DELETE_RULE: u16 = NFTABLES << 8 | 8;
/// Attributes of linux/netfilter/nf_tables.h: those of a table, of a rule and of a chain, and of the data that a rule compares with.
const TABLE_NAME: u16 = 1;
const RULE_TABLE: u16 = 1;
const RULE_CHAIN: u16 = 2;
const RULE_HANDLE: u16 = 3;
const RULE_EXPRESSIONS: u16 = 4;
const CHAIN_TABLE: u16 = 1;
const CHAIN_NAME: u16 = 3;
const CHAIN_POLICY: u16 = 5;
const CHAIN_USE: u16 = 6;
const DATA_VALUE: u16 = 1;
/// NF_ACCEPT (linux/netfilter.h), in the order of networks.
const ACCEPT: [u8; 4] = 1_u32.to_be_bytes();
/// NLM_F_DUMP, and NLM_F_NONREC: what still has something inside is not deleted (linux/netlink.h).
const DUMP: u16 = 0x300;
const UNLESS_USED: u16 = 0x100;
const ACKNOWLEDGE: u16 = 4;
/// NLMSG_DONE.
const DONE: u16 = 3;
/// `nfgenmsg` of IPv4.
const IPV4: [u8; 4] = [2, 0, 0, 0];
/// The tables of iptables that rules of links are in.
const TABLES: [&[u8]; 2] = [b"nat\0", b"filter\0"];

/// A rule that names the interface.
#[derive(Debug, PartialEq, Eq)]
struct Rule {
    table: Vec<u8>,
    chain: Vec<u8>,
    handle: Vec<u8>,
}

/// A chain of a table that such rules are in.
#[derive(Debug, PartialEq, Eq)]
struct Chain {
    table: Vec<u8>,
    name: Vec<u8>,
    /// How many rules it has, and how many lead to it.
    used: u32,
    accepts: bool,
}

/// Removes so many of them in one transaction; false if there are not so many, or if the kernel refuses. Then all are still there.
pub(crate) fn remove_rules_naming(interface: &str, count: usize) -> bool {
    remove(interface, count).unwrap_or(false)
}

fn remove(interface: &str, count: usize) -> Option<bool> {
    let socket = open(libc::NETLINK_NETFILTER).ok()?;
    let (mut rules, mut chains) = (Vec::new(), Vec::new());
    dump(&socket, (GET_RULE, NEW_RULE), 1, |body| rules.extend(rule(body, interface)))?;
    if rules.len() != count {
        return None;
    }
    dump(&socket, (GET_CHAIN, NEW_CHAIN), 2, |body| chains.extend(chain(body)))?;
    let (batch, last) = transaction(&rules, &chains, 3);
    send(socket.as_raw_fd(), &batch, MsgFlags::empty()).ok()?;
    loop {
        let packet = receive(&socket)?;
        for (kind, sequence, body) in messages(&packet) {
            if kind == ERROR {
                let code = body.get(..4).and_then(|code| code.try_into().ok()).map(i32::from_ne_bytes)?;
                if code != 0 || sequence == last {
                    return Some(code == 0);
                }
            }
        }
    }
}

/// Deletes the rules, and the tables that have no other ones and do nothing without rules. Returns the messages, and the number of that which is
/// acknowledged.
fn transaction(rules: &[Rule], chains: &[Chain], first: u32) -> (Vec<u8>, u32) {
    let mut deletions: Vec<(u16, u16, Vec<u8>)> = Vec::new();
    let mut own: BTreeMap<(&[u8], &[u8]), u32> = BTreeMap::new();
    for Rule { table, chain, handle } in rules {
        *own.entry((table, chain)).or_default() += 1;
        let attributes = [(RULE_TABLE, &table[..]), (RULE_CHAIN, chain), (RULE_HANDLE, handle)];
        deletions.push((DELETE_RULE, 0, body(&attributes)));
    }
    for table in TABLES.iter().filter(|table| rules.iter().any(|rule| rule.table == **table)) {
        let inside = || chains.iter().filter(|chain| chain.table == *table);
        let does_nothing =
            |chain: &Chain| chain.accepts && own.get(&(*table, &chain.name[..])).copied().unwrap_or(0) == chain.used;
        if inside().all(does_nothing) {
            let chain = |chain: &Chain| body(&[(CHAIN_TABLE, *table), (CHAIN_NAME, &chain.name)]);
            deletions.extend(inside().map(|inner| (DELETE_CHAIN, UNLESS_USED, chain(inner))));
            deletions.push((DELETE_TABLE, UNLESS_USED, body(&[(TABLE_NAME, table)])));
        }
    }
    let mut batch = message(BEGIN, REQUEST, first, &family(NFTABLES));
    let (mut sequence, mut left) = (first, deletions.len());
    for (kind, flags, body) in deletions {
        (sequence, left) = (sequence + 1, left - 1);
        let acknowledged = if left == 0 { ACKNOWLEDGE } else { 0 };
        batch.extend(message(kind, REQUEST | flags | acknowledged, sequence, &body));
    }
    batch.extend(message(END, REQUEST, sequence + 1, &family(NFTABLES)));
    (batch, sequence)
}

/// `nfgenmsg` and attributes.
fn body(attributes: &[(u16, &[u8])]) -> Vec<u8> {
    let mut bytes = IPV4.to_vec();
    for (kind, value) in attributes {
        bytes.extend(attribute(*kind, value));
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

/// An attribute, without what fills it up.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).expect("names are short");
    [&length.to_ne_bytes(), &kind.to_ne_bytes(), value].concat()
}

/// Hands the body of each entry of a table to `each`; none if the kernel refuses.
fn dump(socket: &OwnedFd, (asked, told): (u16, u16), number: u32, mut each: impl FnMut(&[u8])) -> Option<()> {
    send(socket.as_raw_fd(), &message(asked, REQUEST | DUMP, number, &IPV4), MsgFlags::empty()).ok()?;
    loop {
        let packet = receive(socket)?;
        for (kind, _, body) in messages(&packet).filter(|(_, sequence, _)| *sequence == number) {
            match kind {
                DONE => return Some(()),
                ERROR => return None,
                _ if kind == told => each(body),
                _ => {}
            }
        }
    }
}

fn receive(socket: &OwnedFd) -> Option<Vec<u8>> {
    let mut buffer = vec![0; next_packet(socket).ok()?];
    let length = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty()).ok()?;
    buffer.truncate(length);
    // A kernel sends no empty packets; whoever waited for the rest would wait for ever.
    (length > 0).then_some(buffer)
}

/// The kind, the number and the body of each message of a packet.
fn messages(packet: &[u8]) -> impl Iterator<Item = (u16, u32, &[u8])> {
    let mut rest = packet;
    std::iter::from_fn(move || {
        let header = rest.get(..HEADER)?;
        let length = u32::from_ne_bytes(header[..4].try_into().ok()?) as usize;
        let length = length.clamp(HEADER, rest.len());
        let kind = u16::from_ne_bytes(header[4..6].try_into().ok()?);
        let sequence = u32::from_ne_bytes(header[8..12].try_into().ok()?);
        let body = &rest[HEADER..length];
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        Some((kind, sequence, body))
    })
}

/// The value of an attribute behind `nfgenmsg`.
fn value(body: &[u8], kind: u16) -> Option<Vec<u8>> {
    let mut attributes = NlasIterator::new(body.get(IPV4.len()..)?).map_while(Result::ok);
    attributes.find(|attribute| attribute.kind() == kind).map(|attribute| attribute.value().to_vec())
}

/// The rule of a message, if it is in one of the tables and compares something with the name of the interface.
fn rule(body: &[u8], interface: &str) -> Option<Rule> {
    let name = attribute(DATA_VALUE, format!("{interface}\0").as_bytes());
    let expressions = value(body, RULE_EXPRESSIONS)?;
    let table = value(body, RULE_TABLE).filter(|table| TABLES.contains(&&table[..]))?;
    let names = expressions.windows(name.len()).any(|window| window == name);
    names.then_some(Rule { table, chain: value(body, RULE_CHAIN)?, handle: value(body, RULE_HANDLE)? })
}

fn chain(body: &[u8]) -> Option<Chain> {
    let used = value(body, CHAIN_USE)?.try_into().ok().map(u32::from_be_bytes)?;
    let accepts = value(body, CHAIN_POLICY).is_none_or(|policy| policy == ACCEPT);
    Some(Chain { table: value(body, CHAIN_TABLE)?, name: value(body, CHAIN_NAME)?, used, accepts })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed_rule(table: &[u8], interface: &str) -> Vec<u8> {
        let compared = attribute(DATA_VALUE, format!("{interface}\0").as_bytes());
        body(&[
            (RULE_TABLE, table),
            (RULE_CHAIN, b"FORWARD\0"),
            (RULE_HANDLE, &7_u64.to_be_bytes()),
            (RULE_EXPRESSIONS, &compared),
        ])
    }

    fn listed_chain(table: &[u8], name: &[u8], used: u32, policy: u32) -> Chain {
        let (used, policy) = (used.to_be_bytes(), policy.to_be_bytes());
        let listed = body(&[(CHAIN_TABLE, table), (CHAIN_NAME, name), (CHAIN_POLICY, &policy), (CHAIN_USE, &used)]);
        chain(&listed).unwrap()
    }

    fn kinds(batch: &[u8]) -> Vec<u16> {
        messages(batch).map(|(kind, ..)| kind).collect()
    }

    #[test]
    fn only_rules_that_name_the_interface_are_found() {
        let found = |listed: &[u8]| rule(listed, "netloom1");
        assert_eq!(found(&listed_rule(b"filter\0", "netloom1")).unwrap().handle, 7_u64.to_be_bytes());
        for (table, interface) in [("filter\0", "netloom10"), ("filter\0", "anetloom1"), ("mine\0", "netloom1")] {
            assert_eq!(found(&listed_rule(table.as_bytes(), interface)), None, "{table} {interface}");
        }
        let whole = listed_rule(b"nat\0", "netloom1");
        // The last bytes only fill it up.
        assert!((0..whole.len() - 4).all(|length| found(&whole[..length]).is_none()));
    }

    #[test]
    fn a_table_goes_only_with_its_last_rule() {
        let rules = [rule(&listed_rule(b"filter\0", "netloom1"), "netloom1").unwrap()];
        let tried = |chains: &[Chain]| kinds(&transaction(&rules, chains, 3).0);
        let forward = |used, policy| listed_chain(b"filter\0", b"FORWARD\0", used, policy);
        let other = listed_chain(b"nat\0", b"POSTROUTING\0", 4, 1);
        assert_eq!(tried(&[forward(1, 1), other]), [BEGIN, DELETE_RULE, DELETE_CHAIN, DELETE_TABLE, END]);
        for kept in
            [vec![forward(2, 1)], vec![forward(1, 0)], vec![forward(1, 1), listed_chain(b"filter\0", b"INPUT\0", 1, 1)]]
        {
            assert_eq!(tried(&kept), [BEGIN, DELETE_RULE, END], "{kept:?}");
        }
        let (batch, last) = transaction(&rules, &[forward(1, 1)], 3);
        let numbers: Vec<u32> = messages(&batch).map(|(_, sequence, _)| sequence).collect();
        assert_eq!((numbers, last), (vec![3, 4, 5, 6, 7], 6));
    }
}
