//! `netloom check`

use super::{Failure, Outcome, lab_file, print_bit_by_bit, print_json};
use crate::args::CheckArgs;
use crate::talk;
use netloom_judge::{ExitCode, MissingProgram};
use netloom_lab::placement::{self, Placement, Settings};
use netloom_lab::{MachinePlan, Plan};
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
    let placement = placement(args, &lab.plan)?;
    if args.json {
        let placed = placement.as_ref().map(|placement| placement.json(&lab.plan));
        let plan = lab
            .plan
            .description()
            .with("placement", placed.into())
            .with("shards_here", netloom_run::shards_json(&lab.plan));
        let plan = plan.with("vms_here", vms.into());
        return print_json(&plan.with("way_out_here", way_out.into()));
    }
    let vms = vms.map_or_else(String::new, |vms| format!("virtual machines here: {vms}\n"));
    let out = way_out.map_or_else(String::new, |way_out| format!("way out here: {way_out}\n"));
    let placed = placement.map_or_else(String::new, |placement| placement.text(&lab.plan));
    let shards = netloom_run::shards_text(&lab.plan);
    print_bit_by_bit(&format_args!("{}{shards}{placed}{vms}{out}", lab.plan.text()))
}

/// How the lab is divided among machines, if the command or the lab file says that it is.
fn placement(args: &CheckArgs, plan: &Plan) -> Result<Option<Placement>, Failure> {
    if args.machines.is_none() && plan.machines.is_empty() {
        return Ok(None);
    }
    let count = args.machines.map(|count| usize::try_from(count).unwrap_or(MachinePlan::MOST));
    let placed = placement::place(plan, &Settings { count, path: args.path });
    let refused = |wrong: Vec<String>| {
        let lines = wrong.iter().map(|wrong| format!("{}: {wrong}", args.file.display()));
        Failure::new(ExitCode::LabFile, lines.collect::<Vec<_>>().join("\n"))
    };
    placed.map(Some).map_err(refused)
}
