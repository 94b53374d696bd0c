//! Paths in XML: tracks of GPX 1.1, tracks of KML (`gx:Track`), and SUMO's floating car data.
//!
//! Sources: Topografix, GPX 1.1; OGC 12-007r2 (KML 2.3, `Track`); SUMO's documentation, "FCDOutput".
//! Heights are not looked at: those of the files are above the sea, and a node's is above the ground.

use super::globe::{Origin, instant};
use super::{Found, WrongLine, position, time};
use netloom_radio::{Metres, Waypoint};
use netloom_units::Duration;
use roxmltree::{Document, Node, ParsingOptions};

/// The most elements, texts and attributes that are read.
const MOST_NODES: u32 = 16_000_000;

/// A file of XML, and where x = y = 0 is; none: at the first place of the file.
pub(super) struct Scene<'a> {
    pub(super) text: &'a str,
    pub(super) height: Metres,
    pub(super) origin: Option<Origin>,
}

/// A place at an instant.
struct Fix<'a, 'b> {
    node: Node<'a, 'b>,
    at: i64,
    place: Origin,
}

impl Scene<'_> {
    fn open(&self) -> Result<Document<'_>, WrongLine> {
        let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
        Document::parse_with_options(self.text, options)
            .map_err(|error| WrongLine(error.pos().row as usize, format!("this is not XML: {error}")))
    }

    /// Tracks of GPX: the points of all segments of a `trk`, which is named by its `name`.
    pub(super) fn gpx(&self, found: &mut Found) -> Result<(), WrongLine> {
        let document = self.open()?;
        let mut tracks = Vec::new();
        for track in elements(document.root(), "trk") {
            let fixes = elements(track, "trkpt").map(|point| {
                let [latitude, longitude] = ["lat", "lon"].map(|name| point.attribute(name).unwrap_or_default());
                let said = child(point, "time")
                    .ok_or_else(|| wrong(point, "a point without `time`: nobody knows when it was there"))?;
                Ok(Fix { node: point, at: at(said)?, place: place(point, latitude, longitude)? })
            });
            tracks.push((child(track, "name"), fixes.collect::<Result<_, WrongLine>>()?));
        }
        self.put(&tracks, found)
    }

    /// Tracks of KML: a `gx:Track` has as many `when` as `gx:coord`, and the name of its `Placemark`.
    pub(super) fn kml(&self, found: &mut Found) -> Result<(), WrongLine> {
        let document = self.open()?;
        let mut tracks = Vec::new();
        for track in elements(document.root(), "Track") {
            let whens = elements(track, "when");
            let (places, instants) = (elements(track, "coord").count(), elements(track, "when").count());
            if places != instants {
                let message = format!("a track with {instants} `when` and {places} `coord`: it has as many of both");
                return Err(wrong(track, &message));
            }
            let fixes = elements(track, "coord").zip(whens).map(|(coordinates, when)| {
                let mut parts = coordinates.text().unwrap_or_default().split_whitespace();
                let (longitude, latitude) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                Ok(Fix { node: coordinates, at: at(when)?, place: place(coordinates, latitude, longitude)? })
            });
            let fixes = fixes.collect::<Result<_, WrongLine>>()?;
            let named = track.ancestors().find(|above| above.tag_name().name() == "Placemark");
            tracks.push((named.and_then(|above| child(above, "name")), fixes));
        }
        self.put(&tracks, found)
    }

    /// Puts tracks of instants and places there, from the first instant on.
    fn put(&self, tracks: &[(Option<Node<'_, '_>>, Vec<Fix<'_, '_>>)], found: &mut Found) -> Result<(), WrongLine> {
        let all = || tracks.iter().flat_map(|(_, fixes)| fixes);
        let Some(first) = all().map(|fix| fix.at).min() else { return Ok(()) };
        let Some(origin) = self.origin.or_else(|| all().next().map(|fix| fix.place)) else { return Ok(()) };
        for (named, fixes) in tracks {
            let name = named.and_then(|named| named.text()).unwrap_or_default().trim();
            for fix in fixes {
                let at = Duration::from_nanos(fix.at.abs_diff(first));
                let waypoint = Waypoint { at, position: origin.position(fix.place, self.height) };
                found.push(0, name, waypoint).map_err(|error| placed(fix.node, error))?;
            }
        }
        Ok(())
    }

    /// SUMO's floating car data: steps of time with the places of vehicles and persons, in metres; with an origin in degrees (`--fcd-output.geo`).
    pub(super) fn fcd(&self, found: &mut Found) -> Result<(), WrongLine> {
        let document = self.open()?;
        for step in elements(document.root(), "timestep") {
            let at = time(0, step.attribute("time").unwrap_or_default()).map_err(|error| placed(step, error))?;
            for mover in step.children().filter(Node::is_element) {
                let [name, x, y] = ["id", "x", "y"].map(|name| mover.attribute(name).unwrap_or_default());
                let position = match self.origin {
                    Some(origin) => origin.position(place(mover, y, x)?, self.height),
                    None => position(0, (x, y), self.height).map_err(|error| placed(mover, error))?,
                };
                found.push(0, name, Waypoint { at, position }).map_err(|error| placed(mover, error))?;
            }
        }
        Ok(())
    }
}

/// All elements of a name below a node, in the order of the file.
fn elements<'a, 'b>(node: Node<'a, 'b>, name: &'static str) -> impl Iterator<Item = Node<'a, 'b>> {
    node.descendants().filter(move |below| below.is_element() && below.tag_name().name() == name)
}

fn child<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Option<Node<'a, 'b>> {
    node.children().find(|child| child.tag_name().name() == name)
}

fn at(node: Node<'_, '_>) -> Result<i64, WrongLine> {
    instant(0, node.text().unwrap_or_default()).map_err(|error| placed(node, error))
}

fn place(node: Node<'_, '_>, latitude: &str, longitude: &str) -> Result<Origin, WrongLine> {
    Origin::read(0, latitude, longitude).map_err(|error| placed(node, error))
}

/// The error at the line of an element: lines are counted for errors alone, since each count reads the file from its beginning.
fn placed(node: Node<'_, '_>, WrongLine(_, message): WrongLine) -> WrongLine {
    WrongLine(node.document().text_pos_at(node.range().start).row as usize, message)
}

fn wrong(node: Node<'_, '_>, message: &str) -> WrongLine {
    placed(node, WrongLine(0, message.to_owned()))
}
