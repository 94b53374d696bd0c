//! One run, in a process of its own.

use crate::error::HuntError;
use netloom_judge::{ExitCode, Report};
use netloom_regular::{ORDINARY, replace};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

/// How runs are started.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// What plays a run: this program, or what hands it to another machine.
    pub(crate) program: PathBuf,
    /// Its arguments before those of a run.
    pub(crate) words: Vec<OsString>,
    /// Further options of `netloom run`.
    pub(crate) options: Vec<OsString>,
    /// The folder in which runs have their results, each slot its own.
    pub(crate) work: PathBuf,
}

/// A run that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<ExitCode>,
    pub(crate) report: Report,
}

impl Start {
    /// The folder of a slot.
    pub(crate) fn slot(&self, slot: usize) -> PathBuf {
        self.work.join(format!("slot-{slot:02}"))
    }

    /// Runs a lab of this text to its end. `started` is told the number of its process.
    pub(crate) fn run(
        &self,
        slot: usize,
        (lab_file, text): (&Path, &str),
        has_report: bool,
        started: &mut dyn FnMut(u32),
    ) -> Result<Ended, HuntError> {
        let home = self.slot(slot);
        fs::create_dir_all(&home).map_err(HuntError::file(&home))?;
        let path = home.join("lab.yaml");
        let write = |file: &mut std::io::BufWriter<File>| file.write_all(text.as_bytes());
        replace(&path, write).map_err(HuntError::file(&path))?;
        let said = home.join("messages.txt");
        let messages = File::create(&said).map_err(HuntError::file(&said))?;
        let mut command = Command::new(&self.program);
        command.args(&self.words).arg("run").arg(lab_file).arg("--as-played").arg(&path).arg("--results").arg(&home);
        command.args(["--quiet", "--json", "--annotations", "never"]).args(&self.options);
        if !has_report {
            command.arg("--no-report");
        }
        command.arg("--parent").arg(std::process::id().to_string());
        // Keys at the terminal are for the hunt, which passes on what it wants.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(messages);
        let failed = |error| HuntError::Machine(format!("starting {}: {error}", self.program.display()));
        let mut child = command.spawn().map_err(failed)?;
        started(child.id());
        let mut printed = Vec::new();
        if let Some(mut out) = child.stdout.take() {
            // What it printed before it was killed is no report.
            let _ = out.read_to_end(&mut printed);
        }
        let status = child.wait().map_err(failed)?;
        let code = status.code().and_then(|code| u8::try_from(code).ok()).and_then(ExitCode::from_number);
        let report: Option<Report> = serde_json::from_slice(&printed).ok();
        let report = report.unwrap_or_else(|| Report { error: Some(why(status, &said)), ..Report::default() });
        if code == Some(ExitCode::Results) {
            return Err(HuntError::Results(report.error.unwrap_or_else(|| "the disk is full".into())));
        }
        Ok(Ended { code, report })
    }
}

/// Why a run has no report.
fn why(status: ExitStatus, said: &Path) -> String {
    let how = match (status.signal(), status.code()) {
        (Some(signal), _) => format!("it was killed by signal {signal}"),
        (None, Some(code)) => format!("it ended with code {code} and without a report"),
        (None, None) => "it ended without a report".into(),
    };
    let messages = netloom_regular::read_text(said, 1 << 20).unwrap_or_default();
    match messages.lines().last() {
        Some(last) => format!("{how}; it said: {last}"),
        None => how,
    }
}

/// Creates a file that is there for other processes of this user only when it is complete.
pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), HuntError> {
    let write = |file: &mut std::io::BufWriter<File>| {
        serde_json::to_writer_pretty(&mut *file, value)?;
        writeln!(file)
    };
    netloom_regular::replace_durably(path, ORDINARY, write).map_err(HuntError::file(path))
}
