//! Files with the paths of nodes: those of ns-2's `setdest`, of BonnMotion, tables in CSV, tracks of GPX and KML, and SUMO's floating car data.
//!
//! A line that cannot be understood is an error with its number. Times are in seconds and lengths in metres; times are rounded to nanoseconds.
//! Latitudes and longitudes become metres from an [origin](Origin).

mod bonnmotion;
mod csv;
mod globe;
mod setdest;
mod xml;

pub(crate) use globe::Origin;

use crate::words::words;
use netloom_radio::{Metres, Path, Position, Waypoint};
use netloom_units::Duration;
use std::collections::BTreeMap;

/// A format of files with paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TrackFormat {
    /// Commands of ns-2.
    Setdest,
    /// A line for each node.
    BonnMotion,
    /// A table.
    Csv,
    /// Tracks of GPX.
    Gpx,
    /// Tracks of KML.
    Kml,
    /// SUMO's floating car data.
    Fcd,
}

impl TrackFormat {
    /// Whether its places may be latitudes and longitudes.
    pub(crate) fn knows_degrees(self) -> bool {
        matches!(self, Self::Gpx | Self::Kml | Self::Fcd)
    }
}

words!(TrackFormat {
    "setdest" = Self::Setdest,
    "bonnmotion" = Self::BonnMotion,
    "csv" = Self::Csv,
    "gpx" = Self::Gpx,
    "kml" = Self::Kml,
    "fcd" = Self::Fcd,
});

/// The latest time in seconds: 31 years.
const LATEST: f64 = 1e9;

/// The paths of a file, by names of nodes.
pub(crate) type Tracks = BTreeMap<String, Vec<Waypoint>>;

/// An error in a line: its number from 1, and what is wrong.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrongLine(pub(crate) usize, pub(crate) String);

/// Where on Earth a file is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ground {
    /// The height of nodes whose file says none.
    pub(crate) height: Metres,
    /// Where x = y = 0 is; none: at the first place of a file with latitudes and longitudes.
    pub(crate) origin: Option<Origin>,
}

/// All paths of a file, with at most so many waypoints.
pub(crate) fn read(text: &str, format: TrackFormat, ground: Ground, most: usize) -> Result<Tracks, WrongLine> {
    let mut found = Found { tracks: Tracks::new(), count: 0, most };
    let Ground { height, origin } = ground;
    let scene = xml::Scene { text, height, origin };
    match format {
        TrackFormat::Setdest => setdest::read(text, height, &mut found)?,
        TrackFormat::BonnMotion => bonnmotion::read(text, height, &mut found)?,
        TrackFormat::Csv => csv::read(text, height, &mut found)?,
        TrackFormat::Gpx => scene.gpx(&mut found)?,
        TrackFormat::Kml => scene.kml(&mut found)?,
        TrackFormat::Fcd => scene.fcd(&mut found)?,
    }
    Ok(found.tracks)
}

/// The way of a node: instants and places, to the east and to the north in metres.
pub type Way = Vec<(Duration, [f64; 2])>;

/// Returns the ways of nodes in a scenario of ns-2, as its `setdest` writes them.
///
/// # Errors
/// The number of a line that is wrong, and what is wrong with it.
pub fn setdest(text: &str) -> Result<BTreeMap<String, Way>, (usize, String)> {
    let ground = Ground { height: Metres(0.0), origin: None };
    let tracks = read(text, TrackFormat::Setdest, ground, MOST).map_err(|WrongLine(line, wrong)| (line, wrong))?;
    let place = |waypoint: Waypoint| (waypoint.at, [waypoint.position.x.0, waypoint.position.y.0]);
    Ok(tracks.into_iter().map(|(name, track)| (name, track.into_iter().map(place).collect())).collect())
}

/// Paths while a file is read.
struct Found {
    tracks: Tracks,
    count: usize,
    most: usize,
}

impl Found {
    /// A node is somewhere at a time, which is later than all that was said of it.
    fn push(&mut self, line: usize, node: &str, waypoint: Waypoint) -> Result<(), WrongLine> {
        if self.count >= self.most {
            return Err(WrongLine(line, format!("all paths of a lab together have at most {MOST} waypoints")));
        }
        if !self.tracks.contains_key(node) {
            self.tracks.insert(node.to_owned(), Vec::new());
        }
        let Some(track) = self.tracks.get_mut(node) else { return Ok(()) };
        if track.len() >= Path::MOST_WAYPOINTS {
            return Err(WrongLine(line, format!("a path has at most {} waypoints", Path::MOST_WAYPOINTS)));
        }
        waypoint.check(track.last().copied()).map_err(|wrong| WrongLine(line, format!("node `{node}`: {wrong}")))?;
        track.push(waypoint);
        self.count += 1;
        Ok(())
    }
}

/// The most waypoints of all nodes of a lab.
pub(crate) const MOST: usize = 2_000_000;

/// A number of a file.
fn number(line: usize, text: &str, what: &str) -> Result<f64, WrongLine> {
    let known: Option<f64> = text.trim().parse().ok();
    known.filter(|number| number.is_finite()).ok_or_else(|| {
        let found: String = text.chars().take(40).collect();
        WrongLine(line, format!("`{found}` is not {what}: write a number, for example 12.5"))
    })
}

/// A time of a file, in seconds.
fn time(line: usize, text: &str) -> Result<Duration, WrongLine> {
    let seconds = number(line, text, "a time in seconds")?;
    if !(0.0..=LATEST).contains(&seconds) {
        return Err(WrongLine(line, format!("{} is not a time from 0 to {LATEST} seconds", text.trim())));
    }
    Ok(nanos(seconds))
}

fn nanos(seconds: f64) -> Duration {
    Duration::from_nanos((seconds * 1e9).round().clamp(0.0, 1e18) as u64)
}

fn position(line: usize, (x, y): (&str, &str), height: Metres) -> Result<Position, WrongLine> {
    let metres = |text, what| number(line, text, what).map(Metres);
    Ok(Position { x: metres(x, "an x in metres")?, y: metres(y, "a y in metres")?, z: height })
}

#[cfg(test)]
mod tests;
