//! `pipes`: further pipes of a direction, each for some of the traffic.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::expect::PipeMetric;
use crate::fields::{Fields, map};
use crate::keys::TREATMENT;
use crate::models::{self, filter::Sharing};
use crate::names::wrong_link_name;
use crate::plan::Treatment;
use crate::words::Words;
use crate::yaml::Node;
use netloom_link::{Filter, PipeChange, PipeConfig};
use netloom_units::Bytes;

/// A further pipe as it is written: what it does not say is as in its direction.
pub(super) struct Written<'a> {
    name: Spanned<String>,
    filter: Filter,
    change: PipeChange,
    fields: Fields<'a>,
}

/// The further pipes in the order in which they are written; those that can never get a packet are noted.
pub(super) fn read<'a>(node: &'a Node, errors: &mut Errors) -> Vec<Written<'a>> {
    const WANTED: &str = "further pipes: a map like `{far: {match: {to: 10.0.9.0/24}, delay: 100 ms}}`";
    let Some(entries) = map(node, WANTED, errors) else { return Vec::new() };
    let mut all: Vec<Written<'a>> = Vec::new();
    for entry in entries {
        let name = entry.named();
        if let Some(wrong) = wrong_pipe_name(&name.value) {
            errors.push(name.error(wrong));
        }
        let Some(fields) = Fields::open(&entry.value, &TREATMENT, errors) else { continue };
        let change = models::decode(&fields, errors);
        let Some(filter) = fields.form::<Sharing>("match", errors) else { continue };
        errors.extend(starved(&name, &filter, &all));
        all.push(Written { name, filter, change, fields });
    }
    all
}

/// The further pipes of a direction whose own pipe is `direction`.
pub(super) fn settle(written: &[Written<'_>], direction: &PipeConfig) -> Vec<Treatment> {
    let settled = |pipe: &Written<'_>| Treatment {
        name: pipe.name.value.clone(),
        filter: pipe.filter.clone(),
        config: pipe.change.applied_to(direction),
    };
    written.iter().map(settled).collect()
}

/// Notes what is wrong between a further pipe's models, or between one and the link's largest packets.
pub(super) fn check(written: &[Written<'_>], direction: &PipeConfig, mtu: u32, errors: &mut Errors) {
    for pipe in written {
        if let Err(wrong) = pipe.change.applied_to(direction).check(Bytes::new(u64::from(mtu))) {
            let said = pipe.fields.get(wrong.key).map(|node| node.error(wrong.message.clone()));
            errors.push(said.unwrap_or_else(|| pipe.name.error(wrong.to_string())));
        }
    }
}

/// The error of a pipe before which another takes all that its filter matches.
fn starved(name: &Spanned<String>, filter: &Filter, before: &[Written<'_>]) -> Option<Diagnostic> {
    let earlier = before.iter().find(|earlier| earlier.filter.covers(filter))?;
    let message = format!(
        "no packet ever gets here: `{}`, which is asked before it, takes all that this one matches; write the narrower \
         filter first",
        earlier.name.value
    );
    Some(name.error(message).and(earlier.name.span, "asked first"))
}

/// `backbone.forward` and `backbone.delay` mean something already.
fn wrong_pipe_name(name: &str) -> Option<String> {
    if PipeMetric::named(name).is_some() || ["forward", "backward"].contains(&name) {
        return Some(format!("`{name}` cannot name a pipe: behind a link's name the word has another meaning"));
    }
    wrong_link_name(name, "pipe")
}
