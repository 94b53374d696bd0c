//! `netloom doctor`

use super::{DONE, Failure, Outcome, print, python};
use crate::args::DoctorArgs;
use crate::progress::Steps;
use crate::talk;
use netloom_doctor::Examined;
use netloom_judge::ExitCode;
use netloom_results::render;
use serde_json::json;

pub(super) fn doctor(args: &DoctorArgs) -> Outcome {
    if let Some(machines) = &args.between {
        let order = json!({ "machines": machines, "on": args.on, "json": args.json }).to_string();
        return Err(python::become_module("netloom._ray_between", &[order.into()], "machines of Ray need"));
    }
    // What killed labs have left is no part of the machine.
    netloom_control::sweep()?;
    let steps = Steps::new(args.quiet);
    let examined = netloom_doctor::examine(&mut |step| steps.show(step));
    // The moving line goes before anything is said about the end.
    drop(steps);
    let Examined { examination, kept } = examined?;
    if args.json {
        print(&serde_json::to_string_pretty(&examination).expect("an examination has string keys only"))?;
    } else {
        print(render::examination(&examination).trim_end())?;
    }
    match kept {
        Ok(path) if !args.quiet => talk::say(&format!("kept for later verdicts in {}", path.display())),
        Ok(_) => {}
        Err(why) => talk::warning(&why),
    }
    Ok(examination.exit_code)
}

/// What a node of the doctor's own lab runs.
pub(super) fn traffic(words: &[String]) -> Outcome {
    netloom_doctor::traffic(words).map_err(|error| Failure::new(ExitCode::Usage, error))?;
    DONE
}
