//! Core dumps of programs that crash in kernel nodes.

use crate::fixture::{Fixture, User, not_run};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// One program crashes at once, the other as another user.
const LAB: &str = "name: dumps
CLOCK
nodes: {a: {stack: kernel, cores: ROOM}, b: {stack: kernel, cores: 1 MB}}
links: {l: {ends: [a, b]}}
timeline:
  - {on: a, run: 'sleep 100 & sleep 0.05; kill -ABRT $!; wait $!', as: first, may_fail: true}
  - {on: a, run: 'sleep 200 & sleep 0.05; kill -SEGV $!; wait $!', as: second, may_fail: true, after: third, user: nobody}
  - {on: a, run: 'sleep 0.1', as: third}
  - {on: b, run: 'sleep 0.2', as: well}
";

/// The dumps in the results, by their names.
fn dumps(fixture: &Fixture, clock: &str, room: &str) -> Vec<(String, PathBuf)> {
    fixture.write("dumps.yaml", &LAB.replace("CLOCK", clock).replace("ROOM", room));
    fixture.netloom(&["run", "dumps.yaml", "-q"]).expect_code(0);
    let cores = fixture.latest("dumps").join("cores");
    assert!(!cores.join("b").exists() && !cores.join("a.tar").exists(), "no program of b has crashed");
    let found = fs::read_dir(cores.join("a")).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<_> = found.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path)).collect();
    all.sort();
    all
}

#[test]
fn dumps_of_crashed_programs_are_in_the_results() {
    let fixture = Fixture::with_kernel(User::Own);
    let first = dumps(&fixture, "clock: virtual", "8 MB");
    assert_eq!(first.len(), 2, "{first:?}");
    for (name, path) in &first {
        assert!(name.starts_with("sleep-"), "{first:?}");
        let core = fs::read(path).unwrap();
        // The magic number of ELF, and the type ET_CORE.
        assert_eq!((&core[..4], core[16]), (&b"\x7fELF"[..], 4), "{name}");
    }
    if Command::new("gdb").arg("--version").output().is_ok_and(|found| found.status.success()) {
        let read = |path: &PathBuf| {
            let told = Command::new("gdb").args(["-q", "-nx", "-batch", "sleep"]).arg(path).output().unwrap();
            String::from_utf8_lossy(&told.stdout).into_owned()
        };
        let told: String = first.iter().map(|(_, path)| read(path)).collect();
        assert!(told.contains("SIGABRT") && told.contains("SIGSEGV"), "{told}");
    } else {
        not_run("gdb on core dumps: there is no gdb on this machine (package: gdb)");
    }
    // The same programs have the same numbers and the same memory in each run.
    let contents = |found: &[(String, PathBuf)]| -> Vec<(String, Vec<u8>)> {
        found.iter().map(|(name, path)| (name.clone(), fs::read(path).unwrap())).collect()
    };
    let before = contents(&first);
    let again = contents(&dumps(&fixture, "clock: virtual", "8 MB"));
    for ((name, bytes), (own, others)) in before.iter().zip(&again) {
        let differs = bytes.iter().zip(others).position(|(one, other)| one != other);
        assert_eq!((name, bytes.len(), differs), (own, others.len(), None));
    }
    assert_eq!(dumps(&fixture, "clock: real\nbounds: {lateness: 10 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 10 s, starts: 60 s}", "8 MB").len(), 2);
    fixture.assert_nothing_is_left("dumps");
}

/// A debugger takes a dump that was cut off for a whole one in which things are missing.
#[test]
fn a_dump_without_room_is_left_out_with_a_word() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("dumps.yaml", &LAB.replace("CLOCK", "clock: virtual").replace("ROOM", "100 kB"));
    fixture.netloom(&["run", "dumps.yaml", "-q"]).expect_code(0);
    assert!(!fixture.latest("dumps").join("cores/a").exists());
    let report = fixture.json("dumps", "report.json");
    let warnings = report["warnings"].to_string();
    assert_eq!(warnings.matches("is left out: its room ended after").count(), 2, "{report:#}");
    assert!(warnings.contains("node a: collect: /netloom-cores/sleep-"), "{report:#}");
    fixture.assert_nothing_is_left("dumps");
}

#[test]
fn a_kernel_that_all_share_has_no_dumps_of_a_node() {
    let fixture = Fixture::new(User::Own);
    fixture.write("shared.yaml", "nodes: {a: {cores: 8 MB}, b: }\nlinks: {l: {ends: [a, b]}}\n");
    let refused = fixture.netloom(&["check", "shared.yaml"]).expect_code(3);
    assert!(refused.stderr.contains("nodes.a.cores: where core dumps go is a setting"), "{refused:#?}");
    fixture.write("shared.yaml", "clock: virtual\nnodes: {a: {cores: 100 MB}, b: }\nlinks: {l: {ends: [a, b]}}\n");
    let large = fixture.netloom(&["check", "shared.yaml"]).expect_code(3);
    assert!(large.stderr.contains("at most half of a node's memory, which is 128 MB"), "{large:#?}");
}
