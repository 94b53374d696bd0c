//! `netloom check`

use super::{Outcome, lab_file, print};
use crate::args::CheckArgs;

pub(super) fn check(args: &CheckArgs) -> Outcome {
    let (lab, _) = lab_file::load(&args.file, args.clock)?;
    lab_file::short_memory(&lab);
    if args.json { print(&format!("{:#}", lab.plan.describe())) } else { print(lab.plan.to_text().trim_end()) }
}
