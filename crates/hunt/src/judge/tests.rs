use super::*;
use netloom_judge::ExpectationRow;
use std::fs;
use std::path::PathBuf;

const HUNT: &str = "{always: ['no log n* matches \"panic\"', ask.exit == 0, n*.exit == 0], eventually: ['log n1 matches \"converged\"'],\
                    sometimes: ['log n* matches \"leader\" >= 2', {command: test -e $NETLOOM_RESULTS/seen}], never: [ask.exit == 3]}";

fn judge_of(hunt: &str) -> Judge {
    let text = format!(
        "duration: 9 s\nclock: virtual\nnodes: [n1, n2, client]\nlinks: {{lan: {{ends: [n1, n2, client]}}}}\n\
         timeline:\n  - {{on: n*, run: ./serve, as: serve, ready: {{tcp: 80}}}}\n  - {{on: client, run: ./ask, as: ask}}\nhunt: {hunt}\n"
    );
    Judge::new(&netloom_lab::parse(&text, "kv.yaml").unwrap_or_else(|error| panic!("{error}")).plan.hunt.unwrap())
        .unwrap()
}

/// The results of a run in which two programs wrote these lines.
struct Run {
    folder: tempfile::TempDir,
    report: Report,
}

fn row(name: &str, node: &str) -> CommandRow {
    let log = |stream: &str| PathBuf::from(format!("{name}.{stream}"));
    CommandRow {
        name: name.into(),
        node: node.into(),
        command: name.into(),
        line: 1,
        service: true,
        start_ns: Some(0),
        start_lateness_ns: None,
        end_ns: None,
        exit_code: None,
        signal: None,
        stopped: true,
        restarts: 0,
        interrupted: false,
        kept_by: None,
        node_stopped: false,
        failed: false,
        stdout: log("stdout"),
        stderr: log("stderr"),
        stderr_tail: Vec::new(),
    }
}

fn run(lines: [&str; 2], met: &[bool]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let commands = vec![row("serve-n1", "n1"), row("serve-n2", "n2")];
    for (command, text) in commands.iter().zip(lines) {
        fs::write(folder.path().join(&command.stdout), text).unwrap();
    }
    fs::write(folder.path().join("commands.json"), serde_json::to_vec(&commands).unwrap()).unwrap();
    let expectation = |is_met: &bool| ExpectationRow {
        text: "ask.exit == 0".into(),
        line: 1,
        met: *is_met,
        explanation: String::new(),
    };
    let expectations = met.iter().map(expectation).collect();
    let report = Report { results: folder.path().to_owned(), commands, expectations, ..Report::default() };
    Run { folder, report }
}

fn judged(judge: &Judge, run: &Run) -> Judged {
    judge.judge(Some(ExitCode::Success), &run.report, &mut Checkers { started: |_| {} })
}

#[test]
fn what_holds_is_no_failure() {
    let judge = judge_of(HUNT);
    assert_eq!(judge.expectations(false), ["ask.exit == 0", "ask.exit == 3"]);
    assert_eq!(judge.expectations(true), ["ask.exit == 0"], "a lab that is kept does not expect what must not be");
    let good = run(["new leader\nconverged\n", "new leader"], &[true, true, false]);
    let found = judged(&judge, &good);
    assert_eq!(found, Judged { reached: vec!["log n* matches \"leader\" >= 2".into()], ..Judged::default() });
    fs::write(good.folder.path().join("seen"), "").unwrap();
    assert_eq!(judged(&judge, &good).reached.len(), 2);
}

#[test]
fn each_property_can_fail() {
    let judge = judge_of(HUNT);
    let mut bad = run(["panic: term 7\nno leader", "x"], &[false, false, true]);
    bad.report.commands[1] = CommandRow { exit_code: Some(2), stopped: false, failed: true, ..row("serve-n2", "n2") };
    let properties: Vec<String> = judged(&judge, &bad).failures.iter().map(Failure::line).collect();
    assert!(properties[0].starts_with("command serve-n2: "), "{properties:?}");
    assert_eq!(
        properties[1..4],
        ["ask.exit == 0", "always no log n* matches \"panic\": panic: term #", "always ask.exit == 0",]
    );
    assert!(properties[4].starts_with("always n*.exit == 0: serve-n2"), "{properties:?}");
    assert_eq!(properties[5..], ["eventually log n1 matches \"converged\"", "never ask.exit == 3"]);
}

#[test]
fn a_checker_says_why() {
    let judge = judge_of("{always: [{command: 'echo looked at it; echo lost 17 >&2; exit 1'}]}");
    let found = judged(&judge, &run(["", ""], &[]));
    assert_eq!(found.failures[0].message, "lost #");
    let missing = judge_of("{always: [{command: 'no-such-checker-is-here'}]}");
    let error = judged(&missing, &run(["", ""], &[])).error.unwrap();
    assert!(error.contains("it ended with 127"), "what cannot be run finds nothing: {error}");
}

#[test]
fn a_checker_may_answer_in_json() {
    let answered = |answer: &str, code: u8| {
        let quoted = answer.replace('"', "\\\"");
        let hunt = format!("{{always: [{{command: 'echo looked at it; echo \"{quoted}\"; exit {code}'}}]}}");
        judged(&judge_of(&hunt), &run(["", ""], &[]))
    };
    let lost = answered("{\"valid\": false, \"message\": \"lost 7\"}", 0);
    assert_eq!(lost.failures[0].message, "lost #");
    assert!(answered("{\"valid?\": true}", 0).failures.is_empty());
    assert_eq!(answered("{\"valid\": true}", 1).failures.len(), 1, "both have to say so");
    let unknown = answered("{\"valid\": \"unknown\"}", 0);
    assert!(unknown.failures.is_empty() && unknown.undecided.len() == 1, "{unknown:?}");
    assert_eq!(answered("{\"count\": 3}", 1).failures.len(), 1, "that is no verdict");
}

#[test]
fn a_run_that_failed_in_itself_shows_nothing() {
    let judge = judge_of("{}");
    let void = |code, change: &dyn Fn(&mut Report)| {
        let mut one = run(["panic", ""], &[false]);
        change(&mut one.report);
        judge.judge(code, &one.report, &mut Checkers { started: |_| {} })
    };
    let error = void(Some(ExitCode::Died), &|report| report.error = Some("its kernel ended".into()));
    assert_eq!(error, Judged::error("its kernel ended"));
    assert!(void(Some(ExitCode::WallLimit), &|report| report.wall_limit_reached = true).error.is_some());
    assert!(void(None, &|_| {}).error.is_some());
    assert!(
        void(Some(ExitCode::Unmet), &|report| report.verdict.judgement = Judgement::NotAsDescribed).error.is_some()
    );
    assert_eq!(void(Some(ExitCode::Unmet), &|_| {}).failures.len(), 1);
}
