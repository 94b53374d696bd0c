//! The stations of radio media: `wifi.sta1.retries`, or `sta1.retries` where `sta1` is at one medium alone.

use super::super::{Names, OnAir};
use super::{functions, unknown_metric};
use crate::expect::{Function, PipeMetric, Subject};
use crate::words::Words;

fn subject(link: usize, station: usize, metric: PipeMetric) -> Subject {
    Subject::Link { link, direction: None, pipe: None, metric, station: Some(station), only: None }
}

fn all() -> Vec<&'static str> {
    PipeMetric::WORDS.iter().filter(|(_, metric)| metric.is_of_station()).map(|(name, _)| *name).collect()
}

/// Reads what is behind the name of a link, if it is about a station.
pub(super) fn of_link(
    name: &str,
    link: usize,
    names: &Names<'_>,
    rest: &str,
) -> Result<Option<(Subject, Vec<Function>)>, String> {
    let Some(OnAir { stations, .. }) = &names.air[link] else { return Ok(None) };
    let Some((first, behind)) = rest.split_once('.') else { return Ok(None) };
    let (metric_name, functions) = functions(behind);
    let metric = PipeMetric::named(metric_name);
    let Some(station) = stations.iter().position(|known| known == first) else {
        // `queue.max` is no station with a metric.
        let is_metric = PipeMetric::named(first).is_some() || ["forward", "backward"].contains(&first);
        return match metric {
            Some(_) if !is_metric => {
                Err(format!("`{name}` has no station `{first}`: its stations are {}", stations.join(", ")))
            }
            _ => Ok(None),
        };
    };
    match metric.filter(|metric| metric.is_of_station()) {
        Some(metric) => Ok(Some((subject(link, station, metric), functions))),
        // A station may be called as a metric is.
        None if PipeMetric::named(first).is_some() => Ok(None),
        None => Err(unknown_metric(&format!("station `{first}` of `{name}`"), metric_name, &all())),
    }
}

/// Reads what a node does as a station of the one radio medium that it is at; none if that is no metric of stations, or if it is at none.
pub(super) fn of_node(name: &str, names: &Names<'_>, metric_name: &str) -> Result<Option<Subject>, String> {
    let Some(metric) = PipeMetric::named(metric_name).filter(|metric| metric.is_of_air() && metric.is_of_station())
    else {
        return Ok(None);
    };
    let at = |(link, air): (usize, &Option<OnAir>)| {
        let station = air.as_ref()?.stations.iter().position(|known| known == name)?;
        Some((link, station))
    };
    let places: Vec<(usize, usize)> = names.air.iter().enumerate().filter_map(at).collect();
    match places[..] {
        [] => Err(format!("node `{name}` is at no radio medium, whose stations `{metric_name}` is of")),
        [(link, station)] => Ok(Some(subject(link, station, metric))),
        _ => {
            let each = places.iter().map(|(link, _)| format!("`{}.{name}.{metric_name}`", names.links[*link]));
            let each: Vec<String> = each.collect();
            Err(format!("node `{name}` is at {} radio media: write {}", places.len(), each.join(" or ")))
        }
    }
}

/// Checks that only a radio medium is asked for what others do not have.
pub(super) fn check_medium(name: &str, metric: PipeMetric, air: Option<&OnAir>) -> Result<(), String> {
    match air {
        None if metric.is_of_air() => Err(format!(
            "`{metric}` is of radio media, and `{name}` is none: its `medium` would be a map of kind `wifi`"
        )),
        Some(OnAir { has_signals: true, .. }) if metric == PipeMetric::CollisionAirtime => Err(format!(
            "`{metric}` is of media on which all hear one another (`access: dcf`): with `access: radio`, signals that overlap need not \
             collide; write `{name}.collisions`"
        )),
        _ => Ok(()),
    }
}
