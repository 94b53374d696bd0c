//! What the timeline does to links; programs are left out.

use netloom_fabric::PipeId;
use netloom_lab::{Action, Direction, LinkPart, PipePlan, Plan, Whose};
use netloom_link::PipeChange;
use netloom_units::{Duration, Instant};

/// What happens to a pipe.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Set(Box<PipeChange>),
    SetUp(bool),
    Unplug,
    /// A node at its link stops, or runs again.
    Hold(bool),
}

/// Something that happens to a pipe at an instant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) at: Instant,
    pub(crate) pipe: PipeId,
    pub(crate) change: Change,
}

/// Which pipes an entry is about.
#[derive(Clone, Copy)]
struct Place<'a> {
    link: usize,
    /// None: both.
    direction: Option<Direction>,
    /// A further pipe's name; none: the direction's own pipe.
    further: Option<&'a str>,
    /// Whether the further pipes are meant as well.
    all: bool,
}

impl Place<'_> {
    fn holds(&self, pipe: &PipePlan<'_>) -> bool {
        let further = pipe.treatment.map(|treatment| treatment.name.as_str());
        pipe.link == self.link
            && self.direction.is_none_or(|direction| direction == pipe.direction)
            && (self.all || further == self.further)
    }
}

/// What is cut or joined.
fn switched(part: &LinkPart) -> Place<'_> {
    let LinkPart { link, direction, pipe } = part;
    Place { link: *link, direction: *direction, further: pipe.as_deref(), all: pipe.is_none() }
}

/// What happens to pipes, in order, and the names of the programs that are left out.
pub(crate) fn events(plan: &Plan) -> (Vec<Event>, Vec<String>) {
    let (mut events, mut skipped) = (Vec::new(), Vec::new());
    for entry in &plan.timeline {
        let at = Instant::ZERO + entry.at.unwrap_or_default();
        let mut add = |place: Place<'_>, after: Duration, change: Change| {
            let meant = (0..).zip(plan.pipes()).filter(|(_, pipe)| place.holds(pipe));
            events.extend(meant.map(|(number, _)| Event {
                at: at + after,
                pipe: PipeId(number),
                change: change.clone(),
            }));
        };
        match &entry.action {
            Action::Run(run) => skipped.push(run.name.clone()),
            Action::Disturb { how, whose: Whose::Node(node), duration, .. } if how.is_stop() => {
                let own =
                    plan.links.iter().enumerate().filter(|(_, link)| link.ends.iter().any(|end| end.node == *node));
                for (link, _) in own {
                    let place = Place { link, direction: None, further: None, all: true };
                    add(place, Duration::ZERO, Change::Hold(true));
                    duration.iter().for_each(|span| add(place, *span, Change::Hold(false)));
                }
            }
            Action::Log(_) | Action::Disturb { .. } => {}
            Action::Set { link, direction, pipe, change } => {
                let place = Place { link: *link, direction: *direction, further: pipe.as_deref(), all: false };
                add(place, Duration::ZERO, Change::Set(change.clone()));
            }
            Action::Partition { in_force, links, .. } => {
                let change = PipeChange { partition_set: Some(in_force.clone()), ..PipeChange::default() };
                for link in links.iter() {
                    let place = Place { link: *link, direction: None, further: None, all: true };
                    add(place, Duration::ZERO, Change::Set(Box::new(change.clone())));
                }
            }
            Action::Down { part, duration, carrier } => {
                let change = if *carrier { Change::Unplug } else { Change::SetUp(false) };
                add(switched(part), Duration::ZERO, change);
                duration.iter().for_each(|span| add(switched(part), *span, Change::SetUp(true)));
            }
            Action::Up { part } => add(switched(part), Duration::ZERO, Change::SetUp(true)),
        }
    }
    // Of what happens at one instant, the order of the file is kept.
    events.sort_by_key(|event| event.at);
    (events, skipped)
}
