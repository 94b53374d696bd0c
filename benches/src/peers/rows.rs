//! The rows of a contest: wall time, processor time and memory, as ratios to the other system in the same rounds.

use super::contests::{Contest, Kind, NETLOOM, NS3, OTHER, RUNS, SHADOW};
use super::play::{Play, Played};
use super::scenarios::{KERNELS, LINK_PACKETS};
use crate::row::{Goal, Row, number};

/// Of the wall time of the other form of the same.
const OF_OTHER: f64 = 1.2;
/// Of what a bare process takes to answer as many system calls: a kernel does something for each.
const OF_BARE: f64 = 1.5;
/// Wall time of 200 idle kernels, in seconds, and memory of each, in megabytes.
const KERNELS_SECONDS: f64 = 15.0;
const KERNEL_MEGABYTES: f64 = 8.0;
const RUNS_PER_MINUTE: f64 = 60.0;
/// Million packets of one link per second.
const MILLIONS: f64 = 4.0;

/// What a measurement took, for the terminal.
pub(super) fn in_words(play: &Play) -> String {
    let also =
        |value: Option<f64>, unit: &str| value.map_or_else(String::new, |value| format!(", {} {unit}", number(value)));
    let (processor, memory) = (also(play.processor, "s of processors"), also(play.megabytes, "MB"));
    let fine = if play.told.is_fine { "" } else { " NOT AS IN THEORY" };
    format!("{:.2} s{processor}{memory}  {}{fine}", play.wall, play.told.words)
}

/// All rows of a contest.
pub(super) fn of(contest: &Contest, played: &[Played]) -> Result<Vec<Row>, String> {
    let name = contest.name;
    let mut rows = match contest.kind {
        Kind::Programs { most, .. } => beside(contest, played, ("Shadow", SHADOW), most)?,
        Kind::Converted { .. } => beside(contest, played, ("the hand-written lab", OTHER), OF_OTHER)?,
        Kind::Middle => beside(contest, played, ("the delay at the hosts", OTHER), OF_OTHER)?,
        Kind::Calls => beside(contest, played, ("a bare process that answers", OTHER), OF_BARE)?,
        Kind::Link => {
            let rate = |play: &Play| Some(f64::from(LINK_PACKETS) / play.wall / 1e6);
            let what = format!("{name}: packets of a link");
            let speed = row(what, "million per second", of_system(played, NETLOOM), rate)?;
            let mut all: Vec<Row> = speed.map(|row| row.goal(Goal::AtLeast(MILLIONS))).into_iter().collect();
            all.extend(beside(contest, played, ("ns-3", NS3), 1.0)?);
            all
        }
        Kind::Kernels => kernels(contest, of_system(played, NETLOOM))?,
        Kind::Sweep => sweep(contest, played)?,
    };
    rows.extend(others(contest, played)?);
    rows.extend(played.iter().filter_map(|one| complaint(name, one)));
    Ok(rows)
}

fn of_system<'a>(played: &'a [Played], system: &str) -> &'a [Play] {
    played.iter().find(|one| one.system == system).map_or(&[], |one| &one.plays)
}

fn samples(plays: &[Play], of: impl Fn(&Play) -> Option<f64>) -> Vec<f64> {
    plays.iter().filter_map(of).collect()
}

/// A row of what was measured; none if nothing was.
fn row(
    what: String,
    unit: &'static str,
    plays: &[Play],
    of: impl Fn(&Play) -> Option<f64>,
) -> Result<Option<Row>, String> {
    let values = samples(plays, of);
    if values.is_empty() { Ok(None) } else { Row::number(what, unit, values).map(Some) }
}

/// A figure of a measurement.
type Figure = (&'static str, &'static str, fn(&Play) -> Option<f64>);

const FIGURES: [Figure; 3] = [
    ("wall time", "s", |play| Some(play.wall)),
    ("processor time", "s", |play| play.processor),
    ("memory", "MB", |play| play.megabytes),
];

/// Ours beside another, of whose wall time ours is to be `most` at most.
fn beside(
    contest: &Contest,
    played: &[Played],
    (other, system): (&'static str, &str),
    most: f64,
) -> Result<Vec<Row>, String> {
    let (ours, theirs) = (of_system(played, NETLOOM), of_system(played, system));
    let mut rows = Vec::new();
    for (place, (figure, unit, of)) in FIGURES.into_iter().enumerate() {
        let Some(found) = row(format!("{}: {figure}", contest.name), unit, ours, of)? else { continue };
        let compared = samples(theirs, of);
        let is_judged = place == 0 && !compared.is_empty();
        let row = found.against(other, compared);
        let row = if is_judged { row.goal(Goal::AtMost(most)) } else { row };
        let said = ours.last().map_or("", |play| &play.told.words);
        rows.push(if place == 0 { row.remark(format!("{}; {said}", contest.title)) } else { row });
    }
    Ok(rows)
}

fn kernels(contest: &Contest, plays: &[Play]) -> Result<Vec<Row>, String> {
    let name = contest.name;
    let wall = row(format!("{name}: wall time"), "s", plays, |play| Some(play.wall))?;
    let each = |play: &Play| Some(play.megabytes? / f64::from(KERNELS));
    let memory = row(format!("{name}: memory of each"), "MB", plays, each)?;
    let goals = [
        wall.map(|row| row.goal(Goal::AtMost(KERNELS_SECONDS)).remark(contest.title)),
        row(format!("{name}: processor time"), "s", plays, |play| play.processor)?,
        memory.map(|row| row.goal(Goal::AtMost(KERNEL_MEGABYTES))),
    ];
    Ok(goals.into_iter().flatten().collect())
}

fn sweep(contest: &Contest, played: &[Played]) -> Result<Vec<Row>, String> {
    let what = |system: &str| format!("{}: runs per minute{system}", contest.name);
    let ours = row(what(""), "runs", of_system(played, NETLOOM), |play| Some(f64::from(RUNS) * 60.0 / play.wall))?;
    // Each of the two processors runs one.
    let theirs = row(what(" of Shadow"), "runs", of_system(played, SHADOW), |play| Some(2.0 * 60.0 / play.wall))?;
    let ours = ours.map(|row| row.goal(Goal::AtLeast(RUNS_PER_MINUTE)).remark(contest.title));
    Ok(ours.into_iter().chain(theirs).collect())
}

/// Systems that are there for comparison alone.
fn others(contest: &Contest, played: &[Played]) -> Result<Vec<Row>, String> {
    let mut rows = Vec::new();
    for Played { system, plays, .. } in played.iter().filter(|one| one.system.starts_with(NS3)) {
        let Some(last) = plays.last() else { continue };
        let also = |(_, unit, of): Figure| of(last).map(|value| format!("{} {unit}", number(value)));
        let costs: Vec<String> = FIGURES[1..].iter().filter_map(|figure| also(*figure)).collect();
        let words = [costs.join(", "), last.told.words.clone()].join("; ");
        let found = row(format!("{}: wall time of {system}", contest.name), "s", plays, |play| Some(play.wall))?;
        rows.extend(found.map(|row| row.remark(words)));
    }
    Ok(rows)
}

/// A row for a system that failed, or whose result is not as in theory.
fn complaint(name: &str, Played { system, plays, error }: &Played) -> Option<Row> {
    if let Some(reason) = error {
        return Some(Row::told(format!("{name}: {system}"), "every round ends well", reason.clone(), Some(false)));
    }
    let wrong = plays.iter().find(|play| !play.told.is_fine)?;
    Some(Row::told(format!("{name}: {system}"), "as in theory", wrong.told.words.clone(), Some(false)))
}

#[cfg(test)]
mod tests {
    use super::super::contests::CONTESTS;
    use super::super::theory::Told;
    use super::*;

    fn played(system: &'static str, walls: &[f64]) -> Played {
        let told = Told { is_fine: true, words: "95.5 Mbit/s".into() };
        let play =
            |wall: &f64| Play { wall: *wall, processor: Some(2.0 * wall), megabytes: Some(160.0), told: told.clone() };
        Played { system, plays: walls.iter().map(play).collect(), error: None }
    }

    #[test]
    fn wall_time_is_judged_by_its_ratio_to_shadow_and_by_nothing_without_it() {
        let both = of(&CONTESTS[0], &[played(NETLOOM, &[2.0, 3.0, 1.0]), played(SHADOW, &[1.0])]).unwrap();
        assert_eq!((both.len(), both[0].met(), both[1].met()), (3, Some(false), None));
        assert_eq!(both[0].cells()[3], "2 of 1 s");
        let alone = of(&CONTESTS[0], &[played(NETLOOM, &[2.0])]).unwrap();
        assert_eq!((alone.len(), alone[0].met()), (3, None));
    }

    #[test]
    fn what_failed_or_contradicts_theory_has_a_row() {
        let failed = Played { system: SHADOW, plays: Vec::new(), error: Some("it crashed".into()) };
        let mut wrong = played(NETLOOM, &[1.0]);
        wrong.plays[0].told.is_fine = false;
        let rows = of(&CONTESTS[0], &[wrong, failed]).unwrap();
        let bad: Vec<&str> = rows.iter().filter(|row| row.met() == Some(false)).map(|row| row.what.as_str()).collect();
        assert_eq!(bad, ["tcp-100: netloom", "tcp-100: shadow"]);
    }

    #[test]
    fn kernels_links_and_sweeps_have_goals_of_their_own() {
        let rows_of = |name: &str, walls: &[f64]| {
            let contest = CONTESTS.iter().find(|contest| contest.name == name).unwrap();
            of(contest, &[played(NETLOOM, walls)]).unwrap()
        };
        let met = |rows: &[Row]| rows.iter().filter_map(Row::met).collect::<Vec<_>>();
        assert_eq!(met(&rows_of("kernels", &[14.0])), [true, true]);
        assert_eq!(met(&rows_of("link", &[0.4])), [false]);
        assert_eq!(met(&rows_of("etcd-sweep", &[8.0])), [true]);
    }
}
