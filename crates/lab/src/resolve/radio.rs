//! The stations of radio media.

use super::interfaces::Interface;
use crate::decode::measures::POWER;
use crate::decode::wifi::renamed;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::plan::{LinkPlan, NOT_ON_AIR, Plan};
use crate::spec::{EndSpec, LinkSpec, MediumSpec, Spec, StationSpec, WifiSpec};
use netloom_link::{AirAntenna, AirConfig, AirStation, PipeChange};
use netloom_radio::{AntennaPattern, LinkConfig, Path, Position, RateControl};
use netloom_units::Probability;

/// Gives the pipes of radio media their stations: the ends of the link.
pub(super) fn settle(
    plan: &mut Plan,
    spec: &Spec,
    (interfaces, of_nodes): (&[Interface], &[Option<Path>]),
    errors: &mut Errors,
) {
    for (link, own) in spec.links.iter().zip(&mut plan.links) {
        let Some(Spanned { value: MediumSpec::Wifi(wifi), .. }) = &link.shared else { continue };
        let before = errors.len();
        let paths = paths(link, wifi, (spec, of_nodes), errors);
        let config = air(link, own, wifi, (interfaces, &paths), errors);
        if errors.len() > before {
            continue;
        }
        match config.check() {
            Ok(()) => own.pipes.iter_mut().for_each(|pipe| pipe.air = Some(Box::new(config.clone()))),
            Err(wrong) => {
                let netloom_link::ConfigError { key, message } = renamed(wrong);
                let place = link.shared.as_ref().map(|said| said.error(format!("{key}: {message}")));
                errors.extend(place);
            }
        }
    }
}

/// The ways of the stations of a medium; an error for each of which nothing is said although there are signals.
fn paths(
    link: &LinkSpec,
    wifi: &WifiSpec,
    (spec, of_nodes): (&Spec, &[Option<Path>]),
    errors: &mut Errors,
) -> Vec<Path> {
    let origin = super::paths::origin(spec);
    let place = |end: &EndSpec| {
        let name = end.node.value.as_str();
        if let Some(place) = said(wifi, name).and_then(|said| said.position) {
            return place.position(origin).into();
        }
        let node = spec.nodes.iter().position(|node| node.name.value == name);
        let known = node.and_then(|node| of_nodes.get(node)?.clone());
        // What is wrong with a path was said there.
        let is_said = node.is_some_and(|node| spec.nodes[node].path.is_some());
        if known.is_none() && !is_said && wifi.signals.is_some() {
            let wanted = format!(
                "`{name}` needs a position for `access: radio`: write `position: [5 m, 0 m]` at the node, or `stations: {{{name}: {{position: [5 m, 0 m]}}}}` at the medium"
            );
            errors.push(end.node.error(wanted));
        }
        known.unwrap_or_else(|| Position::default().into())
    };
    link.ends.iter().map(place).collect()
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
    let unknown = |name: &Spanned<String>| {
        let message = format!("`{}` is no end of `{}`: its stations are {}", name.value, link.name.value, ends(link));
        name.error(message)
    };
    let place_of = |name: &str| link.ends.iter().position(|end| end.node.value == name);
    errors
        .extend(wifi.stations.iter().map(|(name, _)| name).filter(|name| place_of(&name.value).is_none()).map(unknown));
    let access_point = wifi.access_point.as_ref().and_then(|name| {
        let place = place_of(&name.value);
        errors.extend(place.is_none().then(|| unknown(name)));
        place
    });
    let (radio, power) = wifi.signals.clone().map_or((None, POWER), |(radio, power)| (Some(radio), power));
    let station = |((end, at), path): ((&EndSpec, &crate::plan::EndPlan), &Path)| {
        let antenna = AntennaPattern::default();
        let usual = StationSpec { rate: None, errors: Probability::ZERO, position: None, power: None, antenna };
        let own = said(wifi, &end.node.value).copied().unwrap_or(usual);
        let rate = own.rate.unwrap_or(wifi.rate);
        let mode = if let RateControl::Fixed(mode) = rate { mode } else { wifi.fastest };
        AirStation {
            name: end.node.value.clone(),
            port: at.end.number(),
            address: interfaces[at.end.index()].mac,
            link: LinkConfig { mode, error: own.errors },
            antenna: AirAntenna { path: path.clone(), power: own.power.unwrap_or(power), pattern: own.antenna, rate },
        }
    };
    let stations = link.ends.iter().zip(&plan.ends).zip(paths).map(station).collect();
    AirConfig { medium: wifi.config, stations, access_point, radio, interferers: wifi.interferers.clone() }
}

fn ends(link: &LinkSpec) -> String {
    link.ends.iter().map(|end| end.node.value.as_str()).collect::<Vec<_>>().join(", ")
}

/// The error of a change that a radio medium does not understand.
pub(super) fn unchangeable(link: &LinkSpec, name: &Spanned<String>, change: &PipeChange) -> Option<Diagnostic> {
    let is_radio = matches!(&link.shared, Some(Spanned { value: MediumSpec::Wifi(_), .. }));
    (is_radio && change.is_of_wire()).then(|| name.error(NOT_ON_AIR))
}
