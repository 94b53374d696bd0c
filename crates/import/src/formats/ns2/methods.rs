//! What scripts call on objects. A method that is not known is noted in one place, so that none is passed over in silence.

use super::arguments::{Of, shortened};
use super::classes;
use super::network::{CommandOf, MOST, Network};
use super::objects::{self, Attributes, Object, Other};
use super::sources::Amount;
use super::units::{bandwidth, time, whole};
use crate::source::Place;
use crate::tcl::Host;
use netloom_units::Duration;

/// Other scripts that a script reads.
const MOST_SCRIPTS: usize = 100;
/// Methods of agents and other objects that only trace, measure, draw or seed.
const WATCHING: [&str; 14] = [
    "trace",
    "attach-trace",
    "tracevar",
    "use-rng",
    "seed",
    "next-substream",
    "reset-start-substream",
    "log",
    "print",
    "stats",
    "clear",
    "reset-counters",
    "set-trace-filename",
    "trace-annotate",
];

/// The value of a method; none if there is no such method here.
pub(super) type Answer = Result<Option<String>, String>;

impl Host for Network<'_, '_> {
    fn call(&mut self, words: &[String], place: Place) -> Option<Result<String, String>> {
        let name = words[0].as_str();
        let is_otcl = name == "Class" || words.get(1).is_some_and(|word| word == "instproc");
        if is_otcl {
            self.class = self.class.or(Some(place));
        }
        match self.objects.get(name) {
            // Of what may be large, its class says enough.
            Some(Object::Other(other)) => {
                let class = other.class.clone();
                return Some(self.method(None, &class, words, place));
            }
            Some(object) => {
                let object = object.clone();
                return Some(self.method(Some(&object), "", words, place));
            }
            None => {}
        }
        match name {
            "new" => Some(self.new_object(words, place)),
            _ if name.starts_with("tb-") => {
                self.is_emulab = true;
                let before = self.notes.count();
                let done = self.testbed(words, place);
                // What has no counterpart is noted as a whole.
                if self.notes.count() == before {
                    self.note_words(Of::Testbed, words, place);
                }
                Some(done)
            }
            "delete" => {
                self.notes.add(place, "`delete`: what an object has done until then stays, and what it does goes on");
                Some(Ok(String::new()))
            }
            "create-god" | "God" => {
                self.watch(name.to_owned(), place);
                Some(self.make("God", place))
            }
            "defaultRNG" => {
                self.watch("defaultRNG".to_owned(), place);
                Some(Ok("0".to_owned()))
            }
            "ns-random" => {
                self.watch("ns-random".to_owned(), place);
                Some(Ok("1".to_owned()))
            }
            _ if is_otcl => {
                let class = if name == "Class" { words.get(1).map_or("", String::as_str) } else { name };
                self.notes.add(place, format!("the class `{class}`: classes of OTcl are not known here"));
                Some(Ok(String::new()))
            }
            _ if classes::is_class(name) => Some(Ok(self.of_class(name, words, place))),
            _ => None,
        }
    }

    fn named(&mut self, variable: &str, value: &str) {
        let label = || Some(variable.replace(['(', ','], "-").replace(')', "")).filter(|name| !name.is_empty());
        match self.objects.get(value) {
            Some(Object::Node(node) | Object::Lan(node)) => {
                let node = &mut self.nodes[*node];
                node.label = node.label.take().or_else(label);
            }
            Some(Object::Link(link, None)) => {
                let link = &mut self.links[*link];
                link.label = link.label.take().or_else(label);
            }
            _ => return,
        }
        if !variable.is_empty() && self.called.len() < MOST {
            for name in [Some(variable.to_owned()), label()].into_iter().flatten() {
                self.called.insert(name, value.to_owned());
            }
        }
    }

    fn script(&mut self, name: &str, place: Place) -> Option<(usize, String)> {
        // What Emulab's has is known here.
        self.is_emulab |= name.ends_with("tb_compat.tcl");
        if !self.scripts.contains_key(name) && self.scripts.len() < MOST_SCRIPTS {
            // Files of other folders may have been put beside the script.
            let beside = name.rsplit('/').next().unwrap_or(name);
            let file = self.input.as_mut().and_then(|input| input.open(name).or_else(|| input.open(beside)));
            self.scripts.insert(name.to_owned(), file);
        }
        let Some(file) = self.scripts.get(name).copied().flatten() else {
            if !name.ends_with("tb_compat.tcl") {
                self.not_read.get_or_insert_with(|| (name.chars().take(60).collect(), place));
            }
            return None;
        };
        Some((file, self.input.as_ref()?.source(file).to_owned()))
    }

    fn note(&mut self, place: Place, message: String) {
        self.notes.add(place, message);
    }

    fn is_over(&self) -> bool {
        self.is_halted && self.now.is_some()
    }
}

impl Network<'_, '_> {
    /// A handle for an object.
    pub(super) fn handle(&mut self, object: Object) -> Result<String, String> {
        if self.made >= 5 * MOST {
            return Err(format!("more than {} objects: no network has so many", 5 * MOST));
        }
        self.made += 1;
        let handle = format!("_o{}", self.made);
        self.objects.insert(handle.clone(), object);
        Ok(handle)
    }

    /// `new CLASS ...`
    fn new_object(&mut self, words: &[String], place: Place) -> Result<String, String> {
        let class = words.get(1).map_or("", String::as_str);
        // Older names of classes.
        let class = match class {
            "Traffic/Expoo" => "Application/Traffic/Exponential",
            "Traffic/Pareto" => "Application/Traffic/Pareto",
            _ => class,
        };
        if class == "Simulator" {
            if words.len() > 2 {
                self.notes.add(place, format!("`{}` behind `new Simulator` is not read", words[2..].join(" ")));
            }
            return self.handle(Object::Simulator);
        }
        let handle = self.make(class, place)?;
        let Some(Object::Other(other)) = self.objects.get_mut(&handle) else { return Ok(handle) };
        match (class, &words[2.min(words.len())..]) {
            ("ErrorModel/Uniform", [rate, more @ ..]) => {
                other.put("rate_", rate, place);
                other.put("unit_", more.first().map_or("pkt", String::as_str), place);
            }
            (_, []) => {}
            (_, more) => {
                let said = format!("`{}` behind `new {class}` is not read", more.join(" "));
                self.notes.add(place, said);
            }
        }
        Ok(handle)
    }

    pub(super) fn node(&self, handle: Option<&String>) -> Result<usize, String> {
        match handle.and_then(|handle| self.object(handle)) {
            Some(Object::Node(node) | Object::Lan(node)) => Ok(*node),
            _ => Err(format!("{:?} is no node", handle.map_or("", String::as_str))),
        }
    }

    /// Calls a method of an object. What there is not is noted here, and has no value but a zero.
    fn method(
        &mut self,
        object: Option<&Object>,
        class: &str,
        words: &[String],
        place: Place,
    ) -> Result<String, String> {
        let method = words.get(1).map_or("", String::as_str);
        let before = self.watched_words;
        let (whose, answer) = match object {
            Some(Object::Simulator) => ("$ns", self.simulator(method, words, place)),
            Some(Object::Node(node)) => ("nodes", self.of_node(*node, method, words, place)),
            Some(Object::Link(link, direction)) => ("links", self.of_link((*link, *direction), words, place)),
            Some(Object::Queue(link, direction)) => ("queues", Ok(self.of_queue((*link, *direction), words, place))),
            Some(Object::Delay(link, direction)) => ("links", self.of_delay((*link, *direction), words, place)),
            Some(Object::Program(command)) => ("programs", Ok(self.of_program(*command, words))),
            Some(Object::Lan(_)) => ("LANs", Ok(None)),
            Some(Object::Other(_)) | None => (class, self.of_other(method, words, place)),
        };
        if let Some(value) = answer? {
            let of = if whose == "$ns" { Of::Simulator } else { Of::Object };
            if self.watched_words == before {
                self.note_words(of, words, place);
            }
            return Ok(value);
        }
        let said = match whose {
            "$ns" if method == "set" => {
                format!("`$ns set {}` has no counterpart in a lab", shortened(&words[2.min(words.len())..]))
            }
            "$ns" => format!("`$ns {method}` has no counterpart in a lab"),
            _ => format!("`{}` of {whose} has no counterpart in a lab", shortened(&words[1.min(words.len())..])),
        };
        self.notes.add(place, said);
        match object {
            // Whatever it makes or says, a script may call methods of it.
            Some(Object::Simulator) => self.make(&format!("$ns {method}"), place),
            None => Ok("0".to_owned()),
            _ => Ok(String::new()),
        }
    }

    fn of_queue(&mut self, at: (usize, Option<usize>), words: &[String], place: Place) -> Option<String> {
        match words {
            [_, set, name, value] if set == "set" => {
                self.set_queue(at.0, at.1, (name, value), place);
                Some(value.clone())
            }
            [_, set, name] if set == "set" => Some(self.get_queue(at.0, at.1, name)),
            [_, method, ..] if ["trace", "attach", "monitor"].contains(&method.as_str()) => {
                self.watch(format!("$queue {method}"), place);
                Some(String::new())
            }
            _ => None,
        }
    }

    fn of_program(&mut self, command: usize, words: &[String]) -> Option<String> {
        let now = self.now.unwrap_or(Duration::ZERO);
        let spells = &mut self.commands[command].spells;
        match words.get(1)?.as_str() {
            "start" | "run" if spells.len() < MOST => objects::begin(spells, now),
            "stop" | "kill" => objects::end(spells, now),
            _ => return None,
        }
        Some(String::new())
    }

    fn of_node(&mut self, node: usize, method: &str, words: &[String], place: Place) -> Answer {
        match method {
            "program-agent" => {
                let mut run = None;
                for pair in words[2..].chunks(2) {
                    match pair {
                        [option, command] if option == "-command" => run = Some(command.clone()),
                        _ => self.notes.add(place, format!("`{}` of a program is not read", pair.join(" "))),
                    }
                }
                let Some(run) = run.filter(|run| !run.trim().is_empty()) else {
                    return self.make("program-agent", place).map(Some);
                };
                self.commands.push(CommandOf { node, run, spells: Vec::new(), place });
                return self.handle(Object::Program(self.commands.len() - 1)).map(Some);
            }
            "id" | "node-addr" => return Ok(Some(node.to_string())),
            "color" | "shape" | "label" | "label-color" | "label-at" | "add-mark" | "delete-mark" => {
                self.watch(format!("$node {method}"), place);
            }
            "set" => return Ok(plain(&mut self.nodes[node].attributes, words, place)),
            _ if self.of_mobile(node, method, words, place) => {}
            _ => return Ok(None),
        }
        Ok(Some(String::new()))
    }

    fn of_other(&mut self, method: &str, words: &[String], place: Place) -> Answer {
        let handle = words[0].as_str();
        let Some(Object::Other(other)) = self.objects.get_mut(handle) else { return Ok(None) };
        let (is_agent, class) = (other.is_agent(), other.class.clone());
        match (method, words) {
            ("set", [_, _, name, value]) => return Ok(Some(self.set_attribute(handle, name, value, place))),
            ("set", [_, _, name]) => {
                return Ok(Some(other.text(&said(&class, name)).unwrap_or("0").to_owned()));
            }
            ("attach-agent", [_, _, agent]) => self.join(handle, agent),
            ("attach", [_, _, agent]) if !is_agent => self.join(handle, agent),
            ("attach-app" | "attach-source", [_, _, kind, ..]) => {
                let above = if method == "attach-app" { "Application" } else { "Source" };
                let made = self.make(&format!("{above}/{kind}"), place)?;
                self.join(&made, handle);
                return Ok(Some(made));
            }
            ("attach-traffic", [_, _, generator]) => {
                other.generator = Some(generator.clone());
                self.join(generator, handle);
            }
            ("unit", [_, _, unit]) => drop(self.set_attribute(handle, "unit_", unit, place)),
            ("ranvar", [_, _, variable]) => drop(self.set_attribute(handle, "ranvar_", variable, place)),
            ("set-dist" | "num_nodes" | "instance" | "load_flatgrid", _)
                if ["God", "Topography"].contains(&class.as_str()) =>
            {
                self.watch(format!("{method} of {class}"), place);
            }
            // Where dropped packets go, that a sink waits, and who sends for an application: nothing more is to be done.
            ("drop-target", [_, _, _]) | ("listen", _) => {}
            ("agent", _) => return Ok(Some(other.peer.clone().unwrap_or_default())),
            (
                "start" | "stop" | "produce" | "producemore" | "send" | "advance" | "advanceby" | "sendmsg" | "close",
                _,
            ) => {
                return self.runs(handle, method, words);
            }
            ("value", _) if class.starts_with("RandomVariable/") => {
                self.notes.add(place, "random numbers are others than in ns-2, and the same in every run");
                let Some(Object::Other(variable)) = self.objects.get_mut(handle) else { return Ok(None) };
                return Ok(Some(variable.random()));
            }
            ("uniform" | "integer" | "exponential" | "normal" | "lognormal" | "pareto" | "paretoII", _)
                if class == "RNG" =>
            {
                self.notes.add(place, "random numbers are others than in ns-2, and the same in every run");
                let Some(Object::Other(generator)) = self.objects.get_mut(handle) else { return Ok(None) };
                return Ok(generator.generated(method, words));
            }
            _ if WATCHING.contains(&method) || (method == "attach" && is_agent) || class.starts_with("$ns ") => {
                self.watch(format!("{method} of {class}"), place);
                return Ok(Some("0".to_owned()));
            }
            _ => return Ok(None),
        }
        Ok(Some(String::new()))
    }

    /// Sets an attribute of an object. As in ns-2, an interval of a source is kept as a rate.
    fn set_attribute(&mut self, handle: &str, name: &str, value: &str, place: Place) -> String {
        let Some(Object::Other(other)) = self.objects.get_mut(handle) else { return value.to_owned() };
        let name = said(&other.class, name);
        let is_interval = name == "interval_" && other.class == "Application/Traffic/CBR";
        let gap = time(value).filter(|gap| is_interval && !gap.is_zero());
        let size = other.text("packetSize_").and_then(whole).unwrap_or(210);
        match gap.and_then(|gap| (u128::from(size) * 8_000_000_000).checked_div(u128::from(gap.as_nanos()))) {
            Some(rate) => other.put("rate_", &rate.to_string(), place),
            None => other.put(&name, value, place),
        }
        if bandwidth(value).is_none() && name == "rate_" && other.class.starts_with("Application/Traffic") {
            self.notes.add(place, format!("{value:?} is no bandwidth above zero"));
        }
        self.changed.insert(handle.to_owned());
        value.to_owned()
    }

    /// What begins, ends or asks for traffic.
    fn runs(&mut self, handle: &str, method: &str, words: &[String]) -> Answer {
        let generator = self.other(handle).and_then(|other| other.generator.clone());
        let handle = generator.as_deref().unwrap_or(handle);
        let Some(other) = self.other(handle).cloned() else { return Ok(None) };
        let transport = if other.is_agent() { Some(handle.to_owned()) } else { other.peer.clone() };
        let number = words.get(2).and_then(|number| number.parse::<f64>().ok());
        let is_tcp = transport.as_deref().and_then(|it| self.other(it)).is_some_and(Other::is_tcp);
        match (method, number) {
            ("start", _) => {
                // The older FTP sends so many packets, and no more.
                let most = other.attributes.get("maxpkts_").and_then(whole).filter(|_| other.class == "Source/FTP");
                match (most.filter(|most| *most < 268_435_456), transport) {
                    (Some(most), Some(transport)) => self.ask(handle, &transport, Amount::Packets(most)),
                    _ => self.start(handle),
                }
            }
            ("stop" | "close", _) => self.stop(handle),
            ("send" | "sendmsg", None) if other.class == "Agent/Ping" && words.len() == 2 => {
                let bytes = other.text("packetSize_").and_then(whole).unwrap_or(64);
                self.send_single(handle, bytes)?;
                self.notes.add(other.place, "the answers to pings are not sent");
            }
            ("send" | "sendmsg", Some(bytes)) if other.class.starts_with("Agent/UDP") => {
                let most = other.text("packetSize_").and_then(whole).unwrap_or(1_000);
                if bytes > most as f64 {
                    let said =
                        format!("`Agent/UDP` cuts what is sent into packets of {most} bytes: here it stays whole");
                    self.notes.add(other.place, said);
                }
                self.send_single(handle, bytes.clamp(0.0, 65_535.0) as u64)?;
            }
            ("send" | "sendmsg", Some(bytes)) if is_tcp && bytes < 0.0 => self.start(handle),
            ("send" | "sendmsg", Some(bytes)) if is_tcp => self.asks(handle, transport, Amount::Bytes(bytes as u64)),
            ("producemore" | "advanceby", Some(packets)) if is_tcp => {
                self.asks(handle, transport, Amount::Packets(packets.max(0.0) as u64));
            }
            ("produce" | "advance", Some(packets)) if is_tcp => {
                // Up to this packet, whatever was asked for before.
                let before = transport.as_deref().and_then(|it| self.other(it)).map_or(0, |agent| agent.packets);
                let more = (packets.max(0.0) as u64).saturating_sub(before);
                self.asks(handle, transport, Amount::Packets(more));
            }
            _ => return Ok(None),
        }
        Ok(Some(String::new()))
    }

    /// Asks a transport for a transfer, and counts its packets.
    fn asks(&mut self, handle: &str, transport: Option<String>, amount: Amount) {
        let Some(transport) = transport else { return };
        if let Some(Object::Other(agent)) = self.objects.get_mut(&transport) {
            let size = agent.text("packetSize_").and_then(whole).filter(|size| *size > 0).unwrap_or(1_000);
            agent.packets = agent.packets.saturating_add(match amount {
                Amount::Packets(packets) => packets,
                Amount::Bytes(bytes) => bytes.div_ceil(size),
            });
        }
        self.ask(handle, &transport, amount);
    }
}

/// The name of an attribute as ns-2.35 has it: sources of the older classes had names of their own.
fn said(class: &str, name: &str) -> String {
    match name {
        "packet-size" | "packet_size_" => "packetSize_".to_owned(),
        "burst-time" => "burst_time_".to_owned(),
        "idle-time" => "idle_time_".to_owned(),
        "rate" | "shape" if class.starts_with("Application/Traffic") => format!("{name}_"),
        _ => name.to_owned(),
    }
}

/// `set NAME VALUE` and `set NAME` of something whose attributes mean nothing to a lab.
pub(super) fn plain(attributes: &mut Attributes, words: &[String], place: Place) -> Option<String> {
    match words {
        [_, _, name, value] => {
            attributes.set(name, value, place);
            Some(value.clone())
        }
        [_, _, name] => Some(attributes.get(name).unwrap_or("0").to_owned()),
        _ => None,
    }
}
