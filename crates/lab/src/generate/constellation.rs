//! `constellation`: ground stations that reach one another over satellites.
//!
//! A Walker shell with lasers between neighbours (+Grid) turns above a turning Earth. Each `routes` the shortest path between each pair of
//! stations is chosen anew; it is one link of the lab, whose schedule has the delay over this path each `step`, with straight lines
//! between, and where a satellite sets before the next choice, everything is lost from that instant on. Satellites are no nodes of the
//! lab: paths of different pairs share no queue.

mod orbits;
mod paths;

use super::builder::{MadeStep, TopologyBuilder};
use netloom_units::Duration;
use orbits::{Phasing, Reach, Shell, Station};
use paths::{Point, Sky};
use std::f64::consts::PI;

/// How often paths are chosen, unless the file says otherwise: as Starlink does.
const ROUTES: Duration = Duration::from_secs(15);
/// The time between two points of a delay, unless the file says otherwise.
const STEP: Duration = Duration::from_secs(1);
/// The least elevation, unless the file says otherwise, in degrees: Starlink's.
const ELEVATION: f64 = 25.0;
/// What satellites, stations and choices of paths may be together: a few seconds of computing.
const MOST_SEARCHED: u64 = 20_000_000;
/// What points all links may have together.
const MOST_POINTS: u64 = 200_000;
/// The orbits that are taken for low or high ones, in kilometres.
const ALTITUDES: [f64; 2] = [100.0, 100_000.0];

/// When paths are chosen and delays are computed, in nanoseconds.
struct Times {
    end: u64,
    routes: u64,
    step: u64,
}

pub(super) fn constellation(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let shell = shell(builder);
    let reach = reach(builder);
    let names = stations(builder);
    let end = builder.time("for", ROUTES);
    let routes = builder.time("routes", ROUTES);
    let step = builder.time("step", STEP);
    let times = Times { end: end?.as_nanos(), routes: routes?.as_nanos(), step: step?.as_nanos() };
    let (names, stations): (Vec<String>, Vec<Station>) = names?.into_iter().unzip();
    let sky = Sky { shell: shell?, stations, reach: reach? };
    check(builder, &sky, &times)?;
    let mut nodes = Vec::new();
    for (name, station) in names.into_iter().zip(&sky.stations) {
        // A map with a link's length for each 30 degrees.
        let at = [station.longitude, -station.latitude].map(|angle| angle * 6.0 / PI);
        nodes.push(builder.named_host(name, Some(at))?);
    }
    for ([one, other], course) in courses(&sky, &times) {
        builder.link_over_time(nodes[one], nodes[other], "path", course.steps)?;
    }
    Some(())
}

/// The error if this takes more time or memory than a lab file may.
fn check(builder: &mut TopologyBuilder<'_, '_>, sky: &Sky, times: &Times) -> Option<()> {
    let count = sky.stations.len() as u64;
    let choices = times.end.div_ceil(times.routes);
    let searched = choices.saturating_mul(count).saturating_mul(sky.shell.count() as u64);
    if searched > MOST_SEARCHED {
        let message = format!(
            "{choices} choices of paths of {count} stations over {} satellites are too many to compute: choose them less often",
            sky.shell.count()
        );
        return builder.wrong("routes", message);
    }
    let each = (times.end / times.step).saturating_add(choices.saturating_mul(4));
    let points = each.saturating_mul(count * (count - 1) / 2);
    if points > MOST_POINTS {
        let message = format!(
            "the delays of all pairs would have {points} points, and {MOST_POINTS} are possible: write a longer `step`"
        );
        return builder.wrong("step", message);
    }
    Some(())
}

/// The schedules of all pairs of stations.
fn courses(sky: &Sky, times: &Times) -> Vec<([usize; 2], Course)> {
    let count = sky.stations.len();
    let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| [one, other]));
    let mut all: Vec<([usize; 2], Course)> = pairs.map(|pair| (pair, Course::default())).collect();
    let mut from = 0;
    while from < times.end {
        let to = from.saturating_add(times.routes).min(times.end);
        let paths = sky.paths(from as f64 / 1e9);
        for ([one, other], course) in &mut all {
            let path = paths[*one][*other - *one - 1].as_deref();
            sky.course([*one, *other], path, [from, to], times.step).into_iter().for_each(|point| course.add(point));
        }
        from = to;
    }
    all
}

/// The schedule of a link as far as it is known.
#[derive(Default)]
struct Course {
    steps: Vec<MadeStep>,
    /// Whether everything is lost by then.
    is_lost: bool,
}

impl Course {
    /// Adds a point: between two there are straight lines, but losses begin and end at once.
    fn add(&mut self, point: Point) {
        let is_lost = point.delay.is_none();
        let changes = is_lost != self.is_lost;
        if changes && !self.steps.is_empty() {
            // Just before, all is still as it was.
            let before = Duration::from_nanos(point.at.saturating_sub(1));
            match self.steps.last_mut() {
                Some(last) if last.at >= before => last.is_lost = Some(self.is_lost),
                _ => self.steps.push(MadeStep { at: before, delay: None, is_lost: Some(self.is_lost) }),
            }
        }
        // What changes neither delay nor losses needs no step.
        if point.delay.is_some() || changes {
            let delay = point.delay.map(Duration::from_nanos);
            let at = Duration::from_nanos(point.at);
            self.steps.push(MadeStep { at, delay, is_lost: changes.then_some(is_lost) });
        }
        self.is_lost = is_lost;
    }
}

fn shell(builder: &mut TopologyBuilder<'_, '_>) -> Option<Shell> {
    let planes = builder.count("planes");
    let each = builder.count("satellites");
    let altitude = kilometres(builder, "altitude", ALTITUDES);
    let inclination = builder.number("inclination", 53.0, 180.0);
    let (planes, each) = (planes?, each?);
    let phasing = phasing(builder, planes);
    Some(Shell { planes, each, altitude: altitude? * 1e3, inclination: inclination? * PI / 180.0, phasing: phasing? })
}

fn phasing(builder: &mut TopologyBuilder<'_, '_>, planes: usize) -> Option<Phasing> {
    let text = builder.text_or("phasing", "0")?;
    if text == "alternate" {
        return Some(Phasing::Alternate);
    }
    let number: Option<usize> = text.parse().ok().filter(|number| *number < planes);
    number.map(Phasing::Walker).or_else(|| {
        let most = planes - 1;
        builder.wrong(
            "phasing",
            format!("\"{text}\" is not a whole number from 0 to {most}, less than the planes, and not `alternate`"),
        )
    })
}

fn reach(builder: &mut TopologyBuilder<'_, '_>) -> Option<Reach> {
    if !builder.has("range") {
        let least = builder.number("elevation", ELEVATION, 90.0)?;
        return Some(Reach::Elevation(libm::sin(least * PI / 180.0)));
    }
    if builder.has("elevation") {
        return builder.wrong("range", "`elevation` says which satellites are reached, too: leave one of them out");
    }
    Some(Reach::Range(kilometres(builder, "range", ALTITUDES)? * 1e3))
}

/// A length like `550 km` under a key.
fn kilometres(builder: &mut TopologyBuilder<'_, '_>, key: &str, [least, most]: [f64; 2]) -> Option<f64> {
    if !builder.has(key) {
        return None;
    }
    let text = builder.text_or(key, "")?;
    let number: Option<f64> = text.strip_suffix("km").and_then(|number| number.trim().parse().ok());
    number.filter(|number| (least..=most).contains(number)).or_else(|| {
        builder.wrong(key, format!("\"{text}\" is not a length from {least} km to {most} km: write for example 550 km"))
    })
}

/// The ground stations with their names.
fn stations(builder: &mut TopologyBuilder<'_, '_>) -> Option<Vec<(String, Station)>> {
    let mut stations = Vec::new();
    for (name, value) in builder.entries("stations")? {
        let degrees = value.items().iter().map(|one| one.plain().and_then(|text| text.parse::<f64>().ok()));
        let degrees: Option<Vec<f64>> = degrees.collect();
        let [latitude, longitude] = degrees.as_deref().unwrap_or_default() else {
            let message = format!("`{name}` needs a latitude and a longitude in degrees, for example [48.86, 2.35]");
            return builder.fail(value, message);
        };
        if !(latitude.abs() <= 90.0 && longitude.abs() <= 180.0) {
            let message =
                "a latitude is from -90 to 90 degrees, a longitude from -180 to 180: write for example [48.86, 2.35]";
            return builder.fail(value, message);
        }
        let [latitude, longitude] = [latitude, longitude].map(|angle| angle * PI / 180.0);
        stations.push((name.to_owned(), Station { latitude, longitude }));
    }
    if stations.len() < 2 {
        return builder.wrong(
            "stations",
            "two stations at least are needed, for example {paris: [48.86, 2.35], luanda: [-8.84, 13.23]}",
        );
    }
    Some(stations)
}

#[cfg(test)]
mod tests;
