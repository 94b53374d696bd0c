//! Kathará's labs: `lab.conf` with devices and collision domains, a script `DEVICE.startup` for each device, a folder `DEVICE`
//! with its files, and `lab.dep` (kathara-lab.conf(5), kathara-lab-dirs(7), kathara-lab.dep(5)).

mod networking;

use crate::Options;
use crate::commands;
use crate::containers;
use crate::daemons::{self, Routing};
use crate::files::Input;
use crate::machine::{self, Interfaces, Means};
use crate::overlaps;
use crate::scripts::Script;
use crate::shell;
use crate::source::{Lines, Place, Read};
use crate::topology::{End, Topology};
use crate::value::{Map, Origin, Value, entry, put};
use std::collections::BTreeMap;

/// Files of one device's folder that are read; more are noted.
const MOST_FILES: usize = 200;
/// Files of the lab's own folder that are looked at.
const MOST_BESIDE: usize = 10_000;

/// What `lab.conf` says of a device.
#[derive(Debug, Default)]
struct Device {
    node: usize,
    /// The numbers of its interfaces, each with the collision domain and the hardware address.
    ports: BTreeMap<u32, (String, Option<String>, Place)>,
    sysctls: Map,
    env: Map,
    /// Commands, in their order.
    exec: Vec<Script>,
    /// Its image, and how that is started.
    container: Map,
}

/// The devices in their order, and their numbers by their names.
#[derive(Debug, Default)]
struct Devices {
    numbers: BTreeMap<String, usize>,
    devices: Vec<(String, Device)>,
}

/// Reads the lab whose `lab.conf` is the input.
pub(crate) fn read(input: &mut Input<'_>, options: &Options) -> Read<Topology> {
    let mut topology = Topology::called(&input.stem);
    let mut devices = Devices::default();
    let text = input.text().to_owned();
    let places = Lines::of(&text, 0);
    for (number, line) in (1..).zip(text.split('\n')) {
        read_line(line.trim(), places.line(number), &mut topology, &mut devices, options)?;
    }
    let Devices { numbers, devices } = devices;
    if devices.is_empty() {
        return Err(Place::default().wrong("there is no device in this file: write for example `pc1[0]=\"A\"`"));
    }
    let joined = connect(&mut topology, &devices)?;
    dependencies(input, &mut topology, &numbers);
    put(&mut topology.top, "addresses", Value::plain("none"));
    put(&mut topology.top, "routes", Value::plain("none"));
    topology.remarks.push(
        "Devices have the addresses and routes that their scripts set. All of them forward, as in Kathará.".into(),
    );
    let shared = script(input, "shared.startup");
    let has_shared = input.has_folder("shared");
    for ((name, mut device), interfaces) in devices.into_iter().zip(&joined) {
        let exec = std::mem::take(&mut device.exec);
        let node = device.node;
        let is_container = settle(&mut topology, device);
        let own = script(input, &format!("{name}.startup"));
        let mut scripts: Vec<Script> =
            [shared.clone(), own].into_iter().flatten().map(|(script, begin)| Script::of(&script, begin)).collect();
        scripts.extend(exec);
        let is_routing = scripts.iter().flat_map(Script::texts).any(|(said, _)| daemons::is_start(said));
        let written = if is_routing && !is_container { written(&scripts) } else { BTreeMap::new() };
        let routing = if is_routing && !is_container { routing(input, &name, &written, &mut topology) } else { None };
        let place = topology.nodes[node].origin.place.unwrap_or_default();
        let (mut files, links) = files(input, &name, place, &mut topology);
        if routing.is_some() {
            files.retain(|(path, _)| !daemons::FOLDERS.iter().any(|folder| path.starts_with(folder)));
            // The daemons have it from the lab.
            scripts.iter_mut().for_each(|script| script.lines.retain(|(line, _)| configuration(line).is_none()));
        }
        if has_shared {
            files.push(("/shared".to_owned(), Value::text("shared")));
        }
        if !files.is_empty() {
            topology.nodes[node].settings.push(entry("files", Value::map(files)));
        }
        if !is_container {
            machine::own_files(&mut topology, node);
        }
        let scripts = networking::expand(input, &name, scripts, &mut topology.notes);
        let mut services = vec![networking::SERVICE];
        services.extend(daemons::SERVICES.into_iter().filter(|_| routing.is_some()));
        let means = Means { has_init: is_container, services: &services };
        machine::set_up(&mut topology, node, interfaces, links.into_iter().chain(scripts), means);
        if let Some((found, begin)) = routing {
            found.settle(&mut topology, node, interfaces, begin);
        }
    }
    machine::note_failures(&mut topology);
    left_out(input, has_shared, &numbers, &mut topology);
    overlaps::to_commands(&mut topology);
    Ok(topology)
}

/// Gives a node what lab.conf says of it; returns whether it has an image.
fn settle(topology: &mut Topology, device: Device) -> bool {
    let settings = &mut topology.nodes[device.node].settings;
    settings.push(entry("kind", Value::plain("router")));
    // Without an image, nothing else of a container means anything.
    let is_container = device.container.iter().any(|(key, _)| key == "image");
    if is_container {
        settings.extend(device.container);
    }
    for (key, map) in [("sysctl", device.sysctls), ("env", device.env)] {
        if !map.is_empty() {
            settings.push(entry(key, Value::map(map)));
        }
    }
    is_container
}

/// Notes what of a lab's other files is not read.
fn left_out(input: &Input<'_>, has_shared: bool, devices: &BTreeMap<String, usize>, topology: &mut Topology) {
    let mut note = |said: String| topology.notes.add(Place::default(), said);
    if has_shared {
        note("the folder `shared` is /shared in all devices, each of which has a copy: what one writes there others do not see".into());
    }
    for name in input.beside(".shutdown", MOST_BESIDE) {
        note(format!("the script {name} is not run: devices end with the lab"));
    }
    for name in input.beside(".startup", MOST_BESIDE) {
        let device = name.trim_end_matches(".startup");
        if device != "shared" && !devices.contains_key(device) {
            note(format!("the script {name} is that of no device of lab.conf"));
        }
    }
    for name in input.beside(".ext", MOST_BESIDE) {
        note(format!(
            "{name} is not read: collision domains lead to no interface of this machine; see `kind: external`"
        ));
    }
}

fn read_line(line: &str, place: Place, topology: &mut Topology, devices: &mut Devices, options: &Options) -> Read<()> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(());
    }
    let Some((left, right)) = line.split_once('=') else {
        return Err(
            place.wrong(format!("{line:?} is no setting: write for example `pc1[0]=\"A\"` or `pc1[image]=\"...\"`"))
        );
    };
    let (left, value) = (left.trim(), unquoted(right));
    let Some((name, key)) =
        left.split_once('[').and_then(|(name, key)| Some((name.trim(), key.strip_suffix(']')?.trim())))
    else {
        if left.starts_with("LAB_") {
            if left == "LAB_NAME" && !value.trim().is_empty() {
                topology.name = crate::names::of_lab(&value);
            } else {
                topology.remarks.push(format!("{left}: {value}"));
            }
            return Ok(());
        }
        return Err(place.wrong(format!("{left:?} is no device with a key: write for example `pc1[0]=\"A\"`")));
    };
    if name.is_empty() {
        return Err(place.wrong("a device without a name: write for example `pc1[0]=\"A\"`"));
    }
    let index = match devices.numbers.get(name) {
        Some(index) => *index,
        None => {
            let node = topology.add_node(name, "device", place)?;
            let index = devices.devices.len();
            devices.numbers.insert(name.to_owned(), index);
            devices.devices.push((name.to_owned(), Device { node, ..Device::default() }));
            index
        }
    };
    let device = &mut devices.devices[index].1;
    if !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit()) {
        return port(device, name, key, &value, place);
    }
    option(device, key, &value, place, topology, options);
    Ok(())
}

/// An interface: `pc1[0]="A"`, `pc1[0]="A/02:00:00:00:00:01"`.
fn port(device: &mut Device, name: &str, key: &str, value: &str, place: Place) -> Read<()> {
    let number: u32 =
        key.parse().ok().filter(|number| *number < 100_000).ok_or_else(|| {
            place.wrong(format!("`{key}` is no number of an interface: write for example `{name}[0]`"))
        })?;
    let (domain, mac) = value.split_once('/').map_or((value, None), |(domain, mac)| (domain, Some(mac.to_lowercase())));
    if domain.trim().is_empty() {
        return Err(place.wrong("the interface has no collision domain: write for example `pc1[0]=\"A\"`"));
    }
    if let Some(mac) = mac.as_ref().filter(|mac| !shell::is_mac(mac)) {
        return Err(place.wrong(format!("{mac:?} is no hardware address: write for example 02:00:00:00:00:01")));
    }
    let port = (domain.trim().to_owned(), mac, place);
    if let Some((_, _, first)) = device.ports.insert(number, port) {
        return Err(place.wrong(format!("`{name}[{key}]` is here twice, first in line {}", first.span.line)));
    }
    Ok(())
}

fn option(device: &mut Device, key: &str, value: &str, place: Place, topology: &mut Topology, options: &Options) {
    let told = |said: &str| Value::text(said).because(Origin::at(place));
    match key {
        "image" if !options.no_images => containers::put_image(&mut device.container, value, place),
        "entrypoint" if !options.no_images => containers::put_words(&mut device.container, key, value, place),
        "args" if !options.no_images => containers::put_words(&mut device.container, "command", value, place),
        "image" => topology.notes.add(place, "images are not run: devices have this machine's files"),
        "exec" => device.exec.push(Script::command(value, place)),
        "env" | "sysctl" => {
            let Some((name, value)) = value.split_once('=') else {
                return topology.notes.add(place, format!("`{key}` without a value: {value:?}"));
            };
            if key == "env" {
                put(&mut device.env, name.trim(), told(value));
            } else if name.trim().starts_with("net.") {
                put(&mut device.sysctls, name.trim(), told(value));
            } else {
                topology.notes.add(place, format!("the kernel setting `{name}` is not the network's: it is not set"));
            }
        }
        "cpus" if value.parse::<f64>().is_ok() => {
            put(&mut topology.nodes[device.node].settings, "cpus", Value::plain(value).because(Origin::at(place)));
        }
        "ipv6" => topology.notes.add(place, format!("`ipv6` {value}: nodes always have IPv6")),
        "bridged" => topology.notes.add(place, "a device with a way out of the lab (`bridged`): there is none"),
        "port" => topology.notes.add(place, format!("port {value} of the machine: write `expose` to reach a program")),
        _ => topology.notes.add(place, format!("`{key}` of devices is not read")),
    }
}

/// Joins the devices: a link for two, a switch for others. Returns each device's interfaces.
fn connect(topology: &mut Topology, devices: &[(String, Device)]) -> Read<Vec<Interfaces>> {
    let mut domains: BTreeMap<&str, Vec<(usize, u32)>> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for (index, (_, device)) in devices.iter().enumerate() {
        for (number, (domain, _, _)) in &device.ports {
            let ends = domains.entry(domain).or_default();
            if ends.is_empty() {
                order.push(domain);
            }
            ends.push((index, *number));
        }
    }
    let mut interfaces = vec![Interfaces::new(); devices.len()];
    for domain in order {
        let ends = &domains[domain];
        let origin = |(index, number): (usize, u32)| Origin::at(devices[index].1.ports[&number].2);
        let end = |(index, number): (usize, u32)| {
            let device = &devices[index].1;
            let mut settings = vec![entry("interface", Value::text(format!("eth{number}")))];
            if let Some(mac) = &device.ports[&number].1 {
                settings.push(entry("mac", Value::text(mac.clone())));
            }
            End { node: device.node, settings }
        };
        match ends[..] {
            [one, other] if one.0 != other.0 => {
                let link = topology.add_link(domain, origin(one), [end(one), end(other)])?;
                interfaces[one.0].insert(format!("eth{}", one.1), (link, 0));
                interfaces[other.0].insert(format!("eth{}", other.1), (link, 1));
            }
            _ => {
                let mut because = origin(ends[0]);
                because.words = format!("collision domain {domain}");
                let switch = topology.add_device(domain, "switch", because)?;
                for one in ends {
                    let link = topology.add_link("", origin(*one), [end(*one), End::at(switch)])?;
                    interfaces[one.0].insert(format!("eth{}", one.1), (link, 0));
                }
            }
        }
    }
    Ok(interfaces)
}

/// A file of routing daemons that a command writes, and what it writes.
fn configuration(line: &str) -> Option<(String, String)> {
    commands::written(line).filter(|(path, _)| daemons::FOLDERS.iter().any(|folder| path.starts_with(folder)))
}

/// Files of routing daemons that scripts write, by their paths, each with what it has in the end.
fn written(scripts: &[Script]) -> BTreeMap<String, (String, Place)> {
    let lines = scripts.iter().flat_map(|script| &script.lines);
    lines.filter_map(|(line, place)| configuration(line).map(|(path, text)| (path, (text, *place)))).collect()
}

/// The routing daemons of a device, by the files that its scripts write, and those of its folder.
fn routing(
    input: &mut Input<'_>,
    name: &str,
    written: &BTreeMap<String, (String, Place)>,
    topology: &mut Topology,
) -> Option<(Routing, Place)> {
    let mut find = |path: &str| written.get(path).cloned().or_else(|| script(input, &format!("{name}{path}")));
    let in_folder = |folder: &'static str| Some((folder, find(&format!("{folder}/daemons"))?));
    let (folder, (list, place)) = daemons::FOLDERS.into_iter().find_map(in_folder)?;
    let mut routing = Routing::default();
    routing.start(&list, place, &mut topology.notes);
    // One file for all, or else one for each.
    let whole = ["frr.conf", "Quagga.conf"].map(|file| find(&format!("{folder}/{file}")));
    let mut parts: Vec<_> = whole.into_iter().flatten().take(1).collect();
    if parts.is_empty() {
        let programs = ["ospfd", "ospf6d", "ripd", "ripngd", "bgpd", "isisd", "pimd", "ldpd", "bfdd"];
        let run = ["zebra", "staticd"].into_iter().chain(programs.into_iter().filter(|program| routing.runs(program)));
        parts.extend(run.filter_map(|program| find(&format!("{folder}/{program}.conf"))));
    }
    for (text, begin) in parts {
        routing.configure(&text, folder != "/etc/frr", begin, &mut topology.notes);
    }
    Some((routing, place))
}

/// Notes in which order devices are to start: here their commands have an order of their own.
fn dependencies(input: &mut Input<'_>, topology: &mut Topology, devices: &BTreeMap<String, usize>) {
    let Some((text, place)) = script(input, "lab.dep") else { return };
    let known = |name: &str| devices.contains_key(name);
    for (line, there) in lines(&text, place) {
        let Some((device, after)) = line.split_once(':') else {
            topology.notes.add(there, format!("{line:?} is no dependency: write `DEVICE: OTHER OTHER`"));
            continue;
        };
        let unknown = after.split_whitespace().chain([device.trim()]).find(|name| !known(name));
        match unknown {
            Some(name) => topology.notes.add(there, format!("`{name}` is no device of lab.conf")),
            None => {
                let (device, after) = (device.trim(), after.trim());
                topology.notes.add(there, format!("`{device}` starts after {after}: all devices are set up together"));
            }
        }
    }
}

/// The text of a file of the lab, if there is one, and where it begins.
fn script(input: &mut Input<'_>, name: &str) -> Option<(String, Place)> {
    let file = input.open(name)?;
    let span = netloom_lab::Span { start: 0, end: 0, line: 1 };
    Some((input.source(file).to_owned(), Place { file, span }))
}

/// The lines of a text that are neither empty nor comments, with their places.
fn lines(text: &str, place: Place) -> Vec<(String, Place)> {
    let places = Lines::of(text, place.file);
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.split('\n')) {
        if !line.trim().is_empty() && !line.trim().starts_with('#') {
            found.push((line.trim().to_owned(), places.line(number)));
        }
    }
    found
}

/// The files of a device's folder, and the commands that make its symbolic links.
fn files(input: &Input<'_>, name: &str, place: Place, topology: &mut Topology) -> (Map, Vec<Script>) {
    let found = input.list(name, MOST_FILES + 1);
    if found.len() > MOST_FILES {
        topology.notes.add(place, format!("the folder {name} has more than {MOST_FILES} files: none is copied"));
        return (Map::new(), Vec::new());
    }
    let (mut files, mut links) = (Map::new(), Vec::new());
    let is_plain = |text: &str| {
        !text.starts_with('-') && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-+@:".contains(&byte))
    };
    for (path, target) in found {
        match target {
            None => files.push((format!("/{path}"), Value::text(format!("{name}/{path}")))),
            Some(target) if is_plain(&path) && is_plain(&target) && !target.is_empty() => {
                let folder =
                    path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("mkdir -p /{folder} && "));
                links.push(Script::command(format!("{folder}ln -sfn {target} /{path}"), place));
            }
            Some(_) => topology.notes.add(place, format!("the symbolic link {name}/{path} is not made")),
        }
    }
    (files, links)
}

/// A value without its quotation marks, and without a comment behind it.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote) {
            return inner.split(quote).next().unwrap_or_default().to_owned();
        }
    }
    value.split(" #").next().unwrap_or_default().trim().to_owned()
}
