//! The experiments of the manual: standard workloads, and those of the papers in their quick form.

use crate::fixture::{Fixture, User};
use std::path::Path;
use std::process::Command;

/// A lab of `examples`, with some of its text replaced.
fn example(name: &str, changes: &[(&str, &str)]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let mut text = std::fs::read_to_string(&path).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "{name} has no `{old}`");
        text = text.replace(old, new);
    }
    text
}

/// The shallow queue keeps the round trip short; BBR loses most there, since it does not slow down for losses.
#[test]
fn cubic_and_bbr_meet_a_shallow_queue_as_the_manual_says() {
    let fixture = Fixture::with_kernel(User::Own);
    let one_queue = "values: [16 packets, 528 packets, {kind: codel, limit: 528 packets}]";
    let text = example(
        "sweeps/congestion.yaml",
        &[
            (one_queue, "values: [16 packets]"),
            ("values: [cubic, bbr, reno]", "values: [cubic, bbr]"),
            ("repeat: 3", "repeat: 1"),
            // What is expected of the other queues.
            ("  - mean(round_trip | queue=528 packets, cc=cubic) > 200 ms\n", ""),
            ("  - mean(round_trip | queue=528 packets, cc=bbr) < 120 ms\n", ""),
            ("  - 'mean(round_trip | queue=\"{kind: codel, limit: 528 packets}\", cc=cubic) < 60 ms'\n", ""),
        ],
    );
    fixture.write("congestion.yaml", &text);
    fixture.netloom(&["sweep", "congestion.yaml", "-o", "out", "-q", "--wall-limit", "200s"]).expect_code(0);
    let found = std::fs::read_to_string(fixture.work().join("out/sweep.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let figure = |point: usize, name: &str| found["points"][point]["figures"][name]["mean"].as_f64().unwrap();
    assert!(figure(0, "round_trip") < 50e6 && figure(1, "round_trip") < 50e6, "{found:#}");
    assert!(figure(1, "drops") > 10.0 * figure(0, "drops"), "{found:#}");
    fixture.assert_nothing_is_left("congestion-0001");
}

/// flent measures, and draws its plots, inside of nodes.
#[test]
fn flent_runs_inside_nodes() {
    let fixture = Fixture::new(User::Own);
    let anything = "clock: real\nbounds: {lateness: 100 s, rate: 100 %, delay: 100 %, events: 100 s, starts: 100 s}\n";
    fixture.write("flent.yaml", &example("workloads/flent.yaml", &[("-l 20", "-l 5"), ("clock: real\n", anything)]));
    fixture.netloom(&["run", "flent.yaml", "-q", "--wall-limit", "300s"]).expect_code(0);
    for (node, plot) in [("client", "uploads-all_scaled.png"), ("server", "downloads-ping_cdf.png")] {
        let path = fixture.latest("flent").join("nodes").join(node).join("srv/flent").join(plot);
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 5000, "{}", path.display());
    }
    fixture.assert_nothing_is_left("flent");
}

/// Some of the experiments in their quick form, and the page with what the papers published beside them.
#[test]
fn the_page_of_the_papers_is_written() {
    let fixture = Fixture::with_kernel(User::Own);
    let papers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/papers");
    let netloom = env!("CARGO_BIN_EXE_netloom");
    let out = fixture.work().join("page");
    let mut command = Command::new("python3");
    command.arg(papers).args(["--quick", "--netloom", netloom, "--out"]).arg(&out);
    command.args(["dummynet", "gine-delay", "time-warp-packets"]);
    let done = command.output().unwrap();
    assert!(done.status.success(), "`scripts/install-deps papers` installs what it needs: {done:#?}");
    let page = std::fs::read_to_string(out.join("papers.html")).unwrap();
    for text in
        ["Figures 2, 3 and 4, table 3: when packets leave", "10.280", "on the clock virtual", "time-warp-packets-1.svg"]
    {
        assert!(page.contains(text), "no `{text}` in {}", out.display());
    }
    assert!(!page.contains("could not be measured"), "{page}");
}
