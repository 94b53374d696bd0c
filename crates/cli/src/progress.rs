//! The progress of a lab: a moving line on a terminal, plain lines elsewhere.
//!
//! A separate thread prints it: a terminal that was stopped with Ctrl-S, or a reader that does not read, blocks only
//! that thread. What it cannot print in time is left out.

mod build;
mod pull;
mod screen;
mod steps;

pub(crate) use build::BuildProgress;
pub(crate) use pull::PullProgress;
use screen::Screen;
pub(crate) use screen::bar;
pub(crate) use steps::Steps;

use crate::talk;
use netloom_lab::Clock;
use netloom_run::Event;
use netloom_units::Dilation;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How many events may wait to be shown.
const WAITING: usize = 256;
/// How often to look for new output of programs.
const TURN: Duration = Duration::from_millis(100);
/// How long the end of a lab waits until all of them are shown.
const SHOWN_WITHIN: Duration = Duration::from_millis(500);

/// See the module.
pub(crate) struct Progress {
    is_quiet: bool,
    /// Whether what programs write is shown, too.
    follows: bool,
    /// By how much lab time is slower than wall time, if it is.
    dilation: Option<Dilation>,
    /// Made when there is something to say: no thread may exist while the lab is forked.
    showing: Option<Showing>,
}

/// The thread that shows what it is given.
struct Showing {
    events: SyncSender<Event>,
    /// Hangs up when the thread ends.
    ended: Receiver<()>,
    thread: JoinHandle<()>,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { is_quiet: quiet, follows: false, dilation: None, showing: None }
    }

    /// Shows what programs write, too, if that is wanted: even in quiet.
    pub(crate) fn following(mut self, follows: bool) -> Self {
        self.follows = follows;
        self
    }

    /// Of a lab with this clock: says how long the run will take in wall time.
    pub(crate) fn at_pace_of(mut self, clock: Clock) -> Self {
        self.dilation = clock.dilation().filter(|dilation| *dilation != Dilation::ONE);
        self
    }

    /// Shows what the lab tells, without ever waiting for the terminal.
    pub(crate) fn show(&mut self, event: &Event) {
        if matches!(event, Event::Ready | Event::Finished { .. } | Event::Failed { .. }) {
            return self.end();
        }
        if let Event::Preparing { text } = event {
            if !self.is_quiet {
                talk::say(text);
            }
            return;
        }
        let is_of_logs = matches!(event, Event::Results { .. });
        if is_of_logs && !self.follows || !is_of_logs && self.is_quiet {
            return;
        }
        if self.showing.is_none() {
            // Without a thread there is nothing to be seen, but the lab goes on.
            self.showing = Showing::start(self.dilation).ok();
        }
        if let Some(showing) = &self.showing {
            // When too much waits already, it is left out.
            let _ = showing.events.try_send(event.clone());
        }
    }

    fn end(&mut self) {
        let Some(Showing { events, ended, thread }) = self.showing.take() else { return };
        drop(events);
        if ended.recv_timeout(SHOWN_WITHIN) == Err(RecvTimeoutError::Timeout) {
            return LEFT.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        }
        // It did nothing but show something, and has ended.
        let _ = thread.join();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

impl Showing {
    fn start(dilation: Option<Dilation>) -> std::io::Result<Self> {
        let (events, waiting) = sync_channel(WAITING);
        let (ending, ended) = channel::<()>();
        let show = move || {
            let _ending = ending;
            let mut screen = Screen::new(dilation);
            loop {
                // Without logs there is nothing to look for.
                let next = if screen.follows() {
                    waiting.recv_timeout(TURN)
                } else {
                    waiting.recv().map_err(|_| RecvTimeoutError::Disconnected)
                };
                match next {
                    Ok(event) => screen.show(&event),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return screen.finish(),
                }
                screen.look_at_logs();
            }
        };
        let thread = std::thread::Builder::new().name("netloom-progress".into()).spawn(show)?;
        Ok(Self { events, ended, thread })
    }
}

/// Threads that still wait for their reader.
static LEFT: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// Waits until all is shown, however long that takes: no thread may exist while another lab is forked.
pub(crate) fn settle() {
    let left = std::mem::take(&mut *LEFT.lock().unwrap_or_else(PoisonError::into_inner));
    for thread in left {
        let _ = thread.join();
    }
}
