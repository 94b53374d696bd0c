//! The processor's time stamp counter, as programs of nodes read it.

use crate::fixture::{Fixture, User};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What `tsc.c` prints in a lab with this clock: how far the counter has moved, how far the clock, and where the counter began.
fn counted(fixture: &Fixture, clock: &str) -> [u64; 3] {
    let program = fixture.work().join("tsc");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/system/tsc.c");
    let compiled = Command::new("cc").args(["-O2", "-Wall", "-Werror", "-o"]).arg(&program).arg(source).status();
    assert!(compiled.unwrap().success());
    let lab = format!(
        "name: tsc\nclock: {clock}\nbounds: {{starvation: 100 %}}\nnodes: {{a: {{}}}}\nlinks: {{}}\ntimeline:\n  - {{on: a, run: [{}], as: read}}\n",
        program.display()
    );
    fixture.write("lab.yaml", &lab);
    fixture.netloom(&["run", "lab.yaml", "-q"]).expect_code(0);
    let printed = fs::read_to_string(fixture.latest("tsc").join("logs/01-a-read.stdout")).unwrap();
    let numbers: Vec<u64> = printed.split_whitespace().map(|word| word.parse().unwrap()).collect();
    [numbers[0], numbers[1], numbers[3]]
}

#[test]
fn the_counter_of_the_processor_shows_the_nodes_time() {
    let fixture = Fixture::with_kernel(User::Own);
    let first = counted(&fixture, "virtual");
    assert_eq!(first, counted(&fixture, "virtual"));
    let [ticks, span, began] = first;
    assert!((100_000_000..101_000_000).contains(&span) && ticks.abs_diff(span) < 10_000, "{first:?}");
    assert!(began < 1_000_000_000, "{first:?}");
    // The machine's counter would have moved ten times as far, at a gigahertz.
    let [dilated_ticks, dilated_span, _] = counted(&fixture, "{dilation: 10}");
    assert!(dilated_ticks < 3 * dilated_span, "{dilated_ticks} {dilated_span}");
}
