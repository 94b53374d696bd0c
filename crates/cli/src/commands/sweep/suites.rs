//! What a sweep shows, for continuous integration.

use netloom_judge::ExpectationRow;
use netloom_lab::Sweep;
use netloom_results::ci::{Case, Outcome, Suite};
use netloom_sweep::{Outcome as RunOutcome, RunRecord, SweepFolder};

/// What is expected of all runs together, and every run.
pub(super) fn suites(sweep: &Sweep, folder: &SweepFolder, rows: &[ExpectationRow]) -> Vec<Suite> {
    let expected = rows.iter().map(|row| Case {
        kind: "expectations",
        name: row.text.clone(),
        line: Some(row.line),
        outcome: if row.met { Outcome::Good } else { Outcome::Bad(row.explanation.clone()) },
        ..Case::default()
    });
    let runs = (0..sweep.points() * sweep.repetitions()).map(|number| {
        let point = number / sweep.repetitions();
        let values = sweep.parameters().into_iter().zip(sweep.values(point));
        let values: Vec<String> = values.map(|(name, value)| format!("{name}={value}")).collect();
        // What cannot be read was reported when the tables were made.
        let record = folder.record(number).ok().flatten();
        Case {
            kind: "runs",
            name: format!("{} {}", folder.name_of(number), values.join(", ")).trim_end().to_owned(),
            seconds: record.as_ref().map_or(0.0, |record| record.lab_ns as f64 / 1e9),
            line: None,
            outcome: outcome(record.as_ref()),
        }
    });
    vec![Suite { name: folder.lab().to_owned(), cases: expected.chain(runs).collect() }]
}

fn outcome(record: Option<&RunRecord>) -> Outcome {
    let Some(record) = record else { return Outcome::Unknown("it has not completed".into()) };
    let why = || record.why.clone().unwrap_or_else(|| record.outcome.words().to_owned());
    match record.outcome {
        RunOutcome::Failed => Outcome::Unknown(why()),
        RunOutcome::NotAsDescribed => Outcome::Bad(why()),
        RunOutcome::AsDescribed if record.unmet == 0 => Outcome::Good,
        RunOutcome::AsDescribed => Outcome::Bad(record.missed.join("\n")),
    }
}
