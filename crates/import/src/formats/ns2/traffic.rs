//! What agents and applications send, as entries of `traffic`.

use super::network::Network;
use super::objects::{Object, Other, after, since};
use super::sources::{Amount, Made, Single};
use super::units::{bandwidth, time, whole};
use crate::topology::Topology;
use crate::value::{Map, Origin, Value, entry};
use netloom_units::{Bytes, Duration, Rate};
use std::collections::BTreeMap;

/// The shortest packet of a lab's traffic: an IP and a UDP header.
const SHORTEST: u64 = 28;
/// More packets than anybody counts: ns-2's value for no limit (`maxpkts_`).
const NO_LIMIT: u64 = 268_435_456;
/// How far apart packets of a source are that sends a single one.
const APART: Duration = Duration::from_millis(1);

type Known = Result<Made, String>;

impl Network<'_, '_> {
    pub(super) fn other(&self, handle: &str) -> Option<&Other> {
        if let Object::Other(other) = self.object(handle)? { Some(other) } else { None }
    }

    /// What comes from the applications that were started, in the order in which these were made.
    pub(super) fn traffic(&mut self, topology: &mut Topology) -> Vec<Value> {
        self.note_unknown();
        let mut flows = std::mem::take(&mut self.flows.all);
        // What ends when it begins never was.
        flows.retain(|flow| flow.stop.is_none_or(|stop| stop > flow.start));
        let mut sources: Vec<_> = flows
            .into_iter()
            .map(|flow| {
                let mut keys = flow.keys;
                keys.extend((!flow.start.is_zero()).then(|| entry("start", flow.start)));
                keys.extend(flow.stop.map(|stop| entry("stop", stop)));
                (flow.place, flow.start, flow.class, keys)
            })
            .collect();
        sources.extend(self.singles());
        sources.sort_by_key(|(place, start, ..)| (*place, *start));
        if !sources.is_empty() {
            topology.remarks.push(
                "What agents send is traffic of `netloom sim`; TCP is a sender with a fixed window there.".into(),
            );
        }
        let named = |(key, value): (String, Value)| {
            let node = |text: &str| Value::text(topology.nodes[text.parse::<usize>().unwrap_or(0)].name.clone());
            match &value.content {
                crate::value::Content::Plain(text) if key == "from" || key == "to" => (key, node(text)),
                _ => (key, value),
            }
        };
        sources
            .into_iter()
            .map(|(place, _, class, keys)| {
                Value::map(keys.into_iter().map(named).collect()).because(Origin::said(place, class))
            })
            .collect()
    }

    /// Packets that are sent one by one. Those that follow one another evenly are one source.
    fn singles(&mut self) -> Vec<(crate::source::Place, Duration, String, Map)> {
        let mut groups: BTreeMap<_, Vec<Duration>> = BTreeMap::new();
        for Single { place, class, ends, bytes, at } in std::mem::take(&mut self.flows.singles) {
            groups.entry((place, class, ends, bytes)).or_default().push(at);
        }
        let mut sources = Vec::new();
        for ((place, class, ends, bytes), times) in groups {
            let mut left = times.as_slice();
            while let Some(first) = left.first().copied() {
                let gap = left.get(1).map_or(APART, |second| since(*second, first));
                let bits = u128::from(bytes) * 8_000_000_000;
                let is_exact = !gap.is_zero() && bits.is_multiple_of(u128::from(gap.as_nanos()));
                let gap = if is_exact { gap } else { APART };
                let follows = |pair: &[Duration]| since(pair[1], pair[0]) == gap;
                let count = 1 + left.windows(2).take_while(|pair| is_exact && follows(pair)).count();
                let rate = u64::try_from(bits / u128::from(gap.as_nanos())).ok().and_then(Rate::from_bits_per_second);
                let (run, rest) = left.split_at(count);
                left = rest;
                let (Some(rate), Some(last)) = (rate, run.last()) else { continue };
                let mut keys = ends_of(ends);
                keys.extend([
                    entry("kind", Value::plain("constant")),
                    entry("rate", rate),
                    entry("size", Value::plain(Bytes::new(bytes))),
                ]);
                keys.extend((!first.is_zero()).then(|| entry("start", first)));
                keys.push(entry("stop", after(*last, Duration::from_nanos(gap.as_nanos() / 2))));
                sources.push((place, first, class.clone(), keys));
            }
        }
        sources
    }

    /// The nodes between which an agent sends.
    fn ends(&self, agent: &Other) -> Result<(usize, usize), String> {
        let sink =
            agent.peer.as_deref().and_then(|peer| self.other(peer)).ok_or("nothing is connected to its agent")?;
        let (Some(from), Some(to)) = (agent.node, sink.node) else {
            return Err("an agent of it is at no node".to_owned());
        };
        if from == to || self.nodes[from].is_lan || self.nodes[to].is_lan {
            return Err("it does not send from one node to another".to_owned());
        }
        Ok((from, to))
    }

    /// The agent that sends for an application: itself, if it is one.
    fn agent_of<'a>(&'a self, application: &'a Other) -> Result<&'a Other, String> {
        if application.is_agent() {
            return Ok(application);
        }
        let agent = application.peer.as_deref().and_then(|peer| self.other(peer));
        agent.ok_or_else(|| "it is attached to no agent".to_owned())
    }

    /// A packet of an agent on its own: a datagram, or a ping.
    pub(super) fn send_single(&mut self, handle: &str, bytes: u64) -> Result<(), String> {
        let Some(agent) = self.other(handle) else { return Ok(()) };
        let single = Single {
            place: agent.place,
            class: agent.class.clone(),
            ends: self.ends(agent)?,
            bytes: bytes.max(SHORTEST),
            at: self.now.unwrap_or(Duration::ZERO),
        };
        if self.flows.singles.len() < super::network::MOST {
            self.flows.singles.push(single);
        } else {
            self.notes.add(single.place, format!("only the first {} single packets are read", super::network::MOST));
        }
        Ok(())
    }

    /// What an application sends at this instant.
    pub(super) fn sends(&mut self, handle: &str) -> Known {
        let Some(application) = self.other(handle).cloned() else { return Err("it is no application".into()) };
        let agent = self.agent_of(&application)?.clone();
        let mut keys = ends_of(self.ends(&agent)?);
        let class = application.class.strip_prefix("Application/").unwrap_or(&application.class);
        match class {
            "Traffic/CBR" | "Agent/CBR" | "Agent/CBR/UDP" | "CBR" => self.constant(&application, &agent, keys),
            "Traffic/Exponential" | "Traffic/Pareto" => self.bursts(&application, &agent, class, keys),
            "FTP" | "Source/FTP" if agent.is_tcp() => {
                keys.extend(self.window(&agent)?);
                Ok(Made { keys, limit: None })
            }
            "Telnet" | "Source/Telnet" if agent.is_tcp() => self.telnet(&application, &agent, keys),
            _ if application.is_agent() => Err("only CBR is an agent that sends by itself here".to_owned()),
            _ => Err(format!("over `{}`", agent.class)),
        }
    }

    /// A transfer of a transport, which is at most what is still to be sent.
    pub(super) fn transfer(&self, transport: &str, amount: Amount) -> Result<Option<Made>, String> {
        let Some(agent) = self.other(transport).cloned() else { return Err("it is attached to no agent".into()) };
        if !agent.is_tcp() {
            return Err(format!("over `{}`", agent.class));
        }
        let mut keys = ends_of(self.ends(&agent)?);
        let (segment, _) = segment_and_window(&agent)?;
        let packets = match amount {
            Amount::Packets(packets) => packets,
            Amount::Bytes(bytes) => bytes.div_ceil(segment),
        };
        if packets == 0 {
            return Ok(None);
        }
        let bytes = packets.checked_mul(segment).ok_or("it would never end")?;
        keys.extend(self.window(&agent)?);
        keys.push(entry("amount", Value::plain(Bytes::new(bytes))));
        Ok(Some(Made { keys, limit: None }))
    }

    /// A sender with a window, in the place of TCP.
    fn window(&self, agent: &Other) -> Result<Map, String> {
        let (segment, window) = segment_and_window(agent)?;
        let mut keys = vec![
            entry("kind", Value::plain("window")),
            entry("window", Value::plain(Bytes::new(window))),
            entry("segment", Value::plain(Bytes::new(segment))),
        ];
        let sink = agent.peer.as_deref().and_then(|peer| self.other(peer));
        if sink.is_some_and(|sink| sink.class.contains("DelAck")) {
            keys.push(entry("acknowledge", Value::plain(2)));
        }
        Ok(keys)
    }

    fn constant(&mut self, application: &Other, agent: &Other, mut keys: Map) -> Known {
        let size = self.size(application, agent)?;
        let rate = if application.is_agent() {
            let gap = application.text("interval_").and_then(time).filter(|gap| !gap.is_zero());
            let gap = gap.ok_or("its interval_ is no time")?;
            let exact = u128::from(size.0) * 8_000_000_000 / u128::from(gap.as_nanos());
            u64::try_from(exact).ok().and_then(Rate::from_bits_per_second)
        } else {
            application.text("rate_").and_then(bandwidth)
        };
        let rate = rate.ok_or("its rate_ is no bandwidth above zero")?;
        keys.extend([
            entry("kind", Value::plain("constant")),
            entry("rate", rate),
            entry("size", Value::plain(Bytes::new(size.1))),
        ]);
        let most = application.attributes.get("maxpkts_").and_then(whole).filter(|most| *most < NO_LIMIT);
        let gap =
            Duration::from_nanos((u128::from(size.1) * 8_000_000_000 / u128::from(rate.as_bits_per_second())) as u64);
        Ok(Made { keys, limit: most.map(|most| (most, gap)) })
    }

    /// The size of packets, as it is said and as a lab has it.
    fn size(&mut self, application: &Other, agent: &Other) -> Result<(u64, u64), String> {
        let said = application.text("packetSize_").and_then(whole).filter(|size| *size > 0);
        let size = said.ok_or("its packetSize_ is no size")?;
        let most = agent.text("packetSize_").and_then(whole).filter(|_| agent.class.starts_with("Agent/UDP"));
        if let Some(most) = most.filter(|most| *most < size) {
            let note = format!("`Agent/UDP` cuts packets of {size} bytes (`packetSize_` {most}): here they stay whole");
            self.notes.add(application.place, note);
        }
        if size < SHORTEST {
            let note = format!("packets of {size} bytes have {SHORTEST} here: they have an IP and a UDP header");
            self.notes.add(application.place, note);
        }
        Ok((size, size.max(SHORTEST)))
    }

    /// Bursts and pauses. Without bursts, ns-2's exponential source is a Poisson process.
    fn bursts(&mut self, application: &Other, agent: &Other, class: &str, mut keys: Map) -> Known {
        let (_, size) = self.size(application, agent)?;
        let rate = application.text("rate_").and_then(bandwidth).ok_or("its rate_ is no bandwidth above zero")?;
        let span = |name: &str| application.text(name).and_then(time).ok_or(format!("its {name} is no time"));
        let (on, off) = (span("burst_time_")?, span("idle_time_")?);
        let bits = size as f64 * 8.0;
        if on.is_zero() {
            let gap = off.as_secs_f64() + bits / rate.as_bits_per_second() as f64;
            let mean = Rate::from_bits_per_second((bits / gap).round() as u64).ok_or("it sends next to nothing")?;
            keys.extend([entry("kind", Value::plain("poisson")), entry("rate", mean)]);
            keys.push(entry("size", Value::plain(Bytes::new(size))));
            return Ok(Made { keys, limit: None });
        }
        if off.is_zero() {
            keys.extend([entry("kind", Value::plain("constant")), entry("rate", rate)]);
            keys.push(entry("size", Value::plain(Bytes::new(size))));
            return Ok(Made { keys, limit: None });
        }
        keys.extend([
            entry("kind", Value::plain("on-off")),
            entry("rate", rate),
            entry("size", Value::plain(Bytes::new(size))),
            entry("on", on),
            entry("off", off),
        ]);
        if class.ends_with("Pareto") {
            let shape = application.text("shape_").filter(|shape| shape.parse::<f64>().is_ok_and(|shape| shape > 1.0));
            keys.push(entry("shape", Value::plain(shape.ok_or("its shape_ is no number above 1")?)));
        } else {
            let note = "bursts and pauses have Pareto lengths here, with the means of the exponential ones";
            self.notes.add(application.place, note);
        }
        Ok(Made { keys, limit: None })
    }

    /// Packets of TCP that come as a Poisson process.
    fn telnet(&mut self, application: &Other, agent: &Other, mut keys: Map) -> Known {
        let (segment, _) = segment_and_window(agent)?;
        let gap = application.text("interval_").and_then(time).filter(|gap| !gap.is_zero());
        let gap = gap.ok_or("its intervals are those of tcplib")?;
        let size = segment + 40;
        let rate = (size as f64 * 8.0 / gap.as_secs_f64()).round() as u64;
        let rate = Rate::from_bits_per_second(rate).ok_or("it sends next to nothing")?;
        self.notes.add(application.place, "Telnet is packets as a Poisson process here, without acknowledgements");
        keys.extend([entry("kind", Value::plain("poisson")), entry("rate", rate)]);
        keys.push(entry("size", Value::plain(Bytes::new(size))));
        Ok(Made { keys, limit: None })
    }
}

/// Where a source is and where it sends to: numbers of nodes, until they have names.
fn ends_of((from, to): (usize, usize)) -> Map {
    vec![entry("from", Value::plain(from)), entry("to", Value::plain(to))]
}

/// The payload of a packet of TCP, and that of a whole window.
fn segment_and_window(agent: &Other) -> Result<(u64, u64), String> {
    let name = if agent.class.contains("FullTcp") { "segsize_" } else { "packetSize_" };
    let segment = agent.text(name).and_then(whole).filter(|size| *size > 0).ok_or("its packets have no size")?;
    let most = agent.number("maxcwnd_").filter(|most| *most >= 1.0).unwrap_or(f64::MAX);
    let packets = agent.number("window_").map(|window| window.min(most)).filter(|window| *window >= 1.0);
    let packets = packets.ok_or("its window_ is no number of packets")?;
    let window = segment.checked_mul(packets as u64).ok_or("its window is too large")?;
    Ok((segment, window))
}
