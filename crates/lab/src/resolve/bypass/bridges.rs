//! Which switches are bridges of the kernel. A bridge reaches nothing that is in the packet engine, so all links of a switch are
//! joined in the kernel, or none.

use crate::plan::{Bypass, LinkPlan, SwitchPlan};
use crate::spec::Spec;
use netloom_units::Duration;
use std::collections::VecDeque;

/// The numbers of a bridge's ports have ten bits, and 0 is none (`BR_PORT_BITS` of the kernel's net/bridge/br_private.h).
const MOST_PORTS: usize = 1_023;

/// In which bridges of the kernel measure how long an address is remembered.
const TICK: Duration = Duration::from_millis(10);

/// What links come to, and what follows for switches and other links.
pub(super) struct Bridges<'a> {
    spec: &'a Spec,
    ends: &'a [LinkPlan],
    /// By link.
    links: Vec<Bypass>,
    /// By node: the links of a switch; none of others.
    at: Vec<Vec<usize>>,
    /// By node: whether it is known to be a switch in the packet engine.
    in_engine: Vec<bool>,
    /// What follows from these switches is still to be found, each with why it is there.
    found: VecDeque<(usize, String)>,
}

impl<'a> Bridges<'a> {
    /// `links`: what each comes to, whatever the switches at its ends are.
    pub(super) fn new(
        spec: &'a Spec,
        switches: &[Option<SwitchPlan>],
        ends: &'a [LinkPlan],
        links: Vec<Bypass>,
    ) -> Self {
        let mut at = vec![Vec::new(); spec.nodes.len()];
        for (number, link) in ends.iter().enumerate() {
            link.ends.iter().filter(|end| switches[end.node].is_some()).for_each(|end| at[end.node].push(number));
        }
        let in_engine = vec![false; spec.nodes.len()];
        let mut this = Self { spec, ends, links, at, in_engine, found: VecDeque::new() };
        for (node, switch) in switches.iter().enumerate() {
            if let Some(why) = switch.as_ref().and_then(|switch| this.hindrance(node, switch)) {
                this.find(node, why);
            }
        }
        this
    }

    /// What each link comes to.
    pub(super) fn settle(mut self) -> Vec<Bypass> {
        while let Some((node, why)) = self.found.pop_front() {
            let name = &self.spec.nodes[node].name.value;
            for link in std::mem::take(&mut self.at[node]) {
                if !self.links[link].is_joined() {
                    continue;
                }
                self.links[link] = Bypass::Hindered(format!("switch `{name}` is inside the packet engine: {why}"));
                let way = &self.spec.links[link].name.value;
                for end in &self.ends[link].ends {
                    self.find(end.node, format!("its link `{way}` leads to switch `{name}`, which is there, too"));
                }
            }
        }
        self.links
    }

    /// A switch that is not known yet to be in the packet engine, if it is one, is there.
    fn find(&mut self, node: usize, why: String) {
        let is_switch = !self.at[node].is_empty();
        if is_switch && !std::mem::replace(&mut self.in_engine[node], true) {
            self.found.push_back((node, why));
        }
    }

    /// Why a switch cannot be a bridge, whatever the switches around it are.
    fn hindrance(&self, node: usize, switch: &SwitchPlan) -> Option<String> {
        on_settings(switch).or_else(|| self.on_links(node))
    }

    fn on_links(&self, node: usize) -> Option<String> {
        let own = &self.at[node];
        if own.len() > MOST_PORTS {
            return Some(format!("it has {} links, and bridges of the kernel at most {MOST_PORTS}", own.len()));
        }
        let apart = own.iter().find_map(|link| {
            let name = &self.spec.links[*link].name.value;
            match &self.links[*link] {
                Bypass::Joined => None,
                Bypass::Hindered(why) => Some(format!("its link `{name}` is not joined in the kernel, because {why}")),
                Bypass::Off => Some(format!("`bypass` of its link `{name}` does not ask for it")),
            }
        });
        // For trains, a bridge of the kernel does not look at the MTU of the port where they leave.
        let mtu = |link: &usize| self.ends[*link].mtu;
        apart.or_else(|| {
            let differs = own.iter().any(|link| mtu(link) != mtu(&own[0]));
            differs.then(|| "the MTUs of its links differ".to_owned())
        })
    }
}

/// What bridges of the kernel do not do, or not as switches here do it.
fn on_settings(switch: &SwitchPlan) -> Option<String> {
    let SwitchPlan { ageing, table, fixed, vlans, tree, snooping } = switch;
    let is_measured = *ageing <= TICK * u64::from(u32::MAX) && ageing.as_nanos().is_multiple_of(TICK.as_nanos());
    [
        (tree.is_some(), "it has `stp`".to_owned()),
        (snooping.is_some(), "it has `snooping`".to_owned()),
        (!vlans.is_empty(), "it keeps VLANs apart".to_owned()),
        (!fixed.is_empty(), "it has `static` addresses".to_owned()),
        (*table != SwitchPlan::TABLE, "it has a `table` of its own size".to_owned()),
        (!is_measured, format!("its `ageing` is no multiple of {TICK}, in which the kernel measures it")),
    ]
    .into_iter()
    .find_map(|(is_so, why)| is_so.then_some(why))
}
