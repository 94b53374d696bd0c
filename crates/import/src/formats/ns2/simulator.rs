//! What scripts ask of the simulator, `$ns`.

use super::methods::Answer;
use super::network::{MOST, Network, NodeOf};
use super::objects::{Attributes, Object, Other, after};
use super::units::{bandwidth, time};
use crate::source::Place;
use crate::tcl::list;
use netloom_units::Duration;

/// Methods that only draw, trace, measure or seed.
const WATCHING: [&str; 33] = [
    "color",
    "trace-all",
    "namtrace-all",
    "namtrace-all-wireless",
    "namtrace-some",
    "flush-trace",
    "simplex-link-op",
    "trace-queue",
    "namtrace-queue",
    "trace-annotate",
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
    "use-scheduler",
    "namtrace-config",
    "trace",
    "puts-nam-traceall",
    "puts-nam-config",
    "puts-ns-traceall",
    "add-agent-trace",
    "monitor-agent-trace",
    "delete-agent-trace",
    "drop-trace",
    "dumpq",
    "initial_node_pos",
    "snapshot",
];
/// Methods that make something that traces or measures, on which scripts call methods in turn.
const MEASURING: [&str; 8] = [
    "create-trace",
    "monitor-queue",
    "makeflowmon",
    "get-ns-traceall",
    "get-nam-traceall",
    "alloc-trace",
    "attach-fmon",
    "makeflowmon-tagged",
];

impl Network<'_, '_> {
    pub(super) fn simulator(&mut self, method: &str, words: &[String], place: Place) -> Answer {
        let known = match method {
            "node" => self.add_node(words, place)?,
            "node-config" => {
                self.configure(words, place);
                String::new()
            }
            "DelayBox" | "Tmix_DelayBox" => {
                self.notes.add(place, format!("`$ns {method}` is a node that delays nothing"));
                self.add_node(&words[..2], place)?
            }
            "delay_parse" | "bw_parse" => parsed(method, words.get(2).map_or("", String::as_str)),
            "duplex-intserv-link" => self.link(words, false, place)?,
            "duplex-link" | "simplex-link" => self.link(words, method == "simplex-link", place)?,
            "make-lan" | "newLan" | "multihome-lan" => self.lan(words, place)?,
            "queue-limit" => self.queue_limit(words, place)?,
            "bandwidth" | "delay" | "cost" | "lossmodel" | "link-lossmodel" => self.adjust(method, words, place)?,
            "at" | "after" => self.at(method, words, place)?,
            "cancel" => {
                let turn = words.get(2).and_then(|turn| turn.parse::<usize>().ok());
                self.scheduled.retain(|(_, one), _| Some(*one) != turn);
                String::new()
            }
            "duplex-link-op" => {
                self.orient(words, place);
                String::new()
            }
            "rtmodel-at" => self.outage(words, place)?,
            "rtproto" => {
                if words.get(2).is_some_and(|what| what != "Static") {
                    let said = "routes are the lab's shortest paths; a protocol for routes (`$ns rtproto`) is not run";
                    self.notes.add(place, said);
                }
                String::new()
            }
            "run" => String::new(),
            "halt" | "stop" => {
                self.is_halted = true;
                String::new()
            }
            "now" => format!("{:?}", self.now.unwrap_or(Duration::ZERO).as_secs_f64()),
            "attach-agent" | "attach" => self.attach_agent(words)?,
            "detach-agent" => self.detach_agent(words),
            "connect" => self.connect(words),
            "create-connection"
            | "create-highspeed-connection"
            | "create-connection-listen"
            | "create-connection-list"
            | "create-tcp-connection" => self.create_connection(method, words, place)?,
            "link" => {
                let (from, to) = (self.node(words.get(2))?, self.node(words.get(3))?);
                let (link, direction) = self.between(from, to).ok_or("there is no link between these nodes")?;
                self.handle(Object::Link(link, Some(direction)))?
            }
            "event-sequence" | "event-timeline" | "event-group" => {
                self.notes.add(place, format!("`$ns {method}`: sequences of events are not read"));
                self.make(method, place)?
            }
            _ if WATCHING.contains(&method) => {
                self.watch(format!("$ns {method}"), place);
                String::new()
            }
            _ if MEASURING.contains(&method) => {
                self.watch(format!("$ns {method}"), place);
                self.make(&format!("$ns {method}"), place)?
            }
            _ => return Ok(None),
        };
        Ok(Some(known))
    }

    fn add_node(&mut self, words: &[String], place: Place) -> Result<String, String> {
        if self.nodes.len() >= MOST {
            return Err(format!("more than {MOST} nodes: no lab is so large"));
        }
        if let Some(said) = words.get(2) {
            self.notes.add(place, format!("`$ns node {said}`: nodes get addresses of the lab"));
        }
        let attributes = Attributes::default();
        let (radio, trips, addresses) = (self.configured.radio(), Vec::new(), Vec::new());
        self.nodes.push(NodeOf { label: None, place, is_lan: false, addresses, attributes, radio, trips });
        self.handle(Object::Node(self.nodes.len() - 1))
    }

    /// `$ns at TIME SCRIPT`, `$ns after TIME SCRIPT`; the value is that of the event, for `cancel`.
    fn at(&mut self, method: &str, words: &[String], place: Place) -> Result<String, String> {
        let (Some(at), Some(script)) = (words.get(2).and_then(|at| time(at)), words.get(3)) else {
            return Err(format!("write `$ns {method} TIME \"COMMAND\"`"));
        };
        let now = self.now.unwrap_or(Duration::ZERO);
        let at = if method == "after" { after(now, at) } else { at };
        if at < now || self.scheduled.len() >= MOST {
            self.notes.add(place, "an event is not read: its instant is over, or there are too many");
            return Ok(String::new());
        }
        self.turns += 1;
        self.scheduled.insert((at, self.turns), (script.clone(), place));
        Ok(self.turns.to_string())
    }

    fn attach_agent(&mut self, words: &[String]) -> Result<String, String> {
        let node = self.node(words.get(2))?;
        if let Some(handle) = words.get(3)
            && let Some(Object::Other(agent)) = self.objects.get_mut(handle)
        {
            agent.node = Some(node);
            self.changed.insert(handle.clone());
        }
        Ok(String::new())
    }

    /// `$ns detach-agent NODE AGENT`
    fn detach_agent(&mut self, words: &[String]) -> String {
        if let Some(handle) = words.get(3)
            && let Some(Object::Other(agent)) = self.objects.get_mut(handle)
        {
            agent.node = None;
            self.changed.insert(handle.clone());
        }
        String::new()
    }

    /// `$ns connect AGENT AGENT`
    fn connect(&mut self, words: &[String]) -> String {
        for (one, other) in [(2, 3), (3, 2)] {
            if let (Some(one), Some(other)) = (words.get(one), words.get(other)) {
                self.join(one, other);
            }
        }
        words.get(2).cloned().unwrap_or_default()
    }

    /// Makes an object the peer of another one, which from then on changes with it.
    pub(super) fn join(&mut self, user: &str, peer: &str) {
        if let Some(Object::Other(other)) = self.objects.get_mut(user) {
            other.peer = Some(peer.to_owned());
            self.changed.insert(user.to_owned());
        }
        let users = self.users.entry(peer.to_owned()).or_default();
        if users.len() < MOST && users.last().is_none_or(|last| last != user) {
            users.push(user.to_owned());
        }
    }

    /// `$ns create-connection TYPE NODE TYPE NODE FLOW`: two agents at their nodes, connected.
    fn create_connection(&mut self, method: &str, words: &[String], place: Place) -> Result<String, String> {
        let [_, _, source, from, sink, to, flow, ..] = words else {
            return Err(format!("write `$ns {method} TCP $from TCPSink $to 0`"));
        };
        let (from, to) = (self.node(Some(from))?, self.node(Some(to))?);
        let mut made = Vec::new();
        for (class, node) in [(source, from), (sink, to)] {
            let handle = self.make(&format!("Agent/{class}"), place)?;
            if let Some(Object::Other(agent)) = self.objects.get_mut(&handle) {
                agent.node = Some(node);
                // The number of the flow only tells flows apart.
                agent.put("fid_", flow, place);
                agent.attributes.get("fid_");
            }
            made.push(handle);
        }
        if method != "create-tcp-connection" {
            self.join(&made[0], &made[1]);
            self.join(&made[1], &made[0]);
        }
        let is_list = method.ends_with("-list") || method == "create-tcp-connection";
        Ok(if is_list { list(made.iter().map(String::as_str)) } else { made.swap_remove(0) })
    }

    /// An object of a class.
    pub(super) fn make(&mut self, class: &str, place: Place) -> Result<String, String> {
        let attributes = self.inherited(class);
        // What it has from its class takes room, too.
        self.made += attributes.count();
        self.handle(Object::Other(Box::new(Other::of(class.to_owned(), attributes, place))))
    }
}

/// A delay in seconds, or a bandwidth in bits per second; nothing of what is neither.
fn parsed(method: &str, text: &str) -> String {
    match method {
        "delay_parse" => time(text).map_or(String::new(), |span| format!("{:?}", span.as_secs_f64())),
        _ => bandwidth(text).map_or(String::new(), |rate| rate.as_bits_per_second().to_string()),
    }
}
