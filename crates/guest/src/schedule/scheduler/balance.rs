//! Moves machines from a processor that has too much to do to one that has little.
//!
//! Where a machine runs changes no result. At first neighbours share a processor, before anything is known of what they do; in a lab
//! whose first half sends and whose second half receives, one processor then waits for the other. Machines of a group move together, since
//! they take turns. Between rounds nobody runs, so that nothing is counted for a processor that a machine has left.

use super::{Machine, Scheduler};
use std::time::{Duration, Instant};

/// How often it is looked how long machines have computed, if looking takes no more than a hundredth of that.
const INTERVAL: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 100 });
const LOOK_SHARE: u32 = if cfg!(test) { 0 } else { 100 };

/// Hundredths of the time for which a processor has to have machines to run before one is moved. Where none has, machines wait for one
/// another, and would gain nothing.
const BUSY: u32 = if cfg!(test) { 0 } else { 80 };

/// Hundredths of what the busiest processor does by which another has to do less.
const UNEVEN: u32 = 20;

/// What the last look has shown.
#[derive(Debug, Default)]
pub(super) struct Balance {
    looked: Option<Instant>,
    /// How long looking took.
    took: Duration,
    /// How long each machine had computed.
    used: Vec<Duration>,
}

/// Machines that are moved together.
#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    /// How long they computed in the span that is looked at.
    used: Duration,
    lane: usize,
    /// Some of them stay where they are.
    is_fixed: bool,
}

impl Balance {
    /// The time since the last look, if another one is due.
    fn due(&self, now: Instant) -> Option<Duration> {
        let span = now.duration_since(self.looked?);
        (span >= INTERVAL.max(self.took * LOOK_SHARE)).then_some(span)
    }
}

impl<M: Machine> Scheduler<M> {
    /// Looks how busy processors are, if that is due, and moves machines; between rounds, when groups are known.
    pub(super) fn balance(&mut self) {
        if self.lanes.count() < 2 {
            return;
        }
        let now = Instant::now();
        let Some(span) = self.balance.due(now) else {
            self.balance.looked.get_or_insert(now);
            return;
        };
        if self.lanes.take_longest() * 100 < span * BUSY {
            self.balance.looked = Some(now);
            return;
        }
        let (members, before) = (&self.members, &mut self.balance.used);
        before.resize(members.len(), Duration::ZERO);
        // Any machine can be let run at any time if routers join all.
        let together = (!self.fabric.has_devices()).then_some(&self.group_of);
        let unit_of = |machine: usize| together.map_or(machine, |group_of| group_of[machine]);
        let mut units = vec![Unit::default(); members.len()];
        for (machine, (member, last)) in members.iter().zip(before).enumerate() {
            let unit = &mut units[unit_of(machine)];
            unit.lane = self.lanes.of(machine);
            match member.machine.processor_time() {
                Some(used) => unit.used += used.saturating_sub(std::mem::replace(last, used)),
                None => unit.is_fixed = true,
            }
        }
        for (unit, lane) in moves(&mut units, self.lanes.count()) {
            for machine in (0..self.members.len()).filter(|machine| unit_of(*machine) == unit) {
                self.lanes.move_to(machine, lane);
                self.members[machine].machine.move_to(lane);
                self.statistics.moves += 1;
            }
        }
        (self.balance.looked, self.balance.took) = (Some(now), now.elapsed());
    }
}

/// Which units go where, so that the one of `lanes` processors that has most to do has less.
fn moves(units: &mut [Unit], lanes: usize) -> Vec<(usize, usize)> {
    let mut loads = vec![Duration::ZERO; lanes];
    units.iter().for_each(|unit| loads[unit.lane] += unit.used);
    let mut moves = Vec::new();
    // Each unit is moved at most once.
    while moves.len() < units.len() {
        let by_load = |lane: &usize| loads[*lane];
        let (Some(from), Some(to)) = ((0..lanes).max_by_key(by_load), (0..lanes).min_by_key(by_load)) else { break };
        let gap = loads[from].saturating_sub(loads[to]);
        if gap * 100 < loads[from] * UNEVEN {
            break;
        }
        let is_movable = |unit: &Unit| unit.lane == from && !unit.is_fixed && !unit.used.is_zero() && unit.used < gap;
        let movable = units.iter().enumerate().filter(|(_, unit)| is_movable(unit));
        let Some((number, _)) = movable.min_by_key(|(_, unit)| (unit.used * 2).abs_diff(gap)) else { break };
        let unit = &mut units[number];
        (unit.lane, unit.is_fixed) = (to, true);
        loads[from] -= unit.used;
        loads[to] += unit.used;
        moves.push((number, to));
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lanes after moves; described are milliseconds and lanes.
    fn lanes_after(described: &[(u64, usize)]) -> Vec<usize> {
        let described = described.iter().map(|(used, lane)| (Duration::from_millis(*used), *lane));
        let mut units: Vec<Unit> = described.map(|(used, lane)| Unit { used, lane, is_fixed: false }).collect();
        let count = units.iter().map(|one| one.lane).max().unwrap_or(0) + 1;
        moves(&mut units, count);
        units.iter().map(|one| one.lane).collect()
    }

    #[test]
    fn the_busiest_processor_gives_away_half_of_what_it_has_more() {
        assert_eq!(lanes_after(&[(10, 0), (10, 0), (40, 1), (20, 1), (20, 1), (20, 1)]), [0, 0, 0, 1, 1, 1]);
        assert_eq!(lanes_after(&[(90, 0), (4, 1)]), [0, 1], "one alone gains nothing by a move");
        assert_eq!(lanes_after(&[(50, 0), (49, 0), (0, 1)]), [1, 0, 1]);
        assert_eq!(lanes_after(&[(48, 0), (48, 0), (45, 1), (45, 1)]), [0, 0, 1, 1], "they are even");
    }

    #[test]
    fn what_stays_is_not_moved() {
        let unit = |used, lane, is_fixed| Unit { used: Duration::from_millis(used), lane, is_fixed };
        let mut units = [unit(50, 0, true), unit(40, 0, true), unit(0, 1, false)];
        assert!(moves(&mut units, 2).is_empty());
    }
}
