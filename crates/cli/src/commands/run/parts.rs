//! The part of a lab in virtual time that a command plays.

use super::super::Failure;
use crate::args::PartOf;
use netloom_judge::ExitCode;
use netloom_lab::KeyPlan;
use netloom_lab::placement::{self, Why};
use netloom_run::{PartRequest, RunRequest, part_facts, why_not_parts};
use std::path::Path;
use std::rc::Rc;

/// A key and what may be around it, in bytes.
const LONGEST_KEY_FILE: u64 = 4_096;

/// Has a run play the part that is asked for. `machines`: how many there are, if not those of the lab file.
pub(super) fn part(args: &PartOf, machines: Option<u64>, request: RunRequest) -> Result<RunRequest, Failure> {
    let (Some(name), Some(key)) = (&args.part, &args.key) else { return Ok(request) };
    let wrong = |what: String| Failure::new(ExitCode::Usage, format!("--part {name}: {what}"));
    if let Some(why) = why_not_parts(&request.plan) {
        return Err(wrong(why));
    }
    let count = machines.and_then(|count| usize::try_from(count).ok());
    let count = count.or_else(|| request.plan.machines.is_empty().then_some(args.at.len()));
    let settings = placement::Settings { count, ..placement::Settings::default() };
    let placed = placement::place(&request.plan, &settings);
    let placed = placed.map_err(|found| Failure::new(ExitCode::LabFile, found.join("\n")))?;
    // A machine without nodes has nothing to play.
    let used: Vec<usize> = (0..placed.machines.len()).filter(|machine| placed.machines[*machine].nodes > 0).collect();
    let names: Vec<String> = used.iter().map(|machine| placed.machines[*machine].machine.name.clone()).collect();
    let all = names.join(", ");
    let place_of = |machine: &String| names.iter().position(|other| other == machine);
    if let Some((other, _)) = args.at.iter().find(|(other, _)| place_of(other).is_none()) {
        return Err(wrong(format!("--at {other}: there is no such machine; there are {all}")));
    }
    let here = place_of(name).ok_or_else(|| wrong(format!("there is no such machine; there are {all}")))?;
    let address = |machine: &String| {
        let found = args.at.iter().find(|(other, _)| other == machine).map(|(_, address)| address.clone());
        found.ok_or_else(|| wrong(format!("say by --at {machine}=ADDRESS:PORT where part {machine} is reached")))
    };
    let addresses = names.iter().map(address).collect::<Result<_, _>>()?;
    let part_of = |(home, _): &(usize, Why)| used.iter().position(|machine| machine == home).unwrap_or(0);
    let homes: Vec<usize> = placed.nodes.iter().map(part_of).collect();
    let facts = part_facts(&request)?;
    let key = read_key(key).map_err(wrong)?;
    let own_name = format!("{}-{name}", request.plan.name);
    let part = PartRequest { here, own_name, names, addresses, homes, key, facts };
    Ok(RunRequest { part: Some(Rc::new(part)), ..request })
}

fn read_key(path: &Path) -> Result<[u8; KeyPlan::LEN], String> {
    let text = netloom_regular::read_text(path, LONGEST_KEY_FILE)
        .map_err(|error| format!("reading {}: {error}", path.display()))?;
    let made = KeyPlan::MADE_BY;
    KeyPlan::parse(text.trim()).ok_or_else(|| format!("{} has no key of 64 hexadecimal digits: {made}", path.display()))
}
