//! `netloom check`

use super::cluster::{cannot_be_spread, without_cluster};
use super::{DONE, Failure, Outcome, lab_file, print_bit_by_bit, print_json, python, split};
use crate::args::CheckArgs;
use crate::talk;
use netloom_judge::{ExitCode, MissingProgram};
use netloom_lab::placement::{self, Placement, Settings, Share};
use netloom_lab::{Clock, MachinePlan, Plan, SplitSettings};
use netloom_run::Checked;
use serde_json::json;

pub(super) fn check(args: &CheckArgs) -> Outcome {
    if let Some(on) = &args.on {
        let then = without_cluster(std::env::args().skip(1));
        let order = json!({ "on": on, "then": then }).to_string();
        return Err(python::become_module("netloom._ray_check", &[order.into()], "machines of Ray need"));
    }
    let lab_file::Loaded { lab, .. } = lab_file::load(&args.file, &args.foreign, args.clock)?;
    lab_file::short_memory(&lab);
    lab_file::crowded(&lab);
    lab_file::check_filters(&lab.plan, &args.file)?;
    netloom_run::user_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    netloom_run::pin_problems(&lab.plan, &args.file).iter().for_each(|problem| talk::warning(problem));
    let Checked { problems, way_out, vms } = netloom_run::check(&lab.plan, &args.file);
    problems.iter().for_each(|problem| talk::warning(problem));
    for missing in netloom_run::missing_programs(&lab.plan, &args.file, None) {
        let MissingProgram { file, line, program, package, .. } = missing;
        let how = package.map_or_else(String::new, |package| format!(" (`apt install {package}`)"));
        talk::warning(&format!(
            "{}:{line}: program `{program}` is not on this machine: a run needs it{how}",
            file.display()
        ));
    }
    let placement = placement(args, &lab.plan)?;
    print_plan(args, &lab.plan, placement.as_ref(), [way_out, vms])?;
    match placement.filter(|placement| args.hosts.is_some() && !placement.misfits.is_empty()) {
        Some(placement) => Err(Failure::new(ExitCode::Machine, placement.misfits.join("\n"))),
        None => DONE,
    }
}

/// Prints the plan, and how it is divided among machines; `here`: what this machine has for ways out and for virtual machines.
fn print_plan(args: &CheckArgs, plan: &Plan, placement: Option<&Placement>, here: [Option<String>; 2]) -> Outcome {
    let [way_out, vms] = here;
    if args.json {
        let placed = placement.map(|placement| placement.json(plan));
        let described = plan.description().with("placement", placed.into());
        let described = described.with("shards_here", netloom_run::shards_json(plan)).with("vms_here", vms.into());
        return print_json(&described.with("way_out_here", way_out.into()));
    }
    let vms = vms.map_or_else(String::new, |vms| format!("virtual machines here: {vms}\n"));
    let out = way_out.map_or_else(String::new, |way_out| format!("way out here: {way_out}\n"));
    let placed = placement.map_or_else(String::new, |placement| placement.text(plan));
    let shards = netloom_run::shards_text(plan);
    print_bit_by_bit(&format_args!("{}{shards}{placed}{vms}{out}", plan.text()))
}

/// How the lab is divided among machines, if the command or the lab file says that it is.
fn placement(args: &CheckArgs, plan: &Plan) -> Result<Option<Placement>, Failure> {
    let hosts = args.hosts.as_ref().map(|hosts| &hosts.0);
    if args.machines.is_none() && plan.machines.is_empty() && hosts.is_none() {
        return Ok(None);
    }
    let there = hosts.filter(|_| plan.machines.is_empty()).map(Vec::len);
    let count = args.machines.map(|count| usize::try_from(count).unwrap_or(MachinePlan::MOST)).or(there);
    let placed = placement::place(plan, &Settings { count, path: args.path });
    let refused = |wrong: Vec<String>| {
        let lines = wrong.iter().map(|wrong| format!("{}: {wrong}", args.file.display()));
        Failure::new(ExitCode::LabFile, lines.collect::<Vec<_>>().join("\n"))
    };
    let placed = placed.map_err(refused)?;
    let Some(hosts) = hosts else { return Ok(Some(placed)) };
    let placed = placed.on(hosts);
    see_division(args, plan, &placed, count)?;
    Ok(Some(placed))
}

/// Refuses what a run over the machines of a cluster would refuse.
fn see_division(args: &CheckArgs, plan: &Plan, placed: &Placement, count: Option<usize>) -> Result<(), Failure> {
    if let Some(why) = cannot_be_spread(plan) {
        return Err(Failure::new(ExitCode::LabFile, format!("--on: {why}")));
    }
    if plan.clock != Clock::Real || !placed.misfits.is_empty() {
        return Ok(());
    }
    let text = lab_file::text(&args.file, &args.foreign)?;
    let address = |share: &Share| Some((share.machine.name.clone(), share.host.as_ref()?.address.clone()));
    let addresses = placed.machines.iter().filter_map(address).collect();
    let settings = Settings { count, path: args.path };
    let settings = SplitSettings { placement: settings, addresses, ..SplitSettings::default() };
    let divided = netloom_lab::split(&text, &args.file.to_string_lossy(), &settings, None);
    divided.map(drop).map_err(|why| split::failure(&args.file, why))
}
