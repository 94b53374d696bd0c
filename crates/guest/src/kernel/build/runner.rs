//! Runs the programs of a build, one after the other, with one log.

use super::BuildError;
use super::error::Attempt;
use super::interrupt::Interrupt;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// How many lines of a failed program's output are shown.
const LAST_LINES: usize = 12;

/// And so many before them in which a compiler says that something is wrong: with many at a time these are rarely last.
const ERROR_LINES: usize = 6;

/// Variables of an outer `make`, or of other builds of kernels, that must not reach ours.
const FOREIGN: [&str; 15] = [
    "ARCH",
    "CFLAGS",
    "CROSS_COMPILE",
    "KBUILD_EXTMOD",
    "KBUILD_OUTPUT",
    "KCFLAGS",
    "KCONFIG_CONFIG",
    "KCPPFLAGS",
    "LDFLAGS",
    "LOCALVERSION",
    "MAKEFILES",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    "SUBARCH",
];

pub(super) struct Runner<'a> {
    log: File,
    path: PathBuf,
    interrupt: &'a Interrupt,
}

impl<'a> Runner<'a> {
    /// Begins a new log.
    pub(super) fn new(path: PathBuf, interrupt: &'a Interrupt) -> Result<Self, BuildError> {
        let log = File::create(&path).attempted(|| format!("write {}", path.display()))?;
        Ok(Self { log, path, interrupt })
    }

    /// Runs a program to its end, gives every line of its output to `each` and to the log.
    ///
    /// # Errors
    /// When the program fails, with what it said at the end; when a signal asked for the end.
    pub(super) fn run(&mut self, what: &str, command: Command, each: &mut dyn FnMut(&str)) -> Result<(), BuildError> {
        let said = self.attempt(what, command, each)?;
        said.map_or(Ok(()), |said| Err(BuildError::Step { what: what.to_owned(), said, log: self.path.clone() }))
    }

    /// Like [`run`](Self::run); a program that fails is not an error, but `Some` of what it said.
    pub(super) fn attempt(
        &mut self,
        what: &str,
        mut command: Command,
        each: &mut dyn FnMut(&str),
    ) -> Result<Option<Vec<String>>, BuildError> {
        let began = |error: io::Result<()>| error.attempted(|| format!("write {}", self.path.display()));
        began(writeln!(&self.log, "== {what}: {command:?}"))?;
        let (reader, writer) = io::pipe().attempted(|| "make a pipe".to_owned())?;
        for variable in FOREIGN {
            command.env_remove(variable);
        }
        let other = writer.try_clone().attempted(|| "copy a pipe".to_owned())?;
        command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(other).stderr(writer).process_group(0);
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().attempted(|| format!("start {program}"))?;
        // The command holds the pipe's other end, which would keep it open for ever.
        drop(command);
        let group = i32::try_from(child.id()).expect("the kernel's process numbers are positive and small");
        self.interrupt.working(group);
        let said = self.listen(reader, each);
        let status = child.wait();
        self.interrupt.working(0);
        if self.interrupt.came() {
            return Err(BuildError::Interrupted);
        }
        let status = status.attempted(|| format!("wait for {program}"))?;
        let said = said.attempted(|| format!("read what {program} says"))?;
        Ok((!status.success()).then(|| said.into_lines()))
    }

    fn listen(&self, reader: io::PipeReader, each: &mut dyn FnMut(&str)) -> io::Result<Said> {
        let mut said = Said::default();
        for line in BufReader::new(reader).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            writeln!(&self.log, "{line}")?;
            each(&line);
            said.take_in(&line);
        }
        Ok(said)
    }
}

/// What is worth showing of a program's output when it fails.
#[derive(Default)]
struct Said {
    errors: Vec<String>,
    last: VecDeque<String>,
}

impl Said {
    fn take_in(&mut self, line: &str) {
        if self.last.len() == LAST_LINES
            && let Some(oldest) = self.last.pop_front()
            && self.errors.len() < ERROR_LINES
            && (oldest.contains("error: ") || oldest.contains("***") || oldest.starts_with("E: "))
        {
            self.errors.push(oldest);
        }
        self.last.push_back(line.to_owned());
    }

    fn into_lines(self) -> Vec<String> {
        self.errors.into_iter().chain(self.last).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_program_said_is_shown_with_early_errors_first() {
        let mut said = Said::default();
        said.take_in("a.c:1: error: no such thing");
        for number in 0..40 {
            said.take_in(&format!("  CC      file{number}.o"));
        }
        said.take_in("make: *** [Makefile:1: all] Error 2");
        let lines = said.into_lines();
        assert_eq!(lines.len(), 1 + LAST_LINES);
        assert_eq!(lines[0], "a.c:1: error: no such thing");
        assert_eq!(lines[LAST_LINES], "make: *** [Makefile:1: all] Error 2");
    }
}
