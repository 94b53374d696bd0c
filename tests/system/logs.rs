//! What programs wrote, and what a run says when it fails.

use crate::bed::{Bed, Finished, User};
use serde_json::Value;

const LAB: &str = "
bounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 10 s, starts: 60 s}
nodes: [a, b]
links: {l: {ends: [a, b], delay: 1 ms}}
";

/// The one document on standard output.
#[track_caller]
fn document(run: &Finished) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:#?}"))
}

#[test]
fn what_failed_is_quoted_and_no_terminal_obeys_it() {
    let bed = Bed::new(User::Own);
    let timeline = r#"timeline:
  - {on: a, run: 'for i in 1 2 3 4 5 6 7; do echo "line $i" >&2; done; printf "\033[2Jgone\n" >&2; exit 3', as: load}
  - {on: b, run: 'echo well >&2', as: good}
  - {on: b, run: 'echo no such table >&2; sleep 0.1', as: db, service: true}
  - {on: a, run: sleep 0.5}
"#;
    bed.write("words.yaml", &format!("{LAB}{timeline}"));
    for quiet in [false, true] {
        let options: &[&str] = if quiet { &["run", "words.yaml", "-q"] } else { &["run", "words.yaml"] };
        let run = bed.netloom(options).expect_code(1);
        let lines: Vec<&str> = run.stdout.lines().map(str::trim).collect();
        let failed = lines.iter().position(|line| line.starts_with("failed  load")).unwrap();
        assert_eq!(lines[failed + 1..failed + 6], [
            "| line 4",
            "| line 5",
            "| line 6",
            "| line 7",
            r"| \u{1b}[2Jgone"
        ]);
        assert!(run.stdout.contains("| no such table") && !run.stdout.contains("| well"), "{run:#?}");
    }
    let report = bed.json("words", "report.json");
    let tail = |name: &str| {
        let row = report["commands"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap();
        row["stderr_tail"].clone()
    };
    assert_eq!(tail("load").as_array().unwrap().len(), 5);
    assert_eq!((tail("db"), tail("good")), (serde_json::json!(["no such table"]), Value::Null));
}

/// A script that asks for the document gets it, with the same members, whatever goes wrong.
#[test]
fn the_document_comes_whatever_fails() {
    let bed = Bed::new(User::Own);
    let error = |name: &str, text: &str, code: i32, wanted: &str| {
        bed.write(name, text);
        let run = bed.netloom(&["run", name, "--json"]).expect_code(code);
        let report = document(&run);
        assert_eq!(report["exit_code"], code, "{report:#}");
        let said = report["error"].as_str().unwrap();
        assert!(said.contains(wanted) && !said.contains('\u{1b}'), "{said}");
        assert!(run.stderr.contains(wanted), "{run:#?}");
        assert!(report["commands"].is_array() && report["verdict"]["as_described"] == false, "{report:#}");
        report
    };
    let wrong = error("wrong.yaml", "nodes: [a]\nlinks: {l: {ends: [a, z]}}\n", 3, "wrong.yaml:2");
    assert!(wrong["results"].is_null());
    let missing = format!("{LAB}timeline: [{{on: a, run: no-such-program}}]\n");
    error("missing.yaml", &missing, 4, "no-such-program");
    let setup = format!("{LAB}setup: [{{on: a, run: 'echo no such schema >&2; exit 3', as: schema}}]\n");
    let report = error("setup.yaml", &setup, 1, "no such schema");
    assert_eq!(report["commands"][0]["stderr_tail"][0], "no such schema");
    let kept = std::fs::read_to_string(format!("{}/report.json", report["results"].as_str().unwrap())).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), report);
    let unclocked = bed.netloom(&["run", "missing.yaml", "--json", "--clock", "virtual", "--auto-dilate"]).expect_code(2);
    assert!(document(&unclocked)["error"].as_str().unwrap().contains("--auto-dilate"), "{unclocked:#?}");
    let no_kernel = ["run", "setup.yaml", "--json", "--clock", "virtual", "--kernel", "/nowhere/linux"];
    let no_kernel = bed.netloom(&no_kernel).expect_code(4);
    assert!(document(&no_kernel)["error"].as_str().unwrap().contains("/nowhere/linux"), "{no_kernel:#?}");
    let absent = bed.netloom(&["run", "absent.yaml", "--json"]).expect_code(3);
    assert!(document(&absent)["error"].as_str().unwrap().contains("absent.yaml"), "{absent:#?}");
}
