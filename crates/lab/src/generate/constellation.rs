//! `constellation`: ground stations that reach one another over satellites.
//!
//! Satellites with lasers between neighbours (+Grid), of a Walker shell or of a file of two-line elements, turn above a turning Earth. Each `routes` the shortest path between each pair of
//! stations is chosen anew; it is one link of the lab, whose schedule has the delay over this path each `step`, with straight lines
//! between, and where a satellite sets before the next choice, everything is lost from that instant on. Satellites are no nodes of the
//! lab: paths of different pairs share no queue.

mod access;
mod course;
mod elements;
mod orbits;
mod paths;
mod reading;
mod satellites;

use super::builder::TopologyBuilder;
use crate::forms::word_form;
use access::Access;
use course::{Times, courses};
use elements::Elements;
use netloom_units::Duration;
use orbits::{Phasing, Reach, Shell, Station};
use paths::Sky;
pub(super) use reading::Starlink;
use satellites::Orbits;
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
/// How many points an access has in an interval.
const CHANGES: u64 = 8;
/// The orbits that are taken for low or high ones, in kilometres.
const ALTITUDES: [f64; 2] = [100.0, 100_000.0];

pub(super) fn constellation(builder: &mut TopologyBuilder<'_, '_>) -> Option<()> {
    let reach = reach(builder);
    let names = stations(builder);
    let end = builder.time("for", ROUTES)?.as_nanos();
    let orbits = orbits(builder, end);
    let (names, stations): (Vec<String>, Vec<Station>) = names?.into_iter().unzip();
    let (orbits, is_joined) = (orbits?, !builder.has("lasers") || builder.form::<Lasers>("lasers")?);
    let lasers = if is_joined { orbits.lasers() } else { Vec::new() };
    let sky = Sky { orbits, lasers, stations, reach: reach? };
    let mut access = None;
    if builder.has("access") {
        access = Some(reading::access(builder, &names, sky.orbits.start())?);
    }
    let times = times(builder, end, access.as_ref())?;
    check(builder, &sky, &times, access.as_ref())?;
    let mut nodes = Vec::new();
    for (name, station) in names.into_iter().zip(&sky.stations) {
        // A map with a link's length for each 30 degrees.
        let at = [station.longitude, -station.latitude].map(|angle| angle * 6.0 / PI);
        nodes.push(builder.named_host(name, Some(at))?);
    }
    for ([one, other], steps) in courses(&sky, &times, access.as_ref()) {
        builder.link_over_time(nodes[one], nodes[other], "path", steps)?;
    }
    Some(())
}

/// When paths are chosen: those of an access change with it, unless the file says otherwise.
fn times(builder: &mut TopologyBuilder<'_, '_>, end: u64, access: Option<&Access>) -> Option<Times> {
    let step = builder.time("step", STEP)?.as_nanos();
    let convergence = builder.time("convergence", Duration::ZERO)?.as_nanos();
    let times = |routes, second| Times { end, routes, second, convergence, step };
    if builder.has("routes") && builder.text_or("routes", "")? == "instantly" {
        return Some(times(None, step));
    }
    let routes = builder.time("routes", ROUTES)?.as_nanos();
    Some(match access.filter(|_| !builder.has("routes")) {
        Some(access) => times(Some(access.every), if access.first == 0 { access.every } else { access.first }),
        None => times(Some(routes), routes),
    })
}

/// The error if this takes more time or memory than a lab file may.
fn check(builder: &mut TopologyBuilder<'_, '_>, sky: &Sky, times: &Times, access: Option<&Access>) -> Option<()> {
    let count = sky.stations.len() as u64;
    let choices = times.choices();
    let searched = choices.saturating_mul(count).saturating_mul(sky.orbits.count() as u64);
    if searched > MOST_SEARCHED {
        let message = format!(
            "{choices} choices of paths of {count} stations over {} satellites are too many to compute: choose them less often",
            sky.orbits.count()
        );
        return builder.wrong("routes", message);
    }
    // Each end of a path has so many changes in an interval.
    let changes = access.map_or(0, |access| (2 + times.end / access.every).saturating_mul(2 * CHANGES));
    let each = (times.end / times.step).saturating_add(choices.saturating_mul(4)).saturating_add(changes);
    let points = each.saturating_mul(count * (count - 1) / 2);
    if points > MOST_POINTS {
        let message = format!(
            "the delays of all pairs would have {points} points, and {MOST_POINTS} are possible: write a longer `step`"
        );
        return builder.wrong("step", message);
    }
    Some(())
}

word_form! {
    /// Whether satellites are joined by lasers.
    pub(in crate::generate) struct Lasers = bool { "grid" = true, "none" = false }
}

/// The satellites.
fn orbits(builder: &mut TopologyBuilder<'_, '_>, end: u64) -> Option<Orbits> {
    const SHELL: [&str; 5] = ["planes", "satellites", "altitude", "inclination", "phasing"];
    if !builder.has("tle") {
        if builder.has("start") {
            return builder.wrong("start", "a shell without a file has no dates: leave `start` out, or write `tle`");
        }
        return shell(builder).map(Orbits::Shell);
    }
    if let Some(key) = SHELL.into_iter().find(|key| builder.has(key)) {
        return builder.wrong(key, format!("the satellites of `tle` have their orbits: leave `{key}` out, or `tle`"));
    }
    let mut start = None;
    if builder.has("start") {
        match elements::date(&builder.text_or("start", "")?) {
            Ok(at) => start = Some(at),
            Err(wrong) => return builder.wrong("start", wrong),
        }
    }
    let (name, text) = builder.file("tle")?;
    match Elements::read(&text, start, end) {
        Ok(elements) => Some(Orbits::Elements(elements)),
        Err(wrong) => builder.wrong("tle", format!("{name}: {wrong}")),
    }
}

fn shell(builder: &mut TopologyBuilder<'_, '_>) -> Option<Shell> {
    for (key, example) in [("planes", "34"), ("satellites", "34"), ("altitude", "630 km")] {
        if !builder.has(key) {
            return builder.lacks(key, example);
        }
    }
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
