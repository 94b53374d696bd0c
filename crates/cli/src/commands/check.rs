//! `netloom check`

use super::{Outcome, lab_file, print, print_json};
use crate::args::CheckArgs;
use crate::talk;

pub(super) fn check(args: &CheckArgs) -> Outcome {
    let (lab, _) = lab_file::load(&args.file, args.clock)?;
    lab_file::short_memory(&lab);
    netloom_run::user_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    if args.json {
        let plan = lab.plan.description().with("shards_here", netloom_run::shards_json(&lab.plan));
        return print_json(&plan);
    }
    let text = format!("{}{}", lab.plan.to_text(), netloom_run::shards_text(&lab.plan));
    print(text.trim_end())
}
