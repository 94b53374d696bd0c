//! The progress of a kernel build.

use super::screen::{spinner, style};
use crate::talk;
use indicatif::ProgressBar;
use netloom_guest::kernel::build::Progress;
use std::io::{IsTerminal, stderr};

/// Without a terminal, a line is written each time that this many percent more are compiled.
const HUNDREDTHS: u32 = 10;

/// A bar that counts compiled files on a terminal; a line per step, and one per tenth of the files, elsewhere.
pub(crate) struct BuildProgress {
    shown: Shown,
    /// How many tenths were printed.
    told: u32,
}

enum Shown {
    /// Nothing but warnings.
    Quiet,
    /// One line per step.
    Lines,
    /// A line that moves, when there is something to say.
    Bar(Option<ProgressBar>),
}

impl BuildProgress {
    pub(crate) fn new(quiet: bool) -> Self {
        let shown = match (quiet, stderr().is_terminal()) {
            (true, _) => Shown::Quiet,
            (false, true) => Shown::Bar(None),
            (false, false) => Shown::Lines,
        };
        Self { shown, told: 0 }
    }

    /// Shows what the build tells. Warnings are shown in any case.
    pub(crate) fn show(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Step(text) => self.step(text),
            Progress::Warning(text) => match &self.shown {
                Shown::Bar(Some(bar)) => bar.suspend(|| talk::warning(text)),
                _ => talk::warning(text),
            },
            Progress::Compiled { files, about } => self.compiled(files, about),
        }
    }

    fn step(&mut self, text: &str) {
        match &mut self.shown {
            Shown::Quiet => {}
            Shown::Lines => talk::say(text),
            Shown::Bar(bar) => bar.get_or_insert_with(spinner).set_message(text.to_owned()),
        }
    }

    fn compiled(&mut self, files: u32, about: u32) {
        match &mut self.shown {
            Shown::Quiet => {}
            Shown::Lines => {
                let tenths = files.saturating_mul(100) / about / HUNDREDTHS;
                if tenths > self.told {
                    self.told = tenths;
                    talk::say(&format!("{files} of about {about} files compiled"));
                }
            }
            Shown::Bar(bar) => count(bar.get_or_insert_with(spinner), files, about),
        }
    }
}

fn count(bar: &ProgressBar, files: u32, about: u32) {
    if bar.length().is_none() {
        bar.set_style(style("{spinner} {msg} [{bar:30}] {pos} of about {len} files").progress_chars("=> "));
    }
    bar.set_length(about.into());
    bar.set_position(files.into());
}

impl Drop for BuildProgress {
    fn drop(&mut self) {
        if let Shown::Bar(Some(bar)) = &self.shown {
            bar.finish_and_clear();
        }
    }
}
