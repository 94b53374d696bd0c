//! The progress of a hunt: a moving line on a terminal, and a line for each event that is worth one.

use crate::progress::bar;
use crate::talk;
use indicatif::ProgressBar;
use netloom_hunt::{Covered, Event, Position};
use netloom_judge::quantity::counted;
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// How often progress is told where there is no terminal.
const TOLD: Duration = Duration::from_secs(30);

/// See the module.
pub(super) struct Screen {
    is_quiet: bool,
    bar: Option<ProgressBar>,
    told: Instant,
}

impl Screen {
    pub(super) fn new(is_quiet: bool) -> Self {
        Self { is_quiet, bar: None, told: Instant::now() }
    }

    pub(super) fn show(&mut self, event: &Event<'_>, position: &Position) {
        if self.is_quiet {
            return;
        }
        match event {
            Event::Regressed(one) => self.say(&format!("{}: {}", one.lab.display(), super::regressed(one))),
            Event::Baseline(kinds, covered) => self.begin(*kinds, covered.as_ref(), position),
            Event::Ended(line) => self.ended(line.error.as_ref().map(|error| (line.run, error.as_str())), position),
            Event::Shrinking(failure) => self.say(&format!("failed: {}; shrinking", failure.line())),
            Event::Found(finding, folder) => {
                let count = counted(finding.minimal.len(), "fault");
                self.say(&format!("finding {:04}: shrunk to {count}: {}", finding.finding, folder.display()));
            }
            Event::Stopping => self.say("ending the runs in progress"),
        }
        if let Some(bar) = &self.bar {
            bar.set_position(position.ended);
            bar.set_message(words(position));
        }
    }

    fn begin(&mut self, kinds: usize, covered: Option<&Covered>, position: &Position) {
        let kinds = counted(kinds, "kind");
        self.say(&format!(
            "the run without faults has {kinds} of events; {} of {} runs have ended",
            position.ended,
            shown(position)
        ));
        if let Some(covered) = covered {
            self.say(&format!("there are {} single faults, and {} pairs of them", covered.singles, covered.pairs));
        }
        if stderr().is_terminal() && position.total < u64::MAX {
            self.bar = Some(bar(position.total));
        }
    }

    fn ended(&mut self, error: Option<(u64, &str)>, position: &Position) {
        if let Some((run, why)) = error {
            self.say(&format!("run {run} showed nothing: {}", why.lines().next().unwrap_or_default()));
        }
        if self.bar.is_none() && self.told.elapsed() >= TOLD {
            self.told = Instant::now();
            self.say(&format!("{} of {} runs, {}", position.ended, shown(position), words(position)));
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| talk::say(text)),
            None => talk::say(text),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// How many runs there are to be.
fn shown(position: &Position) -> String {
    if position.total == u64::MAX { "as many as there is time for".into() } else { position.total.to_string() }
}

fn words(position: &Position) -> String {
    let Position { errors, findings, reached: (reached, of), runs_per_minute, news: (new, last), .. } = position;
    let news = if *last > 0 { format!(", {new} of the last {last} new") } else { String::new() };
    let tried = position.systematic.map_or_else(String::new, |covered| format!(", {}", super::tried(&covered)));
    let errors = if *errors > 0 { format!(", {errors} showed nothing") } else { String::new() };
    let reached = if *of > 0 { format!(", {reached} of {of} reached") } else { String::new() };
    format!("{runs_per_minute:.0} a minute, {}{reached}{news}{errors}{tried}", counted(*findings, "finding"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_in_words() {
        let position = Position {
            total: 200,
            ended: 40,
            errors: 1,
            findings: 2,
            reached: (1, 3),
            runs_per_minute: 61.4,
            news: (2, 40),
            systematic: None,
        };
        assert_eq!(words(&position), "61 a minute, 2 findings, 1 of 3 reached, 2 of the last 40 new, 1 showed nothing");
        assert_eq!(shown(&position), "200");
        let covered = Covered { singles: 30, singles_tried: 30, pairs: 435, pairs_tried: 10 };
        let systematic = Position { systematic: Some(covered), ..Position::default() };
        assert_eq!(words(&systematic), "0 a minute, 0 findings, all 30 single faults and 10 of 435 pairs");
        assert_eq!(words(&Position::default()), "0 a minute, 0 findings");
    }
}
