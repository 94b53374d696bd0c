//! Cuts by hand that are to last so long: the lab restores what was cut when that time of its own has passed, whether or not whoever has cut it is still there.

use super::place::{Place, State, note_state};
use crate::session::carriers::{Carriers, has_carriers};
use crate::session::context::Context;
use crate::session::programs::Programs;
use netloom_judge::{PipePlace, RunError};
use netloom_provision::links::Links;
use netloom_units::Instant;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Heals(Vec<Heal>);

/// A cut that ends by itself.
#[derive(Clone, Debug)]
struct Heal {
    at: Instant,
    place: Place,
    /// The pipes of that place whose state nobody has changed since.
    pipes: Vec<usize>,
}

impl Heals {
    /// The state of these pipes is another one by now: what was to end their cuts before does not count any more.
    pub(super) fn forget(&mut self, pipes: &[usize]) {
        for heal in &mut self.0 {
            heal.pipes.retain(|pipe| !pipes.contains(pipe));
        }
        self.0.retain(|heal| !heal.pipes.is_empty());
    }

    /// These pipes, which are all of that place, are restored then.
    pub(super) fn add(&mut self, at: Instant, place: Place, pipes: Vec<usize>) {
        self.forget(&pipes);
        if !pipes.is_empty() {
            self.0.push(Heal { at, place, pipes });
        }
    }

    /// When something is to be restored next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0.iter().map(|heal| heal.at).min()
    }

    fn take_due(&mut self, now: Instant) -> Vec<Heal> {
        let (due, later) = std::mem::take(&mut self.0).into_iter().partition(|heal| heal.at <= now);
        self.0 = later;
        due
    }

    /// Restores what is due.
    pub(super) fn restore(
        &mut self,
        context: &mut Context<'_>,
        programs: &mut Programs,
        carriers: &mut Carriers,
    ) -> Result<(), RunError> {
        for heal in self.take_due(context.links.now()) {
            context.links.restore(&heal.pipes)?;
            for place in heal.places(&context.links) {
                note_state(context, &place, State::Up)?;
            }
            if has_carriers(&context.job.plan, heal.place.link) {
                carriers.switch(context, programs, heal.place.link, true, None)?;
            }
        }
        Ok(())
    }
}

impl Heal {
    /// What is restored: the place as a whole, or those of its pipes that are left.
    fn places(&self, links: &Links) -> Vec<Place> {
        if self.pipes.len() == self.place.switched(links).len() {
            return vec![self.place.clone()];
        }
        let places = self.pipes.iter().map(|pipe| links.pipes()[*pipe].place.clone());
        places.map(|PipePlace { link, direction, pipe }| Place::new(link, Some(direction), pipe)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_nanos(seconds * 1_000_000_000)
    }

    fn whole(link: usize) -> Place {
        Place::new(link, None, None)
    }

    #[test]
    fn a_later_change_of_the_state_ends_an_earlier_cut() {
        let mut heals = Heals::default();
        heals.add(at(3), whole(0), vec![0, 1]);
        heals.add(at(2), whole(1), vec![2, 3]);
        assert_eq!(heals.next(), Some(at(2)));
        // Cut anew for longer.
        heals.add(at(5), whole(1), vec![2, 3]);
        assert_eq!(heals.next(), Some(at(3)));
        // Cut in one direction until it is restored by hand: the other direction still is.
        heals.forget(&[0]);
        assert_eq!(heals.0.iter().find(|heal| heal.at == at(3)).map(|heal| heal.pipes.clone()), Some(vec![1]));
        heals.forget(&[1, 2, 3]);
        assert_eq!(heals.next(), None);
    }
}
