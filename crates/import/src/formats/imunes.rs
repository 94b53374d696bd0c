//! IMUNES: JSON since version 3, a Tcl list before (imunes.net; `runtime/cfgparse.tcl` reads both).

mod core;
mod old;
mod routing;

use super::wlan::{self, Wlan};
use crate::daemons::Routing;
use crate::files::Input;
use crate::machine;
use crate::overlaps;
use crate::places;
use crate::quantity;
use crate::seen::Seen;
use crate::shell;
use crate::source::{Place, Read};
use crate::tcl::split_list;
use crate::topology::{End, Topology};
use crate::tree::{self, Tree};
use crate::value::{Origin, Value, entry, put};
use netloom_lab::yaml::{Content, Entry, Node};
use std::collections::BTreeMap;

/// An interface: its name, and what it is given.
#[derive(Debug, Default)]
struct Interface {
    name: String,
    mac: Option<String>,
    addresses: Vec<String>,
    /// It is shut down.
    is_down: bool,
}

/// A node of either form.
#[derive(Debug)]
struct Machine {
    id: String,
    kind: String,
    name: String,
    place: Place,
    position: Option<[f64; 2]>,
    routing: Option<Routing>,
    /// By the key under which links name them.
    interfaces: BTreeMap<String, Interface>,
    /// Static routes: where to, and by which router.
    routes: Vec<(String, String)>,
    /// The values of the models of CORE, if this is one of its wireless networks.
    radio: Option<BTreeMap<String, String>>,
}

impl Machine {
    /// Whether it has addresses.
    fn is_addressed(&self) -> bool {
        !["lanswitch", "stpswitch", "hub", "wlan"].contains(&self.kind.as_str())
    }
}

/// A link of either form.
#[derive(Debug)]
struct Cable {
    place: Place,
    /// The nodes, and the keys of their interfaces.
    ends: [(String, Option<String>); 2],
    settings: Vec<(String, String)>,
    /// What CORE says of it.
    of_core: Option<BTreeMap<String, String>>,
}

/// Reads the experiment, and the mobility scripts that it names.
pub(crate) fn read(input: &mut Input<'_>) -> Read<Topology> {
    let mut topology = Topology::called(&input.stem);
    let text = input.text();
    let (machines, cables) =
        if text.trim_start().starts_with('{') { new(text, &mut topology)? } else { old::read(text, &mut topology) };
    if machines.is_empty() {
        return Err(Place::default()
            .wrong("there is no node in this file: IMUNES has them under `nodes`, or as `node n0 { ... }`"));
    }
    let is_routed = machines.iter().any(|machine| machine.routing.is_some());
    let others = if is_routed { " where no routing daemon brings them" } else { "" };
    topology.remarks.push(format!("Routes are those of the shortest paths{others}."));
    let (mut numbers, mut wlans) = (BTreeMap::new(), Vec::new());
    for machine in &machines {
        let kind = match machine.kind.as_str() {
            "router" | "nat64" => "router",
            "pc" | "host" => "host",
            "lanswitch" | "stpswitch" => "switch",
            "hub" => "hub",
            "wlan" if machine.radio.is_some() => "hub",
            "wlan" => {
                topology.notes.add(machine.place, "a network of radios is a hub: there is no radio");
                "hub"
            }
            other => {
                topology.notes.add(machine.place, format!("nodes of type `{other}` are left out, with their links"));
                continue;
            }
        };
        let number = topology.add_node(&machine.name, &machine.id, machine.place)?;
        topology.nodes[number].position = machine.position;
        if kind != "host" {
            topology.nodes[number].settings.push(entry("kind", Value::plain(kind)));
        }
        if machine.kind == "stpswitch" {
            topology.nodes[number].settings.push(entry("stp", Value::plain("true")));
        }
        if machine.is_addressed() {
            machine::own_files(&mut topology, number);
            commands(machine, number, &mut topology);
        }
        if let Some(said) = machine.radio.clone() {
            wlans.push(Wlan { node: number, place: machine.place, said });
        }
        numbers.insert(machine.id.as_str(), (number, machine));
    }
    for cable in &cables {
        link(cable, &numbers, &mut topology)?;
    }
    for (number, machine) in numbers.values() {
        if let Some(routing) = machine.routing.clone().filter(|_| ["router", "nat64"].contains(&machine.kind.as_str()))
        {
            routing.settle(&mut topology, *number, &machine::Interfaces::new(), machine.place);
        }
    }
    machine::note_failures(&mut topology);
    overlaps::to_commands(&mut topology);
    // Scripts have the numbers of nodes alone.
    let ids = numbers.iter().map(|(id, (number, _))| (id.trim_start_matches('n').to_owned(), *number)).collect();
    wlan::settle(&wlans, &ids, input, &mut topology);
    Ok(topology)
}

/// Gives a node the addresses of its loopback interface, and its static routes.
fn commands(machine: &Machine, number: usize, topology: &mut Topology) {
    let mut made = Vec::new();
    let loopback = |name: &str| name == "lo" || name.strip_prefix("lo").is_some_and(|rest| rest.parse::<u8>().is_ok());
    let own = machine.interfaces.values().filter(|one| loopback(&one.name)).flat_map(|one| &one.addresses);
    for address in own.filter(|address| !["127.0.0.1/8", "::1/128"].contains(&address.as_str())) {
        match shell::address(address) {
            Some(address) => made.push(format!("ip address add {address} dev lo")),
            None => topology.notes.add(machine.place, format!("{address:?} is no address")),
        }
    }
    for (to, by) in &machine.routes {
        let family = if by.contains(':') { " -6" } else { "" };
        match (shell::address(to), by.parse::<std::net::IpAddr>()) {
            (Some(to), Ok(by)) => made.push(format!("ip{family} route replace {to} via {by}")),
            _ => topology.notes.add(machine.place, format!("the static route to {to:?} by {by:?} is not read")),
        }
    }
    if !made.is_empty() {
        let commands =
            made.into_iter().map(|line| Value::text(machine::may_fail(&line)).because(Origin::at(machine.place)));
        topology.nodes[number].settings.push(entry("setup", Value::list(commands)));
    }
}

fn link(cable: &Cable, numbers: &BTreeMap<&str, (usize, &Machine)>, topology: &mut Topology) -> Read<()> {
    let [Some(one), Some(other)] = [0, 1].map(|end| numbers.get(cable.ends[end].0.as_str())) else {
        topology.notes.add(cable.place, "a link to a node that is left out: it is left out, too");
        return Ok(());
    };
    if one.0 == other.0 {
        topology.notes.add(cable.place, "a link from a node to itself: it is left out");
        return Ok(());
    }
    let number = topology.add_link("", Origin::at(cable.place), [End::at(one.0), End::at(other.0)])?;
    for (end, (_, machine)) in [one, other].into_iter().enumerate() {
        let key = cable.ends[end].1.as_deref().unwrap_or_default();
        let Some(interface) = machine.interfaces.get(key) else { continue };
        if interface.is_down {
            let name = Value::text(topology.links[number].name.clone());
            let down = vec![entry("at", Value::plain("0 s")), entry("link", name), entry("down", Value::plain("true"))];
            topology.timeline.push(Value::map(down).because(Origin::said(machine.place, "its interface is shut down")));
        }
        if !machine.is_addressed() {
            continue;
        }
        if !interface.name.is_empty() {
            put(&mut topology.links[number].ends[end].settings, "interface", Value::text(interface.name.clone()));
        }
        for written in &interface.addresses {
            let address = wider(written, cable.of_core.is_some(), machine.place, topology);
            match shell::address(&address) {
                Some(address) => machine::add_address(topology, (number, end), &address, machine.place),
                None => topology.notes.add(machine.place, format!("{address:?} is no address")),
            }
        }
        if let Some(mac) = interface.mac.as_ref().filter(|mac| shell::is_mac(mac)) {
            machine::set_mac(topology, (number, end), mac, machine.place);
        }
    }
    if let Some(settings) = &cable.of_core {
        core::link(settings, number, cable.place, topology);
        return Ok(());
    }
    for (key, value) in &cable.settings {
        let found = match (key.as_str(), value.as_str()) {
            (_, "0" | "" | "0.0") => continue,
            ("bandwidth", bits) => quantity::rate(bits, 0).map(|rate| ("rate", Value::from(rate.value))),
            ("delay", us) => quantity::duration(us, -6).map(|delay| ("delay", Value::from(delay.value))),
            ("loss", share) => quantity::probability(share, -2).map(|share| ("loss", Value::from(share.value))),
            ("duplicate", share) => {
                quantity::probability(share, -2).map(|share| ("duplicate", Value::from(share.value)))
            }
            ("ber", bits) if bits.parse::<u64>().is_ok() => {
                Some(("loss", Value::plain(format!("{{kind: bit-error, rate: 1 in {bits}}}"))))
            }
            _ => None,
        };
        match found {
            Some(("loss", _)) if topology.links[number].settings.iter().any(|(there, _)| there == "loss") => {
                topology.notes.add(cable.place, "both `ber` and `loss`: the first of them is taken");
            }
            Some((setting, given)) => {
                put(&mut topology.links[number].settings, setting, given.because(Origin::at(cable.place)));
            }
            None => topology.notes.add(cable.place, format!("`{key}` of links is not read")),
        }
    }
    Ok(())
}

/// Lengths of single machines, which CORE's radio networks have and no segment of a lab, and what they become.
const SINGLE: [(&str, &str); 2] = [("/32", "/24"), ("/128", "/64")];

/// Returns an address of CORE with the prefix of a segment if it is that of a single machine, which is noted.
fn wider(written: &str, is_core: bool, place: Place, topology: &mut Topology) -> String {
    let single =
        SINGLE.iter().filter(|_| is_core).find_map(|(length, wider)| Some((written.strip_suffix(length)?, wider)));
    let Some((address, length)) = single else { return written.to_owned() };
    topology.notes.add(place, format!("an address of a single machine gets a prefix: it ends in {length}"));
    format!("{address}{length}")
}

/// What only draws, and what IMUNES reckons for itself.
const PASSED: [&str; 12] = [
    "canvases",
    "options",
    "annotations",
    "images",
    "nodes.*.canvas",
    "nodes.*.labelcoords",
    "nodes.*.custom_icon",
    "nodes.*.auto_default_routes",
    "nodes.*.logical",
    "nodes.*.ifaces.*.type",
    "nodes.*.ifaces.*.link",
    "nodes.*.ifaces.*.oper_state",
];

/// What only draws.
const DRAWN: [&str; 8] = ["width", "color", "direct", "peers", "peers_ifaces", "nodes", "mirror", "link_label_pos"];

fn new(text: &str, topology: &mut Topology) -> Read<(Vec<Machine>, Vec<Cable>)> {
    let root = tree::parse(text)?;
    let seen = Seen::default();
    let mut machines = Vec::new();
    for one in seen.get(&root, "nodes").map_or(&[][..], Tree::entries) {
        seen.take(one);
        machines.push(new_machine(&one.value, &one.name, Place { file: 0, span: one.span }, &seen, topology)?);
    }
    let mut cables = Vec::new();
    for one in seen.get(&root, "links").map_or(&[][..], Tree::entries) {
        seen.take(one);
        let link = &one.value;
        seen.all_of(link);
        let peers = split_list(link.required_word("peers", "a link has two peers, for example \"n0 n1\"")?);
        let keys = split_list(link.word("peers_ifaces").unwrap_or_default());
        let [first, second] = &peers[..] else {
            return Err(link.place().wrong("a link has two peers, for example \"n0 n1\""));
        };
        let ends = [(first.clone(), keys.first().cloned()), (second.clone(), keys.get(1).cloned())];
        let said = link.entries().iter().filter(|key| !DRAWN.contains(&key.name.as_str()));
        let value = |key: &Entry| key.value.text().unwrap_or("a list").to_owned();
        let settings = said.map(|key| (key.name.clone(), value(key))).collect();
        cables.push(Cable { place: Place { file: 0, span: one.span }, ends, settings, of_core: None });
    }
    seen.rest(&root, &PASSED, &mut topology.notes);
    Ok((machines, cables))
}

/// A node of the newer form.
fn new_machine(node: &Node, id: &str, place: Place, seen: &Seen, topology: &mut Topology) -> Read<Machine> {
    let mut interfaces = BTreeMap::new();
    let is_map = |one: &&Entry| matches!(one.value.content, Content::Map(_) | Content::Empty);
    for one in seen.get(node, "ifaces").map_or(&[][..], Tree::entries).iter().filter(is_map) {
        seen.take(one);
        let about = &one.value;
        let texts = |key: &str| texts(seen.all(about, key));
        let addresses = texts("ipv4_addrs").into_iter().chain(texts("ipv6_addrs")).collect();
        let name = seen.word(about, "name").unwrap_or(&one.name).to_owned();
        let mac = seen.word(about, "mac").map(str::to_owned);
        let is_down = seen.word(about, "oper_state") == Some("down");
        interfaces.insert(one.name.clone(), Interface { name, mac, addresses, is_down });
    }
    let routing = routing::new(node, place, topology);
    for key in ["model", "router_config", "custom_enabled", "custom_selected"] {
        seen.get(node, key);
    }
    for hook in seen.get(node, "custom_configs").map_or(&[][..], Tree::entries).iter().filter(is_map) {
        seen.take(hook);
        for configuration in hook.value.entries().iter().filter(is_map) {
            seen.take(configuration);
            for key in ["custom_command", "custom_config"] {
                seen.get(&configuration.value, key);
            }
        }
    }
    let mut routes = Vec::new();
    for key in ["croutes4", "croutes6"] {
        for route in texts(seen.all(node, key)) {
            match route.split_whitespace().collect::<Vec<_>>()[..] {
                [to, by, ..] => routes.push((to.to_owned(), by.to_owned())),
                _ => topology.notes.add(place, format!("the static route {route:?} is not read")),
            }
        }
    }
    seen.get(node, "type");
    let kind = node.required_word("type", "a node has a type, for example router")?.to_owned();
    let name = seen.word(node, "name").unwrap_or_default().to_owned();
    let position = position(seen.word(node, "iconcoords"));
    Ok(Machine { id: id.to_owned(), kind, name, place, position, routing, interfaces, routes, radio: None })
}

/// The texts of a list, or a single one.
fn texts(node: Option<&Node>) -> Vec<String> {
    let Some(node) = node else { return Vec::new() };
    let all = node.items().iter().chain(std::iter::once(node));
    all.filter_map(Node::text).map(str::to_owned).collect()
}

/// Where a node is drawn: its coordinates are a list of two numbers.
fn position(coordinates: Option<&str>) -> Option<[f64; 2]> {
    let all = split_list(coordinates?);
    places::place(all.first().map(String::as_str), all.get(1).map(String::as_str))
}
