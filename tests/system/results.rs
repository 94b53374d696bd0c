//! What runs leave, listed, drawn and removed.

use crate::fixture::{Fixture, User};
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;

const LAB: &str = "
name: drawn
nodes: [a, b]
links: {l: {ends: [a, b], rate: 10 Mbit/s, delay: 1 ms}, idle: {ends: [a, b]}}
timeline:
  - {on: a, run: ping -4 -c 8 -i 0.1 b, as: ping, may_fail: true}
  - {at: 300 ms, link: l, set: {rate: 5 Mbit/s}}
";

fn listed(fixture: &Fixture) -> serde_json::Value {
    serde_json::from_str(&fixture.netloom(&["results", "--json"]).expect_code(0).stdout).unwrap()
}

#[test]
fn a_run_draws_only_what_was_asked_for() {
    let fixture = Fixture::new(User::Own);
    fixture.write("drawn.yaml", LAB);
    let run = fixture.netloom(&["run", "drawn.yaml"]);
    assert!(!run.stdout.contains("plots/"), "{run:#?}");
    assert!(!fixture.latest("drawn").join("plots").exists());
    assert!(fixture.json("drawn", "report.json")["plots"].is_null());
    assert!(fixture.latest("drawn").join("summary.txt").exists());
    assert!(fixture.latest("drawn").join("report.html").exists());
    let plain = fixture.netloom(&["run", "drawn.yaml", "--no-report"]);
    assert!(!plain.stdout.contains("report: "), "{plain:#?}");
    assert!(!fixture.latest("drawn").join("report.html").exists());
    assert!(fixture.json("drawn", "report.json")["page"].is_null());
}

#[test]
fn a_run_is_drawn_and_listed() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("drawn.yaml", LAB);
        let run = fixture.netloom(&["run", "drawn.yaml", "--plots"]);
        let folder = fixture.latest("drawn");
        let page = fs::read_to_string(folder.join("report.html")).unwrap();
        assert!(run.stdout.contains("report.html"), "{run:#?}");
        for words in ["verdict: ", "\"lab\":\"drawn\"", "rate: 5 Mbit/s", "data-link=\\\"l\\\"", "64 bytes from"] {
            assert!(page.contains(words), "{words}");
        }
        let report = fixture.json("drawn", "report.json");
        let pictures = report["plots"]["pictures"].as_array().unwrap();
        assert!(
            pictures.contains(&"l-forward.svg".into()) && pictures.contains(&"l-backward.svg".into()),
            "{report:#}"
        );
        let svg = fs::read_to_string(folder.join("plots/l-forward.svg")).unwrap();
        for words in ["l: a &gt; b", "throughput, mean ", "rate: 5 Mbit/s", "ping ends"] {
            assert!(svg.contains(words), "{words}: {svg}");
        }
        // The same again, from the folder alone.
        fs::remove_dir_all(folder.join("plots")).unwrap();
        let drawn = fixture.netloom(&["results", "plot", "results/drawn/latest", "l"]).expect_code(0);
        assert!(drawn.stdout.contains("drawn: 2 pipes"), "{drawn:#?}");
        assert_eq!(fs::read_to_string(folder.join("plots/l-forward.svg")).unwrap(), svg);
        fs::remove_file(folder.join("report.html")).unwrap();
        let again = fixture.netloom(&["report", "results/drawn/latest"]).expect_code(0);
        assert!(again.stdout.starts_with("report: results/drawn/latest/report.html"), "{again:#?}");
        let page_again = fs::read_to_string(folder.join("report.html")).unwrap();
        assert!(page_again.contains("\"lab\":\"drawn\"") && page_again.contains("rate: 5 Mbit/s"));
        let results = listed(&fixture);
        assert_eq!(results[0]["lab"], "drawn");
        assert_eq!((&results[0]["clock"], &results[0]["state"]), (&"real".into(), &"over".into()));
        assert_eq!(results[0]["as_described"], report["verdict"]["as_described"]);
        assert!(fixture.netloom(&["results"]).expect_code(0).stdout.contains("(latest)"));
    }
}

#[test]
fn runs_that_go_on_are_not_removed() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("brief.yaml", "name: brief\nnodes: [a]\ntimeline: [{on: a, run: 'true'}]\n");
        fixture.write("long.yaml", "name: brief\nnodes: [a]\ntimeline: [{on: a, run: sleep 1000}]\n");
        let mut long = fixture.command(&["run", "long.yaml", "-q"]).spawn().unwrap();
        let going_on =
            || listed(&fixture).as_array().unwrap().iter().filter(|found| found["state"] == "going_on").count();
        wait_until("a run that goes on", || {
            assert!(long.try_wait().unwrap().is_none(), "it ended");
            going_on() > 0
        });
        // Of the same lab, under another name while it is up.
        for _ in 0..2 {
            fixture.netloom(&["run", "brief.yaml", "--name", "short", "-q"]).expect_end();
        }
        fixture.netloom(&["results", "prune"]).expect_code(2);
        let named = fixture.netloom(&["results", "prune", "--keep", "0", "--dry-run"]).expect_code(0);
        assert!(named.stdout.contains("1 results folder would be removed"), "{named:#?}");
        let removed = fixture.netloom(&["results", "prune", "--keep", "0", "--json"]).expect_code(0);
        let removed: serde_json::Value = serde_json::from_str(&removed.stdout).unwrap();
        assert_eq!((removed.as_array().unwrap().len(), &removed[0]["lab"]), (1, &"short".into()));
        assert_eq!((going_on(), listed(&fixture).as_array().unwrap().len()), (1, 2));
        assert!(fixture.latest("short").join("report.json").exists());
        kill(Pid::from_raw(long.id().cast_signed()), Signal::SIGINT).unwrap();
        long.wait().unwrap();
        assert_eq!(going_on(), 0);
    }
}
