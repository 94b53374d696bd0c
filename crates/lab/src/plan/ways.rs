//! Ways over links and devices without addresses.

use super::{End, EndPlan, Plan};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

impl Plan {
    /// The shortest way from an end of a link to the end with this address, over switches and hubs alone: the ends at which
    /// a frame enters and leaves each link. None if no such way leads there.
    pub fn way_to(&self, from: End, address: IpAddr) -> Option<Vec<[End; 2]>> {
        // By the end at which a link is left: the way to it.
        let mut before: BTreeMap<End, [End; 2]> = BTreeMap::new();
        let mut queue = VecDeque::from([from]);
        let mut first = None;
        while let Some(entry) = queue.pop_front() {
            let exit = self.links[entry.link()].beyond(entry);
            let step = [entry, exit.end];
            if self.is_at(exit, address) {
                first = Some(step);
                break;
            }
            for next in self.ports_beside(exit) {
                if next != from && !before.contains_key(&next) {
                    before.insert(next, step);
                    queue.push_back(next);
                }
            }
        }
        let mut way = Vec::from([first?]);
        while let Some(step) = before.get(&way[way.len() - 1][0]) {
            way.push(*step);
        }
        way.reverse();
        Some(way)
    }

    fn is_at(&self, end: &EndPlan, address: IpAddr) -> bool {
        let interface = &self.nodes[end.node].interfaces[end.interface];
        interface.addresses.iter().any(|net| net.addr() == address)
    }

    /// Where a frame goes on that reaches this end, if there is a switch or a hub.
    fn ports_beside(&self, end: &EndPlan) -> impl Iterator<Item = End> {
        let node = &self.nodes[end.node];
        let others = node.interfaces.iter().map(|port| port.end).filter(move |other| *other != end.end);
        others.filter(|_| !node.kind.has_addresses())
    }
}
