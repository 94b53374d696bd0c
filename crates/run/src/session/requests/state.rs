//! What is known of the clients of a lab that is up.

use super::events::Subscriptions;
use super::heals::Heals;
use super::hold::Hold;
use super::partitions::ClientPartitions;
use netloom_control::{ClientId, Server};
use netloom_fabric::TapId;
use netloom_results::capture::LiveCapture;
use std::collections::BTreeMap;

/// The clients of a lab that is up.
pub(crate) struct Requests {
    pub(super) server: Server,
    /// What clients watch.
    pub(super) watched: BTreeMap<ClientId, (LiveCapture, TapId)>,
    pub(super) subscriptions: Subscriptions,
    pub(super) hold: Hold,
    /// When what they have cut for so long is restored.
    pub(super) heals: Heals,
    /// The partitions that they have asked for.
    pub(super) partitions: ClientPartitions,
}
