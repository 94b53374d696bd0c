//! The stations of radio media.

use super::cell;
use super::interfaces::Interface;
use super::roaming;
use super::stations::{paths, place_of, unknown};
use crate::decode;
use crate::decode::measures::POWER;
use crate::decode::wifi::renamed;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::plan::{LinkPlan, NOT_ON_AIR, Plan};
use crate::spec::{EndSpec, LinkSpec, MediumSpec, Spec, StationSpec, WifiSpec};
use netloom_link::{AirAntenna, AirBeacons, AirConfig, AirMedium, AirStation, PipeChange};
use netloom_radio::{AntennaPattern, LinkConfig, Path, RateControl};
use netloom_units::Probability;

/// Gives the pipes of radio media their stations: the ends of the link.
pub(super) fn settle(
    plan: &mut Plan,
    spec: &Spec,
    (interfaces, of_nodes): (&[Interface], &[Option<Path>]),
    errors: &mut Errors,
) {
    for (link, own) in spec.links.iter().zip(&mut plan.links) {
        let before = errors.len();
        let config = match link.shared.as_ref().map(|medium| &medium.value) {
            None | Some(MediumSpec::Shared) => continue,
            Some(MediumSpec::Wifi(wifi)) => {
                let place = |name: &str| said(wifi, name).and_then(|said| said.position);
                let needs = |_: &str| wifi.signals.is_some();
                let ways = paths(link, (place, needs), ("`access: radio`", "stations"), (spec, of_nodes), errors);
                air(link, own, wifi, (interfaces, &ways), errors)
            }
            Some(MediumSpec::Cell(cell)) => cell::air((link, own), cell, interfaces, (spec, of_nodes), errors),
        };
        if errors.len() > before {
            continue;
        }
        match config.check() {
            Ok(()) => own.pipes.iter_mut().for_each(|pipe| pipe.air = Some(Box::new(config.clone()))),
            Err(wrong) => {
                let netloom_link::ConfigError { key, message } =
                    if config.medium.wifi().is_some() { renamed(wrong) } else { decode::cell::renamed(wrong) };
                let place = link.shared.as_ref().map(|said| said.error(format!("{key}: {message}")));
                errors.extend(place);
            }
        }
    }
}

fn said<'a>(wifi: &'a WifiSpec, name: &str) -> Option<&'a StationSpec> {
    wifi.stations.iter().find(|(station, _)| station.value == name).map(|(_, said)| said)
}

fn air(
    link: &LinkSpec,
    plan: &LinkPlan,
    wifi: &WifiSpec,
    (interfaces, paths): (&[Interface], &[Path]),
    errors: &mut Errors,
) -> AirConfig {
    let names = wifi.stations.iter().map(|(name, _)| name);
    errors.extend(names.filter(|name| place_of(link, &name.value).is_none()).map(|name| unknown(link, name)));
    let mut place = |name: &Spanned<String>| {
        let place = place_of(link, &name.value);
        errors.extend(place.is_none().then(|| unknown(link, name)));
        place
    };
    let access_point = wifi.access_point.as_ref().and_then(&mut place);
    let points: Vec<usize> = wifi.access_points.iter().filter_map(&mut place).collect();
    let access_points = (!wifi.access_points.is_empty()).then(|| roaming::access_points(link, wifi, &points, errors));
    let (radio, power) = wifi.signals.clone().map_or((None, POWER), |(radio, power)| (Some(radio), power));
    let station = |((end, at), path): ((&EndSpec, &crate::plan::EndPlan), &Path)| {
        let antenna = AntennaPattern::default();
        let usual = StationSpec {
            rate: None,
            errors: Probability::ZERO,
            position: None,
            power: None,
            antenna,
            access_point: None,
            channel: None,
        };
        let own = said(wifi, &end.node.value).unwrap_or(&usual);
        let rate = own.rate.unwrap_or(wifi.rate);
        let mode = if let RateControl::Fixed(mode) = rate { mode } else { wifi.fastest };
        AirStation {
            name: end.node.value.clone(),
            port: at.end.number(),
            address: interfaces[at.end.index()].mac,
            link: LinkConfig { mode, error: own.errors },
            antenna: AirAntenna { path: path.clone(), power: own.power.unwrap_or(power), pattern: own.antenna, rate },
            terminal: None,
        }
    };
    let stations = link.ends.iter().zip(&plan.ends).zip(paths).map(station).collect();
    AirConfig {
        medium: AirMedium::Wifi(wifi.config),
        stations,
        access_point,
        access_points,
        radio,
        interferers: wifi.interferers.clone(),
        beacons: wifi.beacons.map(|interval| AirBeacons { interval, network: link.name.value.clone() }),
    }
}

/// The error of a change that a radio medium does not understand.
pub(super) fn unchangeable(link: &LinkSpec, name: &Spanned<String>, change: &PipeChange) -> Option<Diagnostic> {
    let is_radio = link.shared.as_ref().is_some_and(|medium| medium.value.is_radio());
    (is_radio && change.is_of_wire()).then(|| name.error(NOT_ON_AIR))
}
