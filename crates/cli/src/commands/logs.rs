//! `netloom logs`

use super::{DONE, Failure, Outcome, is_read};
use crate::args::{LogsArgs, StreamArg};
use crate::log_lines::LogLines;
use anstream::{AutoStream, ColorChoice};
use netloom_control::{holds, only_lab};
use netloom_results::{LogLine, Logs, Stream};
use netloom_run::logs_of;
use std::io::{self, BufWriter, StdoutLock, Write, stdout};
use std::thread::sleep;
use std::time::Duration;

/// How often to look for new lines.
const PAUSE: Duration = Duration::from_millis(100);

pub(super) fn logs(args: &LogsArgs) -> Outcome {
    let lab = args.lab.clone().map_or_else(only_lab, Ok)?;
    let mut logs = logs_of(&lab)?;
    logs.select(&args.names)?;
    match args.only {
        Some(StreamArg::Stdout) => logs.only(Stream::Stdout),
        Some(StreamArg::Stderr) => logs.only(Stream::Stderr),
        None => {}
    }
    if let Some(lines) = args.tail {
        logs.skip_to_last(lines)?;
    }
    show(logs, args.follow, || true)?;
    DONE
}

/// Shows what programs of a lab write until it ends, or nobody wants more; whether the lab is still up then.
pub(super) fn follow(logs: Logs, is_wanted: impl Fn() -> bool) -> Result<bool, Failure> {
    show(logs, true, is_wanted)
}

fn show(mut logs: Logs, follows: bool, is_wanted: impl Fn() -> bool) -> Result<bool, Failure> {
    let mut out = Out::new(&logs);
    loop {
        // What is written before the lab ends is read after that.
        let goes_on = follows && holds(logs.folder())?;
        logs.read(&mut |line| out.take(line))?;
        if !out.flush()? {
            return Ok(goes_on);
        }
        if !goes_on {
            break;
        }
        if !is_wanted() {
            return Ok(true);
        }
        sleep(PAUSE);
    }
    logs.finish(&mut |line| out.take(line));
    out.flush()?;
    Ok(false)
}

/// Standard output, until its reader closes it.
struct Out {
    lines: LogLines,
    out: BufWriter<StdoutLock<'static>>,
    state: io::Result<()>,
}

impl Out {
    fn new(logs: &Logs) -> Self {
        let coloured = AutoStream::choice(&stdout()) != ColorChoice::Never;
        Self { lines: LogLines::of(logs, coloured), out: BufWriter::new(stdout().lock()), state: Ok(()) }
    }

    /// Whether more is wanted.
    fn take(&mut self, line: &LogLine<'_>) -> bool {
        if self.state.is_ok() {
            self.state = self.lines.write(&mut self.out, line);
        }
        self.state.is_ok()
    }

    /// False when the reader has closed it.
    fn flush(&mut self) -> Result<bool, Failure> {
        is_read(std::mem::replace(&mut self.state, Ok(())).and_then(|()| self.out.flush()))
    }
}
