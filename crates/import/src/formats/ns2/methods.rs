//! What scripts ask of the simulator and of its objects.

use super::network::{CommandOf, MOST, Network, NodeOf, bandwidth, time};
use super::objects::{Object, Other};
use crate::source::Place;
use crate::tcl::{Host, split_list};
use crate::value::{Map, Origin, Value, entry};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// ns-2's and Emulab's length of a queue.
const QUEUE: &str = "50 packets";
/// Other scripts that a script reads.
const MOST_SCRIPTS: usize = 100;
/// Methods that only draw, trace or seed.
const SILENT: [&str; 29] = [
    "color",
    "trace-all",
    "namtrace-all",
    "namtrace-all-wireless",
    "flush-trace",
    "simplex-link-op",
    "trace-queue",
    "namtrace-queue",
    "monitor-queue",
    "create-trace",
    "trace-annotate",
    "rtproto",
    "run",
    "halt",
    "shape",
    "label",
    "label-color",
    "mark",
    "delete-mark",
    "use-newtrace",
    "set-animation-rate",
    "nodetrace-all",
    "eventtrace-all",
    "gen-map",
    "now",
    "use-scheduler",
    "namtrace-config",
    "trace",
    "multicast",
];

impl Host for Network<'_, '_> {
    fn call(&mut self, words: &[String], place: Place) -> Option<Result<String, String>> {
        let name = words[0].as_str();
        let is_class = name == "Class" || words.get(1).is_some_and(|word| word == "instproc");
        if is_class {
            self.class = self.class.or(Some(place));
        }
        match self.objects.get(name).cloned() {
            Some(object) => Some(self.method(name, &object, words, place)),
            None if name == "new" => Some(self.make(words, place)),
            None if name.starts_with("tb-") => Some(self.testbed(words, place)),
            None if name == "delete" => Some(Ok(String::new())),
            None if name == "defaultRNG" => Some(Ok("0".to_owned())),
            // Defaults of a class.
            None if is_class
                || name.contains('/')
                || ["Simulator", "Queue", "Agent", "Class", "ErrorModel"].contains(&name) =>
            {
                self.notes.add(place, format!("`{name} ...`: classes and their defaults are not read"));
                Some(Ok(String::new()))
            }
            None => None,
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
            _ => {}
        }
    }

    fn script(&mut self, name: &str, place: Place) -> Option<(usize, String)> {
        if !self.scripts.contains_key(name) && self.scripts.len() < MOST_SCRIPTS {
            let file = self.input.as_mut().and_then(|input| input.open(name));
            self.scripts.insert(name.to_owned(), file);
        }
        let Some(file) = self.scripts.get(name).copied().flatten() else {
            // What Emulab's has is known here.
            if name != "tb_compat.tcl" {
                self.not_read.get_or_insert_with(|| (name.chars().take(60).collect(), place));
            }
            return None;
        };
        Some((file, self.input.as_ref()?.source(file).to_owned()))
    }

    fn note(&mut self, place: Place, message: String) {
        self.notes.add(place, message);
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

    fn make(&mut self, words: &[String], place: Place) -> Result<String, String> {
        let class = words.get(1).cloned().unwrap_or_default();
        if class == "Simulator" {
            return self.handle(Object::Simulator);
        }
        let other = Other {
            class,
            drawn: 0,
            variables: BTreeMap::new(),
            node: None,
            peer: None,
            start: None,
            stop: None,
            place,
        };
        self.handle(Object::Other(Box::new(other)))
    }

    pub(super) fn node(&self, handle: Option<&String>) -> Result<usize, String> {
        match handle.and_then(|handle| self.objects.get(handle)) {
            Some(Object::Node(node) | Object::Lan(node)) => Ok(*node),
            _ => Err(format!("{:?} is no node", handle.map_or("", String::as_str))),
        }
    }

    fn method(&mut self, handle: &str, object: &Object, words: &[String], place: Place) -> Result<String, String> {
        let method = words.get(1).map_or("", String::as_str);
        match object {
            Object::Simulator => self.simulator(method, words, place),
            Object::Node(node) => self.of_node(*node, method, words, place),
            Object::Link(link, direction) => self.of_link(*link, *direction, method, words, place),
            Object::Queue(link, direction) => {
                if let [_, _, variable, limit] = words
                    && method == "set"
                    && variable == "limit_"
                {
                    self.limit(*link, *direction, limit, place);
                }
                Ok(words.get(3).cloned().unwrap_or_default())
            }
            Object::Program(command) => {
                let command = &mut self.commands[*command];
                match method {
                    "start" | "run" => command.start = Some(self.now.unwrap_or(Duration::ZERO)),
                    "stop" | "kill" => command.stop = self.now,
                    _ => {}
                }
                Ok(String::new())
            }
            Object::Lan(_) => Ok(String::new()),
            Object::Other(_) => self.of_other(handle, method, words),
        }
    }

    fn simulator(&mut self, method: &str, words: &[String], place: Place) -> Result<String, String> {
        match method {
            "node" => {
                if self.nodes.len() >= MOST {
                    return Err(format!("more than {MOST} nodes: no lab is so large"));
                }
                self.nodes.push(NodeOf { label: None, place, is_lan: false, addresses: Vec::new() });
                self.handle(Object::Node(self.nodes.len() - 1))
            }
            "DelayBox" | "Tmix_DelayBox" => {
                self.notes.add(place, format!("`$ns {method}` is a node that delays nothing"));
                self.simulator("node", words, place)
            }
            "delay_parse" | "bw_parse" => Ok(parsed(method, words.get(2).map_or("", String::as_str))),
            "duplex-intserv-link" => self.link(words, false, place),
            "duplex-link" | "simplex-link" => self.link(words, method == "simplex-link", place),
            "make-lan" | "newLan" | "multihome-lan" => self.lan(words, place),
            "queue-limit" => {
                let (from, to) = (self.node(words.get(2))?, self.node(words.get(3))?);
                if let Some((link, direction)) = self.between(from, to) {
                    self.limit(link, Some(direction), words.get(4).map_or("", String::as_str), place);
                }
                Ok(String::new())
            }
            "bandwidth" | "delay" | "cost" | "lossmodel" | "link-lossmodel" => self.adjust(method, words, place),
            "at" => {
                let (Some(at), Some(script)) = (words.get(2).and_then(|at| time(at)), words.get(3)) else {
                    return Err("write `$ns at TIME \"COMMAND\"`".to_owned());
                };
                if self.now.is_none_or(|now| at >= now) && self.scheduled.len() < MOST {
                    self.turns += 1;
                    self.scheduled.insert((at, self.turns), (script.clone(), place));
                }
                Ok(String::new())
            }
            "duplex-link-op" => {
                self.orient(words);
                Ok(String::new())
            }
            "rtmodel-at" => self.outage(words, place),
            "now" => Ok(format!("{:?}", self.now.unwrap_or(Duration::ZERO).as_secs_f64())),
            "attach-agent" | "attach" => {
                let node = self.node(words.get(2))?;
                if let Some(Object::Other(agent)) = words.get(3).and_then(|agent| self.objects.get_mut(agent)) {
                    agent.node = Some(node);
                }
                Ok(String::new())
            }
            "connect" => Ok(self.connect(words)),
            "link" => {
                let (from, to) = (self.node(words.get(2))?, self.node(words.get(3))?);
                let (link, direction) = self.between(from, to).ok_or("there is no link between these nodes")?;
                self.handle(Object::Link(link, Some(direction)))
            }
            "event-sequence" | "event-timeline" | "event-group" => {
                self.notes.add(place, format!("`$ns {method}`: sequences of events are not read"));
                self.make(&["new".to_owned(), method.to_owned()], place)
            }
            _ if SILENT.contains(&method) => Ok(String::new()),
            _ => {
                self.notes.add(place, format!("`$ns {method}` has no counterpart in a lab"));
                Ok(String::new())
            }
        }
    }

    /// `$ns connect AGENT AGENT`
    fn connect(&mut self, words: &[String]) -> String {
        for (one, other) in [(2, 3), (3, 2)] {
            let peer = words.get(other).cloned();
            if let Some(Object::Other(agent)) = words.get(one).and_then(|agent| self.objects.get_mut(agent)) {
                agent.peer = peer;
            }
        }
        words.get(2).cloned().unwrap_or_default()
    }

    /// `$ns duplex-link A B BANDWIDTH DELAY QUEUE`
    fn link(&mut self, words: &[String], is_simplex: bool, place: Place) -> Result<String, String> {
        let (from, to) = (self.node(words.get(2))?, self.node(words.get(3))?);
        let settings = self.settings(words, place)?;
        if from == to {
            return Err("a link joins two different nodes".to_owned());
        }
        let back = self.between(to, from).map(|(link, _)| link);
        let is_back = |link: &usize| self.links[*link].is_simplex && self.links[*link].ends == [to, from];
        if is_simplex && let Some(back) = back.filter(is_back) {
            self.links[back].settings[1] = settings;
            self.links[back].is_simplex = false;
            return self.handle(Object::Link(back, Some(1)));
        }
        let link = self.add_link([from, to], settings, place)?;
        if is_simplex {
            self.links[link].settings[1] = Map::new();
            self.links[link].is_simplex = true;
        }
        self.handle(Object::Link(link, is_simplex.then_some(0)))
    }

    /// Rate, delay and queue, the fifth to seventh word.
    fn settings(&mut self, words: &[String], place: Place) -> Result<Map, String> {
        let text = |at: usize| words.get(at).map_or("", String::as_str);
        let wrong = |what: &str, example: &str| format!("{what}: write for example {example}");
        let rate = bandwidth(text(4)).ok_or_else(|| wrong(&format!("{:?} is no bandwidth", text(4)), "10Mb"))?;
        let delay = time(text(5)).ok_or_else(|| wrong(&format!("{:?} is no delay", text(5)), "10ms"))?;
        let told = || Origin::at(place);
        let mut settings = vec![entry("rate", Value::from(rate).because(told()))];
        if !delay.is_zero() {
            settings.push(entry("delay", Value::from(delay).because(told())));
        }
        let queue = match split_list(text(6)).first().map_or("DropTail", String::as_str) {
            "DRR" => Value::plain("{kind: drr}"),
            "RED" => Value::plain(
                "{kind: red, limit: 50 packets, min: 5 packets, max: 15 packets, probability: 10 %, weight: 0.2 %}",
            ),
            "DropTail" => Value::plain(QUEUE),
            other => {
                self.notes.add(place, format!("the queue `{other}` is drop-tail here"));
                Value::plain(QUEUE)
            }
        };
        settings.push(entry("queue", queue.because(told())));
        Ok(settings)
    }

    /// `$ns make-lan "A B C" BANDWIDTH DELAY`: a switch, with half of the delay on each side.
    fn lan(&mut self, words: &[String], place: Place) -> Result<String, String> {
        let members = split_list(words.get(2).map_or("", String::as_str));
        let text = |at: usize| words.get(at).map_or("", String::as_str);
        let (Some(rate), Some(delay)) = (bandwidth(text(3)), time(text(4))) else {
            return Err("write `make-lan \"$a $b\" 100Mb 0ms`".to_owned());
        };
        self.nodes.push(NodeOf { label: None, place, is_lan: true, addresses: Vec::new() });
        let lan = self.nodes.len() - 1;
        let told = || Origin::at(place);
        let mut settings = vec![entry("rate", Value::from(rate).because(told()))];
        if !delay.is_zero() {
            let half = Duration::from_nanos(delay.as_nanos() / 2);
            settings.push(entry("delay", Value::from(half).because(Origin::said(place, "half of the LAN's"))));
        }
        settings.push(entry("queue", Value::plain(QUEUE).because(told())));
        for member in members {
            let node = self.node(Some(&member))?;
            self.add_link([node, lan], settings.clone(), place)?;
        }
        self.handle(Object::Lan(lan))
    }

    fn limit(&mut self, link: usize, direction: Option<usize>, limit: &str, place: Place) {
        match limit.parse::<u32>().ok().filter(|limit| *limit > 0) {
            Some(1) => self.set(link, direction, "queue", Value::plain("1 packet"), place),
            Some(limit) => self.set(link, direction, "queue", Value::plain(format!("{limit} packets")), place),
            None => self.notes.add(place, format!("{limit:?} is no length of a queue in packets")),
        }
    }

    /// `$ns bandwidth A B RATE duplex`, `$ns delay A B TIME`, `$ns cost A B COST`, `$ns lossmodel MODEL A B`.
    fn adjust(&mut self, method: &str, words: &[String], place: Place) -> Result<String, String> {
        let at = if method.ends_with("lossmodel") { 3 } else { 2 };
        let (from, to) = (self.node(words.get(at))?, self.node(words.get(at + 1))?);
        let Some((link, direction)) = self.between(from, to) else {
            return Err("there is no link between these nodes".into());
        };
        let value = words.get(4).map_or("", String::as_str);
        let part = (words.last().map(String::as_str) != Some("duplex")).then_some(direction);
        match method {
            "bandwidth" => match bandwidth(value) {
                Some(rate) => self.set(link, part, "rate", rate.into(), place),
                None => return Err(format!("{value:?} is no bandwidth")),
            },
            "delay" => match time(value) {
                Some(delay) => self.set(link, part, "delay", delay.into(), place),
                None => return Err(format!("{value:?} is no delay")),
            },
            "cost" => match value.parse::<u16>() {
                Ok(cost) if cost > 0 => self.links[link].cost = Some(Value::plain(cost).because(Origin::at(place))),
                _ => self.notes.add(place, format!("the cost {value:?} is not from 1 to 65535: it stays 1")),
            },
            _ => self.loss(words.get(2), link, direction, place),
        }
        Ok(String::new())
    }

    fn loss(&mut self, model: Option<&String>, link: usize, direction: usize, place: Place) {
        let found = match model.and_then(|model| self.objects.get(model)) {
            Some(Object::Other(other)) if other.class == "ErrorModel" => {
                let unit = other.variables.get("unit_").map_or("pkt", String::as_str);
                let rate = other.variables.get("rate_").map_or("0", String::as_str).to_owned();
                ["pkt", "packet"].contains(&unit).then_some(rate)
            }
            _ => None,
        };
        let share = found.and_then(|rate| crate::quantity::probability(&rate, 0));
        match share {
            Some(share) => self.set(link, Some(direction), "loss", share.value.into(), place),
            None => self.notes.add(place, "only error models of the unit pkt with a rate_ are read"),
        }
    }

    /// `$ns rtmodel-at TIME down|up A B`; without B all links of A.
    fn outage(&mut self, words: &[String], place: Place) -> Result<String, String> {
        let Some(at) = words.get(2).and_then(|at| time(at)) else {
            return Err("write `$ns rtmodel-at 1.0 down $a $b`".into());
        };
        let what = match words.get(3).map(String::as_str) {
            Some(what @ ("down" | "up")) => what.to_owned(),
            other => return Err(format!("{other:?} is neither up nor down")),
        };
        let node = self.node(words.get(4))?;
        let links: Vec<usize> = match words.get(5) {
            Some(_) => {
                let other = self.node(words.get(5))?;
                vec![self.between(node, other).ok_or("there is no link between these nodes")?.0]
            }
            None => self.at_node.get(&node).cloned().unwrap_or_default(),
        };
        for link in links {
            self.add_event(link, vec![entry("at", at), entry(&what, Value::plain("true"))], place);
        }
        Ok(String::new())
    }

    fn of_node(&mut self, node: usize, method: &str, words: &[String], place: Place) -> Result<String, String> {
        match method {
            "program-agent" => {
                let run = words.windows(2).find(|pair| pair[0] == "-command").map(|pair| pair[1].clone());
                let Some(run) = run.filter(|run| !run.trim().is_empty()) else {
                    return self.make(&["new".to_owned(), "program-agent".to_owned()], place);
                };
                self.commands.push(CommandOf { node, run, start: None, stop: None, place });
                self.handle(Object::Program(self.commands.len() - 1))
            }
            "id" | "node-addr" => Ok(node.to_string()),
            "color" | "shape" | "label" | "add-mark" | "delete-mark" | "set" | "attach" | "random-motion" => {
                Ok(words.get(3).cloned().unwrap_or_default())
            }
            _ => {
                self.notes.add(place, format!("`{method}` of nodes has no counterpart in a lab"));
                Ok(String::new())
            }
        }
    }

    fn of_link(
        &mut self,
        link: usize,
        direction: Option<usize>,
        method: &str,
        words: &[String],
        place: Place,
    ) -> Result<String, String> {
        match method {
            "queue" => self.handle(Object::Queue(link, direction)),
            "cost" => Ok(String::new()),
            "up" | "down" => {
                let at = self.now.unwrap_or(Duration::ZERO);
                self.add_event(link, vec![entry("at", at), entry(method, Value::plain("true"))], place);
                Ok(String::new())
            }
            "modify" => {
                self.modify(link, direction, &words[2..], place);
                Ok(String::new())
            }
            _ => {
                self.notes.add(place, format!("`{method}` of links has no counterpart in a lab"));
                Ok(String::new())
            }
        }
    }

    fn of_other(&mut self, handle: &str, method: &str, words: &[String]) -> Result<String, String> {
        let now = self.now;
        let Some(Object::Other(other)) = self.objects.get_mut(handle) else { return Ok(String::new()) };
        match (method, words) {
            ("set", [_, _, name, value]) => {
                other.put(name, value);
                return Ok(value.clone());
            }
            ("set", [_, _, name]) => return Ok(other.variables.get(name).cloned().unwrap_or_else(|| "0".to_owned())),
            ("attach-agent" | "attach", [_, _, agent]) => other.peer = Some(agent.clone()),
            ("attach-app" | "attach-source", [_, _, kind, ..]) => other.class = format!("Application/{kind}"),
            ("unit", [_, _, unit]) => other.put("unit_", unit),
            ("start" | "produce", _) => other.start = other.start.or(Some(now.unwrap_or(Duration::ZERO))),
            ("stop", _) => other.stop = now,
            ("value", _) if other.class.starts_with("RandomVariable/") => return Ok(other.random()),
            // What is asked for a number, a random variable above all, gets one.
            _ => return Ok("0".to_owned()),
        }
        Ok(String::new())
    }
}

/// A delay in seconds, or a bandwidth in bits per second; nothing of what is neither.
fn parsed(method: &str, text: &str) -> String {
    match method {
        "delay_parse" => time(text).map_or(String::new(), |span| format!("{:?}", span.as_secs_f64())),
        _ => bandwidth(text).map_or(String::new(), |rate| rate.as_bits_per_second().to_string()),
    }
}

/// Settings that Emulab's events change.
impl Network<'_, '_> {
    /// `modify BANDWIDTH=500 DELAY=10ms PLR=0.1`: kilobits per second, milliseconds, a share.
    fn modify(&mut self, link: usize, direction: Option<usize>, words: &[String], place: Place) {
        for word in words.iter().flat_map(|word| word.split_whitespace()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let plain = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let found = match name.to_uppercase().as_str() {
                "BANDWIDTH" if plain => crate::quantity::rate(value, 3).map(|rate| ("rate", rate.value.into())),
                "BANDWIDTH" => bandwidth(value).map(|rate| ("rate", rate.into())),
                "DELAY" if plain => crate::quantity::duration(value, -3).map(|delay| ("delay", delay.value.into())),
                "DELAY" => time(value).map(|delay| ("delay", delay.into())),
                "PLR" | "LOSS" => crate::quantity::probability(value, 0).map(|share| ("loss", share.value.into())),
                _ => None,
            };
            match found {
                Some((key, changed)) => self.set(link, direction, key, changed, place),
                None => self.notes.add(place, format!("`{word}` is no change of a link that is known here")),
            }
        }
    }
}
