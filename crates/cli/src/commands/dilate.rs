//! `netloom run --auto-dilate`: reruns a lab in slower time until this machine is fast enough.

use super::{Failure, gdb, lab_file};
use crate::args::RunArgs;
use crate::progress::{Progress, settle};
use crate::talk;
use netloom_guest::kernel::{self, Need};
use netloom_judge::attempts::{Next, next};
use netloom_judge::{ExitCode, Report, quantity};
use netloom_lab::{Clock, Plan};
use netloom_results::put_side_by_side;
use netloom_run::RunRequest;
use netloom_units::{Dilation, Duration};

/// Runs the lab of `first`, and again in slower and slower time, until the network is as described or slowing does not
/// help any more. A lab that cannot run is refused before the first run.
pub(super) fn search(args: &RunArgs, most: Dilation, first: RunRequest) -> Result<Report, Failure> {
    check(args, &first.plan, most)?;
    let quiet = args.quiet || args.json;
    let (mut request, mut runs) = (first, Vec::new());
    loop {
        settle();
        if !quiet {
            announce(&request.plan, runs.last());
        }
        let report = run_once(args, &request).inspect_err(|_| say_so_far(&mut runs))?;
        runs.push(report);
        match next(request.plan.clock, &runs, most) {
            Next::Rerun(dilation) => {
                if !quiet {
                    talk::say(&format!("{}\n", headline(&runs)));
                }
                request = lab_file::request_with(
                    &args.file,
                    &args.overrides,
                    Some(Clock::Dilated(dilation)),
                    args.results.clone(),
                )?;
            }
            Next::GiveUp(why) => {
                talk::warning(&format!("no further run: {why}"));
                return finished(runs);
            }
            Next::Done => return finished(runs),
        }
    }
}

/// One run. Its progress thread ends with it, because no thread may exist while the next lab is forked.
pub(super) fn run_once(args: &RunArgs, request: &RunRequest) -> Result<Report, Failure> {
    let mut talk = gdb::Talk::wanted(args)?;
    let mut progress =
        Progress::new(args.quiet || args.json || talk.is_some()).at_pace_of(request.plan.clock).following(args.follow);
    let (plots, page, wall_limit) = (args.pictures.wanted(), !args.no_report, args.wall_limit);
    if args.stop_at.is_some() && request.plan.clock != Clock::Virtual {
        let why = "--stop-at: only virtual time can be held: add --clock virtual";
        return Err(Failure::new(ExitCode::Usage, why));
    }
    // With commands for gdb, what happens at that instant is an entry of the timeline.
    let stop_at = args.stop_at.filter(|_| args.gdb.is_none() || talk.is_some());
    let (gate, stays) = (args.machines.gate.clone(), args.machines.stay);
    let request = RunRequest { plots, page, wall_limit, stop_at, gate, stays, ..request.clone() };
    let name = request.plan.name.clone();
    let report = netloom_run::run(&request, &mut |event| {
        if let (netloom_run::Event::Started { .. }, Some(talk)) = (event, &mut talk) {
            talk.begin(&name);
        }
        progress.show(event);
    });
    drop(talk);
    if args.follow {
        // The lab is gone, and what was asked for may take as long as it takes.
        drop(progress);
        settle();
    }
    Failure::unless_good(report?)
}

fn check(args: &RunArgs, plan: &Plan, most: Dilation) -> Result<(), Failure> {
    let Some(present) = plan.clock.dilation() else {
        return Err(Failure::new(
            ExitCode::Usage,
            "--auto-dilate: in virtual time nothing is late, and there is nothing to dilate; run it without, or with \
             --clock real",
        ));
    };
    if most.as_millionths() < present.as_millionths() {
        return Err(Failure::new(
            ExitCode::Usage,
            format!("--dilate-at-most {most} is below the lab's own dilation of {present}"),
        ));
    }
    lab_file::parse(&args.file, &args.overrides.foreign, Some(Clock::Dilated(most))).map_err(|mut refused| {
        refused.message = format!("--auto-dilate: in dilated time, this lab is refused\n{}", refused.message);
        refused
    })?;
    kernel::find(Need::Clock, None)
        .map(drop)
        .map_err(|error| Failure::new(ExitCode::Machine, format!("--auto-dilate: {error}")))
}

/// Announces a run and how long it takes: lab time times the dilation.
fn announce(plan: &Plan, previous: Option<&Report>) {
    let dilation = plan.clock.dilation().unwrap_or_default();
    let lab = plan.duration.or_else(|| previous.map(|report| Duration::from_nanos(report.duration_ns)));
    let span = lab.map_or_else(String::new, |lab| {
        let real = u64::try_from(dilation.to_real(lab).as_nanos()).unwrap_or(u64::MAX);
        format!(", {} of lab time in about {}", quantity::span(lab.as_nanos()), quantity::span(real))
    });
    let clock = if plan.clock == Clock::Real { "real time".to_owned() } else { format!("dilation {dilation}") };
    talk::say(&format!("run in {clock}{span}"));
}

fn headline(runs: &[Report]) -> String {
    runs.last().map_or_else(String::new, |report| report.verdict.headline())
}

fn finished(mut runs: Vec<Report>) -> Result<Report, Failure> {
    let mut last = runs.pop().expect("there was a run");
    put_side_by_side(&runs, &mut last)?;
    Ok(last)
}

/// A run that failed leaves no report: those before it are kept, and the latest of them shows them all.
fn say_so_far(runs: &mut Vec<Report>) {
    let Some(mut last) = runs.pop() else { return };
    if put_side_by_side(runs, &mut last).is_ok() {
        talk::say(&format!("the runs before this one: {}", last.results.join("summary.txt").display()));
    }
}
