//! Carriers that go with a cut.
//!
//! The driver has cut the pipes at the instant of the cut, by itself. Kernel nodes hear of their carrier from it, at the same instant. The
//! interface of a namespace node has none while the other end of its pair, the lab's own, is down: that follows as soon as the session
//! can, and how late that was is judged as with any other event of the timeline. Meanwhile the node's kernel drops what is sent, which is
//! as described.

use super::context::Context;
use super::programs::Programs;
use netloom_commands::{Due, Item};
use netloom_dataplane::Act;
use netloom_fabric::PipeId;
use netloom_host::KernelError;
use netloom_host::netlink::{InterfaceCounters, Netlink};
use netloom_host::node::NodeError;
use netloom_judge::{Kind, RunError};
use netloom_lab::fabric::port_id;
use netloom_lab::{Action, End, EndPlan, LinkPart, Plan, RoamPlan, Stack};
use netloom_provision::port_name::interface_of;
use netloom_units::{Duration, Instant};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Carriers {
    /// The interfaces without carrier, by their ends of links.
    gone: BTreeMap<End, Gone>,
    /// What interfaces that have their carrier again dropped while they had none, by node and name.
    dropped: BTreeMap<(usize, String), u64>,
    /// The links whose kernel nodes have no carrier.
    unplugged: BTreeSet<usize>,
    /// The interfaces of kernel nodes that ever lost their carrier, by node and name.
    own: BTreeSet<(usize, String)>,
    /// The plan's stations at access points, as far as they have been looked at.
    roams: Vec<RoamPlan>,
    /// The stations that are with no access point.
    away: BTreeSet<End>,
    /// See [`Carriers::next_look`].
    next_look: Option<Instant>,
}

/// A node's kernel notices within some milliseconds, or, if its interfaces change often, within a second.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

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
    /// What this interface of a node dropped for want of a carrier, by now.
    pub(super) fn excused(&self, node: usize, interface: &str, counters: &[(String, InterfaceCounters)]) -> u64 {
        let is_meant = |gone: &&Gone| gone.node == node && gone.interface == interface;
        let still = self.gone.values().filter(is_meant).map(|gone| gone.since(counters)).sum::<u64>();
        let before = self.dropped.iter().filter(|((place, name), _)| *place == node && name == interface);
        let known = before.map(|(_, dropped)| dropped).sum::<u64>() + still;
        // The node itself tells it of a kernel of its own.
        let own = counters.iter().filter(|(name, _)| name == interface && self.own.contains(&(node, name.clone())));
        known + own.map(|(_, counted)| counted.tx_without_carrier).sum::<u64>()
    }
}

/// What these interfaces of a node could not send.
fn dropped_by(counters: &[(String, InterfaceCounters)], is_meant: impl Fn(&str) -> bool) -> u64 {
    let meant = counters.iter().filter(|(name, _)| is_meant(name));
    meant.map(|(_, counted)| unsent(counted)).sum()
}

/// What an interface could not send.
pub(super) fn unsent(counted: &InterfaceCounters) -> u64 {
    counted.tx_dropped + counted.tx_errors
}

/// Whether this entry of the timeline takes the carrier of interfaces that there are.
pub(super) fn takes_carrier(plan: &Plan, event: usize) -> bool {
    matches!(&plan.timeline[event].action, Action::Down { part, carrier: true, .. } if has_carriers(plan, part.link))
}

/// Whether interfaces of this link can lose their carrier.
pub(super) fn has_carriers(plan: &Plan, link: usize) -> bool {
    plan.links[link].ends.iter().any(|end| plan.nodes[end.node].stack == Stack::Namespace) || is_at_kernel(plan, link)
}

/// Whether the driver gives and takes the carrier of interfaces of this link.
pub(super) fn is_at_kernel(plan: &Plan, link: usize) -> bool {
    plan.links[link].ends.iter().any(|end| plan.nodes[end.node].stack == Stack::Kernel)
}

impl Carriers {
    /// The carriers of a lab whose stations do this.
    pub(super) fn of(plan: &Plan) -> Self {
        Self { roams: plan.roams(), ..Self::default() }
    }

    /// Returns what the driver does when a station leaves its access point or arrives at one; none where the session does it.
    pub(super) fn roaming(&self, context: &Context<'_>, place: usize) -> Option<(PipeId, Act)> {
        let RoamPlan { link, station: EndPlan { end, node, .. }, point, .. } = self.roams[place];
        if context.job.plan.nodes[node].stack != Stack::Kernel {
            return None;
        }
        let (pipe, _) = context.links.carriers(link, true).into_iter().next()?;
        Some((pipe, Act::SetPortCarrier(port_id(end), point.is_some())))
    }

    /// A station has left its access point, or arrived at one: its interface has a carrier as long as it is with one.
    pub(super) fn roam(
        &mut self,
        context: &mut Context<'_>,
        programs: &mut Programs,
        (place, at): (usize, Duration),
    ) -> Result<(), RunError> {
        let RoamPlan { link, station, point, .. } = self.roams[place];
        let (on, is_away) = (point.is_some(), self.away.contains(&station.end));
        if on {
            self.away.remove(&station.end)
        } else {
            self.away.insert(station.end)
        };
        let stack = context.job.plan.nodes[station.node].stack;
        if stack == Stack::Kernel {
            let node = &context.job.plan.nodes[station.node];
            self.own.insert((station.node, node.interfaces[station.interface].name.clone()));
        }
        let is_changed = match (stack, on) {
            (Stack::Namespace, false) => self.take(context, programs, &[station])?,
            // Whoever restores the link gives it.
            (Stack::Namespace, true) if is_away && context.links.is_whole(link) => {
                self.give(context, programs, |end| end == station.end)?
            }
            _ => false,
        };
        let plan = &context.job.plan;
        let name = |end: EndPlan| plan.nodes[end.node].name.clone();
        let told = json!({ "link": plan.links[link].name, "station": name(station), "access_point": point.map(name), "planned_ns": at.as_nanos() });
        let Some(zero) = context.zero() else { return Ok(()) };
        if is_changed {
            let late = context.links.now().since(zero + at);
            let text = format!("carrier of {} {} at {at}", name(station), if on { "on" } else { "off" });
            context.record(Kind::LinkChange, late, true, || text);
        }
        Ok(context.events.add(zero + at, Some(zero), "association", told)?)
    }

    /// The timeline has cut a link, or restored some of it: a cable is plugged in as a whole.
    pub(super) fn follow(
        &mut self,
        context: &mut Context<'_>,
        programs: &mut Programs,
        Due { at, item, .. }: Due,
    ) -> Result<(), RunError> {
        let (event, on) = match item {
            Item::Cut(event) if takes_carrier(&context.job.plan, event) => (event, false),
            Item::Restore(event) => (event, true),
            _ => return Ok(()),
        };
        let Some(&LinkPart { link, .. }) = context.job.plan.switched(event) else { return Ok(()) };
        self.switch(context, programs, link, on, Some(at))
    }

    /// Takes the carrier of a link's interfaces, or gives it back if it was taken. `planned`: when that was to be.
    pub(super) fn switch(
        &mut self,
        context: &mut Context<'_>,
        programs: &mut Programs,
        link: usize,
        on: bool,
        planned: Option<Duration>,
    ) -> Result<(), RunError> {
        // A node at it that has stopped gives it back when it starts.
        if on && context.job.plan.links[link].ends.iter().any(|end| programs.is_away(end.node)) {
            if self.unplugged.contains(&link) {
                // The driver, which knows nothing of nodes that stop, may have given it back.
                context.links.set_carrier(link, false)?;
            }
            return Ok(());
        }
        let is_own = self.switch_own(context, link, on, planned.is_some())?;
        let changed = if on {
            let away = self.away.clone();
            self.give(context, programs, |end| end.link() == link && !away.contains(&end))?
        } else {
            let ends = context.job.plan.links[link].ends.clone();
            self.take(context, programs, &ends)?
        };
        if changed || is_own { note(context, link, on, planned) } else { Ok(()) }
    }

    /// A kernel that has booted at a link without carrier does not know of that yet.
    pub(super) fn tell(&self, context: &mut Context<'_>, link: usize) -> Result<(), RunError> {
        if self.unplugged.contains(&link) {
            context.links.set_carrier(link, false)?;
        }
        Ok(())
    }

    /// The same of the interfaces of kernel nodes, for which the driver has done it already if that was planned. Whether there was one to
    /// be taken, or given.
    fn switch_own(
        &mut self,
        context: &mut Context<'_>,
        link: usize,
        on: bool,
        is_planned: bool,
    ) -> Result<bool, RunError> {
        if !is_at_kernel(&context.job.plan, link) {
            return Ok(false);
        }
        if !is_planned {
            context.links.set_carrier(link, on)?;
        }
        let plan = &context.job.plan;
        let ends = plan.links[link].ends.iter().filter(|end| plan.nodes[end.node].stack == Stack::Kernel);
        self.own.extend(ends.map(|end| (end.node, plan.nodes[end.node].interfaces[end.interface].name.clone())));
        Ok(if on { self.unplugged.remove(&link) } else { self.unplugged.insert(link) })
    }

    /// Whether there was one to be taken.
    fn take(&mut self, context: &Context<'_>, programs: &mut Programs, ends: &[EndPlan]) -> Result<bool, RunError> {
        let mut is_new = false;
        for &EndPlan { end, node, interface } in ends {
            if programs.nodes[node].namespaces().is_none() || programs.gone.contains(&node) {
                continue;
            }
            if let Some(gone) = self.gone.get_mut(&end) {
                is_new |= std::mem::take(&mut gone.returns);
                continue;
            }
            let interface = context.job.plan.nodes[node].interfaces[interface].name.clone();
            let counters = programs.nodes[node].interface_counters().map_err(died)?;
            let before = dropped_by(&counters, |name| name == interface);
            self.gone.insert(end, Gone { node, interface, before, returns: false });
            is_new = true;
        }
        self.switch_ends(|end| ends.iter().any(|own| own.end == end), false).map(|()| is_new)
    }

    /// Whether there was one that had been taken.
    fn give(
        &mut self,
        context: &Context<'_>,
        programs: &mut Programs,
        is_meant: impl Fn(End) -> bool,
    ) -> Result<bool, RunError> {
        let meant = self.gone.iter_mut().filter(|(end, gone)| is_meant(**end) && !gone.returns);
        if meant.map(|(_, gone)| gone.returns = true).count() == 0 {
            return Ok(false);
        }
        self.switch_ends(is_meant, true)?;
        self.look(context, programs).map(|()| true)
    }

    /// Brings the lab's own ends of pairs up or down.
    fn switch_ends(&self, is_meant: impl Fn(End) -> bool, up: bool) -> Result<(), RunError> {
        let ends = self.gone.keys().filter(|end| is_meant(**end));
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

    /// When to look again whether a node has noticed that a carrier is there again, if one has not.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.next_look
    }

    /// Looks whether nodes whose carriers are there again have noticed that. Until then their kernels drop what is sent.
    pub(super) fn look(&mut self, context: &Context<'_>, programs: &mut Programs) -> Result<(), RunError> {
        let returning = self.gone.iter().filter(|(_, gone)| gone.returns);
        for (place, gone) in returning.map(|(place, gone)| (*place, gone.clone())).collect::<Vec<_>>() {
            if programs.gone.contains(&gone.node) {
                continue;
            }
            let node = &mut programs.nodes[gone.node];
            if node.running().map_err(died)?.contains(&gone.interface) {
                let counters = node.interface_counters().map_err(died)?;
                let dropped = gone.since(&counters);
                *self.dropped.entry((gone.node, gone.interface)).or_default() += dropped;
                self.gone.remove(&place);
            }
        }
        let is_awaited = |gone: &Gone| gone.returns && !programs.gone.contains(&gone.node);
        let again = self.gone.values().any(is_awaited).then(|| context.links.now() + LOOK_AGAIN);
        self.next_look = again;
        Ok(())
    }
}

fn note(context: &mut Context<'_>, link: usize, on: bool, planned: Option<Duration>) -> Result<(), RunError> {
    let Some(zero) = context.zero() else { return Ok(()) };
    let plan = &context.job.plan;
    let is_followed = plan.links[link].ends.iter().any(|end| plan.nodes[end.node].stack == Stack::Namespace);
    let now = match planned {
        // The driver did it together with the cut.
        Some(at) if !is_followed => zero + at,
        _ => context.links.now(),
    };
    let (name, state) = (context.links.names()[link].name.clone(), if on { "on" } else { "off" });
    let mut details = json!({ "link": name });
    if let Some(at) = planned {
        details["planned_ns"] = at.as_nanos().into();
        if is_followed {
            let late = now.since(zero + at);
            context.record(Kind::LinkChange, late, true, || format!("carrier of {name} {state} at {at}"));
            details["lateness_ns"] = late.as_nanos().into();
        }
    }
    Ok(context.events.add(now, Some(zero), &format!("carrier {state}"), details)?)
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn died(error: NodeError) -> RunError {
    RunError::Died(error.to_string())
}
