//! The base stations and terminals of cells.

use super::interfaces::Interface;
use super::stations::{paths, place_of, unknown};
use crate::decode::cell::{BASE_POWER, TERMINAL_POWER};
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::plan::LinkPlan;
use crate::spec::{CellSpec, LinkSpec, Spec, TerminalSpec};
use netloom_link::{AirAntenna, AirConfig, AirMedium, AirStation, AirTerminal};
use netloom_radio::{AntennaPattern, CellConfig, CellSignal, CellSite, LinkConfig, Mode, Path, RateControl};

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
    if let Some((name, _)) = cell.terminals.iter().find(|(name, own)| {
        name.value == cell.base.value && (own.signal.is_some() || own.handovers.is_some() || own.cell.is_some())
    }) {
        errors.push(name.error("the base station has no indicators, cell or handovers of its own: leave them out"));
    }
    let is_base = |name: &str| name == cell.base.value;
    let signal = |name: &str| said(cell, name).and_then(|own| own.signal.clone()).unwrap_or(cell.usual.clone());
    // The base station stands somewhere if anybody's signal follows from that.
    let needs = |name: &str| {
        cell.signals.is_some()
            && (is_base(name) && cell.cells.is_empty() || !is_base(name) && signal(name) == CellSignal::Positions)
    };
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
            terminal: (!is_base(name)).then(|| AirTerminal {
                signal: signal(name),
                handovers,
                site: own.and_then(|own| own.cell.as_ref()).and_then(|named| site_of(cell, &named.value)),
            }),
        }
    };
    let stations = link.ends.iter().zip(&plan.ends).zip(&ways).map(station).collect();
    let radio = cell.signals.as_ref().map(|(radio, _)| radio.clone());
    let strangers = cell.terminals.iter().filter_map(|(_, own)| own.cell.as_ref());
    errors.extend(strangers.filter(|named| site_of(cell, &named.value).is_none()).map(|named| stranger(cell, named)));
    let medium = AirMedium::Cell(Box::new(CellConfig { sites: sites(cell, spec), ..cell.config.clone() }));
    AirConfig {
        medium,
        stations,
        access_point: base,
        access_points: None,
        radio,
        interferers: Vec::new(),
        beacons: None,
    }
}

/// The cells of the base station.
fn sites(cell: &CellSpec, spec: &Spec) -> Vec<CellSite> {
    let origin = super::paths::origin(spec);
    let usual = cell.signals.as_ref().map_or(BASE_POWER, |(_, power)| *power);
    let site = |(name, own): &(Spanned<String>, crate::spec::SiteSpec)| CellSite {
        name: name.value.clone(),
        position: own.position.position(origin),
        power: own.power.unwrap_or(usual),
        pattern: own.antenna,
        carrier: own.carrier,
    };
    cell.cells.iter().map(site).collect()
}

fn site_of(cell: &CellSpec, name: &str) -> Option<usize> {
    cell.cells.iter().position(|(own, _)| own.value == name)
}

/// The error of a terminal that is to stay at a cell that nobody has.
fn stranger(cell: &CellSpec, named: &Spanned<String>) -> Diagnostic {
    let known: Vec<&str> = cell.cells.iter().map(|(name, _)| name.value.as_str()).collect();
    if known.is_empty() {
        return named
            .error(format!("there is no cell `{}`: write `cells` at the medium, or leave this out", named.value));
    }
    named.error(format!("there is no cell `{}`: the cells are {}", named.value, known.join(", ")))
}
