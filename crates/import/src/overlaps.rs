//! Subnets that a lab cannot have: one subnet on several links, or ends of a link in different ones. Files of other tools have
//! them where a program of a node joins links (a bridge, Open vSwitch, P4), or where a place is announced from two sites
//! (anycast). The nodes set such addresses by commands, so that the lab need not know where they lead.

use crate::source::Place;
use crate::topology::Topology;
use crate::value::{Content, Map, Origin, Value, entry, put};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// An address of an end, and its subnet.
#[derive(Debug)]
struct Given {
    link: usize,
    end: usize,
    /// The links that reach one another without a router have one number.
    segment: usize,
    text: String,
    place: Option<Place>,
    /// The first and the last address of the subnet; families do not meet.
    range: (bool, u128, u128),
}

/// Gives addresses that a lab cannot have to commands of their nodes.
pub(crate) fn to_commands(topology: &mut Topology) {
    let given = given(topology);
    let mut is_moved = vec![false; given.len()];
    for one in clashing(&given).into_iter().chain(apart(&given)) {
        is_moved[one] = true;
    }
    let mut commands: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
    let mut taken: BTreeMap<(usize, usize), BTreeSet<&str>> = BTreeMap::new();
    for (one, _) in given.iter().zip(&is_moved).filter(|(_, is_moved)| **is_moved) {
        let end = &topology.links[one.link].ends[one.end];
        let Some(interface) = interface(&end.settings) else { continue };
        let command = Value::text(format!("ip address add {} dev {interface}", one.text));
        let origin = one.place.map(Origin::at).unwrap_or_default();
        commands.entry(end.node).or_default().push(command.because(origin));
        taken.entry((one.link, one.end)).or_default().insert(&one.text);
        let said = "an address of a subnet that other links have, too, or whose other end has another one: a command sets it, \
                    and the lab does not know its name";
        topology.notes.add(one.place.unwrap_or_default(), said);
    }
    for ((link, end), addresses) in taken {
        remove(&mut topology.links[link].ends[end].settings, &addresses);
    }
    if commands.is_empty() {
        return;
    }
    // Nodes that join links by themselves ask for one another.
    put(&mut topology.top, "arp", Value::plain("true"));
    for (node, mut first) in commands {
        let settings = &mut topology.nodes[node].settings;
        match settings.iter_mut().find(|(key, _)| key == "setup") {
            Some((_, Value { content: Content::List(all), .. })) => drop(all.splice(0..0, first.drain(..))),
            _ => settings.push(entry("setup", Value::list(first))),
        }
    }
}

/// Names the interfaces of nodes that get such addresses, in a file that names none, as a lab does by itself. The lab gives such
/// links no addresses of its own.
pub(crate) fn name_interfaces(topology: &mut Topology) {
    let given = given(topology);
    let moved: BTreeSet<usize> = clashing(&given).into_iter().chain(apart(&given)).collect();
    let nodes: BTreeSet<usize> =
        moved.iter().map(|one| topology.links[given[*one].link].ends[given[*one].end].node).collect();
    let mut next: BTreeMap<usize, usize> = BTreeMap::new();
    for end in topology.links.iter_mut().flat_map(|link| &mut link.ends) {
        let number = next.entry(end.node).or_default();
        if nodes.contains(&end.node) && interface(&end.settings).is_none() {
            end.settings.insert(0, entry("interface", Value::text(format!("eth{number}"))));
        }
        *number += 1;
    }
    for link in moved.iter().map(|one| given[*one].link).collect::<BTreeSet<usize>>() {
        put(&mut topology.links[link].settings, "addresses", Value::plain("none"));
    }
}

/// All addresses that the file gives.
fn given(topology: &Topology) -> Vec<Given> {
    let segments = segments(topology);
    let mut all = Vec::new();
    for (link, segment) in segments.into_iter().enumerate() {
        for (end, about) in topology.links[link].ends.iter().enumerate() {
            let Some((_, value)) = about.settings.iter().find(|(key, _)| key == "address") else { continue };
            let Content::List(items) = &value.content else { continue };
            for item in items {
                let Content::Text(text) = &item.content else { continue };
                let Some(range) = subnet(text) else { continue };
                all.push(Given { link, end, segment, text: text.clone(), place: item.origin.place, range });
            }
        }
    }
    all
}

/// For each link the number of its segment: switches and hubs join links.
fn segments(topology: &Topology) -> Vec<usize> {
    let joins = |node: usize| {
        topology.nodes[node].settings.iter().any(|(key, value)| {
            let Content::Plain(kind) = &value.content else { return false };
            key == "kind" && ["switch", "hub"].contains(&kind.as_str())
        })
    };
    let mut parents: Vec<usize> = (0..topology.links.len()).collect();
    let root = |above: &mut Vec<usize>, mut at: usize| {
        while above[at] != at {
            above[at] = above[above[at]];
            at = above[at];
        }
        at
    };
    let mut first_at: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, link) in topology.links.iter().enumerate() {
        for node in link.ends.iter().map(|end| end.node).filter(|node| joins(*node)) {
            let other = *first_at.entry(node).or_insert(number);
            let (one, other) = (root(&mut parents, number), root(&mut parents, other));
            parents[one] = other;
        }
    }
    (0..topology.links.len()).map(|link| root(&mut parents, link)).collect()
}

/// The family, the first and the last address of an address' subnet.
fn subnet(text: &str) -> Option<(bool, u128, u128)> {
    let (address, length) = text.split_once('/')?;
    let (address, length): (IpAddr, u32) = (address.parse().ok()?, length.parse().ok()?);
    let (bits, is_v6, width) = match address {
        IpAddr::V4(v4) => (u128::from(u32::from(v4)), false, 32),
        IpAddr::V6(v6) => (u128::from(v6), true, 128),
    };
    let hosts = 1_u128.checked_shl(width.min(128) - length.min(width)).map_or(u128::MAX, |size| size - 1);
    Some((is_v6, bits & !hosts, bits | hosts))
}

/// Addresses whose subnet lies in one of another segment, and those of that one.
fn clashing(given: &[Given]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..given.len()).collect();
    order.sort_by_key(|one| {
        let (is_v6, first, last) = given[*one].range;
        (is_v6, first, std::cmp::Reverse(last))
    });
    // Subnets nest or are apart: groups of those that share addresses follow one another.
    let mut found = Vec::new();
    let mut group: Vec<usize> = Vec::new();
    let mut settle = |members: &mut Vec<usize>| {
        if members.iter().any(|one| given[*one].segment != given[members[0]].segment) {
            found.append(members);
        }
        members.clear();
    };
    for one in order {
        let (is_v6, _, last) = given[one].range;
        if group.first().is_some_and(|widest| given[*widest].range.0 != is_v6 || given[*widest].range.2 < last) {
            settle(&mut group);
        }
        group.push(one);
    }
    settle(&mut group);
    found
}

/// Addresses of segments where an end has no subnet of the first end's.
fn apart(given: &[Given]) -> Vec<usize> {
    let mut by_segment: BTreeMap<(usize, bool), Vec<usize>> = BTreeMap::new();
    for (number, one) in given.iter().enumerate() {
        by_segment.entry((one.segment, one.range.0)).or_default().push(number);
    }
    let mut found = Vec::new();
    for members in by_segment.into_values() {
        let at = |one: usize| (given[one].link, given[one].end);
        let of_first: BTreeSet<_> =
            members.iter().filter(|one| at(**one) == at(members[0])).map(|one| given[*one].range).collect();
        let meeting: BTreeSet<_> =
            members.iter().filter(|one| of_first.contains(&given[**one].range)).map(|one| at(*one)).collect();
        if !members.iter().all(|one| meeting.contains(&at(*one))) {
            found.extend(members);
        }
    }
    found
}

fn interface(settings: &Map) -> Option<&str> {
    settings.iter().find(|(key, _)| key == "interface").and_then(|(_, value)| match &value.content {
        Content::Text(name) => Some(name.as_str()),
        _ => None,
    })
}

/// Takes addresses from an end.
fn remove(settings: &mut Map, addresses: &BTreeSet<&str>) {
    for (_, value) in settings.iter_mut().filter(|(key, _)| key == "address") {
        if let Content::List(items) = &mut value.content {
            items.retain(|item| !matches!(&item.content, Content::Text(text) if addresses.contains(text.as_str())));
        }
    }
    settings.retain(|(key, value)| key != "address" || !matches!(&value.content, Content::List(all) if all.is_empty()));
}
