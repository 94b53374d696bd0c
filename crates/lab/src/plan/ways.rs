//! Ways over links and devices without addresses.

use super::{End, EndPlan, InterfacePlan, Plan};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// An end of a link, and what a frame says there: the VLAN of its tag, or zero if it has none.
type Step = (End, u16);

impl Plan {
    /// The shortest way from an end of a link to the end with this address, over switches and hubs alone, and only where spanning
    /// trees let frames through once they stand: the ends at which
    /// a frame enters and leaves each link. None if no such way leads there.
    pub fn way_to(&self, from: End, address: IpAddr) -> Option<Vec<[End; 2]>> {
        self.way_where(from, address, |_, _| true)
    }

    /// Returns the shortest way as [`Plan::way_to`] does, where a link that is entered at the first end leads only to those of which `reaches` says so.
    pub fn way_where(&self, from: End, address: IpAddr, reaches: impl Fn(End, End) -> bool) -> Option<Vec<[End; 2]>> {
        // By where a link is entered: where the one before it is, and where that is left.
        let mut before: BTreeMap<Step, (Step, End)> = BTreeMap::new();
        let mut queue = VecDeque::from([(from, 0)]);
        let last = loop {
            let step = queue.pop_front()?;
            let exits = || self.links[step.0.link()].beyond(step.0).filter(|exit| reaches(step.0, exit.end));
            if let Some(exit) = exits().find(|exit| step.1 == 0 && self.is_at(exit, address)) {
                break (step, exit.end);
            }
            for exit in exits() {
                for next in self.beside(exit, step.1) {
                    if next.0 != from && !before.contains_key(&next) {
                        before.insert(next, (step, exit.end));
                        queue.push_back(next);
                    }
                }
            }
        };
        let steps = std::iter::successors(Some(last), |(step, _)| before.get(step).copied());
        let mut way: Vec<[End; 2]> = steps.map(|((entry, _), exit)| [entry, exit]).collect();
        way.reverse();
        Some(way)
    }

    fn is_at(&self, end: &EndPlan, address: IpAddr) -> bool {
        let interface = &self.nodes[end.node].interfaces[end.interface];
        interface.addresses.iter().any(|net| net.addr() == address)
    }

    /// Where a frame with this tag goes on that reaches this end, if there is a switch or a hub.
    fn beside(&self, end: &EndPlan, tag: u16) -> Vec<Step> {
        let node = &self.nodes[end.node];
        let ports = node.interfaces.iter().enumerate().filter(|(place, _)| *place != end.interface);
        let tree = node.switch.as_ref().and_then(|switch| switch.tree.as_ref());
        let forwards = |place: usize| tree.is_none_or(|tree| tree.ports[place].forwards());
        let is_through = !node.kind.has_addresses() && forwards(end.interface);
        let ports = ports.filter(|(place, _)| is_through && forwards(*place));
        let vlans = node.switch.as_ref().map_or(&[][..], |switch| &switch.vlans);
        let Some(own) = vlans.get(end.interface) else { return ports.map(|(_, port)| (port.end, tag)).collect() };
        let vlan = if tag == 0 { own.untagged } else { own.tagged.contains(&tag).then_some(tag) };
        let on = |(place, port): (usize, &InterfacePlan)| {
            let vlan = vlan?;
            let leaves = if vlans[place].untagged == Some(vlan) { Some(0) } else { None };
            Some((port.end, leaves.or_else(|| vlans[place].tagged.contains(&vlan).then_some(vlan))?))
        };
        ports.filter_map(on).collect()
    }
}
