//! `netloom up`

use super::cluster::Spread;
use super::{DONE, Failure, Outcome, lab_file, logs, print_json, python};
use crate::args::UpArgs;
use crate::progress::Progress;
use crate::talk;
use netloom_control::find;
use netloom_host::runtime::control_socket;
use netloom_host::signals::Signals;
use netloom_judge::ExitCode;
use netloom_lab::{Clock, Stack};
use netloom_run::{Event, logs_of};
use serde_json::json;

pub(super) fn up(args: &UpArgs) -> Outcome {
    if let Some(on) = &args.machines.on {
        return Err(spread(args, on));
    }
    let mut request = lab_file::request(&args.file, &args.overrides, args.results.clone())?;
    request.parent = args.parent;
    let mut progress = Progress::new(args.quiet || args.json);
    let mut results = None;
    netloom_run::up(&request, &mut |event| {
        if let Event::Results { folder } = event {
            results = Some(folder.clone());
        }
        progress.show(event);
    })?;
    drop(progress);
    if args.json {
        let name = &request.plan.name;
        let socket = control_socket(&find(name)?.path);
        print_json(&json!({ "lab": name, "control_socket": socket, "results": results }))?;
    } else if !args.quiet {
        let name = &request.plan.name;
        // Devices inside the engine run no programs.
        let node = request.plan.nodes.iter().find(|node| node.stack != Stack::Engine);
        let shell = node.map_or_else(String::new, |node| format!("netloom shell {name} {}, ", node.name));
        netloom_run::ways_into(&request.plan).iter().for_each(|way| talk::say(way));
        talk::say(&format!("{name} is up: {shell}netloom stats {name}, netloom logs {name}, netloom down {name}"));
        let plan = &request.plan;
        let is_left_out = |entry| !plan.starts_before_zero(entry) && !plan.starts_on_restart_only(entry);
        if (0..plan.timeline.len()).any(is_left_out) {
            talk::say(&format!("its timeline does not run; netloom run {} runs it", args.file.display()));
        }
        if request.plan.clock == Clock::Virtual {
            talk::say(&format!("its time stands still: netloom advance {name} 1s, netloom resume {name}"));
        }
    }
    if args.follow {
        return follow(&request.plan.name);
    }
    DONE
}

/// Becomes Python, which brings the lab up on the cluster at `on` and leaves a process with it; comes back only if that fails.
fn spread(args: &UpArgs, on: &str) -> Failure {
    let quiet = args.quiet || args.json;
    let (file, overrides, division) = (&args.file, &args.overrides, &args.machines.division);
    let (results, wall_limit) = (&args.results, None);
    let spread = Spread { file, overrides, division, results, wall_limit, on, quiet };
    let mut order = match spread.order() {
        Ok(order) => order,
        Err(failure) => return failure,
    };
    order.insert("parent".into(), json!(args.parent));
    order.insert("json".into(), json!(args.json));
    python::become_module("netloom._ray_up", &[json!(order).to_string().into()], "labs on Ray need")
}

/// Shows what programs write until the lab ends, or a signal ends the showing alone.
fn follow(name: &str) -> Outcome {
    let failed = |error| Failure::new(ExitCode::Machine, format!("holding signals back: {error}"));
    let held = Signals::hold(&[]).map_err(failed)?;
    if logs::follow(logs_of(name)?, || held.next().is_none())? {
        talk::say(&format!("{name} stays up: netloom logs {name} --follow, netloom down {name}"));
    }
    DONE
}
