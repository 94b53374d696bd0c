//! What is true now, for all pages that watch.

use crate::lab_files::Listed;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::watch;

/// What a page may know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Now {
    pub(crate) labs: Arc<Vec<Value>>,
    pub(crate) files: Arc<Vec<Listed>>,
    /// Another number when results came, went or were completed.
    pub(crate) results: u64,
}

/// See the module.
pub(crate) struct World(watch::Sender<Now>);

impl World {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(Now::default()))
    }

    /// Tells of every change from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<Now> {
        self.0.subscribe()
    }

    /// Whether anybody watches.
    pub(crate) fn is_watched(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Brings what pages know up to date; `change` says whether it was not.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Now) -> bool) {
        self.0.send_if_modified(change);
    }
}
