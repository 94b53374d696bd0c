//! Shows lines of programs, each behind its command and node.

use anstyle::{AnsiColor, Style};
use netloom_results::{LogLine, Logs, Stream};
use std::io::{self, Write};

/// The colours of commands, in turn.
const COLOURS: [AnsiColor; 6] =
    [AnsiColor::Cyan, AnsiColor::Yellow, AnsiColor::Green, AnsiColor::Magenta, AnsiColor::Blue, AnsiColor::BrightCyan];

/// See the module.
#[derive(Debug)]
pub(crate) struct LogLines {
    width: usize,
    coloured: bool,
}

impl LogLines {
    /// For these logs: all that is in front of lines is as wide as the widest.
    pub(crate) fn of(logs: &Logs, coloured: bool) -> Self {
        let width = logs.sources().map(|(command, node)| label(command, node).chars().count()).max();
        Self { width: width.unwrap_or(0), coloured }
    }

    /// The line's own bytes are left as they are.
    pub(crate) fn write(&self, out: &mut impl Write, line: &LogLine<'_>) -> io::Result<()> {
        let mark = match line.stream {
            Stream::Stdout => '|',
            Stream::Stderr => '!',
        };
        let style = if self.coloured { COLOURS[line.number % COLOURS.len()].on_default() } else { Style::new() };
        write!(out, "{style}{:1$} {mark}{style:#} ", label(line.command, line.node), self.width)?;
        out.write_all(line.text)?;
        out.write_all(b"\n")
    }
}

fn label(command: &str, node: &str) -> String {
    format!("{command} on {node}")
}
