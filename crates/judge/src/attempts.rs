//! The search for a dilation: what to do after a run, and all runs side by side.

use crate::{Attempt, ExitCode, PipeRow, Report};
use netloom_lab::Clock;
use netloom_units::Dilation;

/// How often a lab is run at most.
const MOST_RUNS: usize = 5;

/// A dilation grows by this factor at least: a little more than the last one would probably fail again.
const LEAST_GROWTH: f64 = 1.5;

/// And by this one at most: packets of a lab that is far too fast pile up, so that its lateness tells more than is true.
const MOST_GROWTH: f64 = 10.0;

/// Dilations that a person would choose, between 10 and 100; others are these times a power of ten.
const ROUND: [u64; 10] = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80];

/// The next step of a search for a dilation, after a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The end of the search: the last run did not end with the exit code for a network that was not as described.
    Done,
    /// A further run with this dilation.
    Rerun(Dilation),
    /// The end of the search without success; the text says why.
    GiveUp(String),
}

/// Decides what to do after the last of `runs`, with dilations up to `most`.
pub fn next(clock: Clock, runs: &[Report], most: Dilation) -> Next {
    let Some(last) = runs.last().filter(|last| last.exit_code == ExitCode::NotAsDescribed.number()) else {
        return Next::Done;
    };
    let (Some(present), Some(proposed)) = (clock.dilation(), last.verdict.dilation) else {
        return Next::GiveUp("slowing time would not help against what was found".into());
    };
    if present.as_millionths() >= most.as_millionths() {
        return Next::GiveUp(format!(
            "this is the largest dilation that was allowed, and the figures ask for {proposed}: --dilate-at-most allows more"
        ));
    }
    if runs.len() >= MOST_RUNS {
        return Next::GiveUp(format!(
            "after {MOST_RUNS} runs, the figures still ask for {proposed}: --clock {proposed}"
        ));
    }
    Next::Rerun(std::cmp::min_by_key(step(present, proposed), most, |dilation| dilation.as_millionths()))
}

/// The next dilation: the proposed one within the bounds of a step, rounded up to one that a person would choose.
fn step(present: Dilation, proposed: u64) -> Dilation {
    let present = present.as_f64();
    let wanted = (proposed as f64).clamp(present * LEAST_GROWTH, present * MOST_GROWTH);
    // Dilations are far below 2^53.
    let whole = round_up(wanted.ceil() as u64).min(Dilation::MOST);
    Dilation::from_whole(whole).expect("it is between one and the most")
}

fn round_up(number: u64) -> u64 {
    if number <= 6 {
        return number;
    }
    let mut unit = 1;
    loop {
        for step in ROUND {
            // Below ten, the tenths are whole only for some.
            let round = step * unit;
            if round % 10 == 0 && round / 10 >= number {
                return round / 10;
            }
        }
        unit *= 10;
    }
}

/// `earlier` runs and the last one, side by side.
pub fn side_by_side(earlier: &[Report], last: &Report) -> Vec<Attempt> {
    earlier.iter().chain([last]).map(attempt).collect()
}

/// What is put beside the other runs.
fn attempt(report: &Report) -> Attempt {
    let effort = report.effort.clone().unwrap_or_default();
    let rate_error = |row: &PipeRow| {
        if !row.rate_judged {
            return None;
        }
        let described = row.rate_bits_per_second? as f64;
        Some((row.achieved_bits_per_second? / described - 1.0).abs())
    };
    Attempt {
        clock: effort.clock,
        dilation: effort.dilation,
        as_described: report.verdict.is_as_described(),
        verdict: report.verdict.headline(),
        lateness_p99_ns: report.pipes.iter().filter_map(|row| row.lateness_p99_ns).max(),
        worst_rate_error: report.pipes.iter().filter_map(rate_error).max_by(f64::total_cmp),
        engine_cpu_share: effort.engine_cpu_share,
        wall_ns: effort.wall_ns,
        results: report.results.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    fn whole(factor: u64) -> Dilation {
        Dilation::from_whole(factor).unwrap()
    }

    fn run(dilation: Option<u64>) -> Report {
        let verdict = Verdict { dilation, ..Verdict::default() };
        Report { exit_code: ExitCode::NotAsDescribed.number(), verdict, ..Report::default() }
    }

    #[test]
    fn a_run_as_described_is_the_last() {
        let good = Report { exit_code: 0, ..run(None) };
        assert_eq!(next(Clock::Real, &[good], whole(100)), Next::Done);
        let interrupted = Report { exit_code: ExitCode::Interrupted.number(), ..run(Some(3)) };
        assert_eq!(next(Clock::Real, &[interrupted], whole(100)), Next::Done);
    }

    #[test]
    fn the_proposal_is_followed_in_steps_of_a_sensible_size() {
        let after = |clock, proposed| next(clock, &[run(Some(proposed))], whole(100));
        assert_eq!(after(Clock::Real, 4), Next::Rerun(whole(4)));
        assert_eq!(after(Clock::Real, 7), Next::Rerun(whole(8)));
        assert_eq!(after(Clock::Real, 4_000), Next::Rerun(whole(10)));
        assert_eq!(after(Clock::Dilated(whole(10)), 11), Next::Rerun(whole(15)));
        assert_eq!(after(Clock::Dilated(whole(20)), 4_000), Next::Rerun(whole(100)));
        assert_eq!(after(Clock::Dilated(Dilation::from_millionths(2_500_000).unwrap()), 3), Next::Rerun(whole(4)));
    }

    #[test]
    fn a_search_ends() {
        let at_most = next(Clock::Dilated(whole(100)), &[run(Some(200))], whole(100));
        assert!(matches!(at_most, Next::GiveUp(why) if why.contains("200") && why.contains("--dilate-at-most")));
        let many = vec![run(Some(50)); MOST_RUNS];
        assert!(matches!(next(Clock::Dilated(whole(20)), &many, whole(100)), Next::GiveUp(_)));
        assert!(matches!(next(Clock::Real, &[run(None)], whole(100)), Next::GiveUp(_)));
    }

    #[test]
    fn numbers_are_rounded_up_to_what_a_person_would_choose() {
        let pairs = [(1, 1), (5, 5), (6, 6), (7, 8), (9, 10), (10, 10), (11, 12), (13, 15), (61, 80), (81, 100)];
        for (number, round) in pairs.into_iter().chain([(101, 120), (1_300, 1_500), (9_000, 10_000)]) {
            assert_eq!(round_up(number), round, "{number}");
        }
    }
}
