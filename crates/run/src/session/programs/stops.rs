//! Nodes that stop and start while the lab is up.
//!
//! When a node stops, its programs are asked to end; those that do not in time are killed, and then its network goes. When it starts, what
//! configured it first does so again, and when its addresses can be used, its setup and its services begin as at the beginning of the lab.
//! Its links are no matter of this file.

use super::state::{Change, Changed, Programs, Step};
use crate::session::context::Context;
use crate::session::stage::Stage;
use netloom_control::{ClientId, NodeState};
use netloom_host::node::NodeError;
use netloom_judge::{ExitCode, RunError};
use netloom_lab::{Disturbance, Keep, OnRestart, Plan};
use netloom_units::{Duration, Instant};
use serde_json::json;
use std::collections::BTreeSet;

/// Why a client is refused: its exit code, and a text.
type Refusal = (ExitCode, String);

/// How often a node that stops or starts is asked how far it is.
const LOOK: Duration = Duration::from_millis(10);
/// Its addresses can be used within milliseconds; programs start then at the latest.
pub(super) const SETTLES_WITHIN: Duration = Duration::from_secs(10);

impl Programs {
    /// How a node is.
    pub(crate) fn state_of(&self, node: usize) -> NodeState {
        match self.changing.get(&node).map(|change| &change.step) {
            None => NodeState::Running,
            Some(Step::Ending { .. }) => NodeState::Stopping,
            Some(Step::Stopped { .. }) => NodeState::Stopped,
            Some(Step::Booting { .. } | Step::Starting { .. }) => NodeState::Starting,
        }
    }

    /// Returns how a node is for clients, who are told of crashes and of nodes that stand still.
    pub(crate) fn shown_state(&self, node: usize) -> NodeState {
        match self.state_of(node) {
            NodeState::Stopped if self.crashed.contains(&node) => NodeState::Crashed,
            NodeState::Running if self.frozen.contains_key(&node) => NodeState::Frozen,
            state => state,
        }
    }

    /// Whether a node has stopped, or is about to: then its links stay cut.
    pub(crate) fn is_away(&self, node: usize) -> bool {
        let step = self.changing.get(&node).map(|change| &change.step);
        matches!(step, Some(Step::Ending { .. } | Step::Stopped { .. } | Step::Booting { .. }))
    }

    /// Whether a node stops or starts just now.
    pub(crate) fn any_changes(&self) -> bool {
        self.changing.values().any(|change| change.next_look.is_some())
    }

    /// When to look at those next.
    pub(crate) fn next_look(&self) -> Option<Instant> {
        self.changing.values().filter_map(|change| change.next_look).min()
    }

    /// The clients whose node has stopped or runs by now, or could not.
    pub(crate) fn take_changed(&mut self) -> Vec<(ClientId, Changed)> {
        std::mem::take(&mut self.changed_for)
    }

    /// A client gets an answer when a node has stopped or runs, which may be so by now.
    pub(crate) fn report_when_changed(&mut self, node: usize, client: ClientId) {
        match self.changing.get_mut(&node) {
            Some(change) if change.next_look.is_some() => change.clients.push(client),
            _ => self.changed_for.push((client, Ok(()))),
        }
    }

    /// A client does not wait for a node any more.
    pub(crate) fn forget_changed(&mut self, client: ClientId) {
        self.changed_for.retain(|(other, _)| *other != client);
        self.forget_returning(client);
        self.changing.values_mut().for_each(|change| change.clients.retain(|other| *other != client));
    }

    /// Whether a client may stop a node so, or start it (none).
    pub(crate) fn can_change(
        &self,
        name: &str,
        node: usize,
        how: Option<Disturbance>,
        context: &Context<'_>,
    ) -> Result<(), Refusal> {
        let refused = |why: String| Err((ExitCode::Usage, why));
        if !matches!(context.stage, Stage::Running(_)) {
            return refused(format!("node `{name}` cannot change now: the lab has not begun, or is ending"));
        }
        // Whatever has crashed starts again.
        if let Some(why) = context.job.plan.never_stops(node, how.unwrap_or(Disturbance::Crash(Keep::Flushed))) {
            return refused(why);
        }
        match (self.shown_state(node), how.is_none()) {
            (NodeState::Running, false) | (NodeState::Stopped | NodeState::Crashed, true) => Ok(()),
            (NodeState::Running | NodeState::Frozen, true) => {
                refused(format!("node `{name}` runs: only one that was stopped can be started"))
            }
            (NodeState::Frozen, false) => refused(frozen(name)),
            (NodeState::Crashed, false) => refused(format!("node `{name}` has crashed already")),
            (NodeState::Stopped, false) => refused(format!("node `{name}` has stopped already")),
            (NodeState::Stopping, _) => refused(format!("node `{name}` is being stopped: wait until it has")),
            (NodeState::Starting, _) => refused(format!("node `{name}` is being started: wait until it runs")),
        }
    }

    /// A node stops to be as usual: what was to start with it waits until it starts again.
    pub(super) fn begin_absence(&mut self, context: &Context<'_>, node: usize) {
        if let Some(Change { step: Step::Stopped { .. }, .. }) = self.changing.get(&node) {
            return;
        }
        match self.changing.remove(&node) {
            Some(Change { step: Step::Booting { awaited, .. } | Step::Starting { awaited, .. }, clients, .. }) => {
                self.deferred.extend(&awaited);
                self.report_when_returned(node, awaited.into_iter().collect(), clients);
            }
            // It has stopped by crashing.
            Some(Change { clients, .. }) => {
                self.changed_for.extend(clients.into_iter().map(|client| (client, Ok(()))));
            }
            None => {}
        }
        self.never_returns(node, &context.job.plan.nodes[node].name);
        for (number, command) in self.commands.iter_mut().enumerate().filter(|(_, one)| one.described.node == node) {
            // It comes again with the node, whoever was to start it.
            (command.taken_by, command.comes_again) = (None, false);
            self.waiting.retain(|waiting| *waiting != number || command.started.is_none());
        }
    }

    /// The programs of a node are asked to end; its links are cut by now.
    pub(crate) fn begin_stopping(&mut self, context: &Context<'_>, node: usize) -> Result<(), RunError> {
        let (now, least) = (context.links.now(), context.job.plan.stop);
        self.begin_absence(context, node);
        let grace = self.processes.ask_node(node, now, least);
        // One that is held hears of the first only by the second.
        for signal in [libc::SIGTERM, libc::SIGCONT] {
            self.nodes[node].signal_all(signal).map_err(died)?;
        }
        let step = Step::Ending { kill_at: now + grace, killed: false };
        self.changing.insert(node, Change { step, next_look: Some(now), clients: Vec::new() });
        Ok(())
    }

    /// A node that has stopped, or is about to, is to start; its network comes next. Says whether there was anything to be done.
    pub(crate) fn begin_starting(&mut self, context: &mut Context<'_>, node: usize) -> Result<bool, RunError> {
        match self.state_of(node) {
            NodeState::Running | NodeState::Starting => return Ok(false),
            // Its time is over before its programs have ended: they have no more of it.
            NodeState::Stopping => self.finish_stopping(context, node, true)?,
            NodeState::Stopped | NodeState::Crashed | NodeState::Frozen => {}
        }
        let mut awaited = match self.changing.remove(&node) {
            Some(Change { step: Step::Stopped { awaited }, .. }) => awaited,
            _ => BTreeSet::new(),
        };
        awaited.extend(self.those_of_node(context, node));
        let now = context.links.now();
        let step = Step::Starting { until: now + SETTLES_WITHIN, awaited };
        self.changing.insert(node, Change { step, next_look: Some(now), clients: Vec::new() });
        Ok(true)
    }

    /// A node that was to start cannot.
    pub(crate) fn stay_stopped(&mut self, node: usize) {
        if let Some(change) = self.changing.get_mut(&node) {
            let awaited = match &mut change.step {
                Step::Booting { awaited, .. } | Step::Starting { awaited, .. } | Step::Stopped { awaited } => {
                    std::mem::take(awaited)
                }
                Step::Ending { .. } => BTreeSet::new(),
            };
            (change.step, change.next_look) = (Step::Stopped { awaited }, None);
        }
    }

    /// Whether a command starts whenever its node does.
    fn starts_with_node(&self, number: usize) -> bool {
        let described = &self.commands[number].described;
        described.setup || described.service
    }

    /// What starts with a node: what makes it ready, and the services that had begun, unless they say otherwise.
    pub(super) fn those_of_node(&self, context: &Context<'_>, node: usize) -> Vec<usize> {
        let is_meant = |number: &usize| {
            let command = &self.commands[*number];
            let is_due = match command.described.on_restart {
                OnRestart::Also => command.started.is_some(),
                OnRestart::Only => true,
                OnRestart::Never => false,
            };
            command.described.node == node
                && self.starts_with_node(*number)
                && is_due
                && command.belongs_to(context.job.mode, &context.job.plan)
        };
        (0..self.commands.len()).filter(is_meant).collect()
    }

    /// Looks how far nodes are that stop or start.
    pub(crate) fn look_after_nodes(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        if !matches!(context.stage, Stage::Running(_)) {
            return Ok(());
        }
        self.look_after_returning();
        let now = context.links.now();
        let is_due = |change: &Change| change.next_look.is_some_and(|at| at <= now);
        let due: Vec<usize> =
            self.changing.iter().filter(|(_, change)| is_due(change)).map(|(node, _)| *node).collect();
        for node in due {
            match self.state_of(node) {
                NodeState::Stopping => self.go_on_stopping(context, node, now)?,
                NodeState::Starting if self.boots(node) => self.go_on_booting(node, now)?,
                NodeState::Starting => self.go_on_starting(context, node, now)?,
                NodeState::Running | NodeState::Stopped | NodeState::Crashed | NodeState::Frozen => {}
            }
        }
        Ok(())
    }

    fn go_on_stopping(&mut self, context: &mut Context<'_>, node: usize, now: Instant) -> Result<(), RunError> {
        let is_over = !self.processes.any_in(node) && self.nodes[node].is_alone().map_err(died)?;
        let Some(Change { step: Step::Ending { kill_at, killed }, next_look, .. }) = self.changing.get_mut(&node)
        else {
            return Ok(());
        };
        *next_look = Some(now + LOOK);
        if is_over {
            return self.finish_stopping(context, node, false);
        }
        if now >= *kill_at && !*killed {
            *killed = true;
            self.nodes[node].signal_all(libc::SIGKILL).map_err(died)?;
        }
        Ok(())
    }

    /// Its programs have ended, or are killed now.
    fn finish_stopping(&mut self, context: &mut Context<'_>, node: usize, kills: bool) -> Result<(), RunError> {
        if kills {
            self.processes.kill_node(node);
            self.nodes[node].signal_all(libc::SIGKILL).map_err(died)?;
        }
        self.nodes[node].shut_down().map_err(died)?;
        let clients = self.changing.remove(&node).map(|change| change.clients).unwrap_or_default();
        self.changed_for.extend(clients.into_iter().map(|client| (client, Ok(()))));
        let of_node = |number: &usize| self.commands[*number].described.node == node;
        let (awaited, others) = std::mem::take(&mut self.deferred).into_iter().partition(of_node);
        self.deferred = others;
        let step = Step::Stopped { awaited };
        self.changing.insert(node, Change { step, next_look: None, clients: Vec::new() });
        let name = context.job.plan.nodes[node].name.clone();
        context.report(format!("{name} has stopped"));
        context.note("has stopped", json!({ "node": name }))
    }

    fn go_on_starting(&mut self, context: &mut Context<'_>, node: usize, now: Instant) -> Result<(), RunError> {
        self.nodes[node].begin_settle().map_err(died)?;
        let is_settled = self.nodes[node].finish_settle().map_err(died)?;
        // Programs that were killed without a grace may not have been heard of yet.
        let ended = !self.processes.any_in(node);
        let Some(change) = self.changing.get_mut(&node) else { return Ok(()) };
        let Step::Starting { until, awaited } = &mut change.step else { return Ok(()) };
        if !ended || !(is_settled || now >= *until) {
            change.next_look = Some(now + LOOK);
            return Ok(());
        }
        let awaited = std::mem::take(awaited);
        let clients = self.changing.remove(&node).map(|changed| changed.clients).unwrap_or_default();
        let returning = awaited.iter().copied().filter(|number| self.starts_with_node(*number)).collect();
        self.report_when_returned(node, returning, clients);
        let (again, first): (Vec<usize>, Vec<usize>) =
            awaited.into_iter().partition(|number| self.commands[*number].started.is_some());
        self.start_again(&again);
        first.iter().for_each(|number| self.commands[*number].may_start());
        self.waiting.extend(first);
        let name = context.job.plan.nodes[node].name.clone();
        context.report(format!("{name} runs again"));
        context.note("runs again", json!({ "node": name }))?;
        self.start_those_whose_turn_it_is(context)
    }

    /// Those among these commands whose nodes run. Of the others, services start with their nodes, and the rest not at all, unless its node
    /// is about to run.
    pub(super) fn without_those_away(
        &mut self,
        context: &mut Context<'_>,
        numbers: &[usize],
    ) -> Result<Vec<usize>, RunError> {
        let runs =
            |this: &Self, number: usize| this.state_of(this.commands[number].described.node) == NodeState::Running;
        let (ready, away): (Vec<usize>, Vec<usize>) = numbers.iter().copied().partition(|number| runs(self, *number));
        for number in away {
            let node = self.commands[number].described.node;
            if self.starts_with_node(number) || self.state_of(node) == NodeState::Starting {
                match self.changing.get_mut(&node).map(|change| &mut change.step) {
                    Some(
                        Step::Stopped { awaited } | Step::Booting { awaited, .. } | Step::Starting { awaited, .. },
                    ) => drop(awaited.insert(number)),
                    _ => drop(self.deferred.insert(number)),
                }
            } else {
                let command = self.commands[number].described.name.clone();
                let name = context.job.plan.nodes[node].name.clone();
                context.report(format!("{command} does not start: {name} has stopped"));
                context.note(
                    "not started",
                    json!({ "command": command, "because": format!("node {name} has stopped") }),
                )?;
                self.commands[number].node_stopped = true;
            }
        }
        Ok(ready)
    }

    /// Why nothing can be run in a node just now, if so.
    pub(crate) fn why_away(&self, plan: &Plan, node: usize) -> Option<String> {
        let name = &plan.nodes[node].name;
        match self.shown_state(node) {
            NodeState::Running => None,
            NodeState::Frozen => Some(frozen(name)),
            NodeState::Starting => Some(format!("node `{name}` is being started: wait until it runs")),
            NodeState::Stopping => Some(format!("node `{name}` is being stopped")),
            NodeState::Stopped | NodeState::Crashed => {
                let how = if self.crashed.contains(&node) { "crashed" } else { "stopped" };
                Some(format!("node `{name}` has {how}: `netloom start {} {name}` starts it", plan.name))
            }
        }
    }
}

/// Why nothing can be asked of a node that stands still.
fn frozen(name: &str) -> String {
    format!("node `{name}` stands still: wait until it goes on")
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn died(error: NodeError) -> RunError {
    RunError::Died(error.to_string())
}
