//! Radio media for readers.

use crate::decode::wifi::control_word;
use crate::words::Words;
use netloom_link::{AirAntenna, AirConfig};
use netloom_radio::{Mode, Position, RateControl};
use netloom_units::Duration;
use serde_json::{Value, json};

/// The standard, which stands where other links have a rate.
pub(super) fn title(air: &AirConfig) -> String {
    let standard = air.medium.phy.standard().map_or("", |standard| standard.word());
    format!("802.11{standard}")
}

/// The access in words.
pub(super) fn cell(air: &AirConfig) -> String {
    let point = air
        .access_point
        .map_or_else(|| "no access point".to_owned(), |place| format!("access point {}", air.stations[place].name));
    format!("{}, {point}", access(air))
}

fn access(air: &AirConfig) -> &'static str {
    if air.radio.is_some() { "radio" } else { air.medium.access.word() }
}

/// The medium as a value of JSON.
pub(super) fn json(air: &AirConfig) -> Value {
    let stations = air.stations.iter().map(|station| {
        if air.radio.is_none() {
            return json!({
                "node": station.name,
                "rate": rate(station.link.mode),
                "errors_percent": station.link.error.as_f64() * 100.0,
            });
        }
        let AirAntenna { path, power, pattern, rate: control } = &station.antenna;
        let Position { x, y, z } = path.position(Duration::ZERO);
        let moves =
            (!path.is_standing()).then(|| json!({ "waypoints": path.waypoints(), "fastest_m_per_s": path.fastest() }));
        json!({
            "node": station.name,
            "rate": if let RateControl::Fixed(mode) = control { rate(*mode) } else { control_word(*control).into() },
            "position_m": [x.0, y.0, z.0],
            "path": moves,
            "power_dbm": power.0,
            "gain_db": pattern.gain.0,
            "azimuth_degrees": pattern.beam.map(|beam| beam.azimuth),
        })
    });
    json!({
        "kind": "wifi",
        "standard": air.medium.phy.standard().map(|standard| standard.word()),
        "access": access(air),
        "access_point": air.access_point.map(|place| air.stations[place].name.as_str()),
        "stations": stations.collect::<Vec<_>>(),
        "walls": air.radio.as_ref().map(|radio| radio.walls.len()),
        "interferers": interferers(air),
    })
}

/// The names of interferers; none where they are not thought of.
fn interferers(air: &AirConfig) -> Option<Vec<&str>> {
    let all = match &air.radio {
        Some(radio) => &radio.interferers,
        None if air.interferers.is_empty() => return None,
        None => &air.interferers,
    };
    Some(all.iter().map(|own| own.name.as_str()).collect())
}

fn rate(mode: Mode) -> Value {
    match mode {
        Mode::Legacy(rate) => rate.to_string().into(),
        Mode::Mcs { index, streams } => json!({ "mcs": index, "streams": streams }),
    }
}
