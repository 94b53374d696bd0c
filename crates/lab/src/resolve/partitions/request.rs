//! A partition that a client asks for while a lab runs.

use super::super::names::Index;
use super::reach::Ground;
use super::{Cut, node_index, resolve, seed_of};
use crate::decode::partition_entry;
use crate::diagnostics::{Diagnostic, Span, Spanned};
use crate::errors::{Errors, Findings};
use crate::models::ChangeError;
use crate::plan::Plan;
use crate::spec::PartitionSpec;
use crate::yaml;
use netloom_link::{NodeIndex, NodePartition};
use netloom_units::{Duration, Seed};
use std::sync::Arc;

/// See the module.
#[derive(Clone, Debug)]
pub struct RequestedPartition {
    /// Whom it parts.
    pub nodes: Arc<NodePartition>,
    /// The links at which packets are judged, in the order of the lab file.
    pub links: Vec<usize>,
    /// How long it lasts; none: until it is healed.
    pub duration: Option<Duration>,
}

/// The partition that an entry of the timeline describes as a lab file has it, without the keys that say when. `number`: how many were
/// asked for before, so that shapes with chance are drawn anew.
///
/// # Errors
/// What is wrong with the entry.
pub fn parse_partition(entry: &str, plan: &Plan, number: usize) -> Result<RequestedPartition, ChangeError> {
    let wrong = |error: &Diagnostic| ChangeError::new(format!("partition: {}", error.message()));
    let unread =
        || ChangeError::new("partition: this is no YAML: write for example `{partition: [[a], [b]]}`".to_owned());
    let node = yaml::parse(entry).map_err(|errors| errors.first().map_or_else(unread, wrong))?;
    let mut errors = Errors::default();
    let spec = partition_entry(&node, &mut errors);
    if let Some(error) = errors.into_entries().first() {
        return Err(wrong(error));
    }
    requested(&spec.ok_or_else(unread)?, plan, number)
}

/// What a partition does in a plan.
pub(super) fn requested(spec: &PartitionSpec, plan: &Plan, number: usize) -> Result<RequestedPartition, ChangeError> {
    let wrong = |error: &Diagnostic| ChangeError::new(format!("partition: {}", error.message()));
    let names: Vec<Spanned<String>> = plan.all_names().map(|name| spanned(name.to_owned())).collect();
    let index = Index::new("node", names.iter(), false);
    let mut found = Findings { errors: Errors::default(), warnings: Vec::new() };
    let ground = Ground::of_plan(plan);
    let resolved = resolve(spec, &index, &ground, by_hand(plan.seed, spec, number), &mut found);
    if let Some(error) = found.errors.into_entries().first().or(found.warnings.first()) {
        return Err(wrong(error));
    }
    let Cut { links: cut, nodes, judged } = resolved.expect("what is not resolved is an error");
    if let Some(link) = cut.first() {
        let name = &plan.links[*link].name;
        let message =
            format!("partition: what names a switch or hub cuts its links: write `netloom set LAB {name} down=true`");
        return Err(ChangeError::new(message));
    }
    Ok(RequestedPartition { nodes, links: judged.into_iter().collect(), duration: spec.duration })
}

/// The seed from which the shape of a partition by hand is drawn.
pub(super) fn by_hand(seed: Seed, spec: &PartitionSpec, number: usize) -> Seed {
    seed_of(seed.derive("by hand"), spec, number)
}

/// A value that no file has.
pub(super) fn spanned<T>(value: T) -> Spanned<T> {
    Spanned { value, span: Span::default(), key: String::new() }
}

impl Plan {
    /// Returns by what packets tell their nodes, for partitions.
    pub fn node_index(&self) -> NodeIndex {
        node_index(self)
    }
}
