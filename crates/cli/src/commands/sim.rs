//! `netloom sim`

use super::{Failure, Outcome, lab_file, print};
use crate::args::SimArgs;
use crate::progress::Progress;
use netloom_judge::ExitCode;
use netloom_lab::Plan;
use netloom_results::render;
use netloom_run::{RunRequest, SimRequest};
use netloom_units::{Duration, Seed};
use std::path::Path;
use std::time::Instant;

/// How long sources send by default.
const DEFAULT: Duration = Duration::from_secs(10);

pub(super) fn sim(args: &SimArgs) -> Outcome {
    let request = request(args)?;
    let mut progress = Progress::new(args.quiet || args.json);
    let report = netloom_run::simulate(&request, &mut |event| progress.show(event))?;
    drop(progress);
    if args.json {
        print(&serde_json::to_string_pretty(&report).expect("a report has string keys only"))
    } else {
        print(render::simulation(&report).trim_end())
    }
}

fn request(args: &SimArgs) -> Result<SimRequest, Failure> {
    let begun = Instant::now();
    let lab_file::Loaded { lab, text: lab_text, notes } = lab_file::load(&args.file, &args.foreign, None)?;
    let mut warnings: Vec<String> = notes.into_iter().chain(lab.warnings.lines()).collect();
    let mut plan = lab.plan;
    if !plan.capture.is_empty() {
        warnings.push("`capture` is for `netloom run`: packets of a simulation have no contents".into());
    }
    if plan.nodes.iter().any(|node| !node.rules.is_empty()) {
        warnings.push(
            "`rules` and `multihomed` are for `netloom run`: packets of a simulation follow the routes alone".into(),
        );
    }
    if plan.nodes.iter().any(|node| !node.groups.is_empty()) {
        warnings.push("`multicast` is for `netloom run`: each source of a simulation sends to one node".into());
    }
    if let Some(seed) = args.seed {
        plan.seed = Seed::new(seed);
    }
    for text in &args.traffic {
        add_traffic(&mut plan, text)?;
    }
    let duration = duration(args, &plan)?;
    let run = RunRequest {
        begun,
        plan: plan.into(),
        lab_file: args.file.clone(),
        lab_text,
        warnings,
        results: args.results.clone(),
        command_line: std::env::args().collect(),
        plots: args.pictures.wanted(),
        page: !args.no_report,
        wall_limit: None,
        stop_at: None,
        gate: None,
        part: None,
        stays: false,
        kernel: None,
        parent: None,
        root: None,
    };
    Ok(SimRequest { run, duration })
}

/// Paths on the command line are relative to the current folder.
fn add_traffic(plan: &mut Plan, text: &str) -> Result<(), Failure> {
    let source = netloom_lab::parse_traffic(plan, text, Path::new(""));
    let source = source.map_err(|error| Failure::new(ExitCode::Usage, format!("--traffic \"{text}\": {error}")))?;
    plan.traffic.push(source);
    Ok(())
}

fn duration(args: &SimArgs, plan: &Plan) -> Result<Duration, Failure> {
    let wrong = |why: String| Failure::new(ExitCode::Usage, format!("--for: {why}"));
    let Some(text) = &args.duration else { return Ok(plan.duration.unwrap_or(DEFAULT)) };
    match text.parse::<Duration>().map_err(|error| wrong(error.to_string()))? {
        Duration::ZERO => Err(wrong("a time above zero is needed, for example 10 s".into())),
        duration => Ok(duration),
    }
}
