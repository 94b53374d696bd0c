//! What is around the stations of radio media: walls, antennas and interferers.

use super::measures::{At, Db, Dbm, Degrees, MOST_DECIBELS, OnMap, POWER, Span, measure};
use crate::diagnostics::Diagnostic;
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list, map};
use crate::forms::{Word, forms};
use crate::keyed::{Keyed, sections};
use crate::kinds::NODE_NAME;
use crate::section::Kind;
use crate::words::words;
use crate::yaml::{Entry, Node};
use netloom_radio::{AntennaPattern, Beam, ConfigError, Decibels, Interferer, Source, Wall};
use netloom_units::{Duration, Probability};

/// The sector of TR 38.901.
const WIDTH: f64 = 65.0;
const FRONT_TO_BACK: Decibels = Decibels(30.0);
/// The burst of an interferer that states none: about that of a large aggregate.
const BURST: Duration = Duration::from_millis(2);

/// How an interferer says where it is.
const PLACES: &str = "either `position: [12 m, 30 m]`, perhaps with `power`, or `received: -70 dBm`";

const GAIN: &str = "^\\s*-?[0-9]+(\\.[0-9]+)?\\s*dB\\s*$";

/// What an interferer sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sends {
    Wifi,
    Noise,
}

words!(Sends { "wifi" = Self::Wifi, "noise" = Self::Noise });

forms! {
    /// The walls of a medium.
    pub(crate) struct Barriers = Vec<Wall>, Kind::list(&Barrier::KIND, 1), noting barriers;
    /// The interferers of a medium.
    pub(crate) struct Strangers = Vec<Interferer>, Kind::Map { names: NODE_NAME, values: &Stranger::KIND }, noting strangers;
    /// An antenna.
    pub(crate) struct Aerial = AntennaPattern, Pattern::KIND, noting antenna;
    /// A gain in decibels of either sign.
    struct Gain = Decibels, Kind::Text(GAIN), gain;
}

sections! {
    /// A wall that signals go through, straight from one place to another.
    struct Barrier = "wall" {
        /// One end: to the east and to the north.
        from: OnMap, required "[20 m, -10 m]";
        /// The other end.
        to: OnMap, required "[20 m, 10 m]";
        /// What a signal loses that goes through it: 3.4 dB light, 6.9 dB heavy, 10 to 20 dB concrete.
        loss: Db, required "6.9 dB";
        /// Its height above the ground; signals go over it where they are higher. Default: as high as anything.
        height: Span, "3 m";
    }

    /// The gain of an antenna by direction, after 3GPP TR 38.901: off its axis it loses 12 (angle / width)² dB.
    struct Pattern = "antenna" {
        /// The gain along its axis, over an antenna that sends equally well in all directions. Default: 0 dB.
        gain: Gain, "14 dB";
        /// The direction of its axis in degrees, clockwise from the north: 90 is east. Default: it sends equally well in all directions.
        azimuth: Degrees, "90";
        /// The degrees between the two directions with half the power, 0.1 to 360; it and the keys below need an azimuth. Default: 65.
        width: Degrees, "90";
        /// How much less it sends behind itself, and at most loses in any direction. Default: 30 dB.
        front_to_back: Db, "25 dB";
        /// The degrees by which its axis points below the horizon. Default: 0.
        tilt: Degrees, "6";
        /// The degrees between the two elevations with half the power. Default: all elevations are alike.
        vertical_width: Degrees, "10";
    }

    /// A neighbour's network or another device that sends on the channel and does not listen to it.
    struct Stranger = "wifi_interferer" {
        /// What it sends: wifi, in which stations find preambles, or noise. Default: wifi.
        sends: Word<Sends>, "noise";
        /// Where it is. With access radio either this, or `received`; with access dcf neither, since all stations sense it.
        position: At, "[12 m, 30 m]";
        /// The power with which it sends from its position. Default: 16 dBm.
        power: Dbm, "20 dBm";
        /// The power with which it arrives at all stations, instead of a position.
        received: Dbm, "-70 dBm";
        /// The share of time in which it sends, above 0 %.
        duty_cycle: Probability, required "30 %";
        /// How long it sends at once, 100 us to 1 h; the breaks in between are drawn from the seed. Default: 2 ms.
        burst: Duration, "5 ms";
    }
}

fn barriers(node: &Node, errors: &mut Errors) -> Option<Vec<Wall>> {
    let items = list(node, errors);
    if items.len() > Wall::MOST {
        errors.push(node.error(format!("a medium has at most {} walls, found {}", Wall::MOST, items.len())));
        return None;
    }
    let wall = |item: &Node| {
        let Barrier { from, to, loss, height } = Barrier::open(item, errors)?;
        let wall = Wall { from, to, loss, height };
        keep(wall.check().map(|()| wall).map_err(|why| item.error(why)), errors)
    };
    Some(items.iter().filter_map(wall).collect())
}

fn antenna(node: &Node, errors: &mut Errors) -> Option<AntennaPattern> {
    let fields = Fields::open(node, &Pattern::SECTION, errors)?;
    let Pattern { gain, azimuth, width, front_to_back, tilt, vertical_width } = Pattern::read_keys(&fields, errors)?;
    if fields.get("azimuth").is_none() {
        let why = "without an `azimuth` all directions are alike: write `azimuth: 90` for one that points to the east";
        fields.refuse(["width", "front_to_back", "tilt", "vertical_width"].map(|key| (key, why)), errors);
    }
    let beam = azimuth.map(|azimuth| Beam {
        azimuth,
        width: width.unwrap_or(WIDTH),
        front_to_back: front_to_back.unwrap_or(FRONT_TO_BACK),
        tilt: tilt.unwrap_or(0.0),
        vertical_width,
    });
    let pattern = AntennaPattern { gain: gain.unwrap_or_default(), beam };
    keep(pattern.check().map(|()| pattern).map_err(|wrong: ConfigError| node.error(wrong.message)), errors)
}

fn strangers(node: &Node, errors: &mut Errors) -> Option<Vec<Interferer>> {
    let wanted = "interferers: a map like `{upstairs: {received: -70 dBm, duty_cycle: 30 %}}`";
    let entries = map(node, wanted, errors)?;
    if entries.len() > Interferer::MOST {
        let found = entries.len();
        errors.push(node.error(format!("a medium has at most {} interferers, found {found}", Interferer::MOST)));
        return None;
    }
    Some(entries.iter().filter_map(|entry| stranger(entry, errors)).collect())
}

fn stranger(entry: &Entry, errors: &mut Errors) -> Option<Interferer> {
    let node = &entry.value;
    let Stranger { sends, position, power, received, duty_cycle, burst } = Stranger::open(node, errors)?;
    let source = match (position, received) {
        (Some(position), None) => Source::At(position, power.unwrap_or(POWER)),
        (None, Some(received)) if power.is_none() => Source::Everywhere(received),
        (None, None) if power.is_none() && sends.is_none() => Source::Sensed,
        _ => {
            errors.push(node.error(format!("an interferer has {PLACES}")));
            return None;
        }
    };
    let own = Interferer {
        name: entry.name.clone(),
        source,
        has_preamble: sends != Some(Sends::Noise),
        duty: duty_cycle,
        burst: burst.unwrap_or(BURST),
    };
    keep(own.check().map(|()| own).map_err(|wrong| node.error(wrong.message)), errors)
}

/// Errors about interferers that are described with too little for signals, or with too much where all stations hear one another.
pub(super) fn check_strangers(own: &Node, strangers: &[Interferer], is_radio: bool, errors: &mut Errors) {
    let wrong = strangers.iter().filter(|stranger| (stranger.source == Source::Sensed) == is_radio);
    let message = if is_radio {
        format!("an interferer has {PLACES}")
    } else {
        "with `access: dcf` all stations sense it: leave `position`, `power`, `received` and `sends` out, or write `access: radio`".to_owned()
    };
    errors.extend(wrong.map(|stranger| own.value(&stranger.name).unwrap_or(own).error(message.clone())));
}

fn gain(node: &Node) -> Result<Decibels, Diagnostic> {
    measure(node, "dB", MOST_DECIBELS, "14 dB").map(Decibels)
}
