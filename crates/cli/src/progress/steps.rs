//! Prints the steps of something short, without a thread for a spinner: it would disturb what is measured, and a lab
//! is forked by a process with one thread.

use super::screen::spinner_style;
use crate::talk;
use indicatif::{ProgressBar, ProgressDrawTarget};
use std::io::{IsTerminal, stderr};

/// See the module.
pub(crate) struct Steps(Shown);

enum Shown {
    Quiet,
    Lines,
    Bar(ProgressBar),
}

impl Steps {
    pub(crate) fn new(quiet: bool) -> Self {
        Self(match (quiet, stderr().is_terminal()) {
            (true, _) => Shown::Quiet,
            (false, false) => Shown::Lines,
            (false, true) => {
                let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
                bar.set_style(spinner_style());
                Shown::Bar(bar)
            }
        })
    }

    /// What is being done now.
    pub(crate) fn show(&self, step: &str) {
        match &self.0 {
            Shown::Quiet => {}
            Shown::Lines => talk::say(step),
            Shown::Bar(bar) => {
                bar.set_message(step.to_owned());
                bar.tick();
            }
        }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
