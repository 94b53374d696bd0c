//! What commands and services write, out of their logs.

use netloom_commands::Command;
use netloom_control::{Event, Id, Output, Refused, Stream, Subscribe};
use netloom_provision::job::Job;
use netloom_results::{Follow, Unfinished};
use std::time::{Duration, Instant};

/// How many bytes of a log are read at once; a longer line comes in parts.
const PIECE: usize = 16 * 1024;
/// How many logs are looked at for one piece.
const LOGS_AT_ONCE: usize = 64;
/// How often all are looked at that had nothing new.
const PAUSE: Duration = Duration::from_millis(100);
/// How many names a message lists.
const NAMES_LISTED: usize = 20;

/// See the module.
#[derive(Debug)]
pub(super) struct OutputFeed {
    pub(super) id: Option<Id>,
    logs: Vec<Log>,
    /// Which log is looked at next,
    next: usize,
    /// and how many in a row had nothing new.
    quiet: usize,
    /// When all are looked at again, if none had.
    again: Instant,
}

#[derive(Debug)]
struct Log {
    /// The number of the command.
    command: usize,
    stream: Stream,
    file: Follow,
}

impl OutputFeed {
    pub(super) fn new(id: Option<Id>, wanted: &Subscribe, job: &Job, commands: &[Command]) -> Result<Self, Refused> {
        let of_lab: Vec<usize> =
            (0..commands.len()).filter(|number| commands[*number].belongs_to(job.mode, &job.plan)).collect();
        let name = |number: &usize| commands[*number].described.name.as_str();
        for (place, asked) in wanted.commands.iter().flatten().enumerate() {
            if !of_lab.iter().any(|number| name(number) == asked) {
                return Err(no_such_command(place, asked, &of_lab.iter().map(name).collect::<Vec<_>>()));
            }
        }
        let is_wanted = |number: &usize| {
            wanted.commands.as_ref().is_none_or(|names| names.iter().any(|asked| name(number) == asked))
        };
        let mut logs = Vec::new();
        for command in of_lab.into_iter().filter(is_wanted) {
            for (stream, log) in [Stream::Stdout, Stream::Stderr].into_iter().zip(commands[command].logs()) {
                if wanted.stream.is_none_or(|only| only == stream) {
                    let path = job.folder.path().join(log);
                    let start = Follow::beginning_at(path.clone(), 0);
                    let file = if wanted.from_start { Ok(start) } else { Follow::from_end(path) };
                    let file = file.map_err(|error| Refused::usage(format!("reading {}: {error}", log.display())))?;
                    logs.push(Log { command, stream, file });
                }
            }
        }
        Ok(Self { id, logs, next: 0, quiet: 0, again: Instant::now() })
    }

    /// When it is worth the while to ask for a piece.
    pub(super) fn next_look(&self) -> Instant {
        self.again
    }

    /// All logs are to be looked at now.
    pub(super) fn look_now(&mut self) {
        (self.quiet, self.again) = (0, Instant::now());
    }

    /// The next lines, if a few logs show some; or why there are no more.
    pub(super) fn next(&mut self, commands: &[Command]) -> Result<Option<Event>, String> {
        for _ in 0..LOGS_AT_ONCE {
            if self.quiet >= self.logs.len() {
                (self.quiet, self.again) = (0, Instant::now() + PAUSE);
                return Ok(None);
            }
            let place = self.next;
            self.next = (place + 1) % self.logs.len();
            let log = &mut self.logs[place];
            let command = &commands[log.command];
            let unfinished = if command.ended.is_some() { Unfinished::Last } else { Unfinished::Cut };
            let name = &command.described.name;
            let piece =
                log.file.next(PIECE, unfinished).map_err(|error| format!("reading the log of {name}: {error}"))?;
            let Some(piece) = piece else {
                self.quiet += 1;
                continue;
            };
            self.quiet = 0;
            let text = piece.bytes.strip_suffix(b"\n").unwrap_or(&piece.bytes);
            let lines = text.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned());
            return Ok(Some(Event::Output(Output {
                command: name.clone(),
                node: command.node().to_owned(),
                stream: log.stream,
                lines: lines.collect(),
                partial: piece.is_cut,
            })));
        }
        Ok(None)
    }
}

fn no_such_command(place: usize, name: &str, known: &[&str]) -> Refused {
    let known = match known {
        [] => "it has none".to_owned(),
        _ => format!("there are {}", known[..known.len().min(NAMES_LISTED)].join(", ")),
    };
    let message = format!("no command of this lab is called `{name}`: {known}");
    Refused { key: Some(format!("commands[{place}]")), ..Refused::usage(message) }
}
