//! Radio media for readers.

use crate::words::Words;
use netloom_link::AirConfig;
use netloom_radio::Mode;
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
    format!("{}, {point}", air.medium.access.word())
}

/// The medium as a value of JSON.
pub(super) fn json(air: &AirConfig) -> Value {
    let stations = air.stations.iter().map(|station| {
        json!({
            "node": station.name,
            "rate": rate(station.link.mode),
            "errors_percent": station.link.error.as_f64() * 100.0,
        })
    });
    json!({
        "kind": "wifi",
        "standard": air.medium.phy.standard().map(|standard| standard.word()),
        "access": air.medium.access.word(),
        "access_point": air.access_point.map(|place| air.stations[place].name.as_str()),
        "stations": stations.collect::<Vec<_>>(),
    })
}

fn rate(mode: Mode) -> Value {
    match mode {
        Mode::Legacy(rate) => rate.to_string().into(),
        Mode::Mcs { index, streams } => json!({ "mcs": index, "streams": streams }),
    }
}
