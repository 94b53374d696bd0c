//! What clients want of lab time, in virtual time.

use netloom_control::{ClientId, Now};
use netloom_units::{Duration, Instant};
use std::collections::BTreeMap;

/// How clients let lab time go on.
#[derive(Debug)]
pub(super) struct Hold {
    pub(super) is_paused: bool,
    /// Who lets time go on until when; then it is held.
    pub(super) advance: Option<Step>,
    /// Where a run is to be held, counted from its time zero.
    pub(super) stop_at: Option<Duration>,
    /// The clients whose time has come, and who get their answer when they have received what happened until then.
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
    pub(super) fn new(is_paused: bool, stop_at: Option<Duration>) -> Self {
        Self { is_paused, advance: None, stop_at, arrived: BTreeMap::new() }
    }

    /// A client has gone: nobody waits for its time any more.
    pub(super) fn forget(&mut self, client: ClientId) {
        self.advance = self.advance.take().filter(|step| step.client != client);
        self.arrived.remove(&client);
    }
}
