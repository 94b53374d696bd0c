//! Partitions that are made while a lab runs: of clients, and of leaders that commands of its timeline name.

use super::refusals::Refusal;
use crate::session::context::Context;
use netloom_judge::{ExitCode, RunError};
use netloom_lab::{Parted, Parter, RequestedPartition, parse_partition};
use netloom_units::Instant;
use serde_json::json;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ClientPartitions {
    parted: Parted,
    /// How many clients have asked for so far.
    count: usize,
}

impl ClientPartitions {
    /// When one of them ends by itself next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.parted.next()
    }

    /// Parts nodes from now on, as this entry of the timeline describes.
    pub(super) fn add(&mut self, entry: &str, context: &mut Context<'_>) -> Result<Result<(), Refusal>, RunError> {
        let new = match parse_partition(entry, &context.job.plan, self.count + 1) {
            Ok(new) => new,
            Err(error) => return Ok(Err((ExitCode::Usage, error.to_string()))),
        };
        if let Some(link) = new.links.iter().map(|link| &context.links.names()[*link]).find(|link| link.joined) {
            let message = format!(
                "partition: `{}` is joined in the kernel, past the engine, which would have to judge its packets: write `bypass: false` \
                 for it in the lab file and start the lab again",
                link.name
            );
            return Ok(Err((ExitCode::Usage, message)));
        }
        self.count += 1;
        context.intervene(true, &format!("parted: {}", new.nodes));
        self.begin(new, Parter::Client, context).map(Ok)
    }

    /// Parts nodes from now on.
    pub(crate) fn begin(
        &mut self,
        new: RequestedPartition,
        parter: Parter,
        context: &mut Context<'_>,
    ) -> Result<(), RunError> {
        let links = self.parted.begin(new, parter, context.links.now());
        self.put_in_force(&links, parter, context)
    }

    /// Ends all that clients have asked for.
    pub(super) fn heal(&mut self, context: &mut Context<'_>) -> Result<Result<(), Refusal>, RunError> {
        if !self.parted.is_parted_by(Parter::Client) {
            let message =
                "there is nothing to heal: no client has parted nodes, and what the timeline parts it heals itself";
            return Ok(Err((ExitCode::Usage, message.to_owned())));
        }
        context.intervene(true, "healed");
        self.end_of(Parter::Client, context).map(Ok)
    }

    /// Ends all that this one has made.
    pub(crate) fn end_of(&mut self, parter: Parter, context: &mut Context<'_>) -> Result<(), RunError> {
        let links = self.parted.heal(parter);
        if links.is_empty() { Ok(()) } else { self.put_in_force(&links, parter, context) }
    }

    /// Ends those whose time has passed.
    pub(super) fn end_due(&mut self, context: &mut Context<'_>) -> Result<(), RunError> {
        let Some((parter, links)) = self.parted.end_due(context.links.now()) else { return Ok(()) };
        self.put_in_force(&links, parter, context)
    }

    /// What is in force is so from now on, at these links.
    fn put_in_force(&mut self, links: &[usize], by: Parter, context: &mut Context<'_>) -> Result<(), RunError> {
        let set = self.parted.in_force(&context.job.plan);
        context.links.part(links, &set)?;
        let names: Vec<String> = set.partitions().iter().map(ToString::to_string).collect();
        let text = if names.is_empty() { "healed".to_owned() } else { format!("parted: {}", names.join(", and ")) };
        context.report(text);
        context.note("partition", json!({ "in_force": names, "by": by.name() }))
    }
}
