//! A fault that a client asks for while a lab runs: an entry of the timeline that happens now.

use super::super::packets;
use super::{Target, keeps_nothing, why_not};
use crate::decode::{ByHand, by_hand};
use crate::diagnostics::{Diagnostic, Spanned, nearest};
use crate::errors::Errors;
use crate::models::ChangeError;
use crate::plan::{
    Action, Clock, ClockChange, DiskFault, DiskFaultKind, Disturbance, Keep, LinkPart, NodePlan, Plan, Stack,
    Standstill, Starvation, VmPlan, Whose,
};
use crate::resolve::patterns::{Candidates, is_pattern};
use crate::spec::{ActionSpec, PartSpec};
use crate::yaml;
use netloom_units::Duration;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one is made at a time")]
pub enum RequestedFault {
    /// Nodes are parted, as the entry says.
    Partition,
    /// All partitions of clients end.
    Heal,
    /// The node at this place in the plan starts, which has stopped or crashed.
    Start(usize),
    /// An action of the timeline.
    Action(Action),
}

/// The kinds of faults of nodes, each with an example by which is known whether a node can have it.
const OF_NODES: [(&str, Disturbance); 7] = [
    ("stop", Disturbance::Stop),
    ("crash", Disturbance::Crash(Keep::Flushed)),
    ("freeze", Disturbance::Freeze(Standstill::Pause)),
    ("clock", Disturbance::Clock(ClockChange { step: None, drift: None, leap: None })),
    ("disk", Disturbance::Disk(DiskFault { kind: DiskFaultKind::Works, nth: 1, count: None, sectors: None })),
    ("fail", Disturbance::EndFailures),
    ("starve", Disturbance::Starve(Starvation { thread: None, spans: None })),
];

/// Returns the kinds of faults of nodes, as entries of the timeline have them, and for each why this node cannot have it, if so.
pub fn refusals(plan: &Plan, node: usize) -> impl Iterator<Item = (&'static str, Option<String>)> {
    OF_NODES.into_iter().map(move |(name, how)| (name, refusal((how, None), Whose::Node(node), plan)))
}

/// Returns the faults that an entry of the timeline describes as a lab file has it, without the keys that say when: in their order.
///
/// # Errors
/// What is wrong with the entry.
pub fn parse_fault(entry: &str, plan: &Plan) -> Result<Vec<RequestedFault>, ChangeError> {
    let wrong = |error: &Diagnostic| refused(error.message());
    let unread = || refused("this is no YAML: write for example `{on: client, clock: {step: 3 s}}`");
    let read = yaml::parse(entry).map_err(|errors| errors.first().map_or_else(unread, wrong))?;
    let mut errors = Errors::default();
    let written = by_hand(&read, &mut errors);
    if let Some(error) = errors.into_entries().first() {
        return Err(wrong(error));
    }
    match written.ok_or_else(unread)? {
        ByHand::Partition => Ok(vec![RequestedFault::Partition]),
        ByHand::Action(action) => meaning(action, plan),
    }
}

/// Finds what an entry means in a plan.
fn meaning(action: ActionSpec, plan: &Plan) -> Result<Vec<RequestedFault>, ChangeError> {
    let mut all = Vec::new();
    match action {
        ActionSpec::Disturb { how, whose, process, duration } => {
            for own in whose.iter().map(|name| meant(&name.value, plan)).collect::<Result<Vec<_>, _>>()?.concat() {
                all.push(disturbed(Action::Disturb { how, whose: own, process: process.clone(), duration }, plan)?);
            }
        }
        ActionSpec::Stop { nodes, duration, crash } => {
            let how = crash.as_ref().map_or(Disturbance::Stop, |crash| Disturbance::Crash(crash.rule()));
            let crashes = crash.is_some();
            let is_kept = crash.is_some_and(|crash| crash.keep.is_some());
            let may_be_meant = |node: usize| !crashes || plan.nodes[node].kind.runs_programs();
            for node in stoppable(&nodes, plan, may_be_meant, how)? {
                let (whose, own) = (Whose::Node(node), &plan.nodes[node]);
                all.push(disturbed(Action::Disturb { how, whose, process: None, duration }, plan)?);
                if is_kept && own.disk.is_none() {
                    return Err(refused(&format!("keep: {}", keeps_nothing(&own.name))));
                }
            }
        }
        ActionSpec::Start { nodes } => {
            let again = stoppable(&nodes, plan, |_| true, Disturbance::Stop)?;
            all.extend(again.into_iter().map(RequestedFault::Start));
        }
        ActionSpec::Reboot { nodes, duration } => {
            for node in nodes_of(&nodes, &with_programs(plan), plan)? {
                let (how, whose, duration) = (Disturbance::Kill, Whose::Node(node), Some(duration));
                all.push(disturbed(Action::Disturb { how, whose, process: None, duration }, plan)?);
                all.extend(links_at(node, plan).map(|link| cut(link, duration)));
            }
        }
        ActionSpec::Flap { what, duration } => {
            for name in &what {
                all.extend(flapping(&name.value, plan)?.into_iter().map(|link| cut(link, Some(duration))));
            }
        }
        ActionSpec::Set { part, mut change } => {
            let LinkPart { link, direction, pipe } = part_of(part, plan)?;
            if let Some(why) = packets::by_hand(plan, link, direction, pipe.as_deref(), &mut change) {
                return Err(refused(&why));
            }
            all.push(RequestedFault::Action(Action::Set { link, direction, pipe, change }));
        }
        ActionSpec::Down { part, duration, carrier } => {
            let (meant, carrier) = (part_of(part, plan)?, carrier.is_some());
            all.push(RequestedFault::Action(Action::Down { part: meant, duration, carrier }));
        }
        ActionSpec::Up { part } => all.push(RequestedFault::Action(Action::Up { part: part_of(part, plan)? })),
        ActionSpec::Heal { .. } => all.push(RequestedFault::Heal),
        ActionSpec::Run(_) | ActionSpec::Log(_) | ActionSpec::Partition(_) | ActionSpec::Move(_) => {
            return Err(refused("this is no entry that can be made by hand"));
        }
    }
    Ok(all)
}

/// Finds the part of a link that is meant.
fn part_of(part: PartSpec, plan: &Plan) -> Result<LinkPart, ChangeError> {
    let link = link_of(&part.link.value, plan)?;
    Ok(LinkPart { link, direction: part.direction, pipe: part.pipe.map(|name| name.value) })
}

fn refused(why: &str) -> ChangeError {
    ChangeError::new(format!("fault: {why}"))
}

/// The disturbance, if what it is about can be disturbed so.
fn disturbed(action: Action, plan: &Plan) -> Result<RequestedFault, ChangeError> {
    if let Action::Disturb { how, whose, process, .. } = &action
        && let Some(why) = refusal((*how, process.as_deref()), *whose, plan)
    {
        return Err(refused(&why));
    }
    Ok(RequestedFault::Action(action))
}

/// Why this cannot be done to these programs or this node, if so.
fn refusal((how, part): (Disturbance, Option<&str>), whose: Whose, plan: &Plan) -> Option<String> {
    let place = match whose {
        Whose::Node(place) => place,
        Whose::Command(event) => host(&plan.timeline[event].action)?,
    };
    let node = plan.nodes.get(place)?;
    if how.is_stop() {
        return plan
            .never_stops(place, how)
            .or_else(|| why_not((how, part), whose, target(node, plan.clock), &node.name));
    }
    let without_count = is_uncounted(how, place, plan).then(|| uncounted(node));
    let aim = || why_not((how, part), whose, target(node, plan.clock), plan.whose_name(whose));
    without_count.or_else(|| closed(node)).or_else(aim)
}

fn cut(link: usize, duration: Option<Duration>) -> RequestedFault {
    RequestedFault::Action(Action::Down { part: LinkPart::whole(link), duration, carrier: false })
}

/// The links at a node.
fn links_at(node: usize, plan: &Plan) -> impl Iterator<Item = usize> {
    let is_at = move |link: &crate::plan::LinkPlan| link.ends.iter().any(|end| end.node == node);
    (0..).zip(&plan.links).filter(move |(_, link)| is_at(link)).map(|(number, _)| number)
}

/// The link of this name, or those at the node of this name, or at nodes of names like this.
fn flapping(name: &str, plan: &Plan) -> Result<Vec<usize>, ChangeError> {
    if is_pattern(name) {
        let nodes = plan.nodes.iter().enumerate().filter(|(_, node)| !node.is_lan);
        let all = Candidates::new("node", nodes.map(|(place, node)| (place, node.name.as_str())));
        let like = all.like(name).map_err(|why| refused(&why))?;
        return Ok(like.into_iter().flat_map(|node| links_at(node, plan)).collect());
    }
    match plan.nodes.iter().position(|node| node.name == name) {
        Some(node) => Ok(links_at(node, plan).collect()),
        None => link_of(name, plan).map(|link| vec![link]),
    }
}

fn link_of(name: &str, plan: &Plan) -> Result<usize, ChangeError> {
    let names = || plan.links.iter().map(|link| link.name.as_str());
    plan.links.iter().position(|link| link.name == name).ok_or_else(|| {
        let hint = nearest(name, names()).map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
        refused(&format!("no link is called `{name}`{hint}"))
    })
}

/// The nodes of these names, and those of names like these among the candidates, each once.
fn nodes_of(names: &[Spanned<String>], candidates: &Candidates<'_>, plan: &Plan) -> Result<Vec<usize>, ChangeError> {
    let mut all: Vec<usize> = Vec::new();
    for name in names.iter().map(|name| name.value.as_str()) {
        let named = || {
            let near = nearest(name, plan.nodes.iter().map(|node| node.name.as_str()));
            let hint = near.map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
            let place = plan.nodes.iter().position(|node| node.name == name);
            place.map(|place| vec![place]).ok_or_else(|| format!("no node is called `{name}`{hint}"))
        };
        let meant = if is_pattern(name) { candidates.like(name) } else { named() };
        let meant = meant.map_err(|why| refused(&why))?;
        all.extend(meant.into_iter().filter(|node| !all.contains(node)).collect::<Vec<_>>());
    }
    Ok(all)
}

/// The nodes in which the lab can run programs.
fn with_programs(plan: &Plan) -> Candidates<'_> {
    let able = plan.nodes.iter().enumerate().filter(|(_, node)| node.takes_commands());
    Candidates::with_programs(able.map(|(place, node)| (place, node.name.as_str())))
}

/// The nodes of these names and patterns; patterns leave out what cannot stop so, and what may not be meant.
fn stoppable(
    names: &[Spanned<String>],
    plan: &Plan,
    may_be_meant: impl Fn(usize) -> bool,
    how: Disturbance,
) -> Result<Vec<usize>, ChangeError> {
    let nodes = plan.nodes.iter().enumerate().map(|(place, node)| (place, node.name.as_str()));
    let able = nodes.filter(|(place, _)| may_be_meant(*place) && plan.never_stops(*place, how).is_none());
    nodes_of(names, &Candidates::stoppable(able), plan)
}

/// Whether memory or processes are to be limited where no control groups were made for it.
fn is_uncounted(how: Disturbance, node: usize, plan: &Plan) -> bool {
    let Disturbance::Limit(change) = how else { return false };
    let is_limited = change.memory.is_some() || change.pids.is_some();
    plan.nodes[node].stack == Stack::Kernel && is_limited && !plan.limits_programs(node)
}

fn uncounted(node: &NodePlan) -> String {
    format!(
        "nobody counts what the programs of `{}` use: limit `fds` alone, or give the timeline of the lab file an entry `limit` with \
         `memory` or `pids` for it, if only `unlimited`",
        node.name
    )
}

/// The node of a command.
fn host(action: &Action) -> Option<usize> {
    if let Action::Run(run) = action { Some(run.node) } else { None }
}

fn target(node: &NodePlan, clock: Clock) -> Target<'_> {
    let (is_container, disk) = (node.container.is_some(), node.disk.as_ref());
    let is_closed = node.vm.as_ref().is_some_and(VmPlan::is_closed);
    Target { name: &node.name, kind: node.kind, stack: node.stack, is_container, is_closed, clock, disk }
}

fn closed(node: &NodePlan) -> Option<String> {
    let name = &node.name;
    (!node.takes_commands()).then(|| format!("`{name}` runs no programs that Netloom could reach: choose another node"))
}

/// The command or node of this name, or the nodes that a pattern means.
fn meant(name: &str, plan: &Plan) -> Result<Vec<Whose>, ChangeError> {
    if is_pattern(name) {
        let like = with_programs(plan).like(name).map_err(|why| refused(&why))?;
        return Ok(like.into_iter().map(Whose::Node).collect());
    }
    let is_command = |event: &usize| plan.command_name(*event) == Some(name);
    if let Some(event) = (0..plan.timeline.len()).find(is_command) {
        return match &plan.timeline[event].action {
            Action::Run(run) if run.setup => {
                Err(refused(&format!("`{name}` makes the lab ready, and is over when time begins")))
            }
            _ => Ok(vec![Whose::Command(event)]),
        };
    }
    if let Some(place) = plan.nodes.iter().position(|node| node.name == name) {
        return Ok(vec![Whose::Node(place)]);
    }
    let commands = (0..plan.timeline.len()).filter_map(|event| plan.command_name(event));
    let hint = nearest(name, commands.chain(plan.nodes.iter().map(|node| node.name.as_str())))
        .map_or_else(String::new, |near| format!(": did you mean `{near}`?"));
    Err(refused(&format!("no command and no node is called `{name}`{hint}")))
}

#[cfg(test)]
mod tests;
