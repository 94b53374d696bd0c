//! MiniEdit: the networks that Mininet's editor saves (`examples/miniedit.py`, version 2).

mod addresses;

use crate::machine;
use crate::overlaps;
use crate::places;
use crate::quantity::{self, spelled_duration};
use crate::seen::Seen;
use crate::source::{Place, Read};
use crate::topology::{End, Topology};
use crate::tree::{self, Tree};
use crate::value::{Map, Origin, Value, entry, put};
use addresses::Base;
use netloom_lab::yaml::Node;
use std::collections::BTreeMap;

/// Letters of an interface's name.
const LONGEST: usize = 15;
/// What only the editor needs, and what Netloom does without it.
const DRAWN: [&str; 13] = [
    "version",
    "application.terminalType",
    "application.startCLI",
    "application.netflow",
    "application.sflow",
    "application.openFlowVersions",
    "application.dpctl",
    "hosts.opts.sched",
    "switches.opts.dpid",
    "switches.opts.dpctl",
    "switches.opts.switchIP",
    "switches.opts.netflow",
    "switches.opts.sflow",
];

/// Reads the network in `text`.
pub(crate) fn read(text: &str, stem: &str) -> Read<Topology> {
    let root = tree::parse(text)?;
    let mut reader = Reader {
        topology: Topology::called(stem),
        seen: Seen::default(),
        names: BTreeMap::new(),
        addresses: BTreeMap::new(),
        numbers: Vec::new(),
        base: Base::default(),
        ports: BTreeMap::new(),
    };
    let application = reader.seen.get(&root, "application");
    if let Some(base) = application.and_then(|application| reader.seen.get(application, "ipBase")) {
        let wrong = || base.place().wrong("`ipBase` is no network: write for example \"10.0.0.0/8\"");
        reader.base = base.text().and_then(Base::read).ok_or_else(wrong)?;
    }
    for group in ["hosts", "switches"] {
        for node in reader.seen.get(&root, group).map_or(&[][..], Tree::items) {
            reader.node(node, group)?;
        }
    }
    // Files may name nodes by their kind and number, too.
    for (alias, number) in std::mem::take(&mut reader.numbers) {
        reader.names.entry(alias).or_insert(number);
    }
    if let Some(controllers) = reader.seen.all(&root, "controllers").filter(|all| !all.items().is_empty()) {
        let said = "controllers are not run: switches learn addresses by themselves";
        reader.topology.notes.add(controllers.place(), said);
    }
    for link in reader.seen.get(&root, "links").map_or(&[][..], Tree::items) {
        reader.link(link)?;
    }
    let Reader { mut topology, seen, addresses, .. } = reader;
    if topology.nodes.is_empty() {
        return Err(root.place().wrong("there are neither hosts nor switches in this file"));
    }
    for (number, (_, place)) in addresses {
        let said = format!("`{}` has no link, and so no address", topology.nodes[number].name);
        topology.notes.add(place, said);
    }
    put(&mut topology.top, "addresses", Value::plain("none"));
    put(&mut topology.top, "routes", Value::plain("none"));
    topology.remarks.push(
        "Hosts have an address at their first link and no routes but a default one that they say, as in Mininet."
            .into(),
    );
    overlaps::name_interfaces(&mut topology);
    overlaps::to_commands(&mut topology);
    seen.rest(&root, &DRAWN, &mut topology.notes);
    Ok(topology)
}

struct Reader {
    topology: Topology,
    seen: Seen,
    /// The nodes by their names.
    names: BTreeMap<String, usize>,
    /// Addresses of nodes that have no link yet.
    addresses: BTreeMap<usize, (String, Place)>,
    /// What nodes are called by their numbers in the file.
    numbers: Vec<(String, usize)>,
    base: Base,
    /// How many links each host or router has so far, with its name in the file.
    ports: BTreeMap<usize, (String, usize)>,
}

impl Reader {
    fn node(&mut self, node: &Node, group: &str) -> Read<()> {
        let number_said = self.seen.get(node, "number").and_then(Node::text).map(str::to_owned);
        let id =
            number_said.ok_or_else(|| node.place().wrong("`number` is missing: every host and switch has a number"))?;
        let initial = &group[..1];
        let options = self.seen.get(node, "opts");
        let option = |seen: &Seen, key: &str| {
            let said = options.and_then(|options| seen.get(options, key))?.text()?;
            Some(said.to_owned()).filter(|value| !value.is_empty())
        };
        let name = option(&self.seen, "hostname").unwrap_or_else(|| format!("{initial}{id}"));
        let number = self.topology.add_node(&name, &format!("{initial}{id}"), node.place())?;
        self.numbers.push((format!("{initial}{id}"), number));
        if self.names.insert(name.clone(), number).is_some() {
            return Err(node.place().wrong(format!("there are two nodes called `{name}`")));
        }
        let [right, down] = ["x", "y"].map(|key| self.seen.get(node, key).and_then(Node::text));
        self.topology.nodes[number].position = places::place(right, down);
        let kind = match (group, option(&self.seen, "switchType").as_deref()) {
            ("hosts", _) => None,
            (_, Some("legacyRouter")) => Some("router"),
            _ => Some("switch"),
        };
        self.topology.nodes[number].settings.extend(kind.map(|kind| entry("kind", Value::plain(kind))));
        let own = option(&self.seen, "nodeNum").unwrap_or(id);
        if kind != Some("switch") {
            self.ports.insert(number, (name, 0));
            let ip = option(&self.seen, "ip");
            let found = self.base.address(ip.as_deref(), &own, kind.is_some());
            match found {
                Some(address) => drop(self.addresses.insert(number, (address, node.place()))),
                None => {
                    let said = format!(
                        "the address of `{}` is none of the network `ipBase`",
                        self.topology.nodes[number].name
                    );
                    self.topology.notes.add(node.place(), said);
                }
            }
        }
        self.commands(number, node.place(), |seen, key| option(seen, key));
        let linked = ["controllers"].iter().filter_map(|key| self.seen.all(options?, key));
        for said in linked.filter(|said| !said.items().is_empty()) {
            self.topology.notes.add(said.place(), "`controllers` is not read");
        }
        Ok(())
    }

    /// What a node runs: its start command, and the command that gives it a default route.
    fn commands(&mut self, number: usize, place: Place, option: impl Fn(&Seen, &str) -> Option<String>) {
        if let Some(run) = option(&self.seen, "startCommand") {
            let name = self.topology.nodes[number].name.clone();
            let event = vec![entry("on", Value::text(name)), entry("run", Value::text(run))];
            self.topology.timeline.push(Value::map(event).because(Origin::at(place)));
        }
        if let Some(route) = option(&self.seen, "defaultRoute") {
            // Mininet's own command (`Node.setDefaultRoute`), where an interface or what `ip route` takes may stand.
            let is_interface = !route.contains(' ');
            let way = if is_interface { format!("dev {route}") } else { route };
            let command =
                Value::text(machine::may_fail(&format!("ip route add default {way}"))).because(Origin::at(place));
            self.topology.nodes[number].settings.push(entry("setup", Value::list([command])));
        }
    }

    fn link(&mut self, link: &Node) -> Read<()> {
        let place = link.place();
        let mut ends = Vec::new();
        for key in ["src", "dest"] {
            let said = self.seen.get(link, key).and_then(Node::text);
            let name =
                said.ok_or_else(|| place.wrong(format!("`{key}` is missing: a link joins two nodes by their names")))?;
            let Some(number) = self.names.get(name) else {
                if name.starts_with('c') {
                    self.seen.all_of(link);
                    self.topology.notes.add(place, "a link to a controller: it is left out");
                    return Ok(());
                }
                return Err(place.wrong(format!("`{key}`: there is no host or switch `{name}` in this file")));
            };
            ends.push(*number);
        }
        if ends[0] == ends[1] {
            self.seen.all_of(link);
            self.topology.notes.add(place, "a link from a node to itself: it is left out");
            return Ok(());
        }
        let number = self.topology.add_link("", Origin::at(place), [End::at(ends[0]), End::at(ends[1])])?;
        for (which, node) in ends.into_iter().enumerate() {
            if let Some((name, port)) = self.ports.get_mut(&node) {
                let interface = format!("{name}-eth{port}");
                *port += 1;
                let is_name = interface.len() <= LONGEST
                    && interface.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
                if is_name {
                    let settings = &mut self.topology.links[number].ends[which].settings;
                    put(settings, "interface", Value::text(interface));
                }
            }
            // A host has its address at its first link.
            if let Some((address, said)) = self.addresses.remove(&node) {
                machine::add_address(&mut self.topology, (number, which), &address, said);
            }
        }
        self.topology.links[number].settings = self.options(link);
        Ok(())
    }

    /// What the options of a link say.
    fn options(&mut self, link: &Node) -> Map {
        let mut settings = Map::new();
        for option in self.seen.get(link, "opts").map_or(&[][..], Tree::entries) {
            let text = option.value.text().unwrap_or_default();
            let found = match (option.name.as_str(), text) {
                (_, "" | "0") => {
                    self.seen.take(option);
                    continue;
                }
                ("bw", mbits) => quantity::rate(mbits, 6).map(|rate| ("rate", Value::from(rate.value))),
                ("delay", span) => spelled_duration(span)
                    .or_else(|| quantity::duration(span, -6))
                    .map(|span| ("delay", span.value.into())),
                ("loss", share) => quantity::probability(share, -2).map(|share| ("loss", share.value.into())),
                ("max_queue_size", packets) => {
                    packets.parse::<u32>().ok().map(|packets| ("queue", Value::plain(format!("{packets} packets"))))
                }
                _ => None,
            };
            if let Some((key, value)) = found {
                self.seen.take(option);
                put(&mut settings, key, value.because(Origin::at(option.value.place())));
            }
        }
        settings
    }
}
