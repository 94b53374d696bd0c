//! The sources of a simulation: names become places, and every source gets a name of its own.

use super::names::{FreeNames, Index, runs_nothing};
use super::place;
use crate::diagnostics::{Span, Spanned};
use crate::errors::Errors;
use crate::plan::{NodeKind, Plan, TrafficPlan};
use crate::spec::TrafficSpec;

/// The sources; those that refer to what does not exist are noted and left out.
pub(super) fn resolve(
    specs: Vec<TrafficSpec>,
    nodes: &Index<'_>,
    kinds: &[NodeKind],
    errors: &mut Errors,
) -> Vec<TrafficPlan> {
    // Given names go first, so that a made one never takes one of them.
    let mut taken = FreeNames::default();
    for name in specs.iter().filter_map(|spec| spec.name.as_ref()) {
        check_unique(name, &taken, errors);
        taken.take(&name.value);
    }
    let mut sources = Vec::new();
    for spec in specs {
        if let Some(source) = source(spec, (nodes, kinds), &mut taken, errors) {
            taken.take(&source.name);
            sources.push(source);
        }
    }
    sources
}

/// One more source for `plan`; none if it refers to what does not exist, which is noted.
pub(crate) fn resolve_for(plan: &Plan, spec: TrafficSpec, errors: &mut Errors) -> Option<TrafficPlan> {
    let spanned = |value: &String| Spanned { value: value.clone(), span: Span::default(), key: String::new() };
    let names: Vec<Spanned<String>> = plan.nodes.iter().map(|node| spanned(&node.name)).collect();
    let mut taken = FreeNames::without(plan.traffic.iter().map(|source| source.name.clone()));
    if let Some(name) = &spec.name {
        check_unique(name, &taken, errors);
    }
    let kinds: Vec<NodeKind> = plan.nodes.iter().map(|node| node.kind).collect();
    source(spec, (&Index::new("node", names.iter(), false), &kinds), &mut taken, errors)
}

fn check_unique(name: &Spanned<String>, taken: &FreeNames, errors: &mut Errors) {
    if taken.has(&name.value) {
        errors.push(name.error(format!("there are two sources `{}`: each has a name of its own", name.value)));
    }
}

fn source(
    spec: TrafficSpec,
    (nodes, kinds): (&Index<'_>, &[NodeKind]),
    taken: &mut FreeNames,
    errors: &mut Errors,
) -> Option<TrafficPlan> {
    let made = || taken.find(&format!("{}-{}", spec.from.value, spec.to.value), |_| true);
    let name = spec.name.map_or_else(made, |name| name.value);
    let (from, to) = (place(nodes, &spec.from, errors), place(nodes, &spec.to, errors));
    for (node, place) in [(&spec.from, from), (&spec.to, to)] {
        let kind = place.and_then(|place| kinds.get(place));
        errors.extend(kind.and_then(|kind| runs_nothing(node, *kind)));
    }
    if from.is_some() && from == to {
        return errors
            .reject(spec.to.error(format!("`{}` sends to itself, over no link: choose another node", spec.to.value)));
    }
    Some(TrafficPlan { line: spec.line, name, from: from?, to: to?, sends: spec.sends })
}
