//! The paths of nodes: those that are drawn, and those of files, each of which is read once.

use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::spec::{NodeSpec, PathSpec, Spec, TrackFile};
use crate::tracks::{self, TrackFormat, Tracks};
use crate::yaml::Node;
use netloom_radio::{Area, Generator, Path};
use netloom_units::{Duration, Seed};
use std::collections::BTreeMap;

/// For so long nodes whose paths are drawn move at least.
const LEAST_SPAN: Duration = Duration::from_secs(3_600);

/// The files that were read: by name and format, and the bits of height and origin.
type Files = BTreeMap<(String, TrackFormat, u64, Option<[u64; 2]>), Option<Tracks>>;

/// The way of each node: its path, or its position; none of nodes that are nowhere, or whose errors were noted.
pub(super) fn settle(spec: &Spec, errors: &mut Errors) -> Vec<Option<Path>> {
    let mut files = Files::new();
    let mut left = tracks::MOST;
    let seed = spec.seed.unwrap_or(super::SEED);
    let usual = spec.duration.map_or(LEAST_SPAN, |duration| duration.max(LEAST_SPAN));
    let mut of_node = |node: &NodeSpec| match &node.path {
        None => node.position.map(Path::from),
        Some(PathSpec::Known(path)) => Some(path.clone()),
        Some(PathSpec::Drawn { generator, area, span, place }) => {
            let own = seed.derive("path").derive(&node.name.value);
            let path = drawn((generator, *area), span.unwrap_or(usual), own, place);
            let path = path.and_then(|path| match left.checked_sub(path.waypoints()) {
                Some(rest) => {
                    left = rest;
                    Ok(path)
                }
                None => Err(place.error(format!(
                    "all paths of a lab together have at most {} waypoints: write a shorter `span`",
                    tracks::MOST
                ))),
            });
            crate::errors::keep(path, errors)
        }
        Some(PathSpec::File(file)) => of_file(file, node, &mut files, &mut left, errors),
    };
    spec.nodes.iter().map(&mut of_node).collect()
}

fn drawn((generator, area): (&Generator, Area), span: Duration, seed: Seed, place: &Node) -> Result<Path, Diagnostic> {
    generator.path(area, span, seed).map_err(|wrong| match place.value(wrong.key) {
        Some(key) => key.error(wrong.message),
        None => place.error(format!("{}: {}", wrong.key, wrong.message)),
    })
}

fn of_file(own: &TrackFile, node: &NodeSpec, files: &mut Files, left: &mut usize, errors: &mut Errors) -> Option<Path> {
    let name = own.file.text().unwrap_or_default().to_owned();
    let origin = own.ground.origin.map(|origin| [origin.latitude.to_bits(), origin.longitude.to_bits()]);
    let key = (name.clone(), own.format, own.ground.height.0.to_bits(), origin);
    if !files.contains_key(&key) {
        let read = read(own, &name, *left, errors);
        let read = crate::errors::keep(read, errors);
        *left -= read.iter().flat_map(BTreeMap::values).map(Vec::len).sum::<usize>().min(*left);
        files.insert(key.clone(), read);
    }
    // What is wrong with the file was said the first time.
    let tracks = files.get(&key)?.as_ref()?;
    let track = match &own.whose {
        Some(whose) => tracks.get(&whose.value),
        None if tracks.len() == 1 => tracks.values().next(),
        None => tracks.get(&node.name.value),
    };
    let Some(track) = track else {
        let names: Vec<&str> = tracks.keys().take(10).map(String::as_str).collect();
        let more = if tracks.len() > names.len() { " and others" } else { "" };
        let message = format!("{name} has the paths of {}{more}: say whose it is with `node`", names.join(", "));
        errors.push(
            own.whose.as_ref().map_or_else(|| own.file.error(message.clone()), |whose| whose.error(message.clone())),
        );
        return None;
    };
    let path = Path::through(track, None).map_err(|wrong| own.file.error(format!("{name}: {}", wrong.message)));
    crate::errors::keep(path, errors)
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
