//! Policy routes: each way has a table of its own, with the subnets of its interface and a route for everything else.

use super::daemons::Neighborhood;
use crate::addressing::Family;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::plan::{EndPlan, InterfacePlan, NodePlan, Plan, RulePlan, TableRoutePlan};
use crate::spec::{NodeSpec, RuleSpec, WaySpec};
use ipnet::IpNet;
use std::net::IpAddr;

/// The tables of links begin here, in the order of a node's interfaces; those of rules with `via` behind them.
const FIRST_TABLE: usize = 10_000;
const FIRST_OF_VIA: usize = 20_000;

const FAMILIES: [Family; 2] = [Family::V4, Family::V6];

/// What the lab file says of the policy routes of a node.
pub(super) struct Policy {
    rules: Vec<RuleSpec>,
    multihomed: Option<Spanned<()>>,
}

/// The same of all nodes.
pub(super) fn take(nodes: &mut [NodeSpec]) -> Vec<Policy> {
    let one =
        |node: &mut NodeSpec| Policy { rules: std::mem::take(&mut node.rules), multihomed: node.multihomed.take() };
    nodes.iter_mut().map(one).collect()
}

/// Gives the nodes of a plan with interfaces their rules and tables. What is wrong is noted.
pub(super) fn settle(plan: &mut Plan, policies: &[Policy], around: &[Neighborhood], errors: &mut Errors) {
    for (node, policy) in policies.iter().enumerate() {
        if !plan.nodes[node].kind.runs_programs() {
            // That it has rules is reported already.
            continue;
        }
        let mut own = Own { plan: &*plan, around, node, rules: Vec::new(), tables: Vec::new() };
        for (number, rule) in policy.rules.iter().enumerate() {
            errors.extend(own.add(number, rule).err());
        }
        if let Some(place) = &policy.multihomed {
            errors.extend(own.spread(place).err());
        }
        let Own { rules, tables, .. } = own;
        (plan.nodes[node].rules, plan.nodes[node].tables) = (rules, tables);
    }
}

/// A node whose rules are made.
struct Own<'a> {
    plan: &'a Plan,
    around: &'a [Neighborhood],
    node: usize,
    rules: Vec<RulePlan>,
    tables: Vec<TableRoutePlan>,
}

impl Own<'_> {
    fn node(&self) -> &NodePlan {
        &self.plan.nodes[self.node]
    }

    fn add(&mut self, number: usize, rule: &RuleSpec) -> Result<(), Diagnostic> {
        let iif = rule.iif.as_ref().map(|name| self.interface(name)).transpose()?;
        let families: Vec<Family> = FAMILIES
            .into_iter()
            .filter(|family| rule.is_v6.is_none_or(|is_v6| is_v6 == (*family == Family::V6)))
            .collect();
        let mut made = 0;
        for family in families {
            let table = match &rule.way {
                WaySpec::Table(table) => Some(*table),
                WaySpec::Link(name) => {
                    let interface = self.interface(name)?;
                    self.table_of(interface, family)
                }
                WaySpec::Via(via) => Some(self.table_via(number, via)?),
            };
            let Some(table) = table else { continue };
            let is_v6 = family == Family::V6;
            self.rules.push(RulePlan { is_v6, from: rule.from, to: rule.to, iif, mark: rule.mark, table });
            made += 1;
        }
        if made == 0 {
            let message = "there is no router on this link that has an address of the rule's family: write `via`, the neighbour's address";
            let place =
                if let WaySpec::Link(name) = &rule.way { name.error(message) } else { rule.place.error(message) };
            return Err(place);
        }
        Ok(())
    }

    /// What has the address of an interface goes by that interface, if a router is there.
    fn spread(&mut self, place: &Spanned<()>) -> Result<(), Diagnostic> {
        let mut ways = 0;
        for interface in 0..self.node().interfaces.len() {
            let mut is_way = false;
            for family in FAMILIES {
                let Some(table) = self.table_of(interface, family) else { continue };
                is_way = true;
                let own = self.node().interfaces[interface].addresses.iter().map(IpNet::addr);
                let own: Vec<IpAddr> = own.filter(|address| family_of(*address) == family).collect();
                let is_v6 = family == Family::V6;
                let rule =
                    |from: IpAddr| RulePlan { is_v6, from: Some(from.into()), to: None, iif: None, mark: None, table };
                self.rules.extend(own.into_iter().map(rule));
            }
            ways += usize::from(is_way);
        }
        if ways > 1 {
            return Ok(());
        }
        let name = &self.node().name;
        Err(place.error(format!(
            "`{name}` has routers on {ways} of its links, and is multihomed with two or more: leave this out"
        )))
    }

    /// The interface of the node at a link.
    fn interface(&self, name: &Spanned<String>) -> Result<usize, Diagnostic> {
        let own: Vec<&str> = self.node().interfaces.iter().map(|own| self.link_name(own)).collect();
        own.iter().position(|link| *link == name.value).ok_or_else(|| {
            let known = if own.is_empty() { "it has none".to_owned() } else { format!("it has {}", own.join(", ")) };
            name.error(format!("`{}` is no link of this node: {known}", name.value))
        })
    }

    /// The link that an interface is at, as the lab file names it: one with more than two ends is a switch here.
    fn link_name(&self, own: &InterfacePlan) -> &str {
        let link = &self.plan.links[own.end.link()];
        let lan = link.beyond(own.end).map(|end| &self.plan.nodes[end.node]).find(|node| node.is_lan);
        lan.map_or(&link.name, |lan| &lan.name)
    }

    /// The table of the router that is reached by an interface; none if there is none.
    fn table_of(&mut self, interface: usize, family: Family) -> Option<u32> {
        let table = number(FIRST_TABLE + interface);
        let is_there = |route: &&TableRoutePlan| route.table == table && family_of(route.destination.addr()) == family;
        if self.tables.iter().find(is_there).is_none() {
            let via = self.router(interface, family)?;
            self.fill(table, interface, via);
        }
        Some(table)
    }

    fn table_via(&mut self, rule: usize, via: &Spanned<IpAddr>) -> Result<u32, Diagnostic> {
        let reaches = |nets: &[IpNet]| nets.iter().any(|net| net.contains(&via.value) && net.addr() != via.value);
        let found = self.node().interfaces.iter().position(|own| reaches(&own.addresses));
        let Some(interface) = found else {
            let subnets: Vec<String> = self
                .node()
                .interfaces
                .iter()
                .flat_map(|own| &own.addresses)
                .map(|net| net.trunc().to_string())
                .collect();
            let message =
                format!("{} is no neighbour of this node, whose subnets are {}", via.value, subnets.join(", "));
            return Err(via.error(message));
        };
        let table = number(FIRST_OF_VIA + rule);
        self.fill(table, interface, via.value);
        Ok(table)
    }

    /// The subnets of an interface, and everything else by this neighbour.
    fn fill(&mut self, table: u32, interface: usize, via: IpAddr) {
        let family = family_of(via);
        let own = self.plan.nodes[self.node].interfaces[interface].addresses.iter();
        let subnets = own.filter(|net| family_of(net.addr()) == family).map(IpNet::trunc);
        let subnet = |destination| TableRoutePlan { table, destination, via: None, interface };
        self.tables.extend(subnets.map(subnet));
        self.tables.push(TableRoutePlan { table, destination: family.everything(), via: Some(via), interface });
    }

    /// The address of the first router beyond an interface that is in one of its subnets.
    fn router(&self, interface: usize, family: Family) -> Option<IpAddr> {
        let is_own = |end: &EndPlan| end.node == self.node && end.interface == interface;
        let others =
            self.around.iter().find(|hood| hood.ends.iter().any(is_own))?.ends.iter().filter(|end| !is_own(end));
        let own = &self.node().interfaces[interface].addresses;
        let is_near = |address: &IpAddr| family_of(*address) == family && own.iter().any(|net| net.contains(address));
        let routers = others.filter(|end| self.plan.nodes[end.node].kind.forwards());
        let addresses = routers.flat_map(|end| &self.plan.nodes[end.node].interfaces[end.interface].addresses);
        addresses.map(IpNet::addr).find(is_near)
    }
}

fn family_of(address: IpAddr) -> Family {
    if address.is_ipv6() { Family::V6 } else { Family::V4 }
}

fn number(table: usize) -> u32 {
    u32::try_from(table).unwrap_or(u32::MAX)
}
