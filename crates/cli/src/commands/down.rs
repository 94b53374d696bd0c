//! `netloom down`

use super::{DONE, Outcome};
use crate::args::DownArgs;
use netloom_run::{only_lab, running_labs, take_down};

pub(super) fn down(args: &DownArgs) -> Outcome {
    let labs = match &args.lab {
        Some(lab) => vec![lab.clone()],
        None if args.all => running_labs()?,
        None => vec![only_lab()?],
    };
    labs.iter().try_for_each(|lab| take_down(lab))?;
    DONE
}
