//! Clients that wait for what starts with a node: its setup and its services.

use super::state::{Programs, Returning};
use netloom_control::ClientId;
use netloom_judge::{ExitCode, RunError};

impl Programs {
    /// These clients get an answer when these commands, which start with their node, have succeeded, or when one has not.
    pub(super) fn report_when_returned(&mut self, node: usize, awaited: Vec<usize>, clients: Vec<ClientId>) {
        if awaited.is_empty() {
            self.changed_for.extend(clients.into_iter().map(|client| (client, Ok(()))));
        } else if !clients.is_empty() {
            self.returning.push(Returning { node, awaited, clients });
        }
    }

    /// Looks which nodes are as they were before they stopped.
    pub(super) fn look_after_returning(&mut self) {
        let Self { returning, commands, changed_for, .. } = self;
        returning.retain_mut(|one| {
            one.awaited.retain(|number| commands[*number].has_succeeded() != Some(true));
            if one.awaited.is_empty() {
                changed_for.extend(one.clients.drain(..).map(|client| (client, Ok(()))));
            }
            !one.clients.is_empty()
        });
    }

    /// A command that starts with its node has failed.
    pub(super) fn fails_to_return(&mut self, number: usize, failure: &RunError) {
        let why = format!("node `{}` runs, but not all that starts with it: {failure}", self.commands[number].node());
        self.give_up(|one| one.awaited.contains(&number), &(failure.exit_code(), why));
    }

    /// The node is stopped before all is as it was.
    pub(super) fn never_returns(&mut self, node: usize, name: &str) {
        let why = format!("node `{name}` was stopped before all that starts with it was ready");
        self.give_up(|one| one.node == node, &(ExitCode::Unmet, why));
    }

    fn give_up(&mut self, is_meant: impl Fn(&Returning) -> bool, why: &(ExitCode, String)) {
        let Self { returning, changed_for, .. } = self;
        let given_up = returning.extract_if(.., |one| is_meant(one)).flat_map(|one| one.clients);
        changed_for.extend(given_up.map(|client| (client, Err(why.clone()))));
    }

    /// A client waits for nothing of that any more.
    pub(super) fn forget_returning(&mut self, client: ClientId) {
        self.returning.iter_mut().for_each(|one| one.clients.retain(|other| *other != client));
    }
}
