//! The schedules of links between ground stations: which path is used when, and what it and the access take.

use super::super::builder::MadeStep;
use super::access::Access;
use super::paths::{Path, Point, Sky};
use netloom_units::Duration;

/// When paths are chosen and delays are computed, in nanoseconds.
pub(super) struct Times {
    pub(super) end: u64,
    /// How often paths are chosen; none: as soon as another one is better.
    pub(super) routes: Option<u64>,
    /// When they are chosen for the second time, the first being at 0.
    pub(super) second: u64,
    /// How long after its choice a path is used.
    pub(super) convergence: u64,
    pub(super) step: u64,
}

impl Times {
    /// How many times paths are searched.
    pub(super) fn choices(&self) -> u64 {
        let every = self.routes.unwrap_or(self.step);
        1 + self.end.saturating_sub(1).saturating_add(every).saturating_sub(self.second) / every
    }
}

/// A path that is used from an instant on; none: no path is there.
type Leg = (u64, Option<Path>);

/// The schedules of all pairs of stations.
pub(super) fn courses(sky: &Sky, times: &Times, access: Option<&Access>) -> Vec<([usize; 2], Vec<MadeStep>)> {
    let mut all = Vec::new();
    for (ends, legs) in legs(sky, times) {
        let mut course = Course::default();
        let begins = legs.iter().map(|(at, _)| if *at == 0 { 0 } else { at.saturating_add(times.convergence) });
        let begins: Vec<u64> = begins.filter(|begin| *begin < times.end).chain([times.end]).collect();
        for ((_, path), span) in legs.iter().zip(begins.windows(2)) {
            let span = [span[0], span[1]];
            let changes = access.map(|access| access.changes(ends, span)).unwrap_or_default();
            for mut point in sky.course(ends, path.as_deref(), span, times.step, &changes) {
                if let Some(access) = access {
                    let state = access.state(ends, point.at);
                    point.delay = point.delay.zip(state.extra).map(|(delay, extra)| delay + extra);
                    point.rates = state.rates;
                }
                course.add(point);
            }
        }
        all.push((ends, course.steps));
    }
    all
}

/// The paths of all pairs of stations over time.
fn legs(sky: &Sky, times: &Times) -> Vec<([usize; 2], Vec<Leg>)> {
    let count = sky.stations.len();
    let pairs = (0..count).flat_map(|one| (one + 1..count).map(move |other| [one, other]));
    let mut all: Vec<([usize; 2], Vec<Leg>)> = pairs.map(|pair| (pair, Vec::new())).collect();
    let (mut before, mut at) = (0, 0);
    while at < times.end {
        let mut paths = sky.paths(at as f64 / 1e9);
        for (ends, legs) in &mut all {
            let path = paths[ends[0]][ends[1] - ends[0] - 1].take();
            match legs.last() {
                Some((_, last)) if times.routes.is_none() => {
                    if *last != path {
                        let turn = sky.turn(*ends, last.as_deref(), path.as_deref(), [before, at]);
                        legs.push((turn, path));
                    }
                }
                _ => legs.push((at, path)),
            }
        }
        before = at;
        at = if at == 0 { times.second } else { at.saturating_add(times.routes.unwrap_or(times.step)) };
    }
    all
}

/// The schedule of a link as far as it is known.
#[derive(Default)]
pub(super) struct Course {
    pub(super) steps: Vec<MadeStep>,
    /// Whether everything is lost by then.
    is_lost: bool,
    /// The rates by then.
    rates: Option<[u64; 2]>,
}

impl Course {
    /// Adds a point: between two there are straight lines, but losses and rates change at once.
    pub(super) fn add(&mut self, point: Point) {
        let is_lost = point.delay.is_none();
        let changes = is_lost != self.is_lost;
        let turns = point.rates.is_some() && point.rates != self.rates;
        if (changes || turns) && !self.steps.is_empty() {
            // Just before, all is still as it was.
            let at = Duration::from_nanos(point.at.saturating_sub(1));
            if self.steps.last().is_none_or(|last| last.at < at) {
                self.steps.push(MadeStep { at, delay: None, is_lost: None, rates: None });
            }
            if let Some(last) = self.steps.last_mut() {
                last.is_lost = if changes { Some(self.is_lost) } else { last.is_lost };
                last.rates = if turns { self.rates } else { last.rates };
            }
        }
        // What changes nothing needs no step.
        if point.delay.is_some() || changes || turns {
            let at = Duration::from_nanos(point.at);
            let delay = point.delay.map(Duration::from_nanos);
            let rates = point.rates.filter(|_| turns);
            self.steps.push(MadeStep { at, delay, is_lost: changes.then_some(is_lost), rates });
        }
        self.is_lost = is_lost;
        self.rates = point.rates.or(self.rates);
    }
}

#[cfg(test)]
mod tests;
