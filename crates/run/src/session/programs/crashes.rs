//! Nodes that crash: their kernels are gone at an instant with all that ran in them, and others boot in their places.

use super::processes::ProcessKey;
use super::state::{Change, Programs, Step};
use super::stops::SETTLES_WITHIN;
use crate::session::context::Context;
use netloom_commands::Ending;
use netloom_guest::disk::{Crashed as Outcome, Keep as OnDisk};
use netloom_judge::RunError;
use netloom_lab::Keep;
use netloom_provision::assemble::config_of;
use netloom_provision::node::Crashed;
use netloom_units::Instant;
use std::collections::BTreeSet;

/// The lab file is refused otherwise.
const ABLE: &str = "only nodes crash that can boot again";

impl Programs {
    /// The kernel of a node is gone now; its links are cut by now. Returns what has become of the writes to its disk that no flush had made
    /// durable; none if it has no disk.
    pub(crate) fn crash(
        &mut self,
        context: &mut Context<'_>,
        node: usize,
        keep: Keep,
    ) -> Result<Option<Outcome>, RunError> {
        // What its programs have written before, they have written.
        self.serve_node(context, node)?;
        self.reboots.as_ref().expect(ABLE).remove(node)?;
        self.begin_absence(context, node);
        let ended: Vec<ProcessKey> = self.processes.keys_in(node).collect();
        self.processes.kill_node(node);
        self.nodes[node] = Box::new(Crashed::new(&context.job.plan.nodes[node].name));
        self.gone.insert(node);
        self.crashed.insert(node);
        self.ever_crashed.insert(node);
        self.take_disk_journal(&context.job.plan, node)?;
        let reboots = self.reboots.as_mut().expect(ABLE);
        let outcome = reboots.crash(context.job, node, rule(keep))?;
        let killed = Ending { code: None, signal: Some(libc::SIGKILL) };
        ended.into_iter().try_for_each(|key| self.exited(context, key, killed))?;
        let of_node = |number: &usize| self.commands[*number].described.node == node;
        let (awaited, others) = std::mem::take(&mut self.deferred).into_iter().partition(of_node);
        self.deferred = others;
        let before = self.changing.remove(&node).map(|change| change.step);
        let mut awaited: BTreeSet<usize> = awaited;
        if let Some(Step::Stopped { awaited: before }) = before {
            awaited.extend(before);
        }
        self.changing.insert(node, Change { step: Step::Stopped { awaited }, next_look: None, clients: Vec::new() });
        Ok(outcome)
    }

    /// Boots a kernel for a node if it has crashed. Says whether it had.
    pub(crate) fn begin_booting(&mut self, context: &Context<'_>, node: usize) -> Result<bool, RunError> {
        let Some(Change { step: Step::Stopped { awaited }, .. }) = self.changing.get_mut(&node) else {
            return Ok(false);
        };
        if !self.crashed.contains(&node) {
            return Ok(false);
        }
        let mut awaited = std::mem::take(awaited);
        awaited.extend(self.those_of_node(context, node));
        let reboots = self.reboots.as_mut().expect(ABLE);
        let booting = Box::new(reboots.boot(context.job, node, &config_of(context.job, node, &self.hosts))?);
        let change = Change {
            step: Step::Booting { booting, awaited },
            next_look: Some(context.links.now() + reboots.look()),
            clients: Vec::new(),
        };
        self.changing.insert(node, change);
        Ok(true)
    }

    /// Whether a kernel boots for a node that has crashed.
    pub(super) fn boots(&self, node: usize) -> bool {
        self.changing.get(&node).is_some_and(|change| matches!(change.step, Step::Booting { .. }))
    }

    /// Looks how far it is.
    pub(super) fn go_on_booting(&mut self, node: usize, now: Instant) -> Result<(), RunError> {
        let Some(Change { step: Step::Booting { booting, .. }, next_look, .. }) = self.changing.get_mut(&node) else {
            return Ok(());
        };
        *next_look = self.reboots.as_ref().map(|reboots| now + reboots.look());
        if !booting.go_on()? {
            return Ok(());
        }
        if let Some(Change { step: Step::Booting { booting: booted, awaited }, clients, .. }) =
            self.changing.remove(&node)
        {
            self.nodes[node] = Box::new(booted.into_node());
            self.crashed.remove(&node);
            self.gone.remove(&node);
            self.booted.push(node);
            let step = Step::Starting { until: now + SETTLES_WITHIN, awaited };
            self.changing.insert(node, Change { step, next_look: Some(now), clients });
        }
        Ok(())
    }

    /// The nodes whose kernels have booted since the last time: their links are to be joined.
    pub(crate) fn take_booted(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.booted)
    }
}

fn rule(keep: Keep) -> OnDisk {
    match keep {
        Keep::Flushed => OnDisk::Flushed,
        Keep::All => OnDisk::All,
        Keep::Some => OnDisk::Some,
        Keep::Torn => OnDisk::Torn,
    }
}
