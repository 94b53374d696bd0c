//! The map of a lab in metres: where stations of radio media are, where they go, their walls, to whom they belong, and how far senders reach.
//!
//! Contours are those of the strongest of all senders (access points, cells, or stations where there are neither) at the height of a receiver, by path loss, walls and antennas: of
//! what varies by chance the mean. They are found on a grid, square by square (marching squares; Lorensen and Cline 1987 for cubes).

mod contours;
mod draw;

use netloom_lab::{Plan, RoamPlan};
use netloom_link::{AirConfig, AirStation, Coverage, Decibels, Metres, Position};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// The picture in a results folder.
pub(crate) const FILE: &str = "map.svg";
/// The height of a receiver that hears the senders.
const RECEIVER: Metres = Metres(1.5);
/// The width of a picture in pixels, if nobody says another one, and within which it is.
const WIDTH: u32 = 712;
const LEAST_WIDTH: u32 = 240;
const MOST_WIDTH: u32 = 2_000;
/// In a narrower one a flat map would have no room for words.
const NARROW: u32 = 500;
/// A path is drawn through so many places of it.
const STEPS: u64 = 200;
/// How much of a path is drawn if the lab has no end.
const USUAL: Duration = Duration::from_secs(60);

/// A point in metres: to the east and to the north.
type Point = [f64; 2];

/// A map in metres at a time, and who is with whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AirMap {
    /// The text of the SVG file.
    pub svg: String,
    /// The stations that are with an access point or at a cell, in the order of the plan.
    pub belongs: Vec<Belonging>,
}

/// A station that is with an access point, or a terminal that is at a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Belonging {
    /// The name of the medium's link.
    pub link: String,
    /// The name of the station's node.
    pub station: String,
    /// The name of the access point's node, or of the cell.
    pub to: String,
}

/// The parts of the picture.
struct Map<'a> {
    name: &'a str,
    /// The name of the link whose medium is added.
    link: &'a str,
    names: Vec<Belonging>,
    /// The least and the greatest coordinates that are shown.
    from: Point,
    to: Point,
    walls: Vec<[Point; 2]>,
    marks: Vec<Mark<'a>>,
    /// The ways of those that move.
    ways: Vec<Vec<Point>>,
    /// Who belongs to whom.
    belongs: Vec<[Point; 2]>,
    senders: Vec<Coverage<'a>>,
    /// The power in dBm down to which contours are drawn.
    least: f64,
    /// The time behind time zero that it shows.
    at: Duration,
}

/// With which station, an access point, stations are, if there are several.
type With = BTreeMap<usize, Option<usize>>;

struct Mark<'a> {
    name: &'a str,
    at: Point,
    is_sender: bool,
    about: String,
}

/// Draws the radio media of a lab whose stations have positions as they are at time zero, and returns the text of the SVG file; none if there are none.
pub fn map(plan: &Plan) -> Option<String> {
    map_at(plan, &plan.roams_until(Duration::ZERO), Duration::ZERO, WIDTH).map(|map| map.svg)
}

/// Draws the same as it is at a time, `width` pixels wide or a little less. `roams`: those of the plan up to that time at least.
pub fn map_at(plan: &Plan, roams: &[RoamPlan], at: Duration, width: u32) -> Option<AirMap> {
    let media = plan.links.iter().enumerate().filter_map(|(place, link)| {
        let air = link.pipes.first()?.air.as_deref()?;
        air.radio.is_some().then_some((place, air))
    });
    let span = plan.duration.unwrap_or(USUAL);
    let mut map = Map {
        name: &plan.name,
        link: "",
        names: Vec::new(),
        from: [f64::INFINITY; 2],
        to: [f64::NEG_INFINITY; 2],
        walls: Vec::new(),
        marks: Vec::new(),
        ways: Vec::new(),
        belongs: Vec::new(),
        senders: Vec::new(),
        least: f64::INFINITY,
        at,
    };
    for (link, air) in media {
        // The last change counts.
        let known = roams.iter().filter(|roam| roam.link == link && roam.at <= at);
        let with: With =
            known.map(|roam| (roam.station.end.place(), roam.point.map(|point| point.end.place()))).collect();
        map.link = &plan.links[link].name;
        map.add(air, &with, span);
    }
    if map.marks.is_empty() {
        return None;
    }
    let wide = width.clamp(LEAST_WIDTH, MOST_WIDTH);
    map.frame(if wide < NARROW { 2.0 } else { 3.0 });
    let svg = draw::svg(&map, f64::from(wide));
    Some(AirMap { svg, belongs: map.names })
}

fn point(position: Position) -> Point {
    [position.x.0, position.y.0]
}

impl<'a> Map<'a> {
    fn add(&mut self, air: &'a AirConfig, with: &With, span: Duration) {
        let Some(radio) = &air.radio else { return };
        self.walls.extend(radio.walls.iter().map(|wall| [wall.from, wall.to].map(|end| [end.x.0, end.y.0])));
        let cell = air.medium.cell();
        let sites = cell.map_or(&[][..], |cell| &cell.sites);
        for site in sites {
            self.senders.push(Coverage { radio, position: site.position, power: site.power, pattern: site.pattern });
            let about = format!("cell {}: {} dBm, carrier {}", site.name, site.power.0, site.carrier);
            self.marks.push(Mark { name: &site.name, at: point(site.position), is_sender: true, about });
        }
        let points = air.access_points.as_ref().map_or(&[][..], |network| &network.points);
        let is_point = |place: usize| points.iter().any(|point| point.station == place);
        let point_of = air.access_point.filter(|_| sites.is_empty());
        for (place, station) in air.stations.iter().enumerate() {
            // A base station with cells is nowhere itself.
            if sites.is_empty() || Some(place) != air.access_point {
                let hub = if is_point(place) { Some(place) } else { with.get(&place).copied().flatten().or(point_of) };
                self.add_station(air, station, (hub, place), span);
            }
        }
        // A cell is heard below noise, a preamble of 802.11 not.
        let least = if cell.is_some() { -110.0 } else { radio.sensitivity.0 };
        self.least = self.least.min(least);
    }

    fn add_station(
        &mut self,
        air: &'a AirConfig,
        station: &'a AirStation,
        (hub, place): (Option<usize>, usize),
        span: Duration,
    ) {
        let Some(radio) = &air.radio else { return };
        if station.terminal.as_ref().is_some_and(|own| !own.has_position()) {
            return;
        }
        let antenna = &station.antenna;
        let now = self.at;
        let begins = antenna.path.position(now);
        let sends = |own: &'a AirStation| Coverage {
            radio,
            position: own.antenna.path.position(now),
            power: own.antenna.power,
            pattern: own.antenna.pattern,
        };
        let is_sender = hub == Some(place);
        if is_sender || hub.is_none() && air.access_point.is_none() && air.access_points.is_none() {
            self.senders.push(sends(station));
        }
        if let Some(hub) = hub.filter(|_| !is_sender) {
            self.belongs.push([begins, air.stations[hub].antenna.path.position(now)].map(point));
            self.name_belonging(station, &air.stations[hub].name);
        }
        let sites = air.medium.cell().map_or(&[][..], |cell| &cell.sites);
        let own = station.terminal.as_ref().and_then(|own| own.site);
        let reach = |site: usize| {
            let sender = &sites[site];
            Coverage { radio, position: sender.position, power: sender.power, pattern: sender.pattern }.at(begins).0
        };
        let strongest = (0..sites.len()).max_by(|one, other| reach(*one).total_cmp(&reach(*other)));
        if let Some(site) = own.or(strongest) {
            self.belongs.push([begins, sites[site].position].map(point));
            self.name_belonging(station, &sites[site].name);
        }
        if !antenna.path.is_standing() {
            let at = |step: u64| Duration::from_nanos(span.as_nanos() / STEPS * step);
            self.ways.push((0..=STEPS).map(|step| point(antenna.path.position(at(step)))).collect());
        }
        let [x, y] = point(begins);
        let about = format!("{}: {x:.1} m, {y:.1} m, {} dBm", station.name, antenna.power.0);
        self.marks.push(Mark { name: &station.name, at: [x, y], is_sender, about });
    }

    fn name_belonging(&mut self, station: &AirStation, to: &str) {
        let (link, station) = (self.link.to_owned(), station.name.clone());
        self.names.push(Belonging { link, station, to: to.to_owned() });
    }

    /// Shows all of it, with a margin. `flattest`: the longest side over the shortest at most, so that contours are seen.
    fn frame(&mut self, flattest: f64) {
        let marks = self.marks.iter().map(|mark| mark.at);
        let all = marks.chain(self.ways.iter().flatten().copied()).chain(self.walls.iter().flatten().copied());
        for [x, y] in all.collect::<Vec<_>>() {
            self.from = [self.from[0].min(x), self.from[1].min(y)];
            self.to = [self.to[0].max(x), self.to[1].max(y)];
        }
        let wide = (self.to[0] - self.from[0]).max(self.to[1] - self.from[1]).max(10.0);
        for axis in 0..2 {
            let own = self.to[axis] - self.from[axis];
            let margin = (wide * 0.15).max((wide / flattest - own) / 2.0);
            self.from[axis] -= margin;
            self.to[axis] += margin;
        }
    }

    /// The power in dBm of the strongest sender.
    fn strongest(&self, [x, y]: Point) -> f64 {
        let receiver = Position { x: Metres(x), y: Metres(y), z: RECEIVER };
        let powers = self.senders.iter().map(|sender| sender.at(receiver));
        powers.map(|Decibels(power)| power).fold(f64::NEG_INFINITY, f64::max)
    }
}

#[cfg(test)]
mod tests;
