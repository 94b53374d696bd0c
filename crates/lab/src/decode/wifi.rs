//! `medium: {kind: wifi, ...}`: a radio medium of IEEE 802.11, for which stations contend.

use crate::decode::cell::{self, Cell};
use crate::decode::measures::{Dbm, Place};
use crate::decode::roaming::{self, Beacons, RoamingKeys};
use crate::decode::signals::Signals;
use crate::decode::surroundings::{Aerial, check_strangers};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, map};
use crate::forms::{AboveZero, List, NodeName, Whole, Word, forms};
use crate::keyed::{Keyed, sections};
use crate::kinds::NODE_NAME;
use crate::scalar::quantity;
use crate::section::{Form, Kind, Section};
use crate::spec::{MediumSpec, StationSpec, WifiSpec};
use crate::words::words;
use crate::yaml::{Content, Node};
use netloom_radio::{
    Access, Channel, Coding, ConfigError, Discipline, GuardInterval, MediumConfig, Mode, Phy, PhyConfig, Preamble,
    RateControl, Recovery, SlotTime, Standard, Width,
};
use netloom_units::{Bytes, Duration, Probability, Rate};

words!(Standard {
    "a" = Self::A, "b" = Self::B, "g" = Self::G, "n" = Self::N, "ac" = Self::Ac, "ax" = Self::Ax,
});
words!(Width {
    "20 MHz" = Self::Mhz20, "40 MHz" = Self::Mhz40, "80 MHz" = Self::Mhz80, "160 MHz" = Self::Mhz160,
});
words!(GuardInterval {
    "400 ns" = Self::Ns400, "800 ns" = Self::Ns800, "1600 ns" = Self::Ns1600, "3200 ns" = Self::Ns3200,
});
words!(Preamble { "long" = Self::Long, "short" = Self::Short });
words!(SlotTime { "long" = Self::Long, "short" = Self::Short });
words!(Recovery { "eifs" = Self::Eifs, "difs" = Self::Difs });
words!(Discipline { "fifo" = Self::Fifo, "airtime-fq" = Self::AirtimeFq });

words!(Access { "dcf" = Self::Dcf, "ideal" = Self::Ideal });

/// How stations get access, and whether they have positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessWord {
    Dcf,
    Ideal,
    Radio,
}

words!(AccessWord { "dcf" = Self::Dcf, "ideal" = Self::Ideal, "radio" = Self::Radio });

forms! {
    /// One medium for all ends of a link.
    pub(crate) struct Medium = MediumSpec, Kind::OneOf(&[Kind::Word(&["shared"]), Kind::Sections(KINDS)]), noting medium;
    /// The rate of a station, or how it is chosen.
    pub(crate) struct ModeForm = RateControl, Kind::OneOf(&[Rate::KIND, Scheme::KIND, Kind::Word(&["ideal", "arf", "aarf", "minstrel"])]), noting mode;
}

const KINDS: &[&Section] = &[&Wifi::SECTION, &Cell::SECTION];

const STATIONS: Kind = Kind::Map { names: NODE_NAME, values: &StationKeys::KIND };

sections! {
    /// A radio medium of IEEE 802.11. Its ends are stations, which contend for it; it has neither rate nor queue but these.
    pub(crate) struct Wifi = "medium_wifi" {
        /// A radio medium.
        kind is "wifi";
        /// The standard that all stations speak: a, b, g, n, ac or ax.
        standard: Word<Standard>, required "ax";
        /// The channel, which decides the band: 1 to 14 at 2.4 GHz, others at 5 GHz. Default: 1 with b and g, else 36.
        channel: Whole<u8, 1, 177>, "36";
        /// The width of the channel: 20 MHz, 40 MHz, 80 MHz or 160 MHz, as far as the standard has it. Default: 20 MHz.
        width: Word<Width>, "80 MHz";
        /// The guard interval between symbols of OFDM: 400 ns with n and ac, 800 ns, 1600 ns and 3200 ns with ax. Default: 800 ns.
        guard_interval: Word<GuardInterval>, "800 ns";
        /// The preamble of the rates of 802.11b, long or short. Default: long.
        preamble: Word<Preamble>, "short";
        /// The slot time at 2.4 GHz, short (9 us) or long (20 us); b always has the long one. Default: short.
        slot: Word<SlotTime>, "long";
        /// How stations get access: dcf (they contend, by categories with n, ac and ax, and all hear one another), ideal (one after the
        /// other without any gap), or radio (they contend, and each hears what reaches its position). Default: dcf.
        access: Word<AccessWord>, "radio";
        ..Signals::SECTION;
        /// The node that is the access point: stations send to it alone, and it sends on what is for others. Default: none, and stations
        /// send to one another.
        access_point: NodeName, "ap";
        /// The nodes that are access points of one network, with access radio: each station is with the one that it hears best, and goes from one to another.
        /// Default: none.
        access_points: List<NodeName, 1>, "[ap1, ap2]";
        /// When stations go from one access point to another. Default: below -70 dBm, to one that is 8 dB stronger.
        roaming: RoamingKeys, "{below: -75 dBm, hysteresis: 5 dB}";
        /// The time from one beacon of an access point to the next; with it, beacons and the frames with which stations come to an access point are on the air. none:
        /// they take no time. Default: none.
        beacons: Beacons, "102.4 ms";
        /// The rate of data: of a, b and g a rate, of n, ac and ax an MCS and the number of streams; with access radio also ideal (the fastest
        /// that loses at most a tenth), arf, aarf or minstrel. Default: the fastest with one stream; with access radio ideal.
        rate: ModeForm, "{mcs: 7, streams: 1}";
        /// Rates, positions and powers of single stations, and how much gets lost between them and the others.
        stations = STATIONS, "{sta1: {rate: {mcs: 0}, errors: 5 %}}";
        /// Data of more bytes, headers included, are sent behind RTS and CTS. Default: none are.
        rts_above: Bytes, "500 B";
        /// How often data is tried without an answer until it is dropped. Default: 7.
        retries: Whole<u32, 1, 1_000_000>, "7";
        /// How often data is tried behind a CTS until it is dropped. Default: 4.
        long_retries: Whole<u32, 1, 1_000_000>, "4";
        /// For how long stations are silent behind what they could not decode: eifs, or difs as behind anything else. Default: eifs.
        recovery: Word<Recovery>, "difs";
        /// The largest A-MSDU: packets under one header. Default: none.
        amsdu: Bytes, "3839 B";
        /// The largest A-MPDU: packets that are acknowledged one by one; 0 B turns it off. Default: that of the standard, 65535 B with n.
        ampdu: Bytes, "65535 B";
        /// The window of a BlockAck, in packets or A-MSDUs, up to 64, and 256 with ax. Default: the largest.
        window: Whole<u32, 1, 256>, "64";
        /// The longest transmission of an aggregate, at most 5.484 ms. Default: 5.484 ms.
        longest: AboveZero<Duration>, "2 ms";
        /// In which order a station serves the packets of a category: fifo, or airtime-fq (each destination gets the same time). Default: fifo.
        queue: Word<Discipline>, "airtime-fq";
        /// How many packets wait in a category of a station at most. Default: 1000.
        limit: Whole<u32, 1, 1_000_000>, "100";
    }

    /// A modulation and coding scheme of 802.11 n, ac or ax.
    pub(crate) struct Scheme = "wifi_rate" {
        /// The scheme: 0 to 7 with n, 0 to 9 with ac, 0 to 11 with ax.
        mcs: Whole<u8, 0, 11>, required "7";
        /// The number of spatial streams: 1 to 4 with n, 1 to 8 with ac and ax. Default: 1.
        streams: Whole<u8, 1, 8>, "2";
    }

    /// What differs at a station of a radio medium.
    pub(crate) struct StationKeys = "wifi_station" {
        /// The rate at which it sends, and the access point to it. Default: as the medium.
        rate: ModeForm, "{mcs: 0}";
        /// Where it is, with access radio: to the east, to the north and above the ground (1.5 m if it is left out). Default: that of the node.
        position: Place, "[5 m, 0 m]";
        /// The power with which it sends, with access radio. Default: as the medium.
        power: Dbm, "20 dBm";
        /// Its antenna, with access radio. Default: equal in all directions, 0 dB.
        antenna: Aerial, "{gain: 14 dB, azimuth: 90, width: 65}";
        /// The access point of several with which it stays. Default: the one that it hears best.
        access_point: NodeName, "ap2";
        /// The channel of an access point of several, in the band of the medium. Default: that of the medium.
        channel: Whole<u8, 1, 177>, "40";
        /// The share of its packets, and of those of the access point to it, that cannot be decoded; they are sent again. Default: 0 %.
        errors: Probability, "5 %";
    }
}

/// Parts of 802.11 that are not here: key and name.
const LEFT_OUT: [(&str, &str); 4] =
    [("power_save", "power save"), ("ofdma", "OFDMA"), ("mu_mimo", "MU-MIMO"), ("twt", "TWT")];

fn medium(node: &Node, errors: &mut Errors) -> Option<MediumSpec> {
    if !matches!(node.content, Content::Map(_)) {
        const RIGHT: &str = "shared, or for example {kind: wifi, standard: ax}";
        let said = match node.text() {
            Some("shared") => Ok(MediumSpec::Shared),
            Some(other) => Err(node.error(format!("`{other}` is not known here: write {RIGHT}"))),
            None => Err(node.expected(RIGHT)),
        };
        return keep(said, errors);
    }
    let is_left_out = |(key, what): &(&str, &str)| {
        let own = node.value(key)?;
        Some(own.error(format!("{what} is left out of this version: leave `{key}` out")))
    };
    let refused: Vec<Diagnostic> = LEFT_OUT.iter().filter_map(is_left_out).collect();
    if !refused.is_empty() {
        errors.extend(refused);
        return None;
    }
    let (kind, fields) = Fields::open_kind(node, KINDS, errors)?;
    if kind == "cell" {
        return cell::cell(&fields, errors).map(|cell| MediumSpec::Cell(Box::new(cell)));
    }
    wifi(&fields, errors)
}

fn wifi(fields: &Fields<'_>, errors: &mut Errors) -> Option<MediumSpec> {
    let keys = Wifi::read_keys(fields, errors)?;
    let signals = Signals::read_keys(fields, errors)?;
    let is_radio = keys.access == Some(AccessWord::Radio);
    let is_roaming = keys.access_points.is_some();
    let stations =
        fields.get("stations").map_or_else(Vec::new, |own| stations(own, (is_radio, is_roaming), &keys, errors));
    let (config, fastest) = fields.checked(config(&keys).map_err(renamed), errors)?;
    roaming::check(fields, is_radio, errors);
    let interferers = signals.interferers.clone().unwrap_or_default();
    let listens = keys.access != Some(AccessWord::Ideal);
    if let Some(own) = fields.get("interferers").filter(|_| listens) {
        check_strangers(own, &interferers, is_radio, errors);
    }
    if !is_radio {
        Signals::refuse(fields, listens, errors);
        errors.extend(fields.get("rate").and_then(|key| needs_signals(keys.rate, key)));
    }
    let coding = if keys.standard == Standard::Ax { Coding::Ldpc } else { Coding::Bcc };
    let hertz = fields.checked(channel(&keys).map_err(renamed), errors)?.hertz();
    let interferers = if is_radio || !listens { Vec::new() } else { interferers };
    let signals = is_radio.then(|| signals.config(hertz, coding));
    let usual = if is_radio { RateControl::Ideal } else { RateControl::Fixed(fastest) };
    let (rate, access_point) = (keys.rate.unwrap_or(usual), keys.access_point);
    let beacons = keys.beacons.flatten();
    if access_point.is_none() && keys.access_points.is_none() && beacons.is_some() {
        let why = "access points send beacons, and there is none: write `access_point`, or leave this out";
        fields.refuse([("beacons", why)], errors);
    }
    let rule = roaming::rule(keys.roaming.as_ref(), beacons);
    let access_points = keys.access_points.unwrap_or_default();
    let wifi =
        WifiSpec { config, rate, fastest, stations, access_point, access_points, rule, signals, interferers, beacons };
    Some(MediumSpec::Wifi(Box::new(wifi)))
}

const OTHER_BAND: &str = "the channels of a medium are all in one band: at 2.4 GHz 1 to 14, at 5 GHz 36 and above";

fn has_other_band(medium: &Wifi, number: u8) -> bool {
    channel(medium).is_ok_and(|usual| (usual.number() <= 14) != (number <= 14))
}

/// The rate controls, by their words.
const CONTROLS: [(&str, RateControl); 4] = [
    ("ideal", RateControl::Ideal),
    ("arf", RateControl::Arf),
    ("aarf", RateControl::Aarf),
    ("minstrel", RateControl::Minstrel),
];

/// The word of a rate control; none of a fixed rate.
pub(crate) fn control_word(rate: RateControl) -> Option<&'static str> {
    CONTROLS.iter().find(|(_, control)| *control == rate).map(|(word, _)| *word)
}

/// The error of a rate control where all stations hear one another, in every mode alike.
fn needs_signals(rate: Option<RateControl>, key: &Node) -> Option<Diagnostic> {
    let word = control_word(rate?)?;
    let why = "needs positions and signals: write `access: radio`, or a rate, for example {mcs: 7}";
    Some(key.error(format!("`{word}` {why}")))
}

fn channel(keys: &Wifi) -> Result<Channel, ConfigError> {
    let usual = if matches!(keys.standard, Standard::B | Standard::G) { 1 } else { 36 };
    Channel::new(keys.channel.unwrap_or(usual))
}

/// An error of the crate `radio` as one of a model.
pub(crate) fn renamed(wrong: ConfigError) -> netloom_link::ConfigError {
    let key = match wrong.key {
        "mcs" => "rate",
        "guard-interval" => "guard_interval",
        "position" => "position",
        "path" => "path",
        "antenna" => "antenna",
        key if Wifi::SECTION.keys().any(|own| own.name == key) => key,
        _ => "standard",
    };
    netloom_link::ConfigError::new(key, wrong.message)
}

/// The physical layer on a channel.
fn phy(keys: &Wifi, channel: Channel) -> Result<Phy, ConfigError> {
    let plain = PhyConfig::new(keys.standard, channel);
    Phy::new(&PhyConfig {
        width: keys.width.unwrap_or(plain.width),
        guard_interval: keys.guard_interval.unwrap_or(plain.guard_interval),
        preamble: keys.preamble.unwrap_or(plain.preamble),
        slot_time: keys.slot.unwrap_or(plain.slot_time),
        ..plain
    })
}

/// The medium that the keys describe, and its fastest rate with one stream.
fn config(keys: &Wifi) -> Result<(MediumConfig, Mode), ConfigError> {
    let phy = phy(keys, channel(keys)?)?;
    let mut config = MediumConfig::new(phy);
    config.access = if keys.access == Some(AccessWord::Ideal) { Access::Ideal } else { Access::Dcf };
    config.rts_above = keys.rts_above;
    config.retries.short = keys.retries.unwrap_or(config.retries.short);
    config.retries.long = keys.long_retries.unwrap_or(config.retries.long);
    config.recovery = keys.recovery.unwrap_or_default();
    config.aggregation.amsdu = keys.amsdu.unwrap_or(config.aggregation.amsdu);
    config.aggregation.ampdu = keys.ampdu.unwrap_or(config.aggregation.ampdu);
    config.aggregation.window = keys.window.unwrap_or(config.aggregation.window);
    let longest = keys.longest.unwrap_or(config.longest_ppdu);
    if longest > config.longest_ppdu {
        return Err(ConfigError::new("longest", format!("the standard allows at most {}", config.longest_ppdu)));
    }
    config.longest_ppdu = longest;
    config.discipline = keys.queue.unwrap_or_default();
    config.queue = keys.limit.unwrap_or(config.queue);
    config.check()?;
    if let Some(RateControl::Fixed(rate)) = keys.rate {
        phy.ppdu(rate)?;
    }
    Ok((config, fastest(&phy)))
}

/// The fastest rate of a layer with one stream.
fn fastest(phy: &Phy) -> Mode {
    if phy.has_qos() {
        let known = (0..=11).rev().map(Mode::mcs).find(|mode| phy.ppdu(*mode).is_ok());
        return known.unwrap_or(Mode::mcs(0));
    }
    if phy.standard() == Some(Standard::B) { Mode::kilobits(11_000) } else { Mode::kilobits(54_000) }
}

fn mode(node: &Node, errors: &mut Errors) -> Option<RateControl> {
    if matches!(node.content, Content::Map(_)) {
        let Scheme { mcs: index, streams } = Scheme::open(node, errors)?;
        return Some(RateControl::Fixed(Mode::Mcs { index, streams: streams.unwrap_or(1) }));
    }
    let control = CONTROLS.iter().find(|(word, _)| node.plain() == Some(word)).map(|(_, control)| *control);
    control.or_else(|| keep(quantity(node), errors).map(|rate| RateControl::Fixed(Mode::Legacy(rate))))
}

/// The stations that differ, by their names.
fn stations(
    node: &Node,
    (is_radio, is_roaming): (bool, bool),
    medium: &Wifi,
    errors: &mut Errors,
) -> Vec<(Spanned<String>, StationSpec)> {
    const WANTED: &str = "stations: a map like `{sta1: {rate: {mcs: 0}}}`";
    let entries = map(node, WANTED, errors).unwrap_or_default();
    let read = |entry: &crate::yaml::Entry| {
        let fields = Fields::open(&entry.value, &StationKeys::SECTION, errors)?;
        let keys = StationKeys::read_keys(&fields, errors)?;
        let StationKeys { rate, position, power, antenna, access_point, channel, errors: lost } = keys;
        if !is_roaming {
            fields.refuse([("access_point", roaming::ALONE), ("channel", roaming::ALONE)], errors);
        } else if let (Some(number), Some(key)) = (channel, fields.get("channel")) {
            let made = Channel::new(number).and_then(|own| phy(medium, own));
            match made {
                Err(wrong) => errors.push(key.error(wrong.message)),
                Ok(_) if has_other_band(medium, number) => errors.push(key.error(OTHER_BAND)),
                Ok(_) => {}
            }
        }
        if is_radio {
            fields.refuse([("errors", "with `access: radio`, errors follow from signals: leave it out")], errors);
        } else {
            let why = "it belongs to signals: write `access: radio` at the medium, or leave it out";
            fields.refuse([("position", why), ("power", why), ("antenna", why)], errors);
            errors.extend(fields.get("rate").and_then(|key| needs_signals(rate, key)));
        }
        let (lost, antenna) = (lost.unwrap_or(Probability::ZERO), antenna.unwrap_or_default());
        Some((entry.named(), StationSpec { rate, errors: lost, position, power, antenna, access_point, channel }))
    };
    entries.iter().filter_map(read).collect()
}
