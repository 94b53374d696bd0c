//! `netloom down`

use super::{Failure, Outcome, print};
use crate::args::DownArgs;
use crate::talk;
use netloom_control::{TakenDown, only_lab, running_labs, take_down};
use netloom_results::render;

/// The verdicts of labs that were up; the exit code is the first that is not 0.
pub(super) fn down(args: &DownArgs) -> Outcome {
    let labs = match &args.lab {
        Some(lab) => vec![lab.clone()],
        None if args.all => running_labs()?,
        None => vec![only_lab()?],
    };
    let mut first = 0;
    for lab in &labs {
        if labs.len() > 1 {
            talk::say(&format!("lab {lab}"));
        }
        let code = down_one(lab)?;
        first = if first == 0 { code } else { first };
    }
    Ok(first)
}

fn down_one(lab: &str) -> Outcome {
    let TakenDown { killed, report } = take_down(lab)?;
    if killed {
        talk::say(&format!("lab `{lab}` did not answer and was killed"));
    }
    let Some(report) = report else { return Ok(0) };
    match Failure::unless_good(report) {
        Ok(report) if report.interrupted => {
            talk::say(&format!("lab `{lab}` was not ready yet"));
            Ok(report.exit_code)
        }
        Ok(report) => {
            print(&render::conclusion(&report))?;
            Ok(report.exit_code)
        }
        Err(failure) => {
            talk::failure(&failure.message);
            Ok(failure.code.number())
        }
    }
}
