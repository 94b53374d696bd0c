//! `netloom check`

use super::{Outcome, lab_file, print_bit_by_bit, print_json};
use crate::args::CheckArgs;
use crate::talk;
use netloom_judge::MissingProgram;
use netloom_run::Checked;

pub(super) fn check(args: &CheckArgs) -> Outcome {
    let lab_file::Loaded { lab, .. } = lab_file::load(&args.file, &args.foreign, args.clock)?;
    lab_file::short_memory(&lab);
    lab_file::crowded(&lab);
    lab_file::check_filters(&lab.plan, &args.file)?;
    netloom_run::user_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    netloom_run::pin_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    let Checked { problems, way_out, vms } = netloom_run::check(&lab.plan, &args.file);
    problems.iter().for_each(|problem| talk::warning(problem));
    for missing in netloom_run::missing_programs(&lab.plan, &args.file) {
        let MissingProgram { file, line, program, package, .. } = missing;
        let how = package.map_or_else(String::new, |package| format!(" (`apt install {package}`)"));
        talk::warning(&format!(
            "{}:{line}: program `{program}` is not on this machine: a run needs it{how}",
            file.display()
        ));
    }
    if args.json {
        let plan = lab.plan.description().with("shards_here", netloom_run::shards_json(&lab.plan));
        let plan = plan.with("vms_here", vms.into());
        return print_json(&plan.with("way_out_here", way_out.into()));
    }
    let vms = vms.map_or_else(String::new, |vms| format!("virtual machines here: {vms}\n"));
    let out = way_out.map_or_else(String::new, |way_out| format!("way out here: {way_out}\n"));
    print_bit_by_bit(&format_args!("{}{}{vms}{out}", lab.plan.text(), netloom_run::shards_text(&lab.plan)))
}
