//! The handler of signals that counts branches in kernels' programs (`kernel/edits/counter/stub.c`), in an ordinary process, without a
//! kernel: see `counter/harness.c`.
#![cfg(target_arch = "x86_64")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn compiled(folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/counter/harness.c");
    let program = folder.join("harness");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-no-pie", "-o"]).arg(&program).arg(source);
    assert!(compiler.status().unwrap().success());
    program
}

fn run(argument: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(compiled(folder.path())).arg(argument).output().unwrap()
}

#[test]
fn steps_count_every_conditional_branch_and_interrupt_behind_the_last() {
    let output = run("steps");
    assert!(output.status.success(), "{output:?}");
}

/// Breakpoints in the place of the counter of branches, which few test machines have.
#[test]
fn a_counter_hands_over_to_steps_before_the_last_branch() {
    let output = run("counter");
    if output.status.code() == Some(2) {
        // Users may use no breakpoints of the processor only where the machine's administrator says so.
        let paranoid = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
        assert!(!nix::unistd::geteuid().is_root() && paranoid.trim().parse::<i32>().unwrap() > 2, "{output:?}");
        return;
    }
    assert!(output.status.success(), "{output:?}");
}
