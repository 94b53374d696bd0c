//! Waiting for what others do.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(100);

/// Waits until `condition` holds, which tells what is waited for; fails if that takes too long.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        sleep(Duration::from_millis(10));
    }
}
