//! Hunts: faults that are searched in virtual time, and what is left of them.

use crate::fixture::{Finished, Fixture, User, not_run};
use serde_json::Value;
use std::fs;
use std::path::Path;

const PROGRAM: &str = include_str!("../../examples/hunt/replicas.py");
const LAB: &str = include_str!("../../examples/hunt/replicas.yaml");
/// The place where Debian has it.
const NATS_SERVER: &str = "/usr/sbin/nats-server";

fn fixture() -> Fixture {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("replicas.py", PROGRAM);
    fixture.write("replicas.yaml", LAB);
    fixture
}

fn hunt(fixture: &Fixture, more: &[&str]) -> Finished {
    fixture.netloom(&[&["hunt", "replicas.yaml", "-o", "out", "--json"], more].concat())
}

fn document(finished: &Finished) -> Value {
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:#?}"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn a_hunt_finds_the_mistake_and_keeps_a_lab_that_shows_it() {
    let fixture = fixture();
    let found = document(&hunt(&fixture, &["--runs", "20"]).expect_code(1));
    let findings = found["findings"].as_array().unwrap();
    let lost = findings.iter().find(|finding| finding["failure"]["message"].as_str().unwrap().contains("of them lost"));
    let lost = lost.unwrap_or_else(|| panic!("{found:#}"));
    let (original, minimal) = (lost["original"].as_array().unwrap(), lost["minimal"].as_array().unwrap());
    assert!(!minimal.is_empty() && minimal.len() <= original.len(), "{lost:#}");
    assert_eq!(lost["is_repeated"], true, "{lost:#}");
    let causes = lost["causes"].as_array().unwrap();
    assert!(causes.iter().all(|cause| cause["fails_without"] == false), "each of its faults is needed: {causes:#?}");
    assert!(causes.iter().all(|cause| !cause["differences"].as_array().unwrap().is_empty()), "{causes:#?}");
    assert_eq!(found["error_count"], 0, "{found:#}");
    // The lab that is kept fails by itself, and a hunt of it judges the same.
    let home = format!("out/findings/{:04}", lost["finding"].as_u64().unwrap());
    let lab = format!("{home}/minimal.yaml");
    let run = fixture.netloom(&["run", &lab, "-q"]).expect_code(1);
    assert!(run.stdout.contains("of them lost"), "{run:#?}");
    let again = fixture.netloom(&["hunt", &lab, "-o", "again", "--json"]).expect_code(1);
    assert_eq!(document(&again)["findings"][0]["failure"], lost["failure"], "{again:#?}");
    for file in ["original.yaml", "choices.json", "finding.txt", "minimal/report.json", "original/report.json"] {
        assert!(fixture.work().join(&home).join(file).exists(), "{file}");
    }
    // Nothing of the runs is left but their lines.
    assert_eq!(read(&fixture.work().join("out/runs.jsonl")).lines().count(), 21);
    assert!(!fixture.work().join("out/work").exists());
    // What has ended is not played again, and what is wrong still is.
    let refused = hunt(&fixture, &["--runs", "20"]).expect_code(2);
    assert!(refused.stderr.contains("--resume goes on with it"), "{refused:#?}");
    let resumed = document(&hunt(&fixture, &["--runs", "20", "--resume", "--regress", &home]).expect_code(1));
    assert_eq!(resumed["findings"], found["findings"]);
    assert_eq!(resumed["regress"][0]["failures"][0], lost["failure"]);
    fixture.assert_nothing_is_left("replicas-h00");
}

/// A program draws a number in each run, which only another seed changes.
const CONTROL: &str = "name: control
clock: virtual
duration: 3 s
nodes: [a, b]
links: {l: {ends: [a, b]}}
timeline: [{at: 1 s, on: a, run: od -An -N1 -tu1 /dev/urandom, as: draw}]
hunt:
  faults: none
  runs: 12
  quiet: 1 s
  always: ['no log draw matches \"[5-9]$\"']
  sometimes: ['log draw matches \"[0-4]$\"']
";

#[test]
fn runs_without_faults_differ_in_their_seeds() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("control.yaml", CONTROL);
    let found = document(&fixture.netloom(&["hunt", "control.yaml", "-o", "out", "--json"]).expect_code(1));
    assert_eq!((&found["runs"], &found["error_count"]), (&12.into(), &0.into()), "{found:#}");
    let reached = found["sometimes"][0]["runs"].as_u64().unwrap();
    assert!((1..12).contains(&reached), "some draw less than five, and others do not: {found:#}");
    let findings = found["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{found:#}");
    assert_eq!((&findings[0]["is_repeated"], &findings[0]["minimal"]), (&true.into(), &Value::Array(Vec::new())));
    // Its lab has the seed of the run that failed, and fails again, which is all there is to play. The first run has the lab's own seed, and
    // whether it fails differs between machines.
    let minimal = "out/findings/0001/minimal.yaml";
    assert_eq!(read(&fixture.work().join(minimal)).contains("seed: "), findings[0]["run"] != 0, "{found:#}");
    let again = document(&fixture.netloom(&["hunt", minimal, "-o", "again", "--json"]).expect_code(1));
    assert_eq!((&again["runs"], &again["findings"][0]["failure"]), (&0.into(), &findings[0]["failure"]), "{again:#}");
    fixture.assert_nothing_is_left("control-h00");
}

#[test]
fn runs_with_faults_differ_in_their_seeds_on_request_and_end_with_the_first_finding() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture
        .write("control.yaml", &CONTROL.replace("faults: none", "faults: {cut: on}").replace("runs: 12", "runs: 30"));
    let hunt = |out: &str, more: &[&str]| {
        fixture
            .netloom(&[&["hunt", "control.yaml", "-o", out, "--json", "--moment", "0s", "--vary-seed"], more].concat())
    };
    let found = document(&hunt("out", &["--findings", "1"]).expect_code(1));
    let finding = &found["findings"][0];
    // Half of the runs fail, whatever their faults are: these are not needed, and the seed is.
    assert_eq!((&found["complete"], &finding["minimal"]), (&true.into(), &Value::Array(Vec::new())), "{found:#}");
    assert!(found["runs"].as_u64().unwrap() < 30, "{found:#}");
    let minimal = fixture.work().join("out/findings/0001/minimal.yaml");
    assert_eq!(read(&minimal).contains("seed: "), finding["run"] != 0, "{found:#}");
    // A hunt that goes on differs in the same way as before.
    let other = fixture.netloom(&["hunt", "control.yaml", "-o", "out", "--resume"]).expect_code(2);
    assert!(other.stderr.contains("--vary-seed, which was given there"), "{other:#?}");
    fixture.assert_nothing_is_left("control-h00");
}

#[test]
fn a_crash_contradicts_a_history_and_is_kept_in_a_corpus() {
    let fixture = Fixture::with_kernel(User::Own);
    let program = include_str!("../../examples/hunt/store.py");
    fixture.write("store.py", program);
    fixture.write("store.yaml", include_str!("../../examples/hunt/store.yaml"));
    let hunt = |out: &str, more: &[&str]| {
        let own = ["hunt", "store.yaml", "--json", "--corpus", "kept", "--shrink-runs", "20", "-o", out];
        fixture.netloom(&[&own[..], more].concat())
    };
    let reports = ["--junit", "hunt.xml", "--sarif", "hunt.sarif"];
    let found = document(&hunt("out", &[&["--runs", "15"], &reports[..]].concat()).expect_code(1));
    let findings = found["findings"].as_array().unwrap();
    let stale = findings.iter().find(|finding| finding["failure"]["property"] == "always linearizable(history.jsonl)");
    let stale = stale.unwrap_or_else(|| panic!("{found:#}"));
    assert_eq!(stale["failure"]["message"], "not linearizable");
    let minimal = stale["minimal"].as_array().unwrap();
    assert!(minimal.iter().any(|fault| fault["kind"] == "crash"), "only a crash loses what was not flushed: {stale:#}");
    let home = fixture.work().join(format!("out/findings/{:04}", stale["finding"].as_u64().unwrap()));
    assert!(read(&home.join("contradiction.svg")).starts_with("<svg"));
    assert!(read(&home.join("finding.txt")).contains("process ask"), "the operations are told");
    let (xml, sarif) = (read(&fixture.work().join("hunt.xml")), read(&fixture.work().join("hunt.sarif")));
    assert!(xml.contains("name=\"always linearizable(history.jsonl)\"") && xml.contains("<failure"), "{xml}");
    assert!(sarif.contains("\"startLine\"") && sarif.contains("always linearizable"), "{sarif}");
    // What is kept still fails, until the store flushes what it acknowledges.
    let again = document(&hunt("again", &["--runs", "1"]).expect_code(1));
    let kept = again["regress"].as_array().unwrap();
    assert!(kept.iter().any(|one| one["failures"].as_array().unwrap().contains(&stale["failure"])), "{again:#}");
    let mended =
        program.replace("log.flush()  # The mistake: this is no fsync.", "log.flush(); os.fsync(log.fileno())");
    for entry in fs::read_dir(fixture.work().join("kept")).unwrap() {
        fs::write(entry.unwrap().path().join("store.py"), &mended).unwrap();
    }
    fixture.write("store.py", &mended);
    let good = document(&hunt("mended", &["--runs", "4"]));
    let failures: Vec<&Value> =
        good["regress"].as_array().unwrap().iter().flat_map(|one| one["failures"].as_array().unwrap()).collect();
    assert!(!failures.contains(&&stale["failure"]), "{good:#}");
    assert!(!good["findings"].as_array().unwrap().iter().any(|one| one["failure"] == stale["failure"]), "{good:#}");
    fixture.assert_nothing_is_left("store-h00");
}

/// The lab of an example with these faults alone, and these variables of the environment in its commands.
fn minimal(lab: &str, faults: &[&str], variables: &[(&str, &str)]) -> String {
    let (timeline, hunt) = lab.split_once("\nhunt:\n").unwrap();
    let mut is_of_faults = false;
    let rest = hunt.lines().filter(|line| {
        let is_key = line.starts_with("  ") && !line.starts_with("    ");
        is_of_faults = if is_key { line.starts_with("  faults:") } else { is_of_faults };
        !is_of_faults && !line.starts_with("  runs:")
    });
    let rest = rest.collect::<Vec<_>>().join("\n");
    let own = timeline.lines().filter(|line| !line.starts_with("inherit:")).collect::<Vec<_>>().join("\n");
    let text = format!("{}\n  - {}\n\nhunt:\n  faults: none\n{rest}\n", own.trim_end(), faults.join("\n  - "));
    variables.iter().fold(text, |text, (name, value)| text.replace(&format!("${name}"), value))
}

/// Plays the minimal lab of a known finding, of which one message is expected; none if the bug is not in it.
fn play_minimal(fixture: &Fixture, out: &str, lab: &str, message: Option<&str>) {
    fixture.write("minimal.yaml", lab);
    let hunt = fixture.netloom(&["hunt", "minimal.yaml", "-o", out, "--json", "--moment", "0s"]);
    let found = document(&hunt);
    assert_eq!(found["findings"][0]["failure"]["message"].as_str(), message, "{out}: {found:#}");
}

/// Plays the minimal lab of a known finding with one seed after the other, until the message comes: instants that differ by a microsecond decide
/// whether a race is lost.
fn play_seeds(fixture: &Fixture, out: &str, lab: &str, seeds: impl IntoIterator<Item = u64>, message: &str) {
    let mut heard = Vec::new();
    for seed in seeds {
        fixture.write("minimal.yaml", &format!("seed: {seed}\n{lab}"));
        let folder = format!("{out}-{seed}");
        let found = document(&fixture.netloom(&["hunt", "minimal.yaml", "-o", &folder, "--json", "--moment", "0s"]));
        let findings = found["findings"].as_array().unwrap();
        heard.extend(findings.iter().map(|one| one["failure"]["message"].as_str().unwrap().to_owned()));
        if heard.iter().any(|one| one == message) {
            return;
        }
    }
    panic!("{out}: no seed has {message:?}, but {heard:?}");
}

/// Whether a Python that Debian has finds this module.
fn has_module(module: &str) -> bool {
    let found = std::process::Command::new("/usr/bin/python3").args(["-c", &format!("import {module}")]).output();
    let is_there = found.is_ok_and(|ended| ended.status.success());
    if !is_there {
        not_run(&format!("the minimal lab of {module}, which is not installed"));
    }
    is_there
}

/// The minimal labs of known findings, by the versions that Debian has. SQLite with its defaults deletes its journal to commit, and flushes no folder
/// behind it, so that a crash brings the journal back, which undoes what was acknowledged. The other three do not flush what they acknowledge.
#[test]
fn crashes_lose_what_libraries_have_not_flushed() {
    let fixture = Fixture::with_kernel(User::Own);
    fs::create_dir(fixture.work().join("libraries")).unwrap();
    fixture.write("libraries/keeper.py", include_str!("../../examples/hunt/libraries/keeper.py"));
    let lab = include_str!("../../examples/hunt/libraries.yaml");
    let lost = Some("lost: # of # acknowledged items");
    let libraries = [
        ("sqlite3", "sqlite3", lost),
        ("sqlite3-extra", "sqlite3", None),
        ("persist-queue", "persistqueue", lost),
        ("sqlitedict", "sqlitedict", lost),
        ("diskcache-full", "diskcache", Some("broken: an item has another content than was put in: # bytes, not #")),
        ("diskcache-synced", "diskcache", None),
    ];
    for (library, module, message) in libraries {
        if has_module(module) {
            let faults = ["{at: 5 s, crash: store, keep: flushed, for: 100 ms}"];
            play_minimal(&fixture, library, &minimal(lab, &faults, &[("LIBRARY", library)]), message);
        }
    }
    fixture.assert_nothing_is_left("libraries-h00");
}

/// The minimal lab of a known finding in the version that Debian has: nats-server acknowledges what it flushes two minutes later
/// (https://github.com/nats-io/nats-server/issues/7564). Reboots at the same instant, which lose nothing that was written, do no harm.
#[test]
fn a_crash_of_all_servers_of_nats_loses_a_stream_that_was_not_flushed() {
    if !Path::new(NATS_SERVER).exists() {
        return not_run("the minimal lab of nats-server, which is not installed");
    }
    let fixture = Fixture::with_kernel(User::Own);
    fs::create_dir(fixture.work().join("nats")).unwrap();
    let server = include_str!("../../examples/hunt/nats/server.sh");
    fixture.write("nats/server.sh", &server.replace("$NATS_SERVER", NATS_SERVER));
    fixture.write("nats/client.py", include_str!("../../examples/hunt/nats/client.py"));
    let lab = include_str!("../../examples/hunt/nats-crash.yaml");
    let crash = "{at: 10 s, crash: [n1, n2, n3], keep: flushed, for: 100 ms}";
    let reboot = "{at: 10 s, reboot: [n1, n2, n3]}";
    play_seeds(&fixture, "crash", &minimal(lab, &[crash], &[]), 1..10, "missing: the stream: stream not found");
    play_minimal(&fixture, "reboot", &minimal(lab, &[reboot], &[]), None);
    fixture.assert_nothing_is_left("nats-crash-h00");
}

/// What Redis flushes each second only is lost in a crash, and what it flushes before each answer is not.
#[test]
fn a_crash_loses_what_redis_flushes_each_second() {
    if !Path::new("/usr/bin/redis-server").exists() {
        return not_run("the minimal lab of Redis, which is not installed");
    }
    let fixture = Fixture::with_kernel(User::Own);
    fs::create_dir(fixture.work().join("redis")).unwrap();
    fixture.write("redis/client.py", include_str!("../../examples/hunt/redis/client.py"));
    let lab = |sync: &str| {
        let crash = "{at: 3.5 s, crash: r1, keep: flushed, for: 1 ms}";
        minimal(include_str!("../../examples/hunt/redis.yaml"), &[crash], &[("APPENDFSYNC", sync)])
    };
    play_seeds(&fixture, "everysec", &lab("everysec"), 1..10, "not linearizable");
    play_minimal(&fixture, "always", &lab("always"), None);
    fixture.assert_nothing_is_left("redis-h00");
}

/// The minimal lab of a known finding in the version that Debian 12 has (https://github.com/etcd-io/etcd/issues/20418): a linearizable read returns what was
/// overwritten before it began. Without the pause it does not.
#[test]
fn a_pause_of_a_member_makes_a_linearizable_read_of_etcd_stale() {
    const ETCD: &str = "/usr/bin/etcd";
    let version = std::process::Command::new(ETCD).arg("--version").output();
    if !version.is_ok_and(|told| String::from_utf8_lossy(&told.stdout).contains("etcd Version: 3.4.23")) {
        return not_run("the minimal lab of etcd 3.4.23, which is not installed");
    }
    let fixture = Fixture::with_kernel(User::Own);
    fs::create_dir(fixture.work().join("etcd")).unwrap();
    fixture.write("etcd/clients.py", include_str!("../../examples/hunt/etcd/clients.py"));
    let lab = minimal(
        include_str!("../../examples/hunt/etcd.yaml"),
        &["{at: 8.22 s, pause: e1, for: 1.7 s}"],
        &[("ETCD", ETCD)],
    );
    let without: String =
        lab.lines().filter(|line| !line.contains("pause: e1")).map(|line| format!("{line}\n")).collect();
    // One of twelve seeds loses the race; the first two are known to.
    play_seeds(&fixture, "held", &lab, [12, 23].into_iter().chain(1..40), "not linearizable");
    play_minimal(&fixture, "not-held", &format!("seed: 12\n{without}"), None);
    fixture.assert_nothing_is_left("etcd-h00");
}

#[test]
fn a_workload_plays_executables_by_their_names() {
    let fixture = Fixture::new(User::Own);
    fs::create_dir(fixture.work().join("w")).unwrap();
    fixture.write("w/first_make", "#!/bin/sh\necho made > made\n");
    fixture.write("w/serial_driver_add", "#!/bin/sh\ntest -e made\n");
    fixture.write("w/finally_check", "#!/bin/sh\necho \"$ANTITHESIS_SDK_LOCAL_OUTPUT\"; exit 3\n");
    let refused = fixture.netloom(&["workload", "w", "--for", "1s"]).expect_code(2);
    assert!(refused.stderr.contains("names of executables begin with first_"), "{refused:#?}");
    for name in ["first_make", "serial_driver_add", "finally_check"] {
        netloom_testing::programs::make_executable(&fixture.work().join("w").join(name));
    }
    let played = fixture.netloom(&["workload", "w", "--for", "300ms", "--assertions", "sdk.jsonl"]).expect_code(1);
    assert!(played.stdout.trim_end().ends_with("/sdk.jsonl"), "{played:#?}");
    assert!(played.stderr.trim_end().ends_with("error: finally_check: exit code 3"), "{played:#?}");
}

#[test]
fn a_hunt_is_refused_where_nothing_can_be_repeated() {
    let fixture = Fixture::new(User::Own);
    fixture.write("replicas.py", PROGRAM);
    fixture.write("replicas.yaml", &LAB.replace("clock: virtual", "clock: real"));
    let refused = hunt(&fixture, &[]).expect_code(3);
    assert!(refused.stderr.contains("a hunt needs `clock: virtual`"), "{refused:#?}");
    fixture.write("replicas.yaml", &LAB.replace("duration: 12 s\n", ""));
    let endless = hunt(&fixture, &[]).expect_code(3);
    assert!(endless.stderr.contains("a hunt needs a `duration`"), "{endless:#?}");
    fixture.write("replicas.yaml", &LAB.replace("\"Traceback\"", "\"(\""));
    let wrong = fixture.netloom(&["check", "replicas.yaml"]).expect_code(3);
    assert!(wrong.stderr.contains("is not a regular expression"), "{wrong:#?}");
    assert!(!fixture.work().join("out").exists(), "nothing was begun");
}
