//! Whatever is done to a lab file: it is read or refused.

use netloom_fuzz::{fuzz, labs, mutated};
use netloom_lab::{parse, parse_traffic};
use std::path::Path;

const EXPECTATIONS: [&str; 12] = [
    "backbone.forward.throughput within 2 % of 98 Mbit/s during 2 s..5 s",
    "backbone.drops == 0 during 500 ms .. 1 s",
    "backbone.delay within 500 us of 20 ms",
    "backbone.loss between 0.5 % and 1.5 %",
    "backbone.utilization >= 99 %",
    "backbone.queue_max < 100 packets",
    "backbone.backward.bytes >= 1 MB",
    "backbone.delay_p99 != 5 ms",
    "s1.exit == 0",
    "s1.duration <= 10 s",
    "s1.stdout contains \"during 1 s..2 s\"",
    "s1.json.end.streams[1].sender.bytes > 9.5e7",
];

const TRAFFIC: [&str; 6] = [
    "kind: constant, rate: 5 Mbit/s, size: 1200 B",
    "kind: poisson, rate: 5 Mbit/s, size: imix, start: 1 s, stop: 9 s",
    "kind: on-off, rate: 1 Mbit/s, size: 500 B, on: 1 s, off: 2 s, shape: 1.2, sources: 20",
    "kind: pcap, file: ../../tests/golden/pcap/four.pcap, repeat: true",
    "kind: window, window: 64 kB",
    "kind: window, window: 16 KiB, segment: 516 B, headers: 60 B, amount: 1 MiB, acknowledge: 2, timeout: 1 s, stop: 2 s",
];

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// Reads a lab and does all that can be done with a plan.
fn survives(text: &str) {
    match parse(text, "fuzz.yaml") {
        Ok(lab) => {
            let _ = (lab.plan.text().to_string(), lab.plan.describe(), lab.plan.hosts(&[]), lab.plan.programs());
        }
        // Shown, since showing has to find the places in the text again.
        Err(diagnostics) => assert!(!diagnostics.is_empty() && !diagnostics.to_string().is_empty()),
    }
}

#[test]
fn fuzz_lab_files() {
    fuzz("lab-files", 600, &mutated(labs()), |text| survives(&text));
}

#[test]
fn fuzz_expectations() {
    let lab = include_str!("../../../../examples/dumbbell.yaml");
    fuzz("expectations", 500, &mutated(owned(&EXPECTATIONS)), |text| {
        survives(&format!("{lab}  - '{}'\n", text.replace('\'', "''")));
    });
}

#[test]
fn fuzz_traffic() {
    let plan = parse("name: t\nnodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n", "t.yaml").expect("a lab").plan;
    fuzz("traffic", 1_000, &mutated(owned(&TRAFFIC)), |text| {
        let _ = parse_traffic(&plan, &format!("from: a, to: b, {text}"), Path::new(""));
    });
}
