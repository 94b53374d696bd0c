//! The stations of radio media.

use super::interfaces::Interface;
use crate::decode::wifi::renamed;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::plan::{LinkPlan, NOT_ON_AIR, Plan};
use crate::spec::{LinkSpec, MediumSpec, Spec, StationSpec, WifiSpec};
use netloom_link::{AirConfig, AirStation, PipeChange};
use netloom_radio::LinkConfig;
use netloom_units::Probability;

/// Gives the pipes of radio media their stations: the ends of the link.
pub(super) fn settle(plan: &mut Plan, spec: &Spec, interfaces: &[Interface], errors: &mut Errors) {
    for (link, own) in spec.links.iter().zip(&mut plan.links) {
        let Some(Spanned { value: MediumSpec::Wifi(wifi), .. }) = &link.shared else { continue };
        let before = errors.len();
        let config = air(link, own, wifi, interfaces, errors);
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

fn air(link: &LinkSpec, plan: &LinkPlan, wifi: &WifiSpec, interfaces: &[Interface], errors: &mut Errors) -> AirConfig {
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
    let station = |(end, at): (&crate::spec::EndSpec, &crate::plan::EndPlan)| {
        let said = wifi.stations.iter().find(|(name, _)| name.value == end.node.value).map(|(_, said)| said);
        let own = said.copied().unwrap_or(StationSpec { rate: None, errors: Probability::ZERO });
        AirStation {
            name: end.node.value.clone(),
            port: at.end.number(),
            address: interfaces[at.end.index()].mac,
            link: LinkConfig { mode: own.rate.unwrap_or(wifi.rate), error: own.errors },
        }
    };
    AirConfig { medium: wifi.config, stations: link.ends.iter().zip(&plan.ends).map(station).collect(), access_point }
}

fn ends(link: &LinkSpec) -> String {
    link.ends.iter().map(|end| end.node.value.as_str()).collect::<Vec<_>>().join(", ")
}

/// The error of a change that a radio medium does not understand.
pub(super) fn unchangeable(link: &LinkSpec, name: &Spanned<String>, change: &PipeChange) -> Option<Diagnostic> {
    let is_radio = matches!(&link.shared, Some(Spanned { value: MediumSpec::Wifi(_), .. }));
    (is_radio && change.is_of_wire()).then(|| name.error(NOT_ON_AIR))
}
