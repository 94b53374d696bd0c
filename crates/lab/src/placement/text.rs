//! A placement as text, for people, and as JSON.

use super::amounts::{processors, size};
use super::hosts::Host;
use super::{Bond, Crossing, Placement, Share, Why};
use crate::plan::Plan;
use netloom_units::{Bytes, Duration, Rate};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many names are written in a row.
const NAMED: usize = 12;

impl Placement {
    /// Returns the placement as text: which machine plays what and why, what crosses, and what does not fit.
    pub fn text(&self, plan: &Plan) -> String {
        let mut text = String::from("\nMachines\n");
        for (place, share) in self.machines.iter().enumerate() {
            let names = self.nodes_of(plan, place);
            let Share { machine, nodes, processor, memory, .. } = share;
            let host = share.host.as_ref().map_or_else(String::new, Host::text);
            let nodes = if *nodes == 1 { "1 node".to_owned() } else { format!("{nodes} nodes") };
            let (processor, memory) = (processors(*processor), size(*memory));
            let room = room(share);
            text += &format!(
                "  {}  {nodes}, {processor} processors{}, {memory}{}{host}: {}\n",
                machine.name,
                room[0],
                room[1],
                some(&names)
            );
        }
        text += &self.reasons(plan);
        text += &self.crossings(plan);
        let unused = self.cluster.map_or(0, |there| there.saturating_sub(self.used()));
        if unused > 0 {
            text += &format!("\nmachines of the cluster without a part: {unused} of {}\n", self.cluster.unwrap_or(0));
        }
        for (title, sentences) in [("May be too much", &self.doubts), ("Does not fit", &self.misfits)] {
            if !sentences.is_empty() {
                text += &format!("\n{title}\n");
                sentences.iter().for_each(|sentence| text += &format!("  {sentence}\n"));
            }
        }
        text
    }

    /// How many machines play nodes.
    fn used(&self) -> usize {
        self.machines.iter().filter(|share| share.nodes > 0).count()
    }

    fn nodes_of<'a>(&self, plan: &'a Plan, machine: usize) -> Vec<&'a str> {
        let own = plan.nodes.iter().zip(&self.nodes).filter(|(_, (place, _))| *place == machine);
        own.map(|(node, _)| node.name.as_str()).collect()
    }

    /// Why nodes are where they are: those of which more is to be said than that little crosses.
    fn reasons(&self, plan: &Plan) -> String {
        let mut by_reason: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (node, (_, why)) in plan.nodes.iter().zip(&self.nodes) {
            let reason = match why {
                Why::Cut => continue,
                Why::Chosen => "the lab file says so".to_owned(),
                Why::Here => "is something of the machine on which the lab is started".to_owned(),
                Why::With(link) => self.bond(*link).map_or_else(String::new, |bond| format!("not cut: {bond}")),
            };
            by_reason.entry(reason).or_default().push(&node.name);
        }
        let rows = by_reason.iter().map(|(reason, names)| format!("  {}: {reason}\n", some(names)));
        let rows: String = rows.collect();
        if rows.is_empty() { rows } else { format!("\nWhy\n{rows}") }
    }

    fn bond(&self, link: usize) -> Option<&Bond> {
        self.bound.iter().find(|(place, _)| *place == link).map(|(_, bond)| bond)
    }

    fn crossings(&self, plan: &Plan) -> String {
        if self.machines.len() < 2 {
            return String::new();
        }
        let mut text = String::from("\nBetween machines\n");
        if self.crossing.is_empty() {
            text += "  nothing crosses\n";
        }
        for Crossing { link, machines, rates, least } in &self.crossing {
            let [from, to] = machines.map(|place| self.machines[place].machine.name.as_str());
            let name = &plan.links[*link].name;
            let [forward, backward] = rates.map(rate);
            let rate = if forward == backward { forward } else { format!("{forward} and {backward}") };
            text += &format!("  {name}  {from} - {to}  {rate}, {least}\n");
        }
        if let Some(least) = self.lookahead().filter(|_| self.is_by_delay) {
            text += &format!("  lookahead: {least}, the least delay of all that crosses\n");
        }
        text
    }

    /// Returns the placement as JSON; nodes and links by name.
    pub fn json(&self, plan: &Plan) -> Value {
        let name = |place: usize| self.machines[place].machine.name.as_str();
        let machines = self.machines.iter().enumerate().map(|(place, share)| {
            json!({
                "name": share.machine.name,
                "nodes": self.nodes_of(plan, place),
                "processor_thousandths": share.processor,
                "memory_bytes": share.memory.get(),
                "most_processor_thousandths": share.machine.cpus.map(crate::plan::Cpus::thousandths),
                "most_memory_bytes": share.machine.memory.map(Bytes::get),
                "host": share.host.as_ref().map(Host::json),
            })
        });
        let crossing = self.crossing.iter().map(|crossing| {
            json!({
                "link": plan.links[crossing.link].name,
                "machines": crossing.machines.map(&name),
                "forward_bits_per_second": crossing.rates[0].map(Rate::as_bits_per_second),
                "backward_bits_per_second": crossing.rates[1].map(Rate::as_bits_per_second),
                "least_delay_ns": crossing.least.as_nanos(),
            })
        });
        let nodes = plan.nodes.iter().zip(&self.nodes).map(|(node, (place, why))| {
            let link = if let Why::With(link) = why { Some(plan.links[*link].name.as_str()) } else { None };
            json!({ "name": node.name, "machine": name(*place), "why": word(why), "link": link })
        });
        let bound = self
            .bound
            .iter()
            .map(|(link, bond)| json!({ "link": plan.links[*link].name, "because": bond.to_string() }));
        json!({
            "are_of_the_file": self.machines.iter().any(|share| share.machine.line > 0),
            "machines": machines.collect::<Vec<_>>(),
            "nodes": nodes.collect::<Vec<_>>(),
            "crossing": crossing.collect::<Vec<_>>(),
            "not_cut": bound.collect::<Vec<_>>(),
            "lookahead_ns": self.lookahead().map(Duration::as_nanos),
            "cluster_machines": self.cluster,
            "may_be_too_much": self.doubts,
            "does_not_fit": self.misfits,
        })
    }
}

fn word(why: &Why) -> &'static str {
    match why {
        Why::Chosen => "chosen",
        Why::With(_) => "not_cut",
        Why::Here => "here",
        Why::Cut => "cut",
    }
}

/// The part of a machine that the lab may use, behind what it needs.
fn room(share: &Share) -> [String; 2] {
    let of = |most: Option<String>| most.map_or_else(String::new, |most| format!(" of {most}"));
    [of(share.machine.cpus.map(|most| most.to_string())), of(share.machine.memory.map(|most| most.to_string()))]
}

fn rate(rate: Option<Rate>) -> String {
    rate.map_or_else(|| "no limit".to_owned(), |rate| rate.to_string())
}

fn some(names: &[&str]) -> String {
    let named = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(NAMED);
    if more > 0 { format!("{named} and {more} more") } else { named }
}
