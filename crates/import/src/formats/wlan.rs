//! CORE's wireless networks (`BasicRangeModel` and `Ns2ScriptedMobility`, `core/location/mobility.py`) as media of a lab.
//!
//! In CORE two nodes reach each other up to a distance in points of the picture; each sends with a rate, a delay, a jitter and losses of its own, and
//! nobody waits for others. Where all nodes are within the distance and stay there, the network becomes a shared medium with these values. Where
//! the distance matters, it becomes a radio medium whose stations hear each other exactly so far: a point is a metre, and the power is such that
//! signals fall below the sensitivity there, far above the noise.

use super::core_xml::netem;
use crate::files::Input;
use crate::source::Place;
use crate::topology::Topology;
use crate::value::{Map, Origin, Value, entry, put};
use netloom_lab::Way;
use netloom_units::Duration;
use std::collections::{BTreeMap, BTreeSet};

/// The distance in points and the rate in bit/s if the file says none.
const RANGE: f64 = 275.0;
const BANDWIDTH: f64 = 54e6;
/// The delay in microseconds if the file says none.
const DELAY: &str = "5000";
/// Rates of 802.11b and of 802.11a in Mbit/s, from the slowest on.
const RATES: [(&str, &[f64]); 2] =
    [("b", &[1.0, 2.0, 5.5, 11.0]), ("a", &[6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0])];
/// The power at the greatest distance: 29 dB above the noise of a perfect receiver, enough for 54 Mbit/s.
const SENSITIVITY: f64 = -72.0;
/// The loss at one metre and the exponent of a lab's usual path loss.
const AT_ONE_METRE: f64 = 46.677_7;
const EXPONENT: f64 = 3.0;
/// The least time in which nodes return to where a script begins, in seconds, and the greatest speed of a lab in metres per second.
const RETURN: f64 = 0.1;
const FASTEST: f64 = 9_000.0;
/// Waypoints of all nodes together; a lab file with more could not be looked at.
const MOST_WAYPOINTS: usize = 200_000;

/// A wireless network of a file.
#[derive(Debug)]
pub(super) struct Wlan {
    /// The number of its node, which is a hub so far.
    pub(super) node: usize,
    pub(super) place: Place,
    /// Values by the names of CORE's models: `range`, `bandwidth`, `delay`, `jitter`, `error`; `file`, `loop`, `autostart`, `map`.
    pub(super) said: BTreeMap<String, String>,
}

/// Values that are read, and those that mean nothing to a network.
const READ: [&str; 10] =
    ["range", "bandwidth", "delay", "jitter", "error", "file", "loop", "autostart", "map", "refresh_ms"];

impl Wlan {
    /// Notes what is said beside that.
    fn note_rest(&self, topology: &mut Topology) {
        for name in self.said.keys().filter(|name| !READ.contains(&name.as_str())) {
            if self.text(name).is_some_and(|said| !["0", "0.0"].contains(&said)) {
                topology.notes.add(self.place, format!("`{name}` of a wireless network is not read"));
            }
        }
        for name in ["range", "bandwidth", "delay", "jitter", "error", "autostart"] {
            if let Some(said) = self.text(name).filter(|_| self.number(name).is_none()) {
                topology.notes.add(self.place, format!("`{name}` of a wireless network is no number: {said:?}"));
            }
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.said.get(name).map(|said| said.trim()).filter(|said| !said.is_empty())
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.text(name)?.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
    }
}

/// Turns wireless networks into media. Nodes are found in scripts by their identifiers in the file.
pub(super) fn settle(
    wlans: &[Wlan],
    numbers: &BTreeMap<String, usize>,
    input: &mut Input<'_>,
    topology: &mut Topology,
) {
    let radios: BTreeSet<usize> = wlans.iter().map(|wlan| wlan.node).collect();
    let mut media = Vec::new();
    for wlan in wlans {
        wlan.note_rest(topology);
        let Some(stations) = stations(wlan, &radios, topology) else { continue };
        let ways = ways(wlan, &stations, numbers, input, topology);
        let settings = if ways.is_empty() && is_near(wlan, &stations, topology) {
            shared(wlan, topology)
        } else {
            stand(&stations, ways, topology);
            radio(wlan, topology)
        };
        media.push((wlan.node, settings));
    }
    // A network that goes changes the numbers of those behind it.
    media.sort_by_key(|(node, _)| std::cmp::Reverse(*node));
    for (node, settings) in media {
        become_medium(node, settings, topology);
    }
}

/// The stations of a network; none if it stays a hub, which is noted.
fn stations(wlan: &Wlan, radios: &BTreeSet<usize>, topology: &mut Topology) -> Option<Vec<usize>> {
    let ends = links(wlan.node, topology).into_iter().flat_map(|number| &topology.links[number].ends);
    let nodes: Vec<usize> = ends.map(|end| end.node).filter(|node| *node != wlan.node).collect();
    let why = if nodes.len() < 2 {
        "it has less than two stations"
    } else if nodes.iter().collect::<BTreeSet<_>>().len() < nodes.len() {
        "a node has two interfaces at it"
    } else if nodes.iter().any(|node| radios.contains(node)) {
        "it is linked with another one"
    } else {
        return Some(nodes);
    };
    topology.notes.add(wlan.place, format!("a wireless network is a hub, since {why}"));
    None
}

/// The links that lead to a node.
fn links(node: usize, topology: &Topology) -> Vec<usize> {
    let is_of = |number: &usize| topology.links[*number].ends.iter().any(|end| end.node == node);
    (0..topology.links.len()).filter(is_of).collect()
}

/// Whether all stations are within the range of one another.
fn is_near(wlan: &Wlan, stations: &[usize], topology: &Topology) -> bool {
    let range = wlan.number("range").unwrap_or(RANGE);
    let places: Vec<[f64; 2]> = stations.iter().filter_map(|node| topology.nodes[*node].position).collect();
    if places.len() < stations.len() {
        return true;
    }
    let is_far = |one: [f64; 2], other: [f64; 2]| libm::hypot(one[0] - other[0], one[1] - other[1]) > range;
    !places.iter().enumerate().any(|(number, one)| places[number + 1..].iter().any(|other| is_far(*one, *other)))
}

/// The settings of a network in which all hear all.
fn shared(wlan: &Wlan, topology: &mut Topology) -> Map {
    let usual = |name: &str| match name {
        "bandwidth" => Some("54000000"),
        "delay" => Some(DELAY),
        _ => None,
    };
    let value = |name: &str| {
        let key = if name == "loss" { "error" } else { name };
        wlan.said.get(key).map(String::as_str).or_else(|| usual(key))
    };
    let mut settings = vec![entry("medium", Value::plain("shared"))];
    settings.extend(netem::settings(value, wlan.place, topology));
    let said = "a wireless network whose nodes are all within its range is a shared medium: they share its rate, which each has for itself in CORE";
    topology.notes.add(wlan.place, said);
    settings
}

/// The settings of a network in which the distance decides.
fn radio(wlan: &Wlan, topology: &mut Topology) -> Map {
    let range = wlan.number("range").filter(|range| *range > 0.0).unwrap_or(RANGE);
    let bits = wlan.number("bandwidth").filter(|bits| *bits > 0.0).unwrap_or(BANDWIDTH);
    let (mut settings, air) = air(range, bits / 1e6);
    if let Some(share) = wlan.number("error").filter(|share| *share > 0.0) {
        settings.push(entry("loss", Value::plain(format!("{} %", share.min(100.0)))));
    }
    let mut said = format!(
        "a wireless network is {air}, a metre for each point of the picture, and to the north where that goes down: nodes wait for each other and \
         collide, which they do not in CORE"
    );
    let delay = wlan.text("delay").unwrap_or(DELAY);
    let jitter = wlan.text("jitter").unwrap_or("0");
    if ![delay, jitter].iter().all(|span| ["0", "0.0"].contains(span)) {
        said += &format!("; its delay of {delay} us (jitter {jitter} us) is not there");
    }
    topology.notes.add(wlan.place, said);
    settings
}

/// The settings of a radio medium whose nodes hear each other up to a distance in metres, at about so many Mbit/s, and words for it.
pub(super) fn air(range: f64, megabits: f64) -> (Map, String) {
    let (standard, rate) = rate(megabits);
    // Somewhat more, so that who is exactly so far away is heard.
    let power = SENSITIVITY + AT_ONE_METRE + 10.0 * EXPONENT * libm::log10(range.max(1.0)) + 0.001;
    let medium = vec![
        entry("kind", Value::plain("wifi")),
        entry("standard", Value::plain(standard)),
        entry("access", Value::plain("radio")),
        entry("rate", Value::plain(format!("{rate} Mbit/s"))),
        entry("power", Value::plain(format!("{power:.3} dBm"))),
        entry("sensitivity", Value::plain(format!("{SENSITIVITY} dBm"))),
        entry("noise_figure", Value::plain("0 dB")),
    ];
    let words = format!("heard up to {range} m");
    let settings = vec![entry("medium", Value::map(medium).because(Origin { place: None, words }))];
    (
        settings,
        format!("a radio medium of 802.11{standard} at {rate} Mbit/s whose nodes hear each other up to {range} m"),
    )
}

/// The standard and its rate that is nearest to a rate, both in Mbit/s.
fn rate(wanted: f64) -> (&'static str, f64) {
    let all = RATES.iter().flat_map(|(standard, rates)| rates.iter().map(|rate| (*standard, *rate)));
    all.min_by(|one, other| (one.1 - wanted).abs().total_cmp(&(other.1 - wanted).abs())).unwrap_or(("a", 54.0))
}

/// Puts stations where the picture has them, or on their ways; at several networks a node has one of both.
fn stand(stations: &[usize], mut ways: BTreeMap<usize, Value>, topology: &mut Topology) {
    for number in stations {
        let node = &mut topology.nodes[*number];
        let place = node.position.unwrap_or_default();
        if let Some(way) = ways.remove(number) {
            node.settings.retain(|(key, _)| key != "position");
            put(&mut node.settings, "path", way);
        } else if !node.settings.iter().any(|(key, _)| key == "path") {
            put(&mut node.settings, "position", metres(place));
        }
    }
}

/// A position of a lab file.
pub(super) fn metres(place: [f64; 2]) -> Value {
    Value::list(place.map(|length| Value::plain(format!("{length} m"))))
}

/// The ways of those stations that a script of ns-2 moves.
fn ways(
    wlan: &Wlan,
    stations: &[usize],
    numbers: &BTreeMap<String, usize>,
    input: &mut Input<'_>,
    topology: &mut Topology,
) -> BTreeMap<usize, Value> {
    let Some(file) = wlan.text("file") else { return BTreeMap::new() };
    // The way to it is that of the machine on which the file was written.
    let beside = file.rsplit('/').next().unwrap_or(file);
    let Some(number) = input.open(file).or_else(|| input.open(beside)) else {
        topology
            .notes
            .add(wlan.place, format!("nodes stand still: the mobility script {file:?} is not beside this file"));
        return BTreeMap::new();
    };
    let tracks = match netloom_lab::setdest(input.source(number)) {
        Ok(tracks) => tracks,
        Err((line, wrong)) => {
            topology.notes.add(wlan.place, format!("nodes stand still: line {line} of {beside}: {wrong}"));
            return BTreeMap::new();
        }
    };
    let renamed = renamed(wlan.text("map").unwrap_or_default());
    let of_stations = |(name, way): (String, Way)| {
        let id = renamed.get(&name).unwrap_or(&name);
        Some((*numbers.get(id)?, way)).filter(|(node, _)| stations.contains(node))
    };
    let moved: BTreeMap<usize, Way> = tracks.into_iter().filter_map(of_stations).collect();
    if moved.values().map(Vec::len).sum::<usize>() > MOST_WAYPOINTS {
        topology.notes.add(wlan.place, format!("nodes stand still: {beside} has more than {MOST_WAYPOINTS} waypoints"));
        return BTreeMap::new();
    }
    let start = wlan.number("autostart");
    if start.is_none() {
        topology.notes.add(wlan.place, "nodes move from the beginning on: in CORE somebody starts the mobility script");
    }
    let begin = start.filter(|seconds| *seconds <= 1e9).map_or(Duration::ZERO, seconds);
    let repeat = (wlan.text("loop") == Some("1")).then(|| period(&moved));
    let path = |(node, way): (usize, Way)| {
        let words = format!("{beside}: {} waypoints", way.len());
        (node, path(&way, begin, repeat).because(Origin::said(wlan.place, words)))
    };
    moved.into_iter().map(path).collect()
}

/// The numbers of a script that stand for others: `0:1,1:2`.
fn renamed(map: &str) -> BTreeMap<String, String> {
    let pair = |one: &str| one.trim().split_once(':').map(|(from, to)| (from.trim().to_owned(), to.trim().to_owned()));
    map.split(',').filter_map(pair).collect()
}

/// A number of seconds.
fn seconds(seconds: f64) -> Duration {
    Duration::from_nanos(libm::round(seconds * 1e9) as u64)
}

/// When the last node of a script that is repeated has arrived, and when all are back at their beginnings.
fn period(moved: &BTreeMap<usize, Way>) -> (Duration, Duration) {
    let end = moved.values().filter_map(|way| way.last()).map(|(at, _)| *at).max().unwrap_or_default();
    let back = moved.values().filter_map(|way| Some((way.first()?.1, way.last()?.1)));
    let farthest = back.map(|(one, other)| libm::hypot(one[0] - other[0], one[1] - other[1])).fold(0.0, f64::max);
    let takes = seconds(RETURN.max(farthest / FASTEST));
    (end, Duration::from_nanos(end.as_nanos().saturating_add(takes.as_nanos())))
}

/// A way as a lab file has it, from an instant on, and again and again if it is repeated.
pub(super) fn path(way: &Way, begin: Duration, repeat: Option<(Duration, Duration)>) -> Value {
    let waypoint = |(at, place): &(Duration, [f64; 2])| {
        let at = Duration::from_nanos(begin.as_nanos().saturating_add(at.as_nanos()));
        Value::map(vec![entry("at", Value::from(at)), entry("position", metres(*place))])
    };
    let mut points: Vec<Value> = way.iter().map(waypoint).collect();
    let Some((end, again)) = repeat.filter(|_| way.len() > 1) else { return Value::list(points) };
    // There it waits until the others have arrived, too.
    points.extend(way.last().filter(|(at, _)| *at < end).map(|(_, place)| waypoint(&(end, *place))));
    Value::map(vec![entry("waypoints", Value::list(points)), entry("repeat", Value::from(again))])
}

/// Replaces a hub and its links by one link with all stations.
fn become_medium(hub: usize, settings: Map, topology: &mut Topology) {
    let links = links(hub, topology);
    let place = topology.nodes[hub].origin.place.unwrap_or_default();
    let gone: BTreeSet<String> = links.iter().map(|number| topology.links[*number].name.clone()).collect();
    if links.iter().map(|number| &topology.links[*number]).any(|link| {
        !link.settings.iter().all(|(key, _)| key == "addresses")
            || !link.forward.is_empty()
            || !link.backward.is_empty()
    }) {
        let said = "options of links to a wireless network are not read: those of the network hold";
        topology.notes.add(place, said);
    }
    let before = topology.timeline.len();
    topology.timeline.retain(|event| !gone.iter().any(|name| event.names("link", name)));
    if topology.timeline.len() < before {
        topology
            .notes
            .add(place, "an interface at a wireless network that is shut down is up: a medium is cut for all");
    }
    topology.join(hub, &links, settings);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_the_nearest_of_the_standards() {
        assert_eq!(rate(54.0), ("a", 54.0));
        assert_eq!(rate(11.0), ("b", 11.0));
        assert_eq!(rate(1_000.0), ("a", 54.0));
        assert_eq!(rate(0.1), ("b", 1.0));
    }

    #[test]
    fn scripts_that_are_repeated_end_together() {
        let place = [0.0, 0.0];
        let way = |at: u64, x: f64| vec![(Duration::ZERO, place), (Duration::from_secs(at), [x, 0.0])];
        let moved = BTreeMap::from([(0, way(10, 100.0)), (1, way(4, 18_000.0))]);
        let (end, again) = period(&moved);
        assert_eq!((end, again), (Duration::from_secs(10), Duration::from_secs(12)));
    }
}
