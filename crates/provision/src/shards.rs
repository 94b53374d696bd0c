//! How many threads the packet engine gets, and which links each of them carries.

use netloom_fabric::{Cuts, Partition, PipeId, Shard, shards};
use netloom_lab::fabric::{device_specs, fabric_of, pipe_specs, pipes_from, ports_of, tunnel_sockets, watched};
use netloom_lab::{Clock, End, LinkPlan, Plan, Precision, Shards};

/// The lab's links, shared out.
#[derive(Debug)]
pub struct Sharing {
    partition: Partition,
    /// By the number of an end: the pipe that begins there.
    from: Vec<PipeId>,
    /// Why there are fewer shards than were asked for, or another remark on their number.
    pub(crate) note: Option<String>,
}

impl Sharing {
    /// Shares the links of `plan` out on a machine with so many processors.
    pub(crate) fn new(plan: &Plan, processors: usize) -> Self {
        let (pipes, routers) = (pipe_specs(plan), device_specs(plan));
        let joined: Vec<bool> = plan.pipes().map(|pipe| plan.links[pipe.link].bypass.is_joined()).collect();
        // Tunnels that share a socket are read by one thread.
        let together: Vec<_> = tunnel_sockets(plan).iter().map(|nodes| ports_of(plan, nodes)).collect();
        let is_idle = |pipe: PipeId| joined[pipe.0 as usize];
        let into = |most, cuts| Partition::keeping(&pipes, &routers, most, cuts, is_idle, &together);
        // In `exact` each keeps a processor busy, and the programs need one, too.
        let room = if plan.precision == Precision::Exact { processors.saturating_sub(1).max(1) } else { usize::MAX };
        let from = pipes_from(plan);
        match plan.shards {
            _ if plan.clock == Clock::Virtual => Self { partition: into(1, Cuts::Never), from, note: None },
            Shards::Auto => {
                Self { partition: into(Shards::most_unasked(processors).min(room), Cuts::Never), from, note: None }
            }
            Shards::Count(count) => {
                let asked = count as usize;
                let partition = into(asked.min(room), Cuts::WhereDelayed);
                let note = note(asked, room, partition.count(), processors);
                Self { partition, from, note }
            }
        }
    }

    /// The same on this machine.
    pub fn here(plan: &Plan) -> Self {
        Self::new(plan, netloom_host::processors::allowed().map_or(1, |all| all.len()))
    }

    /// How many shards there are.
    pub fn count(&self) -> usize {
        self.partition.count()
    }

    /// The shard that reads what comes from the end of a link: the one with the pipe that begins there.
    pub(crate) fn of_end(&self, end: End) -> usize {
        self.partition.of_pipe(self.from[end.index()])
    }

    /// The fabric in its shards.
    pub(crate) fn fabric(&self, plan: &Plan) -> Vec<Shard> {
        if self.count() == 1 {
            return vec![Shard::whole(fabric_of(plan))];
        }
        let mut all = shards(plan.seed, &pipe_specs(plan), &device_specs(plan), &self.partition);
        for (pipe, subset) in watched(plan) {
            all.iter_mut().for_each(|shard| shard.watch(pipe, &subset));
        }
        all
    }

    /// The names of the links that each shard carries; a link that is cut is with the shard of its first end.
    fn links<'a>(&self, plan: &'a Plan) -> Vec<Vec<&'a str>> {
        let mut all = vec![Vec::new(); self.count()];
        for link in plan.links.iter().filter(|link| !link.bypass.is_joined()) {
            all[self.of_end(link.ends[0].end)].push(link.name.as_str());
        }
        all
    }

    /// The names of the links whose directions belong to different shards.
    fn cut<'a>(&self, plan: &'a Plan) -> Vec<&'a str> {
        let is_cut = |link: &&LinkPlan| {
            let mut shards = link.ends.iter().map(|end| self.of_end(end.end));
            shards.next().is_some_and(|first| shards.any(|other| other != first))
        };
        plan.links.iter().filter(is_cut).map(|link| link.name.as_str()).collect()
    }
}

fn note(asked: usize, room: usize, made: usize, processors: usize) -> Option<String> {
    let are = |count: usize| if count == 1 { "is 1".to_owned() } else { format!("are {count}") };
    if made < asked.min(room) {
        Some(format!("{asked} shards were asked for, and there {}: the lab cannot be divided further", are(made)))
    } else if made < asked {
        Some(format!(
            "{asked} shards were asked for, and there {}: with precision exact each takes one of {processors} processors",
            are(made)
        ))
    } else if made > processors {
        Some(format!("{made} shards share {processors} processors and wait for one another"))
    } else {
        None
    }
}

/// How this machine would share the links of a lab out, as a part of what `netloom check` prints; nothing if one thread
/// carries all of them and nothing else was asked for.
pub fn shards_text(plan: &Plan) -> String {
    const NAMED: usize = 8;
    let sharing = Sharing::here(plan);
    let mut lines = Vec::new();
    if sharing.count() > 1 {
        let total: u64 = sharing.partition.weights().iter().sum();
        for (number, links) in sharing.links(plan).iter().enumerate() {
            let share = sharing.partition.weights()[number] * 100 / total.max(1);
            lines.push(format!("  {number}  {share} % of the work  {}", some(links, NAMED)));
        }
        let cut = sharing.cut(plan);
        if !cut.is_empty() {
            lines.push(format!("  between shards: {}", some(&cut, NAMED)));
        }
    }
    lines.extend(sharing.note.map(|note| format!("  {note}")));
    if lines.is_empty() { String::new() } else { format!("\nShards\n{}\n", lines.join("\n")) }
}

/// Returns the shards of a plan as JSON: the names of the links of each shard, and of those between shards.
pub fn shards_json(plan: &Plan) -> serde_json::Value {
    let sharing = Sharing::here(plan);
    serde_json::json!({
        "count": sharing.count(),
        "links": sharing.links(plan),
        "cut": sharing.cut(plan),
        "note": sharing.note,
    })
}

fn some(names: &[&str], most: usize) -> String {
    let named = names.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    let more = names.len().saturating_sub(most);
    if more > 0 { format!("{named} and {more} more") } else { named }
}

#[cfg(test)]
mod tests;
