//! Signals of radio media: positions, path loss and what receivers can do.

use super::measures::{Db, Dbm, Exponent, Margin, POWER, Span, Speed};
use super::surroundings::{Barriers, Strangers};
use crate::errors::{Errors, keep};
use crate::fields::Fields;
use crate::forms::{Whole, Word, forms};
use crate::keyed::{Keyed, sections};
use crate::section::{Kind, Section};
use crate::words::words;
use crate::yaml::{Content, Node};
use netloom_radio::{
    Coding, Decibels, FadingConfig, FadingModel, Floors, Metres, Propagation, RadioConfig, Scenario, ShadowingConfig,
    Walls,
};

/// The loss at one metre of ns-3's models, at 5.15 GHz.
const AT_ONE_METRE: Decibels = Decibels(46.6777);

/// The one of the keys that is also there without signals.
const INTERFERERS: &str = "interferers";

words!(Coding { "bcc" = Self::Bcc, "ldpc" = Self::Ldpc, "nist" = Self::Nist });

forms! {
    /// A model of fading.
    pub(crate) struct Fading = FadingConfig, Fades::KIND, noting fading;
    /// A model of path loss.
    pub(crate) struct Loss = Propagation, Kind::OneOf(&[Kind::Word(LOSSES), Kind::Sections(KINDS)]), noting loss;
}

const LOSSES: &[&str] = &[
    "friis",
    "log-distance",
    "three-slopes",
    "two-ray",
    "street",
    "street-obstructed",
    "town",
    "town-obstructed",
    "office",
    "office-obstructed",
    "country",
];

const KINDS: &[&Section] = &[&LogDistance::SECTION, &ThreeSlopes::SECTION, &MultiWall::SECTION, &Indoor::SECTION];

sections! {
    /// Path loss that grows with a power of the distance.
    struct LogDistance = "loss_log_distance" {
        /// The loss at one metre, and ten times the exponent with each tenfold distance.
        kind is "log-distance";
        /// The exponent: 2 in free space, 1.6 to 1.8 in corridors, 2.7 to 3.5 in towns, 4 to 6 behind obstacles. Default: 3.
        exponent: Exponent, "3.5";
        /// The loss at one metre. Default: 46.6777 dB.
        reference: Db, "40 dB";
    }

    /// Path loss with an exponent of 1.9 up to 200 m, and of 3.8 beyond.
    struct ThreeSlopes = "loss_three_slopes" {
        /// Two slopes behind the first metre.
        kind is "three-slopes";
        /// The loss at one metre. Default: 46.6777 dB.
        reference: Db, "40 dB";
    }

    /// Free space, and walls and floors between all stations.
    struct MultiWall = "loss_multi_wall" {
        /// Losses of walls and floors after COST 231.
        kind is "multi-wall";
        /// Light walls, 3.4 dB each. Default: 0.
        light: Whole<u32, 0, 100>, "2";
        /// Heavy walls, 6.9 dB each. Default: 0.
        heavy: Whole<u32, 0, 100>, "1";
        /// Floors, 18.3 dB for the first and less for each other. Default: 0.
        floors: Whole<u32, 0, 100>, "1";
    }

    /// Path loss in buildings after ITU-R P.1238.
    struct Indoor = "loss_indoor" {
        /// Rooms by a coefficient of distance, floors by their loss.
        kind is "indoor";
        /// The power of the distance, ten times: 28 in flats, 30 in offices, 22 in shops. Default: 30.
        coefficient: Exponent, "28";
        /// The loss of all floors in between. Default: 0 dB.
        floors: Db, "15 dB";
    }

    /// How losses vary over places.
    pub(crate) struct Shadows = "wifi_shadowing" {
        /// The standard deviation of the loss. Default: 4 dB.
        deviation: Db, "6 dB";
        /// The distance over which losses are alike. Default: 10 m.
        correlation: Span, "13 m";
    }

    /// How the power of a signal varies over time, as echoes add up or cancel out.
    pub(crate) struct Fades = "wifi_fading" {
        /// The power of the line of sight over that of the echoes (Rice). Default: no line of sight (Rayleigh).
        line_of_sight: Db, "6 dB";
        /// The m of Nakagami's distribution, 0.5 to 100, instead: 1 is Rayleigh, less has deeper fades. Default: Rayleigh.
        nakagami: Exponent, "1.5";
        /// How fast everything around stations moves; how fast stations move against each other by their paths comes on top. Default: 1 m/s.
        speed: Speed, "1.5 m/s";
    }

    /// The keys of media with signals.
    pub(crate) struct Signals = "" {
        /// The path loss between positions: friis, log-distance, three-slopes, two-ray, a place of 3GPP (street, town, office, each with
        /// -obstructed behind it, or country), or a map. With access radio only, as all keys down to coding. Default: log-distance.
        loss: Loss, "{kind: log-distance, exponent: 3}";
        /// Walls, each of which takes its loss from signals that go through it, beside that of the path. Default: none.
        walls: Barriers, "[{from: [20 m, -10 m], to: [20 m, 10 m], loss: 6.9 dB}]";
        /// How losses vary over places, the same in both directions of a pair. Default: not at all.
        shadowing: Shadows, "{deviation: 4 dB, correlation: 10 m}";
        /// How powers vary over time. Default: not at all.
        fading: Fading, "{line_of_sight: 6 dB, speed: 1 m/s}";
        /// Neighbours' networks and other devices that send on the channel from the beginning of the run on, by names; with access dcf, too.
        /// Default: none.
        interferers: Strangers, "{upstairs: {received: -70 dBm, duty_cycle: 30 %}}";
        /// The power with which stations send, without the gains of their antennas. Default: 16 dBm.
        power: Dbm, "20 dBm";
        /// How much noise receivers add to that of the channel. Default: 7 dB.
        noise_figure: Db, "5 dB";
        /// The least power at which a station finds a preamble, and is then busy to its end. Default: -82 dBm.
        sensitivity: Dbm, "-90 dBm";
        /// The power of everything together from which on a station is busy. Default: -62 dBm.
        energy: Dbm, "-65 dBm";
        /// How much stronger a frame must be to take the receiver of one that began up to 16 us before; none: it never does. Default: 5 dB.
        capture: Margin, "10 dB";
        /// The code, which decides how many frames get lost: bcc, ldpc, or nist, which is bcc in closed form. Default: bcc, and ldpc with ax.
        coding: Word<Coding>, "ldpc";
    }
}

impl Signals {
    /// The signals that the keys describe, and the power of stations that have no own.
    pub(crate) fn config(self, hertz: u64, usual: Coding) -> (RadioConfig, Decibels) {
        let plain = RadioConfig::new(hertz);
        let config = RadioConfig {
            propagation: self.loss.unwrap_or(plain.propagation),
            walls: self.walls.unwrap_or_default(),
            shadowing: self.shadowing.as_ref().map(shadowing),
            fading: self.fading,
            interferers: self.interferers.unwrap_or_default(),
            noise_figure: self.noise_figure.unwrap_or(plain.noise_figure),
            sensitivity: self.sensitivity.unwrap_or(plain.sensitivity),
            energy: self.energy.unwrap_or(plain.energy),
            capture: self.capture.unwrap_or(plain.capture),
            coding: self.coding.unwrap_or(usual),
            ..plain
        };
        (config, self.power.unwrap_or(POWER))
    }

    /// Errors about those of its keys that are there without signals. `listen`: whether stations notice others at all.
    pub(crate) fn refuse(fields: &Fields<'_>, listen: bool, errors: &mut Errors) {
        let why =
            |key: &'static str| (key, format!("`{key}` describes signals: write `access: radio`, or leave it out"));
        let keys = Self::SECTION.keys().map(|key| key.name).filter(|key| *key != INTERFERERS);
        fields.refuse(keys.map(why), errors);
        let deaf =
            "with `access: ideal` nobody listens to others: write `access: dcf` or `access: radio`, or leave it out";
        fields.refuse([(INTERFERERS, deaf)].into_iter().filter(|_| !listen), errors);
    }
}

/// The shadowing that its keys describe.
pub(super) fn shadowing(keys: &Shadows) -> ShadowingConfig {
    ShadowingConfig {
        deviation: keys.deviation.unwrap_or(Decibels(4.0)),
        correlation: keys.correlation.unwrap_or(Metres(10.0)),
    }
}

fn fading(node: &Node, errors: &mut Errors) -> Option<FadingConfig> {
    let Fades { line_of_sight, nakagami, speed } = Fades::open(node, errors)?;
    let model = match (line_of_sight, nakagami) {
        (None, None) => FadingModel::Rayleigh,
        (Some(ratio), None) => FadingModel::Rice(ratio),
        (None, Some(shape)) if shape >= 0.5 => FadingModel::Nakagami(shape),
        (None, Some(_)) => {
            errors.extend(node.value("nakagami").map(|own| own.error("m is 0.5 to 100, for example 1.5")));
            return None;
        }
        (Some(_), Some(_)) => {
            errors.push(
                node.error("`line_of_sight` is of Rice's distribution and `nakagami` of another: write one of them"),
            );
            return None;
        }
    };
    Some(FadingConfig { model, speed: speed.unwrap_or(1.0) })
}

fn loss(node: &Node, errors: &mut Errors) -> Option<Propagation> {
    if matches!(node.content, Content::Map(_)) {
        let (kind, _) = Fields::open_kind(node, KINDS, errors)?;
        return Some(match kind {
            "log-distance" => {
                let LogDistance { exponent, reference } = LogDistance::open(node, errors)?;
                Propagation::LogDistance {
                    exponent: exponent.unwrap_or(3.0),
                    reference: reference.unwrap_or(AT_ONE_METRE),
                }
            }
            "three-slopes" => {
                let ThreeSlopes { reference } = ThreeSlopes::open(node, errors)?;
                Propagation::ThreeSlopes { reference: reference.unwrap_or(AT_ONE_METRE) }
            }
            "multi-wall" => {
                let MultiWall { light, heavy, floors } = MultiWall::open(node, errors)?;
                let count = |number: Option<u32>| number.unwrap_or(0);
                Propagation::MultiWall(Walls { light: count(light), heavy: count(heavy), floors: count(floors) })
            }
            _ => {
                let Indoor { coefficient, floors } = Indoor::open(node, errors)?;
                let loss = floors.unwrap_or_default();
                Propagation::Indoor(Floors { coefficient: coefficient.unwrap_or(30.0), loss })
            }
        });
    }
    let plain = [
        Propagation::FreeSpace,
        Propagation::LogDistance { exponent: 3.0, reference: AT_ONE_METRE },
        Propagation::ThreeSlopes { reference: AT_ONE_METRE },
        Propagation::TwoRay,
        Propagation::Scenario(Scenario::Street),
        Propagation::Scenario(Scenario::StreetObstructed),
        Propagation::Scenario(Scenario::Town),
        Propagation::Scenario(Scenario::TownObstructed),
        Propagation::Scenario(Scenario::Office),
        Propagation::Scenario(Scenario::OfficeObstructed),
        Propagation::Scenario(Scenario::Country),
    ];
    let words: Vec<(&str, Propagation)> = LOSSES.iter().copied().zip(plain).collect();
    keep(crate::scalar::word(node, &words), errors)
}
