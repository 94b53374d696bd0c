//! `path`: the way that a node goes.

use super::measures::{At, Degrees, HEIGHT, OnMap, OriginForm, POINT, Place, Span, Speed, length};
use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{AboveZero, NodeName, OrZero, Text, Word, forms};
use crate::keyed::{Keyed, sections};
use crate::scalar::word;
use crate::section::{Form, Kind, Section};
use crate::spec::{PathSpec, PlaceSpec, TrackFile};
use crate::tracks::{Ground, TrackFormat};
use crate::yaml::{Content, Node};
use netloom_radio::{
    Area, Circle, ConfigError, GaussMarkov, Generator, Group, Manhattan, Metres, Path, Position, RandomWaypoint,
    Waypoint,
};
use netloom_units::{Duration, Probability};

const LINE: Kind = Kind::list(&Corner::KIND, 1);
const DRAWN: &[&Section] = &[&Wander::SECTION, &Drift::SECTION, &Streets::SECTION, &Crowd::SECTION];
/// The words of generators, in the order of [`DRAWN`].
const GENERATORS: [&str; 4] = ["random-waypoint", "gauss-markov", "manhattan", "group"];
/// The memory and the step of Gauss and Markov.
const MEMORY: f64 = 0.75;
const STEP: Duration = Duration::from_secs(1);
/// The step of a group: in that of Gauss and Markov, its nodes would run about.
const GROUP_STEP: Duration = Duration::from_secs(10);

forms! {
    /// A path.
    pub(crate) struct Trail = PathSpec, Kind::OneOf(&[LINE, Rounds::KIND, Around::KIND, Kind::Sections(DRAWN), Follows::KIND]), noting trail;
    /// A rectangle by two corners that lie opposite each other.
    struct Corners = (Position, Position), Kind::pair(&POINT), corners;
    /// A speed, or the least and the greatest.
    struct Speeds = (f64, f64), Kind::OneOf(&[Speed::KIND, Kind::pair(&Speed::KIND)]), noting range::<Speed>;
    /// A pause, or the least and the greatest.
    struct Pauses = (Duration, Duration), Kind::OneOf(&[Duration::KIND, Kind::Zero, Kind::pair(&OrZero::<Duration>::KIND)]), noting range::<OrZero<Duration>>;
}

sections! {
    /// Where a node is at a time.
    struct Corner = "path_waypoint" {
        /// When, since the beginning of the run.
        at: OrZero<Duration>, required "60 s";
        /// Where: in metres, or in degrees as a node's.
        position: Place, required "[90 m, 0 m]";
    }

    /// A path through waypoints that begins again.
    struct Rounds = "path_waypoints" {
        /// The waypoints, in order of time.
        waypoints = LINE, required "[{at: 0 s, position: [5 m, 0 m]}, {at: 60 s, position: [90 m, 0 m]}]";
        /// The time until it is at the first waypoint again; behind the last one it goes back there, straight. Default: it stands still there.
        repeat: AboveZero<Duration>, "2 min";
    }

    /// A path around a circle.
    struct Around = "path_circle" {
        /// The circle.
        circle: Circuit, required "{centre: [0 m, 0 m], radius: 20 m, period: 60 s}";
    }

    /// A circle at one height.
    struct Ring = "circle" {
        /// The centre.
        centre: At, required "[0 m, 0 m]";
        /// The radius.
        radius: Span, required "20 m";
        /// How long once around takes. Default: by `speed`.
        period: AboveZero<Duration>, "60 s";
        /// The speed, instead of `period`.
        speed: Speed, "1.5 m/s";
        /// Where it begins, seen from the centre: degrees, 0 in the east and 90 in the north. Default: 0.
        start: Degrees, "90";
        /// Whether it goes clockwise, seen from above. Default: false.
        clockwise: bool, "true";
    }

    /// The keys of all paths that are drawn.
    struct Field = "" {
        /// The rectangle that it does not leave, by two corners that lie opposite each other.
        area: Corners, required "[[0 m, 0 m], [100 m, 60 m]]";
        /// Its height above the ground. Default: 1.5 m.
        height: Span, "1.5 m";
        /// For how long it moves; then it stands still. Default: 1 h, or as long as the lab if that takes longer.
        span: AboveZero<Duration>, "10 min";
    }

    /// Straight to a place that is drawn, a pause, and on to the next one; from the beginning as it is in the long run.
    struct Wander = "path_random_waypoint" {
        /// Places, speeds and pauses that are drawn.
        generate is "random-waypoint";
        ..Field::SECTION;
        /// The speed above zero, or the least and the greatest, between which each way's is drawn.
        speed: Speeds, required "[0.5 m/s, 1.5 m/s]";
        /// The pause at each place, or the least and the greatest. Default: none.
        pause: Pauses, "[0 s, 30 s]";
    }

    /// A velocity that changes little by little.
    struct Drift = "path_gauss_markov" {
        /// Velocities that are drawn, each from the one before (Gauss and Markov).
        generate is "gauss-markov";
        ..Field::SECTION;
        /// The mean speed, above zero.
        speed: Speed, required "1.5 m/s";
        /// The share of the velocity that remains from step to step, below 100 %. Default: 75 %.
        memory: Probability, "90 %";
        /// The time from one change to the next. Default: 1 s.
        step: AboveZero<Duration>, "500 ms";
    }

    /// Along the streets of a grid.
    struct Streets = "path_manhattan" {
        /// Ways at crossings that are drawn: straight on every second time, else to the left or to the right.
        generate is "manhattan";
        ..Field::SECTION;
        /// The distance between streets.
        block: Span, required "50 m";
        /// The speed above zero, or the least and the greatest, between which it is drawn for each block.
        speed: Speeds, required "[8 m/s, 14 m/s]";
        /// The pause at each crossing, or the least and the greatest. Default: none.
        pause: Pauses, "[0 s, 10 s]";
    }

    /// Around a place beside another node, wherever that goes.
    struct Crowd = "path_group" {
        /// Places that are drawn around one that goes with the leader of a group (reference point group mobility).
        generate is "group";
        /// The node that leads, which has a path or a position of its own.
        leader: NodeName, required "bus";
        /// Where the place is, seen from the leader: to the east and to the north. Default: where the leader is.
        offset: OnMap, "[-5 m, 3 m]";
        /// How far from that place it is at most at the end of each step.
        radius: Span, required "10 m";
        /// The time between two places that are drawn. Default: 10 s.
        step: AboveZero<Duration>, "5 s";
        /// Its height above the ground. Default: that of the leader.
        height: Span, "1.5 m";
        /// For how long it moves; then it stands still. Default: 1 h, or as long as the lab if that takes longer.
        span: AboveZero<Duration>, "10 min";
    }

    /// A path of a file.
    struct Follows = "path_file" {
        /// The file; a relative path starts at the lab file's folder.
        file = Kind::Text("."), required "walks.csv";
        /// Its format: setdest (commands of ns-2), bonnmotion, csv (columns time, x, y, and if they are there node and z), gpx, kml, or fcd (of
        /// SUMO). Default: by the end of its name, .movements, .csv, .gpx, .kml and .xml (fcd); setdest of all others.
        format: Word<TrackFormat>, "bonnmotion";
        /// Whose path it is, as the file calls it. Default: the node's own name, or the only one in the file.
        node: Text, "3";
        /// The height above the ground, where the file says none. Default: 1.5 m.
        height: Span, "1.5 m";
        /// The latitude and the longitude of the place with x = y = 0, in degrees. Default: the lab's `origin`, else the first place of the file.
        origin: OriginForm, "[48.1374, 11.5755]";
    }
}

fn trail(node: &Node, errors: &mut Errors) -> Option<PathSpec> {
    const WANTED: &str = "a path: waypoints like `[{at: 0 s, position: [5 m, 0 m]}, {at: 60 s, position: [90 m, 0 m]}]`, or a map with \
                          `waypoints`, `circle`, `generate` or `file`";
    if matches!(node.content, Content::List(_)) {
        let waypoints = match waypoints(node, errors)? {
            Line::Known(waypoints) => waypoints,
            Line::OnEarth(waypoints) => {
                return Some(PathSpec::OnEarth { waypoints, repeat: None, place: Box::new(node.clone()) });
            }
        };
        return keep(Path::through(&waypoints, None).map_err(|wrong| node.error(wrong.message)), errors)
            .map(PathSpec::Known);
    }
    if node.value("waypoints").is_some() {
        return rounds(node, errors);
    }
    if node.value("circle").is_some() {
        return Around::open(node, errors).map(|around| PathSpec::Known(around.circle));
    }
    if let Some(said) = node.value("generate") {
        return drawn(node, said, errors);
    }
    if node.value("file").is_some() {
        return follows(node, errors).map(|file| PathSpec::File(Box::new(file)));
    }
    errors.push(node.expected(WANTED));
    None
}

/// Waypoints in metres, or others among them, whose metres depend on the lab's origin.
enum Line {
    Known(Vec<Waypoint>),
    OnEarth(Vec<(Duration, PlaceSpec)>),
}

/// All waypoints of a list; none if one is wrong.
fn waypoints(node: &Node, errors: &mut Errors) -> Option<Line> {
    let before = errors.len();
    let found = list(node, errors).iter().filter_map(|item| {
        let Corner { at, position } = Corner::open(item, errors)?;
        Some((at, position))
    });
    let found: Vec<(Duration, PlaceSpec)> = found.collect();
    let known = found.iter().map(|(at, place)| match place {
        PlaceSpec::Known(position) => Some(Waypoint { at: *at, position: *position }),
        PlaceSpec::OnEarth(..) => None,
    });
    let known: Option<Vec<Waypoint>> = known.collect();
    (errors.len() == before).then(|| known.map_or(Line::OnEarth(found), Line::Known))
}

fn rounds(node: &Node, errors: &mut Errors) -> Option<PathSpec> {
    let fields = Fields::open(node, &Rounds::SECTION, errors)?;
    let Rounds { repeat } = Rounds::read_keys(&fields, errors)?;
    match waypoints(fields.get("waypoints")?, errors)? {
        Line::Known(waypoints) => checked(&fields, Path::through(&waypoints, repeat), errors).map(PathSpec::Known),
        Line::OnEarth(waypoints) => Some(PathSpec::OnEarth { waypoints, repeat, place: Box::new(node.clone()) }),
    }
}

/// Returns the value, or notes the error at the key that it names.
fn checked<T>(fields: &Fields<'_>, result: Result<T, ConfigError>, errors: &mut Errors) -> Option<T> {
    let renamed = |wrong: ConfigError| netloom_link::ConfigError::new(wrong.key, wrong.message);
    fields.checked(result.map_err(renamed), errors)
}

/// A circle with its path.
struct Circuit;

impl Form for Circuit {
    type Value = Path;
    const KIND: Kind = Ring::KIND;
    fn read(node: &Node, errors: &mut Errors) -> Option<Path> {
        let fields = Fields::open(node, &Ring::SECTION, errors)?;
        let Ring { centre, radius, period, speed, start, clockwise } = Ring::read_keys(&fields, errors)?;
        let period = match (period, speed) {
            (Some(period), None) => period,
            (None, Some(speed)) if speed > 0.0 => {
                let nanos = std::f64::consts::TAU * radius.0 / speed * 1e9;
                Duration::from_nanos(nanos.round().clamp(1.0, 1e18) as u64)
            }
            _ => {
                errors.push(
                    node.error("a circle has either a `period` or a `speed` above zero, for example `period: 60 s`"),
                );
                return None;
            }
        };
        let (start, is_clockwise) = (start.unwrap_or(0.0), clockwise.unwrap_or_default());
        checked(&fields, Path::around(Circle { centre, radius, period, start, is_clockwise }), errors)
    }
}

fn drawn(node: &Node, said: &Node, errors: &mut Errors) -> Option<PathSpec> {
    let words: Vec<(&str, &Section)> = GENERATORS.into_iter().zip(DRAWN.iter().copied()).collect();
    let section = keep(word(said, &words), errors)?;
    let fields = Fields::open(node, section, errors)?;
    if said.text() == Some("group") {
        return crowd(node, &fields, errors);
    }
    let field = Field::read_keys(&fields, errors);
    let no_pause = (Duration::ZERO, Duration::ZERO);
    let generator = match said.text() {
        Some("random-waypoint") => {
            let Wander { speed, pause } = Wander::read_keys(&fields, errors)?;
            Generator::RandomWaypoint(RandomWaypoint { speed, pause: pause.unwrap_or(no_pause) })
        }
        Some("gauss-markov") => {
            let Drift { speed, memory, step } = Drift::read_keys(&fields, errors)?;
            let memory = memory.map_or(MEMORY, Probability::as_f64);
            Generator::GaussMarkov(GaussMarkov { speed, memory, step: step.unwrap_or(STEP) })
        }
        _ => {
            let Streets { block, speed, pause } = Streets::read_keys(&fields, errors)?;
            Generator::Manhattan(Manhattan { block, speed, pause: pause.unwrap_or(no_pause) })
        }
    };
    let Field { area: (one, other), height, span } = field?;
    let (x, y) = (Metres(one.x.0.min(other.x.0)), Metres(one.y.0.min(other.y.0)));
    let area = Area {
        corner: Position { x, y, z: height.unwrap_or(HEIGHT) },
        width: Metres((one.x.0 - other.x.0).abs()),
        height: Metres((one.y.0 - other.y.0).abs()),
    };
    Some(PathSpec::Drawn { generator, area, span, place: Box::new(node.clone()) })
}

fn crowd(node: &Node, fields: &Fields<'_>, errors: &mut Errors) -> Option<PathSpec> {
    let Crowd { leader, offset, radius, step, height, span } = Crowd::read_keys(fields, errors)?;
    let offset = offset.map_or((Metres(0.0), Metres(0.0)), |place| (place.x, place.y));
    let group = Group { offset, radius, height, step: step.unwrap_or(GROUP_STEP) };
    Some(PathSpec::Group { group, leader, span, place: Box::new(node.clone()) })
}

fn follows(node: &Node, errors: &mut Errors) -> Option<TrackFile> {
    let fields = Fields::open(node, &Follows::SECTION, errors)?;
    let Follows { format, node: whose, height, origin } = Follows::read_keys(&fields, errors)?;
    let file = fields.get("file")?;
    let name = keep(crate::scalar::filled(file), errors)?;
    let usual = match name.rsplit_once('.') {
        Some((_, "csv")) => TrackFormat::Csv,
        Some((_, "movements")) => TrackFormat::BonnMotion,
        Some((_, "gpx")) => TrackFormat::Gpx,
        Some((_, "kml")) => TrackFormat::Kml,
        Some((_, "xml")) => TrackFormat::Fcd,
        _ => TrackFormat::Setdest,
    };
    let whose = whose.and_then(|whose| Some(fields.get("node")?.spanned(whose)));
    let format = format.unwrap_or(usual);
    if let Some(key) = fields.get("origin").filter(|_| !format.knows_degrees()) {
        errors.push(key.error("only files of gpx, kml and fcd have latitudes and longitudes: leave `origin` out"));
        return None;
    }
    Some(TrackFile { file: file.clone(), format, whose, ground: Ground { height: height.unwrap_or(HEIGHT), origin } })
}

/// One value for both ends of a range, or both.
fn range<F: Form<Value: Copy>>(node: &Node, errors: &mut Errors) -> Option<(F::Value, F::Value)> {
    let Content::List(items) = &node.content else { return F::read(node, errors).map(|value| (value, value)) };
    let [least, most] = &items[..] else {
        errors.push(node.expected("one value, or the least and the greatest of two"));
        return None;
    };
    let (least, most) = (F::read(least, errors), F::read(most, errors));
    Some((least?, most?))
}

fn corners(node: &Node) -> Result<(Position, Position), Diagnostic> {
    const WANTED: &str = "two corners that lie opposite each other, for example [[0 m, 0 m], [100 m, 60 m]]";
    let point = |item: &Node| match &item.content {
        Content::List(parts) if parts.len() == 2 => {
            Ok(Position { x: length(&parts[0])?, y: length(&parts[1])?, ..Position::default() })
        }
        _ => Err(item.expected(WANTED)),
    };
    match &node.content {
        Content::List(items) if items.len() == 2 => Ok((point(&items[0])?, point(&items[1])?)),
        _ => Err(node.expected(WANTED)),
    }
}

/// The path of a node, unless it also has a position.
pub(super) fn path(path: Option<PathSpec>, of_node: &Fields<'_>, errors: &mut Errors) -> Option<PathSpec> {
    if let (Some(own), Some(other)) = (of_node.get("path"), of_node.get("position")) {
        let error = own.error("`position` says that it stands still: leave one of them out");
        errors.push(error.and(other.span, "here"));
    }
    path
}
