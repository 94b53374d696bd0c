//! Limits of programs that change while they run.

use crate::fixture::{Fixture, User};
use std::fs;

/// A program that opens files until it may not, three times; and one that starts processes.
const LAB: &str = "
clock: virtual
nodes: [a, b]
links: {l: {ends: [a, b]}}
timeline:
  - on: a
    as: opener
    save: opener.txt
    run:
      - python3
      - -c
      - |
        import os, time
        for _ in range(3):
            held = []
            try:
                while len(held) < 500:
                    held.append(os.open('/dev/null', os.O_RDONLY))
            except OSError as error:
                print(error.errno, max(held), flush=True)
            else:
                print('all', flush=True)
            for one in held:
                os.close(one)
            time.sleep(2)
  - {at: 1 s, limit: opener, fds: 100}
  - {at: 3 s, limit: opener, fds: unlimited}
  - on: b
    as: starter
    save: starter.txt
    run:
      - python3
      - -c
      - |
        import subprocess, time
        time.sleep(2)
        held = []
        try:
            while len(held) < 50:
                held.append(subprocess.Popen(['sleep', '100']))
        except OSError as error:
            print(error.errno, len(held), flush=True)
        for one in held:
            one.kill()
            one.wait()
  - {at: 1 s, limit: starter, pids: 10}
expect: [opener.exit == 0, starter.exit == 0]
";

/// Descriptors are numbered from 0 on, so that the last one below 100 is 99; EMFILE is 24, EAGAIN 11. The program itself is one of the ten
/// processes.
#[test]
fn descriptors_and_processes_are_limited_from_an_instant_on() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("limits.yaml", LAB);
    fixture.netloom(&["run", "limits.yaml"]).expect_code(0);
    let read = |name: &str| fs::read_to_string(fixture.latest("limits").join(name)).unwrap();
    assert_eq!(read("opener.txt"), "all\n24 99\nall\n");
    assert_eq!(read("starter.txt"), "11 9\n");
}

/// A program that has taken 8 MB takes 32 MB more, of which it gets 16 MB: it is killed (OOM). So is one whose limit is below what it has: lab time
/// goes on, and it gets no more. Another one in the same node is not.
#[test]
fn memory_is_limited_with_what_was_taken_before() {
    let fixture = Fixture::with_kernel(User::Own);
    let take = "import time; held = [bytearray(8 << 20)]; time.sleep(2); held += [bytearray(1 << 20) for _ in range(32)]; print('all')";
    let lab = format!(
        "
clock: virtual
nodes: {{a: {{memory: 256 MB}}, b: {{}}}}
links: {{l: {{ends: [a, b]}}}}
timeline:
  - {{on: a, as: limited, may_fail: true, run: [python3, -c, \"{take}\"]}}
  - {{on: a, as: other, run: [python3, -c, \"{take}\"]}}
  - {{on: a, as: below, may_fail: true, run: [python3, -c, \"{take}\"]}}
  - {{at: 1 s, limit: limited, memory: 24 MB}}
  - {{at: 1 s, limit: below, memory: 4 MB}}
expect: [limited.exit == 137, below.exit == 137, other.exit == 0]
"
    );
    fixture.write("memory.yaml", &lab);
    fixture.netloom(&["run", "memory.yaml"]).expect_code(0);
}

/// Where nodes share this machine's kernel, descriptors alone are limited.
#[test]
fn descriptors_are_limited_in_namespaces_too() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        let lab = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: [a, b]
links: {l: {ends: [a, b]}}
timeline:
  - {on: a, as: shell, save: shell.txt, run: 'ulimit -n; until [ $(ulimit -n) = 77 ]; do sleep 0.1; done; echo limited'}
  - {at: 1 s, limit: shell, fds: 77}
expect: [shell.exit == 0]
";
        fixture.write("fds.yaml", lab);
        fixture.netloom(&["run", "fds.yaml"]).expect_code(0);
        let text = fs::read_to_string(fixture.latest("fds").join("shell.txt")).unwrap();
        assert_eq!(text, "1024\nlimited\n");
        fixture.assert_nothing_is_left("fds");
    }
}
