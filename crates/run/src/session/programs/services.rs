//! Whether services are ready for others.

use super::launch::{Launch, null};
use super::processes::Purpose;
use super::state::Programs;
use crate::session::context::Context;
use crate::session::stage::Stage;
use netloom_commands::{Command, argv};
use netloom_commands::{Readiness, Step, condition};
use netloom_host::node::Transport;
use netloom_judge::RunError;
use netloom_lab::{Ready, ReadyWhen};
use netloom_provision::environment;
use netloom_provision::job::Mode;
use serde_json::json;
use std::ffi::OsString;

impl Programs {
    /// Asks the services that are not ready yet whether they are.
    pub(crate) fn look_after_services(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        if matches!(context.stage, Stage::Stopping(_)) {
            return Ok(());
        }
        for number in 0..self.commands.len() {
            let now = context.links.now();
            let Some(readiness) = &mut self.commands[number].readiness else { continue };
            match readiness.step(now) {
                Step::Wait => {}
                Step::Ask if self.ask(context, number)? => self.is_ready(context, number)?,
                Step::Ask => {}
                Step::GiveUp if self.commands[number].awaits_routes() && !self.survives(context) => {
                    return Err(self.not_converged(number));
                }
                Step::GiveUp => {
                    let failure = self.not_ready(context, number, "in time");
                    if !self.survives(context) {
                        return Err(failure);
                    }
                    self.commands[number].readiness.iter_mut().for_each(Readiness::go_on);
                    self.report_not_ready(context, number, &failure)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a service is ready; a command that is to tell is started, and tells when it ends.
    fn ask(&mut self, context: &Context<'_>, number: usize) -> Result<bool, RunError> {
        let described = &self.commands[number].described;
        let Some(Ready { when, .. }) = &described.ready else { return Ok(true) };
        let node = described.node;
        match when {
            ReadyWhen::Pause(_) => Ok(true),
            ReadyWhen::File(path) | ReadyWhen::Lease(path) => {
                let path = context.job.start_folder().join(path);
                self.nodes[node].has_file(path).map_err(|error| RunError::Died(error.to_string()))
            }
            ReadyWhen::Tcp(port) => self.listens(node, Transport::Tcp, *port),
            ReadyWhen::Udp(port) => self.listens(node, Transport::Udp, *port),
            ReadyWhen::Routes(prefixes) => {
                let lacking = self.nodes[node].lacking(prefixes).map_err(|error| RunError::Died(error.to_string()))?;
                self.commands[number].lacking = lacking;
                Ok(self.commands[number].lacking.is_empty())
            }
            ReadyWhen::Command(command) => {
                let argv = argv(command);
                self.probe(context, number, node, argv)?;
                Ok(false)
            }
        }
    }

    fn listens(&mut self, node: usize, transport: Transport, port: u16) -> Result<bool, RunError> {
        self.nodes[node].listening(transport, port).map_err(|error| RunError::Died(error.to_string()))
    }

    fn probe(
        &mut self,
        context: &Context<'_>,
        number: usize,
        node: usize,
        argv: Vec<OsString>,
    ) -> Result<(), RunError> {
        if self.processes.key_of(Purpose::Probe(number)).is_some() {
            return Ok(());
        }
        let described = &self.commands[number].described;
        let (cwd, user) = (self.folder_of(context, described), described.user.clone());
        let env = environment::of_program(&context.job.plan, node, user.as_deref(), &described.env, &cwd);
        let stdio = [null()?, null()?, null()?];
        let launch = Launch { node, argv, env, cwd, stdio, terminal: false, user };
        let key = self.launch(context, launch).map_err(|error| self.cannot_start(context, number, &error))?;
        self.processes.add(key, Purpose::Probe(number), context.links.now(), None, context.job.plan.stop);
        Ok(())
    }

    pub(super) fn is_ready(&mut self, context: &mut Context<'_>, number: usize) -> Result<(), RunError> {
        self.commands[number].readiness = Some(Readiness::Ready);
        self.commands[number].succeeded.get_or_insert(context.links.now());
        let name = self.commands[number].described.name.clone();
        context.report(format!("{name} is ready"));
        context.note("ready", json!({ "command": name }))
    }

    /// Which nodes lack which routes when the time for that is over.
    fn not_converged(&self, number: usize) -> RunError {
        const MOST_NODES: usize = 5;
        const MOST_PREFIXES: usize = 3;
        let within =
            self.commands[number].described.ready.as_ref().map_or_else(String::new, |ready| ready.timeout.to_string());
        let lacking: Vec<&Command> = self.commands.iter().filter(|command| !command.lacking.is_empty()).collect();
        let node = |command: &&Command| {
            let prefixes: Vec<String> = command.lacking.iter().take(MOST_PREFIXES).map(ToString::to_string).collect();
            let more = more(command.lacking.len(), MOST_PREFIXES);
            format!("\n  {} has no route to {}{more}", command.node(), prefixes.join(", "))
        };
        let nodes: String = lacking.iter().take(MOST_NODES).map(node).collect();
        let others = more(lacking.len(), MOST_NODES);
        RunError::Command(format!("the routing daemons did not converge within {within}:{nodes}{others}"))
    }

    /// Whether the lab goes on without a service that does not become ready: one that is up does, since its user sees what is wrong and
    /// can start it again.
    pub(super) fn survives(&self, context: &Context<'_>) -> bool {
        context.job.mode == Mode::Up && matches!(context.stage, Stage::Running(_))
    }

    /// Tells of a service that has started again and did not become ready.
    pub(super) fn report_not_ready(
        &mut self,
        context: &mut Context<'_>,
        number: usize,
        failure: &RunError,
    ) -> Result<(), RunError> {
        self.fails_to_return(number, failure);
        context.report(failure.to_string());
        let command = &self.commands[number].described.name;
        context.note("not ready", json!({ "command": command, "because": failure.to_string() }))
    }

    pub(super) fn not_ready(&self, context: &Context<'_>, number: usize, how: &str) -> RunError {
        let Command { described, .. } = &self.commands[number];
        let awaited = described.ready.as_ref().map_or_else(String::new, |ready| format!(": {}", condition(ready)));
        let words = self.commands[number].last_words_text(&context.job.folder);
        RunError::Command(format!("service `{}` did not become ready {how}{awaited}{words}", described.name))
    }
}

/// How many more there are than are shown.
fn more(count: usize, shown: usize) -> String {
    count.checked_sub(shown).filter(|more| *more > 0).map_or_else(String::new, |more| format!(" and {more} more"))
}
