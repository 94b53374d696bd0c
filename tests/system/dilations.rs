//! The search for a dilation, and what a clock refuses.

use crate::fixture::{Fixture, User};

/// No machine hands a packet over within a nanosecond, at no dilation.
const IMPOSSIBLE: &str = "
name: impossible
bounds: {lateness: 1 ns, starvation: 100 %, events: 10 s, starts: 60 s}
duration: 600 ms
nodes: [a, b]
links: {l: {ends: [a, b], rate: 20 Gbit/s, delay: 1 ms}}
timeline: [{on: a, run: ping -c 3 -i 0.1 b}]
";

#[test]
fn a_lab_that_never_fits_is_rerun_up_to_the_limit() {
    let fixture = Fixture::new(User::Own);
    fixture.write("impossible.yaml", IMPOSSIBLE);
    let arguments = ["run", "impossible.yaml", "--auto-dilate", "--dilate-at-most", "4"];
    let run = fixture.netloom(&arguments).expect_code(5);
    assert!(run.stderr.contains("run in real time, 600 ms of lab time in about 600 ms"), "{run:#?}");
    assert!(run.stderr.contains("run in dilation 4, 600 ms of lab time in about 2.4 s"), "{run:#?}");
    assert!(run.stderr.contains("--dilate-at-most allows more"), "{run:#?}");
    assert!(run.stdout.contains("all runs"), "{run:#?}");
    let report = fixture.json("impossible", "report.json");
    let attempts = report["attempts"].as_array().unwrap();
    let clocks: Vec<_> = attempts.iter().map(|attempt| attempt["clock"].as_str().unwrap()).collect();
    assert_eq!(clocks, ["real", "{dilation: 4}"]);
    let folders: Vec<_> = attempts.iter().map(|attempt| attempt["results"].as_str().unwrap()).collect();
    assert_ne!(folders[0], folders[1]);
    let provenance = fixture.json("impossible", "provenance.json");
    assert_eq!((&provenance["clock"], &provenance["dilation"]), (&"dilated".into(), &4.0.into()));
    assert!(provenance["node_kernel"]["version"].is_string(), "{provenance}");
    fixture.assert_nothing_is_left("impossible");
}

#[test]
fn what_cannot_be_dilated_is_refused_before_it_runs() {
    let fixture = Fixture::new(User::Own);
    fixture.write("impossible.yaml", IMPOSSIBLE);
    let timeless = fixture.netloom(&["run", "impossible.yaml", "--auto-dilate", "--clock", "virtual"]).expect_code(2);
    assert!(timeless.stderr.contains("nothing to dilate"), "{timeless:#?}");
    fixture.write("native.yaml", &IMPOSSIBLE.replace("[a, b]\nlinks", "{a: {stack: namespace}, b: {}}\nlinks"));
    let native = fixture.netloom(&["run", "native.yaml", "--auto-dilate"]).expect_code(3);
    assert!(native.stderr.contains("in dilated time, this lab is refused"), "{native:#?}");
    assert!(!fixture.work().join("results").exists());
}
