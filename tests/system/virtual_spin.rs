//! Programs in virtual time that wait by computing.

use crate::fixture::{Finished, Fixture, User};
use serde_json::Value;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// One node runs these commands, by name, for ten seconds of lab time at most.
fn lab(top: &str, commands: &[(&str, &str)]) -> String {
    let entries = commands.iter().map(|(name, command)| format!("  - {{on: a, as: {name}, run: {command}}}\n"));
    let entries: String = entries.collect();
    format!(
        "name: spin\nclock: virtual\n{top}nodes: {{a: {{memory: 64 MB}}, b: {{}}}}\n\
         links: {{l: {{ends: [a, b], delay: 1 ms}}}}\nduration: 10 s\ntimeline:\n{entries}"
    )
}

/// A loop of system calls in Python that only an alarm after half a second of lab time ends.
fn until_alarm(call: &str) -> String {
    format!(
        "['python3', '-c', 'import os, select, signal, sys, time\nsignal.signal(signal.SIGALRM, lambda *_: sys.exit(0))\n\
         signal.setitimer(signal.ITIMER_REAL, 0.5)\nwhile True: {call}']"
    )
    .replace('\n', "\\n")
    .replace('\'', "\"")
}

/// Each of these keeps a real processor busy until its time is over, and waits neither for a timer nor for a packet.
#[test]
fn loops_of_system_calls_come_to_an_end() {
    let fixture = Fixture::with_kernel(User::Own);
    let calls = ["os.sched_yield()", "select.poll().poll(0)", "os.getppid()", "time.process_time()"];
    for call in calls {
        let command = until_alarm(call);
        let clock = "[python3, -c, \"import time\\nwhile time.process_time() < 0.1: pass\"]";
        fixture.write("lab.yaml", &lab("", &[("loop", &command), ("clock", clock)]));
        fixture.netloom(&["run", "lab.yaml", "-q", "--wall-limit", "200s"]).expect_code(0);
        let commands = fixture.json("spin", "commands.json");
        let ends = commands.as_array().unwrap().iter().map(|row| row["end_ns"].as_u64().unwrap());
        assert!(ends.max().unwrap() < 1_000_000_000, "{call}: {commands}");
    }
}

#[test]
fn a_system_call_takes_what_the_lab_file_says() {
    let fixture = Fixture::with_kernel(User::Own);
    let count = "[python3, -c, \"import os, time\\nbegin = time.monotonic_ns()\\nfor _ in range(1000): os.getppid()\\n\
                 print(time.monotonic_ns() - begin)\"]";
    for (cost, least, most) in [("0", 0, 10_000), ("10 us", 10_000_000, 10_100_000)] {
        let text = lab("", &[("count", count)]).replace("memory: 64 MB", &format!("cpu: {{syscall: {cost}}}"));
        fixture.write("lab.yaml", &text);
        fixture.netloom(&["run", "lab.yaml", "-q", "--wall-limit", "200s"]).expect_code(0);
        let printed = std::fs::read_to_string(fixture.latest("spin").join("logs/01-a-count.stdout")).unwrap();
        let took: u64 = printed.trim().parse().unwrap();
        assert!((least..=most).contains(&took), "a thousand calls of {cost} took {took} ns");
    }
}

/// Looks at the clock by the C library, which need no system call, and by system calls, by turns: time never stands still nor goes
/// back between two of them, and all take what looks take. The same on each run, whatever becomes of the looks that the
/// library has left when a program ends, sleeps or forks.
#[test]
fn looks_with_and_without_a_system_call_see_one_clock() {
    let fixture = Fixture::with_kernel(User::Own);
    let program = fixture.write(
        "looks.py",
        "import ctypes, os, time\n\
         libc = ctypes.CDLL(None)\n\
         class Spec(ctypes.Structure):\n    _fields_ = [('sec', ctypes.c_long), ('nsec', ctypes.c_long)]\n\
         def call(clock):\n    spec = Spec()\n    libc.syscall(228, clock, ctypes.byref(spec))\n    \
             return spec.sec * 10**9 + spec.nsec\n\
         for clock in time.CLOCK_REALTIME, time.CLOCK_MONOTONIC:\n    seen = []\n    \
             for turn in range(60):\n        seen += [time.clock_gettime_ns(clock) for _ in range(turn % 20)]\n        \
             seen += [call(clock) for _ in range(turn % 3)]\n        \
             if turn % 10 == 0: time.sleep(0.01)\n        \
             if turn % 25 == 0 and os.fork() == 0: os._exit(0)\n    \
             steps = [b - a for a, b in zip(seen, seen[1:])]\n    \
             assert all(256 <= step <= 20_000_000 for step in steps), steps\n    print(steps)\n\
         begin = time.monotonic_ns()\nlooks = 0\nwhile time.monotonic_ns() < begin + 10**8: looks += 1\nprint(looks)\n",
    );
    fixture.write("lab.yaml", &lab("", &[("looks", &format!("[python3, {}]", program.display()))]));
    let run = || {
        fixture.netloom(&["run", "lab.yaml", "-q", "--wall-limit", "200s"]).expect_code(0);
        std::fs::read_to_string(fixture.latest("spin").join("logs/01-a-looks.stdout")).unwrap()
    };
    let printed = run();
    let looks: u64 = printed.lines().last().unwrap().parse().unwrap();
    assert!((16_000..20_000).contains(&looks), "a wait of 100 ms took {looks} looks of 5 us");
    assert_eq!(run(), printed);
}

/// It may have forty processes, so that its node does not run out of memory, and ends when lab time does.
#[test]
fn a_fork_bomb_ends_with_the_run() {
    let fixture = Fixture::with_kernel(User::Own);
    let bomb = "'ulimit -u 40; b() { b | b & }; b; sleep 1', user: nobody";
    let text = lab("", &[("bomb", bomb)]).replace("10 s", "2 s");
    fixture.write("lab.yaml", &text);
    fixture.netloom(&["run", "lab.yaml", "-q", "--wall-limit", "200s"]).expect_end();
    assert_eq!(fixture.json("spin", "report.json")["duration_ns"], 2_000_000_000_u64);
    fixture.assert_nothing_is_left("spin");
}

/// Without a system call nothing can tell it from a long computation.
#[test]
fn a_program_that_computes_for_ever_is_named_and_ended() {
    let fixture = Fixture::with_kernel(User::Own);
    let spin = "[python3, -c, \"import time\\ntime.sleep(1)\\nprint(1, flush=True)\\nwhile True: pass\"]";
    fixture.write("lab.yaml", &lab("", &[("spin", spin)]));
    let arguments = ["run", "lab.yaml", "--wall-limit", "30s"];
    let child = fixture.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let told = loop {
        let labs = fixture.netloom(&["ps", "--json"]).expect_code(0).stdout;
        if labs.contains("lab time has stood still") || begun.elapsed() > Duration::from_secs(25) {
            break labs;
        }
        sleep(Duration::from_millis(100));
    };
    let run = Finished::of(&child.wait_with_output().unwrap()).expect_code(124);
    let why = "of wall time: node `a` is busy, its program `python3` computes";
    assert!(told.contains(why), "{told}");
    assert!(run.stderr.contains("lab time has stood still at 1 s for ") && run.stderr.contains(why), "{}", run.stderr);
    let report = fixture.json("spin", "report.json");
    assert_eq!((&report["exit_code"], &report["wall_limit_reached"]), (&124.into(), &true.into()));
    assert!(fixture.latest("spin").join("verdict.json").exists());
    fixture.assert_nothing_is_left("spin");
}

/// Its node never answers that it runs, but it does, from the instant on at which it was asked for; one that cannot start does
/// not.
#[test]
fn a_program_that_computes_from_its_first_instant_on_was_started() {
    let fixture = Fixture::with_kernel(User::Own);
    let lost = fixture.write("lost", "#!/no/such/interpreter\n");
    netloom_testing::programs::make_executable(&lost);
    let other = format!("[{}]", lost.display());
    let text = lab("", &[("spin", "[sh, -c, 'while :; do :; done']"), ("other", &format!("{other}, at: 1 s"))]);
    fixture.write("lab.yaml", &format!("{text}expect: [spin.exit == 0]\n"));
    fixture.netloom(&["run", "lab.yaml", "--wall-limit", "5s"]).expect_code(124);
    let report = fixture.json("spin", "report.json");
    let (spin, later) = (&report["commands"][0], &report["commands"][1]);
    assert_eq!(
        (&spin["start_ns"], &spin["end_ns"], &spin["failed"]),
        (&0.into(), &Value::Null, &true.into()),
        "{report}"
    );
    assert_eq!(later["start_ns"], Value::Null, "{report}");
    assert_eq!(report["expectations"][0]["explanation"], "not measured: it did not end; wanted 0", "{report}");
    fixture.write("lab.yaml", &lab("", &[("other", &other)]));
    fixture.netloom(&["run", "lab.yaml"]).expect_code(1);
    assert_eq!(fixture.json("spin", "report.json")["commands"][0]["start_ns"], Value::Null);
    fixture.assert_nothing_is_left("spin");
}

/// What spins until something happens that takes lab time: each of them ends, and the run is marked.
#[test]
fn lab_time_goes_on_beside_a_spinning_program_if_it_may() {
    let fixture = Fixture::with_kernel(User::Own);
    let alarm = "[python3, -c, \"import signal, sys\\nsignal.signal(signal.SIGALRM, lambda *_: sys.exit(0))\\n\
                 signal.alarm(1)\\nwhile True: pass\"]";
    let timer = "[python3, -c, \"import threading\\ndone = []\\n\
                 threading.Timer(0.5, lambda: done.append(1)).start()\\nwhile not done: pass\"]";
    let openssl = "openssl speed -seconds 1 -bytes 64 md5";
    for (name, command) in [("alarm", alarm), ("timer", timer), ("openssl", openssl)] {
        fixture.write("lab.yaml", &lab("on_spin: advance\n", &[(name, command)]));
        fixture.netloom(&["run", "lab.yaml", "-q", "--wall-limit", "200s"]).expect_code(0);
        let report = fixture.json("spin", "report.json");
        let advanced = report["advanced"][0]["advanced_ns"].as_u64().unwrap();
        assert!((400_000_000..1_500_000_000).contains(&advanced), "{name}: {report}");
        let notes = report["verdict"]["notes"].to_string();
        assert!(notes.contains("another run"), "{name}: {notes}");
        assert_eq!(fixture.json("spin", "provenance.json")["on_spin"], "advance");
    }
}

/// Nothing spins, and so nothing is advanced: two runs are the same.
#[test]
fn a_run_in_which_nothing_spins_is_not_marked() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("lab.yaml", &lab("on_spin: advance\n", &[("short", "sleep 1")]));
    fixture.netloom(&["run", "lab.yaml", "-q"]).expect_code(0);
    assert!(fixture.json("spin", "report.json")["advanced"].is_null());
}
