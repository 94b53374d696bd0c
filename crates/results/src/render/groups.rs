//! Who is a member of which group of multicast, as switches know it.

use super::{Align, ROWS_SHOWN, Table, push_line};
use netloom_judge::quantity::span;
use netloom_judge::{SnoopingRow, SwitchRow};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

/// A group at a switch: the place of its first port among all, the VLAN, and the address.
type Key = (usize, Option<u16>, IpAddr);

/// How many groups there are behind a port, and whether a router is.
pub(super) fn of_port(port: &SnoopingRow) -> String {
    let router = if port.is_router_port { ", router" } else { "" };
    format!("{}{router}", port.known_groups)
}

/// The table of all groups; `rest`: where those are that are not shown. What neighbour discovery makes of every address is left out.
pub(super) fn groups(rows: &[SwitchRow], rest: &str) -> String {
    let mut members: BTreeMap<Key, Vec<String>> = BTreeMap::new();
    let mut first = 0;
    let mut of_neighbors = 0;
    for (place, row) in rows.iter().enumerate() {
        if rows[first].node != row.node {
            first = place;
        }
        for group in row.snooping.iter().flat_map(|own| &own.groups) {
            let Ok(address) = group.group.parse() else { continue };
            if is_of_neighbors(address) {
                of_neighbors += 1;
                continue;
            }
            let member = format!("{} ({})", row.link, span(group.remaining_ns));
            members.entry((first, group.vlan, address)).or_default().push(member);
        }
    }
    let mut text = String::new();
    if members.is_empty() && of_neighbors == 0 {
        return text;
    }
    let vlan = members.keys().any(|(_, vlan, _)| vlan.is_some()).then_some(("VLAN", Align::Right));
    let names = [("switch", Align::Left)].into_iter().chain(vlan);
    let columns: Vec<_> =
        names.chain([("group", Align::Left), ("members behind (for how long yet)", Align::Left)]).collect();
    let mut table = Table::new(&columns);
    for ((node, own, group), ports) in members.iter().take(ROWS_SHOWN) {
        let number = vlan.map(|_| own.map_or_else(String::new, |number| number.to_string()));
        let cells = [rows[*node].node.clone()].into_iter().chain(number);
        table.row(cells.chain([group.to_string(), ports.join(", ")]).collect());
    }
    text.push('\n');
    if !members.is_empty() {
        text.push_str(&table.to_string());
    }
    if let Some(more) = members.len().checked_sub(ROWS_SHOWN).filter(|more| *more > 0) {
        push_line(&mut text, &format!("... {more} more {rest}"));
    }
    if of_neighbors > 0 {
        push_line(&mut text, &format!("and {of_neighbors} memberships of neighbour discovery {rest}"));
    }
    text
}

/// The groups to which questions for neighbours go (RFC 4291, section 2.7.1).
fn is_of_neighbors(group: IpAddr) -> bool {
    let [a, b, c, d, e, f, g, _] = match group {
        IpAddr::V4(_) => return false,
        IpAddr::V6(group) => Ipv6Addr::segments(&group),
    };
    [a, b, c, d, e, f] == [0xff02, 0, 0, 0, 0, 1] && g & 0xff00 == 0xff00
}
