//! The moment of a failure: how often a run still fails if it takes another course from an instant on.
//!
//! Until that instant, a branch is the minimal run. From then on, half of the packets are held a little, so that everything happens at slightly other times.
//! Branches from before the decisive moment mostly do not fail, and those from after it do. Where the difference is largest, another instant is tried in the
//! middle, so that few runs are enough.

use crate::error::HuntError;
use crate::failure::Failure;
use crate::faults::{Fault, Ground};
use crate::shrink::Trials;
use netloom_results::chart;
use netloom_units::Duration;
use plotters::prelude::*;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// The number of branches at each instant.
const BRANCHES: usize = 8;
/// Packets are held for so many microseconds, in each branch for another time.
const HELD: [u64; BRANCHES] = [100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000];
/// Instants that are nearer to each other are not told apart.
const NEAREST: u64 = 1_000_000;
/// No more instants than this are tried.
const MOST_INSTANTS: usize = 24;
/// The size of the picture.
const SIZE: (u32, u32) = (900, 320);

/// The branches of a run at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branches {
    /// The instant from which on they differ from the run, after time zero.
    pub at_ns: u64,
    /// How many branches were played.
    pub runs: usize,
    /// How many of them failed in the same way.
    pub failed: usize,
}

impl Branches {
    fn share(&self) -> f64 {
        self.failed as f64 / self.runs.max(1) as f64
    }
}

/// Plays branches of a run with these faults for about so much wall time, and returns them in the order of their instants. The last ones are at
/// the end of the run, where there is no other course: that is the run itself.
///
/// # Errors
/// What keeps the hunt from going on.
pub(crate) fn branch(
    (ground, end): (&Ground, u64),
    minimal: &[Fault],
    failure: &Failure,
    lasts: std::time::Duration,
    trials: &mut dyn Trials,
) -> Result<Vec<Branches>, HuntError> {
    let begun = Instant::now();
    let mut found = vec![Branches { at_ns: end, runs: 1, failed: 1 }];
    let mut next = Some(0);
    while let Some(at_ns) = next {
        let runs: Vec<Vec<Fault>> = HELD.iter().map(|held| branched(ground, minimal, at_ns, *held)).collect();
        let failed = trials.play(&runs)?.iter().filter(|failures| failures.contains(failure)).count();
        let place = found.partition_point(|other| other.at_ns < at_ns);
        found.insert(place, Branches { at_ns, runs: runs.len(), failed });
        // The next instant takes about as long as those before.
        let spent = begun.elapsed();
        let each = spent / u32::try_from(found.len() - 1).unwrap_or(u32::MAX);
        let goes_on = found.len() < MOST_INSTANTS && spent + each <= lasts;
        next = goes_on.then(|| jump(&found)).flatten().map(|[before, behind]| before.at_ns.midpoint(behind.at_ns));
    }
    Ok(found)
}

/// The neighbours between which the share of failures rises most, if there is an instant between them that is worth trying; of several, the first.
fn jump(found: &[Branches]) -> Option<[Branches; 2]> {
    let pairs = found.windows(2).map(|pair| [pair[0], pair[1]]);
    let wide = pairs.filter(|[before, behind]| behind.at_ns - before.at_ns > NEAREST);
    let rise = |[before, behind]: &[Branches; 2]| behind.share() - before.share();
    let largest = wide.reduce(|best, other| if rise(&other) > rise(&best) { other } else { best });
    largest.filter(|pair| rise(pair) > 1.5 / BRANCHES as f64)
}

/// The faults of a branch: those of the run, and from `at` on each packet of each link is held for `held` microseconds, or not.
fn branched(ground: &Ground, minimal: &[Fault], at_ns: u64, held: u64) -> Vec<Fault> {
    let (at, held) = (Duration::from_nanos(at_ns), Duration::from_micros(held));
    let entry = |link: &str| {
        format!("{{at: {at}, link: {link}, packet: {{count: all, probability: 50 %}}, do: {{hold: {held}}}}}")
    };
    let entries = ground.link_names().map(entry).collect();
    let other_course = Fault { kind: "branch".into(), rank: 0, at_ns, for_ns: 0, nodes: Vec::new(), entries };
    minimal.iter().cloned().chain([other_course]).collect()
}

/// Says in words what the branches show.
pub(crate) fn described(found: &[Branches]) -> String {
    let [Some(first), Some(last)] = [found.first(), found.last()] else { return String::new() };
    let share = |one: &Branches| format!("{} of {}", one.failed, one.runs);
    let at = |one: &Branches| Duration::from_nanos(one.at_ns);
    let mut pairs = found.windows(2).map(|pair| [&pair[0], &pair[1]]);
    let rise = |[before, behind]: &[&Branches; 2]| behind.share() - before.share();
    let Some(first_pair) = pairs.next() else { return String::new() };
    let steepest = pairs.fold(first_pair, |best, other| if rise(&other) > rise(&best) { other } else { best });
    let [before, behind] = steepest;
    if rise(&steepest) <= 0.0 || first.share() >= last.share() {
        return format!(
            "the moment: {} runs fail that take another course from time zero on: it needs no particular moment\n",
            share(first)
        );
    }
    format!(
        "the moment: between {} and {}. Of runs that take another course from the first on, {} fail; from the second on, {}. See cause.svg, and look: \
         netloom run minimal.yaml --stop-at '{}'\n",
        at(before),
        at(behind),
        share(before),
        if behind.runs == 1 { "all".into() } else { share(behind) },
        at(before)
    )
}

/// The picture: how likely the failure is, by the instant from which on a run takes another course; with the faults.
pub(crate) fn picture(found: &[Branches], faults: &[Fault]) -> String {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let end = found.last().map_or(1.0, |last| seconds(last.at_ns)).max(1e-9);
    chart::drawn(SIZE, |area| {
        let mut chart = chart::axes(area, "", (end, chart::HEADROOM))?;
        let percent = |share: &f64| format!("{:.0} %", share * 100.0);
        chart::labels(&mut chart, "time in s from which on the run takes another course", "runs that fail", &percent)?;
        let shades = faults.iter().map(|fault| {
            let (from, to) = (seconds(fault.at_ns), seconds(fault.at_ns + fault.for_ns));
            Rectangle::new([(from, 0.0), (to.max(from + end / 400.0), 1.0)], chart::SECOND.mix(0.2).filled())
        });
        chart.draw_series(shades)?;
        let points: Vec<(f64, f64)> = found.iter().map(|one| (seconds(one.at_ns), one.share())).collect();
        chart.draw_series(LineSeries::new(points.iter().copied(), chart::FIRST.stroke_width(2)))?;
        chart.draw_series(points.iter().map(|point| Circle::new(*point, 4, chart::FIRST.filled())))?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_lab::{HuntLab, HuntedRun};

    const LAB: &str = "clock: virtual\nduration: 20 s\nnodes: [n1, n2]\nlinks: {lan: {ends: [n1, n2], delay: 1 ms}}\n\
                       timeline: [{on: n*, run: ./serve, as: serve, ready: {tcp: 80}}]\nhunt: {faults: {cut: on}}\n";

    /// A run fails unless it takes another course before an instant; one in eight fails even then.
    struct Decided {
        at_ns: u64,
        played: usize,
    }

    impl Trials for Decided {
        fn play(&mut self, runs: &[Vec<Fault>]) -> Result<Vec<Vec<Failure>>, HuntError> {
            self.played += runs.len();
            let fails = |(place, faults): (usize, &Vec<Fault>)| {
                let branch = faults.iter().find(|fault| fault.kind == "branch").unwrap();
                place == 3 || branch.at_ns >= self.at_ns
            };
            Ok(runs.iter().enumerate().map(|run| if fails(run) { vec![failure()] } else { Vec::new() }).collect())
        }

        fn width(&self) -> usize {
            2
        }
    }

    fn failure() -> Failure {
        Failure::new("always x", "lost")
    }

    fn ground() -> (HuntLab, Ground) {
        let (hunt, lab) = HuntLab::read(LAB, "kv.yaml").unwrap();
        (hunt, Ground::of(&lab.plan).unwrap())
    }

    #[test]
    fn the_moment_is_found_by_few_runs() {
        let (_, ground) = ground();
        let mut trials = Decided { at_ns: 7_300_000_000, played: 0 };
        let hour = std::time::Duration::from_secs(3_600);
        let found = branch((&ground, 20_000_000_000), &[], &failure(), hour, &mut trials).unwrap();
        let behind = found.iter().position(|one| one.at_ns >= 7_300_000_000).unwrap();
        assert!(found[behind].at_ns - found[behind - 1].at_ns <= NEAREST, "{found:?}");
        assert_eq!((found[behind - 1].failed, found[behind].failed), (1, 8));
        assert!(trials.played <= 17 * BRANCHES, "{}", trials.played);
        let told = described(&found);
        assert!(told.contains("the moment: between 7.29") && told.contains("1 of 8 fail"), "{told}");
        assert!(picture(&found, &[]).contains("<circle"));
    }

    #[test]
    fn a_failure_without_a_moment_is_told_as_one() {
        let (_, ground) = ground();
        let found = branch(
            (&ground, 20_000_000_000),
            &[],
            &failure(),
            std::time::Duration::ZERO,
            &mut Decided { at_ns: 0, played: 0 },
        )
        .unwrap();
        assert_eq!(found.len(), 2, "without time, one instant alone is tried");
        assert!(described(&found).contains("8 of 8 runs fail that take another course from time zero on"));
    }

    #[test]
    fn a_branch_is_what_a_lab_file_may_have() {
        let (hunt, ground) = ground();
        let entries: Vec<String> =
            branched(&ground, &[], 1_234_567_891, 500).into_iter().flat_map(|fault| fault.entries).collect();
        assert_eq!(entries.len(), 1);
        hunt.play(&HuntedRun { name: "kv", entries: &entries, ..HuntedRun::default() })
            .unwrap_or_else(|error| panic!("{entries:?}\n{error}"));
    }
}
