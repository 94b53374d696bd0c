//! `netloom check`

use super::{Outcome, lab_file, print_bit_by_bit, print_json};
use crate::args::CheckArgs;
use crate::talk;
use netloom_judge::MissingProgram;

pub(super) fn check(args: &CheckArgs) -> Outcome {
    let lab_file::Loaded { lab, .. } = lab_file::load(&args.file, &args.foreign, args.clock)?;
    lab_file::short_memory(&lab);
    lab_file::crowded(&lab);
    lab_file::check_filters(&lab.plan, &args.file)?;
    netloom_run::user_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    netloom_run::pin_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    netloom_run::image_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    netloom_run::container_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    netloom_run::label_problem(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    netloom_run::external_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    let way_out = netloom_run::way_out(&lab.plan, &args.file);
    way_out.as_ref().err().into_iter().for_each(|problem| talk::warning(problem));
    let way_out = way_out.ok().flatten();
    netloom_run::tunnel_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    let vms = netloom_run::vms_here(&lab.plan, &args.file);
    vms.as_ref().err().into_iter().flatten().for_each(|problem| talk::warning(problem));
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
        let plan = plan.with("vms_here", vms.ok().flatten().into());
        return print_json(&plan.with("way_out_here", way_out.into()));
    }
    let vms = vms.ok().flatten().map_or_else(String::new, |vms| format!("virtual machines here: {vms}\n"));
    let out = way_out.map_or_else(String::new, |way_out| format!("way out here: {way_out}\n"));
    print_bit_by_bit(&format_args!("{}{}{vms}{out}", lab.plan.text(), netloom_run::shards_text(&lab.plan)))
}
