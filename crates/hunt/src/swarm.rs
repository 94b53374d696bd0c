//! What the faults of one run are drawn from: which kinds there are at all, how many faults, and at which instants.
//!
//! To leave out kinds at random finds more than to draw from all of them in every run (Groce and others, *Swarm testing*, ISSTA 2012): a
//! failure that needs ten kills rarely comes about where partitions heal everything else.

use crate::instants::{Instants, place};
use netloom_link::Spans;

/// Numbers of faults of a run, each as likely as another: few are enough for most failures.
const NUMBERS: [usize; 12] = [1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 7, 10];

/// The draw of a run.
#[derive(Clone, Debug, Default)]
pub struct Swarm<'a> {
    /// The kinds that exist in the run, as places among all that the lab has.
    kinds: Vec<usize>,
    /// How many faults there are, at most.
    faults: usize,
    instants: Option<&'a Instants>,
}

impl<'a> Swarm<'a> {
    /// Draws what there is in a run with these many kinds of faults.
    pub fn draw(random: &mut Spans, kinds: usize, instants: &'a Instants) -> Self {
        let mut own: Vec<usize> = (0..kinds).filter(|_| random.below(2) == 1).collect();
        if own.is_empty() && kinds > 0 {
            own.push(place(random, kinds));
        }
        Self { kinds: own, faults: NUMBERS[place(random, NUMBERS.len())], instants: Some(instants) }
    }

    /// Whether another fault follows after so many.
    pub(crate) fn goes_on(&self, faults: usize) -> bool {
        faults < self.faults && !self.kinds.is_empty()
    }

    /// Draws the kind of a fault.
    pub(crate) fn kind(&self, random: &mut Spans) -> u64 {
        self.kinds.get(place(random, self.kinds.len())).map_or(0, |kind| *kind as u64)
    }

    /// Draws the instant of a fault, in nanoseconds below `end`.
    pub(crate) fn instant(&self, random: &mut Spans, end: u64) -> u64 {
        match self.instants {
            Some(instants) => instants.draw(random, end),
            None => random.below(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_units::Seed;

    #[test]
    fn each_kind_is_left_out_of_half_of_the_runs() {
        let (mut random, instants) = (Spans::new(Seed::new(1)), Instants::default());
        let swarms: Vec<Swarm<'_>> = (0..2_000).map(|_| Swarm::draw(&mut random, 4, &instants)).collect();
        for kind in 0..4 {
            let with = swarms.iter().filter(|swarm| swarm.kinds.contains(&kind)).count();
            // Half of them, and a quarter of those without any; four standard errors.
            assert!((940..1_130).contains(&with), "{kind}: {with}");
        }
        assert!(swarms.iter().all(|swarm| !swarm.kinds.is_empty() && swarm.faults > 0));
        assert!(!Swarm::draw(&mut random, 0, &instants).goes_on(0), "without kinds there are no faults");
    }
}
