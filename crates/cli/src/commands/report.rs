//! `netloom report`

use super::{Failure, Outcome, print};
use crate::args::ReportArgs;
use netloom_judge::ExitCode;
use netloom_results::page;
use netloom_sweep::page as sweep_page;
use std::path::Path;

/// The page of a comparison, unless another is named.
const COMPARISON: &str = "comparison.html";

pub(super) fn report(args: &ReportArgs) -> Outcome {
    let wrong = |why: String| Failure::new(ExitCode::Usage, why);
    let sweeps = args.folders.iter().filter(|folder| sweep_page::is_sweep(folder)).count();
    let out = args.out.as_deref().unwrap_or(Path::new(COMPARISON));
    match (&args.folders[..], sweeps) {
        ([_], _) if args.out.is_some() => {
            return Err(wrong("-o is for comparisons: the page of a run or a sweep is in its folder".into()));
        }
        ([folder], 1) => return print(&format!("report: {}", sweep_page::write(folder)?.display())),
        ([folder], _) => return print(&format!("report: {}", page::write(folder)?.display())),
        ([first, second], 2) => sweep_page::write_comparison([first, second], out)?,
        (folders, 0) => page::write_comparison(folders, out)?,
        (folders, sweeps) if sweeps == folders.len() => {
            return Err(wrong(format!("{sweeps} sweeps cannot be compared at once: name two of them")));
        }
        (folders, _) => {
            let sweep = folders.iter().find(|folder| sweep_page::is_sweep(folder));
            let name = sweep.map_or_else(String::new, |folder| folder.display().to_string());
            return Err(wrong(format!("{name} is a sweep, others are runs: compare runs with runs, or two sweeps")));
        }
    }
    print(&format!("report: {}", out.display()))
}
