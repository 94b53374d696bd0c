//! What is to happen when, in order. Pure: it neither knows a clock nor does anything.

use netloom_lab::{Action, Plan};
use netloom_units::Duration;
use std::collections::VecDeque;

/// Something that is to happen at an instant of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// Start the program of this timeline entry.
    Start(usize),
    /// Change links as this timeline entry says.
    Change(usize),
    /// Cut what this timeline entry says.
    Cut(usize),
    /// Restore what this timeline entry cuts, or names.
    Restore(usize),
    /// A station of a radio medium leaves its access point or arrives at one: this one of the plan's.
    Roam(usize),
    /// Note the mark of this timeline entry.
    Mark(usize),
    /// End or hold the programs that this timeline entry means.
    Disturb(usize),
    /// Let them go on, or start them again.
    Recover(usize),
    /// Measure everything: a window of an expectation begins or ends here.
    Measure,
    /// The run ends, whatever still runs.
    End,
}

impl Item {
    /// Whether a run without a set duration waits for it.
    fn is_awaited(self) -> bool {
        !matches!(self, Self::Measure | Self::Roam(_))
    }
}

/// The order in which things are done that are due at one instant: what is measured there does not know of what is done
/// there, and programs find the links changed.
fn rank(item: Item) -> u8 {
    match item {
        Item::Measure => 0,
        Item::Mark(_) => 1,
        Item::Change(_) | Item::Cut(_) | Item::Restore(_) | Item::Roam(_) => 2,
        Item::Disturb(_) | Item::Recover(_) => 3,
        Item::Start(_) => 4,
        Item::End => 5,
    }
}

/// Whether two items at one instant do the same.
fn is_same(plan: &Plan, one: Item, other: Item) -> bool {
    match (one, other) {
        (Item::Cut(one), Item::Cut(other)) | (Item::Restore(one), Item::Restore(other)) => {
            plan.switched(one) == plan.switched(other)
        }
        _ => one == other,
    }
}

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The time behind time zero.
    pub at: Duration,
    /// The item that is due then.
    pub item: Item,
    /// The number of its scheduled event with the driver.
    pub number: u64,
}

/// The rest of the timeline.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    items: VecDeque<Due>,
}

impl Timeline {
    /// Creates the timeline of `plan`, without what starts before it; `windows` are the instants at which
    /// expectations need everything measured. At one instant, first everything is measured, then links change, then programs
    /// are disturbed, then others start; of these, each in the order of the lab file. Scheduled events are numbered from `first` on.
    pub fn of(plan: &Plan, windows: &[Duration], first: u64) -> Self {
        let mut items: Vec<(Duration, Item)> = windows.iter().map(|at| (*at, Item::Measure)).collect();
        for (index, event) in plan.timeline.iter().enumerate() {
            let at = event.at.unwrap_or(Duration::ZERO);
            match &event.action {
                Action::Run(_) if plan.starts_before_zero(index) || plan.starts_on_restart_only(index) => {}
                Action::Run(_) => items.push((at, Item::Start(index))),
                Action::Set { .. } | Action::Partition { .. } => items.push((at, Item::Change(index))),
                Action::Down { duration, .. } => {
                    items.push((at, Item::Cut(index)));
                    items.extend(duration.map(|lasting| (at + lasting, Item::Restore(index))));
                }
                Action::Up { .. } => items.push((at, Item::Restore(index))),
                Action::Log(_) => items.push((at, Item::Mark(index))),
                Action::Disturb { duration, .. } => {
                    items.push((at, Item::Disturb(index)));
                    items.extend(duration.map(|lasting| (at + lasting, Item::Recover(index))));
                }
            }
        }
        items.extend(plan.duration.map(|end| (end, Item::End)));
        Self::numbered(items, plan, first)
    }

    /// Creates the timeline of a lab that is up, in which nothing happens but what stations do.
    pub fn of_stations(plan: &Plan, first: u64) -> Self {
        Self::numbered(Vec::new(), plan, first)
    }

    fn numbered(mut items: Vec<(Duration, Item)>, plan: &Plan, first: u64) -> Self {
        items.extend(plan.roams().iter().enumerate().map(|(place, roam)| (roam.at, Item::Roam(place))));
        items.sort_by_key(|(at, item)| (*at, rank(*item)));
        // Cuts that overlap end together: what they cut is joined once.
        items.dedup_by(|(at, item), (before, last)| at == before && is_same(plan, *item, *last));
        let numbered = items.into_iter().zip(first..);
        Self { items: numbered.map(|((at, item), number)| Due { at, item, number }).collect() }
    }

    /// Adds what a client has asked for, behind what is due at that instant already.
    pub fn add(&mut self, at: Duration, item: Item) {
        let place = self.items.partition_point(|due| (due.at, rank(due.item)) <= (at, rank(item)));
        self.items.insert(place, Due { at, item, number: u64::MAX });
    }

    /// Takes back what this entry has for later.
    pub fn forget(&mut self, event: usize) {
        self.items.retain(|due| !matches!(due.item, Item::Disturb(own) | Item::Recover(own) if own == event));
    }

    /// Whether something of this entry is still to happen.
    pub fn is_awaited(&self, event: usize) -> bool {
        self.items.iter().any(|due| matches!(due.item, Item::Disturb(own) | Item::Recover(own) if own == event))
    }

    /// Returns all that is still to happen.
    pub fn items(&self) -> impl Iterator<Item = &Due> {
        self.items.iter()
    }

    /// Takes the next item that is due when `elapsed` has passed since time zero.
    pub fn pop_due(&mut self, elapsed: Duration) -> Option<Due> {
        let is_due = self.next().is_some_and(|at| at <= elapsed);
        if is_due { self.items.pop_front() } else { None }
    }

    /// Takes the next item and returns its entry, if it is one of these and due at this instant.
    pub fn pop_if(&mut self, at: Duration, entry: impl FnOnce(Item) -> Option<usize>) -> Option<usize> {
        let next = self.items.front().filter(|due| due.at == at)?;
        let event = entry(next.item)?;
        self.items.pop_front();
        Some(event)
    }

    /// Takes the next item and returns its entry, if it starts a program at this instant.
    pub fn pop_start(&mut self, at: Duration) -> Option<usize> {
        self.pop_if(at, |item| if let Item::Start(event) = item { Some(event) } else { None })
    }

    /// Returns when the next item is due.
    pub fn next(&self) -> Option<Duration> {
        self.items.front().map(|due| due.at)
    }

    /// Whether a run has nothing more to wait for here.
    pub fn is_over(&self) -> bool {
        !self.items.iter().any(|due| due.item.is_awaited())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(timeline: &str) -> Plan {
        let text = format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b]}}}}\n{timeline}");
        netloom_lab::parse(&text, "test.yaml").unwrap().plan
    }

    fn ms(value: u64) -> Duration {
        Duration::from_millis(value)
    }

    #[test]
    fn items_come_in_order_of_time_then_of_the_file() {
        let plan = plan(
            "timeline:
  - {on: b, run: sleep 100, service: true}
  - {at: 2 s, link: l, down: 500 ms}
  - {on: a, run: 'true'}
  - {at: 2 s, link: l, set: {delay: 1 ms}}
",
        );
        let mut timeline = Timeline::of(&plan, &[ms(2_100)], 7);
        let due = |at, item, number| Some(Due { at: ms(at), item, number });
        assert_eq!(timeline.pop_due(ms(0)), due(0, Item::Start(2), 7));
        assert_eq!(timeline.pop_due(ms(1_999)), None);
        assert_eq!(timeline.next(), Some(ms(2_000)));
        assert_eq!(timeline.pop_due(ms(2_000)), due(2_000, Item::Cut(1), 8));
        assert_eq!(timeline.pop_due(ms(2_050)), due(2_000, Item::Change(3), 9));
        assert_eq!(timeline.pop_due(ms(9_000)), due(2_100, Item::Measure, 10));
        assert!(!timeline.is_over());
        assert_eq!(timeline.pop_due(ms(9_000)), due(2_500, Item::Restore(1), 11));
        assert!(timeline.is_over());
    }

    #[test]
    fn what_is_asked_for_comes_in_its_turn() {
        let mut timeline = Timeline::of(&plan("timeline: [{at: 2 s, link: l, down: 500 ms}]\n"), &[], 7);
        timeline.add(ms(1_000), Item::Disturb(4));
        timeline.add(ms(2_000), Item::Recover(4));
        timeline.add(ms(1_000), Item::Disturb(5));
        let mut found = std::iter::from_fn(|| timeline.pop_due(ms(2_100)).map(|due| due.item));
        let first: Vec<Item> = found.by_ref().take(3).collect();
        assert_eq!(first, [Item::Disturb(4), Item::Disturb(5), Item::Cut(0)]);
        assert!(timeline.is_awaited(4) && !timeline.is_awaited(5));
        assert_eq!(timeline.pop_due(ms(2_100)).map(|due| due.item), Some(Item::Recover(4)));
        assert!(!timeline.is_awaited(4));
    }

    #[test]
    fn at_one_instant_everything_is_measured_then_links_change_then_programs_start_together() {
        let plan = plan(
            "duration: 1 s
timeline:
  - {at: 1 s, on: a, run: 'true'}
  - {at: 1 s, on: b, run: 'true'}
  - {at: 1 s, link: l, set: {delay: 1 ms}}
  - {at: 1 s, on: b, run: 'true'}
  - {at: 1 s, link: l, down: true}
",
        );
        let second = ms(1_000);
        let mut timeline = Timeline::of(&plan, &[second], 0);
        let mut next = || timeline.pop_due(second).map(|due| due.item);
        assert_eq!([next(), next(), next()], [Item::Measure, Item::Change(2), Item::Cut(4)].map(Some));
        assert_eq!(next(), Some(Item::Start(0)));
        let starts: Vec<_> = std::iter::from_fn(|| timeline.pop_start(second)).collect();
        assert_eq!(starts, [1, 3]);
        assert_eq!(timeline.pop_due(second).map(|due| due.item), Some(Item::End));
    }

    #[test]
    fn cuts_that_overlap_are_joined_once() {
        let plan = plan("timeline: [{at: 1 s, link: l, down: 2 s}, {at: 2 s, link: l, down: 2 s}]\n");
        let mut timeline = Timeline::of(&plan, &[], 0);
        let items: Vec<_> = std::iter::from_fn(|| timeline.pop_due(ms(9_000))).map(|due| (due.at, due.item)).collect();
        assert_eq!(items, [(ms(1_000), Item::Cut(0)), (ms(2_000), Item::Cut(1)), (ms(4_000), Item::Restore(0))]);
    }

    #[test]
    fn a_window_alone_keeps_no_run_going() {
        let timeline = Timeline::of(&plan(""), &[ms(1)], 0);
        assert!(timeline.is_over());
        let limited = Timeline::of(&plan("duration: 3 s\n"), &[], 0);
        assert!(!limited.is_over());
        assert_eq!(limited.next(), Some(ms(3_000)));
    }
}
