//! `netloom run`

use super::{Outcome, lab_file, print};
use crate::args::RunArgs;
use crate::progress::Progress;
use netloom_run::render;

pub(super) fn run(args: &RunArgs) -> Outcome {
    let request = lab_file::request(&args.file, &args.overrides, args.results.clone())?;
    let mut progress = Progress::new(args.quiet || args.json);
    let report = netloom_run::run(&request, &mut |event| progress.show(event))?;
    drop(progress);
    if args.json {
        print(&serde_json::to_string_pretty(&report).expect("a report has string keys only"))?;
    } else if args.quiet {
        print(&render::conclusion(&report))?;
    } else {
        print(render::report(&report).trim_end())?;
    }
    Ok(report.exit_code)
}
