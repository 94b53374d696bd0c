//! What clients of the control socket did in a run: the lab file does not say it, so the verdict does.

use crate::quantity::span;
use crate::verdict::NetworkChange;
use netloom_units::Duration;

/// The changes that clients made in a run.
#[derive(Debug, Default)]
pub struct Interventions {
    named: Vec<NetworkChange>,
    /// How many more there were of each kind: what happened in nodes, and what changed links.
    more: [u64; 2],
}

/// How many are named.
const NAMED: usize = 50;

impl Interventions {
    /// Adds a change after time zero, or before it if `at` is none.
    pub fn add(&mut self, alters_link: bool, at: Option<Duration>, what: &str) {
        if self.named.len() == NAMED {
            self.more[usize::from(alters_link)] += 1;
            return;
        }
        let when = at.map_or_else(|| "before time zero".to_owned(), |at| format!("at {}", span(at.as_nanos())));
        self.named.push(NetworkChange { alters_link, what: format!("{what} {when}") });
    }

    /// Returns all of them, for the verdict.
    pub fn list(&self) -> Vec<NetworkChange> {
        let more = [false, true].into_iter().zip(self.more).filter(|(_, count)| *count > 0);
        let more = more.map(|(alters_link, count)| NetworkChange { alters_link, what: format!("{count} more") });
        self.named.iter().cloned().chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_never_ends_fills_no_memory_and_nothing_of_it_is_lost() {
        let mut all = Interventions::default();
        all.add(true, None, "l changed");
        for number in 0..1_000 {
            all.add(number % 2 == 1, Some(Duration::from_millis(1_200)), "l up");
        }
        let list = all.list();
        assert_eq!(list.len(), NAMED + 2);
        assert_eq!(list[0].what, "l changed before time zero");
        assert_eq!(list[1].what, "l up at 1.2 s");
        let more: Vec<_> = list[NAMED..].iter().map(|one| (one.alters_link, one.what.as_str())).collect();
        assert_eq!(more, [(false, "475 more"), (true, "476 more")]);
    }
}
