//! `netloom run`

use super::{Outcome, dilate, lab_file, print};
use crate::args::RunArgs;
use netloom_run::render;

pub(super) fn run(args: &RunArgs) -> Outcome {
    let request = lab_file::request(&args.file, &args.overrides, args.results.clone())?;
    let report = if args.dilate.auto_dilate {
        dilate::search(args, args.dilate.dilate_at_most, request)?
    } else {
        dilate::run_once(args, &request)?
    };
    if args.json {
        print(&serde_json::to_string_pretty(&report).expect("a report has string keys only"))?;
    } else if args.quiet {
        print(&render::conclusion(&report))?;
    } else {
        print(render::report(&report).trim_end())?;
    }
    Ok(report.exit_code)
}
