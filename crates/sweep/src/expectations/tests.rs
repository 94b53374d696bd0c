use super::*;
use netloom_lab::{Run, Sweep};

const LAB: &str = "name: pair
vary: {cc: [bbr, cubic]}
repeat: 3
nodes: {a: {env: {CC: '${cc}'}}, b: {}}
links: {l: {ends: [a, b]}}
timeline: [{on: a, run: 'true', as: transfer}]
figures: {goodput: transfer.json.rate in bit/s}
expect:
  - all runs as described
  - mean(goodput | cc=bbr) > mean(goodput | cc=cubic)
  - median(goodput) > 20 bit/s over runs
  - max(l.forward.drops) == 0 packets over runs
  - transfer.exit == 0
";

fn record(run: u64, outcome: Outcome, goodput: Option<f64>, drops: f64) -> RunRecord {
    let figure = |name: &str, unit: &str, value: Option<f64>| Figure {
        name: name.into(),
        unit: unit.into(),
        value,
        missing: value.is_none().then(|| "its output is not JSON".into()),
    };
    RunRecord {
        run,
        outcome,
        why: (outcome != Outcome::AsDescribed).then(|| "too slow".into()),
        figures: vec![figure("goodput", "bit/s", goodput)],
        judged: vec![figure("over-runs-4-1", "packets", Some(drops))],
        ..RunRecord::default()
    }
}

/// What is judged of these runs: three of bbr, three of cubic.
fn judged(records: &[Option<RunRecord>; 6]) -> Vec<(bool, String)> {
    let sweep = Sweep::read(LAB, "pair.yaml").unwrap();
    let plan = sweep.run(Run { point: 0, repetition: 0 }, "pair").unwrap().lab.plan;
    let mut all: Vec<Gathered<'_>> = plan.over_runs.iter().map(Gathered::new).collect();
    for (number, record) in records.iter().enumerate() {
        let cc = if number < 3 { "bbr" } else { "cubic" };
        let counts = record.as_ref().is_some_and(|record| record.outcome == Outcome::AsDescribed);
        let name = format!("pair-{}", number + 1);
        all.iter_mut().for_each(|one| one.add(&[("cc", cc)], &name, record.as_ref(), counts));
    }
    all.iter().map(Gathered::judge).map(|row| (row.met, row.explanation)).collect()
}

fn all(values: [f64; 6]) -> [Option<RunRecord>; 6] {
    values.map(|value| Some(record(1, Outcome::AsDescribed, Some(value), 0.0)))
}

/// Means of 31 and 21. Deviations are 1, so that half of each interval is 4.302653 / √3 = 2.484. Of the difference there are four
/// degrees of freedom: 2.776445 · √(2 / 3) = 2.267.
#[test]
fn expectations_are_judged_with_what_was_measured() {
    let rows = judged(&all([30.0, 31.0, 32.0, 20.0, 21.0, 22.0]));
    let expected = [
        (true, "all of them"),
        (
            true,
            "measured 31 bit/s, wanted more than mean(goodput | cc=cubic) (21 bit/s) (3 runs, 28.52 bit/s to 33.48 bit/s \
             with 95 % confidence; mean(goodput | cc=cubic): 3 runs, 18.52 bit/s to 23.48 bit/s with 95 % confidence; the \
             difference is 10 ± 2.267 bit/s)",
        ),
        (true, "measured 26 bit/s, wanted more than 20 bit/s (6 runs, 20 bit/s to 32 bit/s with 95 % confidence)"),
        (true, "measured 0 packets, wanted 0 packets (6 runs)"),
    ];
    assert_eq!(rows, expected.map(|(met, text)| (met, text.to_owned())));
}

#[test]
fn what_is_not_measured_is_not_met() {
    let mut records = all([30.0, 31.0, 32.0, 20.0, 21.0, 22.0]);
    records[4] = Some(record(5, Outcome::AsDescribed, None, 3.0));
    let rows = judged(&records);
    assert!(rows[0].0 && !rows[1].0 && !rows[2].0 && !rows[3].0, "{rows:?}");
    assert!(
        rows[1].1.starts_with(
            "not measured: what it is compared with: 1 run without a value of mean(goodput | cc=cubic); the first is pair-5: its \
             output is not JSON; wanted more than mean(goodput | cc=cubic)"
        ),
        "{}",
        rows[1].1
    );
    assert_eq!(rows[3].1, "measured 3 packets, wanted 0 packets (6 runs)");
}

#[test]
fn runs_that_do_not_count_are_left_out_and_those_that_are_missing_are_not_met() {
    let mut records = all([30.0, 31.0, 32.0, 20.0, 21.0, 22.0]);
    records[0] = Some(record(1, Outcome::NotAsDescribed, Some(1.0), 9.0));
    let rows = judged(&records);
    assert_eq!(rows[0], (false, "1 run not; the first is pair-1: too slow".into()));
    assert!(rows[1].0 && rows[1].1.contains("(2 runs, "), "{rows:?}");
    assert!(rows[3].0, "{rows:?}");
    records[5] = None;
    let fewer = judged(&records);
    assert_eq!(fewer[0], (false, "1 run not; the first is pair-1: too slow; 1 run not completed".into()));
    assert!(!fewer[2].0 && fewer[2].1.starts_with("not measured: 1 run of median(goodput) not completed"), "{fewer:?}");
    let none = judged(&[const { None }; 6]);
    assert!(none.iter().all(|(met, _)| !met), "{none:?}");
}
