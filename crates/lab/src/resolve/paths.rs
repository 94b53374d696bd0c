//! The paths of nodes: those that are drawn, and those of files, each of which is read once.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::spec::{NodeSpec, PathSpec, PlaceSpec, Spec, TrackFile};
use crate::tracks::{self, Origin, TrackFormat, Tracks};
use crate::yaml::Node;
use netloom_radio::{ConfigError, Path, Waypoint};
use netloom_units::{Duration, Seed};
use std::collections::BTreeMap;

/// For so long nodes whose paths are drawn move at least.
const LEAST_SPAN: Duration = Duration::from_secs(3_600);

/// The files that were read: by name and format, and the bits of height and origin.
type Files = BTreeMap<(String, TrackFormat, u64, Option<[u64; 2]>), Option<Tracks>>;

/// Where on Earth the map has its origin: where the file says, or at its first position in degrees, of nodes and then of stations; none if nothing is
/// in degrees.
pub(super) fn origin(spec: &Spec) -> Option<Origin> {
    let of_node = |node: &NodeSpec| {
        let standing = node.position.and_then(PlaceSpec::on_earth);
        standing.or_else(|| node.path.as_ref().and_then(PathSpec::on_earth))
    };
    let of_stations = spec.links.iter().filter_map(|link| Some(link.shared.as_ref()?.value.positions()));
    let of_nodes = || spec.nodes.iter().find_map(of_node);
    spec.origin.or_else(of_nodes).or_else(|| of_stations.flatten().find_map(PlaceSpec::on_earth))
}

/// The way of each node: its path, or its position; none of nodes that are nowhere, or whose errors were noted.
pub(super) fn settle(spec: &Spec, errors: &mut Errors) -> Vec<Option<Path>> {
    let usual = spec.duration.map_or(LEAST_SPAN, |duration| duration.max(LEAST_SPAN));
    let seed = spec.seed.unwrap_or(super::SEED);
    let mut scene = Scene { files: Files::new(), left: tracks::MOST, seed, usual, origin: origin(spec) };
    let mut paths: Vec<_> = spec.nodes.iter().map(|node| scene.alone(node, errors)).collect();
    for (place, node) in spec.nodes.iter().enumerate() {
        let Some(PathSpec::Group { group, leader, span, place: map }) = &node.path else { continue };
        let Some(led) = keep(led_by(leader, spec, &paths), errors).flatten() else { continue };
        let own = scene.drawn(node, *span, map, |time, own| group.path(&led, time, own));
        paths[place] = keep(own, errors);
    }
    paths
}

/// The path of the leader of a group; none if what is wrong with it was said there.
fn led_by(leader: &Spanned<String>, spec: &Spec, paths: &[Option<Path>]) -> Result<Option<Path>, Diagnostic> {
    let name = &leader.value;
    let Some(place) = spec.nodes.iter().position(|node| node.name.value == *name) else {
        return Err(leader.error(format!("there is no node `{name}`")));
    };
    match (&spec.nodes[place].path, spec.nodes[place].position) {
        (Some(PathSpec::Group { .. }), _) => {
            Err(leader.error(format!("`{name}` follows somebody itself: write the node that leads its group")))
        }
        (None, None) => Err(leader.error(format!("`{name}` is nowhere: give it a `path` or a `position`"))),
        _ => Ok(paths[place].clone()),
    }
}

/// The paths while they are made.
struct Scene {
    files: Files,
    /// How many waypoints all further paths may have.
    left: usize,
    seed: Seed,
    usual: Duration,
    origin: Option<Origin>,
}

impl Scene {
    /// The way of a node that does not depend on those of others.
    fn alone(&mut self, node: &NodeSpec, errors: &mut Errors) -> Option<Path> {
        match node.path.as_ref() {
            None => node.position.map(|place| place.position(self.origin).into()),
            Some(PathSpec::Known(path)) => Some(path.clone()),
            Some(PathSpec::OnEarth { waypoints, repeat, place }) => {
                keep(self.on_earth(waypoints, *repeat, place), errors)
            }
            Some(PathSpec::Drawn { generator, area, span, place }) => {
                keep(self.drawn(node, *span, place, |time, own| generator.path(*area, time, own)), errors)
            }
            Some(PathSpec::File(file)) => self.of_file(file, node, errors),
            Some(PathSpec::Group { .. }) => None,
        }
    }

    /// A path through waypoints, with those in degrees on the map around the origin.
    fn on_earth(
        &self,
        waypoints: &[(Duration, PlaceSpec)],
        repeat: Option<Duration>,
        place: &Node,
    ) -> Result<Path, Diagnostic> {
        let waypoint = |(at, own): &(Duration, PlaceSpec)| Waypoint { at: *at, position: own.position(self.origin) };
        let waypoints: Vec<Waypoint> = waypoints.iter().map(waypoint).collect();
        Path::through(&waypoints, repeat).map_err(|wrong| place.value(wrong.key).unwrap_or(place).error(wrong.message))
    }

    /// A path that is drawn from the seed of a node, for the span that is written at `place`.
    fn drawn(
        &mut self,
        node: &NodeSpec,
        span: Option<Duration>,
        place: &Node,
        draw: impl FnOnce(Duration, Seed) -> Result<Path, ConfigError>,
    ) -> Result<Path, Diagnostic> {
        let own = self.seed.derive("path").derive(&node.name.value);
        let path = draw(span.unwrap_or(self.usual), own).map_err(|wrong| match place.value(wrong.key) {
            Some(key) => key.error(wrong.message),
            None => place.error(format!("{}: {}", wrong.key, wrong.message)),
        })?;
        let Some(rest) = self.left.checked_sub(path.waypoints()) else {
            let most = tracks::MOST;
            let message = format!("all paths of a lab together have at most {most} waypoints: write a shorter `span`");
            return Err(place.error(message));
        };
        self.left = rest;
        Ok(path)
    }

    fn of_file(&mut self, own: &TrackFile, node: &NodeSpec, errors: &mut Errors) -> Option<Path> {
        let name = own.file.text().unwrap_or_default().to_owned();
        let own = &self.at_origin(own);
        let origin = own.ground.origin.map(|origin| [origin.latitude.to_bits(), origin.longitude.to_bits()]);
        let key = (name.clone(), own.format, own.ground.height.0.to_bits(), origin);
        if !self.files.contains_key(&key) {
            let read = keep(read(own, &name, self.left, errors), errors);
            self.left -= read.iter().flat_map(BTreeMap::values).map(Vec::len).sum::<usize>().min(self.left);
            self.files.insert(key.clone(), read);
        }
        // What is wrong with the file was said the first time.
        let tracks = self.files.get(&key)?.as_ref()?;
        let track = match &own.whose {
            Some(whose) => tracks.get(&whose.value),
            None if tracks.len() == 1 => tracks.values().next(),
            None => tracks.get(&node.name.value),
        };
        let Some(track) = track else {
            let names: Vec<&str> = tracks.keys().take(10).map(String::as_str).collect();
            let more = if tracks.len() > names.len() { " and others" } else { "" };
            let message = format!("{name} has the paths of {}{more}: say whose it is with `node`", names.join(", "));
            let wrong = own.whose.as_ref().map_or_else(|| own.file.error(&message), |whose| whose.error(&message));
            errors.push(wrong);
            return None;
        };
        let path = Path::through(track, None).map_err(|wrong| own.file.error(format!("{name}: {}", wrong.message)));
        keep(path, errors)
    }

    /// The same file, with the origin of the lab if it has none of its own. Floating car data is only in degrees if its own is written.
    fn at_origin(&self, own: &TrackFile) -> TrackFile {
        let usual = self.origin.filter(|_| matches!(own.format, TrackFormat::Gpx | TrackFormat::Kml));
        let mut known = own.clone();
        known.ground.origin = known.ground.origin.or(usual);
        known
    }
}

fn read(own: &TrackFile, name: &str, most: usize, errors: &mut Errors) -> Result<Tracks, Diagnostic> {
    let text = errors.read_text(&own.file)?;
    let read = tracks::read(&text, own.format, own.ground, most);
    let tracks =
        read.map_err(|tracks::WrongLine(line, message)| own.file.error(format!("{name}:{line}: {message}")))?;
    if tracks.is_empty() {
        return Err(own.file.error(format!("{name} has no path: it is empty")));
    }
    Ok(tracks)
}
