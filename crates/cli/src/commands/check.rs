//! `netloom check`

use super::{Outcome, lab_file, print};
use crate::args::CheckArgs;

pub(super) fn check(args: &CheckArgs) -> Outcome {
    let (lab, _) = lab_file::load(&args.file, args.clock)?;
    lab_file::short_memory(&lab);
    if args.json {
        let mut plan = lab.plan.describe();
        plan["shards_here"] = netloom_run::shards_json(&lab.plan);
        return print(&format!("{plan:#}"));
    }
    let text = format!("{}{}", lab.plan.to_text(), netloom_run::shards_text(&lab.plan));
    print(text.trim_end())
}
