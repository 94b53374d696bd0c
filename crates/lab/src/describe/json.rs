//! The plan as JSON. Every number carries its unit in its name; nodes and links are referred to by name.

use super::container::container;
use super::exercise::exercise;
use super::hardware::mac;
use super::image::image;
use super::switch::switch;
use super::vm::vm;
use crate::keyed::WrittenKeys;
use crate::models;
use crate::plan::{
    Action, Argv, Clock, Cpus, Direction, EndPlan, Event, FileContents, FilePlan, GroupPlan, InterfacePlan, LinkPlan,
    MeasurePlan, NodePlan, Plan, ReadyWhen, RoutePlan, RulePlan, RunCommand, Shards, TableRoutePlan, TrafficPlan,
    Whose,
};
use crate::traffic;
use crate::yaml::{yaml_value, yaml_value_with_list};
use netloom_link::{PipeChange, PipeConfig};
use netloom_units::{Bytes, Dilation, Duration, Rate};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};
use std::fmt::Display;

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
        let mut names: Vec<(&str, &str)> = node
            .names
            .iter()
            .map(|name| (&plan.nodes[name.node], name.interface))
            .map(|(named, interface)| (named.name.as_str(), named.interfaces[interface].name.as_str()))
            .collect();
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
            "expect": self.expect.iter().map(|one| json!({ "line": one.line, "text": one.text })).collect::<Vec<_>>(),
            "expect_over_runs": self.over_runs.iter().map(|one| json!({ "line": one.line, "text": one.text })).collect::<Vec<_>>(),
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

    /// A node's part in a tree of multicast.
    fn group(&self, node: &NodePlan, group: &GroupPlan) -> Value {
        let name = |place: &usize| node.interfaces[*place].name.as_str();
        json!({
            "group": group.group,
            "source": self.nodes[group.source].name,
            "from": group.from.as_ref().map(name),
            "to": group.to.iter().map(name).collect::<Vec<_>>(),
        })
    }

    /// All but the routes and names.
    fn node_head(&self, node: &NodePlan) -> Value {
        json!({
            "name": node.name,
            "kind": node.kind.name(),
            "stack": node.stack.name(),
            "vm": node.vm.as_ref().map(vm),
            "memory_bytes": node.memory.map(Bytes::get),
            "cpus_thousandths": node.cpus.map(Cpus::thousandths),
            "cpu": node.cpu.map(|cpu| json!({
                "packet_ns": cpu.packet.as_nanos(),
                "byte_ps": cpu.byte.as_picos(),
                "syscall_ns": cpu.syscall.map(Duration::as_nanos),
                "switch_ns": cpu.switch.map(Duration::as_nanos),
                "branch_ps": cpu.computing.map(|cost| cost.branch.as_picos()),
                "count": cpu.computing.map(|cost| cost.count.name()),
            })),
            "pin": node.pin.as_ref().map(|pin| &pin.processors),
            "capabilities": node.capabilities,
            "sysctls": settings(&node.sysctls),
            "env": settings(&node.env),
            "inherit": node.inherit,
            "root": if node.overlay { "overlay" } else { "machine" },
            "image": node.image.as_ref().map(image),
            "container": node.container.as_ref().map(container),
            "files": node.files.iter().map(file).collect::<Vec<_>>(),
            "collect": node.collect,
            "measure": measured(&node.measure),
            "expose": node.expose.iter().map(|exposed| json!({ "port": exposed.port, "udp": exposed.udp, "to": exposed.to })).collect::<Vec<_>>(),
            "rules": node.rules.iter().map(|rule| rule_json(node, rule)).collect::<Vec<_>>(),
            "tables": node.tables.iter().map(|route| table_route(node, route)).collect::<Vec<_>>(),
            "groups": node.groups.iter().map(|group| self.group(node, group)).collect::<Vec<_>>(),
            "daemons": node.daemons.iter().map(|daemon| daemon.name()).collect::<Vec<_>>(),
            "external": node.external.as_ref().map(|external| json!({
                "interface": external.interface,
                "mode": external.mode.name(),
                "vlan": external.vlan,
                "only": external.only.map(mac),
            })),
            "tunnel": node.tunnel.as_ref().map(|tunnel| json!({
                "remote": tunnel.remote,
                "port": tunnel.port,
                "vni": tunnel.vni,
                "wait_ns": tunnel.wait.as_nanos(),
            })),
            "switch": node.switch.as_ref().map(|own| switch(node, own, self.is_bridge(node))),
            "interfaces": node.interfaces.iter().map(|interface| self.interface(interface)).collect::<Vec<_>>(),
            "routes": Value::Null,
            "names": Value::Null,
        })
    }

    fn interface(&self, interface: &InterfacePlan) -> Value {
        json!({
            "name": interface.name,
            "link": self.links[interface.end.link()].name,
            "end": interface.end.place(),
            "mac": mac(interface.mac),
            "mtu_bytes": interface.mtu,
            "addresses": interface.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "leased": interface.leased.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "neighbors": interface.neighbors.iter().map(|(address, at)| json!({
                "address": address.to_string(),
                "mac": mac(*at),
            })).collect::<Vec<_>>(),
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
            Action::Log(text) => json!({ "log": text }),
            Action::Disturb { how, whose, duration } => json!({ how.name(): {
                "command": matches!(whose, Whose::Command(_)).then(|| self.whose_name(*whose)),
                "node": matches!(whose, Whose::Node(_)).then(|| self.whose_name(*whose)),
                "duration_ns": duration.map(Duration::as_nanos),
            } }),
        };
        value["line"] = json!(event.line);
        value["at_ns"] = json!(event.at.map(Duration::as_nanos));
        value
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
        })
    }
}

/// A policy route. What it does not say is null: any.
fn rule_json(node: &NodePlan, rule: &RulePlan) -> Value {
    json!({
        "ipv6": rule.is_v6,
        "from": rule.from.map(|net| net.to_string()),
        "to": rule.to.map(|net| net.to_string()),
        "iif": rule.iif.map(|place| &node.interfaces[place].name),
        "mark": rule.mark,
        "table": rule.table,
    })
}

fn table_route(node: &NodePlan, route: &TableRoutePlan) -> Value {
    json!({
        "table": route.table,
        "destination": route.destination.to_string(),
        "interface": node.interfaces[route.interface].name,
        "via": route.via.map(|via| via.to_string()),
    })
}

fn shards(shards: Shards) -> Value {
    match shards {
        Shards::Auto => json!("auto"),
        Shards::Count(count) => json!(count),
    }
}

/// How many seconds of wall time a second of the lab lasts, if it does not depend on what happens.
fn file(file: &FilePlan) -> Value {
    let contents = match &file.contents {
        FileContents::Empty => json!("empty"),
        FileContents::Text(text) => json!({ "text": text }),
        FileContents::Copy(path) => json!({ "from": path }),
    };
    json!({
        "line": file.line,
        "path": file.target,
        "contents": contents,
        "keep": file.keep,
        "mode": file.mode.map(|mode| format!("{mode:04o}")),
        "owner": file.owner,
    })
}

fn dilation(clock: Clock) -> Value {
    clock.dilation().map(Dilation::as_f64).into()
}

fn settings(settings: &[(String, String)]) -> Value {
    settings.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into()
}

fn argv(command: &Argv) -> Value {
    match command {
        Argv::Shell(text) => json!(text),
        Argv::Exec(words) => json!(words),
    }
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
    let mut all = written(models::written_change(change));
    if let Some(partition_set) = &change.partition_set {
        all.insert("parted".into(), partition_set.to_string().into());
    }
    all.into()
}

/// Every key of a pipe that says something, as the lab file would have it. `classes` of a queue are a list in their order,
/// each with its `name`: the first that matches takes a packet, and a map of JSON has no order.
pub fn settings_of(config: &PipeConfig) -> Map<String, Value> {
    written(models::written(config))
}

fn keys(all: Vec<(&'static str, String)>) -> Value {
    written(all).into()
}

fn measured(measure: &MeasurePlan) -> Value {
    json!({ "tcp_ns": measure.tcp.map(Duration::as_nanos), "node_ns": measure.node.map(Duration::as_nanos), "tls_keys": measure.tls_keys, "qlog": measure.qlog })
}

fn written(all: Vec<(&'static str, String)>) -> Map<String, Value> {
    all.into_iter().map(|(key, value)| (key.to_owned(), yaml_value_with_list(&value, "classes"))).collect()
}
