//! System calls of programs on kernel nodes: interrupted, traced, and made by several threads at once.

use crate::fixture::{Fixture, User};

const PROGRAM: &str = include_str!("calls.py");
const PRINTED: &str = "threads
alarms True
through 0
killed -9
memory 3000000 True
traced [(True, None, True, True), (False, 2, True, True)] 7 b'yy'
";

/// In virtual time, where they come out alike each time, and in dilated time, where the kernel's timer interrupts them.
#[test]
fn calls_are_interrupted_traced_and_made_by_threads() {
    let fixture = Fixture::with_kernel(User::Own);
    let program = fixture.write("calls.py", PROGRAM).display().to_string();
    fixture.write(
        "lab.yaml",
        &format!(
            "name: calls\nbounds: {{lateness: 10 s, starvation: 100 %, events: 10 s, starts: 60 s}}\nnodes: [a]\n\
             timeline: [{{on: a, as: calls, run: [python3, {program}]}}]\n"
        ),
    );
    for clock in ["virtual", "virtual", "2"] {
        fixture.netloom(&["run", "lab.yaml", "-q", "--clock", clock]).expect_code(0);
        let printed = fixture.latest("calls").join("logs/01-a-calls.stdout");
        assert_eq!(std::fs::read_to_string(printed).unwrap(), PRINTED, "with clock {clock}");
    }
}
