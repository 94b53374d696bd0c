//! What is agreed with the driver ahead of time: when links change, and when everything is measured. The driver keeps these
//! scheduled events by itself, and the session, which may be busy with programs, only takes note of them.

use super::carriers::{is_at_kernel, takes_carrier};
use super::requests::Place;
use super::sampling;
use super::stage::{RunState, Stage};
use super::state::Session;
use netloom_commands::{Due, Item};
use netloom_dataplane::{Act, IfLate, ScheduledEvent, Task};
use netloom_fabric::PipeId;
use netloom_judge::{Kind, RunError};
use netloom_lab::{Action, LinkPart, Parter};
use netloom_provision::driver::Driver;
use netloom_units::{Duration, Instant};
use serde_json::json;

/// The numbers of the scheduled events at time zero; those of the timeline follow.
const BEGIN: u64 = 0;
const RESTART: u64 = 1;
pub(super) const TIME_ZERO: u64 = 2;
const SAMPLES: u64 = 3;
pub(super) const FIRST_OF_TIMELINE: u64 = 4;

/// How long before time zero its events are scheduled, in wall time, so that every thread of the engine has time to get them. If
/// one had to wait for a processor and gets them too late, time zero is chosen again with twice as much.
const LEAD: std::time::Duration = std::time::Duration::from_millis(5);

impl Session<'_> {
    /// Chooses time zero, in `left` or as soon as it can be, schedules all events, and returns when it has come. Counting begins then, and what pipes
    /// do by themselves begins anew, since lab files count its times from time zero.
    pub(super) fn schedule_events(&mut self, left: std::time::Duration) -> Result<Instant, RunError> {
        let mut lead = match self.context.links.driver() {
            Driver::Engine(_) => LEAD.max(left),
            Driver::Virtual(_) => std::time::Duration::ZERO,
        };
        // With others it is agreed on when it comes.
        let if_late = if left.is_zero() { IfLate::Forget } else { IfLate::Execute };
        let dilation = self.context.job.plan.clock.dilation().unwrap_or_default();
        loop {
            let zero = self.context.links.now() + dilation.to_lab(lead);
            let all = self.events_from(zero);
            if self.context.links.plan(all, if_late)? {
                std::thread::sleep(lead);
                return Ok(zero);
            }
            lead *= 2;
        }
    }

    /// All events that are known, if time zero is this.
    fn events_from(&self, zero: Instant) -> Vec<ScheduledEvent> {
        let restart = Task::Acts(self.context.links.restarts());
        let first = [(BEGIN, Task::Begin), (RESTART, restart), (TIME_ZERO, Task::Measure)];
        let first = first.map(|(number, task)| ScheduledEvent { number, at: zero, task });
        let timeline = self.timeline.items().filter_map(|due| self.scheduled_event(zero, *due));
        // Behind those of the timeline: a sample shows what is done at its instant.
        first.into_iter().chain(timeline).chain(sampling::scheduled_event(&self.context, SAMPLES, zero)).collect()
    }

    /// What the driver does for this item of the timeline, if it is not the session's own.
    fn scheduled_event(&self, zero: Instant, Due { at, item, number }: Due) -> Option<ScheduledEvent> {
        let task = match item {
            Item::Start(_) | Item::Mark(_) | Item::Disturb(_) | Item::Recover(_) => return None,
            Item::Measure | Item::End => Task::Measure,
            Item::Change(_) | Item::Cut(_) | Item::Restore(_) => Task::Acts(self.acts(item)),
            Item::Roam(place) => Task::Acts(vec![self.carriers.roaming(&self.context, place)?]),
        };
        Some(ScheduledEvent { number, at: zero + at, task })
    }

    /// What an entry of the timeline cuts or restores.
    fn switched(&self, event: usize) -> &LinkPart {
        self.context.job.plan.switched(event).expect("the timeline cuts and restores links for entries that say so")
    }

    fn acts(&self, item: Item) -> Vec<(PipeId, Act)> {
        match item {
            Item::Change(event) => match &self.context.job.plan.timeline[event].action {
                Action::Set { link, direction, pipe, change } => {
                    self.context.links.changes(*link, *direction, pipe.as_deref(), change)
                }
                Action::Partition { in_force, links, .. } => self.context.links.partitions(links, in_force),
                _ => unreachable!("the timeline changes links for entries that say so"),
            },
            Item::Cut(event) | Item::Restore(event) => {
                let LinkPart { link, direction, pipe } = self.switched(event);
                let (links, up) = (&self.context.links, matches!(item, Item::Restore(_)));
                let unplugs = !up && takes_carrier(&self.context.job.plan, event);
                let mut acts =
                    if unplugs { links.unplugged(*link) } else { links.states(*link, *direction, pipe.as_deref(), up) };
                // A cable is plugged in as a whole.
                if (unplugs || up) && is_at_kernel(&self.context.job.plan, *link) {
                    acts.extend(links.carriers(*link, up));
                }
                acts
            }
            _ => Vec::new(),
        }
    }

    /// A link was to change by now: what is in force is noted, and when it changed, if that is known yet.
    pub(super) fn link_was_to_change(&mut self, due: Due) -> Result<(), RunError> {
        match due.item {
            Item::Change(event) => match &self.context.job.plan.timeline[event].action {
                Action::Set { link, direction, pipe, change } => {
                    self.context.links.note_change(*link, *direction, pipe.as_deref(), change);
                }
                Action::Partition { heals: true, .. } => {
                    self.requests.partitions().end_of(Parter::Timeline, &mut self.context)?;
                }
                _ => {}
            },
            Item::Cut(event) | Item::Restore(event) => {
                let LinkPart { link, direction, pipe } = self.switched(event).clone();
                self.context.links.note_state(link, direction, pipe.as_deref(), matches!(due.item, Item::Restore(_)));
                self.requests.note_switched(&self.context.links.switched(link, direction, pipe.as_deref()));
            }
            _ => {}
        }
        self.awaited.push(due);
        self.context.links.look_for_kept()?;
        self.note_kept()?;
        self.note_firings()?;
        self.carriers.follow(&mut self.context, &mut self.programs, due)
    }

    /// Notes a mark of the timeline at the instant that it marks, whenever this thread comes to it.
    pub(super) fn mark(&mut self, event: usize, at: Duration) -> Result<(), RunError> {
        let (Some(zero), Action::Log(text)) = (self.context.zero(), &self.context.job.plan.timeline[event].action)
        else {
            return Ok(());
        };
        let text = text.clone();
        self.context.events.add(zero + at, Some(zero), "log", json!({ "text": text }))?;
        self.context.report_at(Some(at), text);
        Ok(())
    }

    /// Notes the changes that the driver has come to.
    pub(super) fn note_kept(&mut self) -> Result<(), RunError> {
        for change in std::mem::take(&mut self.awaited) {
            match self.context.links.take_executed(change.number) {
                Some(executed) => self.note_link_change(&change, Some(executed.late))?,
                None => self.awaited.push(change),
            }
        }
        Ok(())
    }

    /// Notes the changes that the driver never came to.
    pub(super) fn note_missed(&mut self) -> Result<(), RunError> {
        self.note_kept()?;
        std::mem::take(&mut self.awaited).iter().try_for_each(|change| self.note_link_change(change, None))
    }

    fn note_link_change(&mut self, Due { at, item, .. }: &Due, late: Option<Duration>) -> Result<(), RunError> {
        let Some(zero) = self.context.zero() else { return Ok(()) };
        // What never happened is as late as the run is long by now.
        let judged = late.unwrap_or_else(|| self.context.links.now().since(zero + *at));
        let happened = zero + *at + judged;
        let (place, what, mut details) = match item {
            Item::Change(event) if self.partitions_at(*event).is_some() => {
                let names = self.partitions_at(*event).unwrap_or_default();
                let text = if names.is_empty() { "healed".into() } else { format!("parted: {}", names.join(", and ")) };
                self.context.record(Kind::LinkChange, judged, true, || format!("{text} at {at}"));
                self.context.report_at(Some(happened.since(zero)), text);
                let lateness = late.map(Duration::as_nanos);
                let told = json!({ "in_force": names, "planned_ns": at.as_nanos(), "lateness_ns": lateness });
                return Ok(self.context.events.add(happened, Some(zero), "partition", told)?);
            }
            Item::Change(event) => {
                let Action::Set { link, direction, pipe, change } = &self.context.job.plan.timeline[*event].action
                else {
                    return Ok(());
                };
                let place = Place::new(*link, *direction, pipe.clone());
                (place, "changed", json!({ "set": netloom_lab::describe_change(change) }))
            }
            Item::Cut(event) | Item::Restore(event) => {
                let LinkPart { link, direction, pipe } = self.switched(*event).clone();
                (Place::new(link, direction, pipe), if matches!(item, Item::Cut(_)) { "down" } else { "up" }, json!({}))
            }
            _ => return Ok(()),
        };
        let text = place.text(&self.context.links.names()[place.link].name);
        self.context.record(Kind::LinkChange, judged, true, || format!("{text} {what} at {at}"));
        details["planned_ns"] = at.as_nanos().into();
        details["lateness_ns"] = late.map(Duration::as_nanos).into();
        self.context.report_at(Some(happened.since(zero)), format!("{text} {what}"));
        let details = place.details(&self.context.links.names()[place.link].name, details);
        Ok(self.context.events.add(happened, Some(zero), &format!("link {what}"), details)?)
    }

    /// The names of the partitions that this entry of the timeline puts in force, if it does.
    fn partitions_at(&self, event: usize) -> Option<Vec<String>> {
        let Action::Partition { in_force, .. } = &self.context.job.plan.timeline[event].action else { return None };
        Some(in_force.partitions().iter().map(ToString::to_string).collect())
    }

    /// A window of an expectation begins or ends, or the run does: what was measured then.
    pub(super) fn measured(&mut self, number: u64, at: Duration) -> Result<netloom_figures::Snapshot, RunError> {
        let (snapshot, late) = self.context.links.measured(number)?;
        if let Stage::Running(RunState { zero, .. }) = self.context.stage {
            // Without the driver's own measurement, this one is as late as it is.
            let late = late.unwrap_or_else(|| snapshot.at.since(zero + at));
            self.context.record(Kind::Measurement, late, true, || format!("that of {at}"));
            self.context.note("measured", json!({ "planned_ns": at.as_nanos(), "lateness_ns": late.as_nanos() }))?;
        }
        Ok(snapshot)
    }
}
