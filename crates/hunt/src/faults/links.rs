//! Faults of links: cuts, and packets that are lost, delayed, reordered, duplicated or corrupted for a while.

use super::ground::{Drawn, Ground, LinkGround, Window, steps};
use crate::choices::Choices;
use netloom_lab::PacketFaults;
use netloom_units::{Duration, Probability};

/// Shares of packets, in percent.
const SHARES: [u64; 7] = [1, 2, 5, 10, 20, 50, 100];
/// Delays, in milliseconds.
const DELAYS: [u64; 13] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
/// A percent in parts per trillion.
const PERCENT: u64 = 10_000_000_000;
const MILLISECOND: u64 = 1_000_000;
/// For how long packets are held that others overtake, in milliseconds.
const OVERTAKEN: [u64; 5] = [1, 5, 20, 100, 500];

/// Cuts a link, or one direction of it.
pub(super) fn cut(ground: &Ground, choices: &mut Choices, window: Window, links: &[usize]) -> Drawn {
    let link = link_of(ground, choices, links);
    let direction = direction(choices, link).map_or_else(String::new, |name| format!(", direction: {name}"));
    let (at, length) = (window.at(), window.length());
    (Vec::new(), vec![format!("{{at: {at}, link: {}, down: {length}{direction}}}", link.name)])
}

/// Chooses one of these links.
pub(super) fn link_of<'a>(ground: &'a Ground, choices: &mut Choices, links: &[usize]) -> &'a LinkGround {
    &ground.links[links[choices.place(links.len())]]
}

/// Changes what becomes of the packets of a link, or of one direction of it, and back.
pub(super) fn packets(ground: &Ground, choices: &mut Choices, window: Window, packets: &PacketFaults) -> Drawn {
    let link = link_of(ground, choices, &packets.links);
    let PacketFaults { loss, delay, reorder, duplicate, corrupt, .. } = packets;
    let shares = [("loss", loss), ("reorder", reorder), ("duplicate", duplicate), ("corrupt", corrupt)];
    let mut all: Vec<(&str, Vec<String>)> =
        shares.iter().filter_map(|(key, range)| Some((*key, shares_of((**range)?)))).collect();
    // A delay is the simplest of them.
    all.splice(0..0, delay.iter().map(|range| ("delay", delays_of(*range))));
    let (key, values) = &all[choices.place(all.len())];
    let value = &values[choices.place(values.len())];
    let chosen = direction(choices, link);
    if let Some(matching) = &packets.matching {
        let of = chosen.map_or_else(String::new, |name| format!(", direction: {name}"));
        let (share, what) = treatment(choices, key, value);
        let (at, length, name) = (window.at(), window.length(), &link.name);
        let packet = format!("{{match: {matching}, count: all{share}}}");
        return (
            Vec::new(),
            vec![format!("{{at: {at}, link: {name}, packet: {packet}, do: {what}, for: {length}{of}}}")],
        );
    }
    let affected = link.directions.iter().filter(|(name, _)| chosen.is_none() || *name == chosen);
    let entries = affected.flat_map(|(name, settings)| {
        let of = name.map_or_else(String::new, |name| format!(", direction: {name}"));
        let before = settings.get(*key).map_or_else(|| "0".to_owned(), written);
        let set = |at: Duration, to: &str| format!("{{at: {at}, link: {}, set: {{{key}: {to}}}{of}}}", link.name);
        [set(window.at(), value), set(window.to(), &before)]
    });
    (Vec::new(), entries.collect())
}

/// How packets that match are treated, as a share of them and what becomes of it.
fn treatment(choices: &mut Choices, key: &str, value: &str) -> (String, String) {
    let share = format!(", probability: {value}");
    match key {
        "delay" => (String::new(), format!("{{hold: {value}}}")),
        // Those that are held are overtaken by those that are not.
        "reorder" => (share, format!("{{hold: {} ms}}", OVERTAKEN[choices.place(OVERTAKEN.len())])),
        "loss" => (share, "drop".to_owned()),
        other => (share, other.to_owned()),
    }
}

/// A setting as a lab file has it. A bare zero is zero in every unit.
fn written(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Both directions, which is the simplest, or one.
pub(super) fn direction(choices: &mut Choices, link: &LinkGround) -> Option<&'static str> {
    let named: Vec<&'static str> = link.directions.iter().filter_map(|(name, _)| *name).collect();
    let chosen = choices.place(named.len() + 1);
    chosen.checked_sub(1).map(|place| named[place])
}

fn shares_of([least, most]: [Probability; 2]) -> Vec<String> {
    let table = SHARES.map(|share| share * PERCENT);
    let shares = steps(least.as_parts_per_trillion(), most.as_parts_per_trillion(), &table);
    shares.into_iter().filter_map(Probability::from_parts_per_trillion).map(|share| share.to_string()).collect()
}

pub(super) fn delays_of([least, most]: [Duration; 2]) -> Vec<String> {
    let table = DELAYS.map(|delay| delay * MILLISECOND);
    let delays = steps(least.as_nanos(), most.as_nanos(), &table);
    delays.into_iter().map(|ns| Duration::from_nanos(ns).to_string()).collect()
}
