//! Links and LANs of scripts, and what changes them.

use super::disciplines::{self, QueueOf};
use super::methods::{Answer, plain};
use super::network::{MOST, Network, NodeOf};
use super::objects::{Attributes, Object};
use super::units::{bandwidth, time, whole};
use crate::quantity;
use crate::source::Place;
use crate::tcl::split_list;
use crate::value::{Map, Origin, Value, entry, put};
use netloom_units::Duration;

/// What stands for a queue until it is known.
const QUEUE: &str = "50 packets";

impl Network<'_, '_> {
    /// `$ns duplex-link A B BANDWIDTH DELAY QUEUE`
    pub(super) fn link(&mut self, words: &[String], is_simplex: bool, place: Place) -> Result<String, String> {
        let (from, to) = (self.node(words.get(2))?, self.node(words.get(3))?);
        let (settings, queue) = self.settings(words, place)?;
        if from == to {
            return Err("a link joins two different nodes".to_owned());
        }
        let back = self.between(to, from).map(|(link, _)| link);
        let is_back = |link: &usize| self.links[*link].is_simplex && self.links[*link].ends == [to, from];
        if is_simplex && let Some(back) = back.filter(is_back) {
            let link = &mut self.links[back];
            link.settings[1] = settings;
            link.queues[1] = Some(queue);
            link.is_simplex = false;
            self.changed_queues.insert((back, 1));
            return self.handle(Object::Link(back, Some(1)));
        }
        if back.is_some() && !self.is_emulab {
            self.notes.add(place, "a further link between two nodes: ns-2 sends everything over the last one");
        }
        let link = self.add_link([from, to], (settings, queue), place)?;
        if is_simplex {
            let added = &mut self.links[link];
            added.settings[1] = Map::new();
            added.queues[1] = None;
            added.is_simplex = true;
        }
        self.handle(Object::Link(link, is_simplex.then_some(0)))
    }

    /// Rate, delay and queue, the fifth to seventh word.
    fn settings(&mut self, words: &[String], place: Place) -> Result<(Map, QueueOf), String> {
        let text = |number: usize| words.get(number).map_or("", String::as_str);
        let wrong = |what: &str, example: &str| format!("{what}: write for example {example}");
        let rate = bandwidth(text(4)).ok_or_else(|| wrong(&format!("{:?} is no bandwidth", text(4)), "10Mb"))?;
        let delay = time(text(5)).ok_or_else(|| wrong(&format!("{:?} is no delay", text(5)), "10ms"))?;
        let told = || Origin::at(place);
        let mut settings = vec![entry("rate", Value::from(rate).because(told()))];
        if !delay.is_zero() {
            settings.push(entry("delay", Value::from(delay).because(told())));
        }
        settings.push(entry("queue", Value::plain(QUEUE).because(told())));
        let said = split_list(text(6));
        let queue = self.queue(said.first().map_or("DropTail", String::as_str), place);
        for more in said.iter().skip(1).chain(words.iter().skip(7)) {
            self.notes.add(place, format!("`{more}` behind the queue of a link is not read"));
        }
        Ok((settings, queue))
    }

    /// `$ns make-lan "A B C" BANDWIDTH DELAY`: a switch, with half of the delay on each side.
    pub(super) fn lan(&mut self, words: &[String], place: Place) -> Result<String, String> {
        let members = split_list(words.get(2).map_or("", String::as_str));
        let text = |at: usize| words.get(at).map_or("", String::as_str);
        let (Some(rate), Some(delay)) = (bandwidth(text(3)), time(text(4))) else {
            return Err("write `make-lan \"$a $b\" 100Mb 0ms`".to_owned());
        };
        for more in words.iter().skip(5).filter(|word| !word.is_empty()) {
            self.notes.add(place, format!("`{more}` of a LAN is not read: a LAN is a switch"));
        }
        let attributes = Attributes::default();
        self.nodes.push(NodeOf {
            label: None,
            place,
            is_lan: true,
            addresses: Vec::new(),
            attributes,
            radio: None,
            trips: Vec::new(),
        });
        let lan = self.nodes.len() - 1;
        let told = || Origin::at(place);
        let mut settings = vec![entry("rate", Value::from(rate).because(told()))];
        if !delay.is_zero() {
            let half = Duration::from_nanos(delay.as_nanos() / 2);
            settings.push(entry("delay", Value::from(half).because(Origin::said(place, "half of the LAN's"))));
        }
        settings.push(entry("queue", Value::plain(QUEUE).because(told())));
        let queue = self.queue("DropTail", place);
        for member in members {
            let node = self.node(Some(&member))?;
            self.add_link([node, lan], (settings.clone(), queue.clone()), place)?;
        }
        self.handle(Object::Lan(lan))
    }

    /// `$ns queue-limit A B LIMIT`: of the direction from A to B.
    pub(super) fn queue_limit(&mut self, words: &[String], place: Place) -> Result<String, String> {
        let (from, to) = (self.node(words.get(2))?, self.node(words.get(3))?);
        let (link, direction) = self.between(from, to).ok_or("there is no link between these nodes")?;
        let limit = words.get(4).map_or("", String::as_str);
        self.set_queue(link, Some(direction), ("limit_", limit), place);
        Ok(String::new())
    }

    /// `$ns bandwidth A B RATE duplex`, `$ns delay A B TIME`, `$ns cost A B COST`, `$ns lossmodel MODEL A B`.
    pub(super) fn adjust(&mut self, method: &str, words: &[String], place: Place) -> Result<String, String> {
        let at = if method.ends_with("lossmodel") { 3 } else { 2 };
        let (from, to) = (self.node(words.get(at))?, self.node(words.get(at + 1))?);
        let Some((link, direction)) = self.between(from, to) else {
            return Err("there is no link between these nodes".into());
        };
        let value = words.get(4).map_or("", String::as_str);
        let part = (words.get(5).map(String::as_str) != Some("duplex")).then_some(direction);
        if let Some(odd) = words.get(5).filter(|word| ["bandwidth", "delay"].contains(&method) && *word != "duplex") {
            self.notes.add(place, format!("`{odd}` behind `$ns {method}` is not read"));
        }
        match method {
            "bandwidth" => match bandwidth(value) {
                Some(rate) => self.set(link, part, "rate", rate.into(), place),
                None => return Err(format!("{value:?} is no bandwidth")),
            },
            "delay" => match time(value) {
                Some(delay) => self.set(link, part, "delay", delay.into(), place),
                None => return Err(format!("{value:?} is no delay")),
            },
            "cost" => self.set_cost(link, Some(direction), value, place),
            _ => self.lossmodel(words.get(2), link, direction, place),
        }
        Ok(String::new())
    }

    fn set_cost(&mut self, link: usize, direction: Option<usize>, cost: &str, place: Place) {
        let found = whole(cost).and_then(|cost| u16::try_from(cost).ok()).filter(|cost| *cost > 0);
        match found {
            _ if self.now.is_some_and(|now| !now.is_zero()) => {
                self.notes.add(place, "a cost that comes later is not read: the routes of a lab stay");
            }
            Some(number) => {
                for which in (0..2).filter(|which| direction.is_none_or(|one| one == *which)) {
                    self.links[link].costs[which] = Some((number, place));
                }
            }
            None => self.notes.add(place, format!("the cost {cost:?} is not from 1 to 65535: it stays 1")),
        }
    }

    /// Puts an error model on a direction of a link.
    fn lossmodel(&mut self, model: Option<&String>, link: usize, direction: usize, place: Place) {
        let Some((handle, Some(Object::Other(other)))) = model.map(|it| (it, self.objects.get_mut(it))) else {
            self.notes.add(place, "only error models are read");
            return;
        };
        other.place = place;
        let spoils = self.spoils.entry(handle.clone()).or_default();
        if spoils.len() < MOST {
            spoils.push((link, direction));
        }
        self.changed.insert(handle.clone());
    }

    /// Takes over what an error model does by now.
    pub(super) fn spoil(&mut self, handle: &str) {
        let (Some(spoils), Some(Object::Other(other))) = (self.spoils.get(handle), self.objects.get(handle)) else {
            return;
        };
        let (spoils, other, place) = (spoils.clone(), other.clone(), other.place);
        let unit = other.attributes.get("unit_").unwrap_or("pkt");
        let ranvar = other.attributes.get("ranvar_").and_then(|it| self.other(it));
        let is_even = ranvar.is_none_or(|it| {
            let [least, most] = [("min_", 0.0), ("max_", 1.0)].map(|(name, usual)| it.attributes.number(name, usual));
            it.class == "RandomVariable/Uniform" && least == Some(0.0) && most == Some(1.0)
        });
        let is_known = ["ErrorModel", "ErrorModel/Uniform"].contains(&other.class.as_str()) && is_even;
        let rate =
            if other.attributes.flag("enable_", true) { other.attributes.get("rate_").unwrap_or("0") } else { "0" };
        let share = quantity::probability(rate, 0).filter(|_| is_known && ["pkt", "packet"].contains(&unit));
        let Some(share) = share else {
            self.notes.add(place, "only error models of the unit pkt with a rate_ and uniform probabilities are read");
            return;
        };
        self.flows.work += spoils.len();
        for (link, direction) in spoils {
            self.set(link, Some(direction), "loss", share.value.into(), place);
        }
    }

    /// `$ns rtmodel-at TIME down|up A B`; without B all links of A.
    pub(super) fn outage(&mut self, words: &[String], place: Place) -> Result<String, String> {
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

    pub(super) fn of_link(&mut self, at: (usize, Option<usize>), words: &[String], place: Place) -> Answer {
        let (link, direction) = at;
        let text = |number: usize| words.get(number).map_or("", String::as_str);
        match text(1) {
            "queue" => return self.handle(Object::Queue(link, direction)).map(Some),
            "link" => return self.handle(Object::Delay(link, direction)).map(Some),
            "cost" => self.set_cost(link, direction, text(2), place),
            "cost?" => {
                return Ok(Some(self.links[link].costs[direction.unwrap_or(0)].map_or(1, |one| one.0).to_string()));
            }
            "up" | "down" => {
                let now = self.now.unwrap_or(Duration::ZERO);
                self.add_event(link, vec![entry("at", now), entry(text(1), Value::plain("true"))], place);
            }
            "modify" => self.modify(link, direction, &words[2..], place),
            "errormodule" | "install-error" | "insert-linkloss" if words.len() > 2 => {
                for which in (0..2).filter(|which| direction.is_none_or(|one| one == *which)) {
                    self.lossmodel(words.get(2), link, which, place);
                }
            }
            "trace" | "nam-trace" | "trace-callback" | "init-monitor" | "attach-monitors" | "set-monitor"
            | "snapshot" => {
                self.watch(format!("$link {}", text(1)), place);
            }
            "set" => return Ok(plain(&mut self.links[link].attributes, words, place)),
            _ => return Ok(None),
        }
        Ok(Some(String::new()))
    }

    /// What is set on the part of a link that delays packets: its bandwidth and its delay.
    pub(super) fn of_delay(&mut self, at: (usize, Option<usize>), words: &[String], place: Place) -> Answer {
        let (link, direction) = at;
        let value = match words {
            [_, set, name, value] if set == "set" => match name.as_str() {
                "bandwidth_" => bandwidth(value).map(|rate| ("rate", Value::from(rate))),
                "delay_" => time(value).map(|delay| ("delay", Value::from(delay))),
                _ => return Ok(plain(&mut self.links[link].attributes, words, place)),
            },
            [_, set, name] if set == "set" => return Ok(Some(self.asked(link, direction.unwrap_or(0), name))),
            _ => return Ok(None),
        };
        let (key, value) = value.ok_or_else(|| format!("{:?} is no `{}`", words[3], words[2]))?;
        self.set(link, direction, key, value, place);
        Ok(Some(words[3].clone()))
    }

    /// The bandwidth of a direction in bits per second, or its delay in seconds.
    fn asked(&self, link: usize, direction: usize, name: &str) -> String {
        let said = |key: &str| disciplines::said(&self.links[link].settings[direction], key);
        let rate = || said("rate")?.parse::<netloom_units::Rate>().ok();
        let delay = || said("delay")?.parse::<Duration>().ok();
        match name {
            "bandwidth_" => rate().map_or(0, netloom_units::Rate::as_bits_per_second).to_string(),
            "delay_" => format!("{:?}", delay().unwrap_or(Duration::ZERO).as_secs_f64()),
            _ => "0".to_owned(),
        }
    }

    /// `modify BANDWIDTH=500 DELAY=10ms PLR=0.1`, as Emulab has it: kilobits per second, milliseconds, a share.
    fn modify(&mut self, link: usize, direction: Option<usize>, words: &[String], place: Place) {
        for word in words.iter().flat_map(|word| word.split_whitespace()) {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let plain = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let found = match name.to_uppercase().as_str() {
                "BANDWIDTH" if plain => quantity::rate(value, 3).map(|rate| ("rate", rate.value.into())),
                "BANDWIDTH" => bandwidth(value).map(|rate| ("rate", rate.into())),
                "DELAY" if plain => quantity::duration(value, -3).map(|delay| ("delay", delay.value.into())),
                "DELAY" => time(value).map(|delay| ("delay", delay.into())),
                "PLR" | "LOSS" => quantity::probability(value, 0).map(|share| ("loss", share.value.into())),
                "LIMIT" => {
                    self.set_queue(link, direction, ("limit_", value), place);
                    continue;
                }
                _ => None,
            };
            match found {
                Some((key, changed)) => self.set(link, direction, key, changed, place),
                None => self.notes.add(place, format!("`{word}` is no change of a link that is known here")),
            }
        }
    }
}

/// Puts a value and its place into a map.
pub(super) fn told(map: &mut Map, key: &str, value: Value, place: Place) {
    put(map, key, value.because(Origin::at(place)));
}
