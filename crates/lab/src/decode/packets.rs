//! Faults of single packets, and the end of connections.

use super::repeats::{part, when};
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::AboveZero;
use crate::keys::{PACKET, RESET};
use crate::models::fault::{end_of_connections, fault};
use crate::spec::{ActionSpec, When};
use crate::yaml::Node;
use netloom_link::{PacketFault, PipeChange};
use netloom_units::Duration;

pub(super) fn packet(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &PACKET, errors)?;
    let lasts = fields.form::<AboveZero<Duration>>("for", errors);
    let parts = fields.get("packet").zip(fields.get("do"));
    let found = parts.and_then(|(choice, action)| fault(choice, action, lasts, line(node), errors));
    change(&fields, found, errors)
}

pub(super) fn reset(node: &Node, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let fields = Fields::open(node, &RESET, errors)?;
    let found = fields.get("reset").and_then(|connections| end_of_connections(connections, line(node), errors));
    change(&fields, found, errors)
}

/// The line of an entry, by which events tell of it.
fn line(node: &Node) -> u32 {
    u32::try_from(node.span.line).unwrap_or(u32::MAX)
}

fn change(fields: &Fields<'_>, fault: Option<PacketFault>, errors: &mut Errors) -> Option<(When, ActionSpec)> {
    let (when, part) = (when(fields, errors), part(fields, errors));
    let change = PipeChange { faults: vec![fault?], ..PipeChange::default() };
    Some((when, ActionSpec::Set { part: part?, change: Box::new(change) }))
}
