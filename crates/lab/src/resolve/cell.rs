//! The base stations and terminals of cells.

use super::interfaces::Interface;
use super::stations::{paths, place_of, unknown};
use crate::decode::cell::TERMINAL_POWER;
use crate::errors::Errors;
use crate::plan::LinkPlan;
use crate::spec::{CellSpec, LinkSpec, Spec, TerminalSpec};
use netloom_link::{AirAntenna, AirConfig, AirMedium, AirStation, AirTerminal};
use netloom_radio::{AntennaPattern, CellSignal, LinkConfig, Mode, Path, RateControl};

fn said<'a>(cell: &'a CellSpec, name: &str) -> Option<&'a TerminalSpec> {
    cell.terminals.iter().find(|(terminal, _)| terminal.value == name).map(|(_, said)| said)
}

/// The cell that a link is.
pub(super) fn air(
    (link, plan): (&LinkSpec, &LinkPlan),
    cell: &CellSpec,
    interfaces: &[Interface],
    (spec, of_nodes): (&Spec, &[Option<Path>]),
    errors: &mut Errors,
) -> AirConfig {
    let base = place_of(link, &cell.base.value);
    errors.extend(base.is_none().then(|| unknown(link, &cell.base)));
    let names = cell.terminals.iter().map(|(name, _)| name);
    errors.extend(names.filter(|name| place_of(link, &name.value).is_none()).map(|name| unknown(link, name)));
    if let Some((name, _)) = cell
        .terminals
        .iter()
        .find(|(name, own)| name.value == cell.base.value && (own.signal.is_some() || own.handovers.is_some()))
    {
        errors.push(name.error("the base station has no indicators or handovers of its own: leave them out"));
    }
    let is_base = |name: &str| name == cell.base.value;
    let signal = |name: &str| said(cell, name).and_then(|own| own.signal.clone()).unwrap_or(cell.usual.clone());
    // The base station stands somewhere if anybody's signal follows from that.
    let needs = |name: &str| cell.signals.is_some() && (is_base(name) || signal(name) == CellSignal::Positions);
    let place = |name: &str| said(cell, name).and_then(|own| own.position);
    let ways = paths(link, (place, needs), ("`signals`", "terminals"), (spec, of_nodes), errors);
    let station = |((end, at), path): ((&crate::spec::EndSpec, &crate::plan::EndPlan), &Path)| {
        let name = end.node.value.as_str();
        let own = said(cell, name);
        let usual = match &cell.signals {
            Some((_, power)) if is_base(name) => *power,
            _ => TERMINAL_POWER,
        };
        let handovers = own.and_then(|own| own.handovers);
        AirStation {
            name: name.to_owned(),
            port: at.end.number(),
            address: interfaces[at.end.index()].mac,
            link: LinkConfig::from(Mode::mcs(0)),
            antenna: AirAntenna {
                path: path.clone(),
                power: own.and_then(|own| own.power).unwrap_or(usual),
                pattern: own.map_or(AntennaPattern::default(), |own| own.antenna),
                rate: RateControl::Ideal,
            },
            terminal: (!is_base(name)).then(|| AirTerminal { signal: signal(name), handovers }),
        }
    };
    let stations = link.ends.iter().zip(&plan.ends).zip(&ways).map(station).collect();
    let radio = cell.signals.as_ref().map(|(radio, _)| radio.clone());
    let medium = AirMedium::Cell(Box::new(cell.config.clone()));
    AirConfig { medium, stations, access_point: base, radio, interferers: Vec::new() }
}
