//! The progress of images that are fetched.

use super::screen::{spinner, style};
use crate::talk;
use indicatif::ProgressBar;
use netloom_registry::Progress;
use std::io::{IsTerminal, stderr};

/// A bar that counts bytes on a terminal; a line per layer elsewhere.
pub(crate) struct PullProgress {
    is_quiet: bool,
    bar: Option<ProgressBar>,
    /// The layer that was printed last.
    told: usize,
}

impl PullProgress {
    pub(crate) fn new(is_quiet: bool) -> Self {
        let bar = (!is_quiet && stderr().is_terminal()).then(spinner);
        Self { is_quiet, bar, told: 0 }
    }

    /// Shows what a pull tells; `words` are for what the cache does.
    pub(crate) fn show(&mut self, progress: Progress, words: impl Fn(netloom_image::Progress) -> String) {
        let (text, count) = match progress {
            Progress::Layer { number, of, have, bytes } => {
                let text = format!("fetching layer {number} of {of} ({:.1} MB)", bytes as f64 / 1e6);
                let is_known = std::mem::replace(&mut self.told, number) == number;
                (if is_known { None } else { Some(text) }, Some((have, bytes)))
            }
            Progress::Import(progress) => (Some(words(progress)), None),
        };
        match (&self.bar, text) {
            (Some(bar), text) => redraw(bar, text, count),
            (None, Some(text)) if !self.is_quiet => talk::say(&text),
            _ => {}
        }
    }
}

fn redraw(bar: &ProgressBar, text: Option<String>, count: Option<(u64, u64)>) {
    if let Some(text) = text {
        let form = if count.is_some() { "{spinner} {msg} [{bar:30}] {bytes_per_sec}" } else { "{spinner} {msg}" };
        bar.set_style(style(form).progress_chars("=> "));
        bar.set_message(text);
    }
    if let Some((have, bytes)) = count {
        bar.set_length(bytes);
        bar.set_position(have);
    }
}

impl Drop for PullProgress {
    fn drop(&mut self) {
        self.bar.iter().for_each(ProgressBar::finish_and_clear);
    }
}
