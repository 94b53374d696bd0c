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

/// Keys of wireless networks alone.
pub(super) const RADIO: [&str; 6] = ["custom-config", "range", "tbandwidth", "delay", "jitter", "ber"];
/// The values of the model `basic_range` in the order in which older files have them without names.
const OF_RANGE: [&str; 5] = ["range", "bandwidth", "jitter", "delay", "error"];

/// Keys of the configuration of a model.
const OF_MODEL: [&str; 3] = ["custom-config-id", "custom-command", "config"];

/// Lists what a wireless network says, by the names of CORE's models.
pub(super) fn radio(pairs: &[(&str, &str)], place: Place, topology: &mut Topology) -> BTreeMap<String, String> {
    let mut said = BTreeMap::new();
    for (key, value) in pairs {
        match *key {
            "range" | "delay" | "jitter" => said.insert((*key).to_owned(), (*value).to_owned()),
            "tbandwidth" => said.insert("bandwidth".to_owned(), (*value).to_owned()),
            "ber" => said.insert("error".to_owned(), (*value).to_owned()),
            "network-config" => {
                let script = value.lines().skip_while(|line| line.trim() != "scriptfile").nth(1);
                script.and_then(|file| said.insert("file".to_owned(), file.trim().to_owned()))
            }
            _ => None,
        };
    }
    // Models say it more recently.
    for (_, config) in pairs.iter().filter(|(key, _)| *key == "custom-config") {
        let config = split_list(config);
        let value = |key: &str| config.chunks_exact(2).find(|pair| pair[0] == key).map(|pair| pair[1].as_str());
        for pair in config.chunks(2).filter(|pair| !OF_MODEL.contains(&pair[0].as_str())) {
            topology.notes.add(place, format!("`{}` of a model is not read", pair[0]));
        }
        let is_range = value("custom-config-id") == Some("basic_range");
        let lines = value("config").unwrap_or_default().lines().map(str::trim).filter(|line| !line.is_empty());
        for (number, line) in lines.enumerate() {
            let named = line.split_once('=').or_else(|| Some((*OF_RANGE.get(number).filter(|_| is_range)?, line)));
            match named {
                Some((name, text)) => drop(said.insert(name.to_owned(), text.to_owned())),
                None => topology.notes.add(place, format!("`{line}` of a model is not read")),
            }
        }
    }
    said
}

/// The configuration of a wireless network without the sections that name its models and script.
pub(super) fn without_models(configured: &str) -> String {
    let is_of_model =
        |section: &Vec<&str>| section.iter().any(|line| ["scriptfile", "mobmodel"].contains(&line.trim()));
    let lines: Vec<&str> = configured.lines().collect();
    let sections = lines.split(|line| line.trim() == "!").map(<[&str]>::to_vec);
    sections.filter(|section| !is_of_model(section)).map(|section| section.join("\n")).collect::<Vec<_>>().join("\n!\n")
}
