//! Programs in virtual time whose computing takes lab time, by the branches that they execute.

use crate::fixture::{Fixture, User};
use netloom_judge::ExitCode;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles `spin.c`, which spins until something happens that takes lab time.
fn spin(fixture: &Fixture) -> PathBuf {
    let (source, program) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/system/spin.c"), fixture.work().join("spin"));
    let mut compiler = Command::new("cc");
    // Without shared libraries, whose search is a million instructions.
    compiler.args(["-O2", "-Wall", "-Werror", "-static", "-no-pie", "-pthread", "-o"]).arg(&program).arg(source);
    assert!(compiler.status().unwrap().success());
    program
}

/// One node runs the program each of these ways, one after the other.
fn lab(cpu: &str, program: &Path, ways: &[&str]) -> String {
    let run = |(number, way): (usize, &&str)| {
        format!("  - {{at: {} ms, on: a, as: {way}, run: [{}, {way}]}}\n", number * 100, program.display())
    };
    let entries: String = ways.iter().enumerate().map(run).collect();
    format!(
        "name: spin\nclock: virtual\nnodes: {{a: {{cpu: {{{cpu}}}}}, b: {{}}}}\n\
         links: {{l: {{ends: [a, b], delay: 1 ms}}}}\nduration: 1 s\ntimeline:\n{entries}"
    )
}

/// What the commands have printed, and when they ended.
fn outcome(fixture: &Fixture, ways: &[&str]) -> Vec<(String, u64)> {
    let commands = fixture.json("spin", "commands.json");
    let of = |(number, way): (usize, &&str)| {
        let printed = fixture.latest("spin").join(format!("logs/{:02}-a-{way}.stdout", number + 1));
        (std::fs::read_to_string(printed).unwrap(), commands[number]["end_ns"].as_u64().unwrap())
    };
    ways.iter().enumerate().map(of).collect()
}

/// How often a program has looked, and for how many nanoseconds.
fn turns((printed, _): &(String, u64)) -> (u64, u64) {
    let numbers: Vec<u64> = printed.split(' ').filter_map(|word| word.parse().ok()).collect();
    (numbers[0], numbers[1])
}

/// An alarm, and another thread, after 5 ms. With a microsecond for each branch that is as many turns of the loop, and what
/// the program does beside.
#[test]
fn programs_that_spin_end_at_the_same_instant_in_each_run() {
    let fixture = Fixture::with_kernel(User::Own);
    let (program, ways) = (spin(&fixture), ["alarm", "thread"]);
    let run = || {
        fixture.netloom(&["run", "lab.yaml", "-q", "--wall-limit", "500s"]).expect_code(0);
        outcome(&fixture, &ways)
    };
    fixture.write("lab.yaml", &lab("branch: 1 us, count: steps", &program, &ways));
    let first = run();
    for end in &first {
        let (turns, ns) = turns(end);
        assert!((5_000_000..7_000_000).contains(&ns), "{first:?}");
        assert!((4_000..7_000).contains(&turns), "{first:?}");
    }
    assert_eq!(run(), first);
    fixture.assert_nothing_is_left("spin");
}

/// In the place of a counter that most test machines do not have, one of breakpoints counts the turns of the loop: it interrupts
/// the program some turns early, and steps do the rest.
#[test]
fn a_program_that_a_counter_interrupts_is_stepped_to_the_same_branch_in_each_run() {
    let fixture = Fixture::with_kernel(User::Own);
    let (program, ways) = (spin(&fixture), ["alarm"]);
    let place = String::from_utf8(Command::new(&program).arg("where").output().unwrap().stdout).unwrap();
    fixture.write("lab.yaml", &lab("branch: 100 ns", &program, &ways));
    let run = || {
        let mut command = fixture.command(&["run", "lab.yaml", "-q", "--wall-limit", "500s"]);
        let output = command.env("NETLOOM_BREAKPOINT", place.trim()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        outcome(&fixture, &ways)
    };
    let first = run();
    let (turns, ns) = turns(&first[0]);
    assert!((5_000_000..7_000_000).contains(&ns), "{first:?}");
    assert!((40_000..70_000).contains(&turns), "{first:?}");
    assert_eq!(run(), first);
}

/// A processor that counts is used, and runs are equal; where none does, nothing is made and the message says what to do.
#[test]
fn the_processor_counts_or_the_lab_is_refused_before_anything_is_made() {
    let fixture = Fixture::with_kernel(User::Own);
    let (program, ways) = (spin(&fixture), ["alarm", "thread"]);
    fixture.write("lab.yaml", &lab("branch: 1 ns", &program, &ways));
    let run = || fixture.netloom(&["run", "lab.yaml", "-q", "--wall-limit", "200s"]);
    let finished = run();
    if finished.code == Some(0) {
        let first = outcome(&fixture, &ways);
        run().expect_code(0);
        assert_eq!(outcome(&fixture, &ways), first);
        return;
    }
    let finished = finished.expect_code(ExitCode::Machine.number().into());
    let said = &finished.stderr;
    assert!(said.contains("nodes.a.cpu.branch: this machine cannot count the branches of programs: "), "{said}");
    assert!(said.contains("Write `count: steps`") && said.contains("`on_spin: advance`"), "{said}");
    assert!(!fixture.work().join("results").exists());
    fixture.assert_nothing_is_left("spin");
}
