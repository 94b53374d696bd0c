//! What the command line says of the comparison with simulators.

use std::path::PathBuf;

/// The options of the command line that concern this case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// The contests to run, or a system of one as `CONTEST/SYSTEM`; empty: all.
    pub(crate) only: Vec<String>,
    /// Shadow's program.
    pub(crate) shadow: PathBuf,
    /// Where ns-3 is installed, if pkg-config does not know.
    pub(crate) ns3: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { only: Vec::new(), shadow: "shadow".into(), ns3: None }
    }
}

impl Options {
    /// Whether a system of a contest is wanted.
    pub(super) fn wants(&self, contest: &str, system: &str) -> bool {
        let is_named = |word: &String| match word.split_once('/') {
            Some((name, other)) => name == contest && other == system,
            None => word == contest,
        };
        self.only.is_empty() || self.only.iter().any(is_named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contests_and_systems_are_chosen_by_name() {
        let all = Options::default();
        assert!(all.wants("etcd", "shadow"));
        let some = Options { only: vec!["etcd/shadow".into(), "pairs".into()], ..all };
        assert!(some.wants("etcd", "shadow") && some.wants("pairs", "netloom") && !some.wants("etcd", "netloom"));
    }
}
