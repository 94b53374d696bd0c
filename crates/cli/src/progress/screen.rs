//! The moving line on a terminal, and plain lines elsewhere.

use crate::log_lines::LogLines;
use crate::talk;
use anstream::{AutoStream, ColorChoice};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use netloom_judge::quantity;
use netloom_results::{Busiest, LogLine, Logs, render};
use netloom_run::Event;
use netloom_units::Dilation;
use std::io::{IsTerminal, Write, stderr};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the spinner turns.
const TURN: Duration = Duration::from_millis(100);

/// How many bytes of a program's output are shown at a time.
const AT_ONCE: usize = 64 * 1024;

/// See the module.
pub(super) struct Screen {
    shown: Shown,
    /// How long the run will last in nanoseconds, if it is known.
    duration_ns: Option<u64>,
    /// By how much lab time is slower than wall time, if it is.
    dilation: Option<Dilation>,
    /// What programs write, if that is shown.
    followed: Option<Followed>,
}

struct Followed {
    logs: Logs,
    lines: LogLines,
    looked: Instant,
}

enum Shown {
    /// One line per step.
    Lines,
    /// A line that moves, when there is something to say.
    Bar(Option<ProgressBar>),
}

impl Screen {
    pub(super) fn new(dilation: Option<Dilation>) -> Self {
        let shown = if stderr().is_terminal() { Shown::Bar(None) } else { Shown::Lines };
        Self { shown, duration_ns: None, dilation, followed: None }
    }

    /// Whether there are logs to look at now and then.
    pub(super) fn follows(&self) -> bool {
        self.followed.is_some()
    }

    /// Shows what the lab tells.
    pub(super) fn show(&mut self, event: &Event) {
        match event {
            Event::Results { folder } => self.follow(folder),
            Event::Preparing { text } | Event::Step { text } => self.step(text),
            Event::Warning { text } => self.say(|| talk::warning(text)),
            Event::Started { duration_ns } => self.started(*duration_ns),
            Event::Progress { at_ns, busiest } => self.at(*at_ns, busiest.as_ref()),
            Event::Stalled { at_ns, wall_ns, node, what } => {
                self.stalled(&render::stall(*at_ns, Duration::from_nanos(*wall_ns), node, what));
            }
            Event::Happened { at_ns, text } => self.happened(*at_ns, text),
            Event::Ready | Event::Finished { .. } | Event::Failed { .. } => self.clear(),
        }
    }

    fn step(&mut self, text: &str) {
        match &mut self.shown {
            Shown::Lines => talk::say(text),
            Shown::Bar(bar) => bar.get_or_insert_with(spinner).set_message(text.to_owned()),
        }
    }

    fn started(&mut self, duration_ns: Option<u64>) {
        self.duration_ns = duration_ns;
        match (&mut self.shown, duration_ns) {
            (Shown::Bar(bar), Some(ns)) => bar.get_or_insert_with(spinner).set_style(bar_style(ns)),
            (Shown::Bar(bar), None) => bar.get_or_insert_with(spinner).set_style(spinner_style()),
            _ => {}
        }
        if let (Shown::Bar(Some(bar)), Some(ns)) = (&self.shown, duration_ns) {
            bar.set_length(ns / 1_000_000);
        }
        self.step(&running(duration_ns, self.dilation));
    }

    fn at(&mut self, at_ns: u64, busiest: Option<&Busiest>) {
        let Shown::Bar(Some(bar)) = &self.shown else { return };
        let carries = busiest.map_or_else(
            || "no traffic".to_owned(),
            |b| {
                let pipe = b.pipe.as_ref().map_or_else(String::new, |pipe| format!(" {pipe}"));
                format!("{} {}{pipe} {}", b.link, b.direction, quantity::rate(b.bits_per_second))
            },
        );
        let seconds = at_ns as f64 / 1e9;
        if self.duration_ns.is_some() {
            bar.set_position(at_ns / 1_000_000);
        }
        bar.set_message(format!("{seconds:.1} s  {carries}"));
    }

    fn happened(&mut self, at_ns: Option<u64>, text: &str) {
        let when = at_ns.map_or_else(|| "set-up ".to_owned(), |ns| format!("{:5.1} s", ns as f64 / 1e9));
        self.say(|| talk::say(&format!("{when}  {text}")));
    }

    /// Lab time stands still: said above the moving line, too, which would hide it as soon as it goes on.
    fn stalled(&mut self, text: &str) {
        self.say(|| talk::say(text));
        if let Shown::Bar(Some(bar)) = &self.shown {
            bar.set_message("lab time stands still");
        }
    }

    fn follow(&mut self, folder: &Path) {
        let coloured = AutoStream::choice(&stderr()) != ColorChoice::Never;
        match Logs::in_folder(folder) {
            Ok(logs) => {
                let lines = LogLines::of(&logs, coloured);
                self.followed = Some(Followed { logs, lines, looked: Instant::now() });
            }
            Err(error) => self.say(|| talk::warning(&format!("the output of programs cannot be shown: {error}"))),
        }
    }

    /// Shows what programs have written since the last look, unless that is not long ago.
    pub(super) fn look_at_logs(&mut self) {
        if self.followed.as_ref().is_some_and(|followed| followed.looked.elapsed() >= TURN) {
            self.show_logs(false);
        }
    }

    /// Shows the rest of what programs wrote: the lab has ended.
    pub(super) fn finish(&mut self) {
        self.show_logs(true);
    }

    fn show_logs(&mut self, is_end: bool) {
        let Some(mut followed) = self.followed.take() else { return };
        let mut text = Vec::new();
        let mut show = |line: &LogLine<'_>| {
            if text.len() >= AT_ONCE {
                self.say(|| write(&text));
                text.clear();
            }
            // Writing to memory does not fail.
            followed.lines.write(&mut text, line).is_ok()
        };
        let read = followed.logs.read(&mut show);
        if is_end {
            followed.logs.finish(&mut show);
        }
        if !text.is_empty() {
            self.say(|| write(&text));
        }
        match read {
            Ok(_) => self.followed = Some(Followed { looked: Instant::now(), ..followed }),
            Err(error) => self.say(|| talk::warning(&format!("the output of programs is not shown any more: {error}"))),
        }
    }

    /// Says something above the moving line.
    fn say(&self, words: impl FnOnce()) {
        match &self.shown {
            Shown::Bar(Some(bar)) => bar.suspend(words),
            Shown::Lines | Shown::Bar(None) => words(),
        }
    }

    fn clear(&mut self) {
        if let Shown::Bar(bar) = &mut self.shown
            && let Some(bar) = bar.take()
        {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Errors are ignored: the terminal may be gone.
fn write(text: &[u8]) {
    let _ = stderr().write_all(text);
}

fn running(duration_ns: Option<u64>, dilation: Option<Dilation>) -> String {
    let Some((lab_ns, dilation)) = duration_ns.zip(dilation) else { return "running".to_owned() };
    let real = dilation.to_real(netloom_units::Duration::from_nanos(lab_ns));
    let real_ns = u64::try_from(real.as_nanos()).unwrap_or(u64::MAX);
    format!("running: {} of lab time take {}", quantity::span(lab_ns), quantity::span(real_ns))
}

pub(super) fn spinner() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(spinner_style());
    bar.enable_steady_tick(TURN);
    bar
}

pub(super) fn spinner_style() -> ProgressStyle {
    style("{spinner} {msg}")
}

/// A bar of so many steps.
pub(crate) fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    bar.set_style(bar_style(total));
    bar.enable_steady_tick(TURN);
    bar
}

fn bar_style(_duration_ns: u64) -> ProgressStyle {
    style("{spinner} [{bar:30}] {msg}").progress_chars("=> ")
}

pub(super) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates are constants")
}
