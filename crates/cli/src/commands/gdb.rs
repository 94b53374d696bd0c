//! A debugger at an instant: `netloom run --stop-at TIME --gdb NODE:PATTERN`.
//!
//! gdb is one more entry of the timeline. It runs in the node, beside the program, in lab time: the run up to it is the one without it, and it finds the
//! same at the same instant each time.

use super::{Failure, lab_file};
use crate::args::{Foreign, Overrides, RunArgs};
use netloom_judge::{ExitCode, Report};
use netloom_results::{LogLine, Logs};
use std::path::PathBuf;

/// The name of the command.
const NAME: &str = "gdb";
/// The command of gdb unless the user says something.
const USUAL: &str = "thread apply all backtrace";
/// Finds the program and runs gdb. What is searched is in the environment, so that this command line does not match.
const SCRIPT: &str = "for pid in $(pgrep -f -- \"$NETLOOM_GDB_PATTERN\"); do [ $pid = $$ ] || break; done; \
    [ \"${pid:-$$}\" != $$ ] || { echo \"no program matches $NETLOOM_GDB_PATTERN\"; exit 1; }; \
    printf '%s\\n' 'set pagination off' 'set confirm off' \"$NETLOOM_GDB_COMMANDS\" > /tmp/netloom-gdb && \
    exec gdb -q -nx -batch -p $pid -x /tmp/netloom-gdb 2>&1";

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
    let usage = |why: String| Failure::new(ExitCode::Usage, format!("--gdb: {why}"));
    let (node, pattern) = place.split_once(':').ok_or_else(|| usage("write NODE:PATTERN".into()))?;
    let foreign = &args.overrides.foreign;
    let text = lab_file::text(&args.file, foreign)?;
    let usual = [USUAL.to_owned()];
    let commands = if args.gdb_command.is_empty() { &usual[..] } else { &args.gdb_command };
    let json = |word: &str| serde_json::Value::from(word).to_string();
    let entry = format!(
        "{{at: {at}, on: {}, as: {NAME}, may_fail: true, run: {}, env: {{NETLOOM_GDB_PATTERN: {}, NETLOOM_GDB_COMMANDS: {}}}}}",
        json(node),
        json(SCRIPT),
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
