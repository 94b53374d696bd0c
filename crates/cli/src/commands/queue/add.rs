//! `netloom queue add`

use crate::args::{Cli, Command, QueueAddArgs, RunArgs, SweepArgs};
use crate::commands::sweep::UNASKED;
use crate::commands::{DONE, Failure, Outcome, lab_file, print, print_json};
use clap::Parser;
use netloom_import::Format;
use netloom_judge::{ExitCode, quantity};
use netloom_lab::{Clock, Sweep};
use netloom_queue::{Job, Order, Store, start_worker};
use netloom_sweep::{check, needs_one_processor};
use std::ffi::OsString;
use std::path::Path;

pub(super) fn add(args: &QueueAddArgs) -> Outcome {
    super::warn_of_line();
    let store = Store::own()?;
    // Nothing is added unless everything is right.
    let orders = args.files.iter().map(|file| order(file, args)).collect::<Result<Vec<_>, _>>()?;
    let mut jobs: Vec<Job> = Vec::new();
    for (order, text) in &orders {
        jobs.push(store.find(store.add(order, text)?)?);
    }
    start_worker(&store, &super::program()?)?;
    if args.json {
        return print_json(&jobs);
    }
    for job in &jobs {
        let need =
            job.processors.map_or_else(|| "all processors".into(), |count| quantity::counted(count, "processor"));
        print(&format!("job {}: {} ({}), waits for {need}", job.job, job.lab, job.file.display()))?;
    }
    DONE
}

/// What is to be done with a lab file, and its text.
fn order(file: &Path, args: &QueueAddArgs) -> Result<(Order, String), Failure> {
    let text = if file.is_dir() { Ok(String::new()) } else { netloom_lab::read(file) };
    let text = text.map_err(|error| Failure::new(ExitCode::LabFile, error))?;
    let sweep = if file.is_dir() || Format::of(file, &text).is_some() {
        None
    } else {
        let sweep = Sweep::read(&text, &file.to_string_lossy()).map_err(|found| lab_file::refused(&found))?;
        Some(sweep).filter(|many| many.points().saturating_mul(many.repetitions()) > 1)
    };
    let command = command(if sweep.is_some() { "sweep" } else { "run" }, file, args)?;
    let words = std::iter::once("netloom".into()).chain(command.iter().skip(1).cloned());
    let parsed = Cli::try_parse_from(words).map_err(|error| Failure::new(ExitCode::Usage, error.to_string()))?;
    match (sweep, parsed.command) {
        (Some(sweep), Command::Sweep(options)) => of_sweep(sweep, text, command, args, &options),
        (_, Command::Run(options)) => of_run(command, args, &options),
        _ => Err(Failure::new(ExitCode::Usage, "options of `netloom run` or `netloom sweep` belong behind `--`")),
    }
}

/// What is to be started. Its options are checked now, not when its turn has come.
fn command(word: &str, file: &Path, args: &QueueAddArgs) -> Result<Vec<OsString>, Failure> {
    let mut command: Vec<OsString> = vec![super::program()?.into(), word.into(), file.into()];
    command.extend(args.options.iter().cloned());
    Ok(command)
}

fn of_run(command: Vec<OsString>, args: &QueueAddArgs, options: &RunArgs) -> Result<(Order, String), Failure> {
    let file = &options.file;
    let loaded = lab_file::load(file, &options.overrides.foreign, options.overrides.clock)?;
    let plan = &loaded.lab.plan;
    let name = options.overrides.name.clone().unwrap_or_else(|| plan.name.clone());
    let need = (plan.clock == Clock::Virtual).then_some(1);
    Ok((finish(name, file, command, args, need)?, loaded.text))
}

fn of_sweep(
    sweep: Sweep,
    text: String,
    command: Vec<OsString>,
    args: &QueueAddArgs,
    options: &SweepArgs,
) -> Result<(Order, String), Failure> {
    let file = &options.file;
    let sweep = sweep.with_clock(options.clock);
    let checked = check(&sweep, file)?;
    let runs = sweep.points() * sweep.repetitions();
    if runs > UNASKED && !options.yes {
        let message =
            format!("this file describes {runs} runs: `netloom queue add {} -- --yes` adds them", file.display());
        return Err(Failure::new(ExitCode::Usage, message));
    }
    // It packs its runs on the processors that it gets.
    let jobs = options.jobs.map(std::num::NonZeroUsize::get).filter(|_| needs_one_processor(&checked));
    let mut order = finish(checked.lab.clone(), file, command, args, jobs)?;
    order.again = if options.resume || options.retry { Vec::new() } else { vec!["--resume".into()] };
    Ok((order, text))
}

fn finish(
    name: String,
    file: &Path,
    command: Vec<OsString>,
    args: &QueueAddArgs,
    need: Option<usize>,
) -> Result<Order, Failure> {
    let order = Order::from_here(name, file.to_owned(), command)?;
    let said = args.processors.map(std::num::NonZeroUsize::get);
    Ok(Order { processors: said.or(need), stays: said.is_some(), text_option: "--as-played".into(), ..order })
}
