//! CORE's older files, which have the form of IMUNES' and mean something else: a `router` is any machine there, and its model says
//! what it is.

use crate::daemons::Routing;
use crate::formats::core_xml;
use crate::source::Place;
use crate::tcl::split_list;
use crate::topology::Topology;
use std::collections::BTreeMap;

/// Models of CORE. IMUNES has frr, quagga, xorp and static.
const MODELS: [&str; 8] = ["PC", "host", "router", "mdr", "prouter", "physical", "OVS", "xen"];

/// Whether these objects, each with class, name and settings, are of CORE.
pub(super) fn is(objects: &[(usize, String)]) -> bool {
    objects.chunks_exact(3).filter(|object| object[0].1 == "node").any(|object| {
        split_list(&object[2].1).chunks_exact(2).any(|pair| pair[0] == "model" && MODELS.contains(&pair[1].as_str()))
    })
}

/// The type of a machine in the words of IMUNES, and the routing daemons that its services are. Without a list of them, a model has
/// CORE's own (`daemon/core/services/coreservices.py`).
pub(super) fn role(
    model: Option<&str>,
    services: Option<&str>,
    id: &str,
    place: Place,
    topology: &mut Topology,
) -> (String, Option<Routing>) {
    let usual = match model {
        Some("router") => "zebra OSPFv2 OSPFv3 IPForward",
        Some("mdr") => "zebra OSPFv3MDR IPForward",
        Some("prouter") => "IPForward",
        _ => "",
    };
    let services = split_list(services.unwrap_or(usual));
    let mut routing = Routing::default();
    let (mut forwards, mut is_any) = (["router", "mdr", "prouter"].contains(&model.unwrap_or_default()), false);
    for service in &services {
        match service.as_str() {
            "IPForward" => forwards = true,
            "DefaultRoute" | "StaticRoute" | "zebra" | "vtysh" => {}
            other if core_xml::daemon(&mut routing, other, id.trim_start_matches('n'), place, topology) => {
                is_any = true;
            }
            other => topology.notes.add(place, format!("the service `{other}` is not run")),
        }
    }
    let kind = if forwards { "router" } else { "pc" };
    (kind.to_owned(), Some(routing).filter(|_| is_any && forwards))
}

/// Sets a link as CORE does: `delay {10 20}` are those of both directions, and `ber` is the loss in percent.
pub(super) fn link(said: &BTreeMap<String, String>, number: usize, place: Place, topology: &mut Topology) {
    let names = [
        ("delay", "delay"),
        ("jitter", "jitter"),
        ("bandwidth", "bandwidth"),
        ("loss", "ber"),
        ("dup", "duplicate"),
        ("buffer", "buffer"),
    ];
    for key in said.keys().filter(|key| !names.iter().any(|(_, known)| known == key)) {
        topology.notes.add(place, format!("`{key}` of links is not read"));
    }
    let of_direction = |which: usize| -> BTreeMap<&str, String> {
        let value = |key: &str| {
            let values = split_list(said.get(key)?);
            values.get(which).or_else(|| values.first()).cloned()
        };
        names.iter().filter_map(|(name, key)| Some((*name, value(key)?))).collect()
    };
    let both = [0, 1].map(of_direction);
    let [forward, backward] = both
        .each_ref()
        .map(|values| core_xml::netem::settings(|name| values.get(name).map(String::as_str), place, topology));
    let link = &mut topology.links[number];
    if both[0] == both[1] {
        link.settings = forward;
    } else {
        (link.forward, link.backward) = (forward, backward);
    }
}
