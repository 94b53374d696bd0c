//! What is recorded of packets: names become places, and every capture gets a file of its own.

use super::names::Index;
use super::place;
use crate::capture::{CaptureSpec, EXTENSION};
use crate::diagnostics::{Span, one_of};
use crate::errors::Errors;
use crate::journal::JournalSpec;
use crate::plan::{CaptureHeaders, CapturePlan, CapturePoint, JournalPlan};
use crate::spec::{LinkSpec, MediumSpec};
use std::collections::BTreeMap;

/// The captures; those of links and nodes that do not exist are noted and left out.
pub(super) fn captures(
    specs: Vec<CaptureSpec>,
    (of_links, of_nodes): (&Index<'_>, &Index<'_>),
    links: &[LinkSpec],
    errors: &mut Errors,
) -> Vec<CapturePlan> {
    let mut files: BTreeMap<String, Span> = BTreeMap::new();
    let mut captures = Vec::new();
    for spec in specs {
        let places = [(&spec.link, of_links), (&spec.node, of_nodes)]
            .map(|(name, index)| name.as_ref().map(|name| place(index, name, errors)));
        // What is named and not there was noted.
        let [link, node] = places;
        let (Some(link), Some(node)) = (found(link), found(node)) else { continue };
        let names = [&spec.node, &spec.link].into_iter().flatten().collect::<Vec<_>>();
        let default = names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>().join("-") + EXTENSION;
        let Some(named) = spec.file.as_ref().or(names.first().copied()) else { continue };
        let file = spec.file.as_ref().map_or(default, |file| file.value.clone());
        if let Some(first) = files.insert(file.clone(), named.span) {
            let message = format!("two captures go to \"{file}\": give one of them another name with `file`");
            errors.push(named.error(message).and(first, "first here"));
        }
        check_place(&spec, link, links, errors);
        check_headers(&spec, link, links, errors);
        let ends: Vec<&str> = match link {
            Some(link) if node.is_none() => links[link].ends.iter().map(|end| end.node.value.as_str()).collect(),
            _ => Vec::new(),
        };
        let at = spec.at.as_ref().map(|at| CapturePoint::of(&at.value, &ends).map_err(|wrong| at.error(wrong)));
        let at = at.and_then(|point| point.map_err(|error| errors.push(error)).ok());
        let CaptureSpec { direction, snaplen, r#match: filter, filter: expression, ring, headers, .. } = spec;
        let headers = headers.unwrap_or_default();
        captures.push(CapturePlan { link, node, direction, at, snaplen, filter, expression, ring, headers, file });
    }
    captures
}

/// Checks that headers of radiotap are asked for where something is on the air, and with nothing that is of Ethernet.
fn check_headers(spec: &CaptureSpec, link: Option<usize>, links: &[LinkSpec], errors: &mut Errors) {
    if spec.headers != Some(CaptureHeaders::Radiotap) {
        return;
    }
    let Some(named) = spec.link.as_ref().or(spec.node.as_ref()) else { return };
    let is_radio = |place: usize| {
        let medium = links[place].shared.as_ref().map(|medium| &medium.value);
        matches!(medium, Some(MediumSpec::Wifi(_)))
    };
    if !link.is_some_and(is_radio) {
        let message =
            "`headers: radiotap` is for what is on the air: write `link` with a link whose `medium` is of kind `wifi`";
        return errors.push(named.error(message));
    }
    let of_ethernet = [
        ("node", spec.node.is_some()),
        ("at", spec.at.is_some()),
        ("direction", spec.direction.is_some()),
        ("filter", spec.filter.is_some()),
    ];
    for (key, _) in of_ethernet.into_iter().filter(|(_, is_there)| *is_there) {
        let instead = if key == "filter" { "write `match`, or" } else { "everything on the air is captured:" };
        errors.push(named.error(format!("`{key}` is for captures with Ethernet headers; {instead} leave it out")));
    }
}

/// None if it was named and is not there.
fn found(place: Option<Option<usize>>) -> Option<Option<usize>> {
    place.map_or(Some(None), |place| place.map(Some))
}

/// Whether a node is at the link, and whether a direction is one of a link.
fn check_place(spec: &CaptureSpec, link: Option<usize>, links: &[LinkSpec], errors: &mut Errors) {
    match (link, &spec.link, &spec.node) {
        (Some(link), Some(name), node) => {
            errors.extend(links[link].without_direction(spec.direction, name));
            let has = |other: &str| links[link].ends.iter().any(|end| end.node.value == other);
            if let Some(node) = node.as_ref().filter(|node| !has(&node.value)) {
                let ends: Vec<&str> = links[link].ends.iter().map(|end| end.node.value.as_str()).collect();
                errors.push(node.error(format!(
                    "`{}` is not at `{}`: write {}",
                    node.value,
                    name.value,
                    one_of(&ends)
                )));
            }
        }
        (_, _, Some(node)) if spec.direction.is_some() => {
            errors.push(node.error(
                "a direction is that of a link: write `link`, too, or `at: sent` for what the node sends and `at: delivered` \
                 for what it gets",
            ));
        }
        _ => {}
    }
}

/// The journal; links that do not exist are noted and left out.
pub(super) fn journal(
    spec: Option<JournalSpec>,
    index: &Index<'_>,
    links: &[LinkSpec],
    errors: &mut Errors,
) -> Option<JournalPlan> {
    let JournalSpec { links: pipes, r#match: filter, limit, attempts } = spec?;
    let meant = pipes.map(|pipes| {
        let mut meant = Vec::new();
        for (name, direction) in pipes {
            let Some(link) = place(index, &name, errors) else { continue };
            errors.extend(links[link].without_direction(direction, &name));
            if meant.contains(&(link, direction)) {
                errors.push(name.error(format!("`{}` stands here twice: leave one of them out", name.value)));
            }
            meant.push((link, direction));
        }
        meant
    });
    let place = attempts.filter(|said| said.value);
    let journal = JournalPlan { links: meant, filter, limit, attempts: place.is_some() };
    let is_wifi = |link: &LinkSpec| link.shared.as_ref().is_some_and(|medium| medium.value.wifi().is_some());
    let has_air = links.iter().enumerate().any(|(number, link)| is_wifi(link) && journal.is_about(number));
    if let Some(said) = place.filter(|_| !has_air) {
        let message =
            "attempts are those on the air, and no link of this journal has a `medium` of kind wifi: leave this out";
        errors.push(said.error(message));
    }
    Some(journal)
}
