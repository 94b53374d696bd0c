//! A debugger at an instant: `netloom run --stop-at TIME --gdb NODE:PATTERN`.
//!
//! A user at a terminal talks to gdb, and lab time stands meanwhile. With commands from the command line, gdb is one more entry of the timeline. It runs in the node, beside the program, in lab time: the run up to it is the one without it, and it finds the
//! same at the same instant each time.

use super::{Failure, lab_file};
use crate::args::{Foreign, Overrides, RunArgs};
use crate::talk;
use netloom_control::Exec;
use netloom_judge::{ExitCode, Report};
use netloom_results::{LogLine, Logs};
use std::io::{IsTerminal, stdin, stdout};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

/// The name of the command.
const NAME: &str = "gdb";
/// The command of gdb unless the user says something.
const USUAL: &str = "thread apply all backtrace";
/// As the only command: commands are lines of standard input.
const FROM_INPUT: &str = "-";
/// Finds the program. What is searched is in the environment, so that this command line does not match.
const FIND: &str = "for pid in $(pgrep -f -- \"$NETLOOM_GDB_PATTERN\"); do [ $pid = $$ ] || break; done; \
    [ \"${pid:-$$}\" != $$ ] || { echo \"no program matches $NETLOOM_GDB_PATTERN\"; exit 1; }; ";
/// Runs gdb with the commands of the command line.
const BATCH: &str = "printf '%s\\n' 'set pagination off' 'set confirm off' \"$NETLOOM_GDB_COMMANDS\" > /tmp/netloom-gdb && \
    exec gdb -q -nx -batch -p $pid -x /tmp/netloom-gdb 2>&1";
/// Runs gdb with commands that come one by one. It prompts for them without a terminal, too.
const TALK: &str = "exec gdb -q -nx -iex 'set interactive-mode on' -iex 'set editing off' -iex 'set pagination off' \
    -iex 'set confirm off' -iex 'set debuginfod enabled off' -p $pid";

/// The settings of a run to which gdb was added.
pub(super) struct Attached {
    pub(super) overrides: Overrides,
    /// The lab file that they name, which is there until it has been read.
    text: PathBuf,
}

impl Drop for Attached {
    fn drop(&mut self) {
        // It has been read.
        let _ = std::fs::remove_file(&self.text);
    }
}

/// Adds gdb to the run, if it is asked for.
pub(super) fn attached(args: &RunArgs) -> Result<Option<Attached>, Failure> {
    let (Some(place), Some(at)) = (&args.gdb, args.stop_at) else { return Ok(None) };
    let (node, pattern) = node_and_pattern(place)?;
    if is_talk(args) {
        let refused = |why: &str| Failure::new(ExitCode::Usage, format!("--gdb: {why}"));
        return match () {
            () if args.json => {
                Err(refused("gdb's words and a report in JSON are both for standard output: leave out --json"))
            }
            () if args.dilate.auto_dilate => Err(refused("only virtual time can be held: leave out --auto-dilate")),
            () => Ok(None),
        };
    }
    let foreign = &args.overrides.foreign;
    let text = lab_file::text(&args.file, foreign)?;
    let usual = [USUAL.to_owned()];
    let commands = if args.gdb_command.is_empty() { &usual[..] } else { &args.gdb_command };
    let json = |word: &str| serde_json::Value::from(word).to_string();
    let entry = format!(
        "{{at: {at}, on: {}, as: {NAME}, may_fail: true, run: {}, env: {{NETLOOM_GDB_PATTERN: {}, NETLOOM_GDB_COMMANDS: {}}}}}",
        json(node),
        json(&format!("{FIND}{BATCH}")),
        json(pattern),
        json(&commands.join("\n"))
    );
    let name = args.file.to_string_lossy();
    let text = netloom_lab::with_entry(&text, &name, &entry).map_err(|found| lab_file::refused(&found))?;
    let path = std::env::temp_dir().join(format!("netloom-gdb-{}.yaml", std::process::id()));
    let written = std::fs::write(&path, text);
    written.map_err(|error| Failure::new(ExitCode::Machine, format!("--gdb: writing a lab file: {error}")))?;
    let foreign = Foreign { as_played: Some(path.clone()), ..foreign.clone() };
    Ok(Some(Attached { overrides: Overrides { foreign, ..args.overrides.clone() }, text: path }))
}

fn node_and_pattern(place: &str) -> Result<(&str, &str), Failure> {
    let wrong = || Failure::new(ExitCode::Usage, "--gdb: write NODE:PATTERN");
    place.split_once(':').filter(|(node, pattern)| !node.is_empty() && !pattern.is_empty()).ok_or_else(wrong)
}

/// Returns whether the user talks to gdb.
pub(super) fn is_talk(args: &RunArgs) -> bool {
    let is_at_terminal =
        || args.gdb_command.is_empty() && !args.json && stdin().is_terminal() && stdout().is_terminal();
    args.gdb.is_some() && (args.gdb_command == [FROM_INPUT] || is_at_terminal())
}

/// A talk with gdb, in a thread of its own: the main thread is the lab's guard.
pub(super) struct Talk {
    exec: Exec,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Talk {
    /// Prepares a talk, if the user wants one.
    pub(super) fn wanted(args: &RunArgs) -> Result<Option<Self>, Failure> {
        let Some(place) = args.gdb.as_deref().filter(|_| is_talk(args)) else { return Ok(None) };
        let (node, pattern) = node_and_pattern(place)?;
        let argv = ["sh", "-c"].map(str::to_owned).into_iter().chain([format!("{FIND}{TALK}")]).collect();
        let env = vec![("NETLOOM_GDB_PATTERN".to_owned(), pattern.to_owned())];
        let exec = Exec { node: node.to_owned(), argv, env, cwd: "/".to_owned(), terminal: false, user: None };
        Ok(Some(Self { exec, is_over: Arc::default(), thread: None }))
    }

    /// Begins once the lab is there: no thread may exist while it is forked.
    pub(super) fn begin(&mut self, lab: &str) {
        if self.thread.is_some() {
            return;
        }
        let (lab, exec, is_over) = (lab.to_owned(), self.exec.clone(), Arc::clone(&self.is_over));
        let talk = move || {
            if let Err(error) = netloom_control::debug(&lab, exec, &is_over) {
                talk::warning(&format!("--gdb: {error}"));
            }
        };
        match Builder::new().name("netloom-gdb".into()).spawn(talk) {
            Ok(thread) => self.thread = Some(thread),
            Err(error) => talk::warning(&format!("--gdb: starting a thread: {error}")),
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It has said what went wrong.
            let _ = thread.join();
        }
    }
}

/// Returns the words of gdb in a run.
pub(super) fn said(report: &Report) -> Result<String, Failure> {
    let mut logs = Logs::in_folder(&report.results)?;
    let mut text = String::new();
    let mut take = |line: &LogLine<'_>| {
        if line.command == NAME {
            text.push_str(&String::from_utf8_lossy(line.text));
            text.push('\n');
        }
        true
    };
    logs.read(&mut take)?;
    logs.finish(&mut take);
    Ok(format!("\ngdb\n{}", text.trim_end()))
}
