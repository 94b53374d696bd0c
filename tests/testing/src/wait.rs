//! Waiting for what others do, with a limit: a test that waits for ever says nothing.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often to look at first; each look is a little later than the last, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(1);
/// How often to look after a while.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// Waits until `condition` holds, which `what` describes, and returns for how long it waited.
///
/// # Panics
/// If the condition does not hold within `limit`.
#[track_caller]
pub fn wait_until(what: &str, limit: Duration, mut condition: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    wait_for(what, limit, || condition().then_some(()));
    begun.elapsed()
}

/// Looks again and again until there is something, which `what` describes, and returns it.
///
/// # Panics
/// If there is nothing within `limit`.
#[track_caller]
pub fn wait_for<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < limit, "not within {limit:?}: {what}");
        sleep(pause);
        pause = (pause + FIRST_PAUSE).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_returned_and_what_does_not_is_named() {
        let mut looks = 0;
        let third = wait_for("a third look", Duration::from_secs(60), || {
            looks += 1;
            (looks == 3).then_some("third")
        });
        assert_eq!((third, looks), ("third", 3));
        let never = std::panic::catch_unwind(|| wait_until("the end of time", Duration::ZERO, || false));
        let said = never.expect_err("it never comes");
        assert!(said.downcast_ref::<String>().is_some_and(|said| said.contains("the end of time")));
    }
}
