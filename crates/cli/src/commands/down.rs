//! `netloom down`

use super::{DONE, Outcome};
use crate::args::DownArgs;
use crate::talk;
use netloom_run::{TakenDown, only_lab, running_labs, take_down};

pub(super) fn down(args: &DownArgs) -> Outcome {
    let labs = match &args.lab {
        Some(lab) => vec![lab.clone()],
        None if args.all => running_labs()?,
        None => vec![only_lab()?],
    };
    for lab in &labs {
        if take_down(lab)? == TakenDown::Killed {
            talk::say(&format!("lab `{lab}` did not answer and was killed"));
        }
    }
    DONE
}
