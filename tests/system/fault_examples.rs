//! The labs of `examples/faults`: programs that people use, and what they make of crashes, pauses, wrong clocks and pulled cables. Each lab expects
//! what the documentation of its program says, and has a part that loses something, so that the faults are known to reach the programs.

use crate::fixture::{Fixture, User, is_left_to_test_all, not_run};
use crate::virtual_time::{assert_same, results};
use std::fs;
use std::path::Path;

/// Plays `examples/FOLDER/NAME.yaml` from a copy of its folder.
fn play(fixture: &Fixture, folder: &str, name: &str) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(folder);
    let (file, own) = (format!("{name}.yaml"), fixture.work().join(folder));
    fs::create_dir_all(&own).unwrap();
    for entry in fs::read_dir(&examples).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), own.join(entry.file_name())).unwrap();
    }
    let lab = fixture.write(&format!("{folder}/{file}"), &fs::read_to_string(examples.join(file)).unwrap());
    let run = fixture.netloom(&["run", lab.to_str().unwrap(), "-q"]);
    assert!(!run.stderr.contains("not on this machine"), "`scripts/install-deps services` installs it: {run:#?}");
    let run = run.expect_code(0);
    assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
}

/// Plays those that take more than three seconds in `make test-all` alone.
fn play_long(folder: &str, name: &str) {
    if is_left_to_test_all(&format!("the example {name}")) {
        return;
    }
    play(&Fixture::with_kernel(User::Own), folder, name);
}

fn play_twice(lab: &str) {
    let fixture = Fixture::with_kernel(User::Own);
    let [first, second] = [1, 2].map(|_| {
        play(&fixture, "faults", lab);
        results(&fixture, lab)
    });
    assert_same(&first, &second);
    fixture.assert_nothing_is_left(lab);
}

#[test]
fn two_hold_a_lock_after_a_pause_and_after_a_step_of_a_clock() {
    play_twice("lock");
}

#[test]
fn a_token_of_a_fast_clock_is_not_yet_valid() {
    play_twice("jwt");
}

#[test]
fn an_address_goes_to_the_other_router_when_a_cable_is_pulled() {
    play(&Fixture::with_kernel(User::Own), "faults", "vrrp");
}

#[test]
fn redis_loses_what_it_may_lose() {
    play(&Fixture::with_kernel(User::Own), "faults", "redis-aof");
}

#[test]
fn postgresql_loses_no_commit_that_it_acknowledged() {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    if versions.filter(|version| version.path().join("bin/initdb").exists()).count() == 0 {
        not_run("the example of PostgreSQL that crashes: it is not on this machine (package postgresql)");
        return;
    }
    play_long("faults", "postgresql-crash");
}

#[test]
fn etcd_loses_nothing_when_its_members_crash_in_turn() {
    play_long("faults", "etcd-crash");
}

#[test]
fn sqlite_loses_what_its_documentation_says() {
    play_long("faults", "sqlite");
}
