//! Address translation: the rules of routers that translate, and what is not seen from their outside.
//!
//! What is behind a translation is all that routers join to its other links. From outside there are no routes to these subnets
//! of IPv4, and names do not lead there. IPv6 is not translated.

mod rules;

use super::daemons::{Learned, Neighborhood};
use super::names::link_at;
use crate::diagnostics::{Diagnostic, Spanned, nearest};
use crate::errors::{Errors, LeftOut};
use crate::plan::{Action, Argv, NamePlan, NodeKey, Plan};
use crate::spec::{ActionSpec, EntrySpec, ForwardSpec, LinkSpec, NatSpec, NodeSpec, RunSpec, Spec};
use ipnet::IpNet;
use rules::{Forward, Rules};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

/// What a router that translates does before its own setup. Its rules are known when all addresses are.
pub(super) fn setup(node: &NodeSpec) -> Option<EntrySpec> {
    let place = &node.nat.as_ref()?.place;
    let value = format!("{}-{}", NodeKey::Nat.name(), node.name.value);
    let run = RunSpec {
        on: node.name.clone(),
        name: Some(Spanned { value, span: place.span, key: place.key.clone() }),
        setup: true,
        of_node: true,
        key: Some(NodeKey::Nat),
        ..RunSpec::default()
    };
    Some(EntrySpec { line: place.span.line, at: None, action: ActionSpec::Run(Box::new(run)) })
}

/// What the lab file says of all nodes.
pub(super) fn take(spec: &mut Spec) -> Vec<Option<NatSpec>> {
    spec.nodes.iter_mut().map(|node| node.nat.take()).collect()
}

/// Gives the routers of a plan with interfaces and routes their rules, and takes from those outside the routes to what is
/// behind.
pub(super) fn configure(
    plan: &mut Plan,
    nats: &[Option<NatSpec>],
    (around, links): (&[Neighborhood], &[LinkSpec]),
    learned: &mut [Learned],
    (left_out, errors): (&LeftOut, &mut Errors),
) {
    let mut known = BTreeSet::new();
    let mut hidden: Vec<BTreeSet<IpNet>> = vec![BTreeSet::new(); plan.nodes.len()];
    for (node, nat) in nats.iter().enumerate().filter_map(|(node, nat)| Some((node, nat.as_ref()?))) {
        let Some(outside) = outside(plan, node, nat, links, left_out, errors) else { continue };
        let behind = match Behind::of(plan, node, &outside, around) {
            Ok(behind) => behind,
            Err(other) => {
                let (own, other) = (&plan.nodes[node].name, &plan.nodes[other].name);
                errors.push(nat.place.error(format!(
                    "`{other}` joins both sides of `{own}` past its translation: all links to the outside belong to `{own}`"
                )));
                continue;
            }
        };
        for (other, subnets) in hidden.iter_mut().enumerate() {
            if other != node && !behind.nodes.contains(&other) {
                subnets.extend(&behind.subnets);
                if let Some(seen) = names_with(plan, other, node, &outside) {
                    plan.nodes[other].names = shared(&mut known, seen);
                }
            }
        }
        let Some(text) = text(plan, node, nat, &outside, left_out, errors) else { continue };
        for event in &mut plan.timeline {
            let Action::Run(run) = &mut event.action else { continue };
            if run.node == node && run.key == Some(NodeKey::Nat) {
                run.command = Argv::Shell(format!("nft -f - <<'END'\n{text}END\n"));
            }
        }
    }
    for (node, own) in hidden.into_iter().enumerate().filter(|(_, own)| !own.is_empty()) {
        plan.nodes[node].routes.retain(|route| !own.contains(&route.destination));
        learned[node].prefixes.retain(|prefix| !own.contains(prefix));
        plan.nodes[node].hidden = own.into_iter().collect();
    }
}

/// The names that a node outside sees if that of the router, so far, means what is behind it: it means the router's first interface
/// outside.
fn names_with(plan: &Plan, from: usize, node: usize, outside: &BTreeSet<usize>) -> Option<Vec<NamePlan>> {
    let mut seen = plan.nodes[from].names.to_vec();
    let place = seen.binary_search_by_key(&node, |name| name.node);
    let interface = *outside.first()?;
    match place {
        Ok(place) if outside.contains(&seen[place].interface) => return None,
        Ok(place) => seen[place].interface = interface,
        Err(_) if outside.contains(&0) => return None,
        Err(place) => seen.insert(place, NamePlan { node, interface }),
    }
    Some(seen)
}

/// Most nodes of most labs see the same.
fn shared(known: &mut BTreeSet<Arc<[NamePlan]>>, seen: Vec<NamePlan>) -> Arc<[NamePlan]> {
    let seen: Arc<[NamePlan]> = seen.into();
    if let Some(same) = known.get(&seen) {
        return Arc::clone(same);
    }
    known.insert(Arc::clone(&seen));
    seen
}

/// The places of the interfaces that lead outside; none after an error was noted.
fn outside(
    plan: &Plan,
    node: usize,
    nat: &NatSpec,
    links: &[LinkSpec],
    left_out: &LeftOut,
    errors: &mut Errors,
) -> Option<BTreeSet<usize>> {
    let own = &plan.nodes[node];
    let known: Vec<String> = (0..own.interfaces.len()).map(|place| link_at(plan, links, node, place)).collect();
    let mut found = BTreeSet::new();
    for wanted in &nat.outside {
        let Some(place) = known.iter().position(|link| *link == wanted.value) else {
            if !left_out.links {
                let hint = match nearest(&wanted.value, known.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("it has {}", known.join(", ")),
                };
                errors.push(wanted.error(format!("`{}` has no link `{}`: {hint}", own.name, wanted.value)));
            }
            return None;
        };
        if v4_of(plan, node, place).is_none() {
            let what =
                format!("`{}` has no IPv4 address at `{}`, so that nothing can be translated", own.name, wanted.value);
            return errors.reject(wanted.error(what));
        }
        if !found.insert(place) {
            errors.push(wanted.error(format!("link `{}` is listed twice: leave one out", wanted.value)));
        }
    }
    if found.is_empty() {
        return None;
    }
    if found.len() == own.interfaces.len() && !left_out.links {
        return errors.reject(
            nat.place.error(format!("all links of `{}` lead outside, so that nothing is behind it", own.name)),
        );
    }
    Some(found)
}

fn v4_of(plan: &Plan, node: usize, interface: usize) -> Option<Ipv4Addr> {
    let mut addresses = plan.nodes[node].interfaces[interface].addresses.iter();
    addresses.find_map(|net| if let IpAddr::V4(address) = net.addr() { Some(address) } else { None })
}

/// What is behind a translation.
struct Behind {
    nodes: BTreeSet<usize>,
    /// Of IPv4.
    subnets: BTreeSet<IpNet>,
}

impl Behind {
    /// Or the router that joins both sides.
    fn of(plan: &Plan, node: usize, outside: &BTreeSet<usize>, around: &[Neighborhood]) -> Result<Self, usize> {
        let mut found = Self { nodes: BTreeSet::new(), subnets: BTreeSet::new() };
        let at_own = |hood: &Neighborhood, is_outside: bool| {
            hood.ends.iter().any(|end| end.node == node && outside.contains(&end.interface) == is_outside)
        };
        let mut at: Vec<Vec<usize>> = vec![Vec::new(); plan.nodes.len()];
        for (place, hood) in around.iter().enumerate() {
            hood.ends.iter().for_each(|end| at[end.node].push(place));
        }
        let mut seen = vec![false; around.len()];
        let mut next: Vec<usize> = (0..around.len()).filter(|place| at_own(&around[*place], false)).collect();
        while let Some(place) = next.pop() {
            if std::mem::replace(&mut seen[place], true) {
                continue;
            }
            for end in &around[place].ends {
                let addresses = &plan.nodes[end.node].interfaces[end.interface].addresses;
                found.subnets.extend(addresses.iter().filter(|net| net.addr().is_ipv4()).map(IpNet::trunc));
                if end.node == node || !found.nodes.insert(end.node) || !plan.nodes[end.node].kind.forwards() {
                    continue;
                }
                for &beyond in &at[end.node] {
                    if at_own(&around[beyond], true) {
                        return Err(end.node);
                    }
                    next.push(beyond);
                }
            }
        }
        Ok(found)
    }
}

/// The rules of a router; none after an error was noted.
fn text(
    plan: &Plan,
    node: usize,
    nat: &NatSpec,
    outside: &BTreeSet<usize>,
    left_out: &LeftOut,
    errors: &mut Errors,
) -> Option<String> {
    let mut forwards = Vec::new();
    for forward in &nat.forward {
        match target(plan, node, forward) {
            Ok(address) => forwards.push(Forward {
                is_udp: forward.is_udp,
                port: forward.port.value,
                address,
                to_port: forward.to_port,
            }),
            Err(_) if left_out.nodes => return None,
            Err(error) => {
                return errors.reject(error);
            }
        }
    }
    let rules = Rules {
        outside: outside.iter().map(|place| plan.nodes[node].interfaces[*place].name.as_str()).collect(),
        addresses: outside.iter().filter_map(|place| v4_of(plan, node, *place)).collect(),
        mapping: nat.mapping,
        filtering: nat.filtering,
        forwards,
    };
    Some(rules.text())
}

/// Where a port is forwarded to.
fn target(plan: &Plan, node: usize, forward: &ForwardSpec) -> Result<Ipv4Addr, Diagnostic> {
    let name = &forward.to.value;
    let known = plan.nodes.iter().position(|other| other.name == *name);
    let Some(place) = known else {
        let near = nearest(name, plan.nodes.iter().map(|other| other.name.as_str()));
        let hint = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
        return Err(forward.to.error(format!("there is no node `{name}`{hint}")));
    };
    if place == node {
        let message =
            "this is the router itself, whose ports are reached from outside as they are: name a node behind it";
        return Err(forward.to.error(message));
    }
    let addresses = plan.named(node, place).map_or(&[][..], |interface| &interface.addresses);
    let v4 = addresses.iter().find_map(|net| if let IpAddr::V4(address) = net.addr() { Some(address) } else { None });
    v4.ok_or_else(|| forward.to.error(format!("`{name}` has no IPv4 address, and IPv6 is not translated")))
}

#[cfg(test)]
mod tests;
