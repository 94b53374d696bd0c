//! Carriers that go with a cut: a node's interface has none while the other end of its pair, the lab's own, is down.
//!
//! The driver has cut the pipes at the instant of the cut, by itself; the carrier follows as soon as the session can, and how
//! late that was is judged as with any other event. Meanwhile the node's kernel drops what is sent, which is as described.

use super::Session;
use super::timeline::{Due, Item};
use crate::port_name::interface_of;
use netloom_host::KernelError;
use netloom_host::netlink::{InterfaceCounters, Netlink};
use netloom_host::node::NodeError;
use netloom_judge::{Kind, RunError};
use netloom_lab::fabric::port_id;
use netloom_lab::{Action, End, EndPlan, LinkPart, Stack};
use netloom_units::Duration;
use serde_json::json;
use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    /// The interfaces without carrier, by their ends of links.
    gone: BTreeMap<End, Gone>,
    /// What interfaces that have their carrier again dropped while they had none, by node.
    dropped: BTreeMap<usize, u64>,
}

/// An interface that has lost its carrier.
#[derive(Clone, Debug)]
struct Gone {
    node: usize,
    interface: String,
    /// What it had dropped before.
    before: u64,
    /// Whether the carrier is there again, and the node's kernel is about to notice.
    returns: bool,
}

impl Gone {
    /// What it has dropped since.
    fn since(&self, counters: &[(String, InterfaceCounters)]) -> u64 {
        dropped_by(counters, |name| name == self.interface).saturating_sub(self.before)
    }
}

impl Carriers {
    /// What the node's interfaces dropped for want of a carrier, by now.
    pub(super) fn excused(&self, node: usize, counters: &[(String, InterfaceCounters)]) -> u64 {
        let still = self.gone.values().filter(|gone| gone.node == node).map(|gone| gone.since(counters)).sum::<u64>();
        self.dropped.get(&node).copied().unwrap_or(0) + still
    }
}

/// What these interfaces of a node could not send.
pub(super) fn dropped_by(counters: &[(String, InterfaceCounters)], is_meant: impl Fn(&str) -> bool) -> u64 {
    let meant = counters.iter().filter(|(name, _)| is_meant(name));
    meant.map(|(_, counted)| counted.tx_dropped + counted.tx_errors).sum()
}

impl Session<'_> {
    /// Whether this entry of the timeline takes the carrier of interfaces that there are.
    pub(super) fn takes_carrier(&self, event: usize) -> bool {
        let Action::Down { part, carrier: true, .. } = &self.context.job.plan.timeline[event].action else {
            return false;
        };
        let ends = &self.context.job.plan.links[part.link].ends;
        ends.iter().any(|end| self.context.job.plan.nodes[end.node].stack == Stack::Namespace)
    }

    /// The timeline has cut a link, or restored some of it: a cable is plugged in as a whole.
    pub(super) fn carriers_follow(&mut self, Due { at, item, .. }: Due) -> Result<(), RunError> {
        let (event, on) = match item {
            Item::Cut(event) if self.takes_carrier(event) => (event, false),
            Item::Restore(event) => (event, true),
            _ => return Ok(()),
        };
        let Some(&LinkPart { link, .. }) = self.context.job.plan.switched(event) else { return Ok(()) };
        let changed = if on { self.give_carrier(link)? } else { self.take_carrier(link)? };
        if changed { self.note_carrier(link, on, at) } else { Ok(()) }
    }

    /// Whether there was one to be taken.
    fn take_carrier(&mut self, link: usize) -> Result<bool, RunError> {
        let mut is_new = false;
        for &EndPlan { end, node, interface } in &self.context.job.plan.links[link].ends {
            if self.programs.nodes[node].namespaces().is_none() || self.programs.gone.contains(&node) {
                continue;
            }
            if let Some(gone) = self.carriers.gone.get_mut(&end) {
                is_new |= std::mem::take(&mut gone.returns);
                continue;
            }
            let interface = self.context.job.plan.nodes[node].interfaces[interface].name.clone();
            let counters = self.programs.nodes[node].interface_counters().map_err(died)?;
            let before = dropped_by(&counters, |name| name == interface);
            self.carriers.gone.insert(end, Gone { node, interface, before, returns: false });
            is_new = true;
        }
        self.switch_ends(link, false).map(|()| is_new)
    }

    /// Whether there was one that had been taken.
    fn give_carrier(&mut self, link: usize) -> Result<bool, RunError> {
        let of_link = self.carriers.gone.iter_mut().filter(|(end, gone)| end.link() == link && !gone.returns);
        if of_link.map(|(_, gone)| gone.returns = true).count() == 0 {
            return Ok(false);
        }
        self.switch_ends(link, true)?;
        self.look_for_carriers().map(|()| true)
    }

    /// Brings the lab's own ends of a link's pairs up or down.
    fn switch_ends(&self, link: usize, up: bool) -> Result<(), RunError> {
        let ends = self.carriers.gone.keys().filter(|end| end.link() == link);
        let failed = |error: KernelError| RunError::Died(error.to_string());
        let mut netlink = Netlink::open().map_err(failed)?;
        for end in ends {
            match netlink.switch(&interface_of(port_id(*end)), up) {
                // A program of the node removed the interface, and the pair with it; that is noted elsewhere.
                Err(error) if error.errno() == libc::ENODEV => {}
                other => other.map_err(failed)?,
            }
        }
        Ok(())
    }

    /// Looks whether nodes whose carriers are there again have noticed that. Until then their kernels drop what is sent.
    pub(super) fn look_for_carriers(&mut self) -> Result<(), RunError> {
        let returning = self.carriers.gone.iter().filter(|(_, gone)| gone.returns);
        for (place, gone) in returning.map(|(place, gone)| (*place, gone.clone())).collect::<Vec<_>>() {
            if self.programs.gone.contains(&gone.node) {
                continue;
            }
            let node = &mut self.programs.nodes[gone.node];
            if node.running().map_err(died)?.contains(&gone.interface) {
                let counters = node.interface_counters().map_err(died)?;
                *self.carriers.dropped.entry(gone.node).or_default() += gone.since(&counters);
                self.carriers.gone.remove(&place);
            }
        }
        Ok(())
    }

    fn note_carrier(&mut self, link: usize, on: bool, at: Duration) -> Result<(), RunError> {
        let Some(zero) = self.context.zero() else { return Ok(()) };
        let now = self.context.links.now();
        let late = now.since(zero + at);
        let (name, state) = (self.context.links.names()[link].name.clone(), if on { "on" } else { "off" });
        self.context.record(Kind::LinkChange, late, true, || format!("carrier of {name} {state} at {at}"));
        let details = json!({ "link": name, "planned_ns": at.as_nanos(), "lateness_ns": late.as_nanos() });
        self.context.events.add(now, Some(zero), &format!("carrier {state}"), details)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn died(error: NodeError) -> RunError {
    RunError::Died(error.to_string())
}
