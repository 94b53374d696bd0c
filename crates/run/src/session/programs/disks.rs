//! Disks of nodes: their faults, and the requests that were noted.

use super::state::Programs;
use crate::session::context::Context;
use netloom_host::node::{DiskFaultKind as Kind, DiskFaultOrder, DiskOrder, NodeError};
use netloom_judge::RunError;
use netloom_lab::{DiskCalls, DiskFault, DiskFaultKind, Plan};
use netloom_results::{DiskRow, write_disks};
use netloom_units::{Duration, Instant, Seed};
use serde_json::json;
use std::path::PathBuf;

/// A fault of a disk, as the timeline or a client has it.
pub(super) struct DiskDisturbance<'a> {
    pub(super) node: usize,
    pub(super) fault: DiskFault,
    /// The file that is meant; none: all of the disk.
    pub(super) path: Option<&'a str>,
    pub(super) duration: Option<Duration>,
    /// The entry of the timeline.
    pub(super) event: usize,
    pub(super) due: Instant,
}

impl Programs {
    /// Disturbs the disk of a node. A node that is away has none that could be disturbed, which is told.
    pub(super) fn disturb_disk(
        &mut self,
        context: &mut Context<'_>,
        disturbance: &DiskDisturbance<'_>,
    ) -> Result<(), RunError> {
        let DiskDisturbance { node, fault, path, duration, event, due } = *disturbance;
        let chance = context.job.plan.seed.derive("disk").derive(&context.job.plan.nodes[node].name);
        let chance = chance.derive(&event.to_string()).derive(&due.as_nanos().to_string());
        let (name, what) = (context.job.plan.nodes[node].name.clone(), fault.to_string());
        if self.gone.contains(&node) {
            context.warnings.push(format!("{name} was away when its disk was to be disturbed ({what}): it was not"));
            return Ok(());
        }
        let is_planned = context.is_planned(event);
        if !self.tell_disk(context, node, order(fault, path, duration, chance), (&what, is_planned))? {
            return Ok(());
        }
        let details = json!({
            "node": name, "fault": what, "path": path, "for_ns": duration.map(Duration::as_nanos),
            "lateness_ns": context.links.now().since(due).as_nanos(),
        });
        note(context, due, format!("disk of {name}: {what}"), "disk fault", details)
    }

    /// A fault has ended by itself, or is ended.
    pub(super) fn end_disk_fault(
        &mut self,
        context: &mut Context<'_>,
        node: usize,
        fault: DiskFault,
        due: Instant,
    ) -> Result<(), RunError> {
        if self.gone.contains(&node) {
            return Ok(());
        }
        let order = match fault.kind {
            DiskFaultKind::ReadOnly => Some(DiskOrder::Writable),
            DiskFaultKind::Full => Some(DiskOrder::Free),
            _ => None,
        };
        if let Some(order) = order
            && !self.tell_disk(context, node, order, (&format!("end of {fault}"), true))?
        {
            return Ok(());
        }
        let (name, what) = (context.job.plan.nodes[node].name.clone(), fault.to_string());
        let details = json!({
            "node": name, "fault": what, "lateness_ns": context.links.now().since(due).as_nanos(),
        });
        note(context, due, format!("disk of {name}: {what} is over"), "disk fault over", details)
    }

    /// Gives the agent of a node an order. Whether it could do that: a file without sectors, or a file system that has stopped writing by itself,
    /// is told, and nothing happens; a client is refused.
    fn tell_disk(
        &mut self,
        context: &mut Context<'_>,
        node: usize,
        order: DiskOrder,
        (what, is_planned): (&str, bool),
    ) -> Result<bool, RunError> {
        match self.nodes[node].disturb_disk(order) {
            Ok(()) => Ok(true),
            Err(error @ NodeError::Refused { .. }) if !is_planned => Err(RunError::Refused(error.to_string())),
            Err(error @ NodeError::Refused { .. }) => {
                let text = format!("disk of {}: {what} was not possible: {error}", context.job.plan.nodes[node].name);
                context.report(text.clone());
                context.warnings.push(text);
                Ok(false)
            }
            Err(error) => Err(RunError::Died(error.to_string())),
        }
    }

    /// Takes over what the journal of a node's disk has so far.
    pub(super) fn take_disk_journal(&mut self, plan: &Plan, node: usize) -> Result<(), RunError> {
        if let Some(reboots) = self.reboots.as_ref().filter(|_| has_journal(plan, node)) {
            let own = reboots.take_journal(plan, node)?;
            self.noted.extend(own.into_iter().map(|(came, entry)| (came, node, entry)));
        }
        Ok(())
    }

    /// Writes all requests that were noted and came after time zero.
    pub(crate) fn write_disk_journals(&mut self, context: &Context<'_>, zero: Instant) -> Result<(), RunError> {
        let plan = &context.job.plan;
        if !(0..plan.nodes.len()).any(|node| has_journal(plan, node)) {
            return Ok(());
        }
        (0..plan.nodes.len()).try_for_each(|node| self.take_disk_journal(plan, node))?;
        let mut noted = std::mem::take(&mut self.noted);
        noted.retain(|(came, _, _)| *came >= zero);
        noted.sort_by_key(|(came, node, _)| (*came, *node));
        let rows = noted.iter().map(|(came, node, entry)| DiskRow {
            elapsed: came.since(zero),
            node: &plan.nodes[*node].name,
            call: entry.call(),
            sector: entry.sector,
            sectors: entry.sectors,
            took: Duration::from_nanos(entry.ended.as_nanos().saturating_sub(entry.came.as_nanos())),
            faults: entry.suffered.words().collect::<Vec<_>>().join(" "),
        });
        Ok(write_disks(&context.job.folder, rows)?)
    }
}

fn has_journal(plan: &Plan, node: usize) -> bool {
    plan.nodes[node].disk.as_ref().is_some_and(|disk| disk.journal)
}

/// The order for the agent.
fn order(fault: DiskFault, path: Option<&str>, duration: Option<Duration>, chance: Seed) -> DiskOrder {
    let bits = |calls: DiskCalls| [calls.reads, calls.writes, calls.flushes];
    let writes = [false, true, false];
    let (kind, calls, delay) = match fault.kind {
        DiskFaultKind::Hang => {
            return DiskOrder::Hang { span_ns: duration.map_or(0, Duration::as_nanos) };
        }
        DiskFaultKind::ReadOnly => return DiskOrder::ReadOnly,
        DiskFaultKind::Full => return DiskOrder::Fill,
        DiskFaultKind::Works => return DiskOrder::Works,
        DiskFaultKind::Error(calls) => (Kind::Error, bits(calls), Duration::ZERO),
        DiskFaultKind::Slow(by, calls) => (Kind::Slow, bits(calls), by),
        DiskFaultKind::Flip(calls) => (Kind::Flip, bits(calls), Duration::ZERO),
        DiskFaultKind::Rot => (Kind::Flip, [false; 3], Duration::ZERO),
        DiskFaultKind::Misdirect(calls) => (Kind::Misdirect, bits(calls), Duration::ZERO),
        DiskFaultKind::Tear => (Kind::Tear, writes, Duration::ZERO),
        DiskFaultKind::Lose(calls) => (Kind::Lose, bits(calls), Duration::ZERO),
    };
    let is_rot = fault.kind == DiskFaultKind::Rot;
    DiskOrder::Fault(DiskFaultOrder {
        kind,
        calls,
        spares: fault.nth - 1,
        count: fault.count.or(is_rot.then_some(1)),
        delay_ns: delay.as_nanos(),
        lasts_ns: duration.map(Duration::as_nanos),
        chance: chance.get(),
        sectors: fault.sectors,
        path: path.map(PathBuf::from),
    })
}

/// Writes what was done by now and was due at `due`.
fn note(
    context: &mut Context<'_>,
    due: Instant,
    text: String,
    word: &str,
    details: serde_json::Value,
) -> Result<(), RunError> {
    let late = context.links.now().since(due);
    let at = due.since(context.zero().unwrap_or_default());
    context.record(netloom_judge::Kind::Signal, late, true, || format!("{text} at {at}"));
    context.report(text);
    context.note(word, details)
}
