//! `netloom doctor`: it measures, tells, keeps what it found, and leaves nothing else.

use crate::fixture::{Fixture, User, is_root};
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::process::{Child, Stdio};

/// A run that would be late on any machine.
const STRICT: &str = "name: strict\nbounds: {lateness: 1 ns, starvation: 90 %, events: 10 s, starts: 60 s}\nnodes: [a, b]\n\
                      links: {l: {ends: [a, b], delay: 1 ms}}\n\
                      timeline: [{on: a, run: ping -c 3 -i 0.2 b}]\n";

#[test]
fn it_tells_people_and_machines_what_labs_may_ask_for() {
    for user in User::some() {
        let fixture = Fixture::new(user).alone();
        let told = fixture.netloom(&["doctor"]).expect_code(0);
        for line in ["small packets", "one TCP stream", "Labs run here.", "Precision: ", "nodes with one interface"] {
            assert!(told.stdout.contains(line), "{line}: {told:#?}");
        }
        assert!(told.stderr.contains("doctor.json"), "{told:#?}");
        let quiet = fixture.netloom(&["doctor", "--json", "--quiet"]).expect_code(0);
        assert_eq!(quiet.stderr, "");
        let found: Value = serde_json::from_str(&quiet.stdout).unwrap();
        assert_eq!(found["conclusion"]["labs"], true);
        assert_eq!(found["root"], user == User::Own && is_root());
        let carried = &found["forwarding"];
        for figure in ["flooded_packets_per_second", "tcp_bits_per_second", "plain_tcp_bits_per_second"] {
            assert!(carried[figure].as_f64().unwrap() > 0.0, "{figure}: {carried:#}");
        }
        assert!(carried["mean_sent_bytes"].as_f64().unwrap() > 1_500.0, "{carried:#}");
        for precision in ["eco", "balanced", "exact"] {
            assert_eq!(found["timing"][precision]["count"], 700);
        }
        for check in found["checks"].as_array().unwrap() {
            assert_eq!(check["change"].is_null(), check["state"] == "fine", "{check:#}");
        }
        let kept = fs::read_to_string(fixture.work().join(".cache/netloom/doctor.json")).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), found);
        fixture.assert_nothing_is_left("doctor");
    }
}

#[test]
fn later_verdicts_quote_it() {
    let fixture = Fixture::new(User::Own).alone();
    fixture.write("strict.yaml", STRICT);
    let run = || {
        let report = fixture.netloom(&["run", "strict.yaml", "--json", "--quiet"]).expect_code(5);
        let report: Value = serde_json::from_str(&report.stdout).unwrap();
        report["verdict"]["machine"].as_str().unwrap_or_default().to_owned()
    };
    let proposal = run();
    assert!(proposal.starts_with("`netloom doctor` measures"), "{proposal}");
    fixture.netloom(&["doctor", "--quiet"]).expect_code(0);
    let quoted = run();
    assert!(quoted.starts_with("netloom doctor of 20"), "{quoted}");
    // What it says depends on what else ran meanwhile.
    assert!(quoted.contains("this lab allows 1 ns") || quoted.contains("while it was busy"), "{quoted}");
    fixture.assert_nothing_is_left("strict");
}

#[test]
fn a_machine_without_namespaces_is_four_and_is_still_measured() {
    let user = User::all().pop().unwrap();
    let fixture = Fixture::new(user).alone();
    // The limit belongs to a user namespace: inside one of our own it can be zero without touching the machine.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && \
                  exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all \"$@\"";
    let wrapper = ["unshare", "-U", "--map-current-user", "--keep-caps", "sh", "-c", script, "sh"];
    let refused = fixture.wrapped(&wrapper, &["doctor", "--json"]).expect_code(4);
    let found: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!((&found["conclusion"]["labs"], &found["exit_code"]), (&Value::Bool(false), &4.into()));
    assert!(found["timing"]["balanced"]["p99_ns"].as_u64().unwrap() > 0);
    assert!(found["forwarding"].is_null());
    let first = &found["checks"][0];
    assert_eq!((first["name"].as_str(), first["state"].as_str()), (Some("namespaces"), Some("missing")));
    assert!(first["change"].as_str().unwrap().contains("user.max_user_namespaces"), "{first:#}");
    fixture.assert_nothing_is_left("doctor");
}

#[test]
fn nothing_is_left_of_one_that_is_interrupted_or_killed() {
    for (user, signal) in User::all().into_iter().flat_map(|user| [(user, Signal::SIGINT), (user, Signal::SIGKILL)]) {
        let fixture = Fixture::new(user).alone();
        let mut command = fixture.command(&["doctor"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        until_traffic_flows(&fixture, &mut child);
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), (signal == Signal::SIGINT).then_some(130), "{user:?} {signal}");
        fixture.assert_nothing_is_left("doctor");
        assert!(!fixture.work().join(".cache/netloom/doctor.json").exists(), "half a result was kept");
    }
}

/// The doctor's lab has some twenty processes; before it there is one.
fn until_traffic_flows(fixture: &Fixture, child: &mut Child) {
    wait_until("the lab of the doctor", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended before there was a lab");
        fixture.processes().len() >= 10
    });
}
