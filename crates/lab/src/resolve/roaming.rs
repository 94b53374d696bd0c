//! Networks with several access points.

use super::stations::{place_of, unknown};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::plan::NodeKind;
use crate::spec::{LinkSpec, NodeSpec, Spec, WifiSpec};
use netloom_radio::{AccessPoint, AccessPoints};

/// The access points of a medium, which are these ends of its link.
pub(super) fn access_points(link: &LinkSpec, wifi: &WifiSpec, points: &[usize], errors: &mut Errors) -> AccessPoints {
    let usual = wifi.config.phy.channel().map_or(0, netloom_radio::Channel::number);
    let said = |place: usize| {
        let name = &link.ends[place].node.value;
        wifi.stations.iter().find(|(station, _)| station.value == *name).map(|(_, own)| own)
    };
    let point = |place: &usize| {
        let channel = said(*place).and_then(|own| own.channel).unwrap_or(usual);
        AccessPoint { station: *place, channel }
    };
    for (place, name) in points.iter().zip(&wifi.access_points) {
        if points.iter().filter(|other| *other == place).count() > 1 {
            errors.push(name.error(format!("`{}` is an access point twice: write it once", name.value)));
        }
    }
    let mut kept = Vec::new();
    for (name, own) in &wifi.stations {
        let Some(station) = place_of(link, &name.value) else { continue };
        let is_point = points.contains(&station);
        if let Some(wanted) = &own.access_point {
            match points.iter().position(|place| link.ends[*place].node.value == wanted.value) {
                _ if is_point => errors.push(wanted.error("an access point is with no other one: leave this out")),
                Some(number) => kept.push((station, number)),
                None if place_of(link, &wanted.value).is_none() => errors.push(unknown(link, wanted)),
                None => errors.push(wanted.error(format!("`{}` is no access point of `access_points`", wanted.value))),
            }
        }
        if own.channel.is_some() && !is_point {
            let message = format!("`{}` has the channel of its access point: leave `channel` out", name.value);
            errors.push(name.error(message));
        }
    }
    AccessPoints { points: points.iter().map(point).collect(), rule: wifi.rule, kept }
}

/// The errors of access points that divide the network that they have in common.
pub(super) fn check(spec: &Spec) -> Vec<Diagnostic> {
    let named = spec.links.iter().filter_map(|link| link.shared.as_ref()?.value.wifi()).flat_map(|wifi| {
        let all: &[Spanned<String>] = &wifi.access_points;
        all.iter().filter(move |_| all.len() > 1)
    });
    let is_router = |node: &&NodeSpec| node.kind == NodeKind::Router || node.kind == NodeKind::Transit;
    let divides =
        |name: &Spanned<String>| spec.nodes.iter().filter(is_router).any(|node| node.name.value == name.value);
    let wrong = |name: &Spanned<String>| {
        name.error(format!(
            "`{}` is a router, and several access points are one network: write `kind: switch`, and give them a link to one another",
            name.value
        ))
    };
    named.filter(|name| divides(name)).map(wrong).collect()
}
