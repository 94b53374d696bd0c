//! One run, in a process of its own.

use crate::record::{Outcome, RunRecord, figures, missed};
use crate::slots::Share;
use crate::{SweepError, SweepFolder};
use netloom_host::processors;
use netloom_judge::{ExitCode, Judgement, Report};
use netloom_lab::{PreparedRun, Run, Sweep};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::time::Instant;

/// How runs are started.
#[derive(Clone, Debug)]
pub(crate) struct Start<'a> {
    /// This program.
    pub(crate) program: &'a Path,
    /// The lab file, from whose folder the names of files count.
    pub(crate) lab_file: &'a Path,
    /// Further options of `netloom run`.
    pub(crate) options: &'a [OsString],
}

/// A run that goes on.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) number: u64,
    pub(crate) share: Share,
    pid: Pid,
    seed: u64,
    began: Instant,
}

/// The process of a run has ended.
pub(crate) struct Ended {
    pub(crate) number: u64,
    status: Option<ExitStatus>,
    /// What it printed; none if that is no report.
    report: Option<Box<Report>>,
}

/// How far a run came.
pub(crate) enum Found {
    /// It has ended, and counts.
    Record(Box<RunRecord>),
    /// It was interrupted: as if it had never begun.
    Nothing,
    /// Its results could not be written; why.
    NoRoom(String),
    /// A lab of its name is still there.
    Again,
}

impl Running {
    /// Starts a run, whose end is reported over `ended`.
    pub(crate) fn start(
        start: &Start<'_>,
        (number, share): (u64, Share),
        prepared: &PreparedRun,
        folder: &SweepFolder,
        ended: &Sender<Ended>,
    ) -> Result<Self, SweepError> {
        let home = folder.run(number);
        fs::create_dir_all(&home).map_err(SweepError::file(&home))?;
        let text = home.join("lab.yaml");
        folder.write_with(&text, |file| std::io::Write::write_all(file, prepared.text.as_bytes()))?;
        let said = home.join("messages.txt");
        let said = File::create(&said).map_err(SweepError::file(&said))?;
        let mut command = Command::new(start.program);
        command.arg("run").arg(start.lab_file).arg("--as-played").arg(&text);
        command.arg("--results").arg(folder.path().join("runs")).args(["--quiet", "--json"]);
        command.args(start.options).arg("--parent").arg(std::process::id().to_string());
        // Keys at the terminal are for the sweep, which passes on what it wants.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(said);
        let child = on_processors(&share, || command.spawn());
        let child =
            child.map_err(|error| SweepError::Machine(format!("starting {}: {error}", start.program.display())))?;
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("the kernel's numbers are no larger"));
        let ended = ended.clone();
        let wait = move || drop(ended.send(wait_for(child, number)));
        std::thread::Builder::new()
            .name("netloom-run".into())
            .spawn(wait)
            .map_err(|error| SweepError::Machine(format!("starting a thread: {error}")))?;
        Ok(Self { number, share, pid, seed: prepared.lab.plan.seed.get(), began: Instant::now() })
    }

    /// Asks the run to end.
    pub(crate) fn signal(&self, signal: Signal) {
        // It may have ended already.
        let _ = kill(self.pid, signal);
    }

    /// What came of the run. Once the sweep is `stopping`, only what has a verdict counts.
    pub(crate) fn found(&self, ended: Ended, sweep: &Sweep, folder: &SweepFolder, stopping: bool) -> Found {
        let code = ended.status.and_then(|status| status.code()).and_then(|code| u8::try_from(code).ok());
        let known = code.and_then(ExitCode::from_number);
        let report = ended.report.unwrap_or_default();
        if known == Some(ExitCode::Results) {
            return Found::NoRoom(report.error.unwrap_or_else(|| "its results could not be written".into()));
        }
        if known == Some(ExitCode::NoSuchLab) && !stopping {
            return Found::Again;
        }
        let is_over = report.error.is_none()
            && !report.wall_limit_reached
            && !report.interrupted
            && matches!(
                known,
                Some(ExitCode::Success | ExitCode::Unmet | ExitCode::NotAsDescribed | ExitCode::NotJudged)
            );
        if report.interrupted || known == Some(ExitCode::Interrupted) || stopping && !is_over {
            return Found::Nothing;
        }
        // A run that was over before anything happened shows nothing, and so it does not count. One that was to send nothing does.
        let outcome = match report.verdict.judgement {
            _ if !is_over || known == Some(ExitCode::NotJudged) => Outcome::Failed,
            Judgement::NotAsDescribed => Outcome::NotAsDescribed,
            // Whoever did something in it from outside made it another run than the others.
            Judgement::AsDescribed | Judgement::NotJudged if !report.interventions.is_empty() => {
                Outcome::NotAsDescribed
            }
            Judgement::AsDescribed | Judgement::NotJudged => Outcome::AsDescribed,
        };
        let why = match outcome {
            Outcome::AsDescribed => None,
            Outcome::NotAsDescribed if report.verdict.judgement != Judgement::NotAsDescribed => {
                Some(format!("a client did something during the run: {}", report.interventions.join(", ")))
            }
            Outcome::NotAsDescribed => Some(report.verdict.headline()),
            Outcome::Failed if is_over => Some(report.verdict.headline()),
            Outcome::Failed => Some(why_failed(&report, ended.status, &folder.run(self.number))),
        };
        let run = run_of(sweep, self.number);
        let parameters = sweep.parameters().into_iter().map(str::to_owned).zip(sweep.values(run.point)).collect();
        let unmet = report.expectations.iter().filter(|one| !one.met).count();
        let failed = report.commands.iter().filter(|one| one.failed).count();
        let (figures, judged) = figures(&report);
        Found::Record(Box::new(RunRecord {
            run: self.number + 1,
            point: run.point + 1,
            repetition: run.repetition + 1,
            seed: self.seed,
            parameters,
            outcome,
            exit_code: code,
            why,
            unmet: unmet + failed,
            missed: missed(&report),
            results: below(folder.path(), &report.results),
            lab_ns: report.duration_ns,
            wall_s: self.began.elapsed().as_millis() as f64 / 1e3,
            figures,
            judged,
        }))
    }
}

/// A run by its number from 0: all repetitions of a point follow one another.
pub(crate) fn run_of(sweep: &Sweep, number: u64) -> Run {
    Run { point: number / sweep.repetitions(), repetition: number % sweep.repetitions() }
}

/// Starts something that stays on these processors, if they are not all there are.
fn on_processors<T>(share: &Share, start: impl FnOnce() -> T) -> T {
    let before = processors::allowed().ok().filter(|_| share.is_part && !share.processors.is_empty());
    let is_set = before.is_some() && processors::stay_on(&share.processors).is_ok();
    let started = start();
    if let Some(before) = before.filter(|_| is_set) {
        // They were allowed a moment ago.
        let _ = processors::stay_on(&before);
    }
    started
}

fn wait_for(mut child: Child, number: u64) -> Ended {
    let mut text = Vec::new();
    if let Some(mut out) = child.stdout.take() {
        // What it printed before it was killed is no report.
        let _ = out.read_to_end(&mut text);
    }
    Ended { number, status: child.wait().ok(), report: serde_json::from_slice(&text).ok().map(Box::new) }
}

fn why_failed(report: &Report, status: Option<ExitStatus>, home: &Path) -> String {
    if let Some(error) = &report.error {
        return error.clone();
    }
    if report.wall_limit_reached {
        return "it took longer than --wall-limit".into();
    }
    let signal = status.and_then(|status| status.signal());
    let how =
        signal.map_or_else(|| "it ended without a report".into(), |signal| format!("it was killed by signal {signal}"));
    let said = fs::read_to_string(home.join("messages.txt")).unwrap_or_default();
    match said.lines().last() {
        Some(last) => format!("{how}; it said: {last}"),
        None => how,
    }
}

fn below(folder: &Path, path: &Path) -> Option<PathBuf> {
    path.strip_prefix(folder).ok().map(Path::to_owned).filter(|path| !path.as_os_str().is_empty())
}
