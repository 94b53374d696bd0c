//! Satellites whose orbits a file of two-line elements (TLE) describes, by SGP4.
//!
//! Source: F. Hoots, R. Roehrich, "Models for propagation of NORAD element sets", Spacetrack report 3, 1980; D. Vallado et al., "Revisiting
//! Spacetrack report 3", AIAA 2006-6753. The crate `sgp4` computes with the sines of the system, whose last bit may differ between machines;
//! places are therefore rounded to millimetres, a million times as much.

mod grid;

use super::orbits::{EARTH, Place, distance};
use grid::Turn;
use sgp4::{Constants, MinutesSinceEpoch};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// How many satellites a file may describe: more than are in orbit.
const MOST: usize = 50_000;
/// How many characters a line of elements has.
const WIDTH: usize = 69;
/// How long before or after its epoch a satellite's elements are used, in nanoseconds: SGP4 is some kilometres off after a week.
const MOST_AGE: i64 = 30 * DAY;
const DAY: i64 = 86_400_000_000_000;
/// At and below this height satellites come down, in kilometres.
const LOWEST: f64 = 100.0;
/// 2000-01-01 12:00 UTC, in nanoseconds after 1970.
const J2000: i64 = 946_728_000_000_000_000;
/// How time zero is written.
const DATE: &str = "%Y-%m-%dT%H:%M:%SZ";

/// Satellites of a file, as they are from an instant on.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    satellites: Vec<Satellite>,
    /// Time zero, in nanoseconds after 1970-01-01 00:00 UTC.
    start: i64,
}

/// A satellite of a file.
#[derive(Clone, Debug)]
struct Satellite {
    /// Its number in the catalogue.
    number: u64,
    /// The line of the file with the first of its elements.
    line: usize,
    /// When its elements were true, in nanoseconds after 1970.
    epoch: i64,
    constants: Constants,
}

/// The instant that a text like `2026-11-01T12:00:00Z` means, in nanoseconds after 1970.
///
/// # Errors
/// What would be right.
pub(super) fn date(text: &str) -> Result<i64, String> {
    let read = sgp4::chrono::NaiveDateTime::parse_from_str(text, DATE).ok();
    read.and_then(|date| date.and_utc().timestamp_nanos_opt()).ok_or_else(|| {
        format!("\"{text}\" is not an instant in UTC from 1957 on: write for example 2026-11-01T12:00:00Z")
    })
}

impl Elements {
    /// The satellites that a text describes, in two lines each, with or without a line of its name before. Time zero is `start`, or the latest
    /// epoch in whole seconds, and they have to be in orbit for so many nanoseconds from then on.
    ///
    /// # Errors
    /// The number of a line, and what would be right.
    pub(super) fn read(text: &str, start: Option<i64>, span: u64) -> Result<Self, String> {
        let satellites = satellites(text)?;
        let latest = satellites.iter().map(|satellite| satellite.epoch).max();
        let latest =
            latest.ok_or("no satellite is in this file: each has two lines of elements, which begin with 1 and 2")?;
        let start = start.unwrap_or(latest - latest.rem_euclid(1_000_000_000));
        let elements = Self { satellites, start };
        elements.satellites.iter().try_for_each(|satellite| elements.check(satellite, span))?;
        Ok(elements)
    }

    /// The error if nothing can be said about where a satellite is during a lab.
    fn check(&self, satellite: &Satellite, span: u64) -> Result<(), String> {
        let Satellite { line, number, epoch, .. } = satellite;
        for after in [0, span] {
            let age = self.start.saturating_add_unsigned(after).saturating_sub(*epoch);
            if age.saturating_abs() > MOST_AGE {
                let (days, side) = (age.saturating_abs() / DAY, if age < 0 { "before" } else { "after" });
                return Err(format!(
                    "line {line}: the lab is {days} days {side} the epoch of satellite {number}, and 30 at most are possible: take \
                     elements of that time, or write another `start`"
                ));
            }
            let found = satellite.at(self.start, after as f64 / 1e9);
            let found = found.map_err(|wrong| wrong.to_string()).and_then(|found| {
                let height = (distance(&found.position, &[0.0; 3]) - EARTH / 1e3).round();
                if height > LOWEST { Ok(()) } else { Err(format!("it would be {height} km above the ground")) }
            });
            found
                .map_err(|wrong| format!("line {line}: satellite {number} is not in orbit during the lab: {wrong}"))?;
        }
        Ok(())
    }

    pub(super) fn count(&self) -> usize {
        self.satellites.len()
    }

    pub(super) fn start(&self) -> i64 {
        self.start
    }

    /// Where a satellite is so many seconds after time zero; one that came down meanwhile is in the middle of Earth, where nothing sees it.
    pub(super) fn place(&self, satellite: usize, seconds: f64) -> Place {
        let found = self.satellites[satellite].at(self.start, seconds);
        found.map_or([0.0; 3], |found| found.position.map(|part| (part * 1e6).round() / 1e3))
    }

    /// Greenwich's angle at time zero, in radians.
    pub(super) fn greenwich(&self) -> f64 {
        // In whole nanoradians: the ground moves by 6 mm.
        let angle = sgp4::iau_epoch_to_sidereal_time((self.start - J2000) as f64 / (365.25 * DAY as f64));
        (angle.rem_euclid(TAU) * 1e9).round() / 1e9
    }

    /// The pairs of satellites that are joined by lasers.
    pub(super) fn lasers(&self) -> Vec<[usize; 2]> {
        let turns = self.satellites.iter().map(|one| one.at(self.start, 0.0).ok().map(|found| Turn::of(&found)));
        grid::lasers(&turns.collect::<Vec<_>>())
    }
}

impl Satellite {
    fn at(&self, start: i64, seconds: f64) -> Result<sgp4::Prediction, sgp4::Error> {
        let minutes = (start - self.epoch) as f64 / 60e9 + seconds / 60.0;
        self.constants.propagate_afspc_compatibility_mode(MinutesSinceEpoch(minutes))
    }
}

/// The satellites of a text.
fn satellites(text: &str) -> Result<Vec<Satellite>, String> {
    let mut found: Vec<Satellite> = Vec::new();
    let mut known: BTreeMap<u64, usize> = BTreeMap::new();
    let written = text.lines().enumerate().map(|(place, line)| (place + 1, line.trim_end()));
    let mut lines = written.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).peekable();
    while let Some((number, line)) = lines.next() {
        if line.starts_with("2 ") {
            return Err(format!("line {number}: no line that begins with 1 is before this second line of elements"));
        }
        if !line.starts_with("1 ") {
            // The name of a satellite, after which its elements come.
            if lines.peek().is_none_or(|(_, next)| !next.starts_with("1 ")) {
                return Err(format!(
                    "line {number}: this is neither a line of elements nor the name of a satellite: after a name come two lines that \
                     begin with 1 and 2"
                ));
            }
            continue;
        }
        let Some((second, other)) = lines.next().filter(|(_, next)| next.starts_with("2 ")) else {
            return Err(format!(
                "line {number}: no second line of elements, which begins with 2, is after this first one"
            ));
        };
        checked(number, line)?;
        checked(second, other)?;
        let satellite = satellite(number, [line, other])?;
        if let Some(first) = known.insert(satellite.number, number) {
            let twice = satellite.number;
            return Err(format!("line {number}: satellite {twice} is in line {first} already: leave one of them out"));
        }
        if found.len() == MOST {
            return Err(format!("line {number}: more than {MOST} satellites are in this file: leave some out"));
        }
        found.push(satellite);
    }
    Ok(found)
}

/// The error if a line cannot be one of elements: what the crate takes for granted, and its checksum.
fn checked(number: usize, line: &str) -> Result<(), String> {
    if let Some(strange) =
        line.chars().find(|one| !one.is_ascii_digit() && !one.is_ascii_uppercase() && !" +-.".contains(*one))
    {
        return Err(format!(
            "line {number}: {strange:?} is in no line of elements: these have digits, capitals, spaces, +, - and ."
        ));
    }
    if line.len() != WIDTH {
        return Err(format!("line {number}: a line of elements has {WIDTH} characters, and this one {}", line.len()));
    }
    let (digits, last) = line.split_at(WIDTH - 1);
    let sum: u32 = digits.chars().map(|one| if one == '-' { 1 } else { one.to_digit(10).unwrap_or(0) }).sum();
    let right = sum % 10;
    if last.chars().next().and_then(|last| last.to_digit(10)) != Some(right) {
        return Err(format!(
            "line {number}: the checksum at its end is {last}, and what is before it gives {right}: take the line anew from its source"
        ));
    }
    Ok(())
}

/// The satellite of two lines that were checked, the first of which has this number.
fn satellite(number: usize, [line, other]: [&str; 2]) -> Result<Satellite, String> {
    let lines = format!("lines {number} and that after it");
    let read = sgp4::Elements::from_tle(None, line.as_bytes(), other.as_bytes());
    let read = read.map_err(|wrong| format!("{lines}: these are no elements of a satellite: {wrong}"))?;
    let angles = [read.right_ascension, read.argument_of_perigee, read.mean_anomaly];
    let is_sound = (0.0..=180.0).contains(&read.inclination)
        && angles.iter().all(|angle| (0.0..=360.0).contains(angle))
        && (0.0..=20.0).contains(&read.mean_motion)
        && read.mean_motion > 0.0
        && read.drag_term.abs() <= 1.0;
    if !is_sound {
        return Err(format!(
            "{lines}: an inclination is from 0 to 180 degrees, the other angles from 0 to 360, revolutions per day above 0 and at most 20, \
             and a drag term from -1 to 1"
        ));
    }
    let epoch = read.datetime.and_utc().timestamp_nanos_opt();
    let epoch = epoch.ok_or_else(|| format!("{lines}: this epoch is not from 1957 to 2056"))?;
    let constants = Constants::from_elements_afspc_compatibility_mode(&read);
    let constants = constants.map_err(|wrong| format!("{lines}: no orbit has these elements: {wrong}"))?;
    Ok(Satellite { number: read.norad_id, line: number, epoch, constants })
}

#[cfg(test)]
mod tests;
