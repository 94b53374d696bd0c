//! What agents and applications send.

use super::network::{Network, bandwidth, time};
use super::objects::{Object, Other};
use crate::topology::Topology;
use crate::value::{Origin, Value, entry};
use netloom_units::{Bytes, Duration, Rate};

impl Network<'_, '_> {
    /// What comes from the applications that were started.
    pub(super) fn traffic(&mut self, topology: &mut Topology) -> Vec<Value> {
        let applications: Vec<Other> = self.objects.values().filter_map(started).cloned().collect();
        let mut sources = Vec::new();
        for application in applications {
            match self.source(&application, topology) {
                Some(source) => sources.push((application.place, source)),
                None => {
                    let note = format!("what `{}` sends is not known here", application.class);
                    topology.notes.add(application.place, note);
                }
            }
        }
        sources.sort_by_key(|(place, _)| *place);
        if !sources.is_empty() {
            topology.remarks.push(
                "What agents send is traffic of `netloom sim`; TCP is a sender with a fixed window there.".into(),
            );
        }
        sources.into_iter().map(|(_, source)| source).collect()
    }

    fn other(&self, handle: &str) -> Option<&Other> {
        if let Object::Other(other) = self.objects.get(handle)? { Some(other) } else { None }
    }

    fn source(&self, application: &Other, topology: &Topology) -> Option<Value> {
        let agent = if application.class.starts_with("Agent/") {
            application
        } else {
            self.other(application.peer.as_deref()?)?
        };
        let sink = self.other(agent.peer.as_deref()?)?;
        let (from, to) = (agent.node?, sink.node?);
        if from == to || self.nodes[from].is_lan || self.nodes[to].is_lan {
            return None;
        }
        let name = |node: usize| Value::text(topology.nodes[node].name.clone());
        let mut keys = vec![entry("from", name(from)), entry("to", name(to))];
        let variable = |called: &str| application.variables.get(called);
        let size_of = |other: &Other, default: u64| {
            other.variables.get("packetSize_").and_then(|size| size.parse().ok()).unwrap_or(default)
        };
        let rate = || variable("rate_").and_then(|rate| bandwidth(rate));
        match application.class.as_str() {
            "Application/Traffic/CBR" | "Agent/CBR" => {
                // ns-2's defaults: 210 bytes every 3.75 ms.
                let size: u64 = size_of(application, 210);
                let interval = variable("interval_").and_then(|interval| time(interval));
                let of_interval = interval.and_then(|interval| {
                    Rate::from_bits_per_second(size.checked_mul(8_000_000_000)?.checked_div(interval.as_nanos())?)
                });
                let rate = rate().or(of_interval).or(Rate::from_bits_per_second(448_000))?;
                keys.extend([
                    entry("kind", Value::plain("constant")),
                    entry("rate", rate),
                    entry("size", Value::plain(Bytes::new(size))),
                ]);
            }
            class @ ("Application/Traffic/Exponential" | "Application/Traffic/Pareto") => {
                let size = size_of(application, 210);
                let rate = rate().or(Rate::from_bits_per_second(64_000))?;
                let span = |called: &str| {
                    variable(called)
                        .and_then(|span| time(span))
                        .filter(|span| !span.is_zero())
                        .unwrap_or(Duration::from_millis(500))
                };
                keys.extend([
                    entry("kind", Value::plain("on-off")),
                    entry("rate", rate),
                    entry("size", Value::plain(Bytes::new(size))),
                    entry("on", span("burst_time_")),
                    entry("off", span("idle_time_")),
                ]);
                if class.ends_with("Pareto") {
                    let shape = variable("shape_").filter(|shape| shape.parse::<f64>().is_ok()).cloned();
                    keys.push(entry("shape", Value::plain(shape.unwrap_or("1.5".into()))));
                }
            }
            "Application/FTP" | "Source/FTP" if agent.class.starts_with("Agent/TCP") => {
                let segment: u64 = size_of(agent, 1_000);
                let packets: u64 = agent.variables.get("window_").and_then(|window| window.parse().ok()).unwrap_or(20);
                let window = segment.checked_mul(packets).filter(|window| *window > 0)?;
                keys.extend([
                    entry("kind", Value::plain("window")),
                    entry("window", Value::plain(Bytes::new(window))),
                    entry("segment", Value::plain(Bytes::new(segment))),
                ]);
            }
            _ => return None,
        }
        keys.extend(application.start.filter(|at| !at.is_zero()).map(|at| entry("start", at)));
        keys.extend(
            application.stop.filter(|at| application.start.is_none_or(|start| start < *at)).map(|at| entry("stop", at)),
        );
        Some(Value::map(keys).because(Origin::said(application.place, application.class.clone())))
    }
}

fn started(object: &Object) -> Option<&Other> {
    match object {
        Object::Other(other) if other.start.is_some() => Some(other),
        _ => None,
    }
}
