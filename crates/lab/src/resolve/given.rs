//! Routes and names that the lab file gives, in the place of those that follow from the paths of the lab.

use crate::errors::Errors;
use crate::plan::{NamePlan, NodePlan, Plan, RoutePlan};
use crate::spec::{GivenSpec, NameSpec, RouteSpec, Spec};
use ipnet::IpNet;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Routes and names that the file gives.
pub(super) struct Given {
    /// By node.
    nodes: Vec<GivenSpec>,
    /// Whether names mean first interfaces where nothing is given.
    has_far: bool,
}

/// Takes what the file gives out of it.
pub(super) fn take(spec: &mut Spec) -> Given {
    let has_far = !spec.elsewhere.is_empty();
    Given { nodes: spec.nodes.iter_mut().map(|node| std::mem::take(&mut node.given)).collect(), has_far }
}

/// Gives nodes the routes and names that the file has for them.
pub(super) fn settle(plan: &mut Plan, given: Given, errors: &mut Errors) {
    let places = places(plan);
    let mut interfaces: Vec<Vec<String>> = Vec::new();
    for node in &plan.nodes {
        interfaces.push(node.interfaces.iter().map(|own| own.name.clone()).collect());
    }
    for far in &plan.elsewhere {
        interfaces.push(far.interfaces.iter().map(|own| own.name.clone()).collect());
    }
    let has_far = given.has_far;
    for (node, own) in plan.nodes.iter_mut().zip(given.nodes) {
        if let Some(list) = own.routes {
            let found = routes(node, &list, errors);
            node.ecmp = found.windows(2).any(|pair| pair[0].destination == pair[1].destination);
            node.routes = found;
        }
        if has_far || own.names.is_some() {
            node.names = names(own.names.as_deref().unwrap_or_default(), &places, &interfaces, errors).into();
        }
    }
}

/// The places of nodes by name, those of other machines behind the others.
fn places(plan: &Plan) -> BTreeMap<String, usize> {
    let own = plan.nodes.iter().map(|node| node.name.clone());
    own.chain(plan.elsewhere.iter().map(|far| far.name.clone())).zip(0..).collect()
}

/// The routes of a node: those to one destination stand together, at the place of the first.
fn routes(node: &NodePlan, list: &[RouteSpec], errors: &mut Errors) -> Vec<RoutePlan> {
    let mut first: BTreeMap<IpNet, usize> = BTreeMap::new();
    let mut seen: BTreeSet<(IpNet, IpAddr)> = BTreeSet::new();
    let mut found: Vec<(usize, RoutePlan)> = Vec::new();
    for RouteSpec { to, via } in list {
        let on_link = |nets: &Vec<IpNet>| nets.iter().any(|net| net.contains(&via.value) && net.addr() != via.value);
        let Some(interface) = node.interfaces.iter().position(|own| on_link(&own.addresses)) else {
            let message =
                format!("{} is no neighbour of `{}`: write an address in a subnet of its links", via.value, node.name);
            errors.push(via.error(message));
            continue;
        };
        if to.addr().is_ipv4() != via.value.is_ipv4() {
            errors.push(via.error(format!("{} and {to} are of different families of addresses", via.value)));
            continue;
        }
        let destination = to.trunc();
        if !seen.insert((destination, via.value)) {
            errors
                .push(via.error(format!("there is a route to {destination} via {} already: leave it out", via.value)));
            continue;
        }
        let next = first.len();
        let place = *first.entry(destination).or_insert(next);
        found.push((place, RoutePlan { destination, via: via.value, interface }));
    }
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, route)| route).collect()
}

/// The names that mean another interface than the first.
fn names(
    list: &[NameSpec],
    places: &BTreeMap<String, usize>,
    interfaces: &[Vec<String>],
    errors: &mut Errors,
) -> Vec<NamePlan> {
    let mut found = Vec::new();
    for NameSpec { node: name, interface: meant } in list {
        let Some(node) = places.get(&name.value).copied() else {
            errors.push(name.error(format!("there is no node `{}`, neither here nor in `elsewhere`", name.value)));
            continue;
        };
        match interfaces[node].iter().position(|own| *own == meant.value) {
            Some(0) => {}
            Some(interface) => found.push(NamePlan { node, interface }),
            None => errors.push(meant.error(format!("`{}` has no interface `{}`", name.value, meant.value))),
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests;
