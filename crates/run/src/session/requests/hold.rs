//! What clients want of lab time, in virtual time.

use netloom_control::{ClientId, Now};
use netloom_units::Instant;
use std::collections::BTreeMap;

/// How clients let lab time go on.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) is_paused: bool,
    /// Who lets time go on until when; then it is held.
    pub(super) advance: Option<Step>,
    /// The clients whose time has come, and who are told so when they have been told of what happened until then.
    pub(super) arrived: BTreeMap<ClientId, Now>,
}

/// A step of lab time that a client waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) client: ClientId,
    pub(super) until: Instant,
    /// Whether it ends with the program of the client's connection.
    pub(super) until_exit: bool,
}

impl Hold {
    pub(super) fn new(is_paused: bool) -> Self {
        Self { is_paused, advance: None, arrived: BTreeMap::new() }
    }

    /// A client has gone: nobody waits for its time any more.
    pub(super) fn forget(&mut self, client: ClientId) {
        self.advance = self.advance.take().filter(|step| step.client != client);
        self.arrived.remove(&client);
    }
}
