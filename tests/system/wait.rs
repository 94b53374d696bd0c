//! Waiting for what others do.

use std::time::Duration;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(100);

/// Waits until `condition` holds, which `what` describes; fails if that takes too long.
#[track_caller]
pub(crate) fn wait_until(what: &str, condition: impl FnMut() -> bool) {
    netloom_testing::wait::wait_until(what, PATIENCE, condition);
}
