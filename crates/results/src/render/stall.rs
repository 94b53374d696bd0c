//! Lab time that stands still.

use super::span;
use std::time::Duration;

/// Returns a message that lab time stands still: where, for how much wall time, and because of which node.
pub fn stall(at_ns: Option<u64>, elapsed: Duration, node: &str, what: &str) -> String {
    let place = at_ns.map_or_else(|| "before time zero".to_owned(), |ns| format!("at {}", span(ns)));
    let seconds = elapsed.as_secs();
    format!("lab time has stood still {place} for {seconds} s of wall time: node `{node}` is busy, {what} computes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_where_and_why() {
        let text = stall(Some(1_500_000_000), Duration::from_millis(10_400), "a", "its program `python3`");
        let (place, why) = ("at 1.5 s for 10 s of wall time", "node `a` is busy, its program `python3` computes");
        assert_eq!(text, format!("lab time has stood still {place}: {why}"));
        assert!(stall(None, Duration::ZERO, "a", "its kernel").contains("still before time zero for 0 s"));
    }
}
