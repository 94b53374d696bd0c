//! `netloom advance`, `netloom pause` and `netloom resume`

use super::{Outcome, print};
use crate::args::{AdvanceArgs, PauseArgs};
use netloom_control::{Client, ControlError, Now, only_lab};
use netloom_units::Duration;

pub(super) fn advance(args: &AdvanceArgs) -> Outcome {
    show(Client::connect(&args.lab)?.advance(args.time.as_nanos()))
}

pub(super) fn pause(args: &PauseArgs) -> Outcome {
    show(of_lab(args)?.pause())
}

pub(super) fn resume(args: &PauseArgs) -> Outcome {
    show(of_lab(args)?.resume())
}

fn of_lab(args: &PauseArgs) -> Result<Client, ControlError> {
    Client::connect(&args.lab.clone().map_or_else(only_lab, Ok)?)
}

/// Prints the time since time zero, or since the lab was set up.
fn show(now: Result<Now, ControlError>) -> Outcome {
    let now = now?;
    print(&Duration::from_nanos(now.since_zero_ns.unwrap_or(now.at_ns)).to_string())
}
