//! Nodes that are set up by commands, as in containers.

use crate::inits;
use crate::notes::Notes;
use crate::scripts::{self, Script, Touched};
use crate::shell::{self, Effect};
use crate::source::Place;
use crate::topology::Topology;
use crate::value::{Content, Map, Origin, Value, entry, put};
use std::collections::{BTreeMap, BTreeSet};

/// An end of a link as a place in the topology: the link, and which of its ends.
pub(crate) type EndOf = (usize, usize);

/// The interfaces of a node, and the ends that they are.
pub(crate) type Interfaces = BTreeMap<String, EndOf>;

/// Keys of a direction under which strings of tc are.
const DIALECTS: [&str; 2] = ["netem", "tbf"];

/// Adds an address to an end.
pub(crate) fn add_address(topology: &mut Topology, end: EndOf, address: &str, place: Place) {
    let settings = &mut topology.links[end.0].ends[end.1].settings;
    let value = Value::text(address).because(Origin::at(place));
    match settings.iter_mut().find(|(key, _)| key == "address") {
        Some((_, Value { content: Content::List(all), .. })) => all.push(value),
        _ => settings.push(("address".to_owned(), Value::list([value]))),
    }
}

/// Sets the hardware address of an end.
pub(crate) fn set_mac(topology: &mut Topology, end: EndOf, mac: &str, place: Place) {
    let value = Value::text(mac).because(Origin::at(place));
    put(&mut topology.links[end.0].ends[end.1].settings, "mac", value);
}

/// What a node's commands have beside its interfaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means<'a> {
    /// Whether it has an init of its own, which starts services.
    pub(crate) has_init: bool,
    /// Services that the lab runs itself.
    pub(crate) services: &'a [&'a str],
}

/// What commands do to addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// They set some that the lab knows of.
    pub(crate) is_addressed: bool,
    /// They may set others.
    pub(crate) may_address: bool,
}

/// Runs scripts that set a node up: what sets up interfaces becomes part of the links, and the rest becomes its set-up, where
/// commands may fail, as in the tools that run them. All that becomes part of the links comes first, so nothing does that
/// follows a command which may change the same interface.
pub(crate) fn set_up(
    topology: &mut Topology,
    node: usize,
    interfaces: &Interfaces,
    scripts: impl IntoIterator<Item = Script>,
    means: Means<'_>,
) -> Outcome {
    let scripts: Vec<Script> = scripts.into_iter().collect();
    let controlled = controlled(&scripts, interfaces);
    if !controlled.is_empty() {
        // The file says it, so the verdict does not hold it against the run.
        put(&mut topology.rest, "bounds", Value::map(vec![entry("changes", Value::plain("true"))]));
    }
    let (touched, none) = (BTreeSet::new(), Outcome::default());
    let mut lifting = Lifting { topology, interfaces, means, controlled, touched, is_all: false, outcome: none };
    let left: Vec<(String, Place)> = scripts.into_iter().flat_map(|script| lifting.script(script)).collect();
    let outcome = lifting.outcome;
    if !left.is_empty() {
        let left = left.into_iter().map(|(line, place)| Value::text(may_fail(&line)).because(Origin::at(place)));
        let settings: &mut Map = &mut topology.nodes[node].settings;
        match settings.iter_mut().find(|(key, _)| key == "setup") {
            Some((_, Value { content: Content::List(all), .. })) => all.extend(left),
            _ => settings.push(("setup".to_owned(), Value::list(left))),
        }
    }
    outcome
}

/// The interfaces whose traffic control is more than a lab takes from commands: a queue within another, a class, a loop, or something
/// behind what may not come to its end. All of it stays with the node then, since none of its commands means anything without the others.
fn controlled(scripts: &[Script], interfaces: &Interfaces) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_all = false;
    // Nothing is taken from what a shell runs as a whole.
    let lines = scripts.iter().flat_map(|script| {
        let rest = script.rest.iter().flat_map(|(text, _)| text.lines());
        script.lines.iter().map(|(line, _)| (line.as_str(), false)).chain(rest.map(|line| (line, true)))
    });
    for (line, is_whole) in lines {
        is_all |= is_whole;
        let is_taken = match shell::effect(line, interfaces) {
            Effect::Shape { .. } | Effect::Unshape { .. } => !is_all,
            _ => !scripts::controls_traffic(line),
        };
        if !is_taken {
            found.extend(scripts::named(line, interfaces.keys()));
        }
        is_all |= scripts::touched(line, interfaces.keys()) == Touched::All;
    }
    found
}

/// Says that commands of the set-up may fail, if there are such.
pub(crate) fn note_failures(topology: &mut Topology) {
    if topology.nodes.iter().any(|node| node.settings.iter().any(|(key, _)| key == "setup")) {
        topology.remarks.push("Commands of the set-up may fail, as there: `|| true`, `trap 'exit 0' EXIT`.".into());
    }
}

/// A command for a shell that succeeds whatever comes of it.
pub(crate) fn may_fail(line: &str) -> String {
    // Lists and redirections have this letter, and do not go on beside the shell.
    let plain = line.replace("&&", "").replace(">&", "").replace("&>", "");
    let is_simple = !plain.contains([';', '\n', '#', '&', '\\']) && !line.contains("exit") && !line.contains("exec");
    if is_simple { format!("{line} || true") } else { format!("trap 'exit 0' EXIT\n{line}") }
}

/// The commands of a node on their way into the lab.
struct Lifting<'a> {
    topology: &'a mut Topology,
    interfaces: &'a Interfaces,
    means: Means<'a>,
    /// Interfaces whose traffic control is the node's own.
    controlled: BTreeSet<String>,
    /// Interfaces that commands before may have changed.
    touched: BTreeSet<String>,
    is_all: bool,
    outcome: Outcome,
}

impl Lifting<'_> {
    /// What of a script is left for the node.
    fn script(&mut self, script: Script) -> Vec<(String, Place)> {
        let mut left = Vec::new();
        for (line, place) in script.lines {
            left.extend(self.line(line, place).map(|line| (line, place)));
        }
        if let Some((text, place)) = script.rest {
            left.extend(self.without_init(text, place).map(|text| (text, place)));
            (self.is_all, self.outcome.may_address) = (true, true);
        }
        let is_setting = |(line, _): &(String, Place)| line.starts_with("set ");
        if !script.is_one || left.iter().all(is_setting) {
            left.retain(|line| !is_setting(line));
            return left;
        }
        let Some(place) = left.first().map(|(_, place)| *place) else { return left };
        let lines: Vec<String> = left.into_iter().map(|(line, _)| line).collect();
        vec![(lines.join("\n"), place)]
    }

    /// What of a line is left for the node.
    fn line(&mut self, line: String, place: Place) -> Option<String> {
        let effect = shell::effect(&line, self.interfaces);
        let is_touched = |name: &String| self.is_all || self.touched.contains(name);
        match effect {
            Effect::Service { .. } | Effect::Init if self.means.has_init => return Some(line),
            Effect::Service { .. } | Effect::Init | Effect::Command => return self.command(line, place),
            Effect::Nothing if self.is_all || self.touched.iter().any(|name| line.contains(name.as_str())) => {
                return Some(line);
            }
            Effect::Address { ref interface, .. }
            | Effect::First { ref interface, .. }
            | Effect::Remove { ref interface, .. }
            | Effect::Flush { ref interface, .. }
            | Effect::Mac { ref interface, .. }
                if is_touched(interface) =>
            {
                self.outcome.may_address = true;
                return Some(line);
            }
            Effect::Shape { ref interface, .. } | Effect::Unshape { ref interface }
                if self.controlled.contains(interface) =>
            {
                let said = format!(
                    "the traffic control of {interface} is more than one netem or tbf: the node does it, and not the link"
                );
                self.topology.notes.add(place, said);
                return Some(line);
            }
            Effect::Shape { ref interface, is_added: true, .. } if self.is_shaped(interface) => {
                let said = "traffic control is added where there is some: tc refuses that, so it is left out";
                self.topology.notes.add(place, said);
            }
            Effect::Remove { ref interface, ref address } if !self.takes(interface, |one| one == address) => {
                self.topology.notes.add(place, format!("{address} is taken from {interface}, which does not have it"));
            }
            effect => self.apply(effect, place),
        }
        None
    }

    fn apply(&mut self, effect: Effect, place: Place) {
        match effect {
            Effect::Address { interface, address } => self.add(&interface, &address, place),
            Effect::First { interface, address } => {
                let is_v4 = !address.contains(':');
                let mut is_first = is_v4;
                self.takes(&interface, |one| is_v4 && !one.contains(':') && std::mem::take(&mut is_first));
                self.add(&interface, &address, place);
            }
            Effect::Flush { interface, is_v4 } => {
                self.takes(&interface, |one| !is_v4 || !one.contains(':'));
            }
            Effect::Mac { interface, mac } => set_mac(self.topology, self.interfaces[&interface], &mac, place),
            Effect::Shape { interface, dialect, words, .. } => {
                let direction = self.direction(&interface);
                direction.retain(|(key, _)| !DIALECTS.contains(&key.as_str()));
                put(direction, dialect, Value::text(words).because(Origin::at(place)));
            }
            Effect::Unshape { interface } => {
                self.direction(&interface).retain(|(key, _)| !DIALECTS.contains(&key.as_str()));
            }
            Effect::Remove { .. } | Effect::Nothing | Effect::Service { .. } | Effect::Init | Effect::Command => {}
        }
    }

    /// A command that stays one.
    fn command(&mut self, line: String, place: Place) -> Option<String> {
        let line = if self.means.has_init { Some(line) } else { self.without_init(line, place) }?;
        match scripts::touched(&line, self.interfaces.keys()) {
            Touched::None => {}
            Touched::These(names) => {
                self.touched.extend(names);
                self.outcome.may_address = true;
            }
            Touched::All => (self.is_all, self.outcome.may_address) = (true, true),
        }
        Some(line)
    }

    /// A command without what it asks of an init, which is noted; none if it asks nothing else.
    fn without_init(&mut self, text: String, place: Place) -> Option<String> {
        if self.means.has_init {
            return Some(text);
        }
        let (made, asked) = inits::without(&text);
        for command in &asked {
            match shell::effect(command, &BTreeMap::<String, ()>::new()) {
                Effect::Service { name } if self.means.services.contains(&name.as_str()) => {}
                Effect::Service { name } => no_service(&mut self.topology.notes, &name, place),
                _ => self.topology.notes.add(place, format!("`{command}` is not run: nodes have no init")),
            }
        }
        (made.trim() != "true").then_some(made)
    }

    fn add(&mut self, interface: &str, address: &str, place: Place) {
        self.outcome.is_addressed = true;
        let end = self.interfaces[interface];
        if !addresses(self.topology, end).any(|one| one == address) {
            add_address(self.topology, end, address, place);
        }
    }

    /// Takes addresses from an interface; returns whether there were such.
    fn takes(&mut self, interface: &str, mut is_taken: impl FnMut(&str) -> bool) -> bool {
        let (link, end) = self.interfaces[interface];
        let settings = &mut self.topology.links[link].ends[end].settings;
        let Some((_, Value { content: Content::List(all), .. })) =
            settings.iter_mut().find(|(key, _)| key == "address")
        else {
            return false;
        };
        let before = all.len();
        all.retain(|one| !matches!(&one.content, Content::Text(text) if is_taken(text)));
        let (left, is_any) = (all.len(), all.len() < before);
        settings.retain(|(key, _)| key != "address" || left > 0);
        is_any
    }

    fn is_shaped(&mut self, interface: &str) -> bool {
        self.direction(interface).iter().any(|(key, _)| DIALECTS.contains(&key.as_str()))
    }

    /// What is described of what leaves at an interface.
    fn direction(&mut self, interface: &str) -> &mut Map {
        let (link, end) = self.interfaces[interface];
        let link = &mut self.topology.links[link];
        if end == 0 { &mut link.forward } else { &mut link.backward }
    }
}

/// The addresses of an end.
pub(crate) fn addresses(topology: &Topology, end: EndOf) -> impl Iterator<Item = &str> {
    let lists = topology.links[end.0].ends[end.1].settings.iter().filter(|(key, _)| key == "address");
    let items = lists.filter_map(|(_, value)| if let Content::List(all) = &value.content { Some(all) } else { None });
    items.flatten().filter_map(|one| if let Content::Text(text) = &one.content { Some(text.as_str()) } else { None })
}

/// Gives a node files of its own, as the tool does that its file is for.
pub(crate) fn own_files(topology: &mut Topology, node: usize) {
    put(&mut topology.nodes[node].settings, "root", Value::plain("overlay"));
}

fn no_service(notes: &mut Notes, name: &str, place: Place) {
    let note = format!("the service `{name}` is not started: nodes have no init; start its program in the timeline");
    notes.add(place, note);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::End;

    /// What scripts make of a node with eth0: its addresses, what is described of what it sends, and what it runs.
    fn made(script: &str) -> (Vec<String>, String, Vec<String>) {
        let mut topology = Topology::called("x");
        let nodes = ["a", "b"].map(|name| topology.add_node(name, "n", Place::default()).expect("a node"));
        let link = topology.add_link("", Origin::default(), nodes.map(End::at)).expect("a link");
        let interfaces = [("eth0".to_owned(), (link, 0))].into();
        let means = Means { has_init: false, services: &[] };
        set_up(&mut topology, nodes[0], &interfaces, [Script::of(script, Place::default())], means);
        let text = |value: &Value| match &value.content {
            Content::Text(text) => text.clone(),
            other => format!("{other:?}"),
        };
        let setup = topology.nodes[0].settings.iter().find(|(key, _)| key == "setup");
        let setup = setup.map_or(vec![], |(_, value)| match &value.content {
            Content::List(all) => all.iter().map(text).collect(),
            _ => vec![],
        });
        let shape = topology.links[0].forward.iter().map(|(_, value)| text(value)).collect();
        (addresses(&topology, (0, 0)).map(str::to_owned).collect(), shape, setup)
    }

    #[test]
    fn commands_have_the_effect_of_their_order() {
        let addresses = |script: &str| made(script).0;
        assert_eq!(addresses("ip addr flush dev eth0\nip addr add 10.0.0.1/24 dev eth0\n"), ["10.0.0.1/24"]);
        let replaced = "ip a add 10.0.0.2/24 dev eth0\nip a del 10.0.0.2/24 dev eth0\nip a add 10.0.0.3/24 dev eth0\n";
        assert_eq!(addresses(replaced), ["10.0.0.3/24"]);
        assert_eq!(addresses("ifconfig eth0 10.0.0.1/24\nifconfig eth0 10.0.0.2/24\n"), ["10.0.0.2/24"]);
        assert_eq!(addresses("ip a add 10.0.0.1/24 dev eth0\nip addr flush dev eth0\n"), [""; 0]);
        // What follows something that may have changed the interface stays behind it.
        let (there, _, left) = made(
            "ip a add 10.0.0.1/24 dev eth0\nip link set eth0 down\nip link set eth0 up\nip a add 10.0.0.2/24 dev eth0\n",
        );
        assert_eq!(there, ["10.0.0.1/24"]);
        let commands =
            ["ip link set eth0 down || true", "ip link set eth0 up || true", "ip a add 10.0.0.2/24 dev eth0 || true"];
        assert_eq!(left, commands);
        let (set, _, one) = made("set -e\nip a add 10.0.0.1/24 dev eth0\nping -c 1 x\nip route add y\n");
        assert_eq!((set.len(), one), (1, vec!["trap 'exit 0' EXIT\nset -e\nping -c 1 x\nip route add y".to_owned()]));
        let (none, _, behind) = made("exit 0\nip a add 10.0.0.1/24 dev eth0\n");
        assert_eq!((none.len(), behind.len()), (0, 1));
    }

    #[test]
    fn traffic_control_is_what_is_there_in_the_end() {
        let shape = |script: &str| made(script).1;
        let add = "tc qdisc add dev eth0 root netem delay 1ms\n";
        assert_eq!(shape(add), "delay 1ms");
        assert_eq!(shape(&format!("{add}tc qdisc replace dev eth0 root netem loss 1%\n")), "loss 1%");
        assert_eq!(shape(&format!("{add}tc qdisc add dev eth0 root netem loss 1%\n")), "delay 1ms");
        assert_eq!(shape(&format!("{add}tc qdisc del dev eth0 root\n")), "");
    }

    #[test]
    fn traffic_control_that_a_link_cannot_have_stays_with_the_node() {
        let add = "tc qdisc add dev eth0 root handle 1: netem delay 1ms\n";
        for other in [
            "tc qdisc add dev eth0 parent 1: handle 2: tbf rate 1mbit burst 32kbit latency 400ms\n",
            "tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit\ntc qdisc del dev eth0 root\n",
            "for i in 0; do tc qdisc change dev eth$i root netem loss 1%; done\n",
            "if true; then\ntc qdisc replace dev eth0 root netem loss 1%\nfi\n",
        ] {
            let script = format!("{add}{other}");
            let (_, shape, left) = made(&script);
            let count: usize = left.iter().map(|one| one.matches("tc ").count()).sum();
            assert_eq!((shape.as_str(), count), ("", script.matches("tc ").count()), "{script}");
        }
        // What does not come to its end, and what only looks.
        assert_eq!(made(&format!("exit 0\n{add}")).1, "");
        assert_eq!(made(&format!("{add}tc qdisc show dev eth0\ntc qdisc add dev eth0 ingress\n")).1, "delay 1ms");
    }
}
