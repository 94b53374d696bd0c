//! The logs of commands and services in a results folder, while they are written or afterwards.
//!
//! Reading them needs no answer from the lab: the files are read as they grow. So it is the same on every clock and for
//! every kind of node, and a reader that is slow, stops or dies blocks nothing.
//!
//! Programs write to these files directly, never through the lab. `commands.json`, written before the lab is made and
//! again at its end, says which log belongs to which command. The guard writes the report of a lab that could not.

use crate::ReadError;
use crate::regular;
use netloom_judge::CommandRow;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The file in a results folder that names the logs of commands and services.
pub const COMMANDS: &str = "commands.json";
/// The file in a results folder that says when logs grew, of a lab in virtual time that keeps a journal.
pub const LOG_TIMES: &str = "log-times.jsonl";
/// How many bytes are read at once.
const BLOCK: usize = 64 * 1024;
/// A longer line is passed on in parts.
const LONGEST_LINE: usize = 64 * 1024;
/// How many names a message lists.
const NAMES_LISTED: usize = 20;

/// An output stream of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A line that a program wrote.
#[derive(Clone, Copy, Debug)]
pub struct LogLine<'a> {
    /// The name of the command that wrote the line.
    pub command: &'a str,
    /// The node that the command ran on.
    pub node: &'a str,
    /// The number of the command.
    pub number: usize,
    /// The stream to which the program wrote the line.
    pub stream: Stream,
    /// The line without its end, byte by byte.
    pub text: &'a [u8],
}

/// The length of a log at an instant: a line of [`LOG_TIMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrownLog {
    /// The lab time since time zero, at the end of the synchronization round in which it grew.
    pub time_ns: u64,
    /// The number of the command.
    pub number: usize,
    /// The stream to which the program wrote.
    pub stream: Stream,
    /// The length of the log then.
    pub bytes: u64,
}

/// The logs of a lab's commands and services; see the module.
#[derive(Debug)]
pub struct Logs {
    folder: PathBuf,
    logs: Vec<Log>,
}

/// One file.
#[derive(Debug)]
struct Log {
    command: String,
    node: String,
    number: usize,
    stream: Stream,
    path: PathBuf,
    /// How many bytes have been read.
    read: u64,
    /// The beginning of a line whose end has not been written, or has not been read.
    rest: Vec<u8>,
    /// Whether the part before it, of the same line, has been passed on.
    is_cut: bool,
}

/// Takes lines; false when it wants no more.
type Sink<'a> = &'a mut dyn FnMut(&LogLine<'_>) -> bool;

impl Logs {
    /// Opens the logs in a results folder.
    ///
    /// # Errors
    /// [`ReadError::NoResults`] if it is none.
    pub fn in_folder(folder: &Path) -> Result<Self, ReadError> {
        let wrong =
            |error: io::Error| ReadError::NoResults { folder: folder.to_owned(), why: format!("{COMMANDS}: {error}") };
        // The name of the latest one may lead elsewhere soon.
        let folder = folder.canonicalize().map_err(wrong)?;
        let text = regular::read(&folder.join(COMMANDS)).map_err(wrong)?;
        let rows: Vec<CommandRow> = serde_json::from_slice(&text).map_err(|error| wrong(error.into()))?;
        let both = |(number, row): (usize, &CommandRow)| {
            let log = |stream, path: &Path| Log {
                command: row.name.clone(),
                node: row.node.clone(),
                number,
                stream,
                path: folder.join(path),
                read: 0,
                rest: Vec::new(),
                is_cut: false,
            };
            [log(Stream::Stdout, &row.stdout), log(Stream::Stderr, &row.stderr)]
        };
        let logs = rows.iter().enumerate().flat_map(both).collect();
        Ok(Self { folder, logs })
    }

    /// Keeps only the logs of commands and nodes with these names; without names, all logs.
    ///
    /// # Errors
    /// [`ReadError::Unfit`] if there is no such command or node.
    pub fn select(&mut self, names: &[String]) -> Result<(), ReadError> {
        for name in names {
            if !self.logs.iter().any(|log| log.is_of(name)) {
                let known: Vec<String> =
                    self.sources().take(NAMES_LISTED).map(|(command, node)| source(command, node)).collect();
                let known =
                    if known.is_empty() { "it has none".into() } else { format!("there are {}", known.join(", ")) };
                return Err(ReadError::Unfit(format!(
                    "no command is called `{name}`, or runs on a node `{name}`: {known}"
                )));
            }
        }
        self.logs.retain(|log| names.is_empty() || names.iter().any(|name| log.is_of(name)));
        Ok(())
    }

    /// Keeps only the logs of this stream.
    pub fn only(&mut self, stream: Stream) {
        self.logs.retain(|log| log.stream == stream);
    }

    /// Leaves out all but the last `lines` of each output so far.
    ///
    /// # Errors
    /// [`ReadError::Log`] if one cannot be read.
    pub fn skip_to_last(&mut self, lines: usize) -> Result<(), ReadError> {
        self.logs.iter_mut().try_for_each(|log| log.skip_to_last(lines).map_err(cannot_read(&log.path)))
    }

    /// Returns the names of the commands, and of the nodes that they run on.
    pub fn sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut last = None;
        let is_next = move |log: &&Log| last.replace(log.number) != Some(log.number);
        self.logs.iter().filter(is_next).map(|log| (log.command.as_str(), log.node.as_str()))
    }

    /// Returns the results folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Passes on the lines that have been written since the last time; false when the sink wants no more.
    ///
    /// # Errors
    /// [`ReadError::Log`] if a log cannot be read.
    pub fn read(&mut self, sink: Sink<'_>) -> Result<bool, ReadError> {
        for log in &mut self.logs {
            if !log.read(sink).map_err(cannot_read(&log.path))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Passes on the last lines that have no end, once no program writes them any more.
    pub fn finish(&mut self, sink: Sink<'_>) {
        for log in self.logs.iter_mut().filter(|log| !log.rest.is_empty()) {
            if !log.pass_on(sink) {
                return;
            }
        }
    }
}

/// What lines are headed with.
fn source(command: &str, node: &str) -> String {
    format!("{command} on {node}")
}

fn cannot_read(path: &Path) -> impl FnOnce(io::Error) -> ReadError {
    move |source| ReadError::Log { path: path.to_owned(), source }
}

impl Log {
    fn is_of(&self, name: &str) -> bool {
        self.command == name || self.node == name
    }

    /// How long the file is; none if it has not been made.
    fn length(&self) -> io::Result<Option<u64>> {
        match fs::metadata(&self.path) {
            Ok(file) => Ok(Some(file.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn skip_to_last(&mut self, lines: usize) -> io::Result<()> {
        if let Some(length) = self.length()? {
            self.read = last_lines_begin(&mut regular::open(&self.path)?, length, lines)?;
        }
        Ok(())
    }

    /// What is there by now, and no more: a program that writes without end does not block the other logs.
    fn read(&mut self, sink: Sink<'_>) -> io::Result<bool> {
        let Some(length) = self.length()? else { return Ok(true) };
        if length < self.read {
            // It was truncated.
            (self.read, self.is_cut) = (0, false);
            self.rest.clear();
        }
        if length == self.read {
            return Ok(true);
        }
        let mut file = regular::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut news = file.take(length - self.read);
        let mut block = vec![0; BLOCK];
        loop {
            match news.read(&mut block) {
                Ok(0) => return Ok(true),
                Ok(count) => {
                    self.read += count as u64;
                    if !self.take(&block[..count], sink) {
                        return Ok(false);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn take(&mut self, bytes: &[u8], sink: Sink<'_>) -> bool {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.rest.extend_from_slice(part);
            let is_end = part.ends_with(b"\n");
            if self.is_cut && self.rest == b"\n" {
                // All of the line has been passed on.
                self.rest.clear();
            } else if (is_end || self.rest.len() >= LONGEST_LINE) && !self.pass_on(sink) {
                return false;
            }
            self.is_cut = !is_end && (self.is_cut || self.rest.is_empty());
        }
        true
    }

    fn pass_on(&mut self, sink: Sink<'_>) -> bool {
        let line = std::mem::take(&mut self.rest);
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        let Self { command, node, number, stream, .. } = &*self;
        sink(&LogLine { command, node, number: *number, stream: *stream, text })
    }
}

/// Where the last `lines` of a file of this length begin.
fn last_lines_begin(file: &mut File, length: u64, lines: usize) -> io::Result<u64> {
    if lines == 0 {
        return Ok(length);
    }
    let (mut end, mut found) = (length, 0);
    let mut block = vec![0; BLOCK];
    while end > 0 {
        let begin = end.saturating_sub(BLOCK as u64);
        let part = &mut block[..usize::try_from(end - begin).unwrap_or(BLOCK)];
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(part)?;
        for (place, _) in part.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            let next = begin + place as u64 + 1;
            // What is behind the last line's end is not a line.
            found += usize::from(next < length);
            if found == lines {
                return Ok(next);
            }
        }
        end = begin;
    }
    Ok(0)
}

#[cfg(test)]
mod tests;
