//! Mobile nodes (ns-2 manual, chapter 16): nodes that are made behind `node-config` with a radio, where they are, and where they go.
//!
//! All nodes of a channel share a radio medium. What is received so far away follows from `Pt_`, `RXThresh_` and the path loss, as in ns-2; the
//! medium has this distance.

use super::network::{MOST, Network, NodeOf};
use super::stations::{Configured, Trip};
use super::units::bandwidth;
use crate::formats::wlan;
use crate::source::{Place, Read};
use crate::topology::{End, Topology};
use crate::value::{Origin, Value, entry, put};
use netloom_units::{Duration, Rate};
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::fmt::Write as _;

/// Options that are read, and those that only trace or name what every mobile node has.
const READ: [&str; 16] = [
    "-channel",
    "-channelType",
    "-adhocRouting",
    "-llType",
    "-macType",
    "-ifqType",
    "-ifqLen",
    "-antType",
    "-propType",
    "-propInstance",
    "-phyType",
    "-topoInstance",
    "-agentTrace",
    "-routerTrace",
    "-macTrace",
    "-movementTrace",
];
/// Values of classes that ns-2.35 has where a script sets none: watts, watts, hertz and bits per second.
const USUAL: [(&str, &str, f64); 4] = [
    ("Phy/WirelessPhy", "Pt_", 0.281_838_15),
    ("Phy/WirelessPhy", "RXThresh_", 3.652e-10),
    ("Phy/WirelessPhy", "freq_", 914e6),
    ("Mac/802_11", "dataRate_", 1e6),
];
/// The height of antennas in metres.
const HEIGHT: f64 = 1.5;
const SPEED_OF_LIGHT: f64 = 299_792_458.0;

impl Network<'_, '_> {
    /// `$ns node-config -OPTION VALUE ...`
    pub(super) fn configure(&mut self, words: &[String], place: Place) {
        if words.get(2).is_some_and(|option| option == "-reset") {
            self.configured = Configured::default();
            return;
        }
        for pair in words[2.min(words.len())..].chunks(2) {
            let (option, value) = (pair[0].as_str(), pair.get(1).map_or("", String::as_str));
            match (option, value) {
                ("-adhocRouting", protocol) if !["", "NOAH", "DumbAgent"].contains(&protocol) => {
                    let said = format!(
                        "the routing protocol `{protocol}` is not run: mobile nodes reach those alone that hear them"
                    );
                    self.notes.add(place, said);
                }
                ("-macType", mac) if mac != "Mac/802_11" => {
                    self.notes.add(place, format!("mobile nodes have 802.11 in the place of `{mac}`"));
                }
                (option, _) if READ.contains(&option) => {}
                _ => self.notes.add(place, format!("`{option} {value}` of mobile nodes is not read")),
            }
            self.configured.options.insert(option.to_owned(), value.to_owned());
        }
    }

    /// Calls a method of a mobile node; false if it is none.
    pub(super) fn of_mobile(&mut self, node: usize, method: &str, words: &[String], place: Place) -> bool {
        let Some(_) = &self.nodes[node].radio else { return false };
        match (method, &words[2..]) {
            ("setdest", [x, y, speed, ..]) => {
                let number = |text: &String| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
                let (Some(x), Some(y), Some(speed)) = (number(x), number(y), number(speed)) else {
                    self.notes.add(place, "a way of a mobile node is not read: write `$node setdest X Y SPEED`");
                    return true;
                };
                let at = self.now.unwrap_or(Duration::ZERO);
                let trips = &mut self.nodes[node].trips;
                if trips.len() < MOST {
                    trips.push(Trip { at, to: [x, y], speed });
                }
            }
            ("random-motion", [flag]) if flag == "0" => {}
            ("reset" | "log-movement", []) => {}
            ("topography" | "namattach" | "radius", _) => self.watch(format!("$node {method}"), place),
            _ => return false,
        }
        true
    }

    /// Gives mobile nodes their places and ways, and each channel its medium.
    pub(super) fn radios(&mut self, topology: &mut Topology) -> Read<()> {
        let mut channels: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (number, node) in self.nodes.iter().enumerate() {
            if let Some(radio) = &node.radio {
                channels.entry(radio.channel.clone()).or_default().push(number);
            }
        }
        for members in channels.into_values() {
            let [one, other, further @ ..] = &members[..] else {
                let place = self.nodes[members[0]].place;
                self.notes.add(place, "a mobile node that is alone at its channel has no radio");
                continue;
            };
            let place = self.nodes[*one].place;
            let (settings, said) = self.medium(*one);
            self.notes.add(place, said);
            let made = topology.add_link("air", Origin::at(place), [End::at(*one), End::at(*other)])?;
            topology.links[made].further = further.iter().map(|node| End::at(*node)).collect();
            topology.links[made].settings = settings;
            for number in members {
                self.stand(number, topology);
            }
        }
        Ok(())
    }

    /// The settings of the medium of a node, and what is to be said of it.
    fn medium(&self, node: usize) -> (crate::value::Map, String) {
        let value = |class: &str, name: &str| {
            let usual =
                USUAL.iter().find(|(of, called, _)| (*of, *called) == (class, name)).map_or(0.0, |usual| usual.2);
            self.inherited(class).number(name, usual).filter(|number| *number > 0.0).unwrap_or(usual)
        };
        let rate = self.inherited("Mac/802_11").get("dataRate_").and_then(bandwidth).map(Rate::as_bits_per_second);
        let megabits = rate.map_or(value("Mac/802_11", "dataRate_"), |rate| rate as f64) / 1e6;
        let radio = self.nodes[node].radio.as_ref();
        let ratio = value("Phy/WirelessPhy", "Pt_") / value("Phy/WirelessPhy", "RXThresh_");
        let is_free = radio.is_some_and(|radio| radio.loss.contains("FreeSpace"));
        let range = libm::round(range(ratio, value("Phy/WirelessPhy", "freq_"), is_free) * 10.0) / 10.0;
        let (mut settings, air) = wlan::air(range, megabits);
        if let Some(length) = radio.and_then(|radio| radio.queue).filter(|length| *length > 0)
            && let Some((_, medium)) = settings.first_mut()
            && let crate::value::Content::Map(keys) = &mut medium.content
        {
            keys.push(entry("limit", Value::plain(length)));
        }
        let said = format!("mobile nodes share {air}; in ns-2 they notice others farther away, too");
        (settings, said)
    }

    /// Puts a mobile node where the script has it, or on its way.
    fn stand(&self, number: usize, topology: &mut Topology) {
        let NodeOf { attributes, trips, place, .. } = &self.nodes[number];
        attributes.get("Z_");
        let [x, y] = ["X_", "Y_"].map(|name| attributes.number(name, 0.0).unwrap_or_default());
        // In a picture, what is north is above.
        topology.nodes[number].position = topology.nodes[number].position.or(Some([x, -y]));
        let settings = &mut topology.nodes[number].settings;
        let mut script = format!("$node_(0) set X_ {x}\n$node_(0) set Y_ {y}\n");
        for Trip { at, to: [to_x, to_y], speed } in trips {
            let seconds = at.as_secs_f64();
            // Writing to a text does not fail.
            let _ = writeln!(script, "$ns_ at {seconds} \"$node_(0) setdest {to_x} {to_y} {speed}\"");
        }
        let ways = netloom_lab::setdest(&script);
        let way = ways.as_ref().ok().and_then(|ways| ways.get("0")).filter(|way| way.len() > 1);
        match way {
            Some(way) => {
                let words = format!("{} times setdest", trips.len());
                put(settings, "path", wlan::path(way, Duration::ZERO, None).because(Origin::said(*place, words)));
            }
            None => put(settings, "position", wlan::metres([x, y])),
        }
        if let Err((_, wrong)) = ways {
            topology.notes.add(*place, format!("a mobile node stands still: {wrong}"));
        }
    }
}

/// How far a signal is received whose power is so many times the least: free space, and two rays behind their crossover (`tworayground.cc`).
fn range(ratio: f64, hertz: f64, is_free: bool) -> f64 {
    let wavelength = SPEED_OF_LIGHT / hertz;
    let free = wavelength / (4.0 * PI) * libm::sqrt(ratio);
    let crossover = 4.0 * PI * HEIGHT * HEIGHT / wavelength;
    if is_free || free < crossover { free } else { libm::sqrt(HEIGHT * HEIGHT * libm::sqrt(ratio)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_manual() {
        // 250 m, as chapter 18 has it for these values.
        assert!((range(0.281_838_15 / 3.652e-10, 914e6, false) - 250.0).abs() < 0.1);
        // 40 m, in free space.
        let near = range(8.5872e-4 / 3.652e-10, 914e6, false);
        assert!((near - 40.0).abs() < 0.1, "{near}");
    }
}
