//! `netloom run`

mod cluster;
mod parts;

use super::{Failure, Outcome, ci, dilate, gdb, lab_file, print, print_json};
use crate::args::RunArgs;
use crate::talk;
use netloom_host::signals::{self, Signals};
use netloom_judge::{ExitCode, Report};
use netloom_results::ci::Suite;
use netloom_results::render;

pub(super) fn run(args: &RunArgs) -> Outcome {
    if args.provenance {
        let request = lab_file::request(&args.file, &args.overrides, args.results.clone())?;
        print_json(&netloom_run::provenance_here(&request)?)?;
        return super::DONE;
    }
    if let Some(on) = &args.machines.on {
        return Err(cluster::play(args, on));
    }
    // A signal that comes before the lab is there ends the lab as soon as it is, so that there is a report in any case.
    let hold = Signals::hold(&[]);
    let held = hold.map_err(|error| Failure::new(ExitCode::Machine, format!("holding signals back: {error}")))?;
    if let Some(parent) = args.part.parent {
        signals::end_with(parent).map_err(|why| Failure::new(ExitCode::Machine, why))?;
    }
    let mut outcome = attempt(args);
    let is_interrupted = std::iter::from_fn(|| held.next()).count() > 0;
    // From here on, a signal ends this process, which may be waiting for whoever reads its output.
    drop(held);
    if let Err(failure @ Failure { report: None, .. }) = &mut outcome
        && is_interrupted
    {
        failure.code = ExitCode::Interrupted;
    }
    if args.json {
        match &outcome {
            Ok(report) | Err(Failure { report: Some(report), .. }) => match &args.machines.played {
                Some(folder) => print_json(&cluster::read::<serde_json::Value>(folder)?)?,
                None => print_json(report)?,
            },
            Err(failure) => print_json(&without_run(failure))?,
        };
    }
    let told = ci::report(&args.ci, || vec![suite(&outcome, args)], &args.file);
    let report = match outcome {
        Ok(report) => report,
        Err(failure) => {
            if !args.json
                && let Some(report) = judged_all_the_same(&failure)
            {
                let text = if args.quiet { render::conclusion(report) } else { render::report(report) };
                print(text.trim_end())?;
            }
            // Why the run failed is worth more than why that could not be reported, too.
            told.unwrap_or_else(|error| talk::warning(&error.message));
            return Err(failure);
        }
    };
    told?;
    if args.quiet && !args.json {
        print(&render::conclusion(&report))?;
    } else if !args.json {
        print(render::report(&report).trim_end())?;
    }
    if args.gdb.is_some() && !args.json && !gdb::is_talk(args) {
        print(&gdb::said(&report)?)?;
    }
    Ok(report.exit_code)
}

/// The report of a run that came to its end and was judged, of which something could not be written.
fn judged_all_the_same(failure: &Failure) -> Option<&Report> {
    failure.report.as_deref().filter(|report| failure.code == ExitCode::Results && report.duration_ns > 0)
}

fn attempt(args: &RunArgs) -> Result<Box<Report>, Failure> {
    if let Some(folder) = &args.machines.played {
        return cluster::played(folder, args).map(Box::new);
    }
    let attached = gdb::attached(args)?;
    let overrides = attached.as_ref().map_or(&args.overrides, |attached| &attached.overrides);
    let request = parts::part(
        &args.part_of,
        args.machines.division.machines,
        lab_file::request(&args.file, overrides, args.results.clone())?,
    )?;
    let report = if args.dilate.auto_dilate {
        dilate::search(args, args.dilate.dilate_at_most, request)?
    } else {
        dilate::run_once(args, &request)?
    };
    Ok(Box::new(report))
}

/// What was judged.
fn suite(outcome: &Result<Box<Report>, Failure>, args: &RunArgs) -> Suite {
    match outcome {
        Ok(report) | Err(Failure { report: Some(report), .. }) => Suite::of_run(report, &args.file),
        Err(failure) => Suite::of_run(&without_run(failure), &args.file),
    }
}

/// The document of a run that was refused. It has the same members as all others, so that scripts need no second case.
fn without_run(failure: &Failure) -> Report {
    Report {
        error: Some(anstream::adapter::strip_str(&failure.message).to_string()),
        interrupted: failure.code == ExitCode::Interrupted,
        exit_code: failure.code.number(),
        ..Report::default()
    }
}
