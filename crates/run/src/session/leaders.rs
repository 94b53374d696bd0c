//! Partitions of nodes that commands of the timeline name: each begins when its command has ended.

use super::state::Session;
use netloom_commands::Command;
use netloom_judge::RunError;
use netloom_lab::{LeaderPartition, Parter, RequestedPartition};
use netloom_provision::job::Job;
use serde_json::json;

impl Session<'_> {
    /// Parts those whom commands have named by now.
    pub(super) fn part_leaders(&mut self) -> Result<(), RunError> {
        let Self { context, programs, requests, .. } = self;
        for command in &mut programs.commands {
            let Some(leads) = command.described.leads.clone().filter(|_| command.ended.is_some()) else { continue };
            if std::mem::replace(&mut command.has_led, true) {
                continue;
            }
            match named(command, &leads, context.job) {
                Ok(partition) => requests.partitions().begin(partition, Parter::Timeline, context)?,
                Err(why) => {
                    let name = &command.described.name;
                    let told = format!("`{name}` was to name a node, and nobody was parted: {why}");
                    context.note("partition", json!({ "in_force": null, "by": name, "why": why }))?;
                    context.report(told.clone());
                    context.notes.push(told);
                }
            }
        }
        Ok(())
    }
}

/// The partition of whom a command has named, or why it has named nobody.
fn named(command: &Command, leads: &LeaderPartition, job: &Job) -> Result<RequestedPartition, String> {
    if let Some((_, ending, _)) = command.ended.filter(|(_, ending, _)| ending.code != Some(0)) {
        return Err(format!("it ended with {}", ending.shell_code()));
    }
    job.plan.part_leader(leads, &command.stdout_text(&job.folder)?).map_err(|error| error.to_string())
}
