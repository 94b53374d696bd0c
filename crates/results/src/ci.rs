//! What a run, a sweep or a hunt shows, for continuous integration: as JUnit XML, as SARIF, and as annotations of GitHub's.

mod github;
mod junit;
mod sarif;

pub use github::annotations;
pub use junit::junit;
use netloom_judge::{CommandRow, ExitCode, Judgement, Report};
pub use sarif::sarif;
use std::path::Path;

/// The test cases of a run, or of all runs of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suite {
    /// The suite's name: the lab's, or the path of the lab file if the report names no lab.
    pub name: String,
    /// The suite's test cases.
    pub cases: Vec<Case>,
}

/// A test case: the network, an expectation, a command, or a run of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Case {
    /// The kind of the case: `network`, `expectations`, `commands`, `runs`; of a hunt also `properties`, `findings`, `assertions`, `regress`.
    pub kind: &'static str,
    /// The case's name: what it judges.
    pub name: String,
    /// The lab time that the case took, in seconds; 0 if that is not known.
    pub seconds: f64,
    /// The line of the lab file that belongs to the case; none if there is none.
    pub line: Option<usize>,
    /// The case's outcome.
    pub outcome: Outcome,
}

/// The outcome of a test case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// The case passed.
    #[default]
    Good,
    /// The case failed, for this reason.
    Bad(String),
    /// The case could not be judged, for this reason.
    Unknown(String),
}

impl Suite {
    /// Makes the suite for a run of the lab file `file` from its report.
    pub fn of_run(report: &Report, file: &Path) -> Self {
        let name = if report.lab.is_empty() { file.display().to_string() } else { report.lab.clone() };
        let mut cases = vec![network(report, file)];
        cases.extend(report.expectations.iter().map(|row| Case {
            kind: "expectations",
            name: row.text.clone(),
            line: Some(row.line),
            outcome: if row.met { Outcome::Good } else { Outcome::Bad(row.explanation.clone()) },
            ..Case::default()
        }));
        let seconds = |start: Option<i64>, end: Option<i64>| {
            start.zip(end).map_or(0.0, |(start, end)| end.saturating_sub(start) as f64 / 1e9)
        };
        cases.extend(report.commands.iter().map(|row| Case {
            kind: "commands",
            name: format!("{} on {}", row.name, row.node),
            seconds: seconds(row.start_ns, row.end_ns),
            line: Some(row.line).filter(|line| *line > 0),
            outcome: if row.failed { Outcome::Bad(with_last_words(row)) } else { Outcome::Good },
        }));
        Self { name, cases }
    }

    /// Returns how many cases did not pass.
    pub fn bad(&self) -> usize {
        self.cases.iter().filter(|case| case.outcome != Outcome::Good).count()
    }
}

/// How a command ended, and what it wrote last.
fn with_last_words(row: &CommandRow) -> String {
    let said = row.stderr_tail.iter().map(String::as_str);
    [row.ending().as_str()].into_iter().chain(said).collect::<Vec<_>>().join("\n")
}

/// The line of the lab file that an error names: `lab.yaml:3: ...`, ` --> lab.yaml:3:5`.
fn line_in(error: &str, file: &Path) -> Option<usize> {
    let name = format!("{}:", file.display());
    let digits = error.match_indices(&name).map(|(at, _)| &error[at + name.len()..]);
    digits.filter_map(|rest| rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()).next()
}

/// Whether the network was as described, and the run came to its end.
fn network(report: &Report, file: &Path) -> Case {
    let verdict = &report.verdict;
    let outcome = match &report.error {
        Some(error) => Outcome::Unknown(error.clone()),
        None if report.interrupted => Outcome::Unknown("the run was interrupted".into()),
        None if report.wall_limit_reached => Outcome::Unknown("the run took longer than its wall limit".into()),
        None if verdict.is_as_described() => Outcome::Good,
        // A run that was to send nothing did what was described.
        None if verdict.judgement == Judgement::NotJudged && report.exit_code != ExitCode::NotJudged.number() => {
            Outcome::Good
        }
        None if verdict.judgement == Judgement::NotJudged => Outcome::Unknown(verdict.headline()),
        None => {
            let findings = verdict.findings.iter().map(|finding| format!("{}: {}", finding.subject, finding.text));
            Outcome::Bad([verdict.headline()].into_iter().chain(findings).collect::<Vec<_>>().join("\n"))
        }
    };
    Case {
        kind: "network",
        name: "as described".into(),
        seconds: report.duration_ns as f64 / 1e9,
        line: report.error.as_ref().and_then(|error| line_in(error, file)),
        outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_judge::ExpectationRow;

    pub(super) fn suite() -> Suite {
        let row = |text: &str, line, met| ExpectationRow {
            text: text.into(),
            line,
            met,
            explanation: "measured 2 % < \"3 %\",\nwanted\u{1b} more".into(),
        };
        let command = CommandRow {
            name: "transfer".into(),
            node: "client".into(),
            command: "iperf3".into(),
            line: 12,
            service: false,
            start_ns: Some(500_000_000),
            start_lateness_ns: None,
            end_ns: Some(2_000_000_000),
            exit_code: Some(3),
            signal: None,
            stopped: false,
            restarts: 0,
            interrupted: false,
            kept_by: None,
            node_stopped: false,
            failed: true,
            stdout: "out".into(),
            stderr: "err".into(),
            stderr_tail: vec!["unable to connect".into(), "<tag> & more".into()],
        };
        let mut report = Report {
            lab: "pair".into(),
            duration_ns: 2_500_000_000,
            expectations: vec![row("a.loss > 3 %", 7, false), row("a.drops == 0 & more", 8, true)],
            commands: vec![command],
            ..Report::default()
        };
        report.verdict.judgement = Judgement::AsDescribed;
        Suite::of_run(&report, Path::new("pair.yaml"))
    }

    #[test]
    fn a_run_is_judged_case_by_case() {
        let suite = suite();
        assert_eq!((suite.name.as_str(), suite.cases.len(), suite.bad()), ("pair", 4, 2));
        assert_eq!((suite.cases[0].kind, suite.cases[0].seconds), ("network", 2.5));
        assert_eq!(
            (suite.cases[3].seconds, &suite.cases[3].outcome),
            (1.5, &Outcome::Bad("exit 3\nunable to connect\n<tag> & more".into()))
        );
        assert_eq!((suite.cases[0].line, suite.cases[3].line), (None, Some(12)));
    }

    #[test]
    fn what_failed_before_its_end_is_unknown() {
        let refused = Report { error: Some("oops:\n --> pair.yaml:7:3\n".into()), ..Report::default() };
        assert_eq!(Suite::of_run(&refused, Path::new("pair.yaml")).cases[0].line, Some(7));
        let report = Report { error: Some("no kernel".into()), ..Report::default() };
        let suite = Suite::of_run(&report, Path::new("pair.yaml"));
        assert_eq!(
            (suite.name.as_str(), &suite.cases[0].outcome),
            ("pair.yaml", &Outcome::Unknown("no kernel".into()))
        );
    }
}
