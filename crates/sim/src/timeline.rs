//! What the timeline does to links; programs are left out.

use netloom_fabric::PipeId;
use netloom_lab::{Action, Direction, Plan};
use netloom_link::PipeChange;
use netloom_units::{Duration, Instant};

/// What happens to a pipe.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Deed {
    Change(Box<PipeChange>),
    SetUp(bool),
}

/// Something that happens to a pipe at an instant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) at: Instant,
    pub(crate) pipe: PipeId,
    pub(crate) deed: Deed,
}

/// What happens to pipes, in order, and the names of the programs that are left out.
pub(crate) fn events(plan: &Plan) -> (Vec<Event>, Vec<String>) {
    let (mut events, mut skipped) = (Vec::new(), Vec::new());
    for entry in &plan.timeline {
        let at = Instant::ZERO + entry.at.unwrap_or_default();
        let mut add = |link, only: Option<Direction>, after: Duration, deed: Deed| {
            let directions = Direction::BOTH.into_iter().filter(|this| only.is_none_or(|direction| direction == *this));
            events.extend(directions.map(|this| Event { at: at + after, pipe: pipe(link, this), deed: deed.clone() }));
        };
        match &entry.action {
            Action::Run(run) => skipped.push(run.name.clone()),
            Action::Set { link, direction, change } => {
                add(*link, *direction, Duration::ZERO, Deed::Change(Box::new(change.clone())));
            }
            Action::Down { link, duration } => {
                add(*link, None, Duration::ZERO, Deed::SetUp(false));
                duration.iter().for_each(|span| add(*link, None, *span, Deed::SetUp(true)));
            }
            Action::Up { link } => add(*link, None, Duration::ZERO, Deed::SetUp(true)),
        }
    }
    // Of what happens at one instant, the order of the file is kept.
    events.sort_by_key(|event| event.at);
    (events, skipped)
}

fn pipe(link: usize, direction: Direction) -> PipeId {
    PipeId(u32::try_from(link * 2 + direction.index()).expect("a lab has fewer than 2^31 links"))
}
