//! The plan as JSON. Every number carries its unit in its name; nodes and links are referred to by name.

use super::air;
use super::node::{argv, settings};
use crate::keyed::WrittenKeys;
use crate::models::filter::write_protocol;
use crate::plan::{
    Action, BY_HAND, CapturePlan, Ceiling, Clock, ClockChange, Direction, Disturbance, EndPlan, Event, ExercisePlan,
    JournalPlan, LeapSecond, LinkPlan, NamePlan, NodePlan, Plan, ReadyWhen, RoutePlan, RunCommand, Shards, TaskPlan,
    TrafficPlan, Whose,
};
use crate::yaml::{yaml_value, yaml_value_with_list};
use crate::{models, traffic};
use netloom_link::{Firing, NodePartition, PartitionKind, PipeChange, PipeConfig};
use netloom_units::{Bytes, Dilation, Drift, Duration, Rate, SignedDuration};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};

/// The JSON description of a plan, which is serialized one node at a time: see [`Plan::description`].
#[derive(Clone, Debug)]
pub struct Description<'a> {
    plan: &'a Plan,
    more: Map<String, Value>,
}

impl Description<'_> {
    /// Adds a further fact about the lab to the description: the member `key` with `value`.
    #[must_use]
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.more.insert(key.to_owned(), value);
        self
    }
}

impl Serialize for Description<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let lab = self.plan.describe_lab();
        let mut all: Map<String, Value> = lab.as_object().cloned().unwrap_or_default();
        all.extend(self.more.clone());
        let mut map = serializer.serialize_map(Some(all.len()))?;
        for (key, value) in &all {
            match key.as_str() {
                "nodes" => map.serialize_entry(key, &Nodes(self.plan))?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

/// The nodes of a plan, of which one at a time is described.
struct Nodes<'a>(&'a Plan);

impl Serialize for Nodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.nodes.iter().map(|node| Node(self.0, node)))
    }
}

/// A node, of which what there is much of in large labs is written without ever being a value.
struct Node<'a>(&'a Plan, &'a NodePlan);

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(plan, node) = self;
        let all = plan.node_head(node);
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in all.as_object().into_iter().flatten() {
            match key.as_str() {
                "routes" => map.serialize_entry(key, &Routes(node))?,
                "names" => map.serialize_entry(key, &Names(plan, node))?,
                _ => map.serialize_entry(key, value)?,
            }
        }
        map.end()
    }
}

struct Routes<'a>(&'a NodePlan);

impl Serialize for Routes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.routes.iter().map(|route| Route(self.0, route)))
    }
}

struct Route<'a>(&'a NodePlan, &'a RoutePlan);

impl Serialize for Route<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(node, route) = self;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("destination", &Shown(&route.destination))?;
        map.serialize_entry("interface", &node.interfaces[route.interface].name)?;
        map.serialize_entry("via", &Shown(&route.via))?;
        map.end()
    }
}

struct Names<'a>(&'a Plan, &'a NodePlan);

impl Serialize for Names<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(plan, node) = self;
        let meant = |name: &NamePlan| plan.meant(*name).map(|(meant, interface, _)| (meant, interface));
        let mut names: Vec<(&str, &str)> = node.names.iter().filter_map(meant).collect();
        names.sort_unstable();
        serializer.collect_map(names)
    }
}

/// As it is displayed.
struct Shown<'a, T>(&'a T);

impl<T: Display> Serialize for Shown<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self.0)
    }
}

impl Plan {
    /// Returns the plan as JSON, for tools: what `netloom check --json` prints and what is kept with the results. For a large
    /// lab, [`Plan::description`] takes less memory.
    pub fn describe(&self) -> Value {
        serde_json::to_value(self.description()).expect("a description has string keys only")
    }

    /// Returns the JSON of [`Plan::describe`] in a form that is serialized without ever being in memory as a whole.
    pub fn description(&self) -> Description<'_> {
        Description { plan: self, more: Map::new() }
    }

    /// All but the nodes.
    fn describe_lab(&self) -> Value {
        json!({
            "name": self.name,
            "seed": self.seed.get(),
            "clock": self.clock.name(),
            "dilation": dilation(self.clock),
            "on_spin": self.on_spin.name(),
            "start": self.start.map(|day| day.to_string()),
            "precision": self.precision.name(),
            "shards": shards(self.shards),
            "duration_ns": self.duration.map(Duration::as_nanos),
            "nodes": Value::Null,
            "links": self.links.iter().map(|link| self.link(link)).collect::<Vec<_>>(),
            "unreached": {
                "pairs": self.unreached.pairs,
                "first": self.unreached.first.iter().map(|(one, other)| {
                    json!([self.nodes[*one].name, self.nodes[*other].name])
                }).collect::<Vec<_>>(),
            },
            "timeline": self.timeline.iter().map(|event| self.event(event)).collect::<Vec<_>>(),
            "traffic": self.traffic.iter().map(|source| self.source(source)).collect::<Vec<_>>(),
            "sampling_ns": self.sampling.map(|sampling| sampling.step.as_nanos()),
            "capture": self.capture.iter().map(|capture| self.capture(capture)).collect::<Vec<_>>(),
            "journal": self.journal.as_ref().map(|journal| self.journal(journal)),
            "expect": written_lines(self.expect.iter().map(|one| (one.line, &one.text))),
            "expect_over_runs": written_lines(self.over_runs.iter().map(|one| (one.line, &one.text))),
            "figures": self.figures.iter().map(|figure| json!({
                "name": figure.name,
                "line": figure.line,
                "text": figure.text,
            })).collect::<Vec<_>>(),
            "exercise": self.exercise.as_ref().map(exercise),
            "bounds": {
                "lateness_ns": self.bounds.lateness.as_nanos(),
                "rate_share": self.bounds.rate.as_f64(),
                "delay_share": self.bounds.delay.as_f64(),
                "starvation_share": self.bounds.starvation.as_f64(),
                "standstill_ns": self.bounds.standstill.as_nanos(),
                "events_ns": self.bounds.events.as_nanos(),
                "starts_ns": self.bounds.starts.as_nanos(),
                "changes": self.bounds.changes,
            },
        })
    }

    fn source(&self, source: &TrafficPlan) -> Value {
        json!({
            "line": source.line,
            "name": source.name,
            "from": self.nodes[source.from].name,
            "to": self.nodes[source.to].name,
            "sends": yaml_value(&traffic::write(&source.sends)),
        })
    }

    fn link(&self, link: &LinkPlan) -> Value {
        let end = |end: &EndPlan| {
            let node = &self.nodes[end.node];
            json!({ "node": node.name, "interface": node.interfaces[end.interface].name })
        };
        let mut value = json!({
            "name": link.name,
            "ends": link.ends.iter().map(end).collect::<Vec<_>>(),
            "mtu_bytes": link.mtu,
            "coalesce_ns": link.coalesce.as_nanos(),
            "joined_in_kernel": link.bypass.is_joined(),
            "not_joined_because": link.bypass.hindrance(),
        });
        if let Some(air) = &link.pipes[0].air {
            value["medium"] = air::json(air);
        }
        for own in link.directions() {
            value[own.name()] = direction(link, *own);
        }
        value
    }

    fn event(&self, event: &Event) -> Value {
        let mut value = match &event.action {
            Action::Run(command) => json!({ "run": self.command(command) }),
            Action::Set { link, direction, pipe, change: changed } => json!({ "set": {
                "link": self.links[*link].name,
                "direction": direction.map(|direction| direction.to_string()),
                "pipe": pipe,
                "change": change(changed),
            }}),
            Action::Down { part, duration, carrier } => json!({ "down": {
                "link": self.links[part.link].name,
                "direction": part.direction.map(|direction| direction.to_string()),
                "pipe": part.pipe,
                "duration_ns": duration.map(Duration::as_nanos),
                "carrier": carrier,
            }}),
            Action::Up { part } => json!({ "up": {
                "link": self.links[part.link].name,
                "direction": part.direction.map(|direction| direction.to_string()),
                "pipe": part.pipe,
            } }),
            Action::Partition { in_force, links, .. } => json!({ "partition": {
                "in_force": in_force.partitions().iter().map(|one| self.partition(one)).collect::<Vec<_>>(),
                "judged_at": links.iter().map(|link| &self.links[*link].name).collect::<Vec<_>>(),
            }}),
            Action::Log(text) => json!({ "log": text }),
            Action::Disturb { how, whose, process, duration } => {
                json!({ how.name(): self.disturbance(*how, *whose, process.as_deref(), *duration) })
            }
        };
        value["line"] = json!(event.line);
        value["at_ns"] = json!(event.at.map(Duration::as_nanos));
        value
    }

    /// Describes a disturbance of programs or of a node.
    fn disturbance(&self, how: Disturbance, whose: Whose, process: Option<&str>, duration: Option<Duration>) -> Value {
        let mut value = json!({
            "command": matches!(whose, Whose::Command(_)).then(|| self.whose_name(whose)),
            "node": matches!(whose, Whose::Node(_)).then(|| self.whose_name(whose)),
        });
        if let Disturbance::Signal(signal) = how {
            value["signal"] = json!(signal.name());
        } else if let Disturbance::Clock(ClockChange { step, drift, leap }) = how {
            value["step_ns"] = json!(step.map(SignedDuration::as_nanos));
            value["drift_ppt"] = json!(drift.map(Drift::as_ppt));
            value["leap"] = json!(leap.map(LeapSecond::name));
        } else if let Disturbance::Limit(change) = how {
            value["memory_bytes"] = change.memory.map_or(Value::Null, |memory| ceiling(memory, Bytes::get));
            value["pids"] = change.pids.map_or(Value::Null, |pids| ceiling(pids, |count| count));
            value["fds"] = change.fds.map_or(Value::Null, |fds| ceiling(fds, |count| count));
        } else if how.is_of_kernel() {
            value["what"] = json!(how.to_string());
            value["duration_ns"] = json!(duration.map(Duration::as_nanos));
        } else {
            value["duration_ns"] = json!(duration.map(Duration::as_nanos));
        }
        if let Disturbance::Disk(fault) = how {
            value["fault"] = json!(fault.to_string());
            value["path"] = json!(process);
            return value;
        }
        if let Disturbance::Freeze(kind) = how {
            value["kind"] = json!(kind.name());
        }
        if let Some(keep) = how.keep() {
            value["keep"] = json!(keep.name());
        }
        if let Some(process) = process {
            value["process"] = json!(process);
        }
        value
    }

    /// A partition by its classes of nodes, each with the places of the classes that do not get what its nodes send.
    fn partition(&self, partition: &NodePartition) -> Value {
        let mut classes: Vec<(Vec<&str>, Vec<u32>)> = (0..partition.count())
            .map(|from| (Vec::new(), (0..partition.count()).filter(|to| partition.parts_classes(from, *to)).collect()))
            .collect();
        partition.classes().for_each(|(node, class)| classes[class as usize].0.push(self.name_of(node as usize)));
        let classes: Vec<Value> =
            classes.into_iter().map(|(nodes, kept_from)| json!({ "nodes": nodes, "kept_from": kept_from })).collect();
        let (kind, delay) = match partition.kind() {
            PartitionKind::Drop => ("drop", None),
            PartitionKind::Jam => ("jam", None),
            PartitionKind::Slow(delay) => ("slow", Some(delay.as_nanos())),
        };
        json!({ "name": partition.to_string(), "kind": kind, "delay_ns": delay, "classes": classes })
    }

    fn command(&self, run: &RunCommand) -> Value {
        json!({
            "name": run.name,
            "on": self.nodes[run.node].name,
            "command": argv(&run.command),
            "setup": run.setup,
            "after": run.after.iter().filter_map(|other| self.command_name(*other)).collect::<Vec<_>>(),
            "delay_ns": run.delay.as_nanos(),
            "service": run.service,
            "once": run.once,
            "on_restart": run.on_restart.name(),
            "stop_ns": run.stop.as_nanos(),
            "ready": run.ready.as_ref().map(|ready| match &ready.when {
                ReadyWhen::Tcp(port) => json!({ "tcp": port, "timeout_ns": ready.timeout.as_nanos() }),
                ReadyWhen::Udp(port) => json!({ "udp": port, "timeout_ns": ready.timeout.as_nanos() }),
                ReadyWhen::File(path) => json!({ "file": path, "timeout_ns": ready.timeout.as_nanos() }),
                ReadyWhen::Command(command) => json!({ "command": argv(command), "timeout_ns": ready.timeout.as_nanos() }),
                ReadyWhen::Pause(span) => json!({ "pause_ns": span.as_nanos() }),
                ReadyWhen::Lease(path) => json!({ "lease": path, "timeout_ns": ready.timeout.as_nanos() }),
                ReadyWhen::Routes(prefixes) => json!({
                    "routes": prefixes.iter().map(ToString::to_string).collect::<Vec<_>>(),
                    "timeout_ns": ready.timeout.as_nanos(),
                }),
            }),
            "save": run.save,
            "for_ns": run.stop_after.map(Duration::as_nanos),
            "env": settings(&run.env),
            "may_fail": run.may_fail,
            "user": run.user,
            "folder": run.folder,
            "parts_leader_of": run.leads.as_ref().map(|leads| {
                leads.of.iter().map(|node| &self.nodes[*node].name).collect::<Vec<_>>()
            }),
        })
    }
}

/// A limit as a number, or `unlimited`.
fn ceiling<T>(ceiling: Ceiling<T>, number: impl Fn(T) -> u64) -> Value {
    match ceiling {
        Ceiling::At(most) => json!(number(most)),
        Ceiling::Unlimited => json!("unlimited"),
    }
}

/// Texts of the lab file with their lines.
fn written_lines<'a>(all: impl Iterator<Item = (usize, &'a String)>) -> Value {
    all.map(|(line, text)| json!({ "line": line, "text": text })).collect()
}

fn shards(shards: Shards) -> Value {
    match shards {
        Shards::Auto => json!("auto"),
        Shards::Count(count) => json!(count),
    }
}

/// How many seconds of wall time a second of the lab lasts, if it does not depend on what happens.
fn dilation(clock: Clock) -> Value {
    clock.dilation().map(Dilation::as_f64).into()
}

/// A direction's own pipe, and the further ones in the order in which their filters are asked.
fn direction(link: &LinkPlan, direction: Direction) -> Value {
    let further = link.treatments[direction.index()].iter().map(|treatment| {
        let mut value = pipe(&treatment.config);
        value["name"] = json!(treatment.name);
        value["match"] = yaml_value(&treatment.filter.write_map());
        value
    });
    let mut value = pipe(&link.pipes[direction.index()]);
    value["pipes"] = further.collect();
    value
}

/// The figures that tools want as numbers, then every key that says something, as the lab file would have it.
fn pipe(config: &PipeConfig) -> Value {
    json!({
        "rate_bits_per_second": config.rate.nominal().map(Rate::as_bits_per_second),
        "delay_ns": config.delay.mean().as_nanos(),
        "described": keys(models::written(config)),
    })
}

/// A change as the lab file would have it; `classes` as a list, as in [`settings_of`].
pub fn change(change: &PipeChange) -> Value {
    written(models::written_change(change)).into()
}

/// Every key of a pipe that says something, as the lab file would have it. `classes` of a queue are a list in their order,
/// each with its `name`: the first that matches takes a packet, and a map of JSON has no order.
pub fn settings_of(config: &PipeConfig) -> Map<String, Value> {
    written(models::written(config))
}

fn keys(all: Vec<(&'static str, String)>) -> Value {
    written(all).into()
}

fn written(all: Vec<(&'static str, String)>) -> Map<String, Value> {
    all.into_iter().map(|(key, value)| (key.to_owned(), yaml_value_with_list(&value, "classes"))).collect()
}

impl Plan {
    fn capture(&self, capture: &CapturePlan) -> Value {
        json!({
            "link": capture.link.map(|link| self.links[link].name.as_str()),
            "node": capture.node.map(|node| self.nodes[node].name.as_str()),
            "direction": capture.direction.map(|direction| direction.to_string()),
            "at": capture.at.map(|point| point.name(&capture.link.map(|link| self.ends_of(link)).unwrap_or_default())),
            "snaplen_bytes": capture.snaplen.map(Bytes::get),
            "match": capture.filter.as_ref().map(|filter| yaml_value(&filter.write_map())),
            "filter": capture.expression.as_ref().map(|expression| expression.text.as_str()),
            "ring_bytes": capture.ring.map(Bytes::get),
            "file": format!("captures/{}", capture.file),
        })
    }

    fn journal(&self, journal: &JournalPlan) -> Value {
        let link = |(link, direction): &(usize, Option<Direction>)| {
            json!({
                "link": self.links[*link].name,
                "direction": direction.map(|direction| direction.to_string()),
            })
        };
        let mut value = json!({
            "links": journal.links.as_ref().map(|links| links.iter().map(link).collect::<Vec<_>>()),
            "match": journal.filter.as_ref().map(|filter| yaml_value(&filter.write_map())),
            "limit_bytes": journal.limit.map(Bytes::get),
            "file": "journal.arrows",
        });
        if journal.attempts {
            value["attempts"] = true.into();
        }
        value
    }
}

fn exercise(exercise: &ExercisePlan) -> Value {
    json!({ "title": exercise.title, "text": exercise.text, "tasks": exercise.tasks.iter().map(task).collect::<Vec<_>>() })
}

fn task(task: &TaskPlan) -> Value {
    json!({
        "line": task.line,
        "title": task.title,
        "text": task.text,
        "check": written_lines(task.checks.iter().map(|one| (one.line, &one.text))),
        "last_ns": task.last.map(Duration::as_nanos),
        "hints": task.hints,
    })
}

/// A firing of a fault, with the names of the plan: for the log of events.
pub fn firing(plan: &Plan, firing: &Firing) -> Value {
    let Firing { pipe, fault, action, flow, bytes, sequence, .. } = firing;
    let place = plan.pipes().nth(*pipe as usize);
    let end = |address: IpAddr, port: u16| match port {
        0 => address.to_string(),
        port => SocketAddr::new(address, port).to_string(),
    };
    json!({
        "link": place.as_ref().map(|place| place.link_name),
        "direction": place.as_ref().map(|place| place.direction.to_string()),
        "pipe": place.as_ref().and_then(|place| place.treatment).map(|treatment| &treatment.name),
        "line": (*fault != BY_HAND).then_some(fault),
        "do": yaml_value(&action.to_string()),
        "source": flow.map(|flow| end(flow.source, flow.source_port)),
        "destination": flow.map(|flow| end(flow.destination, flow.destination_port)),
        "protocol": flow.map(|flow| write_protocol(flow.protocol)),
        "bytes": bytes,
        "sequence": sequence,
    })
}
