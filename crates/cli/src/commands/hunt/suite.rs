//! What a hunt found, for continuous integration: each property is a test case.

use netloom_hunt::{FindingRecord, Summary, Target};
use netloom_lab::{Modality, PropertyPlan};
use netloom_results::ci::{Case, Outcome, Suite};
use std::path::Path;

/// The suite of a hunt whose results are in `folder`.
pub(super) fn suite(target: &Target, summary: &Summary, folder: &Path) -> Suite {
    let properties = target.lab.plan.hunt.iter().flat_map(|hunt| &hunt.properties);
    let mut told: Vec<usize> = Vec::new();
    let mut cases = vec![runs(summary)];
    for property in properties {
        let name = format!("{} {}", property.modality.name(), property.text);
        let own: Vec<&FindingRecord> = summary.findings.iter().filter(|one| one.failure.property == name).collect();
        told.extend(own.iter().map(|finding| finding.finding));
        let outcome = if own.is_empty() { held(property, summary) } else { Outcome::Bad(texts(&own, folder)) };
        cases.push(Case { kind: "properties", name, line: Some(property.line), outcome, ..Case::default() });
    }
    let others = summary.findings.iter().filter(|finding| !told.contains(&finding.finding));
    cases.extend(others.map(|finding| Case {
        kind: "findings",
        name: finding.failure.line(),
        outcome: Outcome::Bad(texts(&[finding], folder)),
        ..Case::default()
    }));
    let named: Vec<&str> =
        target.lab.plan.hunt.iter().flat_map(|hunt| &hunt.properties).map(|one| one.text.as_str()).collect();
    let of_programs = summary.sometimes.iter().filter(|one| !named.contains(&one.property.as_str()));
    cases.extend(of_programs.map(|one| Case {
        kind: "assertions",
        name: one.property.clone(),
        outcome: if one.runs > 0 { Outcome::Good } else { never(summary) },
        ..Case::default()
    }));
    cases.extend(summary.regress.iter().map(|one| Case {
        kind: "regress",
        name: one.lab.display().to_string(),
        outcome: match (&one.error, one.failures.first()) {
            (Some(error), _) => Outcome::Unknown(error.clone()),
            (None, Some(failure)) => Outcome::Bad(format!("it still fails: {}", failure.line())),
            (None, None) => Outcome::Good,
        },
        ..Case::default()
    }));
    Suite { name: target.lab.plan.name.clone(), cases }
}

/// Whether runs showed anything.
fn runs(summary: &Summary) -> Case {
    let outcome = match summary.errors.first() {
        Some(first) if summary.error_count >= summary.runs => {
            Outcome::Unknown(format!("no run showed anything: {}", first.error.as_deref().unwrap_or_default()))
        }
        _ => Outcome::Good,
    };
    Case { kind: "runs", name: format!("{} runs", summary.runs), outcome, ..Case::default() }
}

/// The outcome of a property without a finding.
fn held(property: &PropertyPlan, summary: &Summary) -> Outcome {
    let is_reached = || summary.sometimes.iter().any(|one| one.property == property.text && one.runs > 0);
    match property.modality {
        _ if summary.never_decided.contains(&property.text) => Outcome::Unknown("no run decided it".into()),
        Modality::Sometimes if !is_reached() => never(summary),
        _ => Outcome::Good,
    }
}

fn never(summary: &Summary) -> Outcome {
    Outcome::Bad(format!("never reached in {} runs", summary.runs))
}

/// Tells findings, with the faults that are enough and where the lab is.
fn texts(findings: &[&FindingRecord], folder: &Path) -> String {
    findings.iter().map(|finding| super::found(finding, folder)).collect::<String>().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_hunt::{Failure, Reached, Regressed};

    #[test]
    fn each_property_is_a_case() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kv.yaml");
        let text = "clock: virtual\nduration: 20 s\nnodes: [a, b]\nlinks: {l: {ends: [a, b]}}\ntimeline: [{on: a, run: ./ask, as: ask}]\n\
                    hunt:\n  always: [ask.exit == 0, 'no log a matches \"x\"']\n  sometimes: ['log a matches \"y\"']\n";
        std::fs::write(&path, text).unwrap();
        let target = Target::read(&path).unwrap();
        let finding = FindingRecord {
            finding: 1,
            failure: Failure::new("always no log a matches \"x\"", "x 7"),
            run: 4,
            original: Vec::new(),
            minimal: Vec::new(),
            shrink_runs: 0,
            is_repeated: true,
            causes: Vec::new(),
            branches: Vec::new(),
            files_elsewhere: Vec::new(),
        };
        let other = FindingRecord { finding: 2, failure: Failure::new("command ask", "exit 3"), ..finding.clone() };
        let reached = |property: &str, runs| Reached { property: property.into(), runs };
        let summary = Summary {
            runs: 9,
            findings: vec![finding, other],
            sometimes: vec![reached("log a matches \"y\"", 0), reached("reachable: z", 2)],
            regress: vec![Regressed { lab: "old/minimal.yaml".into(), ..Regressed::default() }],
            never_decided: vec!["ask.exit == 0".into()],
            ..Summary::default()
        };
        let suite = suite(&target, &summary, Path::new("out"));
        let told: Vec<_> = suite.cases.iter().map(|case| (case.kind, case.name.as_str(), case.line)).collect();
        let wanted = [
            ("runs", "9 runs", None),
            ("properties", "always ask.exit == 0", Some(7)),
            ("properties", "always no log a matches \"x\"", Some(7)),
            ("properties", "sometimes log a matches \"y\"", Some(8)),
            ("findings", "command ask: exit #", None),
            ("assertions", "reachable: z", None),
            ("regress", "old/minimal.yaml", None),
        ];
        assert_eq!(told, wanted);
        assert_eq!(suite.cases[1].outcome, Outcome::Unknown("no run decided it".into()));
        let Outcome::Bad(why) = &suite.cases[2].outcome else { panic!("{suite:?}") };
        assert!(why.contains("out/findings/0001/minimal.yaml"), "{why}");
        assert_eq!(suite.cases[3].outcome, Outcome::Bad("never reached in 9 runs".into()));
        assert_eq!(suite.bad(), 4);
    }
}
