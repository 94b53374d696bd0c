//! Quantities of radio media: powers, ratios, lengths, speeds and positions, each with its unit.

use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::forms::forms;
use crate::keyed::{Keyed, sections};
use crate::section::{Form, Kind};
use crate::spec::PlaceSpec;
use crate::tracks::Origin;
use crate::yaml::{Content, Node};
use netloom_radio::{Decibels, Metres, Place as OnGround, Position};

/// The height of a station that states none.
pub(super) const HEIGHT: Metres = Metres(1.5);
/// The power of a station that states none.
pub(crate) const POWER: Decibels = Decibels(16.0);
/// The bounds of quantities: far beyond what exists.
const FARTHEST: f64 = 1e7;
pub(super) const MOST_DECIBELS: f64 = 300.0;

forms! {
    /// A power in dBm.
    pub(crate) struct Dbm = Decibels, Kind::Text(DBM), dbm;
    /// A ratio in decibels.
    pub(crate) struct Db = Decibels, Kind::Text(DB), db;
    /// A ratio of powers, such as that of signal to noise.
    pub(crate) struct Ratio = Decibels, Kind::Text(RATIO), ratio;
    /// A ratio in decibels, or none.
    pub(crate) struct Margin = Option<Decibels>, Kind::OneOf(&[Db::KIND, Kind::Word(&["none"])]), margin;
    /// A distance above zero.
    pub(crate) struct Span = Metres, Kind::Text(LENGTH), span;
    /// A speed.
    pub(crate) struct Speed = f64, Kind::Text(SPEED), speed;
    /// A number without unit.
    pub(crate) struct Exponent = f64, Kind::Positive, exponent;
    /// A position.
    pub(crate) struct At = Position, Kind::List { items: &Kind::Text(COORDINATE), least: 2, most: Some(3) }, position;
    /// A position in metres or in degrees.
    pub(crate) struct Place = PlaceSpec, Kind::OneOf(&[At::KIND, Globe::KIND]), noting place;
    /// A place on Earth with x = y = 0 on the map: its latitude and its longitude in degrees.
    pub(crate) struct OriginForm = Origin, Kind::pair(&Kind::Coordinate), origin;
    /// A place on the map.
    pub(super) struct OnMap = OnGround, POINT, on_map;
    /// A number of degrees.
    pub(super) struct Degrees = f64, Kind::Coordinate, degrees;
}

sections! {
    /// A place on Earth.
    struct Globe = "position" {
        /// The degrees to the north of the equator, -89 to 89.
        latitude: Degrees, required "48.1374";
        /// The degrees to the east of Greenwich, -180 to 180.
        longitude: Degrees, required "11.5755";
        /// The height above the ground. Default: 1.5 m.
        height: Span, "3 m";
    }
}

const DBM: &str = "^\\s*-?[0-9]+(\\.[0-9]+)?\\s*dBm\\s*$";
const DB: &str = "^\\s*[0-9]+(\\.[0-9]+)?\\s*dB\\s*$";
const RATIO: &str = "^\\s*-?[0-9]+(\\.[0-9]+)?\\s*dB\\s*$";
const LENGTH: &str = "^\\s*[0-9]+(\\.[0-9]+)?\\s*m\\s*$";
const SPEED: &str = "^\\s*[0-9]+(\\.[0-9]+)?\\s*m/s\\s*$";
/// The kind of a place on the map.
pub(super) const POINT: Kind = Kind::List { items: &Kind::Text(COORDINATE), least: 2, most: Some(2) };
const COORDINATE: &str = "^\\s*-?[0-9]+(\\.[0-9]+)?\\s*m\\s*$";

/// A number in front of a unit, up to `most` in both directions.
pub(super) fn measure(node: &Node, unit: &str, most: f64, example: &str) -> Result<f64, Diagnostic> {
    let number = node.text().and_then(|text| text.trim().strip_suffix(unit)).map(str::trim_end);
    let is_plain = |text: &&str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let mut parts = digits.split('.');
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        parts.clone().count() <= 2 && parts.all(is_number)
    };
    let known = number.filter(is_plain).and_then(|text| text.parse::<f64>().ok());
    known.filter(|value| value.abs() <= most).ok_or_else(|| {
        let found = node.text().map_or_else(|| "this".to_owned(), |text| format!("\"{text}\""));
        node.error(format!("{found} is not a number of {unit} up to {most}: write for example `{example}`"))
    })
}

fn dbm(node: &Node) -> Result<Decibels, Diagnostic> {
    measure(node, "dBm", MOST_DECIBELS, "16 dBm").map(Decibels)
}

fn ratio(node: &Node) -> Result<Decibels, Diagnostic> {
    measure(node, "dB", 100.0, "12 dB").map(Decibels)
}

fn db(node: &Node) -> Result<Decibels, Diagnostic> {
    let ratio = measure(node, "dB", MOST_DECIBELS, "6 dB")?;
    if ratio < 0.0 {
        return Err(node.error("a ratio of 0 dB or more is needed here, for example 6 dB"));
    }
    Ok(Decibels(ratio))
}

fn margin(node: &Node) -> Result<Option<Decibels>, Diagnostic> {
    if node.plain() == Some("none") { Ok(None) } else { db(node).map(Some) }
}

fn span(node: &Node) -> Result<Metres, Diagnostic> {
    let metres = measure(node, "m", FARTHEST, "10 m")?;
    if metres <= 0.0 {
        return Err(node.error("a distance above zero is needed here, for example 10 m"));
    }
    Ok(Metres(metres))
}

fn speed(node: &Node) -> Result<f64, Diagnostic> {
    let speed = measure(node, "m/s", FARTHEST, "1.5 m/s")?;
    if speed < 0.0 {
        return Err(node.error("a speed of 0 m/s or more is needed here, for example 1.5 m/s"));
    }
    Ok(speed)
}

fn exponent(node: &Node) -> Result<f64, Diagnostic> {
    let number: Option<f64> = node.plain().and_then(|text| text.parse().ok());
    number.filter(|number| *number > 0.0 && *number <= 100.0).ok_or_else(|| {
        let found = node.text().map_or_else(|| "this".to_owned(), |text| format!("\"{text}\""));
        node.error(format!("{found} is not a number above 0 and up to 100, for example 3"))
    })
}

fn position(node: &Node) -> Result<Position, Diagnostic> {
    const WANTED: &str =
        "a position: metres to the east, to the north and above the ground, for example [5 m, -3 m, 1.5 m]";
    let Content::List(items) = &node.content else { return Err(node.expected(WANTED)) };
    if !(2..=3).contains(&items.len()) {
        return Err(node.expected(WANTED));
    }
    let z = items.get(2).map_or(Ok(HEIGHT), length)?;
    Ok(Position { x: length(&items[0])?, y: length(&items[1])?, z })
}

/// A length of either sign.
pub(super) fn length(node: &Node) -> Result<Metres, Diagnostic> {
    measure(node, "m", FARTHEST, "5 m").map(Metres)
}

fn place(node: &Node, errors: &mut Errors) -> Option<PlaceSpec> {
    if !matches!(node.content, Content::Map(_)) {
        return At::read(node, errors).map(PlaceSpec::Known);
    }
    let Globe { latitude, longitude, height } = Globe::open(node, errors)?;
    let found = keep(Origin::new(latitude, longitude).map_err(|wrong| node.error(wrong)), errors)?;
    Some(PlaceSpec::OnEarth(found, height.unwrap_or(HEIGHT)))
}

fn degrees(node: &Node) -> Result<f64, Diagnostic> {
    let number: Option<f64> = node.plain().and_then(|text| text.parse().ok());
    number.filter(|number| number.abs() <= 360.0).ok_or_else(|| {
        let found = node.text().map_or_else(|| "this".to_owned(), |text| format!("\"{text}\""));
        node.error(format!("{found} is not a number of degrees from -360 to 360, for example 90"))
    })
}

fn origin(node: &Node) -> Result<Origin, Diagnostic> {
    let Content::List(parts) = &node.content else {
        return Err(node.expected("a latitude and a longitude in degrees, for example [48.1374, 11.5755]"));
    };
    let [latitude, longitude] = &parts[..] else {
        return Err(node.expected("a latitude and a longitude in degrees, for example [48.1374, 11.5755]"));
    };
    Origin::new(degrees(latitude)?, degrees(longitude)?).map_err(|wrong| node.error(wrong))
}

fn on_map(node: &Node) -> Result<OnGround, Diagnostic> {
    match &node.content {
        Content::List(items) if items.len() == 2 => Ok(OnGround { x: length(&items[0])?, y: length(&items[1])? }),
        _ => Err(node.expected("a place: metres to the east and to the north, for example [20 m, -10 m]")),
    }
}
