//! `netloom sweep`

mod cluster;
mod suites;
mod table;
mod watch;

use super::{Failure, Outcome, ci, lab_file, print};
use crate::args::SweepArgs;
use crate::talk;
use netloom_host::signals;
use netloom_judge::{ExitCode, quantity};
use netloom_lab::{Run, Sweep};
use netloom_run::MachineRoot;
use netloom_sweep::{
    Checked, How, Joined, Played, SweepError, SweepFolder, SweepOutcome, Tables, check, page, run_sweep, write_tables,
};
use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, stderr, stdin};
use std::path::{Path, PathBuf};

/// More runs than these are not begun without a question.
pub(super) const UNASKED: u64 = 1_000;
/// The runs of a larger sweep have no pages of their own unless they are asked for: those of ten thousand would take gigabytes.
const MOST_PAGES: u64 = 100;

impl From<SweepError> for Failure {
    fn from(error: SweepError) -> Self {
        match &error {
            SweepError::Lab(found) => lab_file::refused(found),
            _ => Self::new(error.exit_code(), error.to_string()),
        }
    }
}

pub(super) fn sweep(args: &SweepArgs) -> Outcome {
    if let Some(parent) = args.part.parent {
        signals::end_with(parent).map_err(|why| Failure::new(ExitCode::Machine, why))?;
    }
    let text = netloom_lab::read(args.as_played.as_deref().unwrap_or(&args.file))
        .map_err(|error| Failure::new(ExitCode::LabFile, error))?;
    let sweep = Sweep::read(&text, &args.file.to_string_lossy()).map_err(|found| lab_file::refused(&found))?;
    let sweep = sweep.with_clock(args.clock);
    let checked = check(&sweep, &args.file)?;
    if args.list {
        return list(&sweep, &args.file, args.json);
    }
    let root = lab_file::machine_root(args.root.as_deref(), args.start_folder.as_deref())?;
    warn(&sweep, &checked, args, root.as_ref())?;
    let default = || Path::new("sweeps").join(&checked.lab);
    let path = args.out.clone().unwrap_or_else(default);
    ask(&sweep, args)?;
    let resume = args.resume || args.retry;
    if let Some(on) = &args.on {
        return Err(cluster::play(args, on, &path, &played_with(args, None)));
    }
    let played = Played { clock: args.clock, root: root.as_ref().map(|root| root.folder.clone()) };
    let folder = SweepFolder::open(&path, (&sweep, &text, &args.file), &checked, played, resume)?;
    let options = options(args, &sweep, root.as_ref());
    let ended = match args.join.is_empty() {
        true => run(args, &sweep, &checked, &folder, &options),
        false => join(args, &sweep, &folder),
    };
    // What there is can be tabulated however the sweep came to its end, unless the disk is full.
    let tables = write_tables(&sweep, &folder, &checked.expectations).map_err(Failure::from);
    let incomplete = |why: &str| no_room(args, &folder, why);
    let (how, tables) = match (ended, tables) {
        (Err(failure), _) if failure.code == ExitCode::Results => return Err(incomplete(&failure.message)),
        (Ok(SweepOutcome::NoRoom(why)), Err(_)) => return Err(incomplete(&why)),
        (ended, tables) => (ended, tables?),
    };
    let told = ci::report(&args.ci, || suites::suites(&sweep, &folder, &table::rows(&tables)), &args.file);
    let page = (!args.no_report).then(|| page::write(folder.path()));
    let how = how?;
    show(args, &folder, &tables, page.as_ref().and_then(|page| page.as_deref().ok()))?;
    told?;
    let code = conclude(args, &how, &folder, &tables)?;
    // Whatever keeps the page from being written, the rest is there and is reported.
    page.transpose()?;
    Ok(code.number())
}

/// What a single run would be warned of.
fn warn(sweep: &Sweep, checked: &Checked, args: &SweepArgs, root: Option<&MachineRoot>) -> Result<(), Failure> {
    let first = sweep.run(Run { point: 0, repetition: 0 }, &checked.lab).map_err(|found| lab_file::refused(&found))?;
    if !first.lab.warnings.is_empty() {
        talk::say(&first.lab.warnings.render_styled());
    }
    lab_file::unused_traffic(&first.lab);
    lab_file::short_memory(&first.lab);
    lab_file::crowded(&first.lab);
    netloom_run::check_root(&first.lab.plan, root)?;
    let missing = netloom_run::missing_programs(&first.lab.plan, &args.file, root);
    if missing.is_empty() {
        return Ok(());
    }
    Err(netloom_judge::RunError::MissingPrograms(missing).into())
}

/// Before many runs are begun, whoever began them is asked.
fn ask(sweep: &Sweep, args: &SweepArgs) -> Result<(), Failure> {
    let runs = sweep.points() * sweep.repetitions();
    if runs <= UNASKED || !args.join.is_empty() || args.yes || args.resume || args.retry {
        return Ok(());
    }
    let refused = |why: &str| Failure::new(ExitCode::Usage, format!("this file describes {runs} runs: {why}"));
    if !stdin().is_terminal() || !stderr().is_terminal() {
        return Err(refused("--yes runs them, and --list shows them"));
    }
    talk::say(&format!("{} describes {runs} runs. Run them? [y/N]", args.file.display()));
    let mut answer = String::new();
    let read = stdin().lock().read_line(&mut answer);
    match answer.trim() {
        "y" | "Y" | "yes" if read.is_ok() => Ok(()),
        _ => Err(refused("no run was started")),
    }
}

fn run(
    args: &SweepArgs,
    sweep: &Sweep,
    checked: &Checked,
    folder: &SweepFolder,
    options: &[OsString],
) -> Result<SweepOutcome, Failure> {
    let program = std::env::current_exe();
    let program = program.map_err(|error| Failure::new(ExitCode::Machine, format!("finding this program: {error}")))?;
    let how = How {
        program: &program,
        lab_file: &args.file,
        options,
        jobs: args.jobs.map(std::num::NonZeroUsize::get),
        retry: args.retry,
        only: args.only.as_ref(),
    };
    let mut screen = watch::Screen::new(sweep, args.quiet || args.json);
    Ok(run_sweep(sweep, checked, folder, &how, &mut |event, position| screen.show(event, position))?)
}

/// Takes what was run elsewhere.
fn join(args: &SweepArgs, sweep: &Sweep, folder: &SweepFolder) -> Result<SweepOutcome, Failure> {
    let Joined { taken, repeated } = folder.join(sweep, &args.join)?;
    if !args.quiet {
        let runs = |count| quantity::counted(usize::try_from(count).unwrap_or(usize::MAX), "run");
        let again = if repeated == 0 { String::new() } else { format!("; {} were there already", runs(repeated)) };
        talk::say(&format!("took {}{again}", runs(taken)));
    }
    Ok(SweepOutcome::Complete)
}

/// What goes on to each run.
fn options(args: &SweepArgs, sweep: &Sweep, root: Option<&MachineRoot>) -> Vec<OsString> {
    // What is worth reporting is reported of the whole sweep.
    let mut options: Vec<OsString> = vec!["--annotations".into(), "never".into()];
    options.extend(played_with(args, root));
    let is_large = sweep.points().saturating_mul(sweep.repetitions()) > MOST_PAGES;
    if is_large && !args.plots && !args.no_report {
        options.push("--no-report".into());
    }
    options
}

/// How each run is played, as the command line has it.
fn played_with(args: &SweepArgs, root: Option<&MachineRoot>) -> Vec<OsString> {
    let mut options: Vec<OsString> = Vec::new();
    if let Some(clock) = args.clock {
        let word = match clock {
            netloom_lab::Clock::Real => "real".to_owned(),
            netloom_lab::Clock::Virtual => "virtual".to_owned(),
            netloom_lab::Clock::Dilated(dilation) => dilation.to_string(),
        };
        options.extend(["--clock".into(), word.into()]);
    }
    if let Some(kernel) = &args.kernel {
        options.extend(["--kernel".into(), kernel.into()]);
    }
    if let Some(MachineRoot { folder, start }) = root {
        options.extend(["--root".into(), folder.into(), "--start-folder".into(), start.into()]);
    }
    if let Some(limit) = args.wall_limit {
        options.extend(["--wall-limit".into(), format!("{} ns", limit.as_nanos()).into()]);
    }
    if args.plots {
        options.push("--plots".into());
    }
    if args.no_report {
        options.push("--no-report".into());
    }
    options
}

/// The points, and how many runs that are.
fn list(sweep: &Sweep, file: &Path, json: bool) -> Outcome {
    let (points, repetitions) = (sweep.points(), sweep.repetitions());
    if json {
        let names = sweep.parameters();
        let point = |point| {
            let values = names.iter().map(|name| (*name).to_owned()).zip(sweep.values(point));
            values.map(|(name, value)| (name, value.into())).collect::<serde_json::Map<_, _>>()
        };
        let all: Vec<_> = (0..points).map(point).collect();
        return super::print_json(&serde_json::json!({ "repetitions": repetitions, "points": all }));
    }
    print(table::points(sweep).to_string().trim_end())?;
    let runs = quantity::counted(usize::try_from(points * repetitions).unwrap_or(usize::MAX), "run");
    talk::say(&format!("{}: {runs}, all of them right", file.display()));
    super::DONE
}

fn show(args: &SweepArgs, folder: &SweepFolder, tables: &Tables, page: Option<&Path>) -> Result<(), Failure> {
    if args.json {
        let path: PathBuf = folder.path().join("sweep.json");
        let text = std::fs::read_to_string(&path);
        let text = text.map_err(|error| Failure::new(ExitCode::Results, format!("{}: {error}", path.display())))?;
        print(text.trim_end())?;
        return Ok(());
    }
    print(table::results(tables, folder).trim_end())?;
    if let Some(page) = page {
        print(&format!("report: {}", page.display()))?;
    }
    Ok(())
}

fn go_on(args: &SweepArgs, folder: &SweepFolder) -> String {
    format!("netloom sweep {} -o {}", args.file.display(), folder.path().display())
}

fn no_room(args: &SweepArgs, folder: &SweepFolder, why: &str) -> Failure {
    let message = format!(
        "results could not be written, so the sweep is not complete: {why}\nwhen there is room: {} --resume",
        go_on(args, folder)
    );
    Failure::new(ExitCode::Results, message)
}

/// The exit code, which is that of the worst run.
fn conclude(args: &SweepArgs, how: &SweepOutcome, folder: &SweepFolder, tables: &Tables) -> Result<ExitCode, Failure> {
    let go_on = go_on(args, folder);
    match how {
        SweepOutcome::NoRoom(why) => return Err(no_room(args, folder, why)),
        SweepOutcome::Interrupted => {
            talk::say(&format!(
                "interrupted, with {} of {} runs left; to continue: {go_on} --resume",
                tables.missing(),
                tables.total
            ));
            return Ok(ExitCode::Interrupted);
        }
        SweepOutcome::Complete => {}
    }
    if tables.failed > 0 {
        let runs =
            if tables.failed == 1 { "1 run failed".to_owned() } else { format!("{} runs failed", tables.failed) };
        talk::say(&format!("{runs}; to repeat the failed ones: {go_on} --retry"));
        let code = tables.first_failure.and_then(ExitCode::from_number).unwrap_or(ExitCode::Died);
        return Ok(if code == ExitCode::Success { ExitCode::Died } else { code });
    }
    Ok(match () {
        () if tables.not_as_described > 0 => ExitCode::NotAsDescribed,
        () if tables.unmet > 0 || tables.expectations.iter().any(|row| !row.met) => ExitCode::Unmet,
        () => ExitCode::Success,
    })
}
