//! Faults of disks: programs notice each of them, and how much of it there is follows by arithmetic.

use crate::fixture::{Fixture, User};
use std::fs;
use std::path::Path;

/// What programs see: `disk_faults.py`.
const PROGRAM: &str = include_str!("disk_faults.py");

/// A lab with one node that has a disk of this file system: entries of its timeline, each as (instant in ms, entry), and programs, as
/// (instant in ms, name, arguments).
fn lab(name: &str, filesystem: &str, entries: &[(u64, &str)], programs: &[(u64, &str, &str)]) -> String {
    let entry = |(at, entry): &(u64, &str)| format!("  - {{at: {at} ms, {entry}}}\n");
    let program = |(at, own, arguments): &(u64, &str, &str)| {
        format!("  - {{at: {at} ms, on: a, run: python3 disk_faults.py {arguments}, as: {own}, save: {own}}}\n")
    };
    let timeline: String = entries.iter().map(entry).chain(programs.iter().map(program)).collect();
    format!(
        "name: {name}\nclock: virtual\nnodes:\n  a: {{disk: {{at: /data, filesystem: {filesystem}, latency: 100 us, flush: 2 ms, \
         journal: true}}}}\n  b: {{}}\nlinks: {{l: {{ends: [a, b]}}}}\ntimeline:\n  - {{on: a, run: 'python3 disk_faults.py make \
         /data/f /data/g', as: make}}\n{timeline}"
    )
}

fn saved(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn run(fixture: &Fixture, name: &str, text: &str) -> std::path::PathBuf {
    fixture.write("disk_faults.py", PROGRAM);
    fixture.write("lab.yaml", text);
    fixture.netloom(&["run", "lab.yaml"]).expect_code(0);
    fixture.latest(name).canonicalize().unwrap()
}

/// All faults of requests, one after the other.
const FAULTS: [(u64, &str); 12] = [
    (1000, "disk: a, error: write, path: /data/f, count: 1"),
    (2000, "disk: a, error: read, path: /data/f, for: 500 ms"),
    (3000, "disk: a, hang: true, for: 2 s"),
    (6000, "disk: a, slow: 7 ms, calls: write, for: 500 ms"),
    (7000, "disk: a, flip: read, path: /data/f, count: 1"),
    (8000, "disk: a, flip: write, path: /data/f, count: 1"),
    (9000, "disk: a, flip: stored, path: /data/f, count: 1"),
    (10_000, "disk: a, tear: true, path: /data/f, count: 1"),
    (11_000, "disk: a, lose: write, path: /data/f, count: 1"),
    (12_000, "disk: a, misdirect: read, path: /data/f, count: 1"),
    (13_000, "disk: a, error: write, path: /data/f, nth: 3, count: 1"),
    (14_000, "disk: a, error: read, sectors: 0-7"),
];

/// What programs do meanwhile, and what they print.
const SEEN: [(u64, &str, &str, &str); 22] = [
    // The kernel tells of an error once.
    (1100, "once", "buffered /data/f b", "EIO ok\n"),
    (2100, "unreadable", "get /data/f a", "EIO \n"),
    (2200, "other", "get /data/g a", "ok 0\n"),
    // What was to be written at 1.1 s is not there.
    (2600, "readable", "get /data/f a", "ok 0\n"),
    (5500, "quick", "timed /data/f a", "ok 0.0001\n"),
    (6100, "slow", "timed /data/f a", "ok 0.0071\n"),
    (6600, "quick-again", "timed /data/f a", "ok 0.0001\n"),
    (7100, "flipped", "get /data/f a", "ok 1\n"),
    (7200, "unflipped", "get /data/f a", "ok 0\n"),
    (8100, "written", "puts /data/f c", "ok\n"),
    (8200, "written-wrong", "get /data/f c", "ok 1\n"),
    (8300, "written-again", "puts /data/f c", "ok\n"),
    (9100, "rotten", "get /data/f c", "ok 1\n"),
    (9200, "rotten-still", "get /data/f c", "ok 1\n"),
    (10_100, "torn", "puts /data/f d", "ok\n"),
    (11_000 - 100, "whole", "puts /data/f e", "ok\n"),
    (11_100, "lost", "puts /data/f f", "ok\n"),
    (11_200, "old", "get /data/f e", "ok 0\n"),
    (12_200, "own", "get /data/f e", "ok 0\n"),
    (13_100, "third", "puts /data/f e e e e", "ok ok EIO ok\n"),
    (14_100, "begin", "get /dev/disk0 e", "EIO \n"),
    (14_200, "elsewhere", "get /data/f e", "ok 0\n"),
];

fn programs() -> Vec<(u64, &'static str, &'static str)> {
    let seen = SEEN.iter().map(|(at, name, arguments, _)| (*at, *name, *arguments));
    seen.chain([
        (3500, "hangs", "timed /data/f a"),
        (10_200, "first-sectors", "sectors /data/f d"),
        (12_100, "astray", "get /data/f e"),
    ])
    .collect()
}

#[test]
fn programs_notice_each_fault_of_a_disk_in_every_run() {
    let fixture = Fixture::with_kernel(User::Own);
    let text = lab("disk-faults", "ext4", &FAULTS, &programs());
    let first = run(&fixture, "disk-faults", &text);
    for (_, name, _, wanted) in SEEN {
        assert_eq!(saved(&first, name), wanted, "{name}");
    }
    let torn = saved(&first, "first-sectors");
    let kept: u32 = torn.split(' ').next().unwrap().parse().unwrap();
    assert!(kept < 32 && torn.ends_with("True\n"), "{torn}");
    // What is elsewhere on the disk is no sixteen thousand e.
    assert!(!saved(&first, "astray").starts_with("ok 0"), "{}", saved(&first, "astray"));
    let events = saved(&first, "events.jsonl");
    assert_eq!(events.matches("\"disk fault\"").count(), FAULTS.len());
    assert_eq!(events.matches("\"disk fault over\"").count(), 3);
    let table = saved(&first, "disks.csv");
    for word in ["failed", "late", "flipped", "torn", "lost", "misdirected"] {
        assert!(table.lines().any(|line| line.ends_with(&format!(",{word}"))), "{word}: {table}");
    }
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let seconds = |written: &str| written.parse::<f64>().unwrap();
    // What came while the disk did nothing ended when it went on, at 5 s, and the latency. The kernel's clock is some microseconds behind.
    let late = rows.iter().find(|row| row[0].starts_with("3.5") && row[2] == "write").unwrap();
    let end = seconds(late[0]) + seconds(late[5]);
    assert!((5.000_09..5.000_2).contains(&end) && late[6] == "late", "{late:?}");
    let waited = saved(&first, "hangs");
    let waited = seconds(waited.trim().strip_prefix("ok ").unwrap());
    assert!((waited - seconds(late[5])).abs() < 0.001, "{waited} {late:?}");
    // 32 sectors at 5.5 s, and the latency; timers of the kernel have steps below a microsecond.
    let quick = rows.iter().find(|row| row[0].starts_with("5.5") && row[4] == "32").unwrap();
    assert_eq!((quick[1], quick[2], quick[6]), ("a", "write", ""), "{quick:?}");
    assert!((0.000_1..0.000_101).contains(&seconds(quick[5])), "{quick:?}");
    let second = run(&fixture, "disk-faults", &text);
    assert_ne!(first, second);
    for name in ["disks.csv", "events.jsonl", "first-sectors", "astray"] {
        assert_eq!(saved(&first, name), saved(&second, name), "{name}");
    }
    fixture.assert_nothing_is_left("disk-faults");
}

#[test]
fn a_file_system_becomes_read_only_or_full_for_a_while() {
    let fixture = Fixture::with_kernel(User::Own);
    let entries = [
        (1000, "disk: a, read_only: true, for: 1 s"),
        (4000, "disk: a, full: true, for: 1 s"),
        (7000, "disk: a, full: true"),
        (8000, "disk: a, works: true"),
    ];
    let programs = [
        (1500, "frozen", "touch /data/x"),
        (3000, "thawed", "touch /data/x"),
        (4500, "full", "fill /data/y"),
        (6000, "free", "fill /data/z"),
        (7500, "full-again", "fill /data/w"),
        (9000, "works", "fill /data/w"),
    ];
    for filesystem in ["ext4", "xfs", "f2fs"] {
        let name = format!("states-{filesystem}");
        let folder = run(&fixture, &name, &lab(&name, filesystem, &entries, &programs));
        let all = ["frozen", "thawed", "full", "free", "full-again", "works"].map(|own| saved(&folder, own));
        assert_eq!(
            all,
            ["EROFS\n", "ok\n", "ENOSPC True\n", "ok False\n", "ENOSPC True\n", "ok False\n"],
            "{filesystem}"
        );
    }
}

#[test]
fn a_disk_that_lies_about_flushes_loses_in_a_crash_what_it_said_to_have() {
    let fixture = Fixture::with_kernel(User::Own);
    let entries =
        [(1000, "disk: a, lose: flush"), (2000, "crash: a, for: 1 s"), (6000, "disk: a, error: flush, count: 1")];
    let programs = [
        (500, "before", "append /data/r one"),
        (1500, "lied", "append /data/r two"),
        (7000, "failed", "append /data/s three"),
    ];
    let text = lab("lies", "ext4", &entries, &programs);
    let text = format!("{text}  - {{at: 4 s, on: a, run: cat /data/r, save: after, as: after}}\n");
    let folder = run(&fixture, "lies", &text);
    assert_eq!(saved(&folder, "before"), "ok ok\n");
    assert_eq!(saved(&folder, "lied"), "ok ok\n");
    assert_eq!(saved(&folder, "after"), "one");
    assert_eq!(saved(&folder, "failed"), "ok EIO\n");
    assert!(saved(&folder, "disks.csv").contains(",flush lost\n"));
}
