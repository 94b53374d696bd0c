//! Faults of programs that the kernel of their node makes. The oracles are programs that must notice: of their system calls the ones fail that
//! the lab file says, and no others; ticks stay away for as long as a program is starved; a race is found or not, the same each time.

use crate::fixture::{Fixture, User};
use std::fs;
use std::path::Path;

/// Writes down for each of its calls whether it succeeded, and what it moved.
const CALLS: &str = r#"
import errno, mmap, os, socket, time

def tried(what):
    try:
        return str(what())
    except OSError as error:
        return errno.errorcode[error.errno]

def row(name, what, count):
    print(name, *[tried(what) for _ in range(count)], flush=True)

os.makedirs("/tmp/data/deep", exist_ok=True)
log = os.open("/tmp/data/deep/log", os.O_RDWR | os.O_CREAT)
other = os.open("/tmp/other", os.O_RDWR | os.O_CREAT)
time.sleep(2)
row("write", lambda: os.write(log, b"hello"), 6)
row("other", lambda: os.write(other, b"hello"), 4)
row("fsync", lambda: os.fsync(log), 4)
row("read", lambda: os.pread(log, 10, 0), 2)
row("readv", lambda: os.preadv(log, [bytearray(2), bytearray(2)], 0), 2)
row("map", lambda: len(mmap.mmap(log, 5)), 2)
os.chdir("/tmp/data")
row("open", lambda: os.open("./deep/new", os.O_RDWR | os.O_CREAT) > 0, 2)
row("elsewhere", lambda: os.open("/tmp/calls-elsewhere", os.O_RDWR | os.O_CREAT) > 0, 1)
def connect():
    with socket.socket() as one:
        one.connect(("127.0.0.1", 9))
row("connect", connect, 2)
begin = time.monotonic()
os.fdatasync(other)
print("slow", round(time.monotonic() - begin, 2))
time.sleep(10)
row("later", lambda: os.write(log, b"hello"), 3)
"#;

const LAB: &str = "
clock: virtual
nodes: {a: {files: {/srv/calls.py: ./calls.py}}, b: {files: {/srv/calls.py: ./calls.py}}}
links: {l: {ends: [a, b]}}
timeline:
  - {on: [a, b], run: python3 /srv/calls.py, as: calls, save: calls.txt}
  - {at: 1 s, on: a, fail: {call: write, error: EIO, nth: 3, path: /tmp/data/*}, for: 5 s}
  - {at: 1 s, on: a, fail: {call: fsync, error: EIO, times: 2, path: /tmp/data/*, process: 'python3 *calls.py'}, for: 5 s}
  - {at: 1 s, on: a, fail: {call: read, most: 3 B, path: '*/log'}, for: 5 s}
  - {at: 1 s, on: a, fail: {call: mmap, error: ENOMEM, nth: 2, path: /tmp/data/*}, for: 5 s}
  - {at: 1 s, on: a, fail: {call: open, error: ENOSPC, path: /tmp/data/deep/new}, for: 5 s}
  - {at: 1 s, on: a, fail: {call: connect, error: EADDRNOTAVAIL, nth: 2}, for: 5 s}
  - {at: 1 s, on: a, fail: {call: fsync, delay: 2500 ms, path: /tmp/other}, for: 5 s}
  - {at: 1 s, on: a, fail: {call: [write, read], error: EPERM, process: 'python3 *nothing*'}, for: 1 s}
  - {at: 7 s, on: a, fail: {call: write, error: ENOSPC, path: /tmp/data/*}}
expect: [calls-a.exit == 0, calls-b.exit == 0]
";

fn read(fixture: &Fixture, lab: &str, name: &str) -> String {
    fs::read_to_string(fixture.latest(lab).join(name)).unwrap()
}

#[test]
fn calls_fail_that_the_lab_file_says_and_no_others() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("calls.py", CALLS);
    fixture.write("calls.yaml", LAB);
    fixture.netloom(&["run", "calls.yaml"]).expect_code(0);
    let expected = "\
write 5 5 EIO 5 5 5
other 5 5 5 5
fsync EIO EIO None None
read b'hel' b'hel'
readv 3 3
map 5 ENOMEM
open ENOSPC ENOSPC
elsewhere True
connect ECONNREFUSED EADDRNOTAVAIL
slow 2.5
later ENOSPC ENOSPC ENOSPC
";
    assert_eq!(read(&fixture, "calls", "calls-a.txt"), expected);
    let usual = "\
write 5 5 5 5 5 5
other 5 5 5 5
fsync None None None None
read b'hellohello' b'hellohello'
readv 4 4
map 5 5
open True True
elsewhere True
connect ECONNREFUSED ECONNREFUSED
slow 0.0
later 5 5 5
";
    assert_eq!(read(&fixture, "calls", "calls-b.txt"), usual);
    let events = read(&fixture, "calls", "events.jsonl");
    assert_eq!(events.matches("\"event\":\"fail\"").count(), 9, "{events}");
    let ends: Vec<&str> = events.lines().filter(|line| line.contains("\"event\":\"fault ends\"")).collect();
    assert_eq!(ends.len(), 8, "{events}");
    // The third of six writes, and the first two of four flushes.
    for (seen, done) in [(6, 1), (4, 2), (0, 0)] {
        let figures = [format!("\"seen\":{seen}"), format!("\"done\":{done}")];
        assert!(ends.iter().any(|line| figures.iter().all(|figure| line.contains(figure))), "{seen} {done}: {ends:?}");
    }
}

/// Draws are the same in every run with a seed, and differ between seeds and nodes.
#[test]
fn calls_fail_by_chance_from_the_seed() {
    let fixture = Fixture::with_kernel(User::Own);
    let write = "print(*['x' if fails() else '.' for _ in range(64)], sep='')";
    let program = format!(
        "import os, time\nfile = os.open('/tmp/file', os.O_RDWR | os.O_CREAT)\ntime.sleep(1)\ndef fails():\n    try:\n        \
         os.write(file, b'x')\n    except BlockingIOError:\n        return True\n{write}\n"
    );
    fixture.write("chance.py", &program);
    fixture.write(
        "chance.yaml",
        "
clock: virtual
nodes: {a: {files: {/srv/chance.py: ./chance.py}}, b: {files: {/srv/chance.py: ./chance.py}}}
links: {l: {ends: [a, b]}}
timeline:
  - {on: [a, b], run: python3 /srv/chance.py, as: chance, save: chance.txt}
  - {at: 500 ms, on: '*', fail: {call: write, error: EAGAIN, probability: 25 %, path: /tmp/file}}
",
    );
    let mut drawn = Vec::new();
    for seed in ["1", "1", "2"] {
        fixture.netloom(&["run", "--seed", seed, "chance.yaml"]).expect_code(0);
        drawn.push([read(&fixture, "chance", "chance-a.txt"), read(&fixture, "chance", "chance-b.txt")]);
    }
    assert_eq!(drawn[0], drawn[1]);
    let failed: Vec<usize> = drawn.concat().iter().map(|row| row.matches('x').count()).collect();
    // 16 of 64 are the mean, 3.5 the standard deviation.
    assert!(failed.iter().all(|count| (3..30).contains(count)), "{failed:?}");
    assert!(drawn[0] != drawn[2] && drawn[0][0] != drawn[0][1]);
}

/// Programs that look at the clock every 10 ms: one of them is starved for half a second, and nobody else. It was not stopped, which its
/// parent would see.
#[test]
fn a_starved_program_gets_no_processor_and_others_do() {
    let fixture = Fixture::with_kernel(User::Own);
    let program = "
import os, sys, time
gaps, before = [], time.monotonic()
for _ in range(200):
    time.sleep(0.01)
    now = time.monotonic()
    gaps.append(round(now - before, 3))
    before = now
print(*[gap for gap in gaps if gap > 0.02])
";
    fixture.write("ticks.py", program);
    fixture.write(
        "starve.yaml",
        "
clock: virtual
nodes: {a: {files: {/srv/ticks.py: ./ticks.py}}, b: {}}
links: {l: {ends: [a, b]}}
timeline:
  - {on: a, run: python3 /srv/ticks.py starved, as: starved, save: starved.txt}
  - {on: a, run: python3 /srv/ticks.py other, as: other, save: other.txt}
  - {at: 1 s, on: a, starve: {process: '*ticks.py starved'}, for: 500 ms}
  - {at: 1200 ms, on: a, run: \"grep State: /proc/[0-9]*/status | grep -c 'T (stopped)'; true\", as: stopped, save: stopped.txt}
",
    );
    fixture.netloom(&["run", "starve.yaml"]).expect_code(0);
    let gap: f64 = read(&fixture, "starve", "starved.txt").trim().parse().unwrap();
    assert!((0.5..0.521).contains(&gap), "{gap}");
    assert_eq!(read(&fixture, "starve", "other.txt"), "\n");
    assert_eq!(read(&fixture, "starve", "stopped.txt"), "0\n");
}

/// A race between two processes is never seen without the entry, and with some seeds with it. Each seed repeats.
#[test]
fn a_race_is_found_by_drawn_priorities_and_repeats() {
    let fixture = Fixture::with_kernel(User::Own);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/race.yaml");
    let mut runs = Vec::new();
    for seed in ["1", "1", "2"] {
        fixture.netloom(&["run", "--seed", seed, path.to_str().unwrap()]).expect_code(0);
        assert_eq!(read(&fixture, "race", "paid-calm.txt"), "paid 1 times\n");
        runs.push((1..=6).map(|bank| read(&fixture, "race", &format!("paid-bank{bank}.txt"))).collect::<Vec<_>>());
    }
    assert_eq!(runs[0], runs[1]);
    let found = runs[1..].concat().iter().filter(|paid| *paid == "paid 2 times\n").count();
    assert!((1..12).contains(&found), "{runs:?}");
}

/// The kernel's own OOM killer ends the process that is meant, and says so in its log.
#[test]
fn a_chosen_process_is_killed_for_want_of_memory() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write(
        "oom.yaml",
        "
clock: virtual
nodes: [a, b]
links: {l: {ends: [a, b]}}
timeline:
  - {on: a, run: exec sleep 61, as: chosen, may_fail: true}
  - {on: a, run: [python3, -c, 'import time; held = bytearray(30 << 20); time.sleep(5)'], as: large}
  - {at: 1 s, on: a, oom: sleep 61}
  - {at: 2 s, on: a, oom: nobody*}
expect: [chosen.exit == 137, large.exit == 0]
",
    );
    let output = fixture.netloom(&["run", "oom.yaml"]);
    output.expect_code(0);
    let events = read(&fixture, "oom", "events.jsonl");
    assert_eq!(events.matches("\"event\":\"oom\"").count(), 2, "{events}");
}

/// All clocks go on while a kernel does nothing, and what was due then happens at the end: of a ticker, and of the answers to a ping.
#[test]
fn a_stalled_node_is_late_and_its_clocks_are_right() {
    let fixture = Fixture::with_kernel(User::Own);
    let nap = "import time; a, b = time.monotonic_ns(), time.time_ns(); time.sleep(6); print(time.monotonic_ns() - a, time.time_ns() - b)";
    let lab = format!(
        "
clock: virtual
nodes: [a, b]
links: {{l: {{ends: [a, b], delay: 1 ms}}}}
timeline:
  - {{on: a, as: nap, save: nap.txt, run: [python3, -c, '{nap}']}}
  - {{at: 1 s, freeze: a, for: 8 s, kind: stall}}
  - {{at: 5 s, on: b, as: ping, save: ping.txt, run: ping -c 1 -W 20 a}}
  - {{at: 12 s, on: b, as: later, save: later.txt, run: ping -c 1 a}}
"
    );
    fixture.write("stall.yaml", &lab);
    let mut runs = Vec::new();
    for _ in 0..2 {
        fixture.netloom(&["run", "stall.yaml"]).expect_code(0);
        runs.push(["nap.txt", "ping.txt", "later.txt"].map(|name| read(&fixture, "stall", name)));
    }
    assert_eq!(runs[0], runs[1]);
    let [nap_text, ping, later] = &runs[0];
    let times: Vec<i64> = nap_text.split_whitespace().map(|word| word.parse().unwrap()).collect();
    // The nap is over at 6 s of a stall that ends 9 s after time zero, at which the program started.
    assert!(times.iter().all(|time| (8_980_000_000..9_010_000_000).contains(time)), "{nap_text}");
    assert!(ping.contains("time=400"), "{ping}");
    assert!(later.contains("time=2.0"), "{later}");
}
