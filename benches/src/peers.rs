//! Virtual time beside Shadow and ns-3: the same hosts, programs, rates, delays and bytes in each, in turns in the same run.
//!
//! Shadow (<https://shadow.github.io>) runs the same programs over a network stack of its own; in ns-3 everything is a model. Where
//! one is missing, a row says so. A control group counts what each system takes. What programs print has to agree with theory.

mod contests;
mod group;
mod installed;
pub(crate) mod options;
mod play;
mod rows;
mod scenario;
pub(crate) mod scenarios;
mod theory;

use crate::case::{Case, case};
use crate::row::Row;
use crate::settings::Settings;
use contests::{CONTESTS, Contest, NETLOOM};
use group::Group;
use installed::Installed;
use play::{Played, play};

/// The only one of its group, since it takes long.
pub(crate) const CASES: [Case; 1] = [case("peers", "Virtual time beside Shadow and ns-3", 1_500, run)];

/// How often each system is measured.
const ROUNDS: u32 = 3;

/// The names of all contests, for the command line.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    CONTESTS.iter().map(|contest| contest.name)
}

fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let installed = Installed::find(settings)?;
    let mut rows = Vec::new();
    for (what, found) in [("Shadow", &installed.shadow), ("ns-3", &installed.models)] {
        if let Err(reason) = found {
            rows.push(Row::absent(what, reason.clone()));
        }
    }
    if let Err(reason) = Group::create() {
        rows.push(Row::absent("processor time and memory", reason));
    }
    for contest in &CONTESTS {
        if let Some(reason) = contest.lacks().filter(|_| settings.peers.wants(contest.name, NETLOOM)) {
            rows.push(Row::absent(contest.name, reason));
            continue;
        }
        let played = contest_of(settings, &installed, contest)?;
        if !played.is_empty() {
            rows.extend(rows::of(contest, &played)?);
        }
    }
    Ok(rows)
}

/// Runs a contest in rounds, each of which begins with another system.
fn contest_of(settings: &Settings, installed: &Installed, contest: &Contest) -> Result<Vec<Played>, String> {
    let mut entrants = contest.entrants(installed)?;
    entrants.retain(|entrant| settings.peers.wants(contest.name, entrant.system));
    let mut played: Vec<Played> =
        entrants.iter().map(|entrant| Played { system: entrant.system, plays: Vec::new(), error: None }).collect();
    for round in 0..settings.rounds(ROUNDS) {
        for turn in 0..entrants.len() {
            let place = (turn + round as usize) % entrants.len();
            let Played { system, plays, error } = &mut played[place];
            match play(&entrants[place], contest.theory) {
                Ok(one) => {
                    eprintln!("  {:20} {system:14} {}", contest.name, rows::in_words(&one));
                    plays.push(one);
                }
                Err(reason) => {
                    eprintln!("  {:20} {reason}", contest.name);
                    *error = Some(reason);
                }
            }
        }
    }
    Ok(played)
}
