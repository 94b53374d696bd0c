//! What a cell does, as settings of a direction of a link.

use super::{share, time, trace};
use crate::files::Input;
use crate::notes::Notes;
use crate::quantity::{self, spelled_rate};
use crate::seen::Seen;
use crate::source::{Place, Read};
use crate::topology::Topology;
use crate::tree::Tree;
use crate::value::{Map, Origin, Value, entry};
use netloom_lab::yaml::Node;
use netloom_units::{Duration, Probability, Rate};

/// A queue without a limit: more than any run fills.
const ENDLESS: &str = "1000000 packets";

/// What the cells of a direction do.
#[derive(Debug, Default)]
pub(super) struct Direction {
    rate: Option<(Value, Place)>,
    queue: Option<(Value, Place)>,
    overhead: Option<(Value, Place)>,
    delay: Option<(Duration, Place)>,
    loss: Option<(Value, Place)>,
    /// What a replay changes, and how.
    schedule: Option<(&'static str, Value, Place)>,
}

impl Direction {
    /// Adds what a cell does.
    pub(super) fn add(&mut self, cell: &Node, seen: &Seen, topology: &mut Topology, input: &mut Input<'_>) -> Read<()> {
        let kind = seen.required(cell, "type", "a cell has a type: write for example `type = \"Delay\"`")?;
        let place = cell.place();
        let again = |is_there: bool, what: &str, notes: &mut Notes| {
            if is_there {
                seen.all_of(cell);
                notes.add(place, format!("a second {what} in one direction is not read"));
            }
            is_there
        };
        let notes = &mut topology.notes;
        match kind.text().unwrap_or_default() {
            "Bw" | "BwReplay" | "TokenBucket" if again(self.rate.is_some(), "rate", notes) => {}
            "Bw" => {
                let rate = seen.get(cell, "bandwidth").map(bandwidth).transpose()?;
                self.rate = rate.map(|(rate, at)| (rate.into(), at));
                self.queue(cell, seen, notes)?;
            }
            "BwReplay" => {
                let said =
                    seen.required(cell, "trace", "a replay has a trace: write for example `trace = \"lte.trace\"`")?;
                let file = said.text().unwrap_or_default();
                if [".json", ".toml"].iter().any(|ending| file.ends_with(ending)) {
                    notes.add(said.place(), "traces of bandwidth are read in mahimahi's format only: there is no rate");
                } else {
                    // rattan charges the bytes of packets, and an opportunity is one of 1500.
                    let keys = [("kind", "delivery-trace"), ("bytes", "1500 B"), ("header", "0 B")];
                    let mut trace: Map = keys.iter().map(|(key, value)| entry(key, Value::plain(value))).collect();
                    trace.push(entry("file", Value::text(file)));
                    self.rate = Some((Value::map(trace), said.place()));
                }
                self.queue(cell, seen, notes)?;
            }
            "TokenBucket" => self.token_bucket(cell, seen)?,
            "Delay" => {
                if let Some(said) = seen.get(cell, "delay") {
                    let before = self.delay.map_or(Duration::ZERO, |(delay, _)| delay);
                    self.delay = Some((before + time(said)?, said.place()));
                }
            }
            "Loss" if again(self.loss.is_some(), "loss", notes) => {}
            "Loss" => {
                self.loss(cell, seen, notes)?;
                if self.rate.is_some() && self.loss.is_some() {
                    notes.add(place, "losses are in front of the queue, not behind it");
                }
            }
            "DelayReplay" | "LossReplay" if again(self.schedule.is_some(), "replay", notes) => {}
            replay @ ("DelayReplay" | "LossReplay") => {
                let said =
                    seen.required(cell, "trace", "a replay has a trace: write for example `trace = \"delays.json\"`")?;
                let key = if replay == "DelayReplay" { "delay" } else { "loss" };
                self.schedule = trace::read(said, key, input, notes)?.map(|schedule| (key, schedule, said.place()));
            }
            "Shadow" => {}
            other => {
                seen.all_of(cell);
                notes.add(kind.place(), format!("what cells of type `{other}` do is not read"));
            }
        }
        Ok(())
    }

    fn queue(&mut self, cell: &Node, seen: &Seen, notes: &mut Notes) -> Read<()> {
        match seen.get(cell, "bw_type") {
            Some(said) if said.text() == Some("LinkLayer") => {
                self.overhead = Some((Value::plain("{bytes: 38 B}"), cell.place()));
            }
            Some(said) if said.text() != Some("NetworkLayer") => {
                notes.add(said.place(), format!("the `bw_type` {:?} is not read", said.text().unwrap_or_default()));
            }
            _ => {}
        }
        let said = seen.get(cell, "queue");
        let config = seen.get(cell, "queue_config");
        let number = |key: &str| -> Read<Option<u64>> {
            let Some(found) = config.and_then(|config| seen.get(config, key)) else { return Ok(None) };
            let text = found.text().unwrap_or_default();
            let wrong = || found.place().wrong(format!("`{key}` is no whole number above 0"));
            text.replace('_', "").parse().ok().filter(|number| *number > 0).ok_or_else(wrong).map(Some)
        };
        let limit = match (number("packet_limit")?, number("byte_limit")?) {
            (Some(packets), None) => format!("{packets} packets"),
            (None, Some(bytes)) => format!("{bytes} B"),
            (None, None) => ENDLESS.to_owned(),
            (Some(packets), Some(_)) => {
                notes.add(cell.place(), "of two limits of a queue, that in packets is taken");
                format!("{packets} packets")
            }
        };
        let queue = match said.and_then(Node::text).unwrap_or("Infinite") {
            "Infinite" => Value::plain(ENDLESS),
            "DropTail" => Value::plain(limit),
            "DropHead" => Value::plain(format!("{{kind: fifo, drop: head, limit: {limit}}}")),
            "CoDel" => {
                let mut keys = vec![entry("kind", Value::plain("codel")), entry("limit", Value::plain(limit))];
                for key in ["target", "interval"] {
                    let span = config.and_then(|config| seen.get(config, key)).map(time).transpose()?;
                    keys.extend(span.map(|span| entry(key, span)));
                }
                keys.extend(number("mtu")?.map(|mtu| entry("mtu", Value::plain(format!("{mtu} B")))));
                Value::map(keys)
            }
            other => {
                notes.add(cell.place(), format!("the queue `{other}` is drop-tail here"));
                Value::plain(limit)
            }
        };
        self.queue = Some((queue, said.map_or(cell.place(), Tree::place)));
        Ok(())
    }

    fn token_bucket(&mut self, cell: &Node, seen: &Seen) -> Read<()> {
        let Some(rate) = seen.get(cell, "rate").map(bandwidth).transpose()? else { return Ok(()) };
        let burst = seen.required(cell, "burst", "a token bucket has a size: write for example `burst = \"10KB\"`")?;
        let mut keys = vec![
            entry("kind", Value::plain("token-bucket")),
            entry("rate", rate.0),
            entry("burst", Value::plain(format!("{} B", bytes(burst)?))),
        ];
        if let Some((peak, _)) = seen.get(cell, "peakrate").map(bandwidth).transpose()? {
            keys.push(entry("peak", peak));
            if let Some(least) = seen.get(cell, "minburst") {
                keys.push(entry("peak_burst", Value::plain(format!("{} B", bytes(least)?))));
            }
        }
        self.rate = Some((Value::map(keys), rate.1));
        let limit = match seen.get(cell, "limit") {
            Some(limit) if limit.text() != Some("0") => format!("{} B", bytes(limit)?),
            _ => ENDLESS.to_owned(),
        };
        self.queue = Some((Value::plain(limit), cell.place()));
        Ok(())
    }

    /// Of n probabilities, the k-th is that of a loss after k - 1 others.
    fn loss(&mut self, cell: &Node, seen: &Seen, notes: &mut Notes) -> Read<()> {
        let Some(pattern) = seen.get(cell, "pattern") else { return Ok(()) };
        let shares = pattern.items().iter().map(share).collect::<Read<Vec<_>>>()?;
        let place = pattern.place();
        if shares.len() > 2 {
            notes.add(place, "of a longer pattern, the first two probabilities are taken");
        }
        let (first, second) = (shares.first().copied(), shares.get(1).copied());
        let loss = match (first, second) {
            (None | Some(Probability::ZERO), _) => return Ok(()),
            (Some(first), None) => first.into(),
            (Some(first), Some(second)) if first == second => first.into(),
            (Some(first), Some(second)) => {
                let back = Probability::from_parts_per_trillion(1_000_000_000_000 - second.as_parts_per_trillion());
                let Some(back) = back.filter(|back| *back != Probability::ZERO) else {
                    return Err(place.wrong("after the first loss, all packets would be lost"));
                };
                let kind = Value::plain("gilbert-elliott");
                Value::map(vec![entry("kind", kind), entry("p", first), entry("r", back)])
            }
        };
        self.loss = Some((loss, place));
        Ok(())
    }

    /// All of it as a lab file has it.
    pub(super) fn settings(self, notes: &mut Notes) -> Map {
        if let Some((_, place)) = self.delay.filter(|_| self.schedule.as_ref().is_some_and(|(key, ..)| *key == "delay"))
        {
            notes.add(place, "the delay of this cell is not added to those of the replay");
        }
        let delay = self.delay.map(|(delay, place)| (Value::from(delay), place));
        let all = [
            ("rate", self.rate),
            ("delay", delay),
            ("queue", self.queue),
            ("loss", self.loss),
            ("overhead", self.overhead),
            ("schedule", self.schedule.map(|(_, schedule, place)| (schedule, place))),
        ];
        let told = all.into_iter().filter_map(|(key, found)| found.map(|found| (key, found)));
        told.map(|(key, (value, place))| entry(key, value.because(Origin::at(place)))).collect()
    }
}

/// A rate in parts: `1Gbps 200Mbps`.
fn bandwidth(said: &Node) -> Read<(Rate, Place)> {
    let text = said.text().unwrap_or_default();
    let mut parts = text.split_whitespace().map(|part| spelled_rate(part).map(|rate| rate.value.as_bits_per_second()));
    let sum = parts.try_fold(0_u64, |sum, part| sum.checked_add(part?));
    let wrong = || said.place().wrong(format!("{text:?} is no bandwidth: write for example `12Mbps`"));
    Ok((sum.and_then(Rate::from_bits_per_second).ok_or_else(wrong)?, said.place()))
}

/// A size: a number of bytes, or one with a unit; what is left of a byte is rounded.
fn bytes(said: &Node) -> Read<u64> {
    let text = said.text().unwrap_or_default();
    let (number, unit) = quantity::split(text);
    let times = match unit.to_lowercase().as_str() {
        "" | "b" => Some(1_u64),
        "k" | "kb" => Some(1_000),
        "m" | "mb" => Some(1_000_000),
        "ki" | "kib" => Some(1 << 10),
        "mi" | "mib" => Some(1 << 20),
        _ => None,
    };
    let thousandths = quantity::scaled(number, 3).map(|found| found.value);
    let size = thousandths.zip(times).and_then(|(size, times)| Some(size.checked_mul(times)?.div_ceil(1_000)));
    let wrong = || said.place().wrong(format!("{text:?} is no size: write for example `5KB`"));
    size.filter(|size| *size > 0).ok_or_else(wrong)
}
