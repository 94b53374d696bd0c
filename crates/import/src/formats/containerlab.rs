//! containerlab's YAML: containers and the links between them (containerlab.dev, "Topology definition").

mod links;
mod variables;

use crate::Options;
use crate::containers;
use crate::daemons::Routing;
use crate::files::Input;
use crate::machine::{self, Means};
use crate::overlaps;
use crate::places;
use crate::scripts::Script;
use crate::source::{Place, Read};
use crate::topology::Topology;
use crate::tree::{self, Tree};
use crate::value::{Content, Map, Origin, Value, entry, put};
use netloom_lab::Span;
use netloom_lab::yaml::{self, Node};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use variables::Variables;

/// Kinds of nodes that are bridges.
const BRIDGES: [&str; 3] = ["bridge", "ovs-bridge", "ovs"];
/// Keys of nodes that are read, or that mean nothing to anybody but containerlab's own output.
const READ: [&str; 7] = ["kind", "group", "exec", "env", "binds", "cpu", "sysctls"];
/// Those that say more of a container.
const OF_CONTAINERS: [&str; 3] = ["entrypoint", "cmd", "user"];
/// Where nothing of a node can be.
const WINDOWS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Where FRR's files are in a container.
const FRR: &str = "/etc/frr";

/// Reads the topology that is the input.
pub(crate) fn read(input: &mut Input<'_>, options: &Options) -> Read<Topology> {
    let root = tree::parse(input.text())?;
    let label = root.word("name").unwrap_or(&input.stem);
    let mut topology = Topology::called(label.trim_end_matches(".clab"));
    let inner = root.required("topology", "a containerlab file has its nodes and links under `topology:`")?;
    for key in root.entries().iter().filter(|key| !["name", "topology", "prefix", "mgmt"].contains(&key.name.as_str()))
    {
        topology.notes.add(key.value.place(), format!("`{}` is not read", key.name));
    }
    if let Some(mgmt) = root.get("mgmt") {
        topology.notes.add(mgmt.place(), "there is no management network: `netloom exec` and `expose` lead into nodes");
    }
    let nodes = inner.required("nodes", "write for example `nodes: {a: {kind: linux}}`")?;
    let mut reader = Reader {
        topology,
        variables: Variables::new(options),
        inner,
        numbers: BTreeMap::new(),
        interfaces: Vec::new(),
        kinds: Vec::new(),
        no_images: options.no_images,
        may_address: false,
    };
    for node in nodes.entries() {
        reader.node(&node.name, &node.value, Place { file: 0, span: node.span })?;
    }
    let links = inner.get("links").map_or(&[][..], Tree::items);
    let mut is_addressed = false;
    for link in links {
        is_addressed |= reader.link(link)?;
    }
    for node in nodes.entries() {
        is_addressed |= reader.settle(&node.name, &node.value, input);
    }
    let may_address = reader.may_address && !is_addressed;
    if is_addressed || may_address {
        put(&mut reader.topology.top, "addresses", Value::plain("none"));
        put(&mut reader.topology.top, "routes", Value::plain("none"));
        let said = if may_address {
            "Commands or scripts of the file may give addresses, so nodes have those and no others, and no routes."
        } else {
            "The file gives addresses, so nodes have those and no others, and no routes."
        };
        reader.topology.remarks.push(said.into());
    } else {
        let said = "the file gives no addresses: nodes have those and the routes that Netloom gives; write `addresses: none` for none";
        reader.topology.notes.add(Place::default(), said);
    }
    machine::note_failures(&mut reader.topology);
    reader.leave_sections(&nodes.entries().iter().map(|node| &node.value).collect::<Vec<_>>());
    overlaps::to_commands(&mut reader.topology);
    reader.topology.notes.extend(reader.variables.into_notes());
    Ok(reader.topology)
}

/// The routing daemons that files bound into a container are for. They need these files no more.
fn routing(files: &mut Map, input: &mut Input<'_>, topology: &mut Topology) -> Option<(Routing, Place)> {
    let find = |name: &str| {
        files.iter().find_map(|(to, from)| {
            let Content::Text(from) = &from.content else { return None };
            let below = Path::new(FRR).join(name).strip_prefix(to).ok()?.to_owned();
            let path = if below.as_os_str().is_empty() { PathBuf::from(from) } else { Path::new(from).join(below) };
            Some(path.to_string_lossy().into_owned())
        })
    };
    let whole = |from: &mut Input<'_>, name: &str| {
        let file = from.open(&find(name)?)?;
        Some((from.source(file).to_owned(), Place { file, span: Span { start: 0, end: 0, line: 1 } }))
    };
    let list = whole(input, "daemons");
    let configuration = whole(input, "frr.conf");
    let place = list.as_ref().or(configuration.as_ref())?.1;
    let mut routing = Routing::default();
    if let Some((text, begin)) = &list {
        routing.start(text, *begin, &mut topology.notes);
    }
    if let Some((text, begin)) = &configuration {
        for word in Routing::spoken(text).iter().filter(|_| list.is_none()) {
            routing.add(word);
        }
        routing.configure(text, false, *begin, &mut topology.notes);
    }
    files.retain(|(to, _)| !Path::new(to).starts_with(FRR));
    Some((routing, place))
}

/// Whether volumes among these values are those of routing daemons.
fn names_frr(value: &Value) -> bool {
    let is_theirs = |text: &str| text.split(':').nth(1).is_some_and(|target| Path::new(target).starts_with(FRR));
    match &value.content {
        Content::List(all) => all.iter().any(names_frr),
        Content::Text(text) => is_theirs(text),
        _ => false,
    }
}

struct Reader<'a> {
    topology: Topology,
    variables: Variables<'a>,
    /// What stands under `topology`.
    inner: &'a Node,
    /// The numbers of the nodes by their names.
    numbers: BTreeMap<String, usize>,
    /// The interfaces of each node.
    interfaces: Vec<machine::Interfaces>,
    /// The kind of each node, as the file has it.
    kinds: Vec<String>,
    no_images: bool,
    /// Whether commands that are not read may give addresses.
    may_address: bool,
}

impl<'a> Reader<'a> {
    /// What a node says under a key, or its group, its kind, or the defaults.
    fn inherited(&self, node: &'a Node, key: &str) -> Option<&'a Node> {
        self.layers(node).into_iter().find_map(|layer| layer.get(key))
    }

    /// Where a node's settings come from, the strongest first.
    fn layers(&self, node: &'a Node) -> Vec<&'a Node> {
        let defaults = self.inner.get("defaults");
        let of = |section: &str, name: Option<&str>| self.inner.get(section)?.get(name?);
        let group_name = node.word("group").or_else(|| defaults?.word("group"));
        let group = of("groups", group_name);
        let kind_name = node.word("kind").or_else(|| group?.word("kind")).or_else(|| defaults?.word("kind"));
        let kind = of("kinds", kind_name);
        [Some(node), group, kind, defaults].into_iter().flatten().collect()
    }

    fn node(&mut self, name: &str, node: &'a Node, place: Place) -> Read<()> {
        let number = self.topology.add_node(name, "node", place)?;
        self.numbers.insert(name.to_owned(), number);
        let kind = self.inherited(node, "kind").and_then(Node::text).unwrap_or("linux").to_owned();
        self.interfaces.push(machine::Interfaces::new());
        let label = |key: &str| node.get("labels").and_then(|labels| labels.word(key));
        self.topology.nodes[number].position = places::place(label("graph-posX"), label("graph-posY"));
        let bridge = BRIDGES.contains(&kind.as_str());
        if bridge {
            self.topology.nodes[number].settings.push(entry("kind", Value::plain("switch")));
        } else if kind != "linux" {
            let note = format!("nodes of kind `{kind}` are ordinary Linux routers: their own system is not run");
            self.topology.notes.add(place, note);
        }
        if !self.topology.nodes[number].origin.words.is_empty() {
            self.topology.nodes[number].origin.words.push_str(", ");
        }
        self.topology.nodes[number].origin.words.push_str(&format!("kind {kind}"));
        self.kinds.push(kind);
        Ok(())
    }

    /// What nodes of this kind become, with so many links.
    fn role(kind: &str, links: usize) -> Option<&'static str> {
        match kind {
            _ if BRIDGES.contains(&kind) => None,
            // Linux machines in the middle forward, and those at the border have nothing to forward.
            "linux" if links < 2 => None,
            _ => Some("router"),
        }
    }

    /// Sets a node up, when its interfaces are known.
    fn settle(&mut self, name: &str, node: &'a Node, input: &mut Input<'_>) -> bool {
        let Some(number) = self.numbers.get(name).copied() else { return false };
        let interfaces = std::mem::take(&mut self.interfaces[number]);
        if let Some(role) = Self::role(&self.kinds[number], interfaces.len()) {
            self.topology.nodes[number].settings.insert(0, entry("kind", Value::plain(role)));
        }
        let container = self.container(node, number);
        self.leave(node, container.is_some());
        if BRIDGES.contains(&self.kinds[number].as_str()) {
            return false;
        }
        let mut files = if container.is_some() { Map::new() } else { self.files(node) };
        let routing = routing(&mut files, input, &mut self.topology);
        // What is bound there gives addresses, and routes.
        let speaks = container.iter().flatten().any(|(_, value)| names_frr(value));
        let is_container = container.is_some();
        let mut settings = container.unwrap_or_default();
        settings.append(&mut self.settings(node));
        if !files.is_empty() {
            settings.push(entry("files", Value::map(files)));
        }
        self.topology.nodes[number].settings.append(&mut settings);
        // Commands of all layers run: those of the defaults first.
        let mut commands = Vec::new();
        for layer in self.layers(node).into_iter().rev() {
            for command in layer.get("exec").map_or(&[][..], Tree::items) {
                let said = command.text().map(|line| (self.variables.expand(line, command), command.place()));
                commands.extend(said.map(|(line, place)| Script::command(line, place)));
            }
        }
        if !is_container {
            machine::own_files(&mut self.topology, number);
        }
        commands.retain(|command| !self.is_managed(command));
        let means = Means { has_init: is_container, services: &[] };
        let outcome = machine::set_up(&mut self.topology, number, &interfaces, commands, means);
        self.may_address |= outcome.may_address || self.binds_script(node);
        let settled = routing.map(|(routing, place)| routing.settle(&mut self.topology, number, &interfaces, place));
        outcome.is_addressed || settled == Some(true) || speaks
    }

    /// Whether a script is bound into a node, which its image may run.
    fn binds_script(&mut self, node: &'a Node) -> bool {
        let layers = self.layers(node);
        let mut binds = layers.iter().flat_map(|layer| layer.get("binds").map_or(&[][..], Tree::items));
        binds.any(|bind| bind.text().is_some_and(|text| text.split(':').any(|part| part.ends_with(".sh"))))
    }

    /// Whether a command takes away the way by the management network, which nodes do not have here.
    fn is_managed(&mut self, command: &Script) -> bool {
        let Some((line, place)) = command.lines.first() else { return false };
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_way = matches!(words[..], ["ip", "route" | "r" | "ro", "del" | "delete", "default", ref rest @ ..]
            if rest.is_empty() || rest.contains(&"eth0"));
        if is_way {
            let said = "the default route by the management network is not taken away: there is none";
            self.topology.notes.add(*place, said);
        }
        is_way
    }

    /// The image of a node with what says how it runs; none if the node has this machine's files.
    fn container(&mut self, node: &'a Node, number: usize) -> Option<Map> {
        if self.no_images || self.kinds[number] != "linux" {
            return None;
        }
        let image = self.inherited(node, "image")?;
        let mut settings = Map::new();
        let name = self.variables.expand(image.text().unwrap_or_default(), image);
        containers::put_image(&mut settings, &name, image.place());
        if settings.is_empty() {
            return None;
        }
        for (key, own) in [("entrypoint", "entrypoint"), ("cmd", "command")] {
            if let Some(said) = self.inherited(node, key) {
                let command = self.variables.expand(said.text().unwrap_or_default(), said);
                containers::put_words(&mut settings, own, &command, said.place());
            }
        }
        if let Some(user) = self.inherited(node, "user") {
            put(&mut settings, "user", Value::text(user.text().unwrap_or_default()).because(Origin::at(user.place())));
        }
        let volumes = self.volumes(node);
        if !volumes.is_empty() {
            settings.push(entry("volumes", Value::list(volumes)));
        }
        Some(settings)
    }

    /// What is bound into a node with an image.
    fn volumes(&mut self, node: &'a Node) -> Vec<Value> {
        let mut volumes = Vec::new();
        for layer in self.layers(node).into_iter().rev() {
            for bind in layer.get("binds").map_or(&[][..], Tree::items) {
                let text = self.variables.expand(bind.text().unwrap_or_default(), bind);
                match containers::volume(&text).filter(|_| !text.contains("__clab")) {
                    Some(volume) => volumes.push(Value::text(volume).because(Origin::at(bind.place()))),
                    None => self.topology.notes.add(bind.place(), format!("`{text}` is not bound into the node")),
                }
            }
        }
        volumes
    }

    /// Environment, files and processors of a node.
    fn settings(&mut self, node: &'a Node) -> Map {
        let mut settings = Map::new();
        if let Some(cpu) =
            self.inherited(node, "cpu").filter(|cpu| cpu.text().is_some_and(|text| text.parse::<f64>().is_ok()))
        {
            let value = Value::plain(cpu.text().unwrap_or_default()).because(Origin::at(cpu.place()));
            settings.push(entry("cpus", value));
        }
        let env = self.merged(node, "env");
        if !env.is_empty() {
            settings.push(entry("env", Value::map(env)));
        }
        let mut sysctls = self.merged(node, "sysctls");
        sysctls.retain(|(name, value)| {
            let is_net = name.starts_with("net.");
            if !is_net {
                let place = value.origin.place.unwrap_or_default();
                self.topology
                    .notes
                    .add(place, format!("the kernel setting `{name}` is not the network's: it is not set"));
            }
            is_net
        });
        if !sysctls.is_empty() {
            settings.push(entry("sysctl", Value::map(sysctls)));
        }
        settings
    }

    /// A map of texts to which all layers add.
    fn merged(&mut self, node: &'a Node, key: &str) -> Map {
        let mut merged = Map::new();
        for layer in self.layers(node).into_iter().rev() {
            for one in layer.get(key).map_or(&[][..], Tree::entries) {
                let text = one.value.text().unwrap_or_default();
                let value = Value::text(self.variables.expand(text, &one.value));
                put(&mut merged, &one.name, value.because(Origin::at(one.value.place())));
            }
        }
        merged
    }

    /// The files that are bound into a node.
    fn files(&mut self, node: &'a Node) -> Map {
        let mut files = Map::new();
        for layer in self.layers(node).into_iter().rev() {
            for bind in layer.get("binds").map_or(&[][..], Tree::items) {
                let text = self.variables.expand(bind.text().unwrap_or_default(), bind);
                let mut parts = text.split(':');
                let (Some(from), Some(to)) = (parts.next(), parts.next()) else { continue };
                let is_window = WINDOWS.iter().any(|window| to == *window || to.starts_with(&format!("{window}/")));
                if is_window || !to.starts_with('/') || from.contains("__clab") || from == to {
                    self.topology.notes.add(bind.place(), format!("`{text}` is not bound into the node"));
                    continue;
                }
                put(&mut files, to, Value::text(from).because(Origin::at(bind.place())));
            }
        }
        files
    }

    /// Notes what is not read beside the nodes and links: other sections, and groups and kinds of no node.
    fn leave_sections(&mut self, nodes: &[&'a Node]) {
        let used: Vec<*const Node> = nodes.iter().flat_map(|node| self.layers(node)).map(std::ptr::from_ref).collect();
        for section in self.inner.entries() {
            let place = Place { file: 0, span: section.span };
            match section.name.as_str() {
                "nodes" | "links" => {}
                "defaults" if nodes.is_empty() || used.contains(&std::ptr::from_ref(&section.value)) => {}
                name @ ("groups" | "kinds") => {
                    let is_used = |one: &&yaml::Entry| used.contains(&std::ptr::from_ref(&one.value));
                    for one in section.value.entries().iter().filter(|one| !is_used(one)) {
                        let there = Place { file: 0, span: one.span };
                        self.topology.notes.add(there, format!("`{}` of `{name}` is that of no node", one.name));
                    }
                }
                name => self.topology.notes.add(place, format!("`{name}` of `topology` is not read")),
            }
        }
    }

    /// Notes what of a node is not read.
    fn leave(&mut self, node: &'a Node, is_container: bool) {
        for layer in self.layers(node) {
            for key in layer.entries() {
                let place = Place { file: 0, span: key.span };
                match key.name.as_str() {
                    name if is_container && (name == "image" || OF_CONTAINERS.contains(&name)) => {}
                    "image" => self.topology.notes.add(place, "images are not run: nodes have this machine's files"),
                    // Where it is drawn, and how.
                    "labels" if key.value.entries().iter().all(|label| label.name.starts_with("graph-")) => {}
                    name if READ.contains(&name) || key.value.content == yaml::Content::Empty => {}
                    name => self.topology.notes.add(place, format!("`{name}` of nodes is not read")),
                }
            }
        }
    }
}
