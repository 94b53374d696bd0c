//! The progress of a sweep: a moving line on a terminal, and a line for each run that is worth one.

use crate::progress::bar;
use crate::talk;
use indicatif::ProgressBar;
use netloom_judge::quantity::{figure as shown, span};
use netloom_lab::Sweep;
use netloom_sweep::{Event, Outcome, Position, RunRecord};
use std::io::{IsTerminal, stderr};
use std::time::Duration;

/// Figures of a run that are shown when it ends.
const MOST_FIGURES: usize = 3;
/// In a larger sweep, only what went wrong gets a line.
const MOST_LINES: u64 = 1_000;

/// See the module.
pub(super) struct Screen {
    parameters: Vec<String>,
    repeats: bool,
    is_quiet: bool,
    bar: Option<ProgressBar>,
}

impl Screen {
    pub(super) fn new(sweep: &Sweep, is_quiet: bool) -> Self {
        let parameters = sweep.parameters().into_iter().map(str::to_owned).collect();
        Self { parameters, repeats: sweep.repetitions() > 1, is_quiet, bar: None }
    }

    pub(super) fn show(&mut self, event: &Event<'_>, position: &Position) {
        if self.is_quiet {
            return;
        }
        match event {
            Event::Begins => self.begin(position),
            Event::Started => {}
            Event::Ended(record) => self.ended(record, position),
            Event::Stopping => self.say("ending the runs in progress"),
        }
        if let Some(bar) = &self.bar {
            bar.set_position(position.ended);
            bar.set_message(words(position));
        }
    }

    fn begin(&mut self, position: &Position) {
        let Position { total, ended, failed, .. } = position;
        if *ended > 0 {
            let failed = if *failed > 0 { format!(", {failed} of them without a verdict") } else { String::new() };
            talk::say(&format!("{ended} of {total} runs have ended already{failed}"));
        }
        if stderr().is_terminal() && total > ended {
            self.bar = Some(bar(*total));
        }
    }

    fn ended(&self, record: &RunRecord, position: &Position) {
        if position.total > MOST_LINES && record.outcome == Outcome::AsDescribed {
            return;
        }
        let mut values: Vec<String> = self
            .parameters
            .iter()
            .map(|name| format!("{name}={}", record.parameters.get(name).map_or("", String::as_str)))
            .collect();
        if self.repeats {
            values.push(format!("repetition {}", record.repetition));
        }
        let mut told = vec![record.outcome.words().to_owned()];
        if record.unmet > 0 {
            told.push(format!("{} unmet", record.unmet));
        }
        if let Some(why) = &record.why {
            told.push(why.lines().next().unwrap_or_default().to_owned());
        }
        let known = record.figures.iter().filter_map(|figure| Some((figure, figure.value?))).take(MOST_FIGURES);
        told.extend(known.map(|(figure, value)| format!("{} {}", figure.name, shown(value, &figure.unit))));
        let count = format!("{:>width$}/{}", position.ended, position.total, width = position.total.to_string().len());
        self.say(&format!("{count}  {}: {}", values.join(", "), told.join(", ")));
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

fn words(position: &Position) -> String {
    let failed = if position.failed > 0 { format!(", {} failed", position.failed) } else { String::new() };
    let left = position.left.map_or_else(String::new, |left| format!(", about {} left", about(left)));
    format!("{} of {} runs ended{failed}, {} going on{left}", position.ended, position.total, position.running)
}

fn about(left: Duration) -> String {
    let seconds = left.as_secs();
    match seconds {
        0..60 => span(1_000_000_000 * seconds.max(1)),
        60..3_600 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_in_words() {
        let left = Some(Duration::from_secs(130));
        let position = Position { total: 12, ended: 3, failed: 1, running: 2, left };
        assert_eq!(words(&position), "3 of 12 runs ended, 1 failed, 2 going on, about 3 min left");
        let first = Position { total: 12, running: 2, ..Position::default() };
        assert_eq!(words(&first), "0 of 12 runs ended, 2 going on");
        assert_eq!(about(Duration::from_secs(7_300)), "2 h 1 min");
    }
}
