//! What is played on a cluster of Ray: the Python package hands it over, and calls this program again.

use super::{Failure, lab_file};
use crate::args::{Division, OnLoss, Overrides};
use clap::ValueEnum;
use netloom_host::runtime::{RuntimeDir, RuntimeError};
use netloom_host::signals::Signals;
use netloom_judge::ExitCode;
use netloom_lab::{Clock, Plan, Shards};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A lab whose parts are on the machines of a cluster.
pub(super) struct Spread<'a> {
    /// Its lab file.
    pub(super) file: &'a Path,
    /// The settings that replace those of the lab file.
    pub(super) overrides: &'a Overrides,
    /// How it is divided.
    pub(super) division: &'a Division,
    /// The folder that holds the results of all labs.
    pub(super) results: &'a Path,
    /// After how much wall time each part is to end.
    pub(super) wall_limit: Option<Duration>,
    /// The cluster.
    pub(super) on: &'a str,
    /// Whether no progress is shown.
    pub(super) quiet: bool,
}

impl Spread<'_> {
    /// Returns what Python is to do, as its module `_served` has it. From here on, this process holds the runtime folder of the lab, and so will
    /// the program that it becomes.
    pub(super) fn order(&self) -> Result<Map<String, Value>, Failure> {
        let loaded = lab_file::load(self.file, &self.overrides.foreign, self.overrides.clock)?;
        let plan = &loaded.lab.plan;
        if let Some(why) = self.why_not(plan) {
            return Err(Failure::new(ExitCode::LabFile, format!("--on: {why}")));
        }
        if self.overrides.root.is_some() {
            let why = "--root: a lab over several machines has the files of each";
            return Err(Failure::new(ExitCode::Usage, why));
        }
        // Whoever ends this process before Python listens would leave the folder: it takes the signals that come until then.
        let failed = |error| Failure::new(ExitCode::Machine, format!("holding signals back: {error}"));
        std::mem::forget(Signals::hold(&[]).map_err(failed)?);
        let (runtime, lock) = runtime_folder(&plan.name)?;
        let order = json!({
            "runtime": runtime,
            "lock": lock,
            "file": self.file,
            "text": self.overrides.foreign.as_played.as_deref().unwrap_or(self.file),
            "lab": plan.name,
            "is_virtual": plan.clock == Clock::Virtual,
            "files": plan.files,
            "on": self.on,
            "machines": self.division.machines,
            "path_ns": self.division.path.as_nanos(),
            "port": self.division.port,
            "is_plain": self.division.plain,
            "continues": self.division.on_loss == OnLoss::Continue,
            "results": self.results,
            "kernel": self.overrides.kernel,
            "options": self.options(),
            "quiet": self.quiet,
        });
        let Value::Object(order) = order else { unreachable!("it is written as an object") };
        Ok(order)
    }

    /// Says why several machines cannot play a lab; none if they can.
    fn why_not(&self, plan: &Plan) -> Option<String> {
        match plan.clock {
            Clock::Virtual if self.division.on_loss == OnLoss::Continue => {
                Some("in virtual time no machine goes on without another one: leave out --on-loss continue".into())
            }
            Clock::Virtual if self.division.plain => {
                Some("in virtual time what goes between machines is always encrypted: leave out --plain".into())
            }
            _ => cannot_be_spread(plan),
        }
    }

    /// The options with which each part runs.
    fn options(&self) -> Vec<String> {
        let Overrides { seed, precision, shards, clock, .. } = self.overrides;
        let shards = shards.map(|shards| match shards {
            Shards::Auto => "auto".to_owned(),
            Shards::Count(count) => count.to_string(),
        });
        let precision = precision.and_then(|precision| Some(precision.to_possible_value()?.get_name().to_owned()));
        let limit = self.wall_limit.map(|limit| format!("{}ns", limit.as_nanos()));
        let seed = seed.map(|seed| seed.to_string());
        // The text of a part has no other clock than real time; that of a whole lab has its own.
        let clock = clock.filter(|clock| *clock == Clock::Virtual).map(|_| "virtual".to_owned());
        let given = [
            ("--seed", seed),
            ("--precision", precision),
            ("--shards", shards),
            ("--wall-limit", limit),
            ("--clock", clock),
        ];
        given.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value?])).flatten().collect()
    }
}

/// Says why no division makes this lab one for several machines; none if one may.
pub(super) fn cannot_be_spread(plan: &Plan) -> Option<String> {
    match plan.clock {
        Clock::Real => None,
        Clock::Dilated(_) => Some("a lab runs over several machines in real or in virtual time".into()),
        Clock::Virtual => netloom_run::why_not_parts(plan),
    }
}

/// The runtime folder of the lab, and the number of the descriptor that locks it.
fn runtime_folder(lab: &str) -> Result<(PathBuf, i32), Failure> {
    let held = RuntimeDir::acquire(lab).and_then(|folder| Ok(folder.hand_over()?));
    held.map_err(|error| {
        let is_up = matches!(error, RuntimeError::AlreadyUp { .. });
        Failure::new(if is_up { ExitCode::NoSuchLab } else { ExitCode::Machine }, error.to_string())
    })
}

/// The arguments of this command without those that say where runs are played.
pub(super) fn without_cluster(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = words;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--on" => drop(words.next()),
            _ if word.starts_with("--on=") => {}
            _ => kept.push(word),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_cluster_is_left_out() {
        let made = |words: &str| without_cluster(words.split(' ').map(str::to_owned)).join(" ");
        assert_eq!(made("hunt a.yaml --on ray -o out"), "hunt a.yaml -o out");
        assert_eq!(made("hunt --on=ray://h:1 a.yaml --json"), "hunt a.yaml --json");
    }
}
