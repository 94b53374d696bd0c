//! Radio media for readers.

use crate::decode::wifi::control_word;
use crate::words::Words;
use netloom_link::{AirAntenna, AirConfig, AirMedium, AirStation};
use netloom_radio::{AccessPoints, CellConfig, CellSignal, CellSite, Mode, Position, RateControl};
use netloom_units::Duration;
use serde_json::{Value, json};

/// The standard, which stands where other links have a rate.
pub(super) fn title(air: &AirConfig) -> String {
    match &air.medium {
        AirMedium::Wifi(medium) => {
            let standard = medium.phy.standard().map_or("", |standard| standard.word());
            format!("802.11{standard}")
        }
        AirMedium::Cell(cell) => format!("cell, {} blocks", cell.blocks),
    }
}

/// The access in words.
pub(super) fn cell(air: &AirConfig) -> String {
    if let AirMedium::Cell(cell) = &air.medium {
        let base = air.access_point.map_or("", |place| air.stations[place].name.as_str());
        return format!("{}, base station {base}", cell.scheduler.word());
    }
    if let Some(network) = &air.access_points {
        let names: Vec<&str> = network.points.iter().map(|point| air.stations[point.station].name.as_str()).collect();
        return format!("{}, access points {}", access(air), names.join(", "));
    }
    let point = air
        .access_point
        .map_or_else(|| "no access point".to_owned(), |place| format!("access point {}", air.stations[place].name));
    format!("{}, {point}", access(air))
}

fn access(air: &AirConfig) -> &'static str {
    if air.radio.is_some() { "radio" } else { air.medium.wifi().map_or("", |medium| medium.access.word()) }
}

/// The medium as a value of JSON.
pub(super) fn json(air: &AirConfig) -> Value {
    let medium = match &air.medium {
        AirMedium::Wifi(medium) => medium,
        AirMedium::Cell(cell) => return cell_json(air, cell),
    };
    let stations = air.stations.iter().map(|station| {
        if air.radio.is_none() {
            return json!({
                "node": station.name,
                "rate": rate(station.link.mode),
                "errors_percent": station.link.error.as_f64() * 100.0,
            });
        }
        let control = station.antenna.rate;
        let mut value = json!({
            "node": station.name,
            "rate": if let RateControl::Fixed(mode) = control { rate(mode) } else { control_word(control).into() },
        });
        stand(&mut value, &station.antenna);
        value
    });
    let mut value = json!({
        "kind": "wifi",
        "standard": medium.phy.standard().map(|standard| standard.word()),
        "access": access(air),
        "access_point": air.access_point.map(|place| air.stations[place].name.as_str()),
        "access_points": air.access_points.as_ref().map(|network| points(air, network)),
        "stations": stations.collect::<Vec<_>>(),
        "walls": air.radio.as_ref().map(|radio| radio.walls.len()),
        "interferers": interferers(air),
    });
    if let Some(beacons) = &air.beacons {
        value["beacons_ns"] = beacons.interval.as_nanos().into();
    }
    value
}

/// The access points of several, and with which the stations stay that do.
fn points(air: &AirConfig, network: &AccessPoints) -> Value {
    let name = |station: usize| air.stations[station].name.as_str();
    let all = network.points.iter().enumerate().map(|(place, point)| {
        let kept = network.kept.iter().filter(|(_, own)| *own == place).map(|(station, _)| name(*station));
        json!({ "node": name(point.station), "channel": point.channel, "kept": kept.collect::<Vec<_>>() })
    });
    all.collect()
}

/// Adds where a station is and how it sends.
fn stand(value: &mut Value, AirAntenna { path, power, pattern, .. }: &AirAntenna) {
    let Position { x, y, z } = path.position(Duration::ZERO);
    let moves =
        (!path.is_standing()).then(|| json!({ "waypoints": path.waypoints(), "fastest_m_per_s": path.fastest() }));
    value["position_m"] = json!([x.0, y.0, z.0]);
    value["path"] = json!(moves);
    value["power_dbm"] = json!(power.0);
    value["gain_db"] = json!(pattern.gain.0);
    value["azimuth_degrees"] = json!(pattern.beam.map(|beam| beam.azimuth));
}

/// A cell as a value of JSON.
fn cell_json(air: &AirConfig, cell: &CellConfig) -> Value {
    let terminal = |station: &AirStation| {
        let terminal = station.terminal.as_ref();
        let handovers = terminal.and_then(|own| own.handovers);
        let mut value = json!({
            "node": station.name,
            "cqi": terminal.map(|own| match &own.signal {
                CellSignal::Fixed(down, up) => json!([down, up]),
                CellSignal::Trace(steps) => json!({ "steps": steps.len() }),
                CellSignal::Positions => "positions".into(),
            }),
            "handovers_every_ns": handovers.map(|own| own.every.as_nanos()),
            "handover_gap_ns": handovers.map(|own| own.gap.as_nanos()),
            "cell": terminal.and_then(|own| own.site).map(|site| cell.sites[site].name.as_str()),
        });
        if air.radio.is_some() {
            stand(&mut value, &station.antenna);
        }
        value
    };
    json!({
        "kind": "cell",
        "base": air.access_point.map(|place| air.stations[place].name.as_str()),
        "slot_ns": cell.slot.as_nanos(),
        "blocks": cell.blocks,
        "layers": cell.layers,
        "scheduler": cell.scheduler.word(),
        "cells": cell.sites.iter().map(site_json).collect::<Vec<_>>(),
        "stations": air.stations.iter().map(terminal).collect::<Vec<_>>(),
    })
}

fn site_json(CellSite { name, position, power, pattern, carrier }: &CellSite) -> Value {
    let Position { x, y, z } = position;
    let beam = pattern.beam.map(|beam| beam.azimuth);
    json!({
        "name": name,
        "position_m": [x.0, y.0, z.0],
        "power_dbm": power.0,
        "gain_db": pattern.gain.0,
        "azimuth_degrees": beam,
        "carrier": carrier,
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
